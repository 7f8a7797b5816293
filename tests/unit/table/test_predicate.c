#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../../support/fault_alloc.h"
#include "../format/avro_bed.h"
#include "manifest_bed.h"
#include "table/predicate.h"

TestSuite(table_predicate, .timeout = 60);

enum { COLUMNS = 6, A = 0, B = 1, F = 2, D = 3, T = 4, N = 5 };

static const char row_json[] = "[{\"id\":0,\"name\":\"a\",\"type\":\"INT\"},"
                               "{\"id\":1,\"name\":\"b c\",\"type\":\"VARCHAR(3)\"},"
                               "{\"id\":2,\"name\":\"f\",\"type\":\"DOUBLE\"},"
                               "{\"id\":3,\"name\":\"d\",\"type\":\"DECIMAL(30, 2)\"},"
                               "{\"id\":4,\"name\":\"t\",\"type\":\"TIMESTAMP(6)\"},"
                               "{\"id\":5,\"name\":\"n\",\"type\":\"ARRAY<INT>\"}]";

static sinter_row_type *
row_type(void)
{
    sinter_row_type *out = NULL;

    cr_assert_eq(
        sinter_row_type_parse(sinter_env_default(), row_json, sizeof row_json - 1, &out, NULL),
        SINTER_OK);
    return out;
}

static sinter_status
bind_text(sinter__arena *arena, const sinter_row_type *type, const char *text,
          const sinter__predicate **out, sinter_error *err)
{
    sinter_predicate *parsed = NULL;
    sinter_status st = sinter_predicate_parse(arena->env, text, &parsed, err);

    if (st == SINTER_OK) {
        st = sinter__predicate_bind(arena, parsed, type, out, err);
    }
    sinter_predicate_destroy(parsed);
    return st;
}

/* A row of the columns; `text` NULL: null. */
static void
make_row(const sinter_row_type *type, const char *const texts[COLUMNS], sinter_text *scratch,
         sinter_datum out[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++) {
        const sinter_column column = {.type = *sinter_row_type_column_type(type, i)};

        out[i] = (sinter_datum){.is_null = true};
        if (texts[i] != NULL && i != N) {
            const sinter_bytes text = {(const uint8_t *)texts[i], strlen(texts[i])};

            cr_assert_eq(sinter_datum_parse(&column, text, 0, scratch, &out[i], NULL), SINTER_OK);
        } else if (texts[i] != NULL) {
            out[i].is_null = false;
        }
    }
}

static bool
holds(const char *text, const char *const texts[COLUMNS])
{
    sinter__arena arena = {.env = sinter_env_default()};
    sinter_row_type *type = row_type();
    const sinter__predicate *bound = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_datum row[COLUMNS];
    sinter_text scratch;
    bool is_held = false;

    sinter_text_init(arena.env, &scratch);
    make_row(type, texts, &scratch, row);
    cr_assert_eq(bind_text(&arena, type, text, &bound, &err), SINTER_OK, "%s: %s", text, err.text);
    is_held = sinter__predicate_holds(bound, row);
    sinter_text_fini(&scratch);
    sinter_row_type_destroy(type);
    sinter__arena_fini(&arena);
    return is_held;
}

Test(table_predicate, expressions_hold_for_the_rows_they_describe)
{
    static const char *const row[COLUMNS] = {
        "5", "xy", "-0.0", "12.50", "2024-02-29 12:00:00.000001", "[]"};
    static const char *const right[] = {
        "a = 5",
        "a == 5 AND `b c` = 'xy'",
        "a != 4 and not a <> 5",
        "a between 5 and 6 and a between 4 and 5",
        "a not between 6 and 7",
        "a in (1, 5, 3) and a not in (1, 3)",
        "a in () or a >= 5",
        "not (a > 5 or a < 5)",
        "\"b c\" starts with 'x' and `b c` starts with '' and not `b c` starts with xyz",
        "`b c` not starts with 'y'",
        "f < 0 and f = -0.0 and f < NaN",
        "d = 12.5 and d > -99999999999999999999999999.99",
        "t > '2024-02-29 12:00:00' and t < '2024-02-29 12:00:00.000002'",
        "n is not null and a is not null",
        "not a is null",
        "a = 5 or `b c` = 'no' and a = 4",
    };
    static const char *const wrong[] = {
        "a = 4",
        "a in ()",
        "a not between 5 and 5",
        "`b c` = 'x'",
        "`b c` starts with 'xyz'",
        "f = 0.0",
        "n is null",
        "(a = 5 or `b c` = 'no') and a = 4",
        "not a = 5",
    };

    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        cr_expect(holds(right[i], row), "%s", right[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect(!holds(wrong[i], row), "%s", wrong[i]);
    }
}

Test(table_predicate, null_holds_for_no_comparison_and_no_opposite)
{
    static const char *const row[COLUMNS] = {NULL};
    static const char *const wrong[] = {"a = 5",
                                        "not a = 5",
                                        "a in (5)",
                                        "a not in (5)",
                                        "not (a between 1 and 2)",
                                        "`b c` not starts with 'x'",
                                        "a is not null"};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect(!holds(wrong[i], row), "%s", wrong[i]);
    }
    cr_expect(holds("a is null and n is null", row));
}

