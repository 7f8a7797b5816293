/*
 * Interval partition (spec/compaction.md 4).
 *
 * Files are sorted by (min key, max key) and swept once:
 *
 *     a |-----------------|                         a file that begins behind the largest max key
 *     b   |--|                                      so far opens a new section;
 *     c        |---|                |-----|  g      otherwise it follows the run that ends first,
 *     d           |-----------|                     if that ends before it, or opens a run.
 *
 * Taking the run that ends first keeps the number of runs at the largest number of files over one
 * key, which is the minimum. The runs lie in a binary heap whose array order is part of the
 * contract: it is the order of the merge inputs.
 *
 * Invariant of a section while it is packed: every file seen so far is in exactly one run, the
 * files of a run ascend strictly, and the heap's root is a run with the smallest last max key.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "sinter/compact.h"

/** A stretch of a bigger array. */
typedef struct span {
    size_t first;
    size_t count;
} span;

struct sinter_partition {
    sinter_env env;                 /* a copy, so that destroy needs no caller */
    const sinter_file_meta **files; /* run after run */
    span *runs;                     /* into files, section after section */
    span *sections;                 /* into runs */
    size_t file_count;
    size_t run_count;
    size_t section_count;
};

/** A run that grows: a list through `next` over positions in the sorted files. */
typedef struct chain {
    size_t head;
    size_t tail;
    size_t count;
} chain;

/** What the sweep works on. Arrays have one item a file. */
typedef struct packer {
    const sinter_file_meta **sorted;
    size_t *next;
    chain *heap;
    size_t heap_size;
} packer;

static int
compare_files(const void *left, const void *right)
{
    const sinter_file_meta *a = *(const sinter_file_meta *const *)left;
    const sinter_file_meta *b = *(const sinter_file_meta *const *)right;
    int order = sinter__key_compare(a->min_key, b->min_key);

    if (order == 0) {
        order = sinter__key_compare(a->max_key, b->max_key);
    }
    /* The sort has to be stable, and the files come from one array. */
    return order != 0 ? order : (a > b) - (a < b);
}

static const sinter_file_meta *
last_file(const packer *p, const chain *run)
{
    assert(run->count > 0);
    return p->sorted[run->tail];
}

static int
compare_runs(const packer *p, const chain *a, const chain *b)
{
    return sinter__key_compare(last_file(p, a)->max_key, last_file(p, b)->max_key);
}

static void
heap_offer(packer *p, chain run)
{
    size_t k = p->heap_size;

    assert(run.count > 0);
    p->heap_size++;
    while (k > 0) {
        const size_t parent = (k - 1) / 2;

        if (compare_runs(p, &run, &p->heap[parent]) >= 0) {
            break;
        }
        p->heap[k] = p->heap[parent];
        k = parent;
    }
    p->heap[k] = run;
}

static chain
heap_poll(packer *p)
{
    const chain top = p->heap[0];
    size_t k = 0;
    size_t size;

    assert(p->heap_size > 0);
    assert(p->heap_size == 1 || compare_runs(p, &p->heap[0], &p->heap[1]) <= 0);
    size = --p->heap_size;
    if (size == 0) {
        return top;
    }
    const chain moved = p->heap[size];

    while (k < size / 2) {
        size_t child = 2 * k + 1;

        if (child + 1 < size && compare_runs(p, &p->heap[child], &p->heap[child + 1]) > 0) {
            child++;
        }
        if (compare_runs(p, &moved, &p->heap[child]) <= 0) {
            break;
        }
        p->heap[k] = p->heap[child];
        k = child;
    }
    p->heap[k] = moved;
    return top;
}

/* Put file `i` behind the run that ends first, or into a run of its own. */
static void
pack_file(packer *p, size_t i)
{
    const chain alone = {.head = i, .tail = i, .count = 1};

    if (p->heap_size == 0) {
        heap_offer(p, alone);
        return;
    }
    chain top = heap_poll(p);

    if (sinter__key_compare(p->sorted[i]->min_key, last_file(p, &top)->max_key) > 0) {
        assert(top.tail < i);
        p->next[top.tail] = i;
        top.tail = i;
        top.count++;
    } else {
        heap_offer(p, alone); /* the new run before the polled one: the order matters for ties */
    }
    heap_offer(p, top);
}

