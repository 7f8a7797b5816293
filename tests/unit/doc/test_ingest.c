#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bucket.h"
#include "cases.h"
#include "support/fault_alloc.h"

TestSuite(doc_ingest, .timeout = 120);
TestSuite(field_faults, .timeout = 60);

static void
expect_scan(const sinter_env *env, const char *expected)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(bucket_scan(env, &out, &err), SINTER_OK, "%s", err.text);
    cr_expect_str_eq(out.data == NULL ? "" : out.data, expected);
    sinter_text_fini(&out);
}

Test(doc_ingest, overlapping_files_and_the_newest_version_of_each_key)
{
    sinter_ingest_counters counters = {.struct_size = (uint32_t)sizeof counters};
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env,
                               "k,v,_kind\n"
                               "1,a,+I\n-2,b,+I\n1,c,+U\n"
                               "3,d,+I\n-2,,-D\n5,e,+I\n"
                               "0,f,+I\n",
                               3, &counters, NULL),
                 SINTER_OK);
    cr_expect_eq(counters.rows_in, 7);
    cr_expect_eq(counters.rows_written, 6, "one version of key 1 went");
    cr_expect_eq(counters.rows_retract, 1);
    cr_expect_eq(counters.files, 3);
    cr_expect_eq(bucket_file_count(&b.env), 3);
    expect_scan(&b.env, "{\"k\":0,\"v\":\"f\"}\n{\"k\":1,\"v\":\"c\"}\n{\"k\":3,\"v\":\"d\"}\n"
                        "{\"k\":5,\"v\":\"e\"}\n");
    cr_assert_eq(bucket_compact(&b.env, NULL), SINTER_OK);
    cr_expect_eq(bucket_file_count(&b.env), 4, "the retired ones wait for gc");
    expect_scan(&b.env, "{\"k\":0,\"v\":\"f\"}\n{\"k\":1,\"v\":\"c\"}\n{\"k\":3,\"v\":\"d\"}\n"
                        "{\"k\":5,\"v\":\"e\"}\n");
    bucket_fini(&b);
}

Test(doc_ingest, sequences_continue_over_ingests)
{
    sinter_files_doc *doc = NULL;
    const sinter_files *files;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,a\n2,b\n", 0, NULL, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,c\n", 0, NULL, NULL), SINTER_OK);
    cr_assert_eq(sinter_files_doc_load(&b.env, "db", NULL, &doc, NULL), SINTER_OK);
    files = sinter_files_doc_get(doc);
    cr_assert_eq(files->file_count, 2);
    cr_expect_eq(files->files[0].min_sequence_number, 0);
    cr_expect_eq(files->files[0].max_sequence_number, 1);
    cr_expect_eq(files->files[1].min_sequence_number, 2);
    cr_expect_eq(files->files[1].file_source, SINTER_FILE_SOURCE_APPEND);
    cr_expect_eq(files->next_sequence, 3);
    cr_expect_eq(files->generation, 2);
    sinter_files_doc_destroy(doc);
    expect_scan(&b.env, "{\"k\":1,\"v\":\"c\"}\n{\"k\":2,\"v\":\"b\"}\n");
    bucket_fini(&b);
}

Test(field_faults, f30_no_rows_make_no_file)
{
    sinter_ingest_counters counters = {.struct_size = (uint32_t)sizeof counters};
    const sinter_option ignore[] = {{"ignore-delete", "true"}};
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, ignore, 1, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n", 0, &counters, NULL), SINTER_OK);
    cr_expect_eq(counters.files, 0);
    cr_expect_eq(bucket_file_count(&b.env), 0);
    expect_scan(&b.env, "");
    cr_assert_eq(bucket_compact(&b.env, NULL), SINTER_OK);
    expect_scan(&b.env, "");
    bucket_fini(&b);
}

Test(field_faults, f23_rows_below_zero_come_out_in_order)
{
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,a\n-1,a\n-2147483648,a\n0,a\n2147483647,a\n-2,a\n",
                               2, NULL, NULL),
                 SINTER_OK);
    expect_scan(&b.env,
                "{\"k\":-2147483648,\"v\":\"a\"}\n{\"k\":-2,\"v\":\"a\"}\n{\"k\":-1,\"v\":\"a\"}\n"
                "{\"k\":0,\"v\":\"a\"}\n{\"k\":1,\"v\":\"a\"}\n{\"k\":2147483647,\"v\":\"a\"}\n");
    bucket_fini(&b);
}

