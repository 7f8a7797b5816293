/*
 * Status codes, error detail and the words every other header uses.
 *
 * Every function that can fail returns a sinter_status and takes a sinter_error as its last
 * parameter. The error belongs to the caller, may be NULL, and is untouched on success.
 */
#ifndef SINTER_BASE_H
#define SINTER_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(SINTER_BUILDING) && (defined(__GNUC__) || defined(__clang__))
#define SINTER_API __attribute__((visibility("default")))
#else
#define SINTER_API
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SINTER_NODISCARD __attribute__((warn_unused_result))
#else
#define SINTER_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** One list makes constants, names and texts. A value is never reused. Source: design 4.10. */
#define SINTER_STATUS_MAP(X)                                                  \
    X(0, OK, "success")                                                       \
    X(1, END, "no more items")                                                \
    X(-1, E_NOMEM, "out of memory")                                           \
    X(-2, E_INVALID, "invalid argument")                                      \
    X(-3, E_IO, "input/output error")                                         \
    X(-4, E_CORRUPT, "stored data is damaged")                                \
    X(-5, E_CANCELLED, "cancelled by the caller")                             \
    X(-6, E_NO_SPACE, "no space left")                                        \
    X(-7, E_TOO_LARGE, "larger than a documented limit or the memory budget") \
    X(-8, E_OVERFLOW, "a number left its range")                              \
    X(-9, E_CONFLICT, "changed by somebody else")                             \
    X(-10, E_EXISTS, "the name exists already")                               \
    X(-11, E_EXPIRED, "no longer kept")                                       \
    X(-12, E_UNSUPPORTED, "not supported by this build or version")           \
    X(-13, E_BUSY, "in use by another process or thread")                     \
    X(-14, E_NOT_FOUND, "no such file or entry")                              \
    X(-15, E_RETRACT, "the merge function accepts no retract record")

/** What a function returned: SINTER_OK, SINTER_END, or a failure below 0. */
typedef int32_t sinter_status;

enum {
#define SINTER_STATUS_CONSTANT(value, name, text) SINTER_##name = (value),
    SINTER_STATUS_MAP(SINTER_STATUS_CONSTANT)
#undef SINTER_STATUS_CONSTANT
};

/**
 * Detail of a failure. The caller's, of fixed size, so that it works when memory is gone.
 * Set it up with SINTER_ERROR_INIT. Confined: one thread at a time.
 */
typedef struct sinter_error {
    uint32_t struct_size;    /* as in every struct that callers fill; 0 counts as this version */
    sinter_status status;    /* what the function returned */
    int32_t sys_errno;       /* errno of the failed call, 0 if none */
    int32_t origin_line;     /* source line that saw the failure first */
    int64_t offset;          /* byte in `file`, -1 if none */
    const char *origin_file; /* source file of that line: static storage */
    char file[256];          /* the file concerned, cut on the left when too long; "" if none */
    char text[512];          /* one sentence, outermost context first */
    uint64_t reserved[4];
} sinter_error;

#define SINTER_ERROR_INIT                                           \
    {                                                               \
        .struct_size = (uint32_t)sizeof(sinter_error), .offset = -1 \
    }

/** Name of a status without prefix, "E_CORRUPT"; "unknown" for other numbers. Thread-safe. */
SINTER_API const char *
sinter_status_name(sinter_status status);

/** One line of text for a status; never NULL. Thread-safe. */
SINTER_API const char *
sinter_status_text(sinter_status status);

/** A borrowed stretch of bytes. `data` may be NULL when `size` is 0. */
typedef struct sinter_bytes {
    const uint8_t *data;
    size_t size;
} sinter_bytes;

/** Kind of a record. Source: spec/compaction.md 1. */
typedef enum sinter_kind {
    SINTER_KIND_INSERT = 0,        /* +I */
    SINTER_KIND_UPDATE_BEFORE = 1, /* -U */
    SINTER_KIND_UPDATE_AFTER = 2,  /* +U */
    SINTER_KIND_DELETE = 3         /* -D */
} sinter_kind;

/** Does this kind retract (-U, -D)? The others add. */
static inline bool
sinter_kind_is_retract(uint8_t kind)
{
    return (kind & 1u) != 0;
}

/** Codec of a block or a file. The number is what files hold. */
typedef enum sinter_codec {
    SINTER_CODEC_NONE = 0,
    SINTER_CODEC_LZ4 = 1,
    SINTER_CODEC_ZSTD = 2
} sinter_codec;

/** Name as in options and documents: "none", "lz4", "zstd"; NULL for other numbers. */
SINTER_API const char *
sinter_codec_name(int codec);

/** Limits, checked where data enters. Source: design 4.8. */
#define SINTER_KEY_BYTES_MAX ((uint64_t)1 << 20)
#define SINTER_VALUE_BYTES_MAX ((uint64_t)1 << 30)
#define SINTER_BLOCK_BYTES_MAX (((uint64_t)1 << 30) + ((uint64_t)16 << 20))
#define SINTER_BLOCK_OPTION_BYTES_MAX ((uint64_t)1 << 30)

#ifdef __cplusplus
}
#endif
#endif
