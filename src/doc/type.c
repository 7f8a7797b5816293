/*
 * Type texts as Paimon's schema files have them.
 *
 *     type      = name [ "(" number [ "," number ] ")" ] { word } [ "NOT" "NULL" | "NULL" ]
 *     nested    = ("ARRAY" | "MAP" | "MULTISET" | "ROW") "<" anything balanced ">" ...
 */
#include "doc/type.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

enum { WORD_MAX = 16, DEFAULT_DECIMAL_PRECISION = 10, DEFAULT_TIMESTAMP_PRECISION = 6 };

/* What a name at the front of a type text means. */
typedef struct type_name {
    const char *name;
    int32_t id;
    uint32_t parameters; /* how many may follow in brackets */
    uint32_t precision;  /* without brackets */
} type_name;

static const type_name names[] = {
    {"BOOLEAN", SINTER_TYPE_BOOLEAN, 0, 0},
    {"TINYINT", SINTER_TYPE_TINYINT, 0, 0},
    {"SMALLINT", SINTER_TYPE_SMALLINT, 0, 0},
    {"INT", SINTER_TYPE_INT, 0, 0},
    {"INTEGER", SINTER_TYPE_INT, 0, 0},
    {"BIGINT", SINTER_TYPE_BIGINT, 0, 0},
    {"FLOAT", SINTER_TYPE_FLOAT, 0, 0},
    {"DOUBLE", SINTER_TYPE_DOUBLE, 0, 0},
    {"DECIMAL", SINTER_TYPE_DECIMAL, 2, DEFAULT_DECIMAL_PRECISION},
    {"NUMERIC", SINTER_TYPE_DECIMAL, 2, DEFAULT_DECIMAL_PRECISION},
    {"DEC", SINTER_TYPE_DECIMAL, 2, DEFAULT_DECIMAL_PRECISION},
    {"DATE", SINTER_TYPE_DATE, 0, 0},
    {"TIME", SINTER_TYPE_TIME, 1, 0},
    {"TIMESTAMP", SINTER_TYPE_TIMESTAMP, 1, DEFAULT_TIMESTAMP_PRECISION},
    {"TIMESTAMP_LTZ", SINTER_TYPE_TIMESTAMP_LTZ, 1, DEFAULT_TIMESTAMP_PRECISION},
    {"CHAR", SINTER_TYPE_CHAR, 1, 1},
    {"VARCHAR", SINTER_TYPE_VARCHAR, 1, 1},
    {"STRING", SINTER_TYPE_VARCHAR, 0, SINTER_TYPE_LENGTH_MAX},
    {"BINARY", SINTER_TYPE_BINARY, 1, 1},
    {"VARBINARY", SINTER_TYPE_VARBINARY, 1, 1},
    {"BYTES", SINTER_TYPE_VARBINARY, 0, SINTER_TYPE_LENGTH_MAX},
    {"ARRAY", SINTER_TYPE_ARRAY, 0, 0},
    {"MAP", SINTER_TYPE_MAP, 0, 0},
    {"MULTISET", SINTER_TYPE_MULTISET, 0, 0},
    {"ROW", SINTER_TYPE_ROW, 0, 0},
    {"VARIANT", SINTER_TYPE_VARIANT, 0, 0},
    {"BLOB", SINTER_TYPE_BLOB, 0, 0},
};

/* Where the parser stands. */
typedef struct type_scan {
    const char *text;
    size_t at;
    sinter_error *err;
} type_scan;

static sinter_status
refuse(const type_scan *scan, const char *what)
{
    return SINTER__ERR(scan->err, SINTER_E_INVALID, "type \"%.80s\", character %zu: %s", scan->text,
                       scan->at + 1, what);
}

static void
skip_blanks(type_scan *scan)
{
    while (scan->text[scan->at] == ' ' || scan->text[scan->at] == '\t' ||
           scan->text[scan->at] == '\n') {
        scan->at++;
    }
}

