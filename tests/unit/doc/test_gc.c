#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bucket.h"

TestSuite(doc_gc, .timeout = 60);

#define UUID "01234567-89ab-cdef-0123-456789abcdef"

/* What gc said it would remove. */
typedef struct gc_log {
    size_t retired;
    size_t orphans;
    char last[64];
} gc_log;

static void
note(void *ctx, const char *file_name, sinter_gc_reason reason, uint64_t bytes)
{
    gc_log *log = ctx;

    cr_expect_gt(bytes, 0);
    log->retired += reason == SINTER_GC_RETIRED ? 1u : 0u;
    log->orphans += reason == SINTER_GC_ORPHAN ? 1u : 0u;
    (void)strncpy(log->last, file_name, sizeof log->last - 1);
}

static sinter_status
collect(const sinter_env *env, sinter_gc_options options, sinter_gc_result *out, sinter_error *err)
{
    sinter_catalog *catalog = NULL;
    sinter_status st = sinter_catalog_open(env, "db", SINTER_CATALOG_WRITE, &catalog, err);

    options.struct_size = (uint32_t)sizeof options;
    if (st == SINTER_OK) {
        st = sinter_catalog_gc(catalog, &options, out, err);
    }
    sinter_catalog_close(catalog);
    return st;
}

static void
prepare(bucket *b)
{
    bucket_init(b, NULL);
    cr_assert_eq(bucket_create(&b->env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b->env, "k,v\n1,a\n2,b\n1,c\n", 1, NULL, NULL), SINTER_OK);
    cr_assert_eq(bucket_compact(&b->env, NULL), SINTER_OK);
}

Test(doc_gc, retired_files_go_and_are_forgotten)
{
    sinter_gc_result result = {.struct_size = (uint32_t)sizeof result};
    gc_log log = {0};
    sinter_text text;
    bucket b;

    prepare(&b);
    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(bucket_file_count(&b.env), 4);
    cr_assert_eq(
        collect(&b.env, (sinter_gc_options){.each = note, .each_ctx = &log}, &result, NULL),
        SINTER_OK);
    cr_expect_eq(result.retired_files, 3);
    cr_expect_eq(result.orphan_files, 0);
    cr_expect_gt(result.bytes, 0);
    cr_expect_eq(log.retired, 3);
    cr_expect_eq(bucket_file_count(&b.env), 1);
    bucket_catalog_text(&b.env, &text);
    cr_expect_null(strstr(text.data, "retired"));
    cr_assert_eq(collect(&b.env, (sinter_gc_options){0}, &result, NULL), SINTER_OK);
    cr_expect_eq(result.retired_files, 0);
    sinter_text_fini(&text);
    bucket_fini(&b);
}

Test(doc_gc, a_dry_run_only_tells)
{
    sinter_gc_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_text before;
    sinter_text after;
    gc_log log = {0};
    bucket b;

    prepare(&b);
    sinter_text_init(sinter_env_default(), &before);
    sinter_text_init(sinter_env_default(), &after);
    bucket_write(&b.env, "db/data-" UUID "-0.sst", "x");
    bucket_catalog_text(&b.env, &before);
    cr_assert_eq(collect(&b.env,
                         (sinter_gc_options){.dry_run = true, .each = note, .each_ctx = &log},
                         &result, NULL),
                 SINTER_OK);
    cr_expect(result.retired_files == 3 && result.orphan_files == 1);
    cr_expect(log.retired == 3 && log.orphans == 1);
    cr_expect_eq(bucket_file_count(&b.env), 5);
    bucket_catalog_text(&b.env, &after);
    cr_expect_str_eq(after.data, before.data);
    sinter_text_fini(&before);
    sinter_text_fini(&after);
    bucket_fini(&b);
}

Test(doc_gc, only_names_of_data_files_are_orphans)
{
    static const char *const strangers[] = {
        "db/mine.sst",
        "db/data-.sst",
        "db/data-" UUID ".sst",
        "db/data-" UUID "-.sst",
        "db/data-" UUID "-x.sst",
        "db/data-" UUID "-1x.sst",
        "db/data-" UUID "-1.sst.bak",
        "db/data-" UUID "-1.avro",
        "db/xdata-" UUID "-1.sst",
        "db/data-0123456789ab-cdef-0123-456789abcdef-a-1.sst",
        "db/data-01234567-89AB-cdef-0123-456789abcdef-1.sst",
        "db/notes.txt",
    };
    sinter_gc_result result = {.struct_size = (uint32_t)sizeof result};
    gc_log log = {0};
    bucket b;

    prepare(&b);
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        bucket_write(&b.env, strangers[i], "x");
    }
    bucket_write(&b.env, "db/data-" UUID "-17.sst", "xyz");
    cr_assert_eq(
        collect(&b.env, (sinter_gc_options){.each = note, .each_ctx = &log}, &result, NULL),
        SINTER_OK);
    cr_expect_eq(result.orphan_files, 1);
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        sinter_io_stat info;

        cr_expect_eq(b.env.io->ops->stat(b.env.io, strangers[i], &info, NULL), SINTER_OK, "%s",
                     strangers[i]);
    }
    bucket_fini(&b);
}

