/*
 * Values of columns from JSON that jansson loaded.
 */
#ifndef SINTER_DOC_JSON_VALUE_H
#define SINTER_DOC_JSON_VALUE_H

#include "base/arena.h"
#include "doc/json_walk.h"

/**
 * What taking values needs. jansson holds the values of a text; where it would lose something of a
 * number (the digits of a DECIMAL, the last bit of a FLOAT, the sign of -0), the number's own text
 * is used, which a walk over the text finds. The walk only goes forward: values are taken in the
 * order of the text.
 */
typedef struct sinter__json_values {
    uint32_t flags;       /* SINTER_PRINT_HEX_STRINGS */
    bool numbers_quoted;  /* numbers came as strings, because one was out of range */
    sinter__arena *arena; /* gets nested values */
    sinter_text *scratch; /* gets the bytes of hex text, for which it must have room */
    size_t member;        /* which of the root object's members the value is */
    bool is_found;        /* the walk stands at the value */
    sinter__json_walk walk;
} sinter__json_values;

/**
 * Load a text of values. Where 64 bits can't hold a number of it, all numbers become strings.
 * @param quoted      gets the text with numbers in quotes, where that was needed
 * @param quoted_out  it was
 * @return            as sinter__json_load()
 */
sinter_status
sinter__json_load_values(const sinter__json_source *source, sinter_text *quoted, json_t **out,
                         bool *quoted_out, sinter_error *err);

/** Begin with a text. The members of its root are values; or, with `is_found` set, the root is. */
void
sinter__json_values_init(sinter__json_values *values, sinter_bytes text);

/**
 * Take a value. Strings point into it, hex bytes into the scratch, nested values into the arena.
 *
 * @param column  its type, and a name for errors; NULL: none
 * @param out     the value; null for null, whether the type takes it or not
 * @return        as sinter_datum_parse()
 */
sinter_status
sinter__json_value_take(sinter__json_values *values, const sinter_column *column, json_t *value,
                        sinter_datum *out, sinter_error *err);

/** Take a value of a nested type from a JSON text of its own. The value goes to the arena.
 *  @return as sinter_datum_parse() */
sinter_status
sinter__json_nested_parse(sinter__arena *arena, const sinter_column *column, sinter_bytes text,
                          uint32_t flags, sinter_datum *out, sinter_error *err);

#endif
