#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "sinter/rows.h"
#include "support/fault_alloc.h"

TestSuite(doc_row_writer, .timeout = 60);

static const char *const columns_json =
    "[{\"name\":\"id\",\"type\":\"INT\"},{\"name\":\"na,me\",\"type\":\"STRING\"},"
    "{\"name\":\"n\",\"type\":\"DOUBLE\"}]";

static sinter_row_type *
columns_of(void)
{
    sinter_row_type *row_type = NULL;

    cr_assert_eq(sinter_row_type_parse(sinter_env_default(), columns_json, strlen(columns_json),
                                       &row_type, NULL),
                 SINTER_OK);
    return row_type;
}

/* Print three rows. */
static sinter_status
print_rows(const sinter_env *env, const sinter_row_type *row_type, sinter_row_options options,
           sinter_text *out, sinter_error *err)
{
    const char *const names[] = {"a", "\xc3\xa9,\"x\"\n", ""};
    sinter_row_writer *writer = NULL;
    sinter_status st = sinter_row_writer_create(env, row_type, &options, &writer, err);

    for (int64_t i = 0; i < 3 && st == SINTER_OK; i++) {
        const sinter_datum values[] = {
            {.as.integer = i * 100},
            {.as.bytes = {.data = (const uint8_t *)names[i], .size = strlen(names[i])}},
            {.is_null = i != 2, .as.double_bits = 0x7ff8000000000000u}};

        st = sinter_row_writer_append(writer, (uint8_t)i, values, out, err);
    }
    if (st == SINTER_OK) {
        st = sinter_row_writer_end(writer, out, err);
    }
    sinter_row_writer_destroy(writer);
    return st;
}

