/*
 * Files written with blocks beside and without are the same files, whoever encodes.
 */
#include "sst/block_line.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executors.h"
#include "sst/writer.h"
#include "sst_support.h"

TestSuite(sst_block_line, .timeout = 200);

enum { FILES_MAX = 400 };

/* Who helps. */
typedef enum help_kind {
    HELP_POOL,
    HELP_INLINE,
    HELP_LATE,
    HELP_NEVER,
    HELP_REFUSED,
    HELP_KINDS
} help_kind;

typedef struct helpers {
    help_kind kind;
    sinter_pool *pool;
    test_executor executor;
} helpers;

static void
helpers_init(helpers *self, help_kind kind, sinter_env *env)
{
    memset(self, 0, sizeof *self);
    self->kind = kind;
    if (kind == HELP_POOL) {
        cr_assert_eq(sinter_pool_create(sinter_env_default(), 2, 1000, &self->pool, NULL), 0);
        env->executor = sinter_pool_executor(self->pool);
        return;
    }
    self->executor.kind = kind == HELP_INLINE    ? TEST_EXECUTOR_INLINE
                          : kind == HELP_REFUSED ? TEST_EXECUTOR_REFUSES
                                                 : TEST_EXECUTOR_KEEPS;
    test_executor_use(&self->executor, env);
}

/* Between two appends: a late helper comes now and then. */
static void
helpers_pause(helpers *self, uint64_t turn)
{
    if (self != NULL && self->kind == HELP_LATE && turn % 7 == 0) {
        test_executor_run(&self->executor);
    }
}

static void
helpers_fini(helpers *self)
{
    sinter_pool_destroy(self->pool);
    test_executor_run(&self->executor);
}

/* What is written, and how. */
typedef struct plan {
    test_run run;
    sinter_write_options options;
    uint64_t stop_bytes;
    uint32_t range_rows;
    uint32_t page_bytes;
    uint32_t pass_percent; /* of stored blocks that are passed on where they may be */
    bool asks_size;        /* between appends */
} plan;

/* A row of files that is being written, as the rolling writer does it. */
typedef struct files {
    const sinter_env *env;
    const plan *how;
    helpers *help;
    sinter_writer *writer;
    size_t count;
    uint64_t turn;
    uint64_t sizes; /* a hash of the answers */
} files;

static sinter_status
begin_file(files *self, sinter_error *err)
{
    const sinter_format *format = sinter_format_sst();
    char path[32];

    (void)snprintf(path, sizeof path, "f%zu", self->count++);
    SINTER__CHECK(format->open_writer(format->self, self->env, path, &self->how->options,
                                      &self->writer, err));
    if (self->how->page_bytes > 0) {
        sinter__sst_writer_set_page_bytes(self->writer, self->how->page_bytes);
    }
    return SINTER_OK;
}

static sinter_status
end_file(files *self, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (self->writer != NULL) {
        st = self->writer->ops->finish(self->writer, NULL, err);
        self->writer->ops->close(self->writer);
        self->writer = NULL;
    }
    return st;
}

static sinter_status
append_some(files *self, sinter_range range, uint32_t *rows_out, sinter_error *err)
{
    size_t taken = 0;
    uint32_t rows = 0;

    if (self->writer == NULL) {
        SINTER__CHECK(begin_file(self, err));
    }
    helpers_pause(self->help, self->turn++);
    SINTER__CHECK(self->writer->ops->append(self->writer, &range, 1, self->how->stop_bytes, &taken,
                                            &rows, err));
    if (self->how->asks_size) {
        self->sizes = self->sizes * 31 + self->writer->ops->size(self->writer);
    }
    *rows_out = taken == 1 ? range.count : rows;
    return taken == 1 ? SINTER_OK : end_file(self, err);
}

