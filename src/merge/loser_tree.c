/*
 * A tree of losers over the inputs (design 4.2 to 4.4).
 *
 *                 node 0: the winner
 *                    |
 *                 node 1 (loser)
 *                /              \
 *          node 2 (loser)    node 3 (loser)         inputs are leaves: input i hangs
 *           /      \          /      \              below node (i + count) / 2
 *        in 0     in 1     in 2     in 3
 *
 * Every node keeps the 8-byte prefix of its input's key beside the input's number, so that a match
 * is one comparison of integers in the node and an exchange without a branch. Only equal prefixes
 * lead to the keys themselves. Equal keys are ordered by input number, which decides nothing: they
 * are collected as a group and put in order by version.
 *
 * Invariants between steps:
 *   - node 0 holds the input with the smallest key; each other node the loser of its match
 *   - rows handed out stay valid: an input whose batch is used up goes to the next one only at the
 *     start of a fill, when the sink's former ranges were consumed. If the winner's batch ends at
 *     a key that nobody else has, it stays the winner, DRAINED. If it ends inside a group it is
 *     HELD, sorts last, and the tree is built anew once it is refilled.
 *   - an input may stand LAZY before a block that isn't decoded, with the block's first key; when
 *     it wins and the whole block lies below the runner-up, the block can leave as it is
 */
#include "base/alloc.h"
#include "merge/engine.h"
#include "merge/version_order.h"

enum {
    STREAK_FIRST = 6,    /* wins in a row after which galloping is tried */
    STREAK_MIN = 4,      /* while galloping pays */
    STREAK_MAX = 64,     /* while it doesn't */
    GALLOP_PAYS_ROWS = 8 /* rows that a gallop must yield to have paid */
};

/* Prefixes and input numbers stand in arrays of their own, so that a match loads and stores plain
 * words: as pairs, compilers join them into 16-byte moves that wait for the stores before them. */
typedef struct loser_tree {
    sinter__engine engine;
    const sinter_env *env;
    sinter__input *inputs;
    size_t count;
    sinter__block_gate gate;
    size_t held_count; /* inputs HELD: must be refilled before the next match */
    uint32_t streak;
    uint32_t streak_max;
    uint64_t *prefixes; /* `count` nodes, the winner first */
    uint32_t *indexes;  /* their inputs */
    uint32_t *scratch;  /* 2 * count inputs, for building */
} loser_tree;

/* Does input a sort before input b? Their prefixes are equal. */
static bool
sorts_before(const loser_tree *tree, uint32_t a, uint32_t b)
{
    const sinter__input *input_a = &tree->inputs[a];
    const sinter__input *input_b = &tree->inputs[b];
    const bool a_has_key = sinter__input_has_key(input_a);
    int order = 0;

    if (!a_has_key || !sinter__input_has_key(input_b)) {
        return a_has_key;
    }
    order = sinter__key_compare(sinter__input_key(input_a), sinter__input_key(input_b));
    return order != 0 ? order < 0 : a < b;
}

/* Input `index`, the last winner, has a new key: play its matches again up to the top. */
static inline void
replay(loser_tree *tree, uint32_t index, uint64_t prefix)
{
    uint64_t *prefixes = tree->prefixes;
    uint32_t *indexes = tree->indexes;

    for (size_t i = (index + tree->count) >> 1; i > 0; i >>= 1) {
        const uint64_t loser_prefix = prefixes[i];
        const uint32_t loser_index = indexes[i];
        bool loser_wins = loser_prefix < prefix;

        if (__builtin_expect(loser_prefix == prefix, 0)) {
            loser_wins = sorts_before(tree, loser_index, index);
        }
        { /* the exchange, without a branch that nobody could predict */
            const uint64_t swap = (uint64_t)0 - (uint64_t)loser_wins;
            const uint64_t prefix_bits = (loser_prefix ^ prefix) & swap;
            const uint32_t index_bits = (loser_index ^ index) & (uint32_t)swap;

            prefixes[i] = loser_prefix ^ prefix_bits;
            indexes[i] = loser_index ^ index_bits;
            prefix ^= prefix_bits;
            index ^= index_bits;
        }
    }
    prefixes[0] = prefix;
    indexes[0] = index;
}

