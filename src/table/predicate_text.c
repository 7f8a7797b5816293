/*
 * Predicates as people write them.
 *
 *   any     = all { "or" all }
 *   all     = one { "and" one }
 *   one     = "not" one | "(" any ")" | column test
 *   test    = ("=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=") value
 *           | "is" [ "not" ] "null"
 *           | [ "not" ] ( "in" "(" [ value { "," value } ] ")" | "between" value "and" value
 *                       | "starts" "with" value )
 */
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "doc/text.h"
#include "sinter/predicate.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_WORD, /* a column, a value, or a word of the language */
    TOKEN_NAME, /* in double quotes or backquotes: a column */
    TOKEN_TEXT, /* in single quotes: a value */
    TOKEN_SIGN  /* everything else */
} token_kind;

typedef struct token {
    token_kind kind;
    sinter_bytes text; /* without quotes */
    size_t position;   /* from 1 */
} token;

/* What is made lies in an arena behind the root, which callers see. */
typedef struct made_predicate {
    sinter_predicate root;
    sinter__arena arena;
} made_predicate;

typedef struct parser {
    sinter__arena *arena;
    const char *begin;
    const char *at;
    token token;
    sinter_bytes *values; /* of the comparison at hand */
    uint32_t depth;
} parser;

/* ---- tokens ---- */

static bool
is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '+' || c == '-' || ((unsigned char)c & 0x80) != 0;
}

static sinter_status
fail_here(const parser *p, const char *wanted, sinter_error *err)
{
    return p->token.kind == TOKEN_END
               ? SINTER__ERR(err, SINTER_E_INVALID, "at position %zu: %s expected, not the end",
                             p->token.position, wanted)
               : SINTER__ERR(err, SINTER_E_INVALID, "at position %zu: %s expected, not \"%.*s\"",
                             p->token.position, wanted,
                             (int)(p->token.text.size < 40 ? p->token.text.size : 40),
                             (const char *)p->token.text.data);
}

/* A text in quotes; two quotes in it are one. */
static sinter_status
read_quoted(parser *p, char quote, sinter_error *err)
{
    char *text = NULL;
    size_t size = 0;

    SINTER__CHECK(sinter__arena_take(p->arena, strlen(p->at) + 1, (void **)&text, err));
    for (p->at++; *p->at != '\0' && (*p->at != quote || p->at[1] == quote); p->at++) {
        p->at += *p->at == quote;
        text[size++] = *p->at;
    }
    if (*p->at == '\0') {
        return SINTER__ERR(err, SINTER_E_INVALID, "at position %zu: this quote has no end",
                           p->token.position);
    }
    p->at++;
    text[size] = '\0';
    p->token.text = (sinter_bytes){(const uint8_t *)text, size};
    return SINTER_OK;
}

static sinter_status
read_plain(parser *p, size_t size, sinter_error *err)
{
    const char *copy = NULL;
    char *text = NULL;

    SINTER__CHECK(sinter__arena_take(p->arena, size + 1, (void **)&text, err));
    memcpy(text, p->at, size);
    text[size] = '\0';
    copy = text;
    p->token.text = (sinter_bytes){(const uint8_t *)copy, size};
    p->at += size;
    return SINTER_OK;
}

static size_t
sign_size(const char *at)
{
    static const char *const doubles[] = {"==", "!=", "<>", "<=", ">="};

    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        if (strncmp(at, doubles[i], 2) == 0) {
            return 2;
        }
    }
    return 1;
}

static sinter_status
advance(parser *p, sinter_error *err)
{
    size_t size = 0;

    p->at += strspn(p->at, " \t\r\n");
    p->token = (token){.kind = TOKEN_END, .position = (size_t)(p->at - p->begin) + 1};
    if (*p->at == '\0') {
        return SINTER_OK;
    }
    if (*p->at == '\'' || *p->at == '"' || *p->at == '`') {
        p->token.kind = *p->at == '\'' ? TOKEN_TEXT : TOKEN_NAME;
        return read_quoted(p, *p->at, err);
    }
    while (is_word_byte(p->at[size])) {
        size++;
    }
    p->token.kind = size > 0 ? TOKEN_WORD : TOKEN_SIGN;
    return read_plain(p, size > 0 ? size : sign_size(p->at), err);
}