static sinter_status
append_batch(files *self, const sinter_batch *batch, sinter_error *err)
{
    const bool is_stored = (batch->flags & SINTER_BATCH_STORED) != 0;
    uint32_t done = 0;

    while (done < batch->row_count) {
        const uint32_t left = batch->row_count - done;
        const uint32_t most = is_stored ? left : self->how->range_rows;
        const sinter_range range = {batch, done, left < most ? left : most};
        uint32_t rows = 0;

        SINTER__CHECK(append_some(self, range, &rows, err));
        done += rows;
    }
    return SINTER_OK;
}

/* Copy "in.sst", passing blocks on as they are stored by chance. */
static sinter_status
copy_input(files *self, const sinter_env *reader_env, sinter_error *err)
{
    const sinter_format *format = sinter_format_sst();
    test_rng rng = {.state = 4};
    sinter_reader *reader = NULL;
    const sinter_block_info *info = NULL;
    const sinter_batch *batch = NULL;
    sinter_status st = SINTER_OK;

    cr_assert_eq(format->open_reader(format->self, reader_env, "in.sst", NULL, &reader, NULL), 0);
    while (st == SINTER_OK && reader->ops->peek(reader, &info, NULL) == SINTER_OK) {
        const bool passes = test_rng_chance(&rng, self->how->pass_percent) &&
                            self->writer != NULL && self->writer->ops->accepts(self->writer, info);

        cr_assert_eq(passes ? reader->ops->take(reader, &batch, NULL)
                            : reader->ops->next(reader, &batch, NULL),
                     SINTER_OK);
        st = append_batch(self, batch, err);
    }
    if (st == SINTER_OK) {
        st = end_file(self, err);
    }
    if (self->writer != NULL) {
        self->writer->ops->close(self->writer);
        self->writer = NULL;
    }
    reader->ops->close(reader);
    return st;
}

static int64_t
noon(void *ctx)
{
    (void)ctx;
    return 43200000;
}

/* Write the plan's files. @return how many; their bytes go to `out`, one behind the other */
static size_t
write_files(const plan *how, uint32_t blocks_beside, int kind, sinter__buffer *out)
{
    plan with = *how;
    static helpers help;
    sst_world world;
    sinter_env env;
    files all = {.how = &with};
    sinter_error err = SINTER_ERROR_INIT;

    sst_world_init(&world);
    world.env.clock.wall_ms = noon;
    env = world.env;
    with.options.blocks_beside = blocks_beside;
    if (kind < HELP_KINDS) {
        helpers_init(&help, (help_kind)kind, &env);
        all.help = &help;
    }
    all.env = &env;
    cr_assert_eq(sst_write(&world.env, "in.sst", &how->run, &(sst_plan){.options = how->options},
                           NULL, &err),
                 SINTER_OK, "%s", err.text);
    cr_assert_eq(copy_input(&all, &world.env, &err), SINTER_OK, "%s", err.text);
    for (size_t i = 0; i < all.count; i++) {
        char path[32];
        size_t size = 0;
        uint8_t *bytes = NULL;

        (void)snprintf(path, sizeof path, "f%zu", i);
        bytes = sst_file_bytes(&world.env, path, &size);
        cr_assert_eq(sinter__buffer_append(sinter_env_default(), out, bytes, size, NULL), 0);
        if (blocks_beside == 0) {
            cr_assert_eq(sinter_sst_verify(&world.env, path, NULL, &err), SINTER_OK, "%s",
                         err.text);
        }
        free(bytes);
    }
    cr_assert_eq(
        sinter__buffer_append(sinter_env_default(), out, &all.sizes, sizeof all.sizes, NULL),
        SINTER_OK);
    if (kind < HELP_KINDS) {
        helpers_fini(&help);
    }
    sst_world_fini(&world);
    return all.count;
}