Test(table_predicate, quotes_are_doubled_within_a_text)
{
    static const char *const row[COLUMNS] = {"5", "'", NULL};

    cr_expect(holds("`b c` = ''''", row));
}

Test(table_predicate, bad_expressions_are_refused_with_their_position)
{
    static const struct {
        const char *text;
        const char *wanted;
    } cases[] = {
        {"", "at position 1: a column expected, not the end"},
        {"a", "at position 2: in, between or starts with expected, not the end"},
        {"a = ", "at position 5: a value expected, not the end"},
        {"a = null", "at position 5: a value (\"is null\" asks for null) expected, not \"null\""},
        {"a = 'x", "at position 5: this quote has no end"},
        {"(a = 5", "at position 7: ) expected, not the end"},
        {"a = 5 b = 4", "at position 7: and, or, or the end expected, not \"b\""},
        {"a in (1 2)", "at position 9: , expected, not \"2\""},
        {"a is 5", "at position 6: null expected, not \"5\""},
        {"a between 1 or 2", "at position 13: and expected, not \"or\""},
        {"= 5", "at position 1: a column expected, not \"=\""},
        {"a ! 5", "at position 3: a comparison expected, not \"!\""},
        {"not not not not not not not not not not not not not not not not not a = 5",
         "at position 65: too many levels"},
        {"z = 5", "the table has no column \"z\""},
        {"a = x", NULL},
        {"a = 99999999999", NULL},
        {"a starts with '1'", "column a: only texts start with something"},
        {"n = 5", "column n: values of ARRAY have no order"},
    };
    sinter_row_type *type = row_type();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter__arena arena = {.env = sinter_env_default()};
        sinter_error err = SINTER_ERROR_INIT;
        const sinter__predicate *bound = NULL;
        const sinter_status st = bind_text(&arena, type, cases[i].text, &bound, &err);

        cr_expect(st == SINTER_E_INVALID || st == SINTER_E_UNSUPPORTED, "%s", cases[i].text);
        if (cases[i].wanted != NULL) {
            cr_expect_str_eq(err.text, cases[i].wanted);
        }
        sinter__arena_fini(&arena);
    }
    sinter_row_type_destroy(type);
}

Test(table_predicate, a_tree_that_makes_no_sense_is_refused)
{
    const sinter_bytes value = {(const uint8_t *)"5", 1};
    const sinter_bytes two[] = {value, value};
    const sinter_predicate cases[] = {
        {.struct_size = (uint32_t)sizeof cases[0], .op = 99, .column = "a"},
        {.struct_size = (uint32_t)sizeof cases[0], .op = -1, .column = "a"},
        {.struct_size = (uint32_t)sizeof cases[0], .op = SINTER_PREDICATE_EQUAL, .column = "a"},
        {.struct_size = (uint32_t)sizeof cases[0],
         .op = SINTER_PREDICATE_EQUAL,
         .values = &value,
         .value_count = 1},
        {.struct_size = (uint32_t)sizeof cases[0],
         .op = SINTER_PREDICATE_LESS,
         .column = "a",
         .values = two,
         .value_count = 2},
        {.struct_size = (uint32_t)sizeof cases[0], .op = SINTER_PREDICATE_NOT},
    };
    sinter_row_type *type = row_type();
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__predicate *bound = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(sinter__predicate_bind(&arena, &cases[i], type, &bound, NULL),
                     SINTER_E_INVALID, "case %zu", i);
    }
    sinter__arena_fini(&arena);
    sinter_row_type_destroy(type);
}

