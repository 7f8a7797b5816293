/*
 * Arrow's C Data Interface: how columns cross between libraries without their knowing each other.
 * Layout and meaning are fixed by https://arrow.apache.org/docs/format/CDataInterface.html; the
 * guard is the one that all who declare the two structs share.
 */
#ifndef SINTER_FORMAT_ARROW_C_H
#define SINTER_FORMAT_ARROW_C_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/** A type with its name: `format` tells which ("i": int32). Whoever holds it calls `release` once,
 *  which clears `release`. */
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata; /* pairs, see sinter__arrow_field_id(); NULL: none */
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

/** Values of a type: buffers of columns. Released as a schema is. */
struct ArrowArray {
    int64_t length;
    int64_t null_count; /* -1: not counted */
    int64_t offset;     /* the first row, in rows of the buffers */
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifdef __cplusplus
}
#endif
#endif
