/*
 * The decimal digits of a floating point number in the text that Java gives it.
 *
 * Java up to 18, in which nearly all writers of Paimon run, doesn't always find the shortest
 * digits: it tells 1.17549435E-38 and 2.0E-323 where 1.1754944E-38 and 2E-323 would do. Such texts
 * are names of directories and values of cast columns, so it is these that are made here.
 */
#ifndef SINTER_TABLE_JAVA_DIGITS_H
#define SINTER_TABLE_JAVA_DIGITS_H

#include <stdint.h>

enum { SINTER__JAVA_DIGITS_MAX = 24 };

/** Digits d, and what they stand for: d.ddd * 10^exponent. */
typedef struct sinter__java_digits {
    char text[SINTER__JAVA_DIGITS_MAX]; /* not terminated; may end in zeros */
    int count;                          /* 1 or more */
    int exponent;
} sinter__java_digits;

/** Those of a FLOAT without its sign; it is finite. */
void
sinter__java_float_digits(uint32_t bits, sinter__java_digits *out);

/** Those of a DOUBLE without its sign; it is finite. */
void
sinter__java_double_digits(uint64_t bits, sinter__java_digits *out);

#endif
