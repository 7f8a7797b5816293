#include <criterion/criterion.h>
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucket.h"
#include "support/fault_alloc.h"

TestSuite(doc_report, .timeout = 60);

/* Put everything whose value changes from run to run to a fixed one. */
static void
settle(json_t *value)
{
    static const char *const changing[] = {"file_name", "creation_time_ms",  "wall_us",
                                           "cpu_us",    "memory_peak_bytes", "file_size"};
    const char *name;
    json_t *member;
    size_t i;

    if (json_is_array(value)) {
        json_array_foreach(value, i, member)
        {
            settle(member);
        }
        return;
    }
    for (i = 0; i < sizeof changing / sizeof changing[0]; i++) {
        if (json_object_get(value, changing[i]) != NULL) {
            cr_assert_eq(json_object_set_new(value, changing[i], json_integer(0)), 0);
        }
    }
    if (json_object_get(value, "phases_us") != NULL) {
        cr_assert_eq(json_object_set_new(value, "phases_us", json_integer(0)), 0);
    }
    json_object_foreach(value, name, member)
    {
        settle(member);
    }
}

static json_t *
load(const sinter_text *text)
{
    json_error_t fault;
    json_t *json = json_loadb(text->data, text->size, JSON_REJECT_DUPLICATES, &fault);

    cr_assert_not_null(json, "%s: %s", fault.text, text->data);
    cr_assert_eq(text->data[text->size - 1], '\n');
    cr_assert_null(memchr(text->data, '\n', text->size - 1), "one line");
    return json;
}

static void
expect_settled(const sinter_text *text, const char *expected)
{
    json_t *json = load(text);
    char *found;

    settle(json);
    found = json_dumps(json, JSON_COMPACT);
    cr_expect_str_eq(found, expected);
    free(found);
    json_decref(json);
}

/* Two files of a bucket, compacted but not committed. */
typedef struct run {
    bucket b;
    sinter_files_doc *doc;
    sinter_compact_task task;
    sinter_compact_result *result;
} run;

