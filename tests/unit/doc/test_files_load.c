#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bucket.h"
#include "support/fault_alloc.h"

TestSuite(doc_files_load, .timeout = 60);

#define HEAD "{\"format\":\"sinter.files\",\"version\":1,"

/* A directory with two overlapping files whose names are in `names`. */
static void
prepare(bucket *b, char names[2][64])
{
    sinter_files_doc *doc = NULL;

    bucket_init(b, NULL);
    cr_assert_eq(bucket_create(&b->env, NULL, 0, NULL), SINTER_OK);
    cr_assert_eq(bucket_ingest(&b->env, "k,v,_kind\n1,a,+I\n2,b,-D\n1,c,+I\n", 2, NULL, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_files_doc_load(&b->env, "db", NULL, &doc, NULL), SINTER_OK);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(names[i], 64, "%s", sinter_files_doc_get(doc)->files[i].file_name);
    }
    sinter_files_doc_destroy(doc);
}

Test(doc_files_load, metadata_comes_from_the_footer)
{
    char names[2][64];
    char json[512];
    sinter_files_doc *doc = NULL;
    const sinter_files *files;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text text;
    bucket b;

    prepare(&b, names);
    sinter_text_init(sinter_env_default(), &text);
    (void)snprintf(
        json, sizeof json,
        HEAD "\"base_dir\":\"db\",\"unit\":[\"%s\"],\"files\":[{\"file_name\":\"%s\",\"level\":0},"
             "{\"file_name\":\"%s\",\"level\":3}]}",
        names[1], names[0], names[1]);
    bucket_write(&b.env, "in.json", json);
    cr_assert_eq(sinter_files_doc_load(&b.env, "in.json", NULL, &doc, &err), SINTER_OK, "%s",
                 err.text);
    files = sinter_files_doc_get(doc);
    cr_expect_str_eq(sinter_files_doc_base_dir(doc), "db");
    cr_expect_eq(files->files[0].row_count, 2);
    cr_expect_eq(files->files[0].delete_row_count, 1);
    cr_expect_eq(files->files[0].max_sequence_number, 1);
    cr_expect_gt(files->files[0].file_size, 0);
    cr_expect_gt(files->files[0].creation_time_ms, 0);
    cr_expect_eq(files->files[1].level, 3, "the level is the document's");
    cr_expect_str_eq(files->key_types, "INT NOT NULL");
    cr_expect_not_null(sinter_files_doc_row_type(doc));
    {
        size_t count = 0;
        const size_t *unit = sinter_files_doc_unit(doc, &count);

        cr_assert_eq(count, 1);
        cr_expect_eq(unit[0], 1);
    }
    cr_assert_eq(
        sinter_key_print(sinter_files_doc_key_codec(doc), files->files[0].max_key, &text, NULL),
        SINTER_OK);
    cr_expect_str_eq(text.data, "2");
    sinter_files_doc_destroy(doc);
    sinter_text_fini(&text);
    bucket_fini(&b);
}

Test(doc_files_load, the_base_directory_can_be_replaced)
{
    const sinter_files_load_options options = {.struct_size = (uint32_t)sizeof options,
                                               .base_dir = "db"};
    char names[2][64];
    char json[512];
    sinter_files_doc *doc = NULL;
    bucket b;

    prepare(&b, names);
    (void)snprintf(json, sizeof json,
                   HEAD "\"base_dir\":\"/nowhere\",\"files\":[{\"file_name\":\"%s\",\"level\":0}]}",
                   names[0]);
    bucket_write(&b.env, "in.json", json);
    cr_expect_eq(sinter_files_doc_load(&b.env, "in.json", NULL, &doc, NULL), SINTER_E_NOT_FOUND);
    cr_assert_eq(sinter_files_doc_load(&b.env, "in.json", &options, &doc, NULL), SINTER_OK);
    sinter_files_doc_destroy(doc);
    bucket_write(&b.env, "db/in.json", HEAD "\"base_dir\":\"sub\",\"files\":[]}");
    cr_assert_eq(sinter_files_doc_load(&b.env, "db/in.json", NULL, &doc, NULL), SINTER_OK);
    cr_expect_str_eq(sinter_files_doc_base_dir(doc), "db/sub");
    sinter_files_doc_destroy(doc);
    bucket_write(&b.env, "db/in.json", HEAD "\"files\":[]}");
    cr_assert_eq(sinter_files_doc_load(&b.env, "db/in.json", NULL, &doc, NULL), SINTER_OK);
    cr_expect_str_eq(sinter_files_doc_base_dir(doc), "db");
    sinter_files_doc_destroy(doc);
    bucket_fini(&b);
}

