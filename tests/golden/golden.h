/*
 * Recorded answers of the reference implementation: JSON lines, one case a line.
 *
 * The folder is the one that SINTER_GOLDEN_DIR names; without it ../shared/golden beside the source
 * tree; without that the sample in tests/golden. A file that is missing or empty is a failure.
 */
#ifndef SINTER_TESTS_GOLDEN_H
#define SINTER_TESTS_GOLDEN_H

#include <jansson.h>

#include "sinter/base.h"

/** Run one case; it reports by cr_assert and names the case by `id`. */
typedef void (*golden_case)(const char *id, const json_t *line);

/** Run all cases of a file and print how many there were. */
void
golden_run(const char *file_name, golden_case run);

/** A member that has to be there. */
const json_t *
golden_get(const json_t *object, const char *name);
int64_t
golden_int(const json_t *object, const char *name);
bool
golden_bool(const json_t *object, const char *name);
const char *
golden_text(const json_t *object, const char *name);

/** Bytes of a hex member, of at most 8 bytes, into `buffer`. */
sinter_bytes
golden_hex(const json_t *object, const char *name, uint8_t buffer[8]);

/** Fail unless both are equal as JSON; the message shows them. */
void
golden_expect(const char *id, const char *what, const json_t *expected, json_t *found);

#endif
