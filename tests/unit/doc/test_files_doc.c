#include "doc/files_doc.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/fault_alloc.h"

TestSuite(doc_files_doc, .timeout = 60);

static sinter_status
parse(const sinter_env *env, const char *json, sinter_files_doc **out, sinter_error *err)
{
    return sinter_files_doc_parse(
        env, "f.json", (sinter_bytes){.data = (const uint8_t *)json, .size = strlen(json)}, out,
        err);
}

#define HEAD "{\"format\":\"sinter.files\",\"version\":1,"

/* All members, in the order in which they are printed. */
static const char *const full = HEAD
    "\"base_dir\":\"data\",\"key_types\":[\"INT NOT NULL\",\"STRING\"],"
    "\"row_type\":{\"type\":\"ROW\",\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":\"INT NOT "
    "NULL\"}]},"
    "\"num_levels\":6,\"options\":{\"target-file-size\":\"128 mb\",\"b\":\"1\"},"
    "\"unit\":[\"A.sst\"],\"output_level\":3,\"next_sequence\":9223372036854775807,"
    "\"generation\":7,\"retired\":[{\"file_name\":\"R.sst\",\"retired_ms\":-5}],\"files\":["
    "{\"file_name\":\"A.sst\",\"level\":0,\"dir\":\"x/y\",\"external_path\":\"s3://b/A.sst\","
    "\"file_size\":1,\"row_count\":2,\"min_key\":\"00ff\",\"max_key\":\"01\","
    "\"min_sequence_number\":-9223372036854775808,\"max_sequence_number\":3,"
    "\"delete_row_count\":1,\"creation_time_ms\":-4,\"schema_id\":5,\"file_source\":\"COMPACT\","
    "\"format\":\"sst\",\"compression\":\"zstd\",\"table_meta\":{\"x\":[1,null]},"
    "\"extra_files\":[\"A.idx\"]},"
    "{\"file_name\":\"B.sst\",\"level\":5,\"file_size\":0,\"row_count\":0,"
    "\"min_sequence_number\":0,\"max_sequence_number\":0,\"creation_time_ms\":0,"
    "\"schema_id\":0}]}\n";

Test(doc_files_doc, a_full_document_comes_back_byte_by_byte)
{
    sinter_files_doc *doc = NULL;
    const sinter_files *files;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(parse(sinter_env_default(), full, &doc, &err), SINTER_OK, "%s", err.text);
    files = sinter_files_doc_get(doc);
    cr_expect_str_eq(files->base_dir, "data");
    cr_expect_str_eq(files->key_types, "INT NOT NULL\nSTRING");
    cr_expect_eq(files->num_levels, 6);
    cr_expect_eq(files->output_level, 3);
    cr_expect_eq(files->option_count, 2);
    cr_expect_str_eq(files->options[1].key, "b");
    cr_expect(files->has_unit && files->unit_count == 1);
    cr_expect_eq(files->next_sequence, INT64_MAX);
    cr_expect_eq(files->retired[0].retired_ms, -5);
    cr_expect_eq(files->files[0].min_sequence_number, INT64_MIN);
    cr_expect_eq(files->files[0].delete_row_count, 1);
    cr_expect_eq(files->files[1].delete_row_count, -1, "absent is unknown");
    cr_expect_eq(files->files[1].file_source, SINTER_FILE_SOURCE_UNKNOWN);
    cr_expect_eq(files->files[0].min_key.size, 2);
    cr_assert_eq(sinter_files_print(files, NULL, 0, &out, &err), SINTER_OK, "%s", err.text);
    cr_expect_str_eq(out.data, full);
    sinter_text_reset(&out);
    cr_assert_eq(sinter_files_print(files, NULL, SINTER_PRINT_PRETTY, &out, &err), SINTER_OK);
    cr_expect_not_null(strstr(out.data, "\n  \"num_levels\": 6,\n"));
    sinter_files_doc_destroy(doc);
    cr_assert_eq(parse(sinter_env_default(), out.data, &doc, &err), SINTER_OK, "%s", err.text);
    sinter_files_doc_destroy(doc);
    sinter_text_fini(&out);
}

