/*
 * The rolling writer over a format of its own: a writer that counts rows and does as it is told.
 */
#include "compact/rolling_writer.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"
#include "world.h"

/** What the stub format saw and does. Each row takes 10 bytes; blocks end every `block_rows`. */
typedef struct stub {
    uint32_t block_rows;
    uint32_t header_bytes; /* counts in size from the beginning */
    unsigned opened;
    unsigned finished;
    unsigned closed;
    unsigned fail_finish; /* the finish (from 1) that fails */
    sinter_status fail_status;
    uint64_t lost_rows;  /* finish tells so many fewer */
    bool has_extra;      /* each file has another one beside it */
    char rows_text[256]; /* rows of each finished file */
    sinter_io *io;
} stub;

typedef struct stub_writer {
    sinter_writer base;
    stub *stub;
    const sinter_env *env;
    char path[256];
    char extra[264];
    const char *extra_name;
    uint64_t rows;
} stub_writer;

static sinter_status
stub_append(sinter_writer *writer, const sinter_range *ranges, size_t count, uint64_t stop_bytes,
            size_t *taken_out, uint32_t *taken_rows_out, sinter_error *err)
{
    stub_writer *self = (stub_writer *)writer;

    (void)err;
    *taken_rows_out = 0;
    for (*taken_out = 0; *taken_out < count; (*taken_out)++) {
        const uint32_t rows = ranges[*taken_out].count;

        for (*taken_rows_out = 0; *taken_rows_out < rows; (*taken_rows_out)++) {
            if (self->rows % self->stub->block_rows == 0 &&
                self->stub->header_bytes + self->rows * 10 >= stop_bytes) {
                return SINTER_OK;
            }
            self->rows++;
        }
        *taken_rows_out = 0;
    }
    return SINTER_OK;
}

static uint64_t
stub_size(const sinter_writer *writer)
{
    return ((const stub_writer *)writer)->rows * 10;
}

static bool
stub_accepts(sinter_writer *writer, const sinter_block_info *info)
{
    (void)writer;
    return info->is_whole;
}

