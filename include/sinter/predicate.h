/*
 * Predicates: which rows of a table are wanted. A small tree that a caller fills, or that is made
 * of an expression as people write it:
 *
 *   dt = '2024-01-01' and (price between 5 and 9.5 or not name starts with 'x')
 */
#ifndef SINTER_PREDICATE_H
#define SINTER_PREDICATE_H

#include "sinter/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a predicate says. Nulls are as in SQL: a comparison with a null neither holds nor does its
 *  opposite. */
typedef enum sinter_predicate_op {
    SINTER_PREDICATE_AND = 0, /* of its arguments; none: holds */
    SINTER_PREDICATE_OR = 1,  /* none: doesn't hold */
    SINTER_PREDICATE_NOT = 2, /* one argument */
    SINTER_PREDICATE_EQUAL = 3,
    SINTER_PREDICATE_NOT_EQUAL = 4,
    SINTER_PREDICATE_LESS = 5,
    SINTER_PREDICATE_LESS_EQUAL = 6,
    SINTER_PREDICATE_GREATER = 7,
    SINTER_PREDICATE_GREATER_EQUAL = 8,
    SINTER_PREDICATE_BETWEEN = 9, /* two values, both inclusive */
    SINTER_PREDICATE_IN = 10,     /* any number of values */
    SINTER_PREDICATE_IS_NULL = 11,
    SINTER_PREDICATE_IS_NOT_NULL = 12,
    SINTER_PREDICATE_STARTS_WITH = 13 /* CHAR and VARCHAR */
} sinter_predicate_op;

/** Predicates in predicates at most. */
#define SINTER_PREDICATE_DEPTH_MAX 64

typedef struct sinter_predicate sinter_predicate;

/**
 * A predicate. Filled by a caller, who zeroes it first, or by sinter_predicate_parse(). It names
 * columns and has values as text, as sinter_datum_parse() takes them: what they mean follows from
 * the schema of the scan that gets it. The order of values is that of keys: numbers by value, -0.0
 * before 0.0 and NaN last, texts and bytes by their bytes.
 */
struct sinter_predicate {
    uint32_t struct_size;
    int32_t op;                           /* sinter_predicate_op */
    const char *column;                   /* of all but AND, OR, NOT */
    const sinter_bytes *values;           /* what it is compared with */
    size_t value_count;                   /* as `op` says; 1 where it doesn't */
    const sinter_predicate *const *parts; /* of AND, OR, NOT */
    size_t part_count;
};

/**
 * Read an expression.
 *
 * `and`, `or`, `not` and parentheses; comparisons `= != <> < <= > >=`; `a in (1, 2)`, `a between 1
 * and 2`, `a is null`, `a starts with 'x'`, each also with `not` (`a not in (1)`, `a is not null`).
 * Words have no case. A column is a word, or any name in double quotes or backquotes; a value is a
 * word or number, or any text in single quotes; a quote in a text is doubled.
 *
 * @param env   borrowed until destroy
 * @param text  copied
 * @param out   release with sinter_predicate_destroy()
 * @return      SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (with the position, from 1)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_predicate_parse(const sinter_env *env, const char *text, sinter_predicate **out,
                       sinter_error *err);

/**
 * Read a list of partition columns and their values, "dt=2024-01-01,hr=5": all of them hold. The
 * name that the table gives to partitions without a value (option partition.default-name) means
 * null. A value that has a comma can't be given this way.
 *
 * @param schema  whose partition columns they must be; borrowed for the call
 * @param out     release with sinter_predicate_destroy()
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (no such partition column, no '=')
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_predicate_of_partition(const sinter_env *env, const sinter_schema *schema, const char *text,
                              sinter_predicate **out, sinter_error *err);

/** Release what one of the two above made; takes NULL. */
SINTER_API void
sinter_predicate_destroy(sinter_predicate *predicate);

#ifdef __cplusplus
}
#endif
#endif
