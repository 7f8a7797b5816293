/*
 * Nested values as JSON: arrays; pairs sorted by the bytes of the key's JSON; objects. Printing
 * calls itself for the parts of a value; how deep is counted and limited.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "doc/nested.h"
#include "doc/text.h"

/* What printing needs beside the value. */
typedef struct nested_print {
    uint32_t flags;
    size_t depth;
    sinter_text *out;
    sinter_error *err;
} nested_print;

static sinter_status
print_nested(nested_print *print, const sinter_type *type, sinter_bytes value);

static sinter_status
print_part(nested_print *print, const sinter_type *type, const sinter_datum *datum)
{
    return datum->is_null || !sinter_type_is_nested(type)
               ? sinter_datum_print_json(type, datum, print->flags, print->out, print->err)
               : print_nested(print, type, datum->as.bytes);
}

static sinter_status
print_element(nested_print *print, const sinter_array *array, size_t index)
{
    sinter_datum datum;

    SINTER__CHECK(sinter_array_get(array, index, &datum, print->err));
    return print_part(print, array->element, &datum);
}

static sinter_status
print_array(nested_print *print, const sinter_type *type, sinter_bytes value)
{
    sinter_array array;

    SINTER__CHECK(sinter_array_open(type, value, &array, print->err));
    for (size_t i = 0; i < array.count; i++) {
        SINTER__CHECK(sinter__text_puts(print->out, i == 0 ? "[" : ",", print->err));
        SINTER__CHECK(print_element(print, &array, i));
    }
    return sinter__text_puts(print->out, array.count == 0 ? "[]" : "]", print->err);
}

static sinter_status
print_row(nested_print *print, const sinter_type *type, sinter_bytes value)
{
    for (size_t i = 0; i < type->parts->count; i++) {
        const sinter_field *field = &type->parts->fields[i];
        const sinter_bytes name = {.data = (const uint8_t *)field->name,
                                   .size = strlen(field->name)};
        sinter_datum datum;

        SINTER__CHECK(sinter_nested_row_get(type, value, i, &datum, print->err));
        SINTER__CHECK(sinter__text_puts(print->out, i == 0 ? "{" : ",", print->err));
        SINTER__CHECK(sinter__json_string_print(name, print->out, print->err));
        SINTER__CHECK(sinter__text_puts(print->out, ":", print->err));
        SINTER__CHECK(print_part(print, &field->type, &datum));
    }
    return sinter__text_puts(print->out, type->parts->count == 0 ? "{}" : "}", print->err);
}

/* A stretch of printed text that is sorted by its beginning. */
typedef struct printed {
    size_t begin;
    size_t key_size;
    size_t size;
    const char *text; /* where it stands when all are printed */
} printed;

static int
compare_printed(const void *a, const void *b)
{
    const printed *x = a;
    const printed *y = b;
    const size_t shorter = x->key_size < y->key_size ? x->key_size : y->key_size;
    const int order = memcmp(x->text, y->text, shorter);

    if (order != 0) {
        return order;
    }
    if (x->key_size != y->key_size) {
        return x->key_size < y->key_size ? -1 : 1;
    }
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Sort what was printed; `text` is where it begins. */
static void
sort_printed(printed *items, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        items[i].text = text + (items[i].begin - items[0].begin);
    }
    qsort(items, count, sizeof *items, compare_printed);
}

/* Put the pairs that were printed last in order. */
static sinter_status
order_pairs(const nested_print *print, printed *pairs, size_t count)
{
    const size_t begin = pairs[0].begin;
    const size_t size = print->out->size - begin;
    char *copy = NULL;
    size_t at = begin;

    SINTER__CHECK(sinter__alloc(print->out->env, size, 1, (void **)&copy, print->err));
    memcpy(copy, print->out->data + begin, size);
    sort_printed(pairs, count, copy);
    for (size_t i = 0; i < count; i++) {
        memcpy(print->out->data + at, pairs[i].text, pairs[i].size);
        at += pairs[i].size;
        if (i + 1 < count) {
            print->out->data[at++] = ',';
        }
    }
    assert(at == print->out->size);
    sinter__free(print->out->env, copy);
    return SINTER_OK;
}