Test(doc_ingest, the_merge_engine_of_the_catalog_counts)
{
    const sinter_option first_row[] = {{"merge-engine", "first-row"}};
    const sinter_option ignore[] = {{"ignore-delete", "true"}};
    sinter_error err = SINTER_ERROR_INIT;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, first_row, 1, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,a\n1,b\n", 0, NULL, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,c\n2,d\n", 0, NULL, NULL), SINTER_OK);
    expect_scan(&b.env, "{\"k\":1,\"v\":\"a\"}\n{\"k\":2,\"v\":\"d\"}\n");
    cr_expect_eq(bucket_ingest(&b.env, "k,v,_kind\n7,a,+I\n7,a,-D\n", 0, NULL, &err),
                 SINTER_E_RETRACT, "%s", err.text);
    expect_scan(&b.env, "{\"k\":1,\"v\":\"a\"}\n{\"k\":2,\"v\":\"d\"}\n");
    bucket_fini(&b);
    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, ignore, 1, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b.env, "k,v,_kind\n1,a,+I\n1,a,-D\n", 0, NULL, NULL), SINTER_OK);
    expect_scan(&b.env, "{\"k\":1,\"v\":\"a\"}\n");
    bucket_fini(&b);
}

Test(doc_ingest, a_fault_in_the_rows_leaves_nothing_behind)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text before;
    sinter_text after;
    bucket b;

    bucket_init(&b, NULL);
    sinter_text_init(sinter_env_default(), &before);
    sinter_text_init(sinter_env_default(), &after);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    bucket_catalog_text(&b.env, &before);
    cr_expect_eq(bucket_ingest(&b.env, "k,v\n1,a\n2,b\n3,c\nx,d\n", 1, NULL, &err),
                 SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "line 5"), "%s", err.text);
    cr_expect_eq(bucket_ingest(&b.env, "k,v\n1,a\n,b\n", 1, NULL, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "column \"k\": null, but declared NOT NULL");
    bucket_catalog_text(&b.env, &after);
    cr_expect_str_eq(after.data, before.data);
    cr_expect_eq(bucket_file_count(&b.env), 0);
    sinter_text_fini(&before);
    sinter_text_fini(&after);
    bucket_fini(&b);
}

/* Put a number behind "next_sequence". */
static void
set_next_sequence(const sinter_env *env, const char *number)
{
    char changed[1024];
    sinter_text text;
    const char *at;

    sinter_text_init(sinter_env_default(), &text);
    bucket_catalog_text(env, &text);
    at = strstr(text.data, "\"next_sequence\":0");
    cr_assert_not_null(at);
    (void)snprintf(changed, sizeof changed, "%.*s\"next_sequence\":%s%s", (int)(at - text.data),
                   text.data, number, at + strlen("\"next_sequence\":0"));
    bucket_write(env, "db/" SINTER_CATALOG_FILE, changed);
    sinter_text_fini(&text);
}

Test(field_faults, f21_sequence_numbers_end_with_an_error)
{
    sinter_error err = SINTER_ERROR_INIT;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    set_next_sequence(&b.env, "9223372036854775806");
    cr_expect_eq(bucket_ingest(&b.env, "k,v\n1,a\n2,b\n", 0, NULL, &err), SINTER_E_OVERFLOW);
    cr_expect_eq(bucket_ingest(&b.env, "k,v\n1,a\n", 0, NULL, &err), SINTER_OK, "%s", err.text);
    cr_expect_eq(bucket_ingest(&b.env, "k,v\n1,a\n", 0, NULL, &err), SINTER_E_OVERFLOW);
    expect_scan(&b.env, "{\"k\":1,\"v\":\"a\"}\n");
    bucket_fini(&b);
}

static bool
always(void *ctx)
{
    (void)ctx;
    return true;
}

