/*
 * A merge function of one's own: counters. A record sets a counter (INSERT), adds to it
 * (UPDATE_AFTER) or takes it away (DELETE). Many records of a key become one wherever they meet:
 * when the buffer is flushed, in a compaction, and in a read.
 *
 * They meet in groups that nobody can foresee, always neighbours by age. So the function must give
 * the same for (a b) c and a (b c). A sum does; but a counter that was taken away and then added to
 * must not lose that it begins anew: such a result is an INSERT, while adds alone stay an add.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sinter/sinter.h>

/* --- the function --- */

/* One merge uses it, on one thread at a time. Its results live in a batch until recycle(). */
typedef struct counter_function {
    sinter_merge_function base; /* first: the merge hands back this */
    sinter_batch_builder *results;
} counter_function;

static counter_function *
self_of(sinter_merge_function *function)
{
    return (counter_function *)(void *)function;
}

static uint64_t
value_of(const sinter_row *row)
{
    const sinter_bytes bytes = row->batch->payload_ops->value(row->batch, row->index);
    uint64_t value = 0;

    if (bytes.size == sizeof value) {
        memcpy(&value, bytes.data, sizeof value);
    }
    return value;
}

static sinter_status
counter_reduce(sinter_merge_function *function, const sinter_row *rows, size_t count,
               sinter_row *out, sinter_error *err)
{
    sinter_batch_builder *results = self_of(function)->results;
    const sinter_row *newest = &rows[count - 1]; /* rows come oldest first */
    uint8_t kind = SINTER_KIND_UPDATE_AFTER;
    uint64_t total = 0;
    sinter_status st;

    for (size_t i = 0; i < count; i++) {
        const uint8_t row_kind = rows[i].batch->kinds[rows[i].index];

        if (sinter_kind_is_retract(row_kind)) {
            kind = SINTER_KIND_DELETE;
            total = 0;
        } else if (row_kind == SINTER_KIND_INSERT) {
            kind = SINTER_KIND_INSERT;
            total = value_of(&rows[i]);
        } else {
            kind = kind == SINTER_KIND_DELETE ? SINTER_KIND_INSERT : kind;
            total += value_of(&rows[i]);
        }
    }
    st = sinter_batch_builder_add(results, sinter_batch_key(newest->batch, newest->index),
                                  newest->batch->sequences[newest->index], kind,
                                  (sinter_bytes){(const uint8_t *)&total, sizeof total}, err);
    if (st == SINTER_OK) {
        out->batch = sinter_batch_builder_batch(results);
        out->index = out->batch->row_count - 1;
    }
    return st;
}

static void
counter_recycle(sinter_merge_function *function)
{
    sinter_batch_builder_reset(self_of(function)->results);
}

static void
counter_destroy(sinter_merge_function *function)
{
    sinter_batch_builder_destroy(self_of(function)->results);
    free(function);
}

static const sinter_merge_function_ops counter_ops = {
    .struct_size = (uint32_t)sizeof counter_ops,
    .name = "counter",
    .reduce = counter_reduce,
    .recycle = counter_recycle,
    .destroy = counter_destroy,
};

/* Several merges may run at a time: each gets a function of its own, on the thread it runs on. */
static sinter_status
counter_create(void *ctx, const sinter_env *env, sinter_merge_function **out, sinter_error *err)
{
    counter_function *self = malloc(sizeof *self);
    sinter_status st;

    (void)ctx;
    if (self == NULL) {
        return SINTER_E_NOMEM;
    }
    self->base.ops = &counter_ops;
    st = sinter_batch_builder_create(env, &self->results, err);
    if (st != SINTER_OK) {
        free(self);
        return st;
    }
    *out = &self->base;
    return SINTER_OK;
}

static const sinter_merge_function_factory counters = {
    .struct_size = (uint32_t)sizeof counters,
    .create = counter_create,
};

/* --- its use --- */

