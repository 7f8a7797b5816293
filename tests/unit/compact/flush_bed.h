/*
 * A write buffer over a bucket in memory, what was put into it, and what its flushes must give.
 */
#ifndef SINTER_TESTS_COMPACT_FLUSH_BED_H
#define SINTER_TESTS_COMPACT_FLUSH_BED_H

#include "compact/write_buffer.h"
#include "world.h"

typedef struct flush_bed {
    world w;
    sinter_memory *memory; /* what the buffer holds is counted here */
    sinter__write_buffer_config config;
    sinter__rolling_config rolling;
    sinter__flush_config flush;
    sinter_order order; /* the first two bytes of a value; used if flush.order is set to it */
    model_rules rules;
    sinter__write_buffer *buffer;
    sinter_compact_result *result;
    test_record *records; /* in the buffer; bytes in `pool` */
    size_t count;
    size_t capacity;
    int64_t next_sequence;
    test_pool pool;
} flush_bed;

/** A bed with a buffer of so many bytes, not spillable, deduplicating; changes of the configs count
 *  from flush_bed_open() on. `allocator` NULL: that of the system. */
void
flush_bed_init(flush_bed *bed, uint64_t limit_bytes, const sinter_allocator *allocator);

/** Make the buffer. */
sinter_status
flush_bed_open(flush_bed *bed);

/** Let it spill into the bucket's directory. */
void
flush_bed_spills(flush_bed *bed);

/** Reduce by these rules; sets the merge function. */
void
flush_bed_reduces(flush_bed *bed, model_rules rules);

/** Put a row; what was put is remembered. */
sinter_status
flush_bed_put(flush_bed *bed, sinter_bytes key, uint8_t kind, sinter_bytes value,
              sinter_error *err);

/** Put a row of texts, which must succeed. */
void
flush_bed_text(flush_bed *bed, const char *key, uint8_t kind, const char *value);

/** Put random rows; give the first status that is not SINTER_OK. */
sinter_status
flush_bed_random(flush_bed *bed, test_rng *rng, size_t count, unsigned key_space, size_t value_max,
                 sinter_error *err);

/** Flush. Success: compare the new files with the model, remove them, forget the rows. Failure:
 *  check that there is no file and the result is empty. */
sinter_status
flush_bed_flush(flush_bed *bed, const char *when, sinter_error *err);

/** "k=v k-v " of the records of the new files; the minus stands for retracts. Static memory. */
const char *
flush_bed_text_of(flush_bed *bed);

/** Release the buffer; nothing may be counted then. */
void
flush_bed_fini(flush_bed *bed);

#endif
