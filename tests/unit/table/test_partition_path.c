#include "table/partition_path.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sinter/env.h"

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

static const sinter__partition_names names = {.default_name = "__DEFAULT_PARTITION__",
                                              .legacy = true};

static void
expect_path(const sinter_column *columns, size_t count, const sinter_datum *values,
            const char *expected)
{
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(sinter__partition_path(&names, columns, count, values, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data == NULL ? "" : out.data, expected);
    sinter_text_fini(&out);
}

Test(table_partition_path, f26_values_become_directories_that_give_them_back)
{
    static const char *const text = "a b:c%d/e=f?*[x]{y}^\"'#\\\xc3\xbc\n~|<>,;&\x7f";
    static const char *const escaped = "a b%3Ac%25d%2Fe%3Df%3F%2A%5Bx%5D%7By%7D%5E%22%27%23%5C"
                                       "\xc3\xbc%0A~|<>,;&%7F";
    sinter_text out;
    sinter_text back;

    sinter_text_init(sinter_env_default(), &out);
    sinter_text_init(sinter_env_default(), &back);
    cr_assert_eq(sinter__partition_escape(bytes_of(text), &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, escaped);
    cr_assert_eq(sinter__partition_unescape(sinter_text_bytes(&out), &back, NULL), SINTER_OK);
    cr_expect_str_eq(back.data, text);
    sinter_text_fini(&out);
    sinter_text_fini(&back);

    const sinter_column column = {
        .name = "p",
        .type = {.id = SINTER_TYPE_VARCHAR, .nullable = true, .precision = SINTER_TYPE_LENGTH_MAX}};
    const sinter_datum value = {.as.bytes = bytes_of("a/b=c%d:e f")};

    expect_path(&column, 1, &value, "p=a%2Fb%3Dc%25d%3Ae f");
}

Test(table_partition_path, every_byte_survives_escaping)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        const uint8_t one[3] = {(uint8_t)byte, '4', '1'};
        sinter_text out;
        sinter_text back;

        sinter_text_init(sinter_env_default(), &out);
        sinter_text_init(sinter_env_default(), &back);
        cr_assert_eq(sinter__partition_escape((sinter_bytes){one, 3}, &out, NULL), SINTER_OK);
        cr_assert_eq(sinter__partition_unescape(sinter_text_bytes(&out), &back, NULL), SINTER_OK);
        cr_assert(back.size == 3 && memcmp(back.data, one, 3) == 0, "%u", byte);
        sinter_text_fini(&out);
        sinter_text_fini(&back);
    }
}

Test(table_partition_path, a_stray_percent_sign_stays)
{
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(sinter__partition_unescape(bytes_of("%4%zz%2f%"), &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, "%4%zz/%");
    sinter_text_fini(&out);
}

Test(table_partition_path, null_empty_and_blank_values_share_the_default_directory)
{
    const sinter_column columns[] = {
        {.name = "a=b", .type = {.id = SINTER_TYPE_INT, .nullable = true}},
        {.name = "s",
         .type = {
             .id = SINTER_TYPE_VARCHAR, .nullable = true, .precision = SINTER_TYPE_LENGTH_MAX}}};
    sinter_datum values[2] = {{.as.integer = 9}, {.is_null = true}};

    expect_path(columns, 2, values, "a%3Db=9/s=__DEFAULT_PARTITION__");
    values[1] = (sinter_datum){.as.bytes = bytes_of("")};
    expect_path(columns, 2, values, "a%3Db=9/s=__DEFAULT_PARTITION__");
    values[1] = (sinter_datum){.as.bytes = bytes_of(" \t")};
    expect_path(columns, 2, values, "a%3Db=9/s=__DEFAULT_PARTITION__");
    expect_path(columns, 0, NULL, "");
}

Test(table_partition_path, a_column_of_bytes_is_refused_by_name)
{
    const sinter_column column = {
        .name = "raw", .type = {.id = SINTER_TYPE_VARBINARY, .precision = SINTER_TYPE_LENGTH_MAX}};
    const sinter_datum value = {.as.bytes = bytes_of("x")};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_expect_eq(sinter__partition_path(&names, &column, 1, &value, &out, &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "raw"));
    sinter_text_fini(&out);
}

Test(table_partition_path, buckets_have_numbers_and_one_a_name)
{
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_assert_eq(sinter__bucket_path(17, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, "bucket-17");
    sinter_text_reset(&out);
    cr_assert_eq(sinter__bucket_path(-2, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, "bucket-postpone");
    sinter_text_fini(&out);
}
