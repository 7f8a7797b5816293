/*
 * Files named by numbers, "snapshot-12": which there are, and the hints EARLIEST and LATEST.
 */
#ifndef SINTER_TABLE_NUMBERED_H
#define SINTER_TABLE_NUMBERED_H

#include "sinter/type.h"

/** Files "DIR/PREFIXN", N in decimal digits without leading zeros. All borrowed. */
typedef struct sinter__numbered {
    const sinter_env *env;
    const char *dir;
    const char *prefix;
} sinter__numbered;

/** Numbers in ascending order. Zeroed is empty; release with sinter__numbers_fini(). */
typedef struct sinter__numbers {
    int64_t *items;
    size_t count;
    size_t capacity;
} sinter__numbers;

void
sinter__numbers_fini(const sinter_env *env, sinter__numbers *numbers);

/**
 * Which there are. Other names are passed over; a directory that isn't there has none.
 *
 * @param out  empty before
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_IO
 */
sinter_status
sinter__numbers_list(const sinter__numbered *files, sinter__numbers *out, sinter_error *err);

/** Which end of the numbers. */
typedef enum sinter__number_end {
    SINTER__NUMBER_EARLIEST,
    SINTER__NUMBER_LATEST
} sinter__number_end;

/**
 * The smallest or largest number. The hint of that name is believed when its file is there, and for
 * LATEST the one after it isn't; else the directory is listed.
 *
 * @return SINTER_OK, SINTER_END (no such file), SINTER_E_NOMEM, SINTER_E_IO
 * Source: table-layout.md 1.3.
 */
sinter_status
sinter__number_find(const sinter__numbered *files, sinter__number_end end, int64_t *out,
                    sinter_error *err);

/** Is there something at this path? @return SINTER_OK, SINTER_E_IO */
sinter_status
sinter__path_exists(const sinter_env *env, const char *path, bool *out, sinter_error *err);

/** Read digits, without a leading zero unless it is the only one, within int64. */
bool
sinter__number_parse(sinter_bytes text, int64_t *out);

/** Make "DIR/PREFIXN" the content of `out`. @return SINTER_OK, SINTER_E_NOMEM */
sinter_status
sinter__number_path(const sinter__numbered *files, int64_t number, sinter_text *out,
                    sinter_error *err);

#endif