Test(doc_files_doc, keys_are_shown_as_text_too)
{
    const char *json =
        HEAD "\"key_types\":[\"INT NOT NULL\"],\"files\":[{\"file_name\":\"A.sst\",\"level\":0,"
             "\"row_count\":1,\"min_key\":\"80000005\",\"min_key_text\":\"ignored\",\"max_key\":"
             "\"00\"}]}";
    sinter_files_doc *doc = NULL;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(parse(sinter_env_default(), json, &doc, NULL), SINTER_OK);
    cr_assert_eq(sinter_files_print(sinter_files_doc_get(doc), sinter_files_doc_key_codec(doc), 0,
                                    &out, NULL),
                 SINTER_OK);
    cr_expect_not_null(strstr(
        out.data, "\"min_key\":\"80000005\",\"min_key_text\":\"5\",\"max_key\":\"00\",\"min_seq"));
    sinter_files_doc_destroy(doc);
    sinter_text_fini(&out);
}

Test(doc_files_doc, lenient_where_the_rules_say_so)
{
    static const char *const cases[] = {
        HEAD "\"files\":[]}",
        HEAD "\"files\":[],\"unknown\":{\"x\":[1.5]},\"must_understand\":[\"files\",\"dir\"]}",
        HEAD "\"files\":[],\"unit\":null,\"output_level\":null,\"options\":null,\"row_type\":null}",
        HEAD "\"files\":[{\"file_name\":\"..a\",\"level\":\"3\",\"file_size\":"
             "\"9223372036854775807\"}]}",
        HEAD
        "\"files\":[{\"file_name\":\"a\",\"level\":0,\"dir\":\"a..b/..c\",\"file_source\":null}]}",
        HEAD "\"key_types\":[],\"files\":[]}",
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_files_doc *doc = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        cr_expect_eq(parse(sinter_env_default(), cases[i], &doc, &err), SINTER_OK, "%s: %s",
                     cases[i], err.text);
        sinter_files_doc_destroy(doc);
    }
}

#define FILE_OF(members) HEAD "\"files\":[{\"file_name\":\"a.sst\",\"level\":0," members "}]}"