static plan
random_plan(test_rng *rng, test_pool *pool)
{
    const bool has_large = test_rng_chance(rng, 20);
    const sst_shape shape = {.count = 1 + (size_t)test_rng_below(rng, has_large ? 60 : 2500),
                             .key_min = 3,
                             .key_max = 3 + (uint32_t)test_rng_below(rng, 60),
                             .value_max = has_large ? 100000 : (uint32_t)test_rng_below(rng, 300),
                             .delete_percent = 10,
                             .shared = (uint32_t)test_rng_below(rng, 3),
                             .noise = test_rng_chance(rng, 30)};
    plan how = {.stop_bytes = UINT64_MAX};

    how.run = sst_records(rng, &shape, pool);
    how.options = (sinter_write_options){
        .struct_size = sizeof how.options,
        .block_bytes = 200 + (uint32_t)test_rng_below(rng, test_rng_chance(rng, 50) ? 800 : 30000),
        .codec = sst_codec((int)test_rng_below(rng, 3)),
        .filter_bits_per_key = test_rng_chance(rng, 30) ? 10 : 0};
    if (test_rng_chance(rng, 70)) {
        how.stop_bytes = 1500 + test_rng_below(rng, 60000);
    }
    how.range_rows = 1 + (uint32_t)test_rng_below(rng, test_rng_chance(rng, 50) ? 5 : 1000);
    how.page_bytes = test_rng_chance(rng, 50) ? 300 : 0;
    how.pass_percent = test_rng_chance(rng, 50) ? (uint32_t)test_rng_below(rng, 100) : 0;
    how.asks_size = test_rng_chance(rng, 20);
    return how;
}

Test(sst_block_line, bytes_and_borders_of_files_do_not_depend_on_who_encodes)
{
    size_t many = 0;

    for (uint64_t seed = 1; seed <= 30; seed++) {
        test_rng rng = {.state = seed * 7919};
        test_pool pool = {0};
        const plan how = random_plan(&rng, &pool);
        sinter__buffer expected = {0};
        const size_t count = write_files(&how, 0, HELP_KINDS, &expected);

        many += count > 5;
        for (int kind = 0; kind <= HELP_KINDS; kind++) {
            const uint32_t beside = 1 + (uint32_t)test_rng_below(&rng, 6);
            sinter__buffer found = {0};

            cr_assert_eq(write_files(&how, beside, kind, &found), count,
                         "seed %" PRIu64 ", help %d", seed, kind);
            cr_assert(found.size == expected.size &&
                          memcmp(found.data, expected.data, found.size) == 0,
                      "seed %" PRIu64 ", help %d, %u beside", seed, kind, beside);
            sinter__buffer_fini(sinter_env_default(), &found);
        }
        sinter__buffer_fini(sinter_env_default(), &expected);
        test_pool_fini(&pool);
    }
    cr_assert_gt(many, 6, "only %zu cases had many files", many);
}

/* ---- failures ---- */

/* 1,500 rows in small blocks and several files; a range at a time. */
static plan
sweep_plan(test_pool *pool)
{
    const sst_shape shape = {
        .count = 1500, .key_min = 8, .key_max = 12, .value_max = 60, .delete_percent = 10};
    test_rng rng = {.state = 21};
    plan how = {.stop_bytes = 20000, .range_rows = 100, .pass_percent = 20};

    how.run = sst_records(&rng, &shape, pool);
    how.options = (sinter_write_options){.struct_size = sizeof how.options,
                                         .block_bytes = 2000,
                                         .codec = SINTER_CODEC_ZSTD,
                                         .filter_bits_per_key = 5,
                                         .blocks_beside = 3};
    return how;
}

/* Write the files of the plan with `env`; "in.sst" is there. */
static sinter_status
write_sweep(const sinter_env *env, const sinter_env *reader_env, const plan *how, help_kind kind,
            sinter_error *err)
{
    static helpers help;
    sinter_env with = *env;
    files all = {.how = how, .help = &help};
    sinter_status st = SINTER_OK;

    helpers_init(&help, kind, &with);
    all.env = &with;
    st = copy_input(&all, reader_env, err);
    helpers_fini(&help);
    return st;
}

