/*
 * Merge functions of the caller's: made by a factory for tasks and views.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>

#include "world.h"

TestSuite(compact_custom_function, .timeout = 60);

/* Of the versions of a key the one with the longest value stays, the oldest of several. */
typedef struct longest {
    sinter_merge_function base;
    struct longest_maker *maker;
} longest;

typedef struct longest_maker {
    sinter_merge_function_factory base;
    _Atomic int made;
    _Atomic int live;
    sinter_status answer;                 /* of create */
    const sinter_merge_function_ops *ops; /* of what it makes */
} longest_maker;

static sinter_bytes
value_of(const sinter_row *row)
{
    return row->batch->payload_ops->value(row->batch, row->index);
}

static sinter_status
reduce(sinter_merge_function *function, const sinter_row *rows, size_t count, sinter_row *out,
       sinter_error *err)
{
    (void)function;
    (void)err;
    *out = rows[0];
    for (size_t i = 1; i < count; i++) {
        if (value_of(&rows[i]).size > value_of(out).size) {
            *out = rows[i];
        }
    }
    return SINTER_OK;
}

static void
destroy(sinter_merge_function *function)
{
    longest *self = (longest *)(void *)function;

    self->maker->live--;
    free(self);
}

static const sinter_merge_function_ops longest_ops = {
    .struct_size = sizeof longest_ops, .name = "longest", .reduce = reduce, .destroy = destroy};

static const sinter_merge_function_ops no_reduce = {
    .struct_size = sizeof no_reduce, .name = "none", .destroy = destroy};

static sinter_status
create(void *ctx, const sinter_env *env, sinter_merge_function **out, sinter_error *err)
{
    longest_maker *maker = ctx;
    longest *self = NULL;

    (void)env;
    (void)err;
    if (maker->answer != SINTER_OK) {
        return maker->answer;
    }
    self = calloc(1, sizeof *self);
    cr_assert_not_null(self);
    self->base.ops = maker->ops;
    self->maker = maker;
    maker->made++;
    maker->live++;
    *out = &self->base;
    return SINTER_OK;
}

static void
maker_init(longest_maker *maker)
{
    *maker = (longest_maker){.ops = &longest_ops};
    maker->base.struct_size = sizeof maker->base;
    maker->base.ctx = maker;
    maker->base.create = create;
}

static void
fill(world *w)
{
    const test_record old[] = {world_record("a", 1, "a long one"), world_record("b", 2, "x"),
                               world_record("c", 3, "alone")};
    const test_record new[] = {world_record("a", 4, "short"), world_record("b", 5, "longer")};

    world_add(w, 0, old, 3);
    world_add(w, 0, new, 2);
}

static const char *
text_of_view(world *w, const longest_maker *maker)
{
    const sinter_view_source source = {.struct_size = sizeof source,
                                       .format = &w->format,
                                       .base_dir = world_dir,
                                       .files = w->files,
                                       .count = w->count,
                                       .options = &w->options,
                                       .merge_function = &maker->base};
    static char text[256];
    sinter_view *view = NULL;
    sinter_range ranges[4];
    size_t count = 0;
    size_t used = 0;

    cr_assert_eq(sinter_view_open(&w->env, &source, NULL, &view, NULL), SINTER_OK);
    while (sinter_view_next(view, ranges, 4, &count, NULL) == SINTER_OK) {
        for (size_t r = 0; r < count; r++) {
            for (uint32_t i = 0; i < ranges[r].count; i++) {
                const sinter_row row = {ranges[r].batch, ranges[r].first + i};
                const sinter_bytes key = sinter_batch_key(row.batch, row.index);
                const sinter_bytes value = value_of(&row);

                used += (size_t)snprintf(text + used, sizeof text - used, "%.*s=%.*s ",
                                         (int)key.size, (const char *)key.data, (int)value.size,
                                         (const char *)value.data);
            }
        }
    }
    sinter_view_close(view);
    return text;
}

Test(compact_custom_function, a_task_and_a_view_reduce_by_it)
{
    sinter_file_meta unit[2];
    sinter_compact_task task;
    longest_maker maker;
    world w;

    world_init(&w, false, NULL);
    maker_init(&maker);
    fill(&w);
    cr_expect_str_eq(text_of_view(&w, &maker), "a=a long one b=longer c=alone ");
    world_task(&w, NULL, 0, unit, &task);
    task.merge_function = &maker.base;
    cr_assert_eq(world_compact(&w, &task, NULL), SINTER_OK);
    cr_expect_eq(w.count, 1);
    cr_expect_str_eq(world_text(&w), "a=a long one b=longer c=alone ");
    cr_expect_gt(maker.made, 1);
    cr_expect_eq(maker.live, 0, "each function was released");
    world_fini(&w);
}