static const struct {
    const char *json;
    sinter_status st;
    const char *says;
} fault_cases[] = {
    {"[]", SINTER_E_INVALID, "line 1, column 1: an object expected, an array found"},
    {"{}", SINTER_E_INVALID, "member \"format\" is missing"},
    {"{\"format\":\"sinter.result\",\"version\":1}", SINTER_E_UNSUPPORTED,
     "column 11, member format: format \"sinter.result\" found, \"sinter.files\" expected"},
    {"{\"format\":\"sinter.files\"}", SINTER_E_INVALID, "member \"version\" is missing"},
    {"{\"format\":\"sinter.files\",\"version\":2,\"files\":[]}", SINTER_E_UNSUPPORTED,
     "member version: version 2 found, versions 1 to 1 are understood"},
    {"{\"format\":\"sinter.files\",\"version\":0,\"files\":[]}", SINTER_E_UNSUPPORTED,
     "version 0 found"},
    {HEAD "\"must_understand\":[\"speed\"],\"files\":[]}", SINTER_E_UNSUPPORTED,
     "member \"speed\" must be understood"},
    {HEAD "\"must_understand\":[7],\"files\":[]}", SINTER_E_INVALID,
     "member must_understand[0]: a string expected, an integer found"},
    {HEAD "\"num_levels\":6}", SINTER_E_INVALID, "member \"files\" is missing"},
    {HEAD "\"files\":{}}", SINTER_E_INVALID, "member files: an array expected"},
    {HEAD "\"files\":[5]}", SINTER_E_INVALID, "member files[0]: an object expected"},
    {HEAD "\n\"files\":[{\"file_name\":\"a\"}]}", SINTER_E_INVALID,
     "line 2, column 10, member files[0]: member \"level\" is missing"},
    {HEAD "\"files\":[{\"level\":0}]}", SINTER_E_INVALID, "member \"file_name\" is missing"},
    {FILE_OF("\"file_size\":1.0"), SINTER_E_INVALID,
     "member files[0].file_size: an integer expected, a number with fraction"},
    {FILE_OF("\"file_size\":1e3"), SINTER_E_INVALID, "a number with fraction or exponent"},
    {FILE_OF("\"file_size\":\"1e3\""), SINTER_E_INVALID, "an integer expected, other text"},
    {FILE_OF("\"file_size\":-1"), SINTER_E_INVALID, "the integer is outside 0..922337203685"},
    {FILE_OF("\"file_size\":\"9223372036854775808\""), SINTER_E_INVALID, "outside 0.."},
    {FILE_OF("\"file_size\":9223372036854775808"), SINTER_E_OVERFLOW, "too big integer"},
    {FILE_OF("\"row_count\":true"), SINTER_E_INVALID, "an integer expected, true or false"},
    {FILE_OF("\"min_key\":\"0\""), SINTER_E_INVALID, "member files[0].min_key: no hex text"},
    {FILE_OF("\"min_key\":7"), SINTER_E_INVALID, "hex text expected, an integer found"},
    {FILE_OF("\"file_source\":\"OTHER\""), SINTER_E_INVALID, "unknown value \"OTHER\""},
    {FILE_OF("\"file_source\":1"), SINTER_E_INVALID, "a string expected, an integer found"},
    {FILE_OF("\"format\":\"avro\""), SINTER_E_UNSUPPORTED, "only files of format sst"},
    {FILE_OF("\"compression\":\"snappy\""), SINTER_E_INVALID, "unknown value \"snappy\""},
    {FILE_OF("\"deletion_vector\":{}"), SINTER_E_UNSUPPORTED, "deletion vectors are not supp"},
    {FILE_OF("\"table_meta\":[]"), SINTER_E_INVALID, "an object expected"},
    {FILE_OF("\"extra_files\":[\"a/b\"]"), SINTER_E_INVALID, "a file name has no \"/\""},
    {FILE_OF("\"extra_files\":[1]"), SINTER_E_INVALID, "files[0].extra_files[0]: a string"},
    {FILE_OF("\"dir\":\"../x\""), SINTER_E_INVALID, "member files[0].dir: a directory is"},
    {FILE_OF("\"dir\":\"x/..\""), SINTER_E_INVALID, "has no \"..\""},
    {FILE_OF("\"dir\":\"/x\""), SINTER_E_INVALID, "is relative to base_dir"},
    {FILE_OF("\"dir\":\"a\",\"dir\":\"b\""), SINTER_E_INVALID, "member files[0].dir: duplicate"},
    {FILE_OF("\"dir\":\"a\\u0000\""), SINTER_E_INVALID, "dir: a text with a zero byte"},
    {HEAD "\"files\":[{\"file_name\":\"a/b\",\"level\":0}]}", SINTER_E_INVALID, "has no \"/\""},
    {HEAD "\"files\":[{\"file_name\":\"..\",\"level\":0}]}", SINTER_E_INVALID, "isn't \"..\""},
    {HEAD "\"files\":[{\"file_name\":\"\",\"level\":0}]}", SINTER_E_INVALID, "a file name"},
    {HEAD "\"files\":[{\"file_name\":\"a\",\"level\":-1}]}", SINTER_E_INVALID, "outside 0.."},
    {HEAD "\"num_levels\":3,\"files\":[{\"file_name\":\"a\",\"level\":3}]}", SINTER_E_INVALID,
     "member files[0].level: the level is not below num_levels"},
    {HEAD "\"num_levels\":0,\"files\":[]}", SINTER_E_INVALID, "outside 1.."},
    {HEAD "\"key_types\":[\"ARRAY<INT>\"],\"files\":[]}", SINTER_E_UNSUPPORTED,
     "member key_types: key column 1: type ARRAY can't be a key"},
    {HEAD "\"key_types\":[\"NOPE\"],\"files\":[]}", SINTER_E_INVALID, "no type has this name"},
    {HEAD "\"key_types\":\"INT\",\"files\":[]}", SINTER_E_INVALID, "an array expected"},
    {HEAD "\"row_type\":{\"fields\":[{\"name\":\"a\",\"type\":\"NOPE\"}]},\"files\":[]}",
     SINTER_E_INVALID, "member row_type.fields[0].type: type \"NOPE\""},
    {HEAD "\"options\":[],\"files\":[]}", SINTER_E_INVALID, "member options: an object"},
    {HEAD "\"options\":{\"a\":1},\"files\":[]}", SINTER_E_INVALID,
     "member options.a: a string expected, an integer found"},
    {HEAD "\"options\":{\"a\":null},\"files\":[]}", SINTER_E_INVALID, "member \"a\" is missing"},
    {HEAD "\"retired\":[{\"file_name\":\"a/b\"}],\"files\":[]}", SINTER_E_INVALID,
     "member retired[0].file_name"},
    {HEAD "\"unit\":{},\"files\":[]}", SINTER_E_INVALID, "member unit: an array expected"},
    {HEAD "\"next_sequence\":-1,\"files\":[]}", SINTER_E_INVALID, "outside 0.."},
};