/* Close the section: lay its runs down in the order of the heap's array. */
static void
lay_down_section(sinter_partition *partition, packer *p)
{
    span *section = &partition->sections[partition->section_count++];

    assert(p->heap_size > 0);
    assert(partition->section_count <= partition->run_count + 1);
    *section = (span){.first = partition->run_count, .count = p->heap_size};
    for (size_t r = 0; r < p->heap_size; r++) {
        const chain *run = &p->heap[r];
        size_t file = run->head;

        assert(run->count > 0);
        partition->runs[partition->run_count++] =
            (span){.first = partition->file_count, .count = run->count};
        for (size_t i = 0; i < run->count; i++) {
            partition->files[partition->file_count++] = p->sorted[file];
            file = p->next[file];
        }
    }
    p->heap_size = 0;
}

static void
sweep(sinter_partition *partition, packer *p, size_t count)
{
    sinter_bytes bound = {NULL, 0};

    for (size_t i = 0; i < count; i++) {
        const sinter_file_meta *file = p->sorted[i];

        if (p->heap_size > 0 && sinter__key_compare(file->min_key, bound) > 0) {
            lay_down_section(partition, p);
        }
        if (p->heap_size == 0 || sinter__key_compare(file->max_key, bound) > 0) {
            bound = file->max_key;
        }
        pack_file(p, i);
    }
    if (p->heap_size > 0) {
        lay_down_section(partition, p);
    }
    assert(partition->file_count == count);
    assert(partition->run_count <= count);
    assert(partition->section_count <= partition->run_count);
}

static sinter_status
collect_files(const sinter_file_meta *files, size_t count, const sinter_file_meta **sorted,
              size_t *count_out, sinter_error *err)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (files[i].row_count == 0) {
            continue;
        }
        if (sinter__key_compare(files[i].min_key, files[i].max_key) > 0) {
            return SINTER__ERR_AT(err, SINTER_E_INVALID, files[i].file_name, -1,
                                  "the smallest key of the file is above its largest");
        }
        sorted[used++] = &files[i];
    }
    if (used > 1) {
        qsort(sorted, used, sizeof *sorted, compare_files);
    }
    *count_out = used;
    return SINTER_OK;
}

static sinter_status
partition_alloc(const sinter_env *env, size_t count, sinter_partition **out, sinter_error *err)
{
    sinter_partition *partition = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(env, partition, 1, err));
    partition->env = *env;
    SINTER__TRY(SINTER__NEW(env, partition->files, count, err));
    SINTER__TRY(SINTER__NEW(env, partition->runs, count, err));
    SINTER__TRY(SINTER__NEW(env, partition->sections, count, err));
    *out = partition;
    partition = NULL;
out:
    sinter_partition_destroy(partition);
    return st;
}

sinter_status
sinter_partition_create(const sinter_env *env, const sinter_file_meta *files, size_t count,
                        sinter_partition **out, sinter_error *err)
{
    sinter_partition *partition = NULL;
    packer p = {0};
    size_t used = 0;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, files != NULL || count == 0);

    SINTER__TRY(SINTER__NEW(env, p.sorted, count, err));
    SINTER__TRY(SINTER__NEW(env, p.next, count, err));
    SINTER__TRY(SINTER__NEW(env, p.heap, count, err));
    SINTER__TRY(partition_alloc(env, count, &partition, err));
    SINTER__TRY(collect_files(files, count, p.sorted, &used, err));
    sweep(partition, &p, used);

    *out = partition;
    partition = NULL; /* now the caller's */
out:
    sinter_partition_destroy(partition);
    sinter__free(env, p.heap);
    sinter__free(env, p.next);
    sinter__free(env, p.sorted);
    return st;
}

void
sinter_partition_destroy(sinter_partition *partition)
{
    if (partition != NULL) {
        const sinter_env env = partition->env;

        sinter__free(&env, partition->sections);
        sinter__free(&env, partition->runs);
        sinter__free(&env, partition->files);
        sinter__free(&env, partition);
    }
}

size_t
sinter_partition_section_count(const sinter_partition *partition)
{
    return partition->section_count;
}

size_t
sinter_partition_run_count(const sinter_partition *partition, size_t section)
{
    assert(section < partition->section_count);
    return partition->sections[section].count;
}

const sinter_file_meta *const *
sinter_partition_run(const sinter_partition *partition, size_t section, size_t run,
                     size_t *count_out)
{
    const span *runs = NULL;

    assert(section < partition->section_count);
    assert(run < partition->sections[section].count);
    runs = partition->runs + partition->sections[section].first;
    *count_out = runs[run].count;
    return partition->files + runs[run].first;
}
