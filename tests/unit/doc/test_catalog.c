#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bucket.h"
#include "support/fault_alloc.h"

TestSuite(doc_catalog, .timeout = 120);

static sinter_status
open_catalog(const sinter_env *env, uint32_t flags, sinter_catalog **out, sinter_error *err)
{
    return sinter_catalog_open(env, "db", flags, out, err);
}

Test(doc_catalog, a_new_catalog_says_what_it_was_made_of)
{
    const sinter_option options[] = {{"file.compression", "lz4"}, {"target-file-size", "1 mb"}};
    sinter_text text;
    bucket b;

    bucket_init(&b, NULL);
    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(bucket_create(&b.env, options, 2, NULL), SINTER_OK);
    bucket_catalog_text(&b.env, &text);
    cr_expect_str_eq(
        text.data,
        "{\"format\":\"sinter.files\",\"version\":1,\"key_types\":[\"INT NOT NULL\"],"
        "\"row_type\":{\"type\":\"ROW\",\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":\"INT NOT "
        "NULL\"},{\"id\":1,\"name\":\"v\",\"type\":\"STRING\"}],\"primaryKeys\":[\"k\"]},"
        "\"num_levels\":6,\"options\":{\"file.compression\":\"lz4\",\"target-file-size\":\"1 mb\"},"
        "\"unit\":null,\"output_level\":null,\"next_sequence\":0,\"generation\":0,\"files\":[]}\n");
    sinter_text_fini(&text);
    bucket_fini(&b);
}

Test(doc_catalog, what_can_not_be_made_is_refused)
{
    const sinter_option unknown[] = {{"no-such-option", "1"}};
    sinter_catalog *catalog = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bucket b;

    bucket_init(&b, NULL);
    cr_expect_eq(open_catalog(&b.env, SINTER_CATALOG_WRITE, &catalog, &err), SINTER_E_NOT_FOUND);
    cr_expect_eq(bucket_create(&b.env, unknown, 1, &err), SINTER_E_INVALID);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_expect_eq(bucket_create(&b.env, NULL, 0, &err), SINTER_E_EXISTS);
    cr_expect_str_eq(err.text, "the directory has a catalog");
    bucket_fini(&b);
}

Test(doc_catalog, a_row_type_too_deep_for_a_document_is_refused_before_it_is_written)
{
    for (size_t depth = 28; depth <= 29; depth++) {
        sinter_catalog_options options = {.struct_size = (uint32_t)sizeof options,
                                          .num_levels = -1};
        sinter_row_type *row_type = NULL;
        sinter_catalog *catalog = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        char json[1024];
        size_t at = 0;
        bucket b;

        bucket_init(&b, NULL);
        at = (size_t)snprintf(json, sizeof json,
                              "{\"fields\":[{\"name\":\"k\",\"type\":\"INT NOT "
                              "NULL\"},{\"name\":\"v\",\"type\":\"");
        for (size_t i = 0; i < depth; i++) {
            at += (size_t)snprintf(json + at, sizeof json - at, "ARRAY<");
        }
        at += (size_t)snprintf(json + at, sizeof json - at, "INT");
        memset(json + at, '>', depth);
        (void)snprintf(json + at + depth, sizeof json - at - depth,
                       "\"}],\"primaryKeys\":[\"k\"]}");
        cr_assert_eq(sinter_row_type_parse(&b.env, json, strlen(json), &row_type, &err), SINTER_OK,
                     "%s", err.text);
        options.row_type = row_type;
        cr_expect_eq(sinter_catalog_create(&b.env, "db", &options, &err),
                     depth == 28 ? SINTER_OK : SINTER_E_UNSUPPORTED, "%s", err.text);
        cr_expect_eq(open_catalog(&b.env, 0, &catalog, &err),
                     depth == 28 ? SINTER_OK : SINTER_E_NOT_FOUND, "%s", err.text);
        sinter_catalog_close(catalog);
        sinter_row_type_destroy(row_type);
        bucket_fini(&b);
    }
}