Test(compact_custom_function, each_part_of_a_rewrite_has_its_own)
{
    sinter_file_meta unit[2];
    sinter_compact_task task;
    longest_maker maker;
    world w;

    world_init(&w, false, NULL);
    maker_init(&maker);
    w.write.block_bytes = 1024;
    w.options.target_file_bytes = 4096;
    w.options.memory_bytes = (uint64_t)1 << 32;
    w.options.sub_compactions = 4;
    world_add_rows(&w, 0, 0, 1, 2000, 0, 20);
    world_add_rows(&w, 0, 0, 1, 2000, 2000, 10);
    world_task(&w, NULL, 0, unit, &task);
    task.merge_function = &maker.base;
    cr_assert_eq(world_compact(&w, &task, NULL), SINTER_OK);
    cr_expect_geq(maker.made, 4);
    cr_expect_eq(maker.live, 0);
    world_fini(&w);
}

Test(compact_custom_function, a_factory_that_fails_fails_task_and_view)
{
    sinter_file_meta unit[2];
    sinter_compact_task task;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_view *view = NULL;
    longest_maker maker;
    world w;

    world_init(&w, false, NULL);
    maker_init(&maker);
    fill(&w);
    world_task(&w, NULL, 0, unit, &task);
    task.merge_function = &maker.base;
    maker.answer = SINTER_E_UNSUPPORTED;
    cr_expect_eq(world_compact(&w, &task, NULL), SINTER_E_UNSUPPORTED);
    maker.answer = SINTER_OK;
    maker.ops = &no_reduce;
    cr_expect_eq(world_compact(&w, &task, &err), SINTER_E_INVALID);
    cr_expect_eq(maker.live, 0);
    maker.base.create = NULL;
    cr_expect_eq(world_compact(&w, &task, &err), SINTER_E_INVALID);
    {
        const sinter_view_source source = {.struct_size = sizeof source,
                                           .format = &w.format,
                                           .base_dir = world_dir,
                                           .files = w.files,
                                           .count = w.count,
                                           .options = &w.options,
                                           .merge_function = &maker.base};

        cr_expect_eq(sinter_view_open(&w.env, &source, NULL, &view, NULL), SINTER_E_INVALID);
    }
    cr_expect_eq(w.count, 2, "the bucket is as before");
    world_fini(&w);
}

/* ---- progress and names of a task ---- */

typedef struct told {
    uint64_t bytes;
    uint64_t records;
    int calls;
    int events;
} told;

static void
note_progress(void *ctx, uint64_t bytes, uint64_t records)
{
    told *t = ctx;

    cr_expect_geq(bytes, t->bytes, "what was read only grows");
    cr_expect_geq(records, t->records);
    t->bytes = bytes;
    t->records = records;
    t->calls++;
}

static void
note_event(void *ctx, const sinter_event *event)
{
    told *t = ctx;

    cr_expect_eq(event->job_id, 42);
    cr_expect_str_eq(event->bucket, "dt=1/bucket-0");
    t->events++;
}

static int64_t
fast_clock(void *ctx)
{
    int64_t *now = ctx;

    *now += 20 * 1000 * 1000;
    return *now;
}

Test(compact_custom_function, a_task_tells_its_progress_and_its_name)
{
    int64_t now = 0;
    told t = {.bytes = 0};
    const sinter_listener listener = {.struct_size = sizeof listener,
                                      .ctx = &t,
                                      .task_begin = note_event,
                                      .task_end = note_event,
                                      .progress = note_event};
    sinter_file_meta unit[2];
    sinter_compact_task task;
    double done = 0;
    world w;

    world_init(&w, false, NULL);
    w.env.listener = &listener;
    w.env.clock.monotonic_ns = fast_clock;
    w.env.clock.ctx = &now;
    w.env.clock.wall_ms = fast_clock;
    w.env.clock.cpu_ns = fast_clock;
    w.write.block_bytes = 512;
    world_add_rows(&w, 0, 0, 1, 5000, 0, 20);
    world_add_rows(&w, 0, 0, 1, 5000, 5000, 20);
    world_task(&w, NULL, 0, unit, &task);
    task.progress = note_progress;
    task.progress_ctx = &t;
    task.name = "dt=1/bucket-0";
    task.job_id = 42;
    cr_assert_eq(world_compact(&w, &task, NULL), SINTER_OK);
    cr_expect_gt(t.calls, 0);
    cr_expect_gt(t.records, 0);
    done = (double)t.bytes / (double)(unit[0].file_size + unit[1].file_size);
    cr_expect(done > (double)t.records / 10100 && done < (double)t.records / 9900,
              "a file's bytes are done as its rows come");
    cr_expect_gt(t.events, 2);
    world_fini(&w);
}
