/*
 * The values are those of table-layout.md 7.
 */
#include "table/stats_collector.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "doc/binary.h"
#include "support/fault_alloc.h"

enum { COLUMNS_MAX = 8, ARITY_BYTES = 4 };

static const sinter_datum null_value = {.is_null = true};

static sinter_datum
text(const char *value)
{
    return (sinter_datum){.as.bytes = {(const uint8_t *)value, strlen(value)}};
}

/** A collector of one column, or several. */
typedef struct bed {
    sinter__arena arena;
    sinter__stats_column columns[COLUMNS_MAX];
    size_t count;
    sinter__stats_collector *collector;
    sinter__stats_result result;
} bed;

static void
open_bed(bed *b, sinter__stats_source source)
{
    static const char *const names[COLUMNS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};

    b->arena.env = sinter_env_default();
    for (size_t i = 0; i < b->count; i++) {
        b->columns[i].name = names[i];
        b->columns[i].type.nullable = true;
    }
    cr_assert_eq(sinter__stats_collector_create(b->arena.env, b->columns, b->count, source,
                                                &b->collector, NULL),
                 SINTER_OK);
}

static void
add(bed *b, sinter_datum value)
{
    cr_assert_eq(sinter__stats_collector_add(b->collector, &value, NULL), SINTER_OK);
}