Test(table_predicate, a_tree_that_is_too_deep_is_refused)
{
    enum { DEPTH = SINTER_PREDICATE_DEPTH_MAX + 1 };
    static sinter_predicate nodes[DEPTH];
    static const sinter_predicate *parts[DEPTH];
    sinter_row_type *type = row_type();
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__predicate *bound = NULL;

    for (size_t i = 0; i < DEPTH; i++) {
        nodes[i] = (sinter_predicate){.struct_size = (uint32_t)sizeof nodes[i],
                                      .op = SINTER_PREDICATE_NOT,
                                      .parts = &parts[i],
                                      .part_count = 1};
        parts[i] = &nodes[i + 1];
    }
    nodes[DEPTH - 1] = (sinter_predicate){
        .struct_size = (uint32_t)sizeof nodes[0], .op = SINTER_PREDICATE_IS_NULL, .column = "a"};
    cr_expect_eq(sinter__predicate_bind(&arena, &nodes[0], type, &bound, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter__predicate_bind(&arena, &nodes[1], type, &bound, NULL), SINTER_OK);
    sinter__arena_fini(&arena);
    sinter_row_type_destroy(type);
}

/* ---- against a model ---- */

static const char *const some_values[COLUMNS][6] = {
    {"-1", "0", "1", "2", "3", "4"},
    {"", "a", "aa", "ab", "b", "ba"},
    {"-Infinity", "-0.0", "0.0", "1.5", "2", "NaN"},
    {"-1.00", "0.00", "0.01", "1.00", "1.01", "2.00"},
    {"1969-12-31 23:59:59.999999", "1970-01-01 00:00:00.000000", "1970-01-01 00:00:00.000001",
     "1970-01-01 00:00:00.001000", "2024-01-01 00:00:00.000000", "2024-01-01 00:00:00.000001"},
    {"[]", "[]", "[]", "[]", "[]", "[]"}};
static const char *const names[COLUMNS] = {"a", "`b c`", "f", "d", "t", "n"};

/* A random expression; each value is one of those above, by its number, in quotes. */
static size_t
put_expression(uint64_t *state, uint32_t depth, char *out, size_t room)
{
    const uint32_t kind = bed_roll(state, depth == 0 ? 7 : 10);
    const uint32_t column = bed_roll(state, kind == 0 ? COLUMNS : COLUMNS - 1);
    const char *const *values = some_values[column];
    const char *const *x = &values[bed_roll(state, 6)];
    const char *const *y = &values[bed_roll(state, 6)];
    static const char *const signs[] = {"=", "!=", "<", "<=", ">", ">="};
    size_t size = 0;

    switch (kind) {
    case 0:
        return (size_t)snprintf(out, room, "%s is %snull", names[column],
                                bed_roll(state, 2) == 0 ? "not " : "");
    case 1:
        return (size_t)snprintf(out, room, "%s %sbetween '%s' and '%s'", names[column],
                                bed_roll(state, 2) == 0 ? "not " : "", *x, *y);
    case 2:
        return (size_t)snprintf(out, room, "%s %sin ('%s', '%s')", names[column],
                                bed_roll(state, 2) == 0 ? "not " : "", *x, *y);
    case 3:
        return (size_t)snprintf(out, room, "%s %sstarts with '%s'", names[B],
                                bed_roll(state, 2) == 0 ? "not " : "",
                                some_values[B][bed_roll(state, 6)]);
    case 7:
    case 8:
        size = (size_t)snprintf(out, room, "(");
        size += put_expression(state, depth - 1, out + size, room - size);
        size += (size_t)snprintf(out + size, room - size, " %s ", kind == 7 ? "and" : "or");
        size += put_expression(state, depth - 1, out + size, room - size);
        return size + (size_t)snprintf(out + size, room - size, ")");
    case 9:
        size = (size_t)snprintf(out, room, "not ");
        return size + put_expression(state, depth - 1, out + size, room - size);
    default:
        return (size_t)snprintf(out, room, "%s %s '%s'", names[column], signs[bed_roll(state, 6)],
                                *x);
    }
}

/* SQL's three values. */
typedef enum truth { NO, MAYBE, YES } truth;

/* Values are equal when their texts are; their order is that of their numbers above. */
static size_t
number_of(size_t column, const char *text)
{
    size_t i = 0;

    while (strcmp(some_values[column][i], text) != 0) {
        i++;
    }
    return i;
}

static truth
judge_comparison(const sinter_predicate *p, const char *const texts[COLUMNS])
{
    size_t column = 0;
    size_t value[2] = {0};
    size_t at = 0;
    bool is_one = false;

    while (strstr(names[column], p->column) == NULL) {
        column++;
    }
    if (p->op == SINTER_PREDICATE_IS_NULL || p->op == SINTER_PREDICATE_IS_NOT_NULL) {
        return (texts[column] == NULL) == (p->op == SINTER_PREDICATE_IS_NULL) ? YES : NO;
    }
    if (texts[column] == NULL) {
        return MAYBE;
    }
    at = number_of(column, texts[column]);
    for (size_t i = 0; i < p->value_count; i++) {
        value[i] = number_of(column, (const char *)p->values[i].data);
        is_one |= value[i] == at;
    }
    switch (p->op) {
    case SINTER_PREDICATE_EQUAL:
    case SINTER_PREDICATE_IN:
        return is_one ? YES : NO;
    case SINTER_PREDICATE_NOT_EQUAL:
        return is_one ? NO : YES;
    case SINTER_PREDICATE_LESS:
        return at < value[0] ? YES : NO;
    case SINTER_PREDICATE_LESS_EQUAL:
        return at <= value[0] ? YES : NO;
    case SINTER_PREDICATE_GREATER:
        return at > value[0] ? YES : NO;
    case SINTER_PREDICATE_GREATER_EQUAL:
        return at >= value[0] ? YES : NO;
    case SINTER_PREDICATE_BETWEEN:
        return at >= value[0] && at <= value[1] ? YES : NO;
    default:
        return strncmp(texts[column], (const char *)p->values[0].data, p->values[0].size) == 0 ? YES
                                                                                               : NO;
    }
}

static truth
judge(const sinter_predicate *p, const char *const texts[COLUMNS])
{
    truth all = p->op == SINTER_PREDICATE_AND ? YES : NO;

    if (p->op > SINTER_PREDICATE_NOT) {
        return judge_comparison(p, texts);
    }
    if (p->op == SINTER_PREDICATE_NOT) {
        return (truth)(YES - judge(p->parts[0], texts));
    }
    for (size_t i = 0; i < p->part_count; i++) {
        const truth one = judge(p->parts[i], texts);

        all = (p->op == SINTER_PREDICATE_AND) == (one < all) ? one : all;
    }
    return all;
}

enum { ROWS = 4 };

/* Bounds of some rows: sometimes exact, sometimes wider or not known. */
static void
put_bounds(uint64_t *state, const sinter_row_type *type, sinter_datum rows[ROWS][COLUMNS],
           sinter__column_bounds bounds[COLUMNS])
{
    for (size_t c = 0; c < COLUMNS; c++) {
        const sinter_type *t = sinter_row_type_column_type(type, c);
        sinter__column_bounds *b = &bounds[c];

        *b = (sinter__column_bounds){.has_null_count = bed_roll(state, 3) > 0, .row_count = ROWS};
        for (size_t r = 0; r < ROWS; r++) {
            const sinter_datum *value = &rows[r][c];
            const bool is_nan = c == F && (value->as.double_bits << 1) > 0xffe0000000000000u;

            b->null_count += value->is_null;
            if (value->is_null || c == N || is_nan) {
                continue;
            }
            if (!b->has_min || sinter__datum_compare(t, value, &b->min) < 0) {
                b->min = *value;
            }
            if (!b->has_max || sinter__datum_compare(t, value, &b->max) > 0) {
                b->max = *value;
            }
            b->has_min = b->has_max = true;
        }
        b->has_min = b->has_min && bed_roll(state, 4) > 0;
        b->has_max = b->has_max && bed_roll(state, 4) > 0;
    }
}

static void
check_random(uint64_t seed, size_t *ruled_out)
{
    sinter__arena arena = {.env = sinter_env_default()};
    sinter_row_type *type = row_type();
    const sinter__predicate *bound = NULL;
    sinter_predicate *parsed = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    const char *texts[ROWS][COLUMNS];
    sinter_datum rows[ROWS][COLUMNS];
    sinter__column_bounds bounds[COLUMNS];
    char text[4096];
    uint64_t state = seed;
    sinter_text scratch;
    bool any = false;

    sinter_text_init(arena.env, &scratch);
    (void)put_expression(&state, 3, text, sizeof text);
    cr_assert_eq(sinter_predicate_parse(arena.env, text, &parsed, &err), SINTER_OK, "%s: %s", text,
                 err.text);
    cr_assert_eq(sinter__predicate_bind(&arena, parsed, type, &bound, &err), SINTER_OK, "%s: %s",
                 text, err.text);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            texts[r][c] = bed_roll(&state, 4) == 0 ? NULL : some_values[c][bed_roll(&state, 6)];
        }
        make_row(type, texts[r], &scratch, rows[r]);
        cr_assert_eq(sinter__predicate_holds(bound, rows[r]), judge(parsed, texts[r]) == YES,
                     "seed %llu, row %zu: %s", (unsigned long long)seed, r, text);
        any |= sinter__predicate_holds(bound, rows[r]);
    }
    put_bounds(&state, type, rows, bounds);
    cr_assert(sinter__predicate_may_hold(bound, bounds) || !any, "seed %llu: %s",
              (unsigned long long)seed, text);
    *ruled_out += !sinter__predicate_may_hold(bound, bounds);
    sinter_predicate_destroy(parsed);
    sinter_row_type_destroy(type);
    sinter__arena_fini(&arena);
    sinter_text_fini(&scratch);
}

