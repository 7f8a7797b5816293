#include "doc/json.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "doc/doc_write.h"
#include "sinter/doc.h"

TestSuite(doc_json, .timeout = 60);

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){.data = (const uint8_t *)text, .size = strlen(text)};
}

static sinter_status
load(sinter_bytes text, uint32_t flags, sinter_error *err)
{
    const sinter__json_source source = {.name = "f.json", .text = text};
    json_t *json = NULL;
    const sinter_status st = sinter__json_load(&source, flags, &json, err);

    cr_expect_eq(json != NULL, st == SINTER_OK);
    json_decref(json);
    return st;
}

Test(doc_json, members_are_found_by_their_path)
{
    const char *text =
        "{\"a\" : [1, {\"b\":\"x]}\\\"\", \"c\":[[],[ 7 ]]}],\n \"d\":{} , \"a.b\":2}";
    static const struct {
        const char *path;
        const char *begins;
    } cases[] = {{"a", "[1,"},  {"a[0]", "1,"},       {"a[1].b", "\"x]"}, {"a[1].c[1][0]", "7 ]"},
                 {"d", "{} ,"}, {"a[1].c[0]", "[],"}, {"", "{\"a\""},     {"a.b", "2}"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t at = sinter__json_locate(bytes_of(text), cases[i].path);

        cr_assert_lt(at, strlen(text), "%s", cases[i].path);
        cr_expect_eq(strncmp(text + at, cases[i].begins, strlen(cases[i].begins)), 0, "%s: %s",
                     cases[i].path, text + at);
    }
    cr_expect_eq(sinter__json_locate(bytes_of(text), "a[2]"), strlen(text));
    cr_expect_eq(sinter__json_locate(bytes_of(text), "e"), strlen(text));
}

Test(doc_json, a_fault_has_line_column_and_path)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"{\"files\":[{},\n {\"level\":01}]}", "line 2, column "},
        {"{\"files\":[{},\n {\"level\":01}]}", "member files[1].level: "},
        {"{\"a\":1,\"a\":2}", "duplicate object key"},
        {"{\"\xc3\xa9\":\n\"\xff\"}", "line 2, column "},
        {"", "line 1, column 1"},
        {"{\"a\":1} x", "end of file expected"},
        {"[1,", "line 1, column "},
        {"123456789012345678,2", "end of file expected near ','"},
        {"123456789012345678],[2", "end of file expected near ']'"},
        {"{\"a\":123456789012345678,\n\"b\":01}", "line 2, column "},
        {"{\"a\":123456789012345678,\"b\":x}", "member b: "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_error err = SINTER_ERROR_INIT;

        cr_expect_eq(load(bytes_of(cases[i].text), 0, &err), SINTER_E_INVALID, "%s", cases[i].text);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s: %s", cases[i].text, err.text);
        cr_expect_str_eq(err.file, "f.json");
    }
    cr_expect_eq(load(bytes_of("\"\\u0000\""), 0, NULL), SINTER_OK);
    cr_expect_eq(load(bytes_of("9223372036854775807"), 0, NULL), SINTER_OK);
    cr_expect_eq(load(bytes_of("9223372036854775808"), 0, NULL), SINTER_E_OVERFLOW);
    cr_expect_eq(load(bytes_of("1e999"), 0, NULL), SINTER_E_OVERFLOW);
}

Test(doc_json, nesting_is_limited)
{
    char text[128];
    sinter_error err = SINTER_ERROR_INIT;

    memset(text, '[', 32);
    memset(text + 32, ']', 32);
    cr_expect_eq(load((sinter_bytes){.data = (uint8_t *)text, .size = 64}, 0, &err), SINTER_OK);
    memset(text, '[', 33);
    memset(text + 33, ']', 33);
    cr_expect_eq(load((sinter_bytes){.data = (uint8_t *)text, .size = 66}, 0, &err),
                 SINTER_E_TOO_LARGE);
    cr_expect_not_null(strstr(err.text, "column 33"), "%s", err.text);
    cr_expect_not_null(strstr(err.text, "nested deeper than 32"), "%s", err.text);
}