Test(doc_catalog, one_writer_at_a_time_and_any_number_of_readers)
{
    sinter_catalog *writer = NULL;
    sinter_catalog *second = NULL;
    sinter_catalog *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(open_catalog(&b.env, SINTER_CATALOG_WRITE, &writer, NULL), SINTER_OK);
    cr_expect_eq(open_catalog(&b.env, SINTER_CATALOG_WRITE, &second, &err), SINTER_E_BUSY);
    cr_expect_str_eq(err.text, "another process or handle is changing this directory");
    cr_expect_str_eq(err.file, "db/.sinter-lock");
    cr_expect_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_E_BUSY);
    cr_assert_eq(open_catalog(&b.env, 0, &reader, NULL), SINTER_OK);
    cr_expect_eq(sinter_catalog_commit(reader, &err), SINTER_E_INVALID);
    cr_expect_eq(sinter_catalog_gc(reader, NULL, NULL, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "the catalog was opened for reading only");
    sinter_catalog_close(reader);
    sinter_catalog_close(writer);
    cr_expect_eq(open_catalog(&b.env, SINTER_CATALOG_WRITE, &second, NULL), SINTER_OK,
                 "the lock came back");
    sinter_catalog_close(second);
    bucket_fini(&b);
}

Test(doc_catalog, added_names_and_sequences_are_checked)
{
    const sinter_file_meta file = {.struct_size = (uint32_t)sizeof file,
                                   .file_name = "a.sst",
                                   .upgraded_from = -1,
                                   .delete_row_count = -1};
    sinter_file_meta bad = file;
    sinter_catalog *catalog = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(open_catalog(&b.env, SINTER_CATALOG_WRITE, &catalog, NULL), SINTER_OK);
    cr_assert_eq(sinter_catalog_add(catalog, &file, 1, 10, NULL), SINTER_OK);
    cr_expect_eq(sinter_catalog_add(catalog, &file, 1, 11, &err), SINTER_E_EXISTS);
    cr_expect_str_eq(err.file, "a.sst");
    cr_expect_eq(sinter_catalog_add(catalog, NULL, 0, 9, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "next sequence 9 is below 10");
    bad.file_name = "../b";
    cr_expect_eq(sinter_catalog_add(catalog, &bad, 1, 11, &err), SINTER_E_INVALID);
    cr_expect_eq(sinter_catalog_gc(catalog, NULL, NULL, &err), SINTER_E_INVALID,
                 "changes are waiting");
    cr_expect_eq(sinter_files_doc_get(sinter_catalog_doc(catalog))->file_count, 1);
    sinter_catalog_close(catalog);
    cr_assert_eq(open_catalog(&b.env, 0, &catalog, NULL), SINTER_OK);
    cr_expect_eq(sinter_files_doc_get(sinter_catalog_doc(catalog))->file_count, 0,
                 "what was not committed is forgotten");
    sinter_catalog_close(catalog);
    bucket_fini(&b);
}

Test(doc_catalog, a_compaction_retires_what_it_replaced)
{
    sinter_catalog *catalog = NULL;
    const sinter_files *files;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,a\n2,b\n1,c\n", 1, NULL, NULL), SINTER_OK);
    cr_assert_eq(bucket_compact(&b.env, NULL), SINTER_OK);
    cr_assert_eq(open_catalog(&b.env, 0, &catalog, NULL), SINTER_OK);
    files = sinter_files_doc_get(sinter_catalog_doc(catalog));
    cr_expect_eq(files->file_count, 1);
    cr_expect_eq(files->files[0].level, 5);
    cr_expect_eq(files->files[0].row_count, 2);
    cr_expect_eq(files->retired_count, 3);
    cr_expect_gt(files->retired[0].retired_ms, 0);
    cr_expect_eq(files->generation, 2);
    cr_expect_eq(files->next_sequence, 3);
    sinter_catalog_close(catalog);
    bucket_fini(&b);
}

Test(doc_catalog, an_upgraded_file_keeps_its_name_and_is_never_retired)
{
    sinter_catalog *catalog = NULL;
    const sinter_files *files;
    sinter_gc_result gone = {.struct_size = (uint32_t)sizeof gone};
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,a\n2,b\n", 0, NULL, NULL), SINTER_OK);
    cr_assert_eq(bucket_compact(&b.env, NULL), SINTER_OK);
    cr_assert_eq(open_catalog(&b.env, SINTER_CATALOG_WRITE, &catalog, NULL), SINTER_OK);
    files = sinter_files_doc_get(sinter_catalog_doc(catalog));
    cr_assert_eq(files->file_count, 1);
    cr_expect_eq(files->files[0].level, 5);
    cr_expect_eq(files->retired_count, 0);
    cr_assert_eq(sinter_catalog_gc(catalog, NULL, &gone, NULL), SINTER_OK);
    cr_expect_eq(gone.retired_files + gone.orphan_files, 0);
    cr_expect_eq(bucket_file_count(&b.env), 1);
    sinter_catalog_close(catalog);
    bucket_fini(&b);
}

Test(doc_catalog, a_conflict_is_seen)
{
    sinter_compact_task task;
    sinter_compact_result *result = NULL;
    sinter_catalog *catalog = NULL;
    sinter_files_doc *old = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,a\n1,b\n", 1, NULL, NULL), SINTER_OK);
    cr_assert_eq(sinter_files_doc_load(&b.env, "db", NULL, &old, NULL), SINTER_OK);
    sinter_compact_task_init(&task);
    task.files = sinter_files_doc_get(old)->files;
    task.count = sinter_files_doc_get(old)->file_count;
    task.output_level = 5;
    task.max_level = 5;
    task.base_dir = "db";
    cr_assert_eq(sinter_compact_task_run(&b.env, &task, &result, NULL), SINTER_OK);
    cr_assert_eq(bucket_compact(&b.env, NULL), SINTER_OK, "somebody else was faster");
    cr_assert_eq(open_catalog(&b.env, SINTER_CATALOG_WRITE, &catalog, NULL), SINTER_OK);
    cr_expect_eq(sinter_catalog_apply(catalog, result, &err), SINTER_E_CONFLICT);
    cr_expect_str_eq(err.text, "the compacted file is not there at level 0");
    sinter_catalog_close(catalog);
    sinter_compact_result_destroy(result);
    sinter_files_doc_destroy(old);
    bucket_fini(&b);
}

Test(doc_catalog, after_a_failed_commit_it_has_to_be_opened_again)
{
    const sinter_fault_options rule = {
        .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .only_op = "replace"};
    sinter_catalog *catalog = NULL;
    sinter_io *faulty = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_env env;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), b.memory, &rule, &faulty, NULL),
                 SINTER_OK);
    env = b.env;
    env.io = faulty;
    cr_assert_eq(open_catalog(&env, SINTER_CATALOG_WRITE, &catalog, NULL), SINTER_OK);
    cr_expect_eq(sinter_catalog_commit(catalog, NULL), SINTER_E_IO);
    cr_expect_eq(sinter_catalog_commit(catalog, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "an earlier commit failed: open the catalog again");
    sinter_catalog_close(catalog);
    sinter_io_destroy(faulty);
    bucket_fini(&b);
}

