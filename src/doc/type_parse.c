/*
 * Type texts as Paimon's schema files and SQL have them.
 *
 *     type   = name [ "(" number [ "," number ] ")" ] [ parts ] { word } [ "NOT" "NULL" | "NULL" ]
 *     parts  = "<" type ">"                         ARRAY, MULTISET
 *            | "<" type "," type ">"                MAP
 *            | "<" [ field { "," field } ] ">"      ROW; round brackets are taken too
 *     field  = field name, plain or `quoted`, type [ [ "COMMENT" ] 'text' ]
 *
 * The parser calls itself for each part; how deep is counted and limited.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "doc/type_parts.h"

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
    size_t depth;         /* nested types around this one */
    sinter__arena *arena; /* gets the parts; NULL: they are checked and forgotten */
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

static sinter_status
take_type(type_scan *scan, sinter_type *out);

/* Parts of a type, collected before they are copied to the arena. */
typedef struct part_list {
    const sinter_env *env;
    sinter_field *fields;
    size_t count;
    size_t capacity;
} part_list;

static sinter_status
add_part(part_list *list, const sinter_field *part, sinter_error *err)
{
    if (list->count == list->capacity) {
        const size_t wanted = list->capacity == 0 ? 4 : list->capacity * 2;

        SINTER__CHECK(
            sinter__resize(list->env, (void **)&list->fields, wanted, sizeof *list->fields, err));
        list->capacity = wanted;
    }
    list->fields[list->count++] = *part;
    return SINTER_OK;
}

/* Put a part into the list, where there is an arena that keeps it. */
static sinter_status
keep_part(const type_scan *scan, part_list *list, const sinter_field *part)
{
    return scan->arena == NULL ? SINTER_OK : add_part(list, part, scan->err);
}

static bool
is_plain(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '$' || ((unsigned char)c & 0x80u) != 0;
}

/* Copy `size` bytes at `from`, in which a quote stands twice for itself. */
static sinter_status
copy_quoted(const type_scan *scan, size_t from, size_t size, const char **out)
{
    const char quote = scan->text[from - 1];
    char *copy = NULL;
    size_t used = 0;

    *out = "";
    if (scan->arena == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(scan->arena, size + 1, (void **)&copy, scan->err));
    for (size_t i = 0; i < size; i++) {
        copy[used++] = scan->text[from + i];
        i += scan->text[from + i] == quote ? 1u : 0u;
    }
    copy[used] = '\0';
    *out = copy;
    return SINTER_OK;
}

/* Take a text between quotes; `*out` NULL when none stands here. */
static sinter_status
take_quoted(type_scan *scan, char quote, const char **out)
{
    size_t begin = 0;

    *out = NULL;
    if (!take_byte(scan, quote)) {
        return SINTER_OK;
    }
    begin = scan->at;
    for (;; scan->at++) {
        if (scan->text[scan->at] == '\0') {
            return refuse(scan, "the closing quote is missing");
        }
        if (scan->text[scan->at] == quote) {
            scan->at++;
            if (scan->text[scan->at] != quote) {
                break;
            }
        }
    }
    return copy_quoted(scan, begin, scan->at - 1 - begin, out);
}

static sinter_status
take_field_name(type_scan *scan, const char **out)
{
    size_t begin = 0;

    SINTER__CHECK(take_quoted(scan, '`', out));
    if (*out != NULL) {
        return SINTER_OK;
    }
    skip_blanks(scan);
    begin = scan->at;
    while (is_plain(scan->text[scan->at])) {
        scan->at++;
    }
    if (scan->at == begin) {
        return refuse(scan, "the name of a field is missing");
    }
    *out = "";
    if (scan->arena != NULL) {
        char *copy = NULL;

        SINTER__CHECK(
            sinter__arena_take(scan->arena, scan->at - begin + 1, (void **)&copy, scan->err));
        memcpy(copy, scan->text + begin, scan->at - begin);
        copy[scan->at - begin] = '\0';
        *out = copy;
    }
    return SINTER_OK;
}

static sinter_status
take_field(type_scan *scan, part_list *list)
{
    static const char *const comment[] = {"COMMENT"};
    sinter_field field = {.id = -1};

    SINTER__CHECK(take_field_name(scan, &field.name));
    SINTER__CHECK(take_type(scan, &field.type));
    if (take_words(scan, comment, 1) && (skip_blanks(scan), scan->text[scan->at] != '\'')) {
        return refuse(scan, "a text in quotes is missing");
    }
    SINTER__CHECK(take_quoted(scan, '\'', &field.description));
    return keep_part(scan, list, &field);
}