Test(doc_files_load, a_stated_value_that_differs_is_named_with_both)
{
    static const struct {
        const char *members;
        const char *says;
    } cases[] = {
        {"\"file_size\":7", "member file_size: stated 7, the file has "},
        {"\"row_count\":7", "member row_count: stated 7, the file has 2"},
        {"\"min_key\":\"80000000\"", "member min_key: stated 80000000, the file has 80000001"},
        {"\"max_key\":\"80000000\"", "member max_key: stated 80000000, the file has 80000002"},
        {"\"min_sequence_number\":-7", "member min_sequence_number: stated -7, the file has 0"},
        {"\"max_sequence_number\":7", "member max_sequence_number: stated 7, the file has 1"},
        {"\"delete_row_count\":0", "member delete_row_count: stated 0, the file has 1"},
        {"\"creation_time_ms\":7", "member creation_time_ms: stated 7, the file has "},
        {"\"schema_id\":7", "member schema_id: stated 7, the file has 0"},
    };
    char names[2][64];
    bucket b;

    prepare(&b, names);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char json[512];
        sinter_files_doc *doc = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        (void)snprintf(json, sizeof json, HEAD "\"files\":[{\"file_name\":\"%s\",\"level\":0,%s}]}",
                       names[0], cases[i].members);
        bucket_write(&b.env, "db/in.json", json);
        cr_expect_eq(sinter_files_doc_load(&b.env, "db/in.json", NULL, &doc, &err),
                     SINTER_E_INVALID);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s", err.text);
        cr_expect_not_null(strstr(err.file, names[0]), "%s", err.file);
    }
    bucket_fini(&b);
}

Test(doc_files_load, types_that_differ_are_named_with_both)
{
    static const struct {
        const char *members;
        const char *says;
    } cases[] = {
        {"\"key_types\":[\"BIGINT NOT NULL\"],",
         "member key_types: stated \"BIGINT NOT NULL\", the file has \"INT NOT NULL\""},
        {"\"key_types\":[],", "member key_types: stated \"\", the file has \"INT NOT NULL\""},
        {"\"row_type\":[{\"name\":\"x\",\"type\":\"INT\"}],", "member row_type: stated \"{"},
        {"\"row_type\":[{\"name\":\"k\",\"type\":\"INT NOT "
         "NULL\"},{\"name\":\"v\",\"type\":\"INT\"}],",
         "member row_type: stated \"{"},
    };
    char names[2][64];
    bucket b;

    prepare(&b, names);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char json[512];
        sinter_files_doc *doc = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        (void)snprintf(json, sizeof json, HEAD "%s\"files\":[{\"file_name\":\"%s\",\"level\":0}]}",
                       cases[i].members, names[0]);
        bucket_write(&b.env, "db/in.json", json);
        cr_expect_eq(sinter_files_doc_load(&b.env, "db/in.json", NULL, &doc, &err),
                     SINTER_E_INVALID);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s", err.text);
        cr_expect_not_null(strstr(err.file, names[0]), "%s", err.file);
    }
    bucket_fini(&b);
}