Test(doc_json, strings_and_documents_are_limited)
{
    const size_t most = SINTER_DOC_STRING_BYTES_MAX;
    const size_t size = most + 3;
    uint8_t *text = malloc(SINTER_DOC_BYTES_MAX + 1);
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_not_null(text);
    memset(text, 'x', size);
    text[0] = '"';
    text[most + 1] = '"';
    cr_expect_eq(load((sinter_bytes){.data = text, .size = most + 2}, 0, &err), SINTER_OK);
    text[most + 1] = 'x';
    text[most + 2] = '"';
    cr_expect_eq(load((sinter_bytes){.data = text, .size = size}, 0, &err), SINTER_E_TOO_LARGE);
    cr_expect_not_null(strstr(err.text, "a string above 16 MiB"));
    text[1] = '\\';
    text[2] = '\\';
    cr_expect_eq(load((sinter_bytes){.data = text, .size = size}, 0, &err), SINTER_OK,
                 "an escape is shorter than it looks");
    memset(text, ' ', SINTER_DOC_BYTES_MAX + 1);
    text[0] = '1';
    cr_expect_eq(load((sinter_bytes){.data = text, .size = SINTER_DOC_BYTES_MAX}, 0, &err),
                 SINTER_OK);
    cr_expect_eq(load((sinter_bytes){.data = text, .size = SINTER_DOC_BYTES_MAX + 1}, 0, &err),
                 SINTER_E_TOO_LARGE);
    free(text);
}

Test(doc_json, numbers_are_quoted_and_nothing_else)
{
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(
        sinter__json_quote_numbers(
            bytes_of("{\"1\":1,\"a\":[-1.5e+3,true,\"2\\\"3\"],\"b\":01,\"c\":null}"), &out, NULL),
        SINTER_OK);
    cr_expect_str_eq(out.data,
                     "{\"1\":\"1\",\"a\":[\"-1.5e+3\",true,\"2\\\"3\"],\"b\":01,\"c\":null}");
    sinter_text_fini(&out);
}

Test(doc_json, a_writer_remembers_its_first_failure)
{
    sinter__doc_writer writer;
    json_t *root;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(sinter_text_append(&out, "kept", 4, NULL), SINTER_OK);
    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_count(&writer, root, "a", UINT64_MAX);
    sinter__doc_put_string(&writer, root, "b", "\xff");
    cr_expect_eq(sinter__doc_writer_end(&writer, root, 0, &out, &err), SINTER_E_OVERFLOW);
    cr_expect_str_eq(out.data, "kept");
    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_string(&writer, root, "b", "\xff");
    cr_expect_eq(sinter__doc_writer_end(&writer, root, 0, &out, &err), SINTER_E_INVALID);
    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_message(&writer, root, "m", "a\xff\"");
    sinter__doc_put_string(&writer, root, "n", NULL);
    cr_expect_eq(sinter__doc_writer_end(&writer, root, 0, &out, &err), SINTER_OK);
    cr_expect_str_eq(out.data, "kept{\"m\":\"a?\\\"\",\"n\":null}");
    sinter_text_fini(&out);
}

/* jansson's own allocations: one of them, or all from there on, are refused. */
static uint64_t jansson_calls;
static uint64_t jansson_fail_at;
static bool jansson_stays_failed;

static void *
jansson_malloc(size_t size)
{
    const uint64_t call = jansson_calls++;
    const bool fails = jansson_stays_failed ? call >= jansson_fail_at : call == jansson_fail_at;

    return fails ? NULL : malloc(size);
}

Test(doc_json, no_memory_is_never_called_a_fault_of_the_text)
{
    static const char *const texts[] = {
        "{\"a\":\"b\"}",
        "\"a\"",
        "[\"a\",\"\",true,null]",
        "{\"a name that is longer than most\":\"a text that is longer than most names are\"}",
        "[\"0123456789abcd\\u00e9\\u20ac\\ud83d\\ude00 and so on\",\"0123456789abc\\\\\\\"\"]",
        "[123456789012345678,-0.123456789012345678,1.25e-10,12345678901234.5e+100]",
        "{\"n\":12345678901234}",
        "12345678901234567",
        "[\"a text longer than any number here\",123456789012345678,-0.1234567890123,1.25e-10]",
        "{\"a\":{\"b\":{\"c\":[[[\"d\"]]]}}}",
    };

    json_set_alloc_funcs(jansson_malloc, free);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (int stays = 0; stays < 2; stays++) {
            sinter_status st = SINTER_E_NOMEM;

            jansson_stays_failed = stays != 0;
            for (uint64_t n = 0; st != SINTER_OK; n++) {
                sinter_error err = SINTER_ERROR_INIT;

                jansson_calls = 0;
                jansson_fail_at = n;
                st = load(bytes_of(texts[i]), 0, &err);
                cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "%s, call %" PRIu64 ": %s",
                          texts[i], n, err.text);
                cr_assert_lt(n, 1000);
            }
        }
    }
    json_set_alloc_funcs(malloc, free);
}
