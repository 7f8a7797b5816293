#include <criterion/criterion.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "cases.h"
#include "sinter/rows.h"
#include "support/fault_alloc.h"

TestSuite(doc_row_reader, .timeout = 120);

/* All rows of a text, printed as canonical JSON; an error is put in front. */
static sinter_status
read_all(const sinter_env *env, const sinter_row_type *row_type, sinter_row_options options,
         sinter_bytes text, size_t piece, sinter_text *out, sinter_error *err)
{
    sinter_row_options print = {
        .struct_size = (uint32_t)sizeof print, .flags = options.flags, .kinds = true};
    sinter_row_reader *reader = NULL;
    sinter_row_writer *writer = NULL;
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    size_t at = 0;
    sinter_status st = sinter_row_reader_create(env, row_type, &options, &reader, err);

    if (st == SINTER_OK) {
        st = sinter_row_writer_create(env, row_type, &print, &writer, err);
    }
    while (st == SINTER_OK) {
        st = sinter_row_reader_next(reader, &row, err);
        if (st == SINTER_OK) {
            st = sinter_row_writer_append(writer, row.kind, row.values, out, err);
        } else if (st == SINTER_END && at < text.size) {
            const size_t size = text.size - at < piece ? text.size - at : piece;

            st = sinter_row_reader_feed(reader, text.data + at, size, err);
            at += size;
            if (at == text.size && st == SINTER_OK) {
                sinter_row_reader_end(reader);
            }
        }
    }
    sinter_row_writer_destroy(writer);
    sinter_row_reader_destroy(reader);
    return st == SINTER_END ? SINTER_OK : st;
}

static sinter_row_type *
row_type_of(const char *json)
{
    sinter_row_type *row_type = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_row_type_parse(sinter_env_default(), json, strlen(json), &row_type, &err),
                 SINTER_OK, "%s", err.text);
    return row_type;
}

#define COLUMN(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\"}"

static const char *const everything = "[{\"name\":\"k\",\"type\":\"INT NOT NULL\"},"
                                      "{\"name\":\"s\",\"type\":\"STRING\"},"
                                      "{\"name\":\"d\",\"type\":\"DECIMAL(20, 2)\"},"
                                      "{\"name\":\"f\",\"type\":\"FLOAT\"},"
                                      "{\"name\":\"g\",\"type\":\"DOUBLE\"},"
                                      "{\"name\":\"b\",\"type\":\"BYTES\"},"
                                      "{\"name\":\"y\",\"type\":\"BOOLEAN\"},"
                                      "{\"name\":\"t\",\"type\":\"TIMESTAMP(3)\"}]";

static void
expect_rows(int32_t format, const char *text, const char *expected)
{
    sinter_row_type *row_type = row_type_of(everything);
    const sinter_row_options options = {
        .struct_size = (uint32_t)sizeof options, .format = format, .source = "in"};
    const sinter_bytes bytes = {.data = (const uint8_t *)text, .size = strlen(text)};

    for (size_t piece = 1; piece <= bytes.size; piece = piece * 2 + 1) {
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text out;

        sinter_text_init(sinter_env_default(), &out);
        cr_expect_eq(read_all(sinter_env_default(), row_type, options, bytes, piece, &out, &err),
                     SINTER_OK, "%s", err.text);
        cr_expect_str_eq(out.data == NULL ? "" : out.data, expected, "pieces of %zu: %s", piece,
                         out.data);
        sinter_text_fini(&out);
    }
    sinter_row_type_destroy(row_type);
}

