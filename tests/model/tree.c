/*
 * The loser tree of spec/compaction.md 14.2, state by state as it stands there. It is the oracle
 * for records that are equal in the whole sequence order and have no age.
 */
#include <assert.h>
#include <stdlib.h>

#include "model/model.h"

typedef enum leaf_state { W_NEW, W_SAME, W_POPPED, L_NEW, L_SAME, L_POPPED } leaf_state;

typedef struct leaf {
    const test_run *run;
    size_t next;
    const test_record *record; /* NULL at the end */
    leaf_state state;
    long same;
} leaf;

typedef struct tree {
    leaf *leaves;
    long *nodes;
    long count;
} tree;

static void
advance(leaf *x)
{
    x->same = -1;
    x->state = W_NEW;
    x->record = NULL;
    while (x->next < x->run->count && x->record == NULL) {
        const test_record *record = &x->run->records[x->next++];

        x->record = record->dropped == SINTER_DROP_KEEP ? record : NULL;
    }
}

static int
beats1(const leaf *p, const leaf *c)
{
    if (p->record == NULL) {
        return -1;
    }
    return c->record == NULL ? 1 : -test_bytes_compare(p->record->key, c->record->key);
}

static int
beats2(const leaf *p, const leaf *c)
{
    if (p->record == NULL) {
        return -1;
    }
    return c->record == NULL ? 1 : -model_sequence_compare(p->record, c->record);
}

static void
mark(leaf *x, long node)
{
    if (x->same == -1) {
        x->same = node;
    }
}

static void
meet_new(leaf *w, leaf *p, long node)
{
    if (p->state == L_NEW) {
        const int r = beats1(p, w);

        if (r == 0 && beats2(p, w) < 0) {
            p->state = L_SAME;
            mark(w, node);
        } else if (r == 0) {
            w->state = L_SAME;
            p->state = W_NEW;
            mark(p, node);
        } else if (r > 0) {
            p->state = W_NEW;
            w->state = L_NEW;
        }
    } else if (p->state == L_POPPED) {
        p->state = W_POPPED;
        p->same = -1;
        w->state = L_NEW;
    } else {
        abort(); /* an internal error by the specification */
    }
}

static void
meet_same(leaf *w, leaf *p, long node)
{
    if (p->state != L_SAME) {
        return;
    }
    if (beats2(p, w) > 0) {
        p->state = W_SAME;
        w->state = L_SAME;
        mark(p, node);
    } else {
        mark(w, node);
    }
}

static void
adjust(tree *t, long w)
{
    for (long node = (w + t->count) / 2; node > 0 && w >= 0; node /= 2) {
        leaf *W = &t->leaves[w];

        if (t->nodes[node] == -1) {
            W->state = L_NEW;
        } else if (W->state == W_NEW) {
            meet_new(W, &t->leaves[t->nodes[node]], node);
        } else if (W->state == W_SAME) {
            meet_same(W, &t->leaves[t->nodes[node]], node);
        } else if (W->state == W_POPPED) {
            if (W->same < 0) {
                break;
            }
            node = W->same;
            W->state = L_POPPED;
            t->leaves[t->nodes[node]].state = W_SAME;
        }
        if (W->state >= L_NEW) {
            const long loser = w;

            w = t->nodes[node];
            t->nodes[node] = loser;
        }
    }
    t->nodes[0] = w;
}

static const test_record *
peek(const tree *t)
{
    const leaf *W = &t->leaves[t->nodes[0]];

    return W->state == W_POPPED ? NULL : W->record;
}

static const test_record *
pop(tree *t)
{
    leaf *W = &t->leaves[t->nodes[0]];
    const test_record *record = W->record;

    if (W->state == W_POPPED) {
        return NULL;
    }
    W->state = W_POPPED;
    adjust(t, t->nodes[0]);
    return record;
}

static void
next_round(tree *t)
{
    while (t->leaves[t->nodes[0]].state == W_POPPED) {
        advance(&t->leaves[t->nodes[0]]);
        adjust(t, t->nodes[0]);
    }
}

const test_record **
model_tree_sort(const test_runs *runs, test_pool *pool, size_t *count_out)
{
    const test_record **all = test_pool_take(pool, (test_runs_rows(runs) + 1) * sizeof *all);
    tree t = {.count = (long)runs->count};
    size_t count = 0;

    *count_out = 0;
    if (runs->count == 0) {
        return all;
    }
    t.leaves = test_pool_take(pool, runs->count * sizeof *t.leaves);
    t.nodes = test_pool_take(pool, runs->count * sizeof *t.nodes);
    for (long i = 0; i < t.count; i++) {
        t.leaves[i] = (leaf){.run = &runs->items[i]};
        t.nodes[i] = -1;
    }
    for (long i = t.count - 1; i >= 0; i--) {
        advance(&t.leaves[i]);
        adjust(&t, i);
    }
    for (;;) {
        const test_record *record = NULL;

        next_round(&t);
        record = pop(&t);
        if (record == NULL) {
            break;
        }
        all[count++] = record;
        while (peek(&t) != NULL) {
            all[count++] = pop(&t);
        }
    }
    *count_out = count;
    return all;
}
