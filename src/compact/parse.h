/*
 * Option values as text: sizes, numbers, ratios, yes and no. No locale has a say.
 */
#ifndef SINTER_COMPACT_PARSE_H
#define SINTER_COMPACT_PARSE_H

#include "sinter/base.h"

/** Decimal digits with an optional '-'; blanks around are fine. @return OK, E_INVALID, E_OVERFLOW
 */
sinter_status
sinter__parse_int(const char *text, int64_t *out, sinter_error *err);

/** A plain decimal number of at most 15 digits, "0.7"; exact. @return OK, E_INVALID */
sinter_status
sinter__parse_ratio(const char *text, double *out, sinter_error *err);

/** One entry of a map as "0:lz4, 5:zstd". */
typedef struct sinter__map_entry {
    int64_t key;
    const char *value; /* not ended by a zero byte */
    size_t value_size;
} sinter__map_entry;

/**
 * Take the first entry off a map whose keys are whole numbers; `*text` goes behind it. Blanks
 * around keys and values are fine.
 * @return SINTER_OK, SINTER_END (no entry is left), SINTER_E_INVALID, SINTER_E_OVERFLOW
 */
sinter_status
sinter__parse_map_entry(const char **text, sinter__map_entry *out, sinter_error *err);

/**
 * A duration as "1 h", "30min", "500 ms": a whole number and a unit from ns to d, without one
 * milliseconds. What is less than a millisecond is left out.
 * @return SINTER_OK, SINTER_E_INVALID, SINTER_E_OVERFLOW
 */
sinter_status
sinter__parse_duration(const char *text, int64_t *ms_out, sinter_error *err);

/** "true" or "false" in any case. @return OK, E_INVALID */
sinter_status
sinter__parse_bool(const char *text, bool *out, sinter_error *err);

#endif