Test(doc_row_reader, json_lines_in_any_pieces)
{
    expect_rows(
        SINTER_ROW_FORMAT_JSON,
        "{\"k\":1,\"s\":\"\xc3\xa9\\n\\u0000\",\"d\":\"1.5\",\"f\":0.1,\"g\":1e300,\"b\":\"00FF\","
        "\"y\":true,\"t\":\"2024-02-29T12:00:00.125\"}\n"
        "\n \r\n"
        "{\"_kind\":\"-D\",\"k\":\"2\",\"_seq\":9}\r\n"
        "{\"g\":-0,\"f\":-0,\"d\":1,\"k\":3}\n"
        "{\"k\":4,\"d\":123456789012345678.25,\"g\":123456789012345678901234567890,\"f\":16777217."
        "1}",
        "{\"_kind\":\"+I\",\"k\":1,\"s\":\"\xc3\xa9\\n\\u0000\",\"d\":\"1.50\",\"f\":0.1,"
        "\"g\":1e+300,\"b\":\"00ff\",\"y\":true,\"t\":\"2024-02-29 12:00:00.125\"}\n"
        "{\"_kind\":\"-D\",\"k\":2,\"s\":null,\"d\":null,\"f\":null,\"g\":null,\"b\":null,"
        "\"y\":null,\"t\":null}\n"
        "{\"_kind\":\"+I\",\"k\":3,\"s\":null,\"d\":\"1.00\",\"f\":-0,\"g\":-0,\"b\":null,"
        "\"y\":null,\"t\":null}\n"
        "{\"_kind\":\"+I\",\"k\":4,\"s\":null,\"d\":\"123456789012345678.25\",\"f\":16777218,"
        "\"g\":1.2345678901234568e+29,\"b\":null,\"y\":null,\"t\":null}\n");
}

Test(doc_row_reader, csv_in_any_pieces)
{
    expect_rows(SINTER_ROW_FORMAT_CSV,
                "\xef\xbb\xbfs,k,_kind,_file,d\r\n"
                "\"a,\"\"b\"\"\r\nc\",1,+U,x,1.5\r\n"
                ",2,,,\n"
                "\"\",3,-D,,\n"
                "\n"
                "plain,4,+I,,0",
                "{\"_kind\":\"+U\",\"k\":1,\"s\":\"a,\\\"b\\\"\\r\\nc\",\"d\":\"1.50\",\"f\":null,"
                "\"g\":null,\"b\":null,\"y\":null,\"t\":null}\n"
                "{\"_kind\":\"+I\",\"k\":2,\"s\":null,\"d\":null,\"f\":null,\"g\":null,\"b\":null,"
                "\"y\":null,\"t\":null}\n"
                "{\"_kind\":\"-D\",\"k\":3,\"s\":\"\",\"d\":null,\"f\":null,\"g\":null,\"b\":null,"
                "\"y\":null,\"t\":null}\n"
                "{\"_kind\":\"+I\",\"k\":4,\"s\":\"plain\",\"d\":\"0.00\",\"f\":null,\"g\":null,"
                "\"b\":null,\"y\":null,\"t\":null}\n");
}

Test(doc_row_reader, tsv_has_tabs)
{
    expect_rows(SINTER_ROW_FORMAT_TSV, "k\ts\n1\ta,b\n2\t\"c\td\"\n",
                "{\"_kind\":\"+I\",\"k\":1,\"s\":\"a,b\",\"d\":null,\"f\":null,\"g\":null,"
                "\"b\":null,\"y\":null,\"t\":null}\n"
                "{\"_kind\":\"+I\",\"k\":2,\"s\":\"c\\td\",\"d\":null,\"f\":null,\"g\":null,"
                "\"b\":null,\"y\":null,\"t\":null}\n");
}