/* Print `[key,value]`, and a comma in front of all but the first. */
static sinter_status
print_pair(nested_print *print, const sinter_array *keys, const sinter_array *values, size_t index,
           printed *out)
{
    SINTER__CHECK(sinter__text_puts(print->out, index == 0 ? "" : ",", print->err));
    out->begin = print->out->size;
    SINTER__CHECK(sinter__text_puts(print->out, "[", print->err));
    SINTER__CHECK(print_element(print, keys, index));
    out->key_size = print->out->size - out->begin;
    SINTER__CHECK(sinter__text_puts(print->out, ",", print->err));
    SINTER__CHECK(print_element(print, values, index));
    SINTER__CHECK(sinter__text_puts(print->out, "]", print->err));
    out->size = print->out->size - out->begin;
    return SINTER_OK;
}

static sinter_status
print_map(nested_print *print, const sinter_type *type, sinter_bytes value)
{
    sinter_array keys;
    sinter_array values;
    printed *pairs = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter_map_open(type, value, &keys, &values, print->err));
    SINTER__TRY(SINTER__NEW(print->out->env, pairs, keys.count, print->err));
    SINTER__TRY(sinter__text_puts(print->out, "[", print->err));
    for (size_t i = 0; i < keys.count; i++) {
        SINTER__TRY(print_pair(print, &keys, &values, i, &pairs[i]));
    }
    if (keys.count > 1) {
        SINTER__TRY(order_pairs(print, pairs, keys.count));
    }
    SINTER__TRY(sinter__text_puts(print->out, "]", print->err));
out:
    sinter__free(print->out->env, pairs);
    return st;
}

static sinter_status
print_nested(nested_print *print, const sinter_type *type, sinter_bytes value)
{
    sinter_status st = SINTER_OK;

    if (print->depth == SINTER_TYPE_DEPTH_MAX) {
        return SINTER__ERR(print->err, SINTER_E_INVALID, "a type nested deeper than %d",
                           SINTER_TYPE_DEPTH_MAX);
    }
    if (type->parts == NULL) {
        return SINTER__ERR(print->err, SINTER_E_UNSUPPORTED, "type %s lacks its parts",
                           sinter_type_name(type->id));
    }
    print->depth++;
    switch (type->id) {
    case SINTER_TYPE_ARRAY:
        st = print_array(print, type, value);
        break;
    case SINTER_TYPE_ROW:
        st = print_row(print, type, value);
        break;
    default:
        st = print_map(print, type, value);
        break;
    }
    print->depth--;
    return st;
}

sinter_status
sinter__nested_print(const sinter_type *type, sinter_bytes value, uint32_t flags, sinter_text *out,
                     sinter_error *err)
{
    nested_print print = {.flags = flags, .out = out, .err = err};

    return print_nested(&print, type, value);
}

/* Print the keys one behind another into `text`. */
static sinter_status
print_keys(const sinter_type *type, const sinter_datum *keys, printed *items, size_t count,
           sinter_text *text, sinter_error *err)
{
    for (size_t i = 0; i < count; i++) {
        items[i].begin = text->size;
        SINTER__CHECK(sinter_datum_print_json(type, &keys[i], SINTER_PRINT_HEX_STRINGS, text, err));
        items[i].key_size = text->size - items[i].begin;
    }
    return SINTER_OK;
}

sinter_status
sinter__keys_check_unique(const sinter_env *env, const sinter_type *type, const sinter_datum *keys,
                          size_t count, sinter_error *err)
{
    printed *items = NULL;
    sinter_text text;
    sinter_status st = SINTER_OK;

    if (count < 2) {
        return SINTER_OK;
    }
    sinter_text_init(env, &text);
    SINTER__TRY(SINTER__NEW(env, items, count, err));
    SINTER__TRY(print_keys(type, keys, items, count, &text, err));
    sort_printed(items, count, text.data);
    for (size_t i = 1; i < count; i++) {
        if (items[i - 1].key_size == items[i].key_size &&
            memcmp(items[i - 1].text, items[i].text, items[i].key_size) == 0) {
            SINTER__FAIL(err, SINTER_E_INVALID, "the key %.*s comes twice",
                         (int)(items[i].key_size < 60 ? items[i].key_size : 60), items[i].text);
        }
    }
out:
    sinter__free(env, items);
    sinter_text_fini(&text);
    return st;
}