/* One record of the counter that `name` names; then a file of level 0, so that much can meet. */
static sinter_status
write_record(sinter_merge_tree *tree, char name, uint8_t kind, uint64_t value, sinter_error *err)
{
    const uint8_t key = (uint8_t)name;
    sinter_status st;

    st = sinter_merge_tree_write(tree, (sinter_bytes){&key, 1}, kind,
                                 (sinter_bytes){(const uint8_t *)&value, sizeof value}, err);
    return st != SINTER_OK ? st : sinter_merge_tree_flush(tree, err);
}

static sinter_status
print_counters(const sinter_env *env, sinter_merge_tree *tree, sinter_error *err)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(tree);
    sinter_view_source source = {
        .struct_size = (uint32_t)sizeof source, .base_dir = "/", .merge_function = &counters};
    sinter_view *view = NULL;
    sinter_range ranges[8];
    size_t count = 0;
    sinter_status st;

    (void)sinter_file_set_runs(set, &count);
    printf("%zu runs:", count);
    source.files = sinter_file_set_files(set, &source.count);
    st = sinter_view_open(env, &source, NULL, &view, err);
    while (st == SINTER_OK && (st = sinter_view_next(view, ranges, 8, &count, err)) == SINTER_OK) {
        for (size_t r = 0; r < count; r++) {
            for (uint32_t i = 0; i < ranges[r].count; i++) {
                const sinter_row row = {ranges[r].batch, ranges[r].first + i};

                printf(" %c=%" PRIu64, sinter_batch_key(row.batch, row.index).data[0],
                       value_of(&row));
            }
        }
    }
    printf("\n");
    sinter_view_close(view);
    sinter_file_set_release(set);
    return st == SINTER_END ? SINTER_OK : st;
}

static sinter_status
count_things(const sinter_env *env, sinter_merge_tree *tree, sinter_error *err)
{
    static const struct {
        char name;
        uint8_t kind;
        uint64_t value;
    } records[] = {
        {'a', SINTER_KIND_INSERT, 100},      {'b', SINTER_KIND_UPDATE_AFTER, 1},
        {'a', SINTER_KIND_UPDATE_AFTER, 20}, {'c', SINTER_KIND_INSERT, 7},
        {'c', SINTER_KIND_DELETE, 0},        {'b', SINTER_KIND_UPDATE_AFTER, 2},
        {'c', SINTER_KIND_UPDATE_AFTER, 5},  {'a', SINTER_KIND_UPDATE_AFTER, 3},
    };
    sinter_status st = SINTER_OK;

    for (size_t i = 0; st == SINTER_OK && i < sizeof records / sizeof records[0]; i++) {
        st = write_record(tree, records[i].name, records[i].kind, records[i].value, err);
    }
    if (st == SINTER_OK) {
        st = print_counters(env, tree, err);
    }
    if (st == SINTER_OK) {
        st = sinter_merge_tree_compact(tree, true, err); /* begins it */
    }
    if (st == SINTER_OK) {
        st = sinter_merge_tree_flush(tree, err); /* brings in what it made */
    }
    return st != SINTER_OK ? st : print_counters(env, tree, err);
}

int
main(void)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_merge_tree_config config = {.struct_size = (uint32_t)sizeof config, .max_sequence = -1};
    sinter_merge_tree *tree = NULL;
    sinter_compact_task task;
    sinter_io *memory = NULL;
    sinter_env env;
    sinter_status st;

    sinter_env_init(&env);
    st = sinter_io_create(&env, SINTER_IO_MEMORY, NULL, &memory, &err); /* files in memory */
    env.io = memory;
    sinter_compact_task_init(&task);
    task.base_dir = "/";
    task.merge_function = &counters;
    config.task = &task;
    if (st == SINTER_OK) {
        st = sinter_merge_tree_open(&env, &config, &tree, &err);
    }
    if (st == SINTER_OK) {
        st = count_things(&env, tree, &err);
    }
    if (st != SINTER_OK) {
        fprintf(stderr, "%s: %s\n", sinter_status_text(st), err.text);
    }
    sinter_merge_tree_close(tree);
    sinter_io_destroy(memory);
    return st == SINTER_OK ? 0 : 1;
}