Test(doc_row_reader, one_column_of_csv_may_be_empty_lines)
{
    sinter_row_type *row_type = row_type_of("[" COLUMN("s", "STRING") "]");
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options,
                                        .format = SINTER_ROW_FORMAT_CSV};
    const sinter_bytes text = {.data = (const uint8_t *)"s\n\nx\n", .size = 5};
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_expect_eq(read_all(sinter_env_default(), row_type, options, text, 3, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, "{\"_kind\":\"+I\",\"s\":null}\n{\"_kind\":\"+I\",\"s\":\"x\"}\n");
    sinter_text_fini(&out);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_reader, faults_name_source_line_and_column)
{
    static const struct {
        int32_t format;
        const char *text;
        const char *says;
    } cases[] = {
        {SINTER_ROW_FORMAT_JSON, "{\"k\":1}\n{\"k\":1,\"nope\":2}",
         "line 2: unknown column \"nope\""},
        {SINTER_ROW_FORMAT_JSON, "{\"k\":1.5}", "line 1: column \"k\": a number with fraction"},
        {SINTER_ROW_FORMAT_JSON, "{\"k\":1.0}", "is no INT NOT NULL"},
        {SINTER_ROW_FORMAT_JSON, "{\"k\":true}", "column \"k\": true or false is no INT"},
        {SINTER_ROW_FORMAT_JSON, "{\"k\":[1]}", "column \"k\": an array is no INT NOT NULL"},
        {SINTER_ROW_FORMAT_JSON, "{\"k\":2147483648}", "2147483648 is out of the range of INT"},
        {SINTER_ROW_FORMAT_JSON, "{\"k\":99999999999999999999}", "out of the range of INT"},
        {SINTER_ROW_FORMAT_JSON, "{\"s\":5}", "column \"s\": an integer is no STRING"},
        {SINTER_ROW_FORMAT_JSON, "{\"s\":99999999999999999999}",
         "column \"s\": a number is no text"},
        {SINTER_ROW_FORMAT_JSON, "{\"y\":1}", "column \"y\": an integer is no BOOLEAN"},
        {SINTER_ROW_FORMAT_JSON, "{\"g\":1e999}", "column \"g\": \"1e999\" is no DOUBLE"},
        {SINTER_ROW_FORMAT_JSON, "{\"d\":1.505}", "column \"d\": \"1.505\" is no DECIMAL(20, 2)"},
        {SINTER_ROW_FORMAT_JSON, "{\"b\":\"0\"}", "column \"b\": \"0\" is no BYTES"},
        {SINTER_ROW_FORMAT_JSON, "{\"k\":1,\"k\":2}", "line 1, column "},
        {SINTER_ROW_FORMAT_JSON, "{\"k\":1}\n[1]", "line 2: an object expected, an array found"},
        {SINTER_ROW_FORMAT_JSON, "{\"k\":1}\n{\"k\":", "line 2, column "},
        {SINTER_ROW_FORMAT_JSON, "{\"_kind\":\"+X\",\"k\":1}", "one of +I, -U, +U, -D expected"},
        {SINTER_ROW_FORMAT_JSON, "{\"_kind\":1,\"k\":1}", "one of +I, -U, +U, -D expected"},
        {SINTER_ROW_FORMAT_JSON, "{\"s\":\"\xff\"}", "line 1, column "},
        {SINTER_ROW_FORMAT_CSV, "k,nope\n1,2", "line 1: unknown column \"nope\""},
        {SINTER_ROW_FORMAT_CSV, "k,s,k\n", "line 1: columns 1 and 3 have one name"},
        {SINTER_ROW_FORMAT_CSV, "k,s\n1\n", "line 2: 1 fields, the header has 2"},
        {SINTER_ROW_FORMAT_CSV, "k,s\n1,2,3\n", "line 2: 3 fields, the header has 2"},
        {SINTER_ROW_FORMAT_CSV, "k,s\n1,\"a\nb\"\nx,c\n", "line 4: column \"k\": \"x\" is no INT"},
        {SINTER_ROW_FORMAT_CSV, "k,s\n1,a\"b\n", "line 2: a quote stands in a field"},
        {SINTER_ROW_FORMAT_CSV, "k,s\n1,\"a\"b\n", "line 2: text follows a closing quote"},
        {SINTER_ROW_FORMAT_CSV, "k,s\n1,\"a\"\rb\n", "line 2: text follows a closing quote"},
        {SINTER_ROW_FORMAT_CSV, "k,s\n1,\"a\n\n", "the text ends between quotes"},
        {SINTER_ROW_FORMAT_CSV, "k,s\n1,\xff\n", "line 2: column \"s\": not valid UTF-8"},
        {SINTER_ROW_FORMAT_CSV, "k,_kind\n1,zz\n", "one of +I, -U, +U, -D expected"},
    };
    sinter_row_type *row_type = row_type_of(everything);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sinter_row_options options = {.struct_size = (uint32_t)sizeof options,
                                            .format = cases[i].format,
                                            .source = "rows.in"};
        const sinter_bytes text = {.data = (const uint8_t *)cases[i].text,
                                   .size = strlen(cases[i].text)};
        sinter_error err = SINTER_ERROR_INIT;
        sinter_text out;

        sinter_text_init(sinter_env_default(), &out);
        cr_expect_eq(read_all(sinter_env_default(), row_type, options, text, 5, &out, &err),
                     SINTER_E_INVALID, "%s", cases[i].text);
        cr_expect_not_null(strstr(err.text, cases[i].says), "%s: %s", cases[i].text, err.text);
        cr_expect_str_eq(err.file, "rows.in", "%s", err.text);
        sinter_text_fini(&out);
    }
    sinter_row_type_destroy(row_type);
}