static bool
is_word(const parser *p, const char *word)
{
    const size_t size = strlen(word);

    if (p->token.kind != TOKEN_WORD || p->token.text.size != size) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if ((p->token.text.data[i] | 0x20) != word[i]) {
            return false;
        }
    }
    return true;
}

static bool
is_sign(const parser *p, const char *sign)
{
    return p->token.kind == TOKEN_SIGN && p->token.text.size == strlen(sign) &&
           memcmp(p->token.text.data, sign, p->token.text.size) == 0;
}

static sinter_status
expect_word(parser *p, const char *word, sinter_error *err)
{
    return is_word(p, word) ? advance(p, err) : fail_here(p, word, err);
}

static sinter_status
expect_sign(parser *p, const char *sign, sinter_error *err)
{
    return is_sign(p, sign) ? advance(p, err) : fail_here(p, sign, err);
}

/* ---- nodes ---- */

static sinter_status
new_node(parser *p, int32_t op, sinter_predicate **out, sinter_error *err)
{
    SINTER__CHECK(sinter__arena_take(p->arena, sizeof **out, (void **)out, err));
    **out = (sinter_predicate){.struct_size = (uint32_t)sizeof **out, .op = op};
    return SINTER_OK;
}

/* Make `inner` the only part of a NOT. */
static sinter_status
negate(parser *p, const sinter_predicate *inner, const sinter_predicate **out, sinter_error *err)
{
    const sinter_predicate **parts = NULL;
    sinter_predicate *node = NULL;

    SINTER__CHECK(new_node(p, SINTER_PREDICATE_NOT, &node, err));
    SINTER__CHECK(sinter__arena_take(p->arena, sizeof *parts, (void **)&parts, err));
    parts[0] = inner;
    node->parts = parts;
    node->part_count = 1;
    *out = node;
    return SINTER_OK;
}

/* Room for one more of `count` items, of which there is room for powers of 2. */
static sinter_status
grow(parser *p, void **items, size_t count, size_t item_bytes, sinter_error *err)
{
    void *more = NULL;

    if (count > 0 && (count & (count - 1)) != 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__arena_take(p->arena, (count == 0 ? 1 : 2 * count) * item_bytes, &more, err));
    if (count > 0) {
        memcpy(more, *items, count * item_bytes);
    }
    *items = more;
    return SINTER_OK;
}

static sinter_status
add_value(parser *p, sinter_predicate *node, sinter_error *err)
{
    if (p->token.kind != TOKEN_TEXT && p->token.kind != TOKEN_WORD) {
        return fail_here(p, "a value", err);
    }
    if (is_word(p, "null")) {
        return fail_here(p, "a value (\"is null\" asks for null)", err);
    }
    SINTER__CHECK(grow(p, (void **)&p->values, node->value_count, sizeof *p->values, err));
    p->values[node->value_count++] = p->token.text;
    node->values = p->values;
    return advance(p, err);
}

/* ---- the grammar ---- */

static sinter_status
parse_in(parser *p, sinter_predicate *node, sinter_error *err)
{
    node->op = SINTER_PREDICATE_IN;
    SINTER__CHECK(expect_sign(p, "(", err));
    while (!is_sign(p, ")")) {
        if (node->value_count > 0) {
            SINTER__CHECK(expect_sign(p, ",", err));
        }
        SINTER__CHECK(add_value(p, node, err));
    }
    return advance(p, err);
}

static sinter_status
parse_comparison(parser *p, sinter_predicate *node, sinter_error *err)
{
    static const struct {
        const char *sign;
        int32_t op;
    } signs[] = {{"=", SINTER_PREDICATE_EQUAL},      {"==", SINTER_PREDICATE_EQUAL},
                 {"!=", SINTER_PREDICATE_NOT_EQUAL}, {"<>", SINTER_PREDICATE_NOT_EQUAL},
                 {"<", SINTER_PREDICATE_LESS},       {"<=", SINTER_PREDICATE_LESS_EQUAL},
                 {">", SINTER_PREDICATE_GREATER},    {">=", SINTER_PREDICATE_GREATER_EQUAL}};

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (is_sign(p, signs[i].sign)) {
            node->op = signs[i].op;
            SINTER__CHECK(advance(p, err));
            return add_value(p, node, err);
        }
    }
    return fail_here(p, "a comparison", err);
}

