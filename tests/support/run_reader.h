/*
 * A reader over records in memory: merges are tested with it without files. It hands out batches
 * of any size, may offer its batches as stored blocks, fails where it is told to, and checks what
 * callers owe a reader. A batch's memory is spoiled and released with the next call, so that
 * whoever keeps a batch too long is found out.
 */
#ifndef SINTER_TESTS_RUN_READER_H
#define SINTER_TESTS_RUN_READER_H

#include "sinter/merge.h"
#include "support/columnar.h"
#include "support/records.h"

/** What payload the batches have. */
typedef enum run_payload {
    RUN_PAYLOAD_BYTES,   /* ops.value gives the bytes */
    RUN_PAYLOAD_COLUMNAR /* columnar_payload_ops */
} run_payload;

/** Ops of RUN_PAYLOAD_BYTES. */
extern const sinter_payload_ops run_bytes_payload_ops;

/** What readers of one merge share. Zeroed: one batch per run, bytes, no blocks, no failure. */
typedef struct run_world {
    run_payload payload;
    uint32_t batch_rows; /* at most so many rows in a batch; 0: any number */
    uint64_t batch_seed; /* not 0: sizes of batches are random, up to batch_rows or 40 */
    bool has_blocks;     /* batches are stored blocks: peek and take are there */
    bool has_versions;   /* keys may come several times in a run, in one batch each */
    bool origins_column; /* always use the column, never the batch's single origin */
    uint32_t prefix_skip;
    uint32_t key_width; /* of every key; UINT32_MAX: keys differ in width */
    bool has_orders;
    /* failure */
    uint64_t fail_at_call; /* calls of open, next, peek, take over all readers, from 1; 0: none */
    sinter_status fail_status;
    /* counted */
    uint64_t calls;
    int64_t live_readers;
    int64_t live_readers_max;
    uint64_t taken_blocks;
    uint64_t decoded_rows;
    uint32_t *open_order; /* room for every run; NULL: not wanted */
    size_t open_count;
    const char *complaint; /* what a caller did wrong, or NULL */
} run_world;

/** One run as an input of a merge. */
typedef struct run_source {
    run_world *world;
    const test_run *run;
    uint32_t index; /* of the run */
    bool was_opened;
} run_source;

/** `open` of sinter_merge_input; `ctx` is a run_source. */
sinter_status
run_source_open(void *ctx, const sinter_env *env, sinter_reader **out, sinter_error *err);

/** Open a reader directly. */
sinter_status
run_reader_open(run_world *world, const test_run *run, uint32_t index, sinter_reader **out,
                sinter_error *err);

/** The records behind a stored block's payload; `*count_out` of them. */
const test_record *
run_block_records(const sinter_batch *batch, uint32_t *count_out);

#endif