static void
build(loser_tree *tree)
{
    const size_t count = tree->count;
    uint32_t *winners = tree->scratch;

    for (size_t i = 0; i < count; i++) {
        winners[count + i] = (uint32_t)i;
    }
    for (size_t i = count - 1; i > 0; i--) {
        const uint32_t left = winners[2 * i];
        const uint32_t right = winners[2 * i + 1];
        const uint64_t left_prefix = sinter__input_prefix(&tree->inputs[left]);
        const uint64_t right_prefix = sinter__input_prefix(&tree->inputs[right]);
        const bool right_wins = left_prefix == right_prefix ? sorts_before(tree, right, left)
                                                            : right_prefix < left_prefix;

        winners[i] = right_wins ? right : left;
        tree->indexes[i] = right_wins ? left : right;
        tree->prefixes[i] = right_wins ? left_prefix : right_prefix;
    }
    tree->indexes[0] = winners[1];
    tree->prefixes[0] = sinter__input_prefix(&tree->inputs[winners[1]]);
}

/* The input that would win without the winner: the best of those that lost to it directly. NULL if
 * no other input has a key. */
static const sinter__input *
runner_up(const loser_tree *tree)
{
    size_t best = 0;

    for (size_t i = (tree->indexes[0] + tree->count) >> 1; i > 0; i >>= 1) {
        if (best == 0 || tree->prefixes[i] < tree->prefixes[best] ||
            (tree->prefixes[i] == tree->prefixes[best] &&
             sorts_before(tree, tree->indexes[i], tree->indexes[best]))) {
            best = i;
        }
    }
    if (best == 0 || !sinter__input_has_key(&tree->inputs[tree->indexes[best]])) {
        return NULL;
    }
    return &tree->inputs[tree->indexes[best]];
}

static bool
winner_has_key(const loser_tree *tree, sinter_bytes key)
{
    const sinter__input *winner = &tree->inputs[tree->indexes[0]];

    return sinter__input_has_key(winner) && sinter__key_equal(sinter__input_key(winner), key);
}

static sinter_status
refill_held(loser_tree *tree, sinter__sink *sink, sinter_error *err)
{
    for (size_t i = 0; i < tree->count && tree->held_count > 0; i++) {
        if (tree->inputs[i].state == SINTER__INPUT_HELD) {
            SINTER__CHECK(sinter__input_refill(&tree->inputs[i], &sink->counters, err));
            tree->held_count--;
        }
    }
    build(tree);
    return SINTER_OK;
}

/* The winner leaves its row and the matches are played again. */
static void
advance_in_group(loser_tree *tree)
{
    const uint32_t index = tree->indexes[0];
    sinter__input *input = &tree->inputs[index];

    sinter__input_leave_row(input, SINTER__INPUT_HELD);
    tree->held_count += input->state == SINTER__INPUT_HELD;
    replay(tree, index, sinter__input_prefix(input));
}

/* The winner is another version of the key at hand, not decoded yet. */
static sinter_status
decode_winner(loser_tree *tree, sinter__sink *sink, sinter_error *err)
{
    const uint32_t index = tree->indexes[0];

    SINTER__CHECK(sinter__input_load(&tree->inputs[index], &sink->counters, err));
    replay(tree, index, sinter__input_prefix(&tree->inputs[index]));
    return SINTER_OK;
}

/* Of all versions of the key of `row`, whose input has left it already, put the newest. The winner
 * is another version. */
static sinter_status
take_newest(loser_tree *tree, sinter__sink *sink, const sinter_batch *batch, uint32_t row,
            sinter_error *err)
{
    const sinter_bytes key = sinter_batch_key(batch, row);
    const uint64_t prefix = tree->prefixes[0];
    sinter_row newest = {batch, row};

    do {
        const sinter__input *input = &tree->inputs[tree->indexes[0]];
        const sinter_row other = {input->batch, input->row};

        if (input->state == SINTER__INPUT_LAZY) {
            SINTER__CHECK(decode_winner(tree, sink, err));
            continue;
        }
        newest = sinter__version_compare(&other, &newest) > 0 ? other : newest;
        sink->counters.superseded++;
        advance_in_group(tree);
    } while (tree->prefixes[0] == prefix && winner_has_key(tree, key));
    sinter__sink_row(sink, newest.batch, newest.index);
    return SINTER_OK;
}

/* Collect and reduce all versions of the key of `row`, whose input has left it already. The winner
 * is another version. */
static sinter_status
take_group(loser_tree *tree, sinter__sink *sink, const sinter_batch *batch, uint32_t row,
           sinter_error *err)
{
    const sinter_bytes key = sinter_batch_key(batch, row);

    if (sink->keeps_newest) {
        return take_newest(tree, sink, batch, row, err);
    }
    assert(winner_has_key(tree, key));
    SINTER__CHECK(sinter__sink_group_add(tree->env, sink, batch, row, err));
    while (winner_has_key(tree, key)) {
        const sinter__input *input = &tree->inputs[tree->indexes[0]];

        if (input->state == SINTER__INPUT_LAZY) {
            SINTER__CHECK(decode_winner(tree, sink, err));
            continue;
        }
        SINTER__CHECK(sinter__sink_group_add(tree->env, sink, input->batch, input->row, err));
        advance_in_group(tree);
    }
    if (sink->group_count == 1) {
        /* The other one stood before a block whose first row turned out to be dropped. */
        sink->group_count = 0;
        sinter__sink_row(sink, batch, row);
        return SINTER_OK;
    }
    return sinter__sink_group_end(sink, false, err);
}