static void
publish_file(stub *s, const char *path)
{
    sinter_io_file *file = NULL;

    cr_assert_eq(s->io->ops->create(s->io, world_dir, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(s->io->ops->append(file, "x", 1, NULL), SINTER_OK);
    cr_assert_eq(s->io->ops->sync(file, NULL), SINTER_OK);
    cr_assert_eq(s->io->ops->publish(file, path, NULL), SINTER_OK);
    s->io->ops->close(file);
}

/* A finish that is told to fail leaves a file under the name all the same: somebody else's with
 * E_EXISTS, its own with any other failure. */
static sinter_status
stub_finish(sinter_writer *writer, sinter_file_stats *out, sinter_error *err)
{
    stub_writer *self = (stub_writer *)writer;
    stub *s = self->stub;

    publish_file(s, self->path);
    if (++s->finished == s->fail_finish) {
        return SINTER__ERR(err, s->fail_status, "told to fail");
    }
    (void)snprintf(s->rows_text + strlen(s->rows_text), sizeof s->rows_text - strlen(s->rows_text),
                   "%" PRIu64 " ", self->rows);
    *out = (sinter_file_stats){.struct_size = sizeof *out,
                               .file_size = self->rows * 10,
                               .row_count = self->rows - s->lost_rows,
                               .min_key = text_bytes("a"),
                               .max_key = text_bytes("b")};
    if (s->has_extra) {
        (void)snprintf(self->extra, sizeof self->extra, "%s.extra", self->path);
        self->extra_name = strrchr(self->extra, '/') + 1;
        publish_file(s, self->extra);
        out->extra_files = &self->extra_name;
        out->extra_file_count = 1;
    }
    return SINTER_OK;
}

static void
stub_close(sinter_writer *writer)
{
    stub_writer *self = (stub_writer *)writer;

    self->stub->closed++;
    sinter__free(self->env, self);
}

static const sinter_writer_ops stub_ops = {
    .struct_size = sizeof(sinter_writer_ops),
    .append = stub_append,
    .accepts = stub_accepts,
    .size = stub_size,
    .finish = stub_finish,
    .close = stub_close,
};

static sinter_status
stub_open(void *self, const sinter_env *env, const char *path, const sinter_write_options *options,
          sinter_writer **out, sinter_error *err)
{
    stub_writer *writer = NULL;

    (void)options;
    SINTER__CHECK(SINTER__NEW(env, writer, 1, err));
    writer->base.ops = &stub_ops;
    writer->stub = self;
    writer->env = env;
    (void)snprintf(writer->path, sizeof writer->path, "%s", path);
    writer->stub->opened++;
    *out = &writer->base;
    return SINTER_OK;
}

/** A writer with all that it needs. */
typedef struct setting {
    world w;
    stub stub;
    sinter_format format;
    sinter__rolling_config config;
    sinter_compact_result *result;
    sinter__rolling_writer *writer;
    sinter_batch batch;
} setting;

static void
set_up(setting *s, uint32_t block_rows, uint64_t target_bytes)
{
    *s = (setting){.stub = {.block_rows = block_rows}};
    world_init(&s->w, false, NULL);
    s->stub.io = s->w.io;
    s->format = (sinter_format){.struct_size = sizeof s->format,
                                .self = &s->stub,
                                .name = "stub",
                                .extension = ".stub",
                                .open_writer = stub_open};
    s->config = (sinter__rolling_config){.format = &s->format,
                                         .dir = world_dir,
                                         .prefix = "p-",
                                         .target_bytes = target_bytes,
                                         .write = {.level = 4}};
    s->batch = (sinter_batch){.struct_size = sizeof s->batch, .row_count = 1000000};
    cr_assert_eq(sinter__result_create(sinter_env_default(), NULL, 0, &s->result, NULL), SINTER_OK);
    cr_assert_eq(sinter__rolling_writer_create(&s->w.env, &s->config, &s->writer, NULL), SINTER_OK);
}

static void
tear_down(setting *s)
{
    sinter__rolling_writer_destroy(s->writer);
    sinter_compact_result_destroy(s->result);
    world_fini(&s->w);
}

static sinter_status
append_counts(setting *s, const uint32_t *counts, size_t count, sinter_error *err)
{
    sinter_range ranges[16];
    uint32_t first = 0;

    cr_assert_leq(count, 16);
    for (size_t i = 0; i < count; i++) {
        ranges[i] = (sinter_range){.batch = &s->batch, .first = first, .count = counts[i]};
        first += counts[i];
    }
    return sinter__rolling_writer_append(s->writer, ranges, count, s->result, err);
}

Test(compact_rolling_writer, files_end_at_block_borders_behind_the_target)
{
    const uint32_t counts[] = {3, 20, 1, 30};
    setting s;

    set_up(&s, 4, 70); /* the first border at 70 bytes or more is behind row 8 */
    cr_assert_eq(append_counts(&s, counts, 4, NULL), SINTER_OK);
    cr_assert_eq(sinter__rolling_writer_finish(s.writer, s.result, NULL), SINTER_OK);
    cr_expect_str_eq(s.stub.rows_text, "8 8 8 8 8 8 6 ");
    cr_expect_eq(sinter__rolling_writer_rows(s.writer), 54);
    cr_expect_eq(sinter_compact_result_after(s.result)->count, 7);
    cr_expect_eq(sinter_compact_result_after(s.result)->files[0].level, 4);
    tear_down(&s);
}

Test(compact_rolling_writer, where_files_are_cut_does_not_depend_on_how_ranges_come)
{
    for (uint64_t seed = 1; seed <= scaled_cases(300); seed++) {
        test_rng rng = {seed};
        const uint32_t block_rows = 1 + (uint32_t)test_rng_below(&rng, 9);
        const uint64_t target = 1 + test_rng_below(&rng, 300);
        uint32_t left = 200;
        const uint64_t target_rows = seed % 2 == 0 ? 0 : 1 + test_rng_below(&rng, 60);
        setting whole;
        setting parts;

        set_up(&whole, block_rows, target);
        set_up(&parts, block_rows, target);
        whole.config.target_rows = target_rows;
        parts.config.target_rows = target_rows;
        whole.stub.header_bytes = parts.stub.header_bytes = seed % 3 == 0 ? 500 : 0;
        cr_assert_eq(append_counts(&whole, &left, 1, NULL), SINTER_OK);
        while (left > 0) {
            uint32_t counts[16];
            size_t count = 0;

            while (left > 0 && count < 1 + test_rng_below(&rng, 16)) {
                counts[count] = 1 + (uint32_t)test_rng_below(&rng, left);
                left -= counts[count++];
            }
            cr_assert_eq(append_counts(&parts, counts, count, NULL), SINTER_OK);
        }
        cr_assert_eq(sinter__rolling_writer_finish(whole.writer, whole.result, NULL), SINTER_OK);
        cr_assert_eq(sinter__rolling_writer_finish(parts.writer, parts.result, NULL), SINTER_OK);
        cr_assert_eq(sinter__rolling_writer_rows(parts.writer), 200, "seed %" PRIu64, seed);
        cr_assert_str_eq(whole.stub.rows_text, parts.stub.rows_text, "seed %" PRIu64, seed);
        tear_down(&whole);
        tear_down(&parts);
    }
}

Test(compact_rolling_writer, files_end_at_their_number_of_rows_wherever_ranges_end)
{
    const uint32_t counts[] = {3, 20, 1, 30};
    static const struct {
        uint64_t rows;
        const char *text;
    } cases[] = {{10, "10 10 10 10 10 4 "}, {54, "54 "}, {24, "24 24 6 "}, {100, "54 "}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setting s;

        set_up(&s, 4, 100000);
        s.config.target_rows = cases[i].rows;
        s.config.file_source = SINTER_FILE_SOURCE_APPEND;
        cr_assert_eq(append_counts(&s, counts, 4, NULL), SINTER_OK);
        cr_assert_eq(sinter__rolling_writer_finish(s.writer, s.result, NULL), SINTER_OK);
        cr_expect_str_eq(s.stub.rows_text, cases[i].text);
        cr_expect_eq(sinter_compact_result_after(s.result)->files[0].file_source,
                     SINTER_FILE_SOURCE_APPEND);
        tear_down(&s);
    }
    {
        setting s;

        set_up(&s, 4, 70); /* whichever comes first */
        s.config.target_rows = 1;
        s.stub.header_bytes = 80;
        cr_assert_eq(append_counts(&s, counts, 1, NULL), SINTER_OK);
        cr_assert_eq(sinter__rolling_writer_finish(s.writer, s.result, NULL), SINTER_OK);
        cr_expect_str_eq(s.stub.rows_text, "1 1 1 ");
        tear_down(&s);
    }
}

Test(compact_rolling_writer, a_target_below_a_header_still_makes_progress)
{
    const uint32_t counts[] = {3};
    setting s;

    set_up(&s, 1, 1);
    s.stub.header_bytes = 64;
    cr_assert_eq(append_counts(&s, counts, 1, NULL), SINTER_OK);
    cr_assert_eq(sinter__rolling_writer_finish(s.writer, s.result, NULL), SINTER_OK);
    cr_expect_str_eq(s.stub.rows_text, "1 1 1 ");
    tear_down(&s);
}

Test(compact_rolling_writer, no_rows_make_no_file)
{
    const sinter_block_info info = {.struct_size = sizeof info, .is_whole = true};
    setting s;

    set_up(&s, 4, 70);
    cr_expect(sinter__rolling_writer_accepts(s.writer, &info), "this begins a file");
    cr_expect_eq(s.stub.opened, 1);
    cr_assert_eq(sinter__rolling_writer_finish(s.writer, s.result, NULL), SINTER_OK);
    cr_expect_eq(s.stub.closed, 1);
    cr_expect_eq(s.stub.finished, 0);
    cr_expect_eq(sinter_compact_result_after(s.result)->count, 0);
    tear_down(&s);
}

Test(compact_rolling_writer, names_are_counted_up_behind_one_uuid)
{
    const uint32_t counts[] = {20};
    const sinter_file_list *after = NULL;
    setting s;

    set_up(&s, 4, 70);
    cr_assert_eq(append_counts(&s, counts, 1, NULL), SINTER_OK);
    cr_assert_eq(sinter__rolling_writer_finish(s.writer, s.result, NULL), SINTER_OK);
    after = sinter_compact_result_after(s.result);
    cr_assert_eq(after->count, 3);
    for (size_t i = 0; i < 3; i++) {
        char tail[16];

        (void)snprintf(tail, sizeof tail, "-%zu.stub", i);
        cr_expect_str_eq(after->files[i].file_name + 2 + 36, tail);
        cr_expect_eq(strncmp(after->files[i].file_name, after->files[0].file_name, 2 + 36), 0);
    }
    tear_down(&s);
}

Test(compact_rolling_writer, what_was_not_kept_vanishes)
{
    const uint32_t counts[] = {20};

    for (int keeps = 0; keeps < 2; keeps++) {
        setting s;

        set_up(&s, 4, 70);
        s.stub.has_extra = true;
        cr_assert_eq(append_counts(&s, counts, 1, NULL), SINTER_OK);
        if (keeps != 0) {
            cr_assert_eq(sinter__rolling_writer_finish(s.writer, s.result, NULL), SINTER_OK);
            cr_assert_eq(sinter__rolling_writer_sync(s.writer, NULL), SINTER_OK);
            sinter__rolling_writer_keep(s.writer);
        }
        sinter__rolling_writer_destroy(s.writer);
        s.writer = NULL;
        cr_expect_eq(world_name_count(&s.w), keeps != 0 ? 6 : 0);
        cr_expect_eq(s.stub.opened, s.stub.closed);
        tear_down(&s);
    }
}

Test(compact_rolling_writer, files_beside_a_file_belong_to_it_in_the_result)
{
    const uint32_t counts[] = {20};
    const sinter_file_list *after = NULL;
    setting s;

    set_up(&s, 4, 70);
    s.stub.has_extra = true;
    cr_assert_eq(append_counts(&s, counts, 1, NULL), SINTER_OK);
    cr_assert_eq(sinter__rolling_writer_finish(s.writer, s.result, NULL), SINTER_OK);
    after = sinter_compact_result_after(s.result);
    cr_assert_eq(after->count, 3);
    for (size_t i = 0; i < after->count; i++) {
        char name[256];

        (void)snprintf(name, sizeof name, "%s.extra", after->files[i].file_name);
        cr_assert_eq(after->files[i].extra_file_count, 1);
        cr_expect_str_eq(after->files[i].extra_files[0], name);
    }
    tear_down(&s);
}

Test(compact_rolling_writer, after_a_failed_finish_only_a_file_of_our_own_is_removed)
{
    static const sinter_status failures[] = {SINTER_E_EXISTS, SINTER_E_IO};
    const uint32_t counts[] = {1};

    for (size_t i = 0; i < 2; i++) {
        setting s;

        set_up(&s, 4, 70);
        s.stub.fail_finish = 1;
        s.stub.fail_status = failures[i];
        cr_assert_eq(append_counts(&s, counts, 1, NULL), SINTER_OK);
        cr_expect_eq(sinter__rolling_writer_finish(s.writer, s.result, NULL), failures[i]);
        sinter__rolling_writer_destroy(s.writer);
        s.writer = NULL;
        cr_expect_eq(world_name_count(&s.w), failures[i] == SINTER_E_EXISTS);
        tear_down(&s);
    }
}

Test(compact_rolling_writer, a_file_that_lost_rows_is_a_failure)
{
    const uint32_t counts[] = {5};
    sinter_error err = SINTER_ERROR_INIT;
    setting s;

    set_up(&s, 4, 1000);
    s.stub.lost_rows = 1;
    s.stub.has_extra = true;
    cr_assert_eq(append_counts(&s, counts, 1, NULL), SINTER_OK);
    cr_expect_eq(sinter__rolling_writer_finish(s.writer, s.result, &err), SINTER_E_CONFLICT);
    cr_expect_eq(sinter_compact_result_after(s.result)->count, 0);
    sinter__rolling_writer_destroy(s.writer);
    s.writer = NULL;
    cr_expect_eq(world_name_count(&s.w), 0);
    tear_down(&s);
}

Test(compact_rolling_writer, every_allocation_may_fail)
{
    const uint32_t counts[] = {20};
    const sinter_block_info info = {.struct_size = sizeof info, .is_whole = true};
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;
        setting s;

        set_up(&s, 4, 70);
        s.stub.has_extra = true;
        sinter__rolling_writer_destroy(s.writer);
        s.writer = NULL;
        fault_alloc_init(&fault, n);
        s.w.env.allocator = fault.env.allocator;
        st = sinter__rolling_writer_create(&s.w.env, &s.config, &s.writer, NULL);
        if (st == SINTER_OK) {
            (void)sinter__rolling_writer_accepts(s.writer, &info);
            st = append_counts(&s, counts, 1, NULL);
        }
        if (st == SINTER_OK) {
            st = sinter__rolling_writer_finish(s.writer, s.result, NULL);
        }
        if (st == SINTER_OK) {
            st = sinter__rolling_writer_sync(s.writer, NULL);
        }
        if (st == SINTER_OK) {
            sinter__rolling_writer_keep(s.writer);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        sinter__rolling_writer_destroy(s.writer);
        s.writer = NULL;
        cr_assert_eq(fault.live, 0);
        cr_assert_eq(world_name_count(&s.w), st == SINTER_OK ? 6 : 0);
        tear_down(&s);
    }
}