Test(doc_row_reader, hex_strings_carry_any_bytes)
{
    sinter_row_type *row_type = row_type_of("[" COLUMN("s", "STRING") "]");
    const char *json = "{\"_kind\":\"+I\",\"s\":\"00ff\"}\n";
    const sinter_bytes text = {.data = (const uint8_t *)json, .size = strlen(json)};
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options,
                                        .flags = SINTER_PRINT_HEX_STRINGS};
    sinter_text out;

    sinter_text_init(sinter_env_default(), &out);
    cr_expect_eq(read_all(sinter_env_default(), row_type, options, text, 7, &out, NULL), SINTER_OK);
    cr_expect_str_eq(out.data, json);
    sinter_text_fini(&out);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_reader, columns_without_values_are_refused_by_name)
{
    sinter_row_type *row_type = row_type_of(
        "[{\"name\":\"m\",\"type\":{\"type\":\"MAP\",\"key\":\"INT\",\"value\":\"BLOB\"}}]");
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    sinter_row_reader *reader = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter_row_reader_create(sinter_env_default(), row_type, &options, &reader, &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_str_eq(err.text, "column \"m\": values of type BLOB are not supported");
    sinter_row_type_destroy(row_type);
}

static sinter_status
note_name(void *ctx, const char *name)
{
    return sinter_text_append(ctx, name, strlen(name) + 1, NULL);
}

Test(doc_row_reader, a_text_tells_its_columns)
{
    static const struct {
        int32_t format;
        const char *text;
        const char *names; /* each followed by a bar */
        sinter_status st;
    } cases[] = {
        {SINTER_ROW_FORMAT_JSON, "{\"b\":1,\"_kind\":\"+I\",\"a\":2}\nrest", "b|a|", SINTER_OK},
        {SINTER_ROW_FORMAT_CSV, "b,_kind,\"a b\"\nrest", "b|a b|", SINTER_OK},
        {SINTER_ROW_FORMAT_TSV, "b\ta\nrest", "b|a|", SINTER_OK},
        {SINTER_ROW_FORMAT_CSV, "b,a", "", SINTER_END},
        {SINTER_ROW_FORMAT_CSV, "", "", SINTER_END},
        {SINTER_ROW_FORMAT_JSON, "[1]\n", "", SINTER_E_INVALID},
        {SINTER_ROW_FORMAT_JSON, "{\"a\"\n", "", SINTER_E_INVALID},
        {SINTER_ROW_FORMAT_CSV, "a\"\n", "", SINTER_E_INVALID},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const sinter_bytes text = {.data = (const uint8_t *)cases[i].text,
                                   .size = strlen(cases[i].text)};
        sinter_text names;

        sinter_text_init(sinter_env_default(), &names);
        cr_expect_eq(sinter_row_columns(sinter_env_default(), cases[i].format, text, note_name,
                                        &names, NULL),
                     cases[i].st, "%s", cases[i].text);
        for (size_t k = 0; k < names.size; k++) {
            names.data[k] = (char)(names.data[k] == '\0' ? '|' : names.data[k]);
        }
        cr_expect_str_eq(names.data == NULL ? "" : names.data, cases[i].names);
        sinter_text_fini(&names);
    }
}

Test(doc_row_reader, a_row_has_a_limit)
{
    enum { PIECE = 1 << 20 };
    static char piece[PIECE];
    static const int32_t formats[] = {SINTER_ROW_FORMAT_JSON, SINTER_ROW_FORMAT_CSV};
    sinter_row_type *row_type = row_type_of(everything);

    memset(piece, 'x', sizeof piece);
    for (size_t i = 0; i < 2; i++) {
        const sinter_row_options options = {.struct_size = (uint32_t)sizeof options,
                                            .format = formats[i]};
        sinter_row_reader *reader = NULL;
        sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
        sinter_status st = SINTER_END;
        size_t fed = 0;

        cr_assert_eq(
            sinter_row_reader_create(sinter_env_default(), row_type, &options, &reader, NULL),
            SINTER_OK);
        while (st == SINTER_END && fed < 80) {
            cr_assert_eq(sinter_row_reader_feed(reader, piece, PIECE, NULL), SINTER_OK);
            st = sinter_row_reader_next(reader, &row, NULL);
            fed++;
        }
        cr_expect_eq(st, SINTER_E_TOO_LARGE);
        cr_expect_eq(fed, 65);
        sinter_row_reader_destroy(reader);
    }
    sinter_row_type_destroy(row_type);
}

/* Random rows through each format and back: the canonical JSON is the same. */
static void
round_trip(uint64_t seed, int32_t format)
{
    case_random random = {.state = seed};
    static const char *const names[] = {"a", "b,\"x", "c\td", "\xc3\xa9"};
    sinter_column columns[4];
    sinter_row_options print = {
        .struct_size = (uint32_t)sizeof print, .format = format, .kinds = true};
    const sinter_row_options canonical = {.struct_size = (uint32_t)sizeof canonical, .kinds = true};
    sinter_row_type *row_type = NULL;
    sinter_row_writer *writers[2] = {NULL};
    sinter_text texts[3];
    sinter_error err = SINTER_ERROR_INIT;
    const size_t rows = case_below(&random, 4);

    for (size_t i = 0; i < 4; i++) {
        columns[i] = (sinter_column){names[i], case_type(&random, true)};
    }
    for (size_t i = 0; i < 3; i++) {
        sinter_text_init(sinter_env_default(), &texts[i]);
    }
    cr_assert_eq(sinter_row_type_create(
                     sinter_env_default(),
                     &(sinter_row_layout){sizeof(sinter_row_layout), 0, columns, 4, NULL, 0},
                     &row_type, NULL),
                 SINTER_OK);
    cr_assert_eq(
        sinter_row_writer_create(sinter_env_default(), row_type, &print, &writers[0], NULL),
        SINTER_OK);
    cr_assert_eq(
        sinter_row_writer_create(sinter_env_default(), row_type, &canonical, &writers[1], NULL),
        SINTER_OK);
    for (size_t r = 0; r < rows; r++) {
        sinter_datum values[4];
        uint8_t rooms[4][CASE_BYTES_MAX];
        const uint8_t kind = (uint8_t)case_below(&random, 4);

        for (size_t i = 0; i < 4; i++) {
            values[i] = case_below(&random, 5) == 0
                            ? (sinter_datum){.is_null = true}
                            : case_datum(&random, &columns[i].type, true, rooms[i]);
        }
        for (size_t w = 0; w < 2; w++) {
            cr_assert_eq(sinter_row_writer_append(writers[w], kind, values, &texts[w], &err),
                         SINTER_OK, "seed %" PRIu64 ": %s", seed, err.text);
        }
    }
    cr_assert_eq(sinter_row_writer_end(writers[0], &texts[0], NULL), SINTER_OK);
    print.kinds = false;
    cr_assert_eq(read_all(sinter_env_default(), row_type, print, sinter_text_bytes(&texts[0]),
                          1 + case_below(&random, 40), &texts[2], &err),
                 SINTER_OK, "seed %" PRIu64 ": %s: %s", seed, err.text, texts[0].data);
    cr_assert_str_eq(texts[2].data == NULL ? "" : texts[2].data,
                     texts[1].data == NULL ? "" : texts[1].data, "seed %" PRIu64 ":\n%s\n%s", seed,
                     texts[2].data, texts[1].data);
    for (size_t i = 0; i < 3; i++) {
        sinter_text_fini(&texts[i]);
    }
    sinter_row_writer_destroy(writers[0]);
    sinter_row_writer_destroy(writers[1]);
    sinter_row_type_destroy(row_type);
}

Test(doc_row_reader, rows_come_back_from_every_format)
{
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        round_trip(seed, SINTER_ROW_FORMAT_JSON);
        round_trip(seed, SINTER_ROW_FORMAT_CSV);
        round_trip(seed, SINTER_ROW_FORMAT_TSV);
    }
}