Test(sst_block_line, every_allocation_may_fail)
{
    test_pool pool = {0};
    const plan how = sweep_plan(&pool);
    const help_kind kinds[] = {HELP_POOL, HELP_INLINE, HELP_NEVER};

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        sinter_status st = SINTER_E_NOMEM;
        uint64_t n = 0;

        for (; st != SINTER_OK; n++) {
            sinter_error err = SINTER_ERROR_INIT;
            sinter_env reader_env;
            sst_world world;

            sst_world_init(&world);
            reader_env = world.io_env;
            reader_env.io = world.io;
            cr_assert_eq(sst_write(&world.env, "in.sst", &how.run,
                                   &(sst_plan){.options = how.options}, NULL, NULL),
                         SINTER_OK);
            sst_world_fail_allocation(&world, n);
            st = write_sweep(&world.env, &reader_env, &how, kinds[k], &err);
            cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st),
                      "allocation %" PRIu64 ": %s %s", n, sinter_status_name(st), err.text);
            cr_assert_eq(world.fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
            sst_world_fini(&world);
        }
        cr_assert_gt(n, 30);
    }
    test_pool_fini(&pool);
}

Test(sst_block_line, every_io_call_may_fail)
{
    const sinter_fault_kind faults[] = {SINTER_FAULT_EIO, SINTER_FAULT_ENOSPC,
                                        SINTER_FAULT_TORN_WRITE};
    const help_kind kinds[] = {HELP_POOL, HELP_INLINE, HELP_LATE};
    test_pool pool = {0};
    const plan how = sweep_plan(&pool);

    for (size_t k = 0; k < 3; k++) {
        sinter_status st = SINTER_E_IO;
        uint64_t n = 0;

        for (; st != SINTER_OK; n++) {
            const sinter_fault_options fault = {
                .struct_size = sizeof fault, .kind = faults[k], .at_call = n};
            sinter_error err = SINTER_ERROR_INIT;
            sinter_io *faulty = NULL;
            sinter_env env;
            sst_world world;

            sst_world_init(&world);
            cr_assert_eq(sst_write(&world.env, "in.sst", &how.run,
                                   &(sst_plan){.options = how.options}, NULL, NULL),
                         SINTER_OK);
            cr_assert_eq(sinter_io_fault_create(&world.io_env, world.io, &fault, &faulty, NULL),
                         SINTER_OK);
            env = world.env;
            env.io = faulty;
            st = write_sweep(&env, &world.env, &how, kinds[k], &err);
            cr_assert(st == SINTER_OK || st == SINTER_E_IO || st == SINTER_E_NO_SPACE, "%s: %s",
                      sinter_status_name(st), err.text);
            cr_assert(st == SINTER_OK || (err.status == st && err.file[0] != '\0'), "%s", err.file);
            sinter_io_destroy(faulty);
            cr_assert_eq(world.fault.live, 0);
            sst_world_fini(&world);
        }
        cr_assert_gt(n, 10);
    }
    test_pool_fini(&pool);
}

/* Rows whose order breaks at `bad`. */
static sinter_status
write_unsorted(uint32_t bad, uint32_t blocks_beside, int kind, sinter_error *err)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_write_options options = {.struct_size = sizeof options,
                                          .block_bytes = 300,
                                          .codec = SINTER_CODEC_ZSTD,
                                          .blocks_beside = blocks_beside};
    static helpers help;
    sinter_batch_builder *builder = NULL;
    sinter_writer *writer = NULL;
    sst_world world;
    sinter_env env;
    sinter_status st = SINTER_OK;

    sst_world_init(&world);
    env = world.env;
    if (kind < HELP_KINDS) {
        helpers_init(&help, (help_kind)kind, &env);
    }
    cr_assert_eq(sinter_batch_builder_create(&world.env, &builder, NULL), SINTER_OK);
    cr_assert_eq(format->open_writer(format->self, &env, "u", &options, &writer, NULL), SINTER_OK);
    for (uint32_t i = 0; st == SINTER_OK && i < 1000; i++) {
        char key[16];
        sinter_range range = {.count = 1};
        size_t taken = 0;
        uint32_t rows = 0;

        (void)snprintf(key, sizeof key, "%08u", i == bad ? 0 : i + 1);
        sinter_batch_builder_reset(builder);
        cr_assert_eq(
            sinter_batch_builder_add(builder, test_text(key), 1, 0, test_text("value"), NULL), 0);
        range.batch = sinter_batch_builder_batch(builder);
        st = writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &rows, err);
    }
    if (st == SINTER_OK) {
        st = writer->ops->finish(writer, NULL, err);
    }
    cr_assert_eq(writer->ops->finish(writer, NULL, NULL), st, "it stays refused");
    writer->ops->close(writer);
    sinter_batch_builder_destroy(builder);
    if (kind < HELP_KINDS) {
        helpers_fini(&help);
    }
    sst_world_fini(&world);
    return st;
}