Test(doc_ingest, a_cancelled_ingest_leaves_nothing)
{
    const sinter_ingest_options options = {.struct_size = (uint32_t)sizeof options,
                                           .is_cancelled = always};
    const sinter_datum values[] = {{.as.integer = 1}, {.is_null = true}};
    sinter_catalog *catalog = NULL;
    sinter_ingest *ingest = NULL;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(sinter_catalog_open(&b.env, "db", SINTER_CATALOG_WRITE, &catalog, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_ingest_open(&b.env, catalog, &options, &ingest, NULL), SINTER_OK);
    cr_expect_eq(sinter_ingest_add(ingest, 0, values, NULL), SINTER_E_CANCELLED);
    cr_expect_eq(sinter_ingest_finish(ingest, NULL, NULL), SINTER_E_INVALID, "it has failed");
    sinter_ingest_close(ingest);
    sinter_catalog_close(catalog);
    bucket_fini(&b);
}

Test(doc_ingest, buffers_stay_within_the_budget_and_large_rows_pass)
{
    static char text[300000];
    sinter_memory *memory = NULL;
    const sinter_ingest_options options = {.struct_size = (uint32_t)sizeof options,
                                           .buffer_bytes = 1};
    sinter_catalog *catalog = NULL;
    sinter_ingest *ingest = NULL;
    sinter_ingest_counters counters = {.struct_size = (uint32_t)sizeof counters};
    bucket b;

    memset(text, 'x', sizeof text);
    bucket_init(&b, NULL);
    cr_assert_eq(sinter_memory_create(&b.env, 8u << 20, &memory, NULL), SINTER_OK);
    b.env.memory = memory;
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(sinter_catalog_open(&b.env, "db", SINTER_CATALOG_WRITE, &catalog, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_ingest_open(&b.env, catalog, &options, &ingest, NULL), SINTER_OK);
    for (int64_t i = 0; i < 20; i++) {
        const sinter_datum values[] = {
            {.as.integer = i % 7},
            {.as.bytes = {.data = (const uint8_t *)text,
                          .size = i == 10 ? sizeof text : (size_t)(i * 2000)}}};
        sinter_error err = SINTER_ERROR_INIT;

        cr_assert_eq(sinter_ingest_add(ingest, 0, values, &err), SINTER_OK, "%s", err.text);
    }
    cr_assert_eq(sinter_ingest_finish(ingest, &counters, NULL), SINTER_OK);
    sinter_ingest_close(ingest);
    cr_expect_gt(counters.files, 4, "64 KiB a buffer");
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_catalog_close(catalog);
    b.env.memory = NULL;
    sinter_memory_destroy(memory);
    bucket_fini(&b);
}

Test(doc_ingest, a_budget_too_small_is_refused)
{
    sinter_memory *memory = NULL;
    sinter_catalog *catalog = NULL;
    sinter_ingest *ingest = NULL;
    bucket b;

    bucket_init(&b, NULL);
    cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(sinter_catalog_open(&b.env, "db", SINTER_CATALOG_WRITE, &catalog, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_memory_create(&b.env, 1000, &memory, NULL), SINTER_OK);
    b.env.memory = memory;
    cr_expect_eq(sinter_ingest_open(&b.env, catalog, NULL, &ingest, NULL), SINTER_E_TOO_LARGE);
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_catalog_close(catalog);
    b.env.memory = NULL;
    sinter_memory_destroy(memory);
    bucket_fini(&b);
}

/* Random histories against an array that is the table. */
Test(doc_ingest, the_merged_view_is_that_of_a_plain_table)
{
    enum { KEYS = 12 };

    for (uint64_t seed = 1; seed <= 60; seed++) {
        case_random random = {.state = seed};
        int64_t table[KEYS];
        sinter_text csv;
        sinter_text expected;
        sinter_error err = SINTER_ERROR_INIT;
        bucket b;

        memset(table, -1, sizeof table);
        bucket_init(&b, NULL);
        sinter_text_init(sinter_env_default(), &csv);
        sinter_text_init(sinter_env_default(), &expected);
        cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
        for (size_t round = 0; round < 3; round++) {
            sinter_text_reset(&csv);
            cr_assert_eq(sinter_text_append(&csv, "k,v,_kind\n", 10, NULL), SINTER_OK);
            for (uint32_t i = case_below(&random, 40); i > 0; i--) {
                const uint32_t key = case_below(&random, KEYS);
                const bool deletes = case_below(&random, 4) == 0;
                char line[64];
                const int size = snprintf(line, sizeof line, "%d,%u,%s\n", (int)key - 6, i,
                                          deletes ? "-D" : "+U");

                table[key] = deletes ? -1 : (int64_t)i;
                cr_assert_eq(sinter_text_append(&csv, line, (size_t)size, NULL), SINTER_OK);
            }
            cr_assert_eq(bucket_ingest(&b.env, csv.data, 1 + case_below(&random, 10), NULL, &err),
                         SINTER_OK, "seed %" PRIu64 ": %s", seed, err.text);
            if (case_below(&random, 2) == 0) {
                cr_assert_eq(bucket_compact(&b.env, &err), SINTER_OK, "seed %" PRIu64 ": %s", seed,
                             err.text);
            }
        }
        for (int key = 0; key < KEYS; key++) {
            char line[64];
            const int size =
                snprintf(line, sizeof line, "{\"k\":%d,\"v\":\"%d\"}\n", key - 6, (int)table[key]);

            if (table[key] >= 0) {
                cr_assert_eq(sinter_text_append(&expected, line, (size_t)size, NULL), SINTER_OK);
            }
        }
        expect_scan(&b.env, expected.data == NULL ? "" : expected.data);
        sinter_text_fini(&expected);
        sinter_text_fini(&csv);
        bucket_fini(&b);
    }
}

Test(doc_ingest, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        bucket b;

        fault_alloc_init(&fault, n);
        bucket_init(&b, &fault.env);
        {
            sinter_env plain = b.env;

            plain.allocator = sinter_env_default()->allocator;
            cr_assert_eq(bucket_create(&plain, NULL, 0, NULL), SINTER_OK);
            st = bucket_ingest(&b.env, "k,v\n2,a\n1,longer than seven bytes\n2,c\n", 2, NULL, &err);
            cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st), "%s",
                      err.text);
            expect_scan(&plain, st != SINTER_OK ? ""
                                                : "{\"k\":1,\"v\":\"longer than seven bytes\"}\n"
                                                  "{\"k\":2,\"v\":\"c\"}\n");
        }
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        bucket_fini(&b);
    }
}