Test(doc_row_reader, every_allocation_may_fail)
{
    static const char *const texts[] = {
        "{\"k\":1,\"b\":\"00\",\"d\":99999999999999999.5}\n{\"k\":2}\n", "k,b\n1,00\n2,\"x\"\n"};
    sinter_row_type *row_type = row_type_of(everything);

    for (int32_t format = SINTER_ROW_FORMAT_JSON; format <= SINTER_ROW_FORMAT_CSV; format++) {
        const sinter_row_options options = {
            .struct_size = (uint32_t)sizeof options, .format = format, .source = "x"};
        const sinter_bytes text = {.data = (const uint8_t *)texts[format],
                                   .size = strlen(texts[format])};
        sinter_status st = SINTER_E_NOMEM;

        for (uint64_t n = 0; st == SINTER_E_NOMEM; n++) {
            sinter_error err = SINTER_ERROR_INIT;
            fault_alloc fault;
            sinter_text out;

            fault_alloc_init(&fault, n);
            sinter_text_init(&fault.env, &out);
            st = read_all(&fault.env, row_type, options, text, 7, &out, &err);
            cr_assert_eq(st == SINTER_OK ? st : err.status, st);
            sinter_text_fini(&out);
            cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        }
        cr_assert_eq(st, format == SINTER_ROW_FORMAT_CSV ? SINTER_E_INVALID : SINTER_OK);
    }
    sinter_row_type_destroy(row_type);
}