Test(doc_gc, young_files_are_left)
{
    sinter_gc_result result = {.struct_size = (uint32_t)sizeof result};
    bucket b;

    prepare(&b);
    bucket_write(&b.env, "db/data-" UUID "-17.sst", "xyz");
    cr_assert_eq(collect(&b.env, (sinter_gc_options){.older_than_ms = 3600000}, &result, NULL),
                 SINTER_OK);
    cr_expect_eq(result.retired_files + result.orphan_files, 0);
    cr_expect_eq(bucket_file_count(&b.env), 5);
    cr_expect_eq(collect(&b.env, (sinter_gc_options){.older_than_ms = -1}, &result, NULL),
                 SINTER_E_INVALID);
    bucket_fini(&b);
}

Test(doc_gc, a_live_file_that_is_called_retired_stays)
{
    static const char *const kinds[] = {"\"file_name\":\"", "\"extra_files\":[\""};

    for (size_t i = 0; i < 2; i++) {
        char name[64] = {0};
        char changed[4096];
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text text;
        const char *at;
        bucket b;

        bucket_init(&b, NULL);
        sinter_text_init(sinter_env_default(), &text);
        cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
        cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,a\n", 1, NULL, NULL), SINTER_OK);
        bucket_catalog_text(&b.env, &text);
        at = strstr(text.data, kinds[0]) + strlen(kinds[0]);
        memcpy(name, at, strcspn(at, "\""));
        at = strstr(text.data, "\"files\":");
        (void)snprintf(changed, sizeof changed,
                       "%.*s\"retired\":[{\"file_name\":\"%s\",\"retired_ms\":1}],%s",
                       (int)(at - text.data), text.data, i == 0 ? name : "side.idx", at);
        if (i == 1) { /* a file that goes with a live one */
            char *end = strrchr(changed, '}');

            end = strstr(changed, "\"schema_id\":0");
            cr_assert_not_null(end);
            memmove(end + strlen("\"extra_files\":[\"side.idx\"],"), end, strlen(end) + 1);
            memcpy(end, "\"extra_files\":[\"side.idx\"],",
                   strlen("\"extra_files\":[\"side.idx\"],"));
            bucket_write(&b.env, "db/side.idx", "x");
        }
        bucket_write(&b.env, "db/" SINTER_CATALOG_FILE, changed);
        cr_expect_eq(collect(&b.env, (sinter_gc_options){0}, NULL, &err), SINTER_E_CONFLICT);
        cr_expect_eq(bucket_file_count(&b.env), 1);
        sinter_text_fini(&text);
        bucket_fini(&b);
    }
}

Test(doc_gc, a_file_that_is_gone_already_is_as_good_as_removed)
{
    sinter_gc_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_catalog *catalog = NULL;
    char path[128];
    bucket b;

    prepare(&b);
    cr_assert_eq(sinter_catalog_open(&b.env, "db", 0, &catalog, NULL), SINTER_OK);
    (void)snprintf(path, sizeof path, "db/%s",
                   sinter_files_doc_get(sinter_catalog_doc(catalog))->retired[1].file_name);
    sinter_catalog_close(catalog);
    cr_assert_eq(b.env.io->ops->unlink(b.env.io, path, NULL), SINTER_OK);
    cr_assert_eq(collect(&b.env, (sinter_gc_options){0}, &result, NULL), SINTER_OK);
    cr_expect_eq(result.retired_files, 2);
    cr_expect_eq(bucket_file_count(&b.env), 1);
    bucket_fini(&b);
}

Test(doc_gc, structs_of_an_older_header_are_understood)
{
    const sinter_gc_options older = {
        .struct_size = offsetof(sinter_gc_options, each),
        .dry_run = true,
        .each = (void (*)(void *, const char *, sinter_gc_reason, uint64_t))(uintptr_t)1};
    sinter_gc_result result = {.struct_size = offsetof(sinter_gc_result, bytes), .bytes = 77};
    sinter_ingest_counters counters = {
        .struct_size = offsetof(sinter_ingest_counters, rows_retract), .rows_retract = 77};
    sinter_catalog *catalog = NULL;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,a\n1,b\n", 1, &counters, NULL), SINTER_OK);
    cr_expect_eq(counters.rows_in, 2);
    cr_expect_eq(counters.rows_retract, 77, "behind what the caller knows");
    cr_assert_eq(bucket_compact(&b.env, NULL), SINTER_OK);
    cr_assert_eq(sinter_catalog_open(&b.env, "db", SINTER_CATALOG_WRITE, &catalog, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_catalog_gc(catalog, &older, &result, NULL), SINTER_OK,
                 "a callback that the caller doesn't know is not called");
    cr_expect_eq(result.retired_files, 2);
    cr_expect_eq(result.bytes, 77);
    cr_expect_eq(result.struct_size, offsetof(sinter_gc_result, bytes));
    result.struct_size = 0;
    cr_expect_eq(sinter_catalog_gc(catalog, NULL, &result, NULL), SINTER_E_INVALID);
    sinter_catalog_close(catalog);
    bucket_fini(&b);
}