/* First row from `row` on whose prefix is not below `bound`. Doubling steps, then halving. */
static uint32_t
gallop_search(const sinter__input *input, uint64_t bound)
{
    const uint64_t *prefixes = input->prefixes;
    uint32_t low = input->row; /* everything before it is below the bound */
    uint32_t step = 1;
    uint32_t high = 0;

    while (step < input->row_end - low && prefixes[low + step - 1] < bound) {
        low += step;
        step *= 2;
    }
    high = step < input->row_end - low ? low + step : input->row_end;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (prefixes[middle] < bound) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The winner has won often in a row: take all its rows below the runner-up at once. Rows with the
 * runner-up's prefix are left to single steps. */
static void
gallop(loser_tree *tree, sinter__sink *sink)
{
    const uint32_t index = tree->indexes[0];
    sinter__input *input = &tree->inputs[index];
    const sinter__input *second = runner_up(tree);
    const uint64_t bound = second == NULL ? UINT64_MAX : sinter__input_prefix(second);
    const uint32_t first = input->row;
    uint32_t end = 0;

    tree->streak = 0;
    if (input->is_multi) {
        return;
    }
    end = second == NULL ? input->row_end : gallop_search(input, bound);
    if (end - first >= GALLOP_PAYS_ROWS) {
        tree->streak_max = STREAK_MIN;
    } else if (tree->streak_max < STREAK_MAX) {
        tree->streak_max *= 2;
    }
    if (end == first) {
        return;
    }
    end = sinter__sink_rows(sink, input->batch, first, end);
    if (end == input->row_end) {
        sinter__input_drain(input, SINTER__INPUT_DRAINED);
    } else {
        input->row = end;
        replay(tree, index, input->prefixes[end]);
    }
}

/* The hot loop: single steps while the winner's batch holds another row behind the current one. */
static sinter_status
run_steps(loser_tree *tree, sinter__sink *sink, sinter_error *err)
{
    while (!sinter__sink_is_full(sink)) {
        const uint32_t index = tree->indexes[0];
        const uint64_t prefix = tree->prefixes[0];
        sinter__input *input = &tree->inputs[index];
        const sinter_batch *batch = input->batch;
        const uint32_t row = input->row;

        if (row + 1 >= input->fast_end) {
            return SINTER_OK;
        }
        input->row = row + 1;
        replay(tree, index, input->prefixes[row + 1]);
        if (__builtin_expect(tree->prefixes[0] == prefix, 0) &&
            winner_has_key(tree, sinter_batch_key(batch, row))) {
            tree->streak = 0;
            SINTER__CHECK(take_group(tree, sink, batch, row, err));
            if (tree->held_count > 0) {
                return SINTER_OK;
            }
            continue;
        }
        sinter__sink_row(sink, batch, row);
        tree->streak = (tree->streak + 1) & ((uint32_t)0 - (uint32_t)(tree->indexes[0] == index));
        if (__builtin_expect(tree->streak >= tree->streak_max, 0) && !sinter__sink_is_full(sink)) {
            gallop(tree, sink);
        }
    }
    return SINTER_OK;
}

/* One step of a winner at the last row of its batch, or in a batch with rows to skip. */
static sinter_status
step_at_border(loser_tree *tree, sinter__sink *sink, sinter_error *err)
{
    const uint32_t index = tree->indexes[0];
    sinter__input *input = &tree->inputs[index];
    const sinter_batch *batch = input->batch;
    const uint32_t row = input->row;
    const sinter_bytes key = sinter_batch_key(batch, row);

    assert(input->state == SINTER__INPUT_ACTIVE);
    if (sinter__input_is_at_last_row(input)) {
        const sinter__input *second = runner_up(tree);

        if (second == NULL || !sinter__key_equal(sinter__input_key(second), key)) {
            sinter__sink_row(sink, batch, row);
            sinter__input_drain(input, SINTER__INPUT_DRAINED);
            return SINTER_OK;
        }
    }
    advance_in_group(tree);
    if (winner_has_key(tree, key)) {
        return take_group(tree, sink, batch, row, err);
    }
    sinter__sink_row(sink, batch, row);
    return SINTER_OK;
}

/* The winner stands before a block that isn't decoded: let it pass whole, or decode it.
 * `must_flush_out`: the sink's rows must be consumed before anything else happens. */
static sinter_status
meet_block(loser_tree *tree, sinter__sink *sink, bool *must_flush_out, sinter_error *err)
{
    const uint32_t index = tree->indexes[0];
    sinter__input *input = &tree->inputs[index];
    const sinter_block_info *info = input->info;
    const sinter__input *second = runner_up(tree);
    const bool is_free =
        info->is_whole && !(sink->drop_delete && info->retract_count > 0) &&
        (second == NULL || sinter__key_compare(info->last_key, sinter__input_key(second)) < 0);

    *must_flush_out = is_free && sink->count > 0;
    if (*must_flush_out) {
        return SINTER_OK;
    }
    if (is_free && tree->gate.accepts(tree->gate.ctx, info)) {
        const sinter_batch *batch = NULL;

        SINTER__CHECK(input->reader->ops->take(input->reader, &batch, err));
        assert((batch->flags & SINTER_BATCH_STORED) != 0);
        sink->ranges[sink->count++] = (sinter_range){batch, 0, batch->row_count};
        sink->counters.records_in += batch->row_count;
        sink->counters.blocks_passed++;
        sinter__input_drain(input, SINTER__INPUT_DRAINED);
        *must_flush_out = true;
        return SINTER_OK;
    }
    return decode_winner(tree, sink, err);
}

/* The winner's batch is used up: go to the next one, once the sink's rows were consumed. */
static sinter_status
refill_winner(loser_tree *tree, sinter__sink *sink, bool *must_flush_out, sinter_error *err)
{
    const uint32_t index = tree->indexes[0];

    *must_flush_out = sink->count > 0;
    if (*must_flush_out) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__input_refill(&tree->inputs[index], &sink->counters, err));
    replay(tree, index, sinter__input_prefix(&tree->inputs[index]));
    return SINTER_OK;
}