static void
finish(bed *b, bool is_dense)
{
    static const size_t positions[COLUMNS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
    const sinter__stats_choice choice = {positions, b->count, is_dense};

    cr_assert_eq(sinter__stats_collector_finish(b->collector, &choice, &b->arena, &b->result, NULL),
                 SINTER_OK);
}

static void
close_bed(bed *b)
{
    sinter__stats_collector_destroy(b->collector);
    sinter__arena_fini(&b->arena);
}

static bed
begin(const char *type, sinter__stats_mode mode, sinter__stats_source source)
{
    bed b = {.count = 1};

    cr_assert_eq(sinter_type_parse(type, &b.columns[0].type, NULL), SINTER_OK);
    b.columns[0].mode = mode;
    open_bed(&b, source);
    return b;
}

/* A value of a row of bounds. */
static sinter_datum
bound(const bed *b, sinter_bytes row, size_t index)
{
    sinter_datum value;
    sinter__slots slots;

    cr_assert_geq(row.size, ARITY_BYTES);
    cr_assert_eq(sinter__get_be32(row.data), b->result.stats.null_counts.count);
    cr_assert_eq(sinter__slots_of_row(
                     b->result.stats.null_counts.count,
                     (sinter_bytes){row.data + ARITY_BYTES, row.size - ARITY_BYTES}, &slots, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter__slots_get(&slots, &b->columns[index].type, index, &value, NULL),
                 SINTER_OK);
    return value;
}

static void
check_texts(const bed *b, const char *min, const char *max)
{
    const sinter_datum found[2] = {bound(b, b->result.stats.min_values, 0),
                                   bound(b, b->result.stats.max_values, 0)};
    const char *const expected[2] = {min, max};

    for (int i = 0; i < 2; i++) {
        cr_assert_eq(found[i].is_null, expected[i] == NULL);
        if (expected[i] != NULL) {
            cr_assert_eq(found[i].as.bytes.size, strlen(expected[i]));
            cr_assert_eq(memcmp(found[i].as.bytes.data, expected[i], found[i].as.bytes.size), 0,
                         "%.*s instead of %s", (int)found[i].as.bytes.size,
                         (const char *)found[i].as.bytes.data, expected[i]);
        }
    }
}

/* Bounds of some texts, cut to `length` characters. */
static void
expect_texts(uint32_t length, const char *const *values, const char *min, const char *max)
{
    bed b = begin("STRING", (sinter__stats_mode){SINTER__STATS_TRUNCATE, length},
                  SINTER__STATS_OF_AVRO);

    for (size_t i = 0; values[i] != NULL; i++) {
        add(&b, text(values[i]));
    }
    finish(&b, true);
    check_texts(&b, min, max);
    close_bed(&b);
}

Test(table_stats_collector, modes_are_read_as_options_name_them)
{
    static const struct {
        const char *text;
        sinter__stats_kind kind;
        uint32_t length;
    } modes[] = {{"none", SINTER__STATS_NONE, 0},
                 {"COUNTS", SINTER__STATS_COUNTS, 0},
                 {"full", SINTER__STATS_FULL, 0},
                 {"truncate(16)", SINTER__STATS_TRUNCATE, 16},
                 {"Truncate(128)", SINTER__STATS_TRUNCATE, 128}};
    static const char *const wrong[] = {"",
                                        "truncate",
                                        "truncate()",
                                        "truncate(0)",
                                        "truncate(x)",
                                        "truncate(16",
                                        "truncate(16)x",
                                        "nones",
                                        "truncate(-1)"};
    sinter__stats_mode mode;

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        cr_assert_eq(sinter__stats_mode_parse(modes[i].text, &mode, NULL), SINTER_OK, "%s",
                     modes[i].text);
        cr_expect_eq(mode.kind, modes[i].kind);
        cr_expect_eq(mode.length, modes[i].length);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_eq(sinter__stats_mode_parse(wrong[i], &mode, NULL), SINTER_E_INVALID, "%s",
                     wrong[i]);
    }
}

Test(table_stats_collector, a_greatest_text_that_is_cut_is_raised)
{
    expect_texts(16, (const char *const[]){"hello paimon table", NULL}, "hello paimon tab",
                 "hello paimon tac");
    expect_texts(3, (const char *const[]){"abc", "ab", NULL}, "ab", "abc");
    expect_texts(3, (const char *const[]){"abcd", "abd", NULL}, "abc", "abd");
    expect_texts(2, (const char *const[]){"", NULL}, "", "");
    /* Characters, not bytes: an a with a ring and an o with dots take two each. */
    expect_texts(2, (const char *const[]){"\u00e5\u00f6x", NULL}, "\u00e5\u00f6", "\u00e5\u00f7");
    /* One byte more than before: U+007F, U+07FF and U+FFFF. */
    expect_texts(1, (const char *const[]){"\x7fz", NULL}, "\x7f", "\xc2\x80");
    expect_texts(1, (const char *const[]){"\u07ffz", NULL}, "\u07ff", "\u0800");
    expect_texts(1, (const char *const[]){"\uffffz", NULL}, "\uffff", "\U00010000");
}

Test(table_stats_collector, no_bound_is_a_surrogate_or_beyond_the_last_character)
{
    expect_texts(1, (const char *const[]){"\ud7ffz", NULL}, "\ud7ff", "\ue000");
    expect_texts(2, (const char *const[]){"a\U0010ffffz", NULL}, "a\U0010ffff", "b");
    expect_texts(1, (const char *const[]){"\U0010ffffz", "a", NULL}, NULL, NULL);
    expect_texts(1, (const char *const[]){"\U0010ffff", NULL}, "\U0010ffff", "\U0010ffff");
}

#define LAST "\U0010ffff"
#define LAST_5 LAST LAST LAST LAST LAST
#define LAST_15 LAST_5 LAST_5 LAST_5

Test(table_stats_collector, f25_a_shortened_greatest_text_is_rounded_up_or_there_are_no_bounds)
{
    expect_texts(16, (const char *const[]){"abcdefghijklmnopq", NULL}, "abcdefghijklmnop",
                 "abcdefghijklmnoq");
    expect_texts(16, (const char *const[]){"abcdefghijklmnop", NULL}, "abcdefghijklmnop",
                 "abcdefghijklmnop");
    expect_texts(16, (const char *const[]){"a" LAST_15 "b", NULL}, "a" LAST_15, "b");
    expect_texts(16, (const char *const[]){LAST_15 LAST LAST, NULL}, NULL, NULL);
}

Test(table_stats_collector, counts_have_no_bounds_and_nulls_no_value)
{
    bed b = begin("INT", (sinter__stats_mode){.kind = SINTER__STATS_COUNTS}, SINTER__STATS_OF_ORC);

    add(&b, null_value);
    add(&b, (sinter_datum){.as.integer = 7});
    finish(&b, true);
    cr_expect(bound(&b, b.result.stats.min_values, 0).is_null);
    cr_expect(bound(&b, b.result.stats.max_values, 0).is_null);
    cr_expect_eq(b.result.stats.null_counts.items[0], 1);
    close_bed(&b);
    b = begin("INT", (sinter__stats_mode){.kind = SINTER__STATS_FULL}, SINTER__STATS_OF_ORC);
    add(&b, null_value);
    finish(&b, true);
    cr_expect(bound(&b, b.result.stats.max_values, 0).is_null);
    close_bed(&b);
}

/* Columns of the types and modes: STRING full, BYTES full, ARRAY full, INT none. */
static bed
begin_mixed(sinter__stats_source source, sinter_type **array)
{
    bed b = {.count = 4};

    cr_assert_eq(sinter_type_create(sinter_env_default(), "ARRAY<INT>", array, NULL), SINTER_OK);
    cr_assert_eq(sinter_type_parse("STRING", &b.columns[0].type, NULL), SINTER_OK);
    cr_assert_eq(sinter_type_parse("BYTES", &b.columns[1].type, NULL), SINTER_OK);
    b.columns[2].type = **array;
    cr_assert_eq(sinter_type_parse("INT", &b.columns[3].type, NULL), SINTER_OK);
    for (size_t i = 0; i < 3; i++) {
        b.columns[i].mode.kind = SINTER__STATS_FULL;
    }
    open_bed(&b, source);
    cr_assert_eq(sinter__stats_collector_add(
                     b.collector,
                     (sinter_datum[]){text("x"), text("y"), null_value, {.as.integer = 1}}, NULL),
                 SINTER_OK);
    return b;
}

Test(table_stats_collector, columns_that_nothing_is_known_of_are_left_out_where_it_is_dense)
{
    sinter_type *array = NULL;
    bed b = begin_mixed(SINTER__STATS_OF_ORC, &array);

    finish(&b, true);
    cr_assert(b.result.has_columns);
    cr_assert_eq(b.result.columns.count, 3);
    cr_expect_eq(memcmp(b.result.columns.items[2].data, "c", 1), 0);
    cr_expect(!bound(&b, b.result.stats.min_values, 0).is_null);
    cr_expect(bound(&b, b.result.stats.min_values, 1).is_null, "binary values have no bounds");
    cr_expect(bound(&b, b.result.stats.min_values, 2).is_null);
    cr_expect_eq(b.result.stats.null_counts.items[1], 0);
    cr_expect_eq(b.result.stats.null_counts.items[2], 1);
    finish(&b, false);
    cr_expect(!b.result.has_columns);
    cr_assert_eq(b.result.stats.null_counts.count, 4);
    cr_expect_eq(b.result.stats.null_counts.items[3], SINTER__NULL_COUNT_UNKNOWN);
    close_bed(&b);
    sinter_type_destroy(array);
}

Test(table_stats_collector, parquet_tells_nothing_of_nested_columns)
{
    sinter_type *array = NULL;
    bed b = begin_mixed(SINTER__STATS_OF_PARQUET, &array);

    finish(&b, true);
    cr_expect_eq(b.result.columns.count, 2);
    close_bed(&b);
    sinter_type_destroy(array);
}

Test(table_stats_collector, without_any_statistics_the_names_are_empty_and_not_missing)
{
    bed b = begin("INT", (sinter__stats_mode){.kind = SINTER__STATS_NONE}, SINTER__STATS_OF_AVRO);

    add(&b, (sinter_datum){.as.integer = 1});
    finish(&b, true);
    cr_expect(b.result.has_columns);
    cr_expect_eq(b.result.columns.count, 0);
    cr_expect_eq(b.result.stats.has, SINTER__STATS_HAS_NULL_COUNTS);
    cr_expect_eq(b.result.stats.null_counts.count, 0);
    cr_assert_eq(b.result.stats.min_values.size, 12);
    cr_expect_eq(memcmp(b.result.stats.min_values.data, "\0\0\0\0\0\0\0\0\0\0\0\0", 12), 0);
    close_bed(&b);
}

Test(table_stats_collector, formats_tell_what_they_know)
{
    const sinter__stats_mode full = {.kind = SINTER__STATS_FULL};
    bed b = begin("TIMESTAMP(9)", full, SINTER__STATS_OF_PARQUET);

    add(&b, (sinter_datum){.as.integer = 1, .nanos = 1});
    finish(&b, true);
    cr_expect(bound(&b, b.result.stats.min_values, 0).is_null, "INT96 has no bounds");
    cr_expect_eq(b.result.stats.null_counts.items[0], 0);
    close_bed(&b);
    b = begin("CHAR(5)", full, SINTER__STATS_OF_ORC);
    add(&b, text("ab"));
    finish(&b, true);
    check_texts(&b, "ab   ", "ab   ");
    close_bed(&b);
    b = begin("CHAR(5)", full, SINTER__STATS_OF_PARQUET);
    add(&b, text("ab"));
    finish(&b, true);
    check_texts(&b, "ab", "ab");
    close_bed(&b);
}

static sinter_datum
number(double value)
{
    sinter_datum datum = {.is_null = false};

    memcpy(&datum.as.double_bits, &value, sizeof value);
    return datum;
}

static void
expect_doubles(sinter__stats_source source, const double *values, size_t count, const char *bounds)
{
    bed b = begin("DOUBLE", (sinter__stats_mode){.kind = SINTER__STATS_FULL}, source);
    sinter_text printed;

    for (size_t i = 0; i < count; i++) {
        add(&b, number(values[i]));
    }
    finish(&b, true);
    sinter_text_init(sinter_env_default(), &printed);
    for (int i = 0; i < 2; i++) {
        const sinter_datum value =
            bound(&b, i == 0 ? b.result.stats.min_values : b.result.stats.max_values, 0);

        cr_assert_eq(sinter_datum_print_text(&b.columns[0].type, &value, 0, &printed, NULL),
                     SINTER_OK);
        cr_assert_eq(sinter_text_append(&printed, i == 0 ? " " : "", i == 0 ? 1 : 0, NULL),
                     SINTER_OK);
    }
    cr_expect_str_eq(printed.data, bounds);
    sinter_text_fini(&printed);
    close_bed(&b);
}

enum { LONG_TEXT = 6000 };

/* A text of so many times a character, and one behind it; in `room`, which is large enough. */
static sinter_datum
long_text(char c, size_t size, const char *last, char *room)
{
    memset(room, c, size);
    (void)strcpy(room + size, last);
    return text(room);
}

/* -1: there is none. */
static int64_t
bound_bytes(const bed *b, bool is_min)
{
    const sinter_datum found =
        bound(b, is_min ? b->result.stats.min_values : b->result.stats.max_values, 0);

    return found.is_null ? -1 : (int64_t)found.as.bytes.size;
}

/* What Paimon 1.3.1 notes of files with such texts. */
Test(table_stats_collector, texts_that_are_too_long_for_a_footer_have_no_bounds)
{
    static const sinter__stats_mode full = {SINTER__STATS_FULL, 0};
    static const sinter__stats_mode cuts = {SINTER__STATS_TRUNCATE, 16};
    static const sinter__stats_mode counts = {SINTER__STATS_COUNTS, 0};
    static const struct {
        const char *type;
        sinter__stats_source source;
        const sinter__stats_mode *mode;
        char least;
        size_t least_bytes;
        char greatest;
        size_t greatest_bytes;
        const char *last; /* behind the greatest */
        int64_t min_bytes, max_bytes, nulls;
    } cases[] = {
        {"STRING", SINTER__STATS_OF_PARQUET, &full, 'a', 2047, 'b', 2048, "", 2047, 2048, 1},
        {"STRING", SINTER__STATS_OF_PARQUET, &full, 'a', 2048, 'b', 2048, "", -1, -1, -1},
        {"STRING", SINTER__STATS_OF_PARQUET, &cuts, 'a', 2047, 'b', 2048, "", 16, 16, 1},
        {"STRING", SINTER__STATS_OF_PARQUET, &cuts, 'a', 0, 'b', 4096, "", -1, -1, -1},
        {"STRING", SINTER__STATS_OF_PARQUET, &full, 'a', 5000, 'a', 5000, "b", -1, -1, -1},
        {"STRING", SINTER__STATS_OF_PARQUET, &counts, 'a', 2047, 'b', 2048, "", -1, -1, 1},
        {"STRING", SINTER__STATS_OF_PARQUET, &counts, 'a', 2048, 'b', 2048, "", -1, -1, -1},
        {"BYTES", SINTER__STATS_OF_PARQUET, &full, 'a', 2047, 'b', 2048, "", -1, -1, 1},
        {"BYTES", SINTER__STATS_OF_PARQUET, &full, 'a', 2048, 'b', 2048, "", -1, -1, -1},
        {"STRING", SINTER__STATS_OF_ORC, &full, 'a', 1024, 'b', 1025, "", 1024, -1, 1},
        {"STRING", SINTER__STATS_OF_ORC, &full, 'a', 1025, 'b', 1, "", -1, 1, 1},
        {"STRING", SINTER__STATS_OF_ORC, &cuts, 'a', 1024, 'b', 1025, "", -1, -1, 1},
        {"STRING", SINTER__STATS_OF_ORC, &cuts, 'a', 1025, 'b', 1, "", -1, 1, 1},
        {"STRING", SINTER__STATS_OF_ORC, &cuts, 'a', 1024, 'b', 1024, "", 16, 16, 1},
        {"STRING", SINTER__STATS_OF_ORC, &full, 'a', 1023, 'a', 1024, "b", 1023, -1, 1},
        {"STRING", SINTER__STATS_OF_AVRO, &full, 'a', 5000, 'a', 5000, "b", 5000, 5001, 1},
        {"STRING", SINTER__STATS_OF_AVRO, &cuts, 'a', 5000, 'a', 5000, "b", 16, 16, 1}};
    static char room[2][LONG_TEXT];

    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        const size_t at = i / 2;
        bed b = begin(cases[at].type, *cases[at].mode, cases[at].source);
        const sinter_datum least = long_text(cases[at].least, cases[at].least_bytes, "", room[0]);
        const sinter_datum greatest =
            long_text(cases[at].greatest, cases[at].greatest_bytes, cases[at].last, room[1]);

        add(&b, i % 2 == 0 ? least : greatest); /* in any order */
        add(&b, i % 2 == 0 ? greatest : least);
        add(&b, null_value);
        finish(&b, false);
        cr_expect_eq(bound_bytes(&b, true), cases[at].min_bytes, "case %zu", at);
        cr_expect_eq(bound_bytes(&b, false), cases[at].max_bytes, "case %zu", at);
        cr_expect_eq(b.result.stats.null_counts.items[0], cases[at].nulls, "case %zu", at);
        close_bed(&b);
    }
}