/* What may have a "not" in front. */
static sinter_status
parse_set(parser *p, sinter_predicate *node, sinter_error *err)
{
    if (is_word(p, "in")) {
        SINTER__CHECK(advance(p, err));
        return parse_in(p, node, err);
    }
    if (is_word(p, "between")) {
        node->op = SINTER_PREDICATE_BETWEEN;
        SINTER__CHECK(advance(p, err));
        SINTER__CHECK(add_value(p, node, err));
        SINTER__CHECK(expect_word(p, "and", err));
        return add_value(p, node, err);
    }
    if (is_word(p, "starts")) {
        node->op = SINTER_PREDICATE_STARTS_WITH;
        SINTER__CHECK(advance(p, err));
        SINTER__CHECK(expect_word(p, "with", err));
        return add_value(p, node, err);
    }
    return fail_here(p, "in, between or starts with", err);
}

static sinter_status
parse_test(parser *p, const sinter_predicate **out, sinter_error *err)
{
    sinter_predicate *node = NULL;
    bool is_not = false;

    if (p->token.kind != TOKEN_WORD && p->token.kind != TOKEN_NAME) {
        return fail_here(p, "a column", err);
    }
    SINTER__CHECK(new_node(p, SINTER_PREDICATE_IS_NULL, &node, err));
    node->column = (const char *)p->token.text.data;
    SINTER__CHECK(advance(p, err));
    *out = node;
    if (is_word(p, "is")) {
        SINTER__CHECK(advance(p, err));
        if (is_word(p, "not")) {
            node->op = SINTER_PREDICATE_IS_NOT_NULL;
            SINTER__CHECK(advance(p, err));
        }
        return expect_word(p, "null", err);
    }
    is_not = is_word(p, "not");
    if (is_not) {
        SINTER__CHECK(advance(p, err));
    }
    if (!is_not && p->token.kind == TOKEN_SIGN) {
        return parse_comparison(p, node, err);
    }
    SINTER__CHECK(parse_set(p, node, err));
    return is_not ? negate(p, node, out, err) : SINTER_OK;
}

static sinter_status
parse_any(parser *p, const sinter_predicate **out, sinter_error *err);

static sinter_status
parse_one(parser *p, const sinter_predicate **out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (p->depth == SINTER_PREDICATE_DEPTH_MAX / 4) {
        return SINTER__ERR(err, SINTER_E_INVALID, "at position %zu: too many levels",
                           p->token.position);
    }
    p->depth++;
    if (is_word(p, "not")) {
        SINTER__TRY(advance(p, err));
        SINTER__TRY(parse_one(p, out, err));
        SINTER__TRY(negate(p, *out, out, err));
    } else if (is_sign(p, "(")) {
        SINTER__TRY(advance(p, err));
        SINTER__TRY(parse_any(p, out, err));
        SINTER__TRY(expect_sign(p, ")", err));
    } else {
        SINTER__TRY(parse_test(p, out, err));
    }
out:
    p->depth--;
    return st;
}

/* Parts with a word between them; one alone is itself. */
static sinter_status
parse_parts(parser *p, const char *word, const sinter_predicate **out, sinter_error *err)
{
    const bool is_or = word[0] == 'o';
    const sinter_predicate **parts = NULL;
    sinter_predicate *node = NULL;
    size_t count = 0;

    do {
        if (count > 0) {
            SINTER__CHECK(advance(p, err)); /* the word */
        }
        SINTER__CHECK(grow(p, (void **)&parts, count, sizeof(void *), err));
        SINTER__CHECK(is_or ? parse_parts(p, "and", &parts[count], err)
                            : parse_one(p, &parts[count], err));
        count++;
    } while (is_word(p, word));
    *out = parts[0];
    if (count > 1) {
        SINTER__CHECK(new_node(p, is_or ? SINTER_PREDICATE_OR : SINTER_PREDICATE_AND, &node, err));
        node->parts = parts;
        node->part_count = count;
        *out = node;
    }
    return SINTER_OK;
}

