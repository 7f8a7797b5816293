/*
 * The loser tree of spec/compaction.md 14.2 to the letter, one record at a time, for bare runs.
 *
 * Bare runs carry no ages of files. Where two versions of a key then have the same sequence, the
 * order in which this tree hands them out decides, and that follows from the states of its nodes.
 * All versions of a key are handed out before any input that delivered one moves on.
 */
#include "base/alloc.h"
#include "merge/engine.h"
#include "merge/version_order.h"

typedef enum leaf_state { W_NEW, W_SAME, W_POPPED, L_NEW, L_SAME, L_POPPED } leaf_state;

typedef struct leaf {
    leaf_state state;
    ptrdiff_t same; /* node where this leaf first met an equal key; -1: none */
    bool is_loaded; /* has left its first state, before anything was read */
} leaf;

typedef struct record_tree {
    sinter__engine engine;
    const sinter_env *env;
    sinter__input *inputs;
    size_t count;
    leaf *leaves;
    ptrdiff_t *tree; /* tree[0] is the winner */
    size_t to_load;  /* leaves not loaded yet at the start: the next is to_load - 1 */
} record_tree;

/* Positive: p sorts before c; a leaf without record always loses. */
static int
beats_by_key(const record_tree *tree, ptrdiff_t p, ptrdiff_t c)
{
    const sinter__input *input_p = &tree->inputs[p];
    const sinter__input *input_c = &tree->inputs[c];

    if (!sinter__input_has_key(input_p)) {
        return -1;
    }
    if (!sinter__input_has_key(input_c)) {
        return 1;
    }
    return -sinter__key_compare(sinter__input_key(input_p), sinter__input_key(input_c));
}

static int
beats_by_version(const record_tree *tree, ptrdiff_t p, ptrdiff_t c)
{
    const sinter_row row_p = {tree->inputs[p].batch, tree->inputs[p].row};
    const sinter_row row_c = {tree->inputs[c].batch, tree->inputs[c].row};

    return -sinter__version_compare_ageless(&row_p, &row_c);
}

static void
mark(leaf *x, ptrdiff_t node)
{
    if (x->same == -1) {
        x->same = node;
    }
}

static void
match_new(record_tree *tree, ptrdiff_t w, ptrdiff_t p, ptrdiff_t node)
{
    leaf *winner = &tree->leaves[w];
    leaf *parent = &tree->leaves[p];

    if (parent->state == L_NEW) {
        const int by_key = beats_by_key(tree, p, w);

        if (by_key == 0) {
            if (beats_by_version(tree, p, w) < 0) {
                parent->state = L_SAME;
                mark(winner, node);
            } else {
                winner->state = L_SAME;
                parent->state = W_NEW;
                mark(parent, node);
            }
        } else if (by_key > 0) {
            parent->state = W_NEW;
            winner->state = L_NEW;
        }
    } else {
        assert(parent->state == L_POPPED);
        parent->state = W_POPPED;
        parent->same = -1;
        winner->state = L_NEW;
    }
}

static void
match_same(record_tree *tree, ptrdiff_t w, ptrdiff_t p, ptrdiff_t node)
{
    leaf *winner = &tree->leaves[w];
    leaf *parent = &tree->leaves[p];

    if (parent->state == L_SAME) {
        if (beats_by_version(tree, p, w) > 0) {
            parent->state = W_SAME;
            winner->state = L_SAME;
            mark(parent, node);
        } else {
            mark(winner, node);
        }
    }
}

static void
adjust(record_tree *tree, ptrdiff_t w)
{
    ptrdiff_t node = (w + (ptrdiff_t)tree->count) / 2;

    while (node > 0 && w >= 0) {
        leaf *winner = &tree->leaves[w];
        bool is_last = false;

        if (tree->tree[node] == -1) {
            winner->state = L_NEW;
        } else if (winner->state == W_NEW) {
            match_new(tree, w, tree->tree[node], node);
        } else if (winner->state == W_SAME) {
            match_same(tree, w, tree->tree[node], node);
        } else {
            assert(winner->state == W_POPPED);
            if (winner->same < 0) {
                is_last = true;
            } else {
                node = winner->same;
                winner->state = L_POPPED;
                tree->leaves[tree->tree[node]].state = W_SAME;
            }
        }
        if (winner->state >= L_NEW) {
            const ptrdiff_t loser = w;

            w = tree->tree[node];
            tree->tree[node] = loser;
        }
        if (is_last) {
            break;
        }
        node /= 2;
    }
    tree->tree[0] = w;
}