Test(table_stats_collector, a_file_that_may_hold_a_value_is_never_skipped_for_nan_or_zero)
{
    const double nan[] = {1, (double)__builtin_nan(""), -2};
    const double zeros[] = {0.0, -0.0};
    const double zero[] = {0.0};

    expect_doubles(SINTER__STATS_OF_AVRO, nan, 3, "-2 NaN");
    expect_doubles(SINTER__STATS_OF_PARQUET, nan, 3, "null null");
    expect_doubles(SINTER__STATS_OF_ORC, nan, 3, "null null");
    expect_doubles(SINTER__STATS_OF_AVRO, zeros, 2, "-0 0");
    expect_doubles(SINTER__STATS_OF_AVRO, zero, 1, "0 0");
    expect_doubles(SINTER__STATS_OF_PARQUET, zero, 1, "-0 0");
}

Test(table_stats_collector, bounds_of_any_texts_hold_all_of_them)
{
    enum { ROUNDS = 300, TEXTS = 6, CHARS = 5 };
    static const char *const chars[] = {"a", "b", "\u00ff", "\ud7ff", "\U0010ffff"};
    unsigned state = 7;

    for (int round = 0; round < ROUNDS; round++) {
        bed b =
            begin("STRING", (sinter__stats_mode){SINTER__STATS_TRUNCATE, 2}, SINTER__STATS_OF_AVRO);
        char texts[TEXTS][4 * CHARS + 1] = {""};
        sinter_datum max;

        for (int i = 0; i < TEXTS; i++) {
            state = state * 1103515245u + 12345u;
            for (unsigned c = 0; c < (state >> 16) % CHARS; c++) {
                (void)strcat(texts[i], chars[(state >> (c + 3)) % CHARS]);
            }
            add(&b, text(texts[i]));
        }
        finish(&b, true);
        max = bound(&b, b.result.stats.max_values, 0);
        for (int i = 0; i < TEXTS && !max.is_null; i++) {
            char least[16];
            char most[16];
            const sinter_bytes min = bound(&b, b.result.stats.min_values, 0).as.bytes;

            (void)snprintf(least, sizeof least, "%.*s", (int)min.size, (const char *)min.data);
            (void)snprintf(most, sizeof most, "%.*s", (int)max.as.bytes.size,
                           (const char *)max.as.bytes.data);
            cr_assert_leq(strcmp(least, texts[i]), 0, "%s", texts[i]);
            cr_assert_geq(strcmp(most, texts[i]), 0, "%s", texts[i]);
        }
        close_bed(&b);
    }
}

Test(table_stats_collector, every_allocation_may_fail)
{
    const sinter__stats_column columns[] = {
        {"a", {.id = SINTER_TYPE_CHAR, .precision = 5}, {SINTER__STATS_TRUNCATE, 2}},
        {"b", {.id = SINTER_TYPE_INT}, {SINTER__STATS_NONE, 0}}};
    const sinter_datum row[] = {text("ab"), {.as.integer = 1}};
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter__stats_choice choice = {(const size_t[]){0, 1}, 2, true};
        sinter__stats_collector *collector = NULL;
        sinter__stats_result result;
        sinter__arena arena;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        arena = (sinter__arena){.env = &fault.env};
        st = sinter__stats_collector_create(&fault.env, columns, 2, SINTER__STATS_OF_ORC,
                                            &collector, NULL);
        st = st == SINTER_OK ? sinter__stats_collector_add(collector, row, NULL) : st;
        st = st == SINTER_OK
                 ? sinter__stats_collector_finish(collector, &choice, &arena, &result, NULL)
                 : st;
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        sinter__stats_collector_destroy(collector);
        sinter__arena_fini(&arena);
        cr_assert_eq(fault.live, 0);
        cr_assert_lt(n, 100);
    }
}
