#include "table/evolution.h"

#include <criterion/criterion.h>
#include <string.h>

#include "sinter/env.h"
#include "sinter/nested.h"
#include "sinter/rows.h"
#include "support/fault_alloc.h"

/** Two row types and what leads from one to the other. */
typedef struct change {
    sinter_row_type *file;
    sinter_row_type *table;
    sinter__evolution *evolution;
} change;

static sinter_row_type *
parse_type(const char *json)
{
    sinter_row_type *type = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_row_type_parse(sinter_env_default(), json, strlen(json), &type, &err),
                 SINTER_OK, "%s", err.text);
    return type;
}

static sinter_status
open_change(change *c, const sinter_env *env, const char *file, const char *table,
            sinter_error *err)
{
    sinter__columns has = {.positions = NULL};
    sinter__columns wants = {.positions = NULL};

    c->file = parse_type(file);
    c->table = parse_type(table);
    has.row_type = c->file;
    has.count = sinter_row_type_count(c->file);
    wants.row_type = c->table;
    wants.count = sinter_row_type_count(c->table);
    return sinter__evolution_create(env, &has, &wants, &c->evolution, err);
}

static void
close_change(change *c)
{
    sinter__evolution_destroy(c->evolution);
    sinter_row_type_destroy(c->file);
    sinter_row_type_destroy(c->table);
}