static void
expect_text(sinter_row_options options, const char *expected)
{
    sinter_row_type *row_type = columns_of();
    sinter_text out;

    options.struct_size = (uint32_t)sizeof options;
    sinter_text_init(sinter_env_default(), &out);
    cr_expect_eq(print_rows(sinter_env_default(), row_type, options, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, expected);
    sinter_text_fini(&out);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_writer, rows_in_every_format)
{
    static const size_t two[] = {2, 0};

    expect_text((sinter_row_options){.format = SINTER_ROW_FORMAT_JSON},
                "{\"id\":0,\"na,me\":\"a\",\"n\":null}\n"
                "{\"id\":100,\"na,me\":\"\xc3\xa9,\\\"x\\\"\\n\",\"n\":null}\n"
                "{\"id\":200,\"na,me\":\"\",\"n\":\"NaN\"}\n");
    expect_text((sinter_row_options){.format = SINTER_ROW_FORMAT_CSV, .kinds = true},
                "_kind,id,\"na,me\",n\n"
                "+I,0,a,\n"
                "-U,100,\"\xc3\xa9,\"\"x\"\"\n\",\n"
                "+U,200,\"\",NaN\n");
    expect_text((sinter_row_options){.format = SINTER_ROW_FORMAT_TSV, .no_header = true},
                "0\ta\t\n"
                "100\t\"\xc3\xa9,\"\"x\"\"\n\"\t\n"
                "200\t\"\"\tNaN\n");
    expect_text((sinter_row_options){.format = SINTER_ROW_FORMAT_TABLE},
                "id   na,me   n\n"
                "0    a       NULL\n"
                "100  \xc3\xa9,\"x\"   NULL\n"
                "200          NaN\n");
    expect_text(
        (sinter_row_options){.format = SINTER_ROW_FORMAT_CSV, .columns = two, .column_count = 2},
        "n,id\n,0\n,100\nNaN,200\n");
}

Test(doc_row_writer, a_header_comes_without_rows_too)
{
    static const struct {
        int32_t format;
        const char *expected;
    } cases[] = {{SINTER_ROW_FORMAT_JSON, ""},
                 {SINTER_ROW_FORMAT_CSV, "id,\"na,me\",n\n"},
                 {SINTER_ROW_FORMAT_TSV, "id\tna,me\tn\n"},
                 {SINTER_ROW_FORMAT_TABLE, "id  na,me  n\n"}};
    sinter_row_type *row_type = columns_of();

    for (size_t i = 0; i < 4; i++) {
        const sinter_row_options options = {.struct_size = (uint32_t)sizeof options,
                                            .format = cases[i].format};
        sinter_row_writer *writer = NULL;
        sinter_text out;

        sinter_text_init(sinter_env_default(), &out);
        cr_assert_eq(
            sinter_row_writer_create(sinter_env_default(), row_type, &options, &writer, NULL),
            SINTER_OK);
        cr_expect_eq(sinter_row_writer_end(writer, &out, NULL), SINTER_OK);
        cr_expect_str_eq(out.data == NULL ? "" : out.data, cases[i].expected);
        sinter_row_writer_destroy(writer);
        sinter_text_fini(&out);
    }
    sinter_row_type_destroy(row_type);
}

Test(doc_row_writer, a_table_is_let_go_once_its_widths_are_known)
{
    sinter_row_type *row_type = columns_of();
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options,
                                        .format = SINTER_ROW_FORMAT_TABLE};
    sinter_row_writer *writer = NULL;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(sinter_row_writer_create(sinter_env_default(), row_type, &options, &writer, NULL),
                 SINTER_OK);
    for (int64_t i = 0; i < SINTER_ROW_TABLE_ROWS + 1; i++) {
        const sinter_datum values[] = {{.as.integer = i < SINTER_ROW_TABLE_ROWS ? 1 : 123456},
                                       {.is_null = true},
                                       {.is_null = true}};

        cr_assert_eq(sinter_row_writer_append(writer, 0, values, &out, NULL), SINTER_OK);
        cr_assert_eq(out.size > 0, i >= SINTER_ROW_TABLE_ROWS - 1);
    }
    cr_expect_str_eq(out.data + out.size - strlen("123456  NULL   NULL\n"), "123456  NULL   NULL\n",
                     "a later cell may stick out");
    sinter_row_writer_destroy(writer);
    sinter_text_fini(&out);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_writer, stored_rows_are_decoded_or_shown_as_hex)
{
    sinter_row_type *row_type = columns_of();
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options, .kinds = true};
    const sinter_datum values[] = {{.as.integer = 1}, {.is_null = true}, {.is_null = true}};
    const sinter_bytes key = {.data = (const uint8_t *)"\x80\x01", .size = 2};
    sinter_row_writer *typed = NULL;
    sinter_row_writer *opaque = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text row;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &row);
    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(sinter_row_encode(row_type, values, 0, &row, NULL), SINTER_OK);
    cr_assert_eq(sinter_row_writer_create(sinter_env_default(), row_type, &options, &typed, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_row_writer_create(sinter_env_default(), NULL, &options, &opaque, NULL),
                 SINTER_OK);
    cr_expect_eq(
        sinter_row_writer_append_stored(typed, 3, key, sinter_text_bytes(&row), &out, NULL),
        SINTER_OK);
    cr_expect_eq(sinter_row_writer_append_stored(opaque, 0, key, key, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, "{\"_kind\":\"-D\",\"id\":1,\"na,me\":null,\"n\":null}\n"
                               "{\"_kind\":\"+I\",\"_key\":\"8001\",\"_value\":\"8001\"}\n");
    cr_expect_eq(sinter_row_writer_append_stored(typed, 0, key, key, &out, &err), SINTER_E_CORRUPT);
    sinter_row_writer_destroy(opaque);
    sinter_row_writer_destroy(typed);
    sinter_text_fini(&out);
    sinter_text_fini(&row);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_writer, invalid_utf8_names_its_column_and_a_table_shows_it_as_hex)
{
    sinter_row_type *row_type = columns_of();
    const sinter_datum values[] = {{.is_null = true},
                                   {.as.bytes = {.data = (const uint8_t *)"\xff", .size = 1}},
                                   {.is_null = true}};

    for (int32_t format = SINTER_ROW_FORMAT_JSON; format <= SINTER_ROW_FORMAT_TABLE; format++) {
        const sinter_row_options options = {.struct_size = (uint32_t)sizeof options,
                                            .format = format};
        const bool table = format == SINTER_ROW_FORMAT_TABLE;
        sinter_row_writer *writer = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text out;

        sinter_text_init(sinter_env_default(), &out);
        cr_assert_eq(
            sinter_row_writer_create(sinter_env_default(), row_type, &options, &writer, NULL),
            SINTER_OK);
        cr_expect_eq(sinter_row_writer_append(writer, 0, values, &out, &err),
                     table ? SINTER_OK : SINTER_E_INVALID);
        cr_expect(table || strcmp(err.text, "column \"na,me\": a string is not valid UTF-8") == 0,
                  "%s", err.text);
        sinter_row_writer_destroy(writer);
        sinter_text_fini(&out);
    }
    sinter_row_type_destroy(row_type);
}

Test(doc_row_writer, every_allocation_may_fail)
{
    sinter_row_type *row_type = columns_of();

    for (int32_t format = SINTER_ROW_FORMAT_JSON; format <= SINTER_ROW_FORMAT_TABLE; format++) {
        const sinter_row_options options = {.struct_size = (uint32_t)sizeof options,
                                            .format = format};
        sinter_status st = SINTER_E_NOMEM;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            sinter_error err = SINTER_ERROR_INIT;
            fault_alloc fault;
            sinter_text out;

            fault_alloc_init(&fault, n);
            sinter_text_init(&fault.env, &out);
            st = print_rows(&fault.env, row_type, options, &out, &err);
            cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
            sinter_text_fini(&out);
            cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        }
    }
    sinter_row_type_destroy(row_type);
}
