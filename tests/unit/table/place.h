/*
 * A table's files in memory, for the tests of the table room.
 */
#ifndef SINTER_TESTS_TABLE_PLACE_H
#define SINTER_TESTS_TABLE_PLACE_H

#include "sinter/env.h"
#include "sinter/io.h"

/** An environment over the memory backend. */
typedef struct place {
    sinter_env env;
    sinter_io *memory;
} place;

/** Fill with a fresh memory backend; allocations by `env`'s allocator (NULL: default). */
void
place_init(place *p, const sinter_env *env);

void
place_fini(place *p);

/** Write a file under any name, the directories above it are made. */
void
place_write(place *p, const char *path, const char *text);

/** Write "t/schema/schema-0" of columns (k INT NOT NULL, v STRING) with key k. */
void
place_write_schema(place *p);

/** Write "t/snapshot/snapshot-ID" with this time, nothing unusual in it. */
void
place_write_snapshot(place *p, int64_t id, int64_t time_ms);

#endif
