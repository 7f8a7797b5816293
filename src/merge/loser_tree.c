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
 * A node is one word: the 8-byte prefix of its input's key, whose lowest bits, as many as the
 * number of inputs takes, give way to the input's number. A match is the smaller and the larger of
 * two words, without a branch. Only where all bits above the number are equal the keys themselves
 * are compared. Equal keys are ordered by input number, which decides nothing: they are collected
 * as a group and put in order by version.
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

typedef struct loser_tree {
    sinter__engine engine;
    const sinter_env *env;
    sinter__input *inputs;
    size_t count;
    sinter__block_gate gate;
    size_t held_count; /* inputs HELD: must be refilled before the next match */
    uint32_t streak;
    uint32_t streak_max;
    uint64_t index_mask; /* the bits of a node that are an input's number */
    uint64_t *nodes;     /* `count` of them, the winner first */
    uint32_t *scratch;   /* 2 * count inputs, for building */
} loser_tree;

static inline uint32_t
node_index(const loser_tree *tree, uint64_t node)
{
    return (uint32_t)(node & tree->index_mask);
}

static inline uint64_t
make_node(const loser_tree *tree, uint32_t index, uint64_t prefix)
{
    return (prefix & ~tree->index_mask) | index;
}

/* Do only the keys themselves tell which of two nodes is first? */
static inline bool
is_tie(const loser_tree *tree, uint64_t a, uint64_t b)
{
    return (a ^ b) <= tree->index_mask;
}

static inline uint32_t
winner_index(const loser_tree *tree)
{
    return node_index(tree, tree->nodes[0]);
}

static inline sinter__input *
winner(const loser_tree *tree)
{
    return &tree->inputs[winner_index(tree)];
}

/* Does node a sort before node b? They are a tie. */
static bool
sorts_before(const loser_tree *tree, uint64_t a, uint64_t b)
{
    const sinter__input *input_a = &tree->inputs[node_index(tree, a)];
    const sinter__input *input_b = &tree->inputs[node_index(tree, b)];
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
    uint64_t *nodes = tree->nodes;
    uint64_t node = make_node(tree, index, prefix);

    for (size_t i = (index + tree->count) >> 1; i > 0; i >>= 1) {
        const uint64_t loser = nodes[i];

        if (__builtin_expect(is_tie(tree, loser, node), 0)) {
            if (sorts_before(tree, loser, node)) {
                nodes[i] = node;
                node = loser;
            }
            continue;
        }
        /* smaller and larger: conditional moves, where a branch could not be predicted */
        nodes[i] = loser < node ? node : loser;
        node = loser < node ? loser : node;
    }
    nodes[0] = node;
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
        const uint64_t left_node = make_node(tree, left, sinter__input_prefix(&tree->inputs[left]));
        const uint64_t right_node =
            make_node(tree, right, sinter__input_prefix(&tree->inputs[right]));
        const bool right_wins = is_tie(tree, left_node, right_node)
                                    ? sorts_before(tree, right_node, left_node)
                                    : right_node < left_node;

        winners[i] = right_wins ? right : left;
        tree->nodes[i] = right_wins ? left_node : right_node;
    }
    tree->nodes[0] = make_node(tree, winners[1], sinter__input_prefix(&tree->inputs[winners[1]]));
}

/* The input that would win without the winner: the best of those that lost to it directly. NULL if
 * no other input has a key. */
static const sinter__input *
runner_up(const loser_tree *tree)
{
    const sinter__input *input = NULL;
    uint64_t best = 0;
    bool is_found = false;

    for (size_t i = (winner_index(tree) + tree->count) >> 1; i > 0; i >>= 1) {
        const uint64_t node = tree->nodes[i];

        if (!is_found ||
            (is_tie(tree, node, best) ? sorts_before(tree, node, best) : node < best)) {
            best = node;
            is_found = true;
        }
    }
    if (!is_found) {
        return NULL;
    }
    input = &tree->inputs[node_index(tree, best)];
    return sinter__input_has_key(input) ? input : NULL;
}

static bool
winner_has_key(const loser_tree *tree, sinter_bytes key)
{
    const sinter__input *input = winner(tree);

    return sinter__input_has_key(input) && sinter__key_equal(sinter__input_key(input), key);
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
    const uint32_t index = winner_index(tree);
    sinter__input *input = &tree->inputs[index];

    if (input->row + 1 < input->fast_end) {
        input->row++;
        replay(tree, index, input->prefixes[input->row]);
        return;
    }
    sinter__input_leave_row(input, SINTER__INPUT_HELD);
    tree->held_count += input->state == SINTER__INPUT_HELD;
    replay(tree, index, sinter__input_prefix(input));
}

/* The winner is another version of the key at hand, not decoded yet. */
static sinter_status
decode_winner(loser_tree *tree, sinter__sink *sink, sinter_error *err)
{
    const uint32_t index = winner_index(tree);

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
    const uint64_t node = tree->nodes[0];
    sinter_row newest = {batch, row};

    do {
        const sinter__input *input = winner(tree);
        const sinter_row other = {input->batch, input->row};

        if (input->state == SINTER__INPUT_LAZY) {
            SINTER__CHECK(decode_winner(tree, sink, err));
            continue;
        }
        newest = sinter__version_compare(&other, &newest) > 0 ? other : newest;
        sink->counters.superseded++;
        advance_in_group(tree);
    } while (is_tie(tree, tree->nodes[0], node) && winner_has_key(tree, key));
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
        const sinter__input *input = winner(tree);

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
    const uint32_t index = winner_index(tree);
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
        const uint64_t node = tree->nodes[0];
        const uint32_t index = node_index(tree, node);
        sinter__input *input = &tree->inputs[index];
        const sinter_batch *batch = input->batch;
        const uint32_t row = input->row;

        if (row + 1 >= input->fast_end) {
            return SINTER_OK;
        }
        input->row = row + 1;
        replay(tree, index, input->prefixes[row + 1]);
        if (__builtin_expect(is_tie(tree, tree->nodes[0], node), 0) &&
            winner_has_key(tree, sinter_batch_key(batch, row))) {
            tree->streak = 0;
            SINTER__CHECK(take_group(tree, sink, batch, row, err));
            if (tree->held_count > 0) {
                return SINTER_OK;
            }
            continue;
        }
        sinter__sink_row(sink, batch, row);
        tree->streak = (tree->streak + 1) & ((uint32_t)0 - (uint32_t)(winner_index(tree) == index));
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
    const uint32_t index = winner_index(tree);
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
    const uint32_t index = winner_index(tree);
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
    const uint32_t index = winner_index(tree);

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
        switch (winner(tree)->state) {
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
    sinter__free(tree->env, tree->nodes);
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
    while (tree->index_mask + 1 < count) {
        tree->index_mask = 2 * tree->index_mask + 1;
    }
    SINTER__TRY(SINTER__NEW(env, tree->nodes, count, err));
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
