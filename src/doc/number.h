/*
 * Numbers as text, whatever the process's locale is: floating point, 128-bit decimals, calendar.
 */
#ifndef SINTER_DOC_NUMBER_H
#define SINTER_DOC_NUMBER_H

#include "sinter/type.h"

__extension__ typedef __int128 sinter__int128;
__extension__ typedef unsigned __int128 sinter__uint128;

enum { SINTER__NUMBER_TEXT_MAX = 64, SINTER__DECIMAL_PRECISION_MAX = 38 };

/** Is it a JSON number: -?digits[.digits][e[+-]digits], no leading zero? */
bool
sinter__number_is_json(sinter_bytes text);

/** Read a 64-bit integer: -?digits. False: no such text, or (`*overflow_out`) out of range. */
bool
sinter__integer_parse(sinter_bytes text, int64_t *out, bool *overflow_out);

/** Read FLOAT bits; NaN, Infinity, -Infinity too. False: no number or out of range. */
bool
sinter__float_parse(sinter_bytes text, uint32_t *bits_out);

/** Read DOUBLE bits, as above. */
bool
sinter__double_parse(sinter_bytes text, uint64_t *bits_out);

/** Print with the fewest digits that read back equal: "%.Pg" with the least P. NaN and infinities
 *  print as words. `out` gets a closing zero. Source: interchange.md 6. */
void
sinter__float_print(uint32_t bits, char out[SINTER__NUMBER_TEXT_MAX]);
void
sinter__double_print(uint64_t bits, char out[SINTER__NUMBER_TEXT_MAX]);

static inline sinter__int128
sinter__decimal_get(const sinter_datum *datum)
{
    return (sinter__int128)(((sinter__uint128)(uint64_t)datum->as.decimal.high << 64) |
                            datum->as.decimal.low);
}

static inline void
sinter__decimal_set(sinter_datum *datum, sinter__int128 value)
{
    datum->as.decimal.low = (uint64_t)value;
    datum->as.decimal.high = (int64_t)(uint64_t)((sinter__uint128)value >> 64);
}

/** 10 to the `exponent` (0..38). */
sinter__uint128
sinter__power_of_ten(uint32_t exponent);

/** Are `precision` digits enough for this unscaled value? */
bool
sinter__decimal_fits(sinter__int128 value, uint32_t precision);

/** Read a number as unscaled value with `scale` decimals; no digit may be lost. False: no number,
 *  too many decimals, or more than `precision` digits. */
bool
sinter__decimal_parse(sinter_bytes text, uint32_t precision, uint32_t scale, sinter__int128 *out);

/** Print an unscaled value with exactly `scale` decimals. */
void
sinter__decimal_print(sinter__int128 value, uint32_t scale, char out[SINTER__NUMBER_TEXT_MAX]);

/** Days since 1970-01-01 as "2024-02-29"; years beyond 0..9999 with a sign. Returns the length. */
size_t
sinter__date_print(int64_t days, char out[SINTER__NUMBER_TEXT_MAX]);

/** Read a date from the front of `text`; returns the bytes used, 0 if there is none. */
size_t
sinter__date_parse(sinter_bytes text, int64_t *days_out);

/** A time of day. */
typedef struct sinter__clock_time {
    int64_t ms;    /* of the day */
    int32_t nanos; /* of the millisecond */
} sinter__clock_time;

/** Read "23:59:59[.fraction]" from the front; at most 9 decimals, those behind `decimals` must be
 *  0. Returns the bytes used, 0 if there is none. */
size_t
sinter__time_parse(sinter_bytes text, uint32_t decimals, sinter__clock_time *out);

/** Print "23:59:59" and `decimals` decimals of a time of day. Returns the length. */
size_t
sinter__time_print(sinter__clock_time time, uint32_t decimals, char out[SINTER__NUMBER_TEXT_MAX]);

#endif