Test(doc_files_load, names_levels_and_units_are_checked)
{
    static const struct {
        const char *format; /* takes both names */
        sinter_status st;
        const char *says;
    } cases[] = {
        {HEAD "\"files\":[{\"file_name\":\"%s\",\"level\":0},{\"file_name\":\"%.0snone.sst\","
              "\"level\":0}]}",
         SINTER_E_NOT_FOUND, ""},
        {HEAD "\"files\":[{\"file_name\":\"%s\",\"level\":2},{\"file_name\":\"%s\",\"level\":2}]}",
         SINTER_E_INVALID, ""},
        {HEAD "\"unit\":[\"%s\"],\"files\":[{\"file_name\":\"%s\",\"level\":0}]}", SINTER_E_INVALID,
         "member unit[0]: \""},
        {HEAD "\"files\":[{\"file_name\":\"%s\",\"level\":0}],\"x\":\"%s\"}", SINTER_OK, ""},
    };
    char names[2][64];
    char json[512];
    sinter_files_doc *doc = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bucket b;

    prepare(&b, names);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t at = 0;
        size_t name = 0;

        memset(json, 0, sizeof json);
        for (const char *c = cases[i].format; *c != '\0'; c++) {
            if (strncmp(c, "%s", 2) == 0) {
                at += (size_t)snprintf(json + at, sizeof json - at, "%s", names[name++]);
                c++;
            } else if (strncmp(c, "%.0s", 4) == 0) {
                c += 3;
            } else {
                json[at++] = *c;
            }
        }
        bucket_write(&b.env, "db/in.json", json);
        cr_expect_eq(sinter_files_doc_load(&b.env, "db/in.json", NULL, &doc, &err), cases[i].st,
                     "%s: %s", json, err.text);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s", err.text);
        sinter_files_doc_destroy(doc);
        doc = NULL;
    }
    (void)snprintf(json, sizeof json,
                   HEAD "\"unit\":[\"%s\",\"%s\"],\"files\":[{\"file_name\":\"%s\",\"level\":0}]}",
                   names[0], names[0], names[0]);
    bucket_write(&b.env, "db/in.json", json);
    cr_expect_eq(sinter_files_doc_load(&b.env, "db/in.json", NULL, &doc, &err), SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "is named twice"), "%s", err.text);
    (void)snprintf(
        json, sizeof json,
        HEAD "\"files\":[{\"file_name\":\"%s\",\"level\":0},{\"file_name\":\"%s\",\"level\":1}]}",
        names[0], names[0]);
    bucket_write(&b.env, "db/in.json", json);
    cr_expect_eq(sinter_files_doc_load(&b.env, "db/in.json", NULL, &doc, &err), SINTER_E_INVALID);
    bucket_fini(&b);
}

Test(doc_files_load, damaged_files_are_named)
{
    char names[2][64];
    char path[128];
    sinter_files_doc *doc = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    bucket b;

    prepare(&b, names);
    (void)snprintf(path, sizeof path, "db/%s", names[1]);
    bucket_write(&b.env, path, "this is no sorted file");
    cr_expect_eq(sinter_files_doc_load(&b.env, "db", NULL, &doc, &err), SINTER_E_CORRUPT);
    cr_expect_not_null(strstr(err.file, names[1]), "%s", err.file);
    cr_assert_eq(b.env.io->ops->unlink(b.env.io, path, NULL), SINTER_OK);
    cr_expect_eq(sinter_files_doc_load(&b.env, "db", NULL, &doc, &err), SINTER_E_NOT_FOUND);
    cr_expect_not_null(strstr(err.file, names[1]), "%s", err.file);
    bucket_write(&b.env, "db/" SINTER_CATALOG_FILE, "");
    cr_expect_eq(sinter_files_doc_load(&b.env, "db", NULL, &doc, &err), SINTER_E_INVALID);
    cr_expect_eq(sinter_files_doc_load(&b.env, "nothing", NULL, &doc, &err), SINTER_E_NOT_FOUND);
    bucket_fini(&b);
}

Test(doc_files_load, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    char names[2][64];
    bucket b;

    prepare(&b, names);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_files_doc *doc = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.io = b.memory;
        st = sinter_files_doc_load(&fault.env, "db", NULL, &doc, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st && doc == NULL));
        sinter_files_doc_destroy(doc);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    bucket_fini(&b);
}