/* Each call of the io fails in turn, by an error and by a crash. */
static void
sweep_io(sinter_fault_kind kind)
{
    bool went_through = false;

    for (uint64_t n = 0; !went_through; n++) {
        const sinter_fault_options rule = {
            .struct_size = (uint32_t)sizeof rule, .kind = kind, .at_call = n};
        const sinter_fault_options none = {.struct_size = (uint32_t)sizeof none,
                                           .at_call = UINT64_MAX};
        sinter_io *faulty = NULL;
        sinter_text out;
        sinter_env env;
        sinter_status st;
        bucket b;

        bucket_init(&b, NULL);
        sinter_text_init(sinter_env_default(), &out);
        cr_assert_eq(bucket_create(&b.env, NULL, 0, NULL), SINTER_OK);
        cr_assert_eq(bucket_ingest(&b.env, "k,v\n1,a\n", 0, NULL, NULL), SINTER_OK);
        cr_assert_eq(b.env.io->ops->sync_dir(b.env.io, "db", NULL), SINTER_OK);
        cr_assert_eq(b.env.io->ops->sync_dir(b.env.io, ".", NULL), SINTER_OK);
        env = b.env;
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), b.memory, &rule, &faulty, NULL),
                     SINTER_OK);
        env.io = faulty;
        st = bucket_ingest(&env, "k,v\n1,b\n2,c\n", 1, NULL, NULL);
        went_through = sinter_io_fault_calls(faulty) <= n;
        cr_assert_eq(st == SINTER_OK, went_through || st == SINTER_OK);
        sinter_io_fault_set(faulty, &none);
        if (kind == SINTER_FAULT_CRASH) {
            cr_assert_eq(sinter_io_fault_restart(faulty, NULL), SINTER_OK);
        }
        cr_assert_eq(bucket_scan(&env, &out, NULL), SINTER_OK, "call %" PRIu64, n);
        if (st == SINTER_OK) {
            cr_assert_str_eq(out.data, "{\"k\":1,\"v\":\"b\"}\n{\"k\":2,\"v\":\"c\"}\n",
                             "call %" PRIu64, n);
        } else {
            /* Old or new, nothing between. */
            cr_assert(strcmp(out.data, "{\"k\":1,\"v\":\"a\"}\n") == 0 ||
                          strcmp(out.data, "{\"k\":1,\"v\":\"b\"}\n{\"k\":2,\"v\":\"c\"}\n") == 0,
                      "call %" PRIu64 ": %s", n, out.data);
        }
        sinter_text_fini(&out);
        sinter_io_destroy(faulty);
        bucket_fini(&b);
    }
}

Test(doc_ingest, every_io_call_may_fail)
{
    sweep_io(SINTER_FAULT_EIO);
    sweep_io(SINTER_FAULT_ENOSPC);
    sweep_io(SINTER_FAULT_TORN_WRITE);
    sweep_io(SINTER_FAULT_CRASH);
}