static void
run_init(run *r, bool plan)
{
    const sinter_files *files;

    bucket_init(&r->b, NULL);
    cr_assert_eq(bucket_create(&r->b.env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(
        bucket_ingest(&r->b.env, "k,v,_kind\n1,a,+I\n2,b,+I\n1,c,+I\n9,,-D\n", 2, NULL, NULL),
        SINTER_OK);
    cr_assert_eq(sinter_files_doc_load(&r->b.env, "db", NULL, &r->doc, NULL), SINTER_OK);
    files = sinter_files_doc_get(r->doc);
    sinter_compact_task_init(&r->task);
    r->task.files = files->files;
    r->task.count = files->file_count;
    r->task.output_level = 5;
    r->task.max_level = 5;
    r->task.drop_delete = true;
    r->task.base_dir = "db";
    r->task.key_types = files->key_types;
    r->task.row_type = files->row_type;
    r->result = NULL;
    cr_assert_eq(plan ? sinter_compact_task_plan(&r->b.env, &r->task, &r->result, NULL)
                      : sinter_compact_task_run(&r->b.env, &r->task, &r->result, NULL),
                 SINTER_OK);
}

static void
run_fini(run *r)
{
    sinter_compact_result_destroy(r->result);
    sinter_files_doc_destroy(r->doc);
    bucket_fini(&r->b);
}

Test(doc_report, a_result_says_what_was_done)
{
    static const char head[] =
        "{\"format\":\"sinter.result\",\"version\":1,\"task_id\":null,\"range\":null,"
        "\"table\":null,\"commit\":null,\"base_dir\":\"db\",\"status\":\"ok\",\"before\":[{";
    sinter_result_content content = {.struct_size = (uint32_t)sizeof content, .base_dir = "db"};
    json_t *json;
    const json_t *counters;
    sinter_text text;
    run r;

    run_init(&r, false);
    sinter_text_init(sinter_env_default(), &text);
    content.result = r.result;
    content.codec = sinter_files_doc_key_codec(r.doc);
    cr_assert_eq(sinter_result_print(&content, &text, NULL), SINTER_OK);
    json = load(&text);
    cr_expect_str_eq(json_string_value(json_object_get(json, "format")), "sinter.result");
    cr_expect_str_eq(json_string_value(json_object_get(json, "status")), "ok");
    cr_expect(json_is_null(json_object_get(json, "error")));
    cr_expect_eq(json_array_size(json_object_get(json, "before")), 2);
    cr_expect_eq(json_object_size(json_array_get(json_object_get(json, "before"), 0)), 2,
                 "identities only");
    cr_assert_eq(json_array_size(json_object_get(json, "after")), 1);
    {
        const json_t *file = json_array_get(json_object_get(json, "after"), 0);

        cr_expect_eq(json_integer_value(json_object_get(file, "row_count")), 2);
        cr_expect_eq(json_integer_value(json_object_get(file, "delete_row_count")), 0);
        cr_expect_str_eq(json_string_value(json_object_get(file, "max_key_text")), "2");
        cr_expect_str_eq(json_string_value(json_object_get(file, "file_source")), "COMPACT");
    }
    counters = json_object_get(json, "counters");
    cr_expect_eq(json_integer_value(json_object_get(counters, "records_in")), 4);
    cr_expect_eq(json_integer_value(json_object_get(counters, "records_out")), 2);
    json_decref(json);
    /* The order of members is part of the form. */
    cr_expect_eq(strncmp(text.data, head, strlen(head)), 0, "%s", text.data);
    sinter_text_fini(&text);
    run_fini(&r);
}

Test(doc_report, of_nothing_the_result_is_empty_and_ok)
{
    const sinter_result_content content = {.struct_size = (uint32_t)sizeof content,
                                           .task_id = "6f1c0e2e-0000-4000-8000-000000000001"};
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(sinter_result_print(&content, &text, NULL), SINTER_OK);
    cr_expect_not_null(
        strstr(text.data, "\"task_id\":\"6f1c0e2e-0000-4000-8000-000000000001\",\"range\":null,"));
    cr_expect_not_null(strstr(text.data, "\"base_dir\":null,\"status\":\"ok\",\"before\":[],"
                                         "\"after\":[],\"changelog\":[],\"index\":null,"
                                         "\"files\":[],\"counters\":{\"records_in\":0,"));
    cr_expect_not_null(strstr(text.data, "\"error\":null}\n"));
    sinter_text_fini(&text);
}

Test(doc_report, contents_of_other_headers_are_understood)
{
    const sinter_result_content older = {.struct_size = offsetof(sinter_result_content, error),
                                         .base_dir = "db",
                                         .error = (const sinter_error *)(uintptr_t)1};
    struct {
        sinter_result_content known;
        uint64_t beyond;
    } newer = {.known = {.struct_size = sizeof newer}, .beyond = 1};
    sinter_plan_content plan = {.struct_size = offsetof(sinter_plan_content, partition)};
    sinter_files files;
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    cr_expect_eq(sinter_result_print(&older, &text, NULL), SINTER_OK);
    cr_expect_not_null(strstr(text.data, "\"error\":null}"), "a field it doesn't have");
    cr_expect_eq(sinter_result_print(&newer.known, &text, NULL), SINTER_E_INVALID);
    newer.beyond = 0;
    cr_expect_eq(sinter_result_print(&newer.known, &text, NULL), SINTER_OK);
    cr_expect_eq(sinter_plan_print(&plan, &text, NULL), SINTER_OK);
    sinter_files_init(&files);
    files.struct_size = offsetof(sinter_files, next_sequence);
    files.next_sequence = 77;
    sinter_text_reset(&text);
    cr_expect_eq(sinter_files_print(&files, NULL, 0, &text, NULL), SINTER_OK);
    cr_expect_null(strstr(text.data, "77"));
    sinter_text_fini(&text);
}

static int64_t
count_ns(void *ctx)
{
    return ++*(int64_t *)ctx;
}

Test(doc_report, task_ids_are_uuids_and_never_the_same)
{
    const sinter_env *env = sinter_env_default();
    sinter_env seeded = *env;
    char ids[3][SINTER_TASK_ID_CHARS + 1];
    int64_t now = 0;

    cr_assert_eq(sinter_task_id_draw(env, ids[0], NULL), SINTER_OK);
    cr_assert_eq(sinter_task_id_draw(env, ids[1], NULL), SINTER_OK);
    cr_expect_neq(strcmp(ids[0], ids[1]), 0);
    for (size_t i = 0; i < SINTER_TASK_ID_CHARS; i++) {
        const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

        cr_expect_eq(ids[0][i] == '-', is_dash, "%s", ids[0]);
        cr_expect_eq(strchr("0123456789abcdef-", ids[0][i]) != NULL, true, "%s", ids[0]);
    }
    cr_expect_eq(ids[0][14], '4', "version 4");
    cr_expect_eq(ids[0][SINTER_TASK_ID_CHARS], '\0');
    seeded.random_seed = 5;
    seeded.clock.ctx = &now;
    seeded.clock.monotonic_ns = count_ns;
    cr_assert_eq(sinter_task_id_draw(&seeded, ids[0], NULL), SINTER_OK);
    cr_assert_eq(sinter_task_id_draw(&seeded, ids[1], NULL), SINTER_OK);
    now = 0;
    cr_assert_eq(sinter_task_id_draw(&seeded, ids[2], NULL), SINTER_OK);
    cr_expect_neq(strcmp(ids[0], ids[1]), 0);
    cr_expect_str_eq(ids[0], ids[2], "repeatable");
    cr_expect_eq(sinter_task_id_draw(NULL, ids[0], NULL), SINTER_E_INVALID);
}

Test(doc_report, a_failure_is_a_result_too)
{
    sinter_error failed = SINTER_ERROR_INIT;
    sinter_result_content content = {
        .struct_size = (uint32_t)sizeof content, .base_dir = "db", .error = &failed};
    sinter_text text;

    failed.status = SINTER_E_CORRUPT;
    failed.offset = 17;
    failed.sys_errno = 5;
    (void)strcpy(failed.file, "db/a\xff.sst");
    (void)strcpy(failed.text, "the checksum differs");
    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(sinter_result_print(&content, &text, NULL), SINTER_OK);
    expect_settled(
        &text,
        "{\"format\":\"sinter.result\",\"version\":1,\"task_id\":null,\"range\":null,\"table\":"
        "null,"
        "\"commit\":null,\"base_dir\":\"db\",\"status\":\"failed\",\"before\":[],\"after\":[],"
        "\"changelog\":[],\"index\":null,\"files\":[],\"counters\":{\"records_in\":0,"
        "\"records_out\":0,\"records_dropped\":{\"superseded\":0,\"deleted\":0,\"expired\":0,"
        "\"filtered\":0,\"vector\":0},\"keys\":0,\"bytes_read\":0,\"bytes_written\":0,"
        "\"bytes_upgraded\":0,\"bytes_spilled\":0,\"blocks_read\":0,\"blocks_passed\":0,"
        "\"spill_runs\":0,\"files_opened\":0,\"memory_peak_bytes\":0,"
        "\"bytes_verified\":0,\"files_by_reason\":{\"overlap\":0,\"small-neighbours\":0,"
        "\"top-deletes\":0,\"top-deletes-unknown\":0,\"forced\":0,\"expired\":0,"
        "\"large-alone\":0,\"small-alone\":0,\"at-level\":0,\"empty\":0},"
        "\"wall_us\":0,\"cpu_us\":0,"
        "\"phases_us\":0},\"error\":{\"status\":\"E_CORRUPT\",\"message\":\"the checksum "
        "differs\",\"file\":\"db/a?.sst\",\"offset\":17,\"errno\":5}}");
    sinter_text_reset(&text);
    failed.status = SINTER_E_CANCELLED;
    cr_assert_eq(sinter_result_print(&content, &text, NULL), SINTER_OK);
    cr_expect_not_null(strstr(text.data, "\"status\":\"cancelled\",\"before\""));
    sinter_text_reset(&text);
    failed.offset = -1;
    failed.file[0] = '\0';
    cr_assert_eq(sinter_error_print(&failed, &text, NULL), SINTER_OK);
    cr_expect_str_eq(text.data, "{\"error\":{\"status\":\"E_CANCELLED\",\"message\":\"the checksum "
                                "differs\",\"file\":null,\"offset\":null,\"errno\":5}}\n");
    sinter_text_fini(&text);
}

Test(doc_report, a_plan_shows_sections_and_reasons)
{
    sinter_partition *partition = NULL;
    sinter_plan_content content = {.struct_size = (uint32_t)sizeof content,
                                   .base_dir = "db",
                                   .reason_code = "full",
                                   .output_level = 5,
                                   .max_level = 5,
                                   .drop_delete = true,
                                   .small_file_bytes = 10,
                                   .target_file_bytes = 20};
    json_t *json;
    const json_t *section;
    sinter_text text;
    run r;

    run_init(&r, true);
    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(sinter_partition_create(&r.b.env, r.task.files, r.task.count, &partition, NULL),
                 SINTER_OK);
    content.partition = partition;
    content.result = r.result;
    content.codec = sinter_files_doc_key_codec(r.doc);
    cr_assert_eq(sinter_plan_print(&content, &text, NULL), SINTER_OK);
    json = load(&text);
    cr_assert_eq(json_array_size(json_object_get(json, "sections")), 1);
    section = json_array_get(json_object_get(json, "sections"), 0);
    cr_expect_eq(json_array_size(json_object_get(section, "runs")), 2);
    cr_expect_eq(json_array_size(json_object_get(json, "files")), 2);
    cr_expect_str_eq(
        json_string_value(json_object_get(
            json_object_get(json_array_get(json_object_get(json, "files"), 0), "reason"), "code")),
        "overlap");
    cr_expect_gt(
        json_integer_value(json_object_get(json_object_get(json, "estimate"), "read_bytes")), 0);
    cr_expect_eq(
        json_integer_value(json_object_get(json_object_get(json, "estimate"), "upgrade_bytes")), 0);
    json_decref(json);
    sinter_text_fini(&text);
    sinter_partition_destroy(partition);
    run_fini(&r);
}

Test(doc_report, a_file_is_inspected_and_verified)
{
    sinter_sst_verify_result counted = {.struct_size = (uint32_t)sizeof counted};
    sinter_sst *sst = NULL;
    json_t *json;
    char path[128];
    sinter_text text;
    run r;

    run_init(&r, true);
    sinter_text_init(sinter_env_default(), &text);
    (void)snprintf(path, sizeof path, "db/%s", r.task.files[0].file_name);
    cr_assert_eq(sinter_sst_open(&r.b.env, path, &sst, NULL), SINTER_OK);
    cr_assert_eq(sinter_inspect_print(sst, "a.sst", sinter_files_doc_key_codec(r.doc),
                                      SINTER_PRINT_BLOCKS, &text, NULL),
                 SINTER_OK);
    json = load(&text);
    cr_expect_eq(json_integer_value(json_object_get(json, "row_count")), 2);
    cr_expect_str_eq(json_string_value(json_object_get(json, "min_key_text")), "1");
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(json, "key_types"), 0)),
                     "INT NOT NULL");
    cr_expect(json_is_object(json_object_get(json, "row_type")));
    cr_assert_eq(json_array_size(json_object_get(json, "blocks")), 1);
    cr_expect_eq(json_integer_value(json_object_get(
                     json_array_get(json_object_get(json, "blocks"), 0), "row_count")),
                 2);
    json_decref(json);
    sinter_text_reset(&text);
    cr_assert_eq(sinter_inspect_print(sst, "a.sst", NULL, 0, &text, NULL), SINTER_OK);
    cr_expect_null(strstr(text.data, "\"blocks\""));
    sinter_sst_close(sst);
    sinter_text_reset(&text);
    cr_assert_eq(sinter_sst_verify(&r.b.env, path, &counted, NULL), SINTER_OK);
    counted.bytes = 9;
    cr_assert_eq(sinter_verify_print("a.sst", &counted, NULL, 0, &text, NULL), SINTER_OK);
    cr_expect_str_eq(text.data,
                     "{\"format\":\"sinter.verify\",\"version\":1,\"file_name\":\"a.sst\","
                     "\"ok\":true,\"block_count\":1,\"row_count\":2,\"bytes\":9,"
                     "\"error\":null}\n");
    sinter_text_fini(&text);
    run_fini(&r);
}