static sinter_status
parse_any(parser *p, const sinter_predicate **out, sinter_error *err)
{
    return parse_parts(p, "or", out, err);
}

/* ---- for callers ---- */

static sinter_status
make(const sinter_env *env, made_predicate **out, sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(env, *out, 1, err));
    (*out)->root.struct_size = (uint32_t)sizeof(*out)->root;
    (*out)->arena.env = env;
    return SINTER_OK;
}

void
sinter_predicate_destroy(sinter_predicate *predicate)
{
    if (predicate != NULL) {
        made_predicate *made = (made_predicate *)predicate;
        const sinter_env *env = made->arena.env;

        sinter__arena_fini(&made->arena);
        sinter__free(env, made);
    }
}

sinter_status
sinter_predicate_parse(const sinter_env *env, const char *text, sinter_predicate **out,
                       sinter_error *err)
{
    const sinter_predicate *root = NULL;
    made_predicate *made = NULL;
    parser p = {.begin = text, .at = text};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && text != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(make(env, &made, err));
    p.arena = &made->arena;
    SINTER__TRY(advance(&p, err));
    SINTER__TRY(parse_any(&p, &root, err));
    if (p.token.kind != TOKEN_END) {
        SINTER__TRY(fail_here(&p, "and, or, or the end", err));
    }
    made->root = *root;
    *out = &made->root;
    made = NULL;
out:
    sinter_predicate_destroy(made == NULL ? NULL : &made->root);
    return st;
}

static bool
is_partition_column(const sinter_schema *schema, const char *name)
{
    size_t i = 0;

    while (i < schema->partition_key_count && strcmp(schema->partition_keys[i], name) != 0) {
        i++;
    }
    return i < schema->partition_key_count;
}

/* One "column=value" of a list. */
static sinter_status
add_partition_column(parser *p, const sinter_schema *schema, const sinter_predicate **out,
                     sinter_error *err)
{
    const char *null_name = sinter_schema_option(schema, "partition.default-name");
    const size_t name_size = strcspn(p->at, "=,");
    sinter_predicate *node = NULL;

    if (p->at[name_size] != '=') {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.100s\" has no '=': column=value is expected",
                           p->at);
    }
    SINTER__CHECK(new_node(p, SINTER_PREDICATE_EQUAL, &node, err));
    SINTER__CHECK(read_plain(p, name_size, err));
    node->column = (const char *)p->token.text.data;
    if (!is_partition_column(schema, node->column)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "the table has no partition column \"%.100s\"",
                           node->column);
    }
    p->at++;
    SINTER__CHECK(read_plain(p, strcspn(p->at, ","), err));
    null_name = null_name == NULL ? "__DEFAULT_PARTITION__" : null_name;
    if (strcmp((const char *)p->token.text.data, null_name) == 0) {
        node->op = SINTER_PREDICATE_IS_NULL;
    } else {
        sinter_bytes *value = NULL;

        SINTER__CHECK(sinter__arena_take(p->arena, sizeof *value, (void **)&value, err));
        *value = p->token.text;
        node->values = value;
        node->value_count = 1;
    }
    *out = node;
    return SINTER_OK;
}

sinter_status
sinter_predicate_of_partition(const sinter_env *env, const sinter_schema *schema, const char *text,
                              sinter_predicate **out, sinter_error *err)
{
    const sinter_predicate **parts = NULL;
    made_predicate *made = NULL;
    parser p = {.begin = text, .at = text};
    size_t count = 0;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && schema != NULL && text != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(make(env, &made, err));
    p.arena = &made->arena;
    do {
        p.at += count > 0 ? 1 : 0; /* the comma */
        SINTER__TRY(grow(&p, (void **)&parts, count, sizeof(void *), err));
        SINTER__TRY(add_partition_column(&p, schema, &parts[count], err));
        count++;
    } while (*p.at == ',');
    made->root.op = SINTER_PREDICATE_AND;
    made->root.parts = parts;
    made->root.part_count = count;
    *out = &made->root;
    made = NULL;
out:
    sinter_predicate_destroy(made == NULL ? NULL : &made->root);
    return st;
}
