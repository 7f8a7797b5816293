/*
 * File metadata made short, for the tests of this room.
 */
#ifndef SINTER_TESTS_COMPACT_FILES_H
#define SINTER_TESTS_COMPACT_FILES_H

#include <stdlib.h>
#include <string.h>

#include "sinter/compact.h"

static inline sinter_bytes
text_bytes(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

/** A file of one row or more with keys min..max. */
static inline sinter_file_meta
file_of(const char *name, int32_t level, const char *min, const char *max)
{
    return (sinter_file_meta){.struct_size = sizeof(sinter_file_meta),
                              .level = level,
                              .file_name = name,
                              .file_size = 1000,
                              .row_count = 2,
                              .min_sequence_number = 1,
                              .max_sequence_number = 2,
                              .min_key = text_bytes(min),
                              .max_key = text_bytes(max),
                              .upgraded_from = -1};
}

static inline sinter_file_meta
file_sized(const char *name, int32_t level, const char *min, const char *max, uint64_t size)
{
    sinter_file_meta file = file_of(name, level, min, max);

    file.file_size = size;
    return file;
}

static inline sinter_file_meta
file_with_sequences(const char *name, int32_t level, const char *min, const char *max,
                    int64_t min_sequence, int64_t max_sequence)
{
    sinter_file_meta file = file_of(name, level, min, max);

    file.min_sequence_number = min_sequence;
    file.max_sequence_number = max_sequence;
    return file;
}

/** A file without rows. */
static inline sinter_file_meta
file_empty(const char *name, int32_t level)
{
    return (sinter_file_meta){.struct_size = sizeof(sinter_file_meta),
                              .level = level,
                              .file_name = name,
                              .file_size = 100,
                              .upgraded_from = -1};
}

/** How many cases a property tries: `cases`, or that times SINTER_TEST_SCALE. */
static inline uint64_t
scaled_cases(uint64_t cases)
{
    const char *scale = getenv("SINTER_TEST_SCALE");

    return scale == NULL || atoi(scale) < 1 ? cases : cases * (uint64_t)atoi(scale);
}

#endif