/* A compaction of "db" whose result waits for the commit. */
typedef struct pending {
    sinter_catalog *catalog;
    sinter_file_meta *picked;
    sinter_compact_result *result;
} pending;

static void
pending_init(const sinter_env *env, pending *p)
{
    sinter_compact_task task;
    const sinter_files *files;

    *p = (pending){.result = NULL};
    cr_assert_eq(open_catalog(env, SINTER_CATALOG_WRITE, &p->catalog, NULL), SINTER_OK);
    files = sinter_files_doc_get(sinter_catalog_doc(p->catalog));
    p->picked = calloc(files->file_count, sizeof *p->picked);
    sinter_compact_task_init(&task);
    task.output_level = 5;
    task.max_level = 5;
    task.base_dir = "db";
    cr_assert_eq(
        sinter_compact_task_pick_full(&task, files->files, files->file_count, p->picked, NULL),
        SINTER_OK);
    cr_assert_eq(sinter_compact_task_run(env, &task, &p->result, NULL), SINTER_OK);
}

static void
pending_fini(pending *p)
{
    sinter_compact_result_destroy(p->result);
    sinter_catalog_close(p->catalog);
    free(p->picked);
}

static void
make_overlapping(bucket *b)
{
    bucket_init(b, NULL);
    cr_assert_eq(bucket_create(&b->env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b->env, "k,v\n1,a\n2,b\n1,c\n", 1, NULL, NULL), SINTER_OK);
}

