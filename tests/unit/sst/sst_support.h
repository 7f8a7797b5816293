/*
 * What the tests of the sst room share: an environment over the memory io, files of random
 * records, and a reading that compares every field.
 */
#ifndef SINTER_TESTS_SST_SUPPORT_H
#define SINTER_TESTS_SST_SUPPORT_H

#include "fault_alloc.h"
#include "records.h"
#include "sinter/format.h"
#include "sinter/io.h"
#include "sinter/sst.h"

/** An environment whose allocations may fail and whose files live in memory. */
typedef struct sst_world {
    fault_alloc fault; /* of the code under test */
    sinter_env env;    /* hand this on */
    sinter_io *io;
    sinter_env io_env; /* the io's own, whose allocations never fail */
} sst_world;

void
sst_world_init(sst_world *world);
void
sst_world_fini(sst_world *world);

/** Let the n-th allocation from now on fail; UINT64_MAX: none. */
void
sst_world_fail_allocation(sst_world *world, uint64_t n);

/** What random records look like. */
typedef struct sst_shape {
    size_t count;
    uint32_t key_min, key_max;     /* bytes of a key; equal: one width */
    uint32_t value_min, value_max; /* bytes of a value */
    uint32_t delete_percent;       /* deletes, with empty values */
    uint32_t shared;               /* leading key bytes that are all the same */
    uint64_t sequence_space;       /* 0: all 64 bits */
    bool noise;                    /* values that no codec makes smaller */
} sst_shape;

/** Make sorted, distinct records; fewer than asked for if keys are too short. */
test_run
sst_records(test_rng *rng, const sst_shape *shape, test_pool *pool);

/** How to write a file. */
typedef struct sst_plan {
    sinter_write_options options;
    uint32_t page_bytes;  /* 0: as usual */
    size_t batch_rows;    /* rows of one batch; 0: 1000 */
    uint32_t range_rows;  /* rows of one range at most; 0: whole batches */
    const char *property; /* value of a user property "who"; NULL: none */
} sst_plan;

/** The codec, or none in a build that hasn't it: then the test runs without. */
int
sst_codec(int codec);

/** Write records to a file, with sst_codec(). */
sinter_status
sst_write(const sinter_env *env, const char *path, const test_run *run, const sst_plan *plan,
          sinter_file_stats *stats_out, sinter_error *err);

/** Read a file and compare it with records; differences fail the running test. */
sinter_status
sst_read_compare(const sinter_env *env, const char *path, const sinter_read_options *options,
                 const test_run *run, sinter_error *err);

/** Read to the end without looking at the rows; counts them. */
sinter_status
sst_read_all(const sinter_env *env, const char *path, const sinter_read_options *options,
             uint64_t *rows_out, sinter_error *err);

/** All bytes of a file, to be freed with free(). */
uint8_t *
sst_file_bytes(const sinter_env *env, const char *path, size_t *size_out);

/** Put bytes under a name that doesn't exist yet. */
void
sst_put_file(const sinter_env *env, const char *path, const uint8_t *bytes, size_t size);

void
sst_unlink(const sinter_env *env, const char *path);

/** A text as bytes. */
#define SST_BYTES(text) test_text(text)

#endif