Test(doc_files_doc, faults_have_line_column_and_path)
{
    for (size_t i = 0; i < sizeof fault_cases / sizeof fault_cases[0]; i++) {
        sinter_files_doc *doc = NULL;
        sinter_error err = SINTER_ERROR_INIT;

        cr_expect_eq(parse(sinter_env_default(), fault_cases[i].json, &doc, &err),
                     fault_cases[i].st, "%s: %s", fault_cases[i].json, err.text);
        cr_expect_null(doc);
        cr_expect_not_null(strstr(err.text, fault_cases[i].says), "%s: %s", fault_cases[i].json,
                           err.text);
        cr_expect_not_null(strstr(err.text, "line "), "%s", err.text);
        cr_expect_str_eq(err.file, "f.json");
    }
}

Test(doc_files_doc, every_cut_of_a_document_is_refused)
{
    for (size_t size = 0; size + 2 < strlen(full); size++) {
        sinter_files_doc *doc = NULL;

        cr_expect_eq(sinter_files_doc_parse(
                         sinter_env_default(), NULL,
                         (sinter_bytes){.data = (const uint8_t *)full, .size = size}, &doc, NULL),
                     SINTER_E_INVALID, "%zu bytes", size);
    }
}

Test(doc_files_doc, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_files_doc *doc = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text out;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        sinter_text_init(&fault.env, &out);
        st = parse(&fault.env, full, &doc, &err);
        if (st == SINTER_OK) {
            st = sinter_files_print(sinter_files_doc_get(doc), NULL, 0, &out, &err);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st), "%s", err.text);
        cr_assert(st != SINTER_OK || strcmp(out.data, full) == 0);
        sinter_files_doc_destroy(doc);
        sinter_text_fini(&out);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
}

/* jansson's own allocations, counted and refused by hooks that only this test sets. */
static uint64_t jansson_calls;
static uint64_t jansson_fail_at;
static int64_t jansson_live;

static void *
jansson_malloc(size_t size)
{
    void *block = jansson_calls++ == jansson_fail_at ? NULL : malloc(size);

    jansson_live += block != NULL;
    return block;
}

static void
jansson_free(void *block)
{
    jansson_live -= block != NULL;
    free(block);
}

Test(doc_files_doc, every_allocation_of_jansson_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    json_set_alloc_funcs(jansson_malloc, jansson_free);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_files_doc *doc = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text out;

        jansson_calls = 0;
        jansson_fail_at = n;
        sinter_text_init(sinter_env_default(), &out);
        st = parse(sinter_env_default(), full, &doc, &err);
        if (st == SINTER_OK) {
            st = sinter_files_print(sinter_files_doc_get(doc), NULL, 0, &out, &err);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "call %" PRIu64 ": %s", n, err.text);
        cr_assert(st != SINTER_OK || strcmp(out.data, full) == 0, "call %" PRIu64 ": %s", n,
                  out.data);
        sinter_files_doc_destroy(doc);
        sinter_text_fini(&out);
        cr_assert_eq(jansson_live, 0, "leak when call %" PRIu64 " fails", n);
    }
}