static sinter_status
loser_tree_fill(sinter__engine *engine, sinter__sink *sink, sinter_error *err)
{
    loser_tree *tree = (loser_tree *)engine;
    bool must_flush = false;

    assert(sink->count == 0);
    if (tree->count == 0) {
        return SINTER_END;
    }
    while (!sinter__sink_is_full(sink) && !must_flush) {
        if (tree->held_count > 0) {
            if (sink->count > 0) {
                break;
            }
            SINTER__CHECK(refill_held(tree, sink, err));
        }
        SINTER__CHECK(run_steps(tree, sink, err));
        if (sinter__sink_is_full(sink) || tree->held_count > 0) {
            continue;
        }
        switch (tree->inputs[tree->indexes[0]].state) {
        case SINTER__INPUT_ACTIVE:
            SINTER__CHECK(step_at_border(tree, sink, err));
            break;
        case SINTER__INPUT_LAZY:
            SINTER__CHECK(meet_block(tree, sink, &must_flush, err));
            break;
        case SINTER__INPUT_DRAINED:
            SINTER__CHECK(refill_winner(tree, sink, &must_flush, err));
            break;
        default:
            return sink->count > 0 ? SINTER_OK : SINTER_END;
        }
    }
    return SINTER_OK;
}

static void
loser_tree_destroy(sinter__engine *engine)
{
    loser_tree *tree = (loser_tree *)engine;

    sinter__free(tree->env, tree->scratch);
    sinter__free(tree->env, tree->indexes);
    sinter__free(tree->env, tree->prefixes);
    sinter__free(tree->env, tree);
}

static const sinter__engine_ops loser_tree_ops = {loser_tree_fill, loser_tree_destroy};

sinter_status
sinter__loser_tree_create(const sinter_env *env, sinter__input *inputs, size_t count,
                          sinter__block_gate gate, sinter__engine **out, sinter_error *err)
{
    loser_tree *tree = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, tree, 1, err));
    tree->engine.ops = &loser_tree_ops;
    tree->env = env;
    tree->inputs = inputs;
    tree->count = count;
    tree->gate = gate;
    tree->streak_max = STREAK_FIRST;
    SINTER__TRY(SINTER__NEW(env, tree->prefixes, count, err));
    SINTER__TRY(SINTER__NEW(env, tree->indexes, count, err));
    SINTER__TRY(SINTER__NEW(env, tree->scratch, 2 * count, err));
    for (size_t i = 0; i < count; i++) {
        assert(inputs[i].state == SINTER__INPUT_DRAINED);
        inputs[i].state = SINTER__INPUT_HELD;
        inputs[i].is_whole_only = gate.accepts != NULL;
    }
    tree->held_count = count;
    *out = &tree->engine;
    tree = NULL;
out:
    if (tree != NULL) {
        loser_tree_destroy(&tree->engine);
    }
    return st;
}