Test(doc_catalog, new_files_of_a_failed_commit_are_removed)
{
    pending p;
    bucket b;

    make_overlapping(&b);
    pending_init(&b.env, &p);
    cr_assert_eq(bucket_file_count(&b.env), 4);
    cr_assert_eq(sinter_catalog_discard(p.catalog, p.result, NULL), SINTER_OK);
    cr_expect_eq(bucket_file_count(&b.env), 3);
    cr_expect_eq(sinter_catalog_discard(NULL, p.result, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_catalog_discard(p.catalog, NULL, NULL), SINTER_E_INVALID);
    pending_fini(&p);
    bucket_fini(&b);
}

Test(doc_catalog, files_that_the_catalog_names_are_never_discarded)
{
    sinter_catalog *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    pending p;
    bucket b;

    make_overlapping(&b);
    pending_init(&b.env, &p);
    cr_assert_eq(sinter_catalog_apply(p.catalog, p.result, NULL), SINTER_OK);
    cr_assert_eq(open_catalog(&b.env, 0, &reader, NULL), SINTER_OK);
    cr_expect_eq(sinter_catalog_discard(reader, p.result, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "the catalog was opened for reading only");
    sinter_catalog_close(reader);
    cr_assert_eq(sinter_catalog_commit(p.catalog, NULL), SINTER_OK);
    cr_expect_eq(sinter_catalog_discard(p.catalog, p.result, &err), SINTER_E_EXISTS);
    cr_expect_str_eq(err.file, sinter_compact_result_after(p.result)->files[0].file_name);
    cr_expect_eq(bucket_file_count(&b.env), 4);
    b.env.io->ops->unlink(b.env.io, "db/" SINTER_CATALOG_FILE, NULL);
    cr_expect_eq(sinter_catalog_discard(p.catalog, p.result, NULL), SINTER_E_NOT_FOUND,
                 "in doubt nothing is removed");
    cr_expect_eq(bucket_file_count(&b.env), 4);
    pending_fini(&p);
    bucket_fini(&b);
}

Test(doc_catalog, every_allocation_and_io_call_of_a_discard_may_fail)
{
    for (int with_io = 0; with_io < 2; with_io++) {
        sinter_status st = SINTER_E_IO;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            const sinter_fault_options rule = {
                .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
            const sinter_fault_options none = {.struct_size = (uint32_t)sizeof none,
                                               .at_call = UINT64_MAX};
            sinter_error err = SINTER_ERROR_INIT;
            sinter_io *faulty = NULL;
            fault_alloc fault;
            sinter_env env;
            pending p;
            bucket b;

            make_overlapping(&b);
            fault_alloc_init(&fault, UINT64_MAX);
            cr_assert_eq(
                sinter_io_fault_create(sinter_env_default(), b.memory, &none, &faulty, NULL),
                SINTER_OK);
            env = b.env;
            env.io = faulty;
            env.allocator = fault.env.allocator;
            pending_init(&env, &p);
            if (with_io != 0) {
                sinter_io_fault_set(faulty, &rule);
            } else {
                fault.fail_at = fault.calls + n;
            }
            st = sinter_catalog_discard(p.catalog, p.result, &err);
            cr_assert_eq(err.status, st, "failure %" PRIu64 ": %s", n, err.text);
            cr_assert(st == SINTER_OK || st == (with_io != 0 ? SINTER_E_IO : SINTER_E_NOMEM));
            cr_assert_eq(bucket_file_count(&b.env), st == SINTER_OK ? 3 : 4, "failure %" PRIu64, n);
            pending_fini(&p);
            cr_assert_eq(fault.live, 0);
            sinter_io_destroy(faulty);
            bucket_fini(&b);
        }
    }
}

static sinter_status
compact_and_collect(const sinter_env *env, sinter_error *err)
{
    sinter_catalog *catalog = NULL;
    sinter_status st = bucket_compact(env, err);

    if (st == SINTER_OK) {
        st = open_catalog(env, SINTER_CATALOG_WRITE, &catalog, err);
    }
    if (st == SINTER_OK) {
        st = sinter_catalog_gc(catalog, NULL, NULL, err);
    }
    sinter_catalog_close(catalog);
    return st;
}

static void
prepare(bucket *b, const sinter_env *env)
{
    sinter_env plain;

    bucket_init(b, env);
    plain = b->env;
    plain.allocator = sinter_env_default()->allocator;
    cr_assert_eq(bucket_create(&plain, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&plain, "k,v\n1,a\n2,b\n1,c\n", 1, NULL, NULL), SINTER_OK);
    cr_assert_eq(plain.io->ops->sync_dir(plain.io, "db", NULL), SINTER_OK);
    cr_assert_eq(plain.io->ops->sync_dir(plain.io, ".", NULL), SINTER_OK);
}

static void
expect_rows(const bucket *b, const sinter_env *env, const char *what, uint64_t n)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    (void)b;
    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(bucket_scan(env, &out, &err), SINTER_OK, "%s %" PRIu64 ": %s", what, n, err.text);
    cr_assert_str_eq(out.data, "{\"k\":1,\"v\":\"c\"}\n{\"k\":2,\"v\":\"b\"}\n", "%s %" PRIu64,
                     what, n);
    sinter_text_fini(&out);
}

Test(doc_catalog, every_allocation_of_compaction_and_gc_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter_env plain;
        fault_alloc fault;
        bucket b;

        fault_alloc_init(&fault, n);
        prepare(&b, &fault.env);
        plain = b.env;
        plain.allocator = sinter_env_default()->allocator;
        st = compact_and_collect(&b.env, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st), "%s", err.text);
        expect_rows(&b, &plain, "allocation", n);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        bucket_fini(&b);
    }
}

