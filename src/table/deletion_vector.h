/*
 * Deletion vectors: which rows of a data file are deleted, by their position in the file.
 *
 *   format 1   positions below 2^31: one bitmap
 *   format 2   up to (2^31 - 2) << 32 | 2^31: bitmaps of the lower halves, by upper half
 *
 * Serialized, both stand in a frame: big-endian length of magic number and bitmap, these two, and
 * their CRC-32. Source: spec/deletion-vectors.md.
 */
#ifndef SINTER_TABLE_DELETION_VECTOR_H
#define SINTER_TABLE_DELETION_VECTOR_H

#include "base/bitmap.h"

/** How positions are stored. */
typedef enum sinter__deletion_format {
    SINTER__DELETION_V1 = 1, /* 32 bits */
    SINTER__DELETION_V2 = 2  /* 64 bits */
} sinter__deletion_format;

#define SINTER__DELETION_V1_POSITION_MAX ((uint64_t)INT32_MAX)
#define SINTER__DELETION_V2_POSITION_MAX \
    (((uint64_t)INT32_MAX - 1) << 32 | ((uint64_t)INT32_MAX + 1))

enum {
    SINTER__DELETION_IGNORE_CHECKSUM = 1u << 0, /* as the reference does; to rescue what is left */
    SINTER__DELETION_FRAME_BYTES_MIN = 20       /* of an empty vector, in both formats */
};

/** One vector. Charged to env->memory. Confined; any number of threads may read one that nobody
 *  changes. */
typedef struct sinter__deletion_vector sinter__deletion_vector;

/** Positions that follow each other, both ends included. */
typedef struct sinter__deletion_run {
    uint64_t first;
    uint64_t last;
} sinter__deletion_run;

/**
 * Make an empty vector.
 * @param env  allocator, budget; borrowed, must outlive the vector
 * @param out  release with sinter__deletion_vector_destroy()
 * @return     SINTER_OK, SINTER_E_NOMEM
 */
sinter_status
sinter__deletion_vector_create(const sinter_env *env, sinter__deletion_format format,
                               sinter__deletion_vector **out, sinter_error *err);

/** Release; takes NULL. */
void
sinter__deletion_vector_destroy(sinter__deletion_vector *vector);

sinter__deletion_format
sinter__deletion_vector_format(const sinter__deletion_vector *vector);

/** How many positions it holds. */
uint64_t
sinter__deletion_vector_count(const sinter__deletion_vector *vector);

/** Is the row at this position deleted? */
bool
sinter__deletion_vector_contains(const sinter__deletion_vector *vector, uint64_t position);

/**
 * Find the first run of deleted rows from `from` on; it begins there when `from` is inside of one.
 * A run ends at multiples of 65536 even if the next one goes on.
 * @return false: there are no more
 */
bool
sinter__deletion_vector_next(const sinter__deletion_vector *vector, uint64_t from,
                             sinter__deletion_run *out);

/**
 * Mark a row as deleted.
 * @param added_out  false: it was
 * @return           SINTER_OK; SINTER_E_OVERFLOW (the position is out of the format's range),
 *                   SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget): nothing has changed
 */
sinter_status
sinter__deletion_vector_add(sinter__deletion_vector *vector, uint64_t position, bool *added_out,
                            sinter_error *err);

/**
 * Mark what another vector marks.
 * @return SINTER_OK; SINTER_E_INVALID (another format); SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the
 *         budget): some are marked
 */
sinter_status
sinter__deletion_vector_merge(sinter__deletion_vector *vector, const sinter__deletion_vector *other,
                              sinter_error *err);

/** Make it one of format 2, with the same positions. */
void
sinter__deletion_vector_widen(sinter__deletion_vector *vector);

/**
 * Bytes that encode() writes. A vector of format 2 has a bitmap of 8 bytes or more for every 2^32
 * positions up to its last one.
 * @return SINTER_OK, SINTER_E_TOO_LARGE (2 GiB or more)
 */
sinter_status
sinter__deletion_vector_encoded_bytes(const sinter__deletion_vector *vector, uint64_t *out,
                                      sinter_error *err);

/** Write it with its frame; encoded_bytes() took it. Returns the byte behind it. The vector notes
 *  the form that it was written in, which decides between equals the next time. */
uint8_t *
sinter__deletion_vector_encode(sinter__deletion_vector *vector, uint8_t *to);

/** A serialized vector, and where it is from. */
typedef struct sinter__deletion_source {
    const char *path;   /* for errors; NULL: none */
    uint64_t offset;    /* of the bytes in it, for errors */
    sinter_bytes bytes; /* from the vector's first one on; may go on behind it */
    uint64_t length;    /* as its range has it; 0: unknown */
    uint32_t flags;     /* SINTER__DELETION_IGNORE_CHECKSUM */
} sinter__deletion_source;

/** What a vector's frame tells. */
typedef struct sinter__deletion_frame {
    sinter__deletion_format format;
    uint32_t bytes;      /* of the whole vector */
    sinter_bytes bitmap; /* inside of the source */
} sinter__deletion_frame;

/**
 * Check a vector's frame: length, magic number, checksum. Its bitmap is not looked at.
 * @return SINTER_OK; SINTER_E_CORRUPT with path and offset: "truncated", "bad magic", "length
 *         mismatch", "checksum mismatch"
 */
sinter_status
sinter__deletion_frame_check(const sinter__deletion_source *source, sinter__deletion_frame *out,
                             sinter_error *err);

/** A vector's length as ranges have it: format 1 doesn't count length word and checksum. */
uint32_t
sinter__deletion_frame_length(const sinter__deletion_frame *frame);

/**
 * Read a vector. Whatever the bytes are, nothing behind them is read, and memory follows from their
 * number.
 *
 * @param out  release with sinter__deletion_vector_destroy()
 * @return     SINTER_OK; SINTER_E_CORRUPT with path and offset: as of
 *             sinter__deletion_frame_check(), a bitmap that makes no sense, "position out of
 *             range"; SINTER_E_NOMEM; SINTER_E_TOO_LARGE (the budget)
 */
sinter_status
sinter__deletion_vector_decode(const sinter_env *env, const sinter__deletion_source *source,
                               sinter__deletion_vector **out, sinter_error *err);

#endif