Test(doc_row_reader, an_older_caller_gets_the_fields_it_knows)
{
    const sinter_row_options options = {.struct_size = offsetof(sinter_row_options, format) +
                                                       sizeof options.format,
                                        .format = SINTER_ROW_FORMAT_CSV};
    sinter_row_values row = {.struct_size = offsetof(sinter_row_values, line), .line = 77};
    sinter_row_type *row_type = NULL;
    sinter_row_reader *reader = NULL;
    static const char json[] =
        "{\"type\":\"ROW\",\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":\"INT\"}]}";

    cr_assert_eq(sinter_row_type_parse(sinter_env_default(), json, strlen(json), &row_type, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_row_reader_create(sinter_env_default(), row_type, &options, &reader, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_row_reader_feed(reader, "k\n5\n", 4, NULL), SINTER_OK);
    cr_assert_eq(sinter_row_reader_next(reader, &row, NULL), SINTER_OK);
    cr_expect_eq(row.values[0].as.integer, 5);
    cr_expect_eq(row.line, 77, "behind what the caller knows");
    cr_expect_eq(row.struct_size, offsetof(sinter_row_values, line));
    row.struct_size = 0;
    cr_expect_eq(sinter_row_reader_next(reader, &row, NULL), SINTER_E_INVALID);
    sinter_row_reader_destroy(reader);
    sinter_row_type_destroy(row_type);
}