static void
sweep_io(sinter_fault_kind kind, const char *what)
{
    bool went_through = false;

    for (uint64_t n = 0; !went_through; n++) {
        const sinter_fault_options rule = {
            .struct_size = (uint32_t)sizeof rule, .kind = kind, .at_call = n};
        const sinter_fault_options none = {.struct_size = (uint32_t)sizeof none,
                                           .at_call = UINT64_MAX};
        sinter_io *faulty = NULL;
        sinter_env env;
        sinter_status st;
        bucket b;

        prepare(&b, NULL);
        env = b.env;
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), b.memory, &rule, &faulty, NULL),
                     SINTER_OK);
        env.io = faulty;
        st = compact_and_collect(&env, NULL);
        went_through = sinter_io_fault_calls(faulty) <= n;
        cr_assert(!went_through || st == SINTER_OK);
        sinter_io_fault_set(faulty, &none);
        if (kind == SINTER_FAULT_CRASH) {
            cr_assert_eq(sinter_io_fault_restart(faulty, NULL), SINTER_OK);
        }
        expect_rows(&b, &env, what, n);
        cr_assert_eq(compact_and_collect(&env, NULL), SINTER_OK, "%s %" PRIu64, what, n);
        cr_assert_eq(bucket_file_count(&env), 1, "%s %" PRIu64 ": nothing is left behind", what, n);
        expect_rows(&b, &env, what, n);
        sinter_io_destroy(faulty);
        bucket_fini(&b);
    }
}

Test(doc_catalog, every_io_call_of_compaction_and_gc_may_fail)
{
    sweep_io(SINTER_FAULT_EIO, "error at call");
    sweep_io(SINTER_FAULT_TORN_WRITE, "torn write at call");
    sweep_io(SINTER_FAULT_CRASH, "crash at call");
}

Test(doc_catalog, the_next_writer_removes_what_a_killed_one_left)
{
    const char *leftover = "db/.00000000-0000-4000-8000-000000000000.sinter-tmp";
    char dir[] = "/tmp/sinter-catalog-XXXXXX";
    const sinter_env *env = sinter_env_default();
    const sinter_io_ops *ops = env->io->ops;
    sinter_catalog *catalog = NULL;
    sinter_io_stat info = {0};

    cr_assert_not_null(mkdtemp(dir));
    cr_assert_eq(chdir(dir), 0);
    cr_assert_eq(bucket_create(env, NULL, 0, NULL), SINTER_OK);
    bucket_write(env, leftover, "half of a file");
    cr_assert_eq(open_catalog(env, 0, &catalog, NULL), SINTER_OK);
    sinter_catalog_close(catalog);
    cr_expect_eq(ops->stat(env->io, leftover, &info, NULL), SINTER_OK, "a reader leaves it");
    cr_assert_eq(open_catalog(env, SINTER_CATALOG_WRITE, &catalog, NULL), SINTER_OK);
    sinter_catalog_close(catalog);
    cr_expect_eq(ops->stat(env->io, leftover, &info, NULL), SINTER_E_NOT_FOUND);
    cr_expect_eq(ops->unlink(env->io, "db/" SINTER_CATALOG_FILE, NULL), SINTER_OK);
    cr_expect_eq(ops->unlink(env->io, "db/" SINTER_CATALOG_LOCK, NULL), SINTER_OK);
    cr_expect_eq(ops->unlink(env->io, "db", NULL), SINTER_OK);
    cr_expect_eq(rmdir(dir), 0);
}