/* Read a row of the file's type from JSON, evolve it, print it. */
static sinter_status
evolve_json(change *c, const char *json, sinter_text *out, sinter_error *err)
{
    const sinter_row_options options = {.struct_size = (uint32_t)sizeof options};
    sinter_row_values row = {.struct_size = (uint32_t)sizeof row};
    sinter_row_reader *reader = NULL;
    sinter_row_writer *writer = NULL;
    sinter_datum needed[16];
    sinter_datum made[16];
    size_t need_count = 0;
    const size_t *needs = sinter__evolution_needs(c->evolution, &need_count);
    sinter_status st = SINTER_OK;

    cr_assert_eq(sinter_row_reader_create(sinter_env_default(), c->file, &options, &reader, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_row_writer_create(sinter_env_default(), c->table, &options, &writer, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_row_reader_feed(reader, json, strlen(json), NULL), SINTER_OK);
    sinter_row_reader_end(reader);
    cr_assert_eq(sinter_row_reader_next(reader, &row, NULL), SINTER_OK, "%s", json);
    for (size_t i = 0; i < need_count; i++) {
        needed[i] = row.values[needs[i]];
    }
    st = sinter__evolution_apply(c->evolution, needed, made, err);
    if (st == SINTER_OK) {
        cr_assert_eq(sinter_row_writer_append(writer, 0, made, out, NULL), SINTER_OK);
        out->data[strcspn(out->data, "\n")] = '\0';
    }
    sinter_row_reader_destroy(reader);
    sinter_row_writer_destroy(writer);
    return st;
}

static void
expect(const char *file, const char *table, const char *row, const char *expected)
{
    sinter_text text;
    change c = {.file = NULL};

    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(open_change(&c, sinter_env_default(), file, table, NULL), SINTER_OK);
    cr_assert_eq(evolve_json(&c, row, &text, NULL), SINTER_OK);
    cr_expect_str_eq(text.data, expected);
    close_change(&c);
    sinter_text_fini(&text);
}

Test(table_evolution, columns_are_matched_by_id_whatever_their_names_and_places)
{
    expect(
        "[{\"id\":0,\"name\":\"a\",\"type\":\"INT\"},{\"id\":1,\"name\":\"b\",\"type\":\"STRING\"},"
        "{\"id\":2,\"name\":\"c\",\"type\":\"DOUBLE\"}]",
        "[{\"id\":2,\"name\":\"a\",\"type\":\"DOUBLE\"},{\"id\":7,\"name\":\"c\",\"type\":"
        "\"STRING\"},"
        "{\"id\":0,\"name\":\"b\",\"type\":\"INT\"}]",
        "{\"a\":5,\"b\":\"x\",\"c\":1.5}", "{\"a\":1.5,\"c\":null,\"b\":5}");
}

Test(table_evolution, f29_a_new_column_of_an_old_name_does_not_show_the_old_values)
{
    expect(
        "[{\"id\":0,\"name\":\"k\",\"type\":\"INT\"},{\"id\":2,\"name\":\"b\",\"type\":\"INT\"}]",
        "[{\"id\":0,\"name\":\"k\",\"type\":\"INT\"},{\"id\":3,\"name\":\"b\",\"type\":\"INT\"}]",
        "{\"k\":1,\"b\":9}", "{\"k\":1,\"b\":null}");
}

Test(table_evolution, values_of_other_types_are_cast)
{
    expect(
        "[{\"id\":0,\"name\":\"a\",\"type\":\"INT\"},{\"id\":1,\"name\":\"b\",\"type\":\"STRING\"},"
        "{\"id\":2,\"name\":\"c\",\"type\":\"DECIMAL(10, 2)\"}]",
        "[{\"id\":0,\"name\":\"a\",\"type\":\"STRING\"},{\"id\":1,\"name\":\"b\",\"type\":\"INT\"},"
        "{\"id\":2,\"name\":\"c\",\"type\":\"CHAR(8)\"}]",
        "{\"a\":5,\"b\":\"12\",\"c\":\"1.50\"}", "{\"a\":\"5\",\"b\":12,\"c\":\"1.50    \"}");
}

Test(table_evolution, rows_arrays_and_maps_change_inside_too)
{
    expect(
        "[{\"id\":0,\"name\":\"r\",\"type\":{\"type\":\"ROW\",\"fields\":["
        "{\"id\":1,\"name\":\"x\",\"type\":\"INT\"},{\"id\":2,\"name\":\"y\",\"type\":\"STRING\"}]}"
        "},"
        "{\"id\":3,\"name\":\"l\",\"type\":{\"type\":\"ARRAY\",\"element\":{\"type\":\"ROW\","
        "\"fields\":[{\"id\":4,\"name\":\"z\",\"type\":\"INT\"}]}}},"
        "{\"id\":5,\"name\":\"m\",\"type\":{\"type\":\"MAP\",\"key\":\"STRING\",\"value\":\"INT\"}}"
        "]",
        "[{\"id\":0,\"name\":\"r\",\"type\":{\"type\":\"ROW\",\"fields\":["
        "{\"id\":2,\"name\":\"x\",\"type\":\"STRING\"},{\"id\":9,\"name\":\"n\",\"type\":\"INT\"},"
        "{\"id\":1,\"name\":\"w\",\"type\":\"BIGINT\"}]}},"
        "{\"id\":3,\"name\":\"l\",\"type\":{\"type\":\"ARRAY\",\"element\":{\"type\":\"ROW\","
        "\"fields\":[{\"id\":4,\"name\":\"z\",\"type\":\"STRING\"},"
        "{\"id\":8,\"name\":\"q\",\"type\":\"INT\"}]}}},"
        "{\"id\":5,\"name\":\"m\",\"type\":{\"type\":\"MAP\",\"key\":\"STRING\","
        "\"value\":\"BIGINT\"}}]",
        "{\"r\":{\"x\":7,\"y\":\"a text of some length\"},\"l\":[{\"z\":1},null,{\"z\":null},"
        "{\"z\":-2147483648}],\"m\":[[\"a\",1],[\"b\",null]]}",
        "{\"r\":{\"x\":\"a text of some "
        "length\",\"n\":null,\"w\":7},\"l\":[{\"z\":\"1\",\"q\":null},"
        "null,{\"z\":null,\"q\":null},{\"z\":\"-2147483648\",\"q\":null}],"
        "\"m\":[[\"a\",1],[\"b\",null]]}");
}

Test(table_evolution, only_the_columns_that_are_needed_are_asked_for)
{
    change c = {.file = NULL};
    const size_t wanted[] = {1, 1};
    size_t count = 0;
    const size_t *needs = NULL;
    sinter__columns has = {.positions = NULL};
    sinter__columns wants = {.positions = wanted, .count = 2};

    c.file = parse_type("[{\"id\":0,\"name\":\"a\",\"type\":\"INT\"},"
                        "{\"id\":1,\"name\":\"b\",\"type\":\"INT\"}]");
    has.row_type = c.file;
    has.count = 2;
    wants.row_type = c.file;
    cr_assert_eq(sinter__evolution_create(sinter_env_default(), &has, &wants, &c.evolution, NULL),
                 SINTER_OK);
    needs = sinter__evolution_needs(c.evolution, &count);
    cr_expect(count == 1 && needs[0] == 1);
    close_change(&c);
}

Test(table_evolution, what_can_not_be_cast_is_refused_with_column_and_types)
{
    sinter_error err = SINTER_ERROR_INIT;
    change c = {.file = NULL};

    cr_expect_eq(open_change(&c, sinter_env_default(),
                             "[{\"id\":0,\"name\":\"a\",\"type\":\"BOOLEAN\"}]",
                             "[{\"id\":0,\"name\":\"day\",\"type\":\"DATE\"}]", &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "day"));
    cr_expect_not_null(strstr(err.text, "BOOLEAN"));
    cr_expect_not_null(strstr(err.text, "DATE"));
    close_change(&c);
}

Test(table_evolution, a_value_that_can_not_be_cast_is_told_with_its_column)
{
    sinter_error err = SINTER_ERROR_INIT;
    change c = {.file = NULL};
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(open_change(&c, sinter_env_default(),
                             "[{\"id\":0,\"name\":\"a\",\"type\":\"STRING\"}]",
                             "[{\"id\":0,\"name\":\"n\",\"type\":\"INT\"}]", NULL),
                 SINTER_OK);
    cr_expect_eq(evolve_json(&c, "{\"a\":\"one\"}", &text, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "column n: \"one\" can't be cast to INT");
    close_change(&c);
    sinter_text_fini(&text);
}

Test(table_evolution, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;
        change c = {.file = NULL};
        sinter_text text;

        sinter_text_init(sinter_env_default(), &text);
        fault_alloc_init(&fault, n);
        st = open_change(&c, &fault.env,
                         "[{\"id\":3,\"name\":\"l\",\"type\":{\"type\":\"ARRAY\",\"element\":"
                         "\"INT\"}},{\"id\":4,\"name\":\"s\",\"type\":\"INT\"}]",
                         "[{\"id\":3,\"name\":\"l\",\"type\":{\"type\":\"ARRAY\",\"element\":"
                         "\"STRING\"}},{\"id\":4,\"name\":\"s\",\"type\":\"STRING\"}]",
                         NULL);
        if (st == SINTER_OK) {
            st = evolve_json(&c, "{\"l\":[1,22222222,3],\"s\":5}", &text, NULL);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        close_change(&c);
        cr_assert_eq(fault.live, 0);
        cr_assert_lt(n, 100);
        sinter_text_fini(&text);
    }
}