Test(table_predicate, rows_are_judged_as_a_model_does_and_bounds_rule_out_none_that_hold)
{
    enum { ROUNDS = 3000 };
    size_t ruled_out = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        check_random(seed, &ruled_out);
    }
    cr_expect_gt(ruled_out, ROUNDS / 20, "bounds rule out %zu of %d", ruled_out, ROUNDS);
}

/* ---- partitions ---- */

Test(table_predicate, a_list_of_partition_values_is_read_by_the_schema)
{
    static const char *const keys[] = {"dt", "hr"};
    static const sinter_option own_name = {.key = "partition.default-name", .value = "nil"};
    sinter_schema schema = {.partition_keys = keys, .partition_key_count = 2};
    sinter_predicate *made = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_predicate_of_partition(sinter_env_default(), &schema,
                                               "dt=2024=1,hr=__DEFAULT_PARTITION__", &made, &err),
                 SINTER_OK, "%s", err.text);
    cr_expect_eq(made->op, SINTER_PREDICATE_AND);
    cr_assert_eq(made->part_count, 2);
    cr_expect_str_eq(made->parts[0]->column, "dt");
    cr_expect_eq(made->parts[0]->op, SINTER_PREDICATE_EQUAL);
    cr_expect_str_eq((const char *)made->parts[0]->values[0].data, "2024=1");
    cr_expect_eq(made->parts[1]->op, SINTER_PREDICATE_IS_NULL);
    sinter_predicate_destroy(made);

    schema.options = &own_name;
    schema.option_count = 1;
    cr_assert_eq(
        sinter_predicate_of_partition(sinter_env_default(), &schema, "hr=nil", &made, NULL),
        SINTER_OK);
    cr_expect_eq(made->parts[0]->op, SINTER_PREDICATE_IS_NULL);
    sinter_predicate_destroy(made);

    cr_expect_eq(sinter_predicate_of_partition(sinter_env_default(), &schema, "dt", &made, &err),
                 SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "\"dt\" has no '=': column=value is expected");
    cr_expect_eq(sinter_predicate_of_partition(sinter_env_default(), &schema, "x=1", &made, &err),
                 SINTER_E_INVALID);
    cr_expect_str_eq(err.text, "the table has no partition column \"x\"");
}

Test(table_predicate, every_allocation_may_fail)
{
    sinter_row_type *type = row_type();
    sinter_status st = SINTER_E_NOMEM;

    for (size_t n = 0; st != SINTER_OK; n++) {
        const sinter__predicate *bound = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        sinter__arena arena = {0};

        fault_alloc_init(&fault, n);
        arena.env = &fault.env;
        st = bind_text(&arena, type, "a in (1, 2, 3) and not (`b c` = 'x' or a = 5)", &bound, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        sinter__arena_fini(&arena);
        cr_assert_eq(fault.live, 0, "leak when allocation %zu fails", n);
    }
    sinter_row_type_destroy(type);
}
