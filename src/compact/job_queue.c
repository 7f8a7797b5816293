/*
 * A pairing heap over links in the jobs, so that queueing needs no memory and can't fail: a job is
 * due before all of its children, which hang in a list.
 */
#include "compact/job_queue.h"

#include <assert.h>

int64_t
sinter__job_due_ns(const sinter__job *job, uint32_t age_runs_per_second)
{
    assert(age_runs_per_second > 0);
    return job->queued_ns -
           (int64_t)((uint64_t)job->need * UINT64_C(1000000000) / age_runs_per_second);
}

static bool
is_before(const sinter__job *a, const sinter__job *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->id < b->id;
}

/* Hang the later of two roots beneath the other. Either may be NULL. */
static sinter__job *
meld(sinter__job *a, sinter__job *b)
{
    sinter__job *first = a;
    sinter__job *later = b;

    if (a == NULL || b == NULL) {
        return a == NULL ? b : a;
    }
    if (is_before(b, a)) {
        first = b;
        later = a;
    }
    later->before = first;
    later->next = first->child;
    if (first->child != NULL) {
        first->child->before = later;
    }
    first->child = later;
    return first;
}

/* Make one heap of a list of roots: in pairs from the left, the pairs from the right. */
static sinter__job *
meld_all(sinter__job *list)
{
    sinter__job *pairs = NULL; /* the last one first */
    sinter__job *first = NULL;

    while (list != NULL) {
        sinter__job *a = list;
        sinter__job *b = a->next;
        sinter__job *pair = NULL;

        list = b == NULL ? NULL : b->next;
        a->next = NULL;
        if (b != NULL) {
            b->next = NULL;
        }
        pair = meld(a, b);
        pair->next = pairs;
        pairs = pair;
    }
    while (pairs != NULL) {
        sinter__job *pair = pairs;

        pairs = pair->next;
        pair->next = NULL;
        first = meld(first, pair);
    }
    return first;
}

sinter__job *
sinter__job_queue_add(sinter__job *first, sinter__job *job)
{
    assert(job->before == NULL && job->next == NULL && job->child == NULL);
    return meld(first, job);
}

sinter__job *
sinter__job_queue_remove(sinter__job *first, sinter__job *job)
{
    sinter__job *rest = meld_all(job->child);

    job->child = NULL;
    if (job == first) {
        first = NULL;
    } else {
        assert(job->before != NULL);
        if (job->before->child == job) {
            job->before->child = job->next;
        } else {
            job->before->next = job->next;
        }
        if (job->next != NULL) {
            job->next->before = job->before;
        }
    }
    job->before = NULL;
    job->next = NULL;
    if (rest != NULL) {
        rest->before = NULL;
    }
    first = meld(first, rest);
    if (first != NULL) {
        first->before = NULL;
    }
    return first;
}