Test(sst_block_line, the_row_that_is_refused_is_the_same_whoever_meets_it)
{
    for (uint32_t bad = 1; bad < 1000; bad += 83) {
        sinter_error expected = SINTER_ERROR_INIT;

        cr_assert_eq(write_unsorted(bad, 0, HELP_KINDS, &expected), SINTER_E_INVALID);
        for (int kind = 0; kind < HELP_KINDS; kind++) {
            sinter_error err = SINTER_ERROR_INIT;

            cr_assert_eq(write_unsorted(bad, 4, kind, &err), SINTER_E_INVALID);
            cr_expect_str_eq(err.text, expected.text);
            cr_expect_str_eq(err.file, "u");
        }
    }
}

Test(sst_block_line, closing_in_the_middle_leaves_nothing)
{
    test_pool pool = {0};
    plan how = sweep_plan(&pool);

    how.stop_bytes = UINT64_MAX;
    how.pass_percent = 0;
    for (int kind = 0; kind < HELP_KINDS; kind++) {
        for (uint64_t rows = 0; rows < how.run.count; rows += 97) {
            const sinter_format *format = sinter_format_sst();
            static helpers help;
            const sinter_batch *batch = NULL;
            sinter_reader *reader = NULL;
            sinter_io_stat stat;
            sinter_env env;
            sst_world world;
            files all = {.how = &how, .help = &help};

            sst_world_init(&world);
            env = world.env;
            helpers_init(&help, (help_kind)kind, &env);
            all.env = &env;
            cr_assert_eq(
                sst_write(&world.env, "in.sst", &how.run, &(sst_plan){.page_bytes = 0}, NULL, NULL),
                SINTER_OK);
            cr_assert_eq(
                format->open_reader(format->self, &world.env, "in.sst", NULL, &reader, NULL), 0);
            cr_assert_eq(begin_file(&all, NULL), SINTER_OK);
            cr_assert_eq(reader->ops->next(reader, &batch, NULL), SINTER_OK);
            for (uint32_t i = 0; i < rows && i < batch->row_count; i++) {
                uint32_t one = 0;

                cr_assert_eq(append_some(&all, (sinter_range){batch, i, 1}, &one, NULL), SINTER_OK);
            }
            all.writer->ops->close(all.writer);
            reader->ops->close(reader);
            helpers_fini(&help);
            cr_expect_neq(world.io->ops->stat(world.io, "f0", &stat, NULL), SINTER_OK);
            cr_expect_eq(world.fault.live, 0);
            sst_world_fini(&world);
        }
    }
    test_pool_fini(&pool);
}

Test(sst_block_line, too_many_blocks_on_their_way_are_refused)
{
    const sinter_format *format = sinter_format_sst();
    const sinter_write_options options = {.struct_size = sizeof options,
                                          .blocks_beside = SINTER__BLOCK_LINE_SLOTS_MAX + 1};
    sinter_writer *writer = NULL;
    sst_world world;

    sst_world_init(&world);
    cr_expect_eq(format->open_writer(format->self, &world.env, "w", &options, &writer, NULL),
                 SINTER_E_INVALID);
    sst_world_fini(&world);
}
