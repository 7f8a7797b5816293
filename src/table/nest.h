/*
 * Nested values made of their parts.
 *
 * A value of a ROW, ARRAY, MAP or MULTISET is written when all its parts are there. Parts that are
 * nested themselves come first, so each type of the tree collects the values that its parent waits
 * for, and the bytes of these stand in one text a type. The text moves while it grows: until a
 * value's parent is made, the value is told by its offset there.
 */
#ifndef SINTER_TABLE_NEST_H
#define SINTER_TABLE_NEST_H

#include "base/arena.h"
#include "sinter/type.h"

/** Types may be nested as deep. */
enum { SINTER__NEST_DEPTH_MAX = 32 };

/** A type, and the values of it that wait. Confined. */
typedef struct sinter__nest sinter__nest;
struct sinter__nest {
    sinter_type type;
    bool owns_bytes;     /* bytes of values stand in `text`; true for nested types, else the owner's
                            choice */
    sinter__nest *parts; /* of a nested type */
    size_t part_count;
    sinter_datum *values; /* that wait */
    size_t value_count;
    size_t value_capacity;
    sinter_datum *fields; /* of a ROW, side by side */
    sinter_text text;
};

/**
 * Prepare for a type and all in it.
 *
 * @param arena   takes the parts; must outlive `out`
 * @param type    its parts are borrowed
 * @param column  for errors
 * @param out     end with sinter__nest_fini(), after a failure too
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (a type whose parts aren't known
 * or that is too deep; the column is named)
 */
sinter_status
sinter__nest_init(sinter__arena *arena, const sinter_type *type, const char *column,
                  sinter__nest *out, sinter_error *err);

/** Takes one that is zeroed. */
void
sinter__nest_fini(sinter__nest *nest);

/** Begin a value: no values of its parts wait. */
void
sinter__nest_begin(sinter__nest *nest);

/** Add a value of a part. @param out  to be filled by the caller, before the next one is added */
sinter_status
sinter__nest_add(sinter__nest *part, sinter_datum **out, sinter_error *err);

/** Note that a value's bytes, whose size is set, begin at `begin` of its nest's text;
 *  sinter__nest_settle() makes them readable. */
void
sinter__nest_note(size_t begin, sinter_datum *out);

/**
 * End a value: its form is appended to the text, and noted. A ROW needs one value of each part, a
 * MAP as many keys as values.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE
 */
sinter_status
sinter__nest_end(sinter__nest *nest, sinter_datum *out, sinter_error *err);

/** Let a value whose bytes were noted point to them. They live until the text is reset. */
void
sinter__nest_settle(const sinter__nest *nest, sinter_datum *value);

#endif
