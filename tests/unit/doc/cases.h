/*
 * Random types and values for the tests of the doc room, and an order of values that knows nothing
 * of bytes.
 */
#ifndef SINTER_TESTS_DOC_CASES_H
#define SINTER_TESTS_DOC_CASES_H

#include "sinter/type.h"

/** A seeded source of numbers. */
typedef struct case_random {
    uint64_t state;
} case_random;

uint64_t
case_next(case_random *random);

/** A number below `limit`. */
uint32_t
case_below(case_random *random, uint32_t limit);

/** Any atomic type. */
sinter_type
case_type(case_random *random, bool nullable);

enum { CASE_BYTES_MAX = 24 };

/** A value of the type, often a special one; strings are put into `room`. Valid UTF-8 where
 *  `utf8`, else any bytes. Never null. */
sinter_datum
case_datum(case_random *random, const sinter_type *type, bool utf8, uint8_t room[CASE_BYTES_MAX]);

/** Order of two values of a type, as Paimon's comparator has it: null first, NaN last. */
int
case_compare(const sinter_type *type, const sinter_datum *a, const sinter_datum *b);

/** Are they the same to the last bit? With `canonical` all NaNs are one. */
bool
case_equal(const sinter_type *type, const sinter_datum *a, const sinter_datum *b, bool canonical);

/** A type from its text; ends the test when there is none. */
sinter_type
case_parse_type(const char *text);

/** Hex text into bytes (blanks are skipped); returns their number. */
size_t
case_hex(const char *hex, uint8_t *out, size_t capacity);

#endif