static sinter_status
take_fields(type_scan *scan, char close, part_list *list)
{
    if (take_byte(scan, close)) {
        return SINTER_OK;
    }
    do {
        SINTER__CHECK(take_field(scan, list));
    } while (take_byte(scan, ','));
    return take_byte(scan, close)
               ? SINTER_OK
               : refuse(scan, close == '>' ? "\">\" is missing" : "\")\" is missing");
}

static sinter_status
take_part(type_scan *scan, const char *name, part_list *list)
{
    sinter_field part = {.name = name, .id = -1};

    SINTER__CHECK(take_type(scan, &part.type));
    return keep_part(scan, list, &part);
}

/* The parts of ARRAY, MAP and MULTISET behind "<". */
static sinter_status
take_elements(type_scan *scan, int32_t id, part_list *list)
{
    const sinter_field count = sinter__type_count_part();

    SINTER__CHECK(take_part(scan, id == SINTER_TYPE_MAP ? "key" : "element", list));
    if (id == SINTER_TYPE_MAP) {
        if (!take_byte(scan, ',')) {
            return refuse(scan, "\",\" is missing");
        }
        SINTER__CHECK(take_part(scan, "value", list));
    } else if (id == SINTER_TYPE_MULTISET) {
        SINTER__CHECK(keep_part(scan, list, &count));
    }
    return take_byte(scan, '>') ? SINTER_OK : refuse(scan, "\">\" is missing");
}

/* Take what stands in brackets behind the name of a nested type; without brackets only the kind is
 * known. */
static sinter_status
take_parts(type_scan *scan, sinter_type *out)
{
    part_list list = {.env = scan->arena == NULL ? NULL : scan->arena->env};
    const bool is_round = out->id == SINTER_TYPE_ROW && take_byte(scan, '(');
    sinter_status st = SINTER_OK;

    if (!is_round && !take_byte(scan, '<')) {
        return SINTER_OK;
    }
    if (scan->depth == SINTER_TYPE_DEPTH_MAX) {
        return refuse(scan, "nested deeper than 32");
    }
    scan->depth++;
    SINTER__TRY(out->id == SINTER_TYPE_ROW ? take_fields(scan, is_round ? ')' : '>', &list)
                                           : take_elements(scan, out->id, &list));
    scan->depth--;
    if (scan->arena != NULL) {
        SINTER__TRY(sinter__type_keep_parts(scan->arena, list.fields, list.count, out, scan->err));
    }
out:
    if (list.env != NULL) {
        sinter__free(list.env, list.fields);
    }
    return st;
}

/* Take a type up to where it ends. */
static sinter_status
take_type(type_scan *scan, sinter_type *out)
{
    static const char *const not_null[] = {"NOT", "NULL"};
    static const char *const null[] = {"NULL"};
    char word[WORD_MAX];
    const type_name *name = NULL;
    size_t begin = 0;

    skip_blanks(scan);
    begin = scan->at;
    take_word(scan, word);
    name = find_name(word);
    if (name == NULL) {
        scan->at = begin;
        return refuse(scan, "no type has this name");
    }
    *out = (sinter_type){.id = name->id, .nullable = true, .precision = name->precision};
    SINTER__CHECK(take_parameters(scan, name, out));
    SINTER__CHECK(check_parameters(scan, out));
    if (sinter_type_is_nested(out)) {
        SINTER__CHECK(take_parts(scan, out));
    }
    take_tail(scan, out);
    if (take_words(scan, not_null, 2)) {
        out->nullable = false;
    } else {
        (void)take_words(scan, null, 1);
    }
    return SINTER_OK;
}

sinter_status
sinter__type_from_text(sinter__arena *arena, const char *text, size_t depth, sinter_type *out,
                       sinter_error *err)
{
    type_scan scan = {.text = text, .depth = depth, .arena = arena, .err = err};
    sinter_type type;

    SINTER__CHECK(take_type(&scan, &type));
    skip_blanks(&scan);
    if (scan.text[scan.at] != '\0') {
        return refuse(&scan, "what stands here belongs to no type");
    }
    *out = type;
    return SINTER_OK;
}

sinter_status
sinter_type_parse(const char *text, sinter_type *out, sinter_error *err)
{
    SINTER__REQUIRE(err, text != NULL);
    SINTER__REQUIRE(err, out != NULL);
    return sinter__type_from_text(NULL, text, 0, out, err);
}