static bool
is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Take the next word, upper-cased; "" if there is none or it is too long to be known. */
static void
take_word(type_scan *scan, char word[WORD_MAX])
{
    size_t size = 0;

    skip_blanks(scan);
    while (is_letter(scan->text[scan->at + size])) {
        size++;
    }
    word[0] = '\0';
    if (size >= WORD_MAX) {
        return;
    }
    for (size_t i = 0; i < size; i++) {
        const char c = scan->text[scan->at + i];

        word[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    word[size] = '\0';
    scan->at += size;
}

/* Take `expected` words, or none of them. */
static bool
take_words(type_scan *scan, const char *const *expected, size_t count)
{
    const size_t before = scan->at;
    char word[WORD_MAX];

    for (size_t i = 0; i < count; i++) {
        take_word(scan, word);
        if (strcmp(word, expected[i]) != 0) {
            scan->at = before;
            return false;
        }
    }
    return true;
}

static bool
take_byte(type_scan *scan, char byte)
{
    skip_blanks(scan);
    if (scan->text[scan->at] != byte) {
        return false;
    }
    scan->at++;
    return true;
}

static sinter_status
take_number(type_scan *scan, uint32_t *out)
{
    uint64_t value = 0;
    size_t digits = 0;

    skip_blanks(scan);
    while (scan->text[scan->at] >= '0' && scan->text[scan->at] <= '9') {
        value = value * 10 + (uint64_t)(scan->text[scan->at] - '0');
        if (value > SINTER_TYPE_LENGTH_MAX) {
            return refuse(scan, "the number is too large");
        }
        scan->at++;
        digits++;
    }
    if (digits == 0) {
        return refuse(scan, "a number is missing");
    }
    *out = (uint32_t)value;
    return SINTER_OK;
}

static sinter_status
take_parameters(type_scan *scan, const type_name *name, sinter_type *out)
{
    if (name->parameters == 0 || !take_byte(scan, '(')) {
        return SINTER_OK;
    }
    SINTER__CHECK(take_number(scan, &out->precision));
    if (name->parameters == 2 && take_byte(scan, ',')) {
        SINTER__CHECK(take_number(scan, &out->scale));
    }
    if (!take_byte(scan, ')')) {
        return refuse(scan, "\")\" is missing");
    }
    return SINTER_OK;
}

static sinter_status
check_parameters(const type_scan *scan, const sinter_type *type)
{
    switch (type->id) {
    case SINTER_TYPE_DECIMAL:
        if (type->precision < 1 || type->precision > 38) {
            return refuse(scan, "DECIMAL has 1 to 38 digits");
        }
        return type->scale <= type->precision
                   ? SINTER_OK
                   : refuse(scan, "DECIMAL has more decimals than digits");
    case SINTER_TYPE_TIME:
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return type->precision <= 9 ? SINTER_OK : refuse(scan, "a second has at most 9 decimals");
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
    case SINTER_TYPE_BINARY:
    case SINTER_TYPE_VARBINARY:
        return type->precision >= 1 ? SINTER_OK : refuse(scan, "the length is at least 1");
    default:
        return SINTER_OK;
    }
}

/* What stands in the brackets of a nested type is its own affair; they only have to match. */
static sinter_status
skip_nested(type_scan *scan)
{
    size_t depth = 0;

    if (!take_byte(scan, '<')) {
        return SINTER_OK;
    }
    for (depth = 1; depth > 0; scan->at++) {
        const char c = scan->text[scan->at];

        if (c == '\0') {
            return refuse(scan, "\">\" is missing");
        }
        depth += c == '<' ? 1u : 0u;
        depth -= c == '>' ? 1u : 0u;
    }
    return SINTER_OK;
}

/* Words that belong to some names only. */
static void
take_tail(type_scan *scan, sinter_type *out)
{
    static const char *const precision[] = {"PRECISION"};
    static const char *const without[] = {"WITHOUT", "TIME", "ZONE"};
    static const char *const local[] = {"WITH", "LOCAL", "TIME", "ZONE"};

    if (out->id == SINTER_TYPE_DOUBLE) {
        (void)take_words(scan, precision, 1);
    } else if (out->id == SINTER_TYPE_TIMESTAMP && take_words(scan, local, 4)) {
        out->id = SINTER_TYPE_TIMESTAMP_LTZ;
    } else if (out->id == SINTER_TYPE_TIME || out->id == SINTER_TYPE_TIMESTAMP) {
        (void)take_words(scan, without, 3);
    }
}

static const type_name *
find_name(const char *word)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].name, word) == 0) {
            return &names[i];
        }
    }
    return NULL;
}