Test(doc_report, the_document_after_a_compaction_is_the_next_input)
{
    sinter_files_doc *after = NULL;
    sinter_files_doc *none = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text text;
    run r;

    run_init(&r, false);
    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(sinter_files_doc_apply(&r.b.env, r.doc, r.result, &after, NULL), SINTER_OK);
    cr_expect_eq(sinter_files_doc_get(after)->file_count, 1);
    cr_expect_eq(sinter_files_doc_get(after)->retired_count, 0, "only catalogs remember");
    cr_expect_not(sinter_files_doc_get(after)->has_unit);
    cr_assert_eq(sinter_files_print(sinter_files_doc_get(after), NULL, 0, &text, NULL), SINTER_OK);
    bucket_write(&r.b.env, "db/next.json", text.data);
    sinter_files_doc_destroy(after);
    cr_expect_eq(sinter_files_doc_load(&r.b.env, "db/next.json", NULL, &after, &err), SINTER_OK,
                 "%s", err.text);
    cr_expect_eq(sinter_files_doc_apply(&r.b.env, after, r.result, &none, &err), SINTER_E_CONFLICT);
    sinter_files_doc_destroy(after);
    sinter_text_fini(&text);
    run_fini(&r);
}

Test(doc_report, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    sinter_result_content content = {.struct_size = (uint32_t)sizeof content, .base_dir = "db"};
    run r;

    run_init(&r, false);
    content.result = r.result;
    content.codec = sinter_files_doc_key_codec(r.doc);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_files_doc *after = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text text;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        sinter_text_init(&fault.env, &text);
        st = sinter_result_print(&content, &text, &err);
        if (st == SINTER_OK) {
            st = sinter_files_doc_apply(&fault.env, r.doc, r.result, &after, &err);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        sinter_files_doc_destroy(after);
        sinter_text_fini(&text);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    run_fini(&r);
}