Test(doc_files_load, a_single_file_is_a_document_of_itself)
{
    char names[2][64];
    char path[80];
    sinter_files_doc *doc = NULL;
    const sinter_files *files;
    sinter_error err = SINTER_ERROR_INIT;
    size_t count = 7;
    bucket b;

    prepare(&b, names);
    (void)snprintf(path, sizeof path, "db/%s", names[0]);
    cr_assert_eq(sinter_files_doc_of_file(&b.env, path, &doc, &err), SINTER_OK, "%s", err.text);
    files = sinter_files_doc_get(doc);
    cr_assert_eq(files->file_count, 1);
    cr_expect_str_eq(files->files[0].file_name, names[0]);
    cr_expect_eq(files->files[0].row_count, 2);
    cr_expect_eq(files->files[0].level, 0);
    cr_expect_str_eq(sinter_files_doc_base_dir(doc), "db");
    cr_expect_str_eq(files->key_types, "INT NOT NULL");
    cr_expect_not_null(sinter_files_doc_row_type(doc));
    cr_expect_not_null(sinter_files_doc_key_codec(doc));
    cr_expect_null(sinter_files_doc_unit(doc, &count));
    sinter_files_doc_destroy(doc);
    cr_expect_eq(sinter_files_doc_of_file(&b.env, "db/none.sst", &doc, &err), SINTER_E_NOT_FOUND);
    cr_expect_null(doc);
    cr_expect_eq(sinter_files_doc_of_file(&b.env,
                                          "db/"
                                          "CATALOG.json",
                                          &doc, &err),
                 SINTER_E_CORRUPT);
    cr_expect_eq(sinter_files_doc_of_file(&b.env, NULL, &doc, &err), SINTER_E_INVALID);
    bucket_fini(&b);
}

Test(doc_files_load, every_allocation_of_a_single_file_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        char names[2][64];
        char path[80];
        sinter_files_doc *doc = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        bucket b;

        prepare(&b, names);
        (void)snprintf(path, sizeof path, "db/%s", names[0]);
        fault_alloc_init(&fault, n);
        b.env.allocator = fault.env.allocator;
        st = sinter_files_doc_of_file(&b.env, path, &doc, &err);
        cr_assert_eq(err.status, st, "%s", err.text);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && doc == NULL));
        sinter_files_doc_destroy(doc);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        bucket_fini(&b);
    }
}

Test(doc_files_load, trusted_statements_open_no_file_and_gaps_are_filled)
{
    const sinter_files_load_options trust = {.struct_size = (uint32_t)sizeof trust,
                                             .flags = SINTER_FILES_LOAD_TRUST};
    const sinter_files_load_options unknown = {.struct_size = (uint32_t)sizeof unknown,
                                               .flags = 1u << 7};
    char names[2][64];
    char path[80];
    char json[512];
    sinter_files_doc *checked = NULL;
    sinter_files_doc *doc = NULL;
    bucket b;

    prepare(&b, names);
    cr_assert_eq(sinter_files_doc_load(&b.env, "db", NULL, &checked, NULL), SINTER_OK);
    (void)snprintf(path, sizeof path, "db/%s", names[1]);
    cr_assert_eq(b.env.io->ops->unlink(b.env.io, path, NULL), SINTER_OK);
    cr_expect_eq(sinter_files_doc_load(&b.env, "db", NULL, &doc, NULL), SINTER_E_NOT_FOUND);
    cr_assert_eq(sinter_files_doc_load(&b.env, "db", &trust, &doc, NULL), SINTER_OK);
    for (size_t i = 0; i < 2; i++) {
        const sinter_file_meta *a = &sinter_files_doc_get(checked)->files[i];
        const sinter_file_meta *c = &sinter_files_doc_get(doc)->files[i];

        cr_expect_eq(a->row_count, c->row_count);
        cr_expect_eq(a->file_size, c->file_size);
        cr_expect_eq(a->max_sequence_number, c->max_sequence_number);
        cr_expect_eq(a->max_key.size, c->max_key.size);
    }
    cr_expect_not_null(sinter_files_doc_row_type(doc));
    cr_expect_not_null(sinter_files_doc_key_codec(doc));
    sinter_files_doc_destroy(doc);
    (void)snprintf(json, sizeof json,
                   HEAD "\"base_dir\":\"db\",\"files\":[{\"file_name\":\"%s\",\"level\":0}]}",
                   names[0]);
    bucket_write(&b.env, "in.json", json);
    cr_assert_eq(sinter_files_doc_load(&b.env, "in.json", &trust, &doc, NULL), SINTER_OK);
    cr_expect_eq(sinter_files_doc_get(doc)->files[0].row_count, 2, "from the footer");
    sinter_files_doc_destroy(doc);
    cr_expect_eq(sinter_files_doc_load(&b.env, "db", &unknown, &doc, NULL), SINTER_E_INVALID);
    sinter_files_doc_destroy(checked);
    bucket_fini(&b);
}