sinter_status
sinter_type_parse(const char *text, sinter_type *out, sinter_error *err)
{
    static const char *const not_null[] = {"NOT", "NULL"};
    static const char *const null[] = {"NULL"};
    type_scan scan = {.text = text, .err = err};
    char word[WORD_MAX];
    sinter_type type = {.nullable = true};
    const type_name *name = NULL;
    size_t begin = 0;

    SINTER__REQUIRE(err, text != NULL);
    SINTER__REQUIRE(err, out != NULL);
    skip_blanks(&scan);
    begin = scan.at;
    take_word(&scan, word);
    name = find_name(word);
    if (name == NULL) {
        scan.at = begin;
        return refuse(&scan, "no type has this name");
    }
    type.id = name->id;
    type.precision = name->precision;
    SINTER__CHECK(take_parameters(&scan, name, &type));
    SINTER__CHECK(check_parameters(&scan, &type));
    if (sinter_type_is_nested(&type)) {
        SINTER__CHECK(skip_nested(&scan));
    }
    take_tail(&scan, &type);
    if (take_words(&scan, not_null, 2)) {
        type.nullable = false;
    } else {
        (void)take_words(&scan, null, 1);
    }
    skip_blanks(&scan);
    if (scan.text[scan.at] != '\0') {
        return refuse(&scan, "what stands here belongs to no type");
    }
    *out = type;
    return SINTER_OK;
}

const char *
sinter_type_name(int32_t id)
{
    switch (id) {
#define TYPE_NAME(name, text) \
    case SINTER_TYPE_##name:  \
        return text;
        SINTER_TYPE_MAP(TYPE_NAME)
#undef TYPE_NAME
    default:
        return "unknown";
    }
}

bool
sinter_type_is_nested(const sinter_type *type)
{
    return type->id >= SINTER_TYPE_ARRAY;
}

static int
print_base(const sinter_type *type, char out[SINTER_TYPE_TEXT_MAX])
{
    const bool unlimited = type->precision == SINTER_TYPE_LENGTH_MAX;

    switch (type->id) {
    case SINTER_TYPE_DECIMAL:
        return snprintf(out, SINTER_TYPE_TEXT_MAX, "DECIMAL(%u, %u)", type->precision, type->scale);
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return snprintf(out, SINTER_TYPE_TEXT_MAX, "TIMESTAMP(%u) WITH LOCAL TIME ZONE",
                        type->precision);
    case SINTER_TYPE_VARCHAR:
    case SINTER_TYPE_VARBINARY:
        if (unlimited) {
            return snprintf(out, SINTER_TYPE_TEXT_MAX, "%s",
                            type->id == SINTER_TYPE_VARCHAR ? "STRING" : "BYTES");
        }
        break;
    case SINTER_TYPE_TIME:
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_BINARY:
        break;
    default:
        return snprintf(out, SINTER_TYPE_TEXT_MAX, "%s", sinter_type_name(type->id));
    }
    return snprintf(out, SINTER_TYPE_TEXT_MAX, "%s(%u)", sinter_type_name(type->id),
                    type->precision);
}

void
sinter_type_print(const sinter_type *type, char out[SINTER_TYPE_TEXT_MAX])
{
    const int length = print_base(type, out);

    assert(length > 0);
    assert((size_t)length + sizeof " NOT NULL" <= SINTER_TYPE_TEXT_MAX);
    if (!type->nullable) {
        memcpy(out + length, " NOT NULL", sizeof " NOT NULL");
    }
}

bool
sinter__type_is_compact(const sinter_type *type)
{
    switch (type->id) {
    case SINTER_TYPE_DECIMAL:
        return type->precision <= 18;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return type->precision <= 3;
    default:
        return true;
    }
}

bool
sinter__type_is_bytes(const sinter_type *type)
{
    return type->id >= SINTER_TYPE_CHAR && type->id <= SINTER_TYPE_VARBINARY;
}