/* Bring a leaf to its next record. `must_flush_out`: it needs its next batch first. */
static sinter_status
advance(record_tree *tree, ptrdiff_t index, sinter__sink *sink, bool *must_flush_out,
        sinter_error *err)
{
    sinter__input *input = &tree->inputs[index];
    leaf *x = &tree->leaves[index];

    *must_flush_out = x->is_loaded && sinter__input_is_at_last_row(input) && sink->count > 0;
    if (*must_flush_out) {
        return SINTER_OK;
    }
    if (input->state == SINTER__INPUT_ACTIVE) {
        sinter__input_leave_row(input, SINTER__INPUT_DRAINED);
    }
    if (input->state == SINTER__INPUT_DRAINED) {
        SINTER__CHECK(sinter__input_load(input, &sink->counters, err));
    }
    x->is_loaded = true;
    x->same = -1;
    x->state = W_NEW;
    return SINTER_OK;
}

/* Load what was handed out, until the winner is a new record. */
static sinter_status
next_round(record_tree *tree, sinter__sink *sink, bool *must_flush_out, sinter_error *err)
{
    while (tree->to_load > 0) {
        const ptrdiff_t index = (ptrdiff_t)tree->to_load - 1;

        SINTER__CHECK(advance(tree, index, sink, must_flush_out, err));
        adjust(tree, index);
        tree->to_load--;
    }
    while (tree->leaves[tree->tree[0]].state == W_POPPED) {
        const ptrdiff_t index = tree->tree[0];

        SINTER__CHECK(advance(tree, index, sink, must_flush_out, err));
        if (*must_flush_out) {
            return SINTER_OK;
        }
        adjust(tree, index);
    }
    return SINTER_OK;
}

/* Hand the winner's record out, and the following ones where an input may hold several versions. */
static sinter_status
pop(record_tree *tree, sinter__sink *sink, sinter_error *err)
{
    const ptrdiff_t index = tree->tree[0];
    sinter__input *input = &tree->inputs[index];
    const sinter_bytes key = sinter__input_key(input);

    SINTER__CHECK(sinter__sink_group_add(tree->env, sink, input->batch, input->row, err));
    while (input->is_multi && !sinter__input_is_at_last_row(input)) {
        const uint32_t behind = sinter__input_row_behind(input, input->row);

        if (sinter__key_compare(sinter_batch_key(input->batch, behind), key) != 0) {
            break;
        }
        input->row = behind;
        SINTER__CHECK(sinter__sink_group_add(tree->env, sink, input->batch, input->row, err));
    }
    tree->leaves[index].state = W_POPPED;
    adjust(tree, index);
    return SINTER_OK;
}

static sinter_status
record_tree_fill(sinter__engine *engine, sinter__sink *sink, sinter_error *err)
{
    record_tree *tree = (record_tree *)engine;
    const bool is_sorted = !sinter__inputs_have_multi(tree->inputs, tree->count);

    assert(sink->count == 0);
    while (tree->count > 0 && !sinter__sink_is_full(sink)) {
        bool must_flush = false;

        SINTER__CHECK(next_round(tree, sink, &must_flush, err));
        if (must_flush || !sinter__input_has_key(&tree->inputs[tree->tree[0]])) {
            break;
        }
        do {
            SINTER__CHECK(pop(tree, sink, err));
        } while (tree->leaves[tree->tree[0]].state != W_POPPED);
        if (sink->group_count == 1) {
            sink->group_count = 0;
            sinter__sink_row(sink, sink->group[0].batch, sink->group[0].index);
        } else {
            SINTER__CHECK(sinter__sink_group_end(sink, is_sorted, err));
        }
    }
    return sink->count > 0 ? SINTER_OK : SINTER_END;
}

static void
record_tree_destroy(sinter__engine *engine)
{
    record_tree *tree = (record_tree *)engine;

    sinter__free(tree->env, tree->tree);
    sinter__free(tree->env, tree->leaves);
    sinter__free(tree->env, tree);
}

static const sinter__engine_ops record_tree_ops = {record_tree_fill, record_tree_destroy};

sinter_status
sinter__record_tree_create(const sinter_env *env, sinter__input *inputs, size_t count,
                           sinter__engine **out, sinter_error *err)
{
    record_tree *tree = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, tree, 1, err));
    tree->engine.ops = &record_tree_ops;
    tree->env = env;
    tree->inputs = inputs;
    tree->count = count;
    tree->to_load = count;
    SINTER__TRY(SINTER__NEW(env, tree->leaves, count, err));
    SINTER__TRY(SINTER__NEW(env, tree->tree, count, err));
    for (size_t i = 0; i < count; i++) {
        tree->tree[i] = -1;
    }
    *out = &tree->engine;
    tree = NULL;
out:
    if (tree != NULL) {
        record_tree_destroy(&tree->engine);
    }
    return st;
}
