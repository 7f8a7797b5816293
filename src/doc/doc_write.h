/*
 * Building documents with jansson. The writer remembers the first failure, so that members can be
 * put one after another and checked once at the end.
 */
#ifndef SINTER_DOC_WRITE_H
#define SINTER_DOC_WRITE_H

#include <jansson.h>

#include "sinter/type.h"

typedef struct sinter__doc_writer {
    sinter_status status; /* first failure */
} sinter__doc_writer;

void
sinter__doc_writer_init(sinter__doc_writer *writer);

/** A new root object; NULL after a failure, which everything below takes. */
json_t *
sinter__doc_new_object(sinter__doc_writer *writer);

/** Put a value (taken) under a name; NULL counts as a failure of memory. */
void
sinter__doc_put(sinter__doc_writer *writer, json_t *object, const char *name, json_t *value);

/** Put a string; NULL puts null. Text that is no UTF-8 is a failure (SINTER_E_INVALID). */
void
sinter__doc_put_string(sinter__doc_writer *writer, json_t *object, const char *name,
                       const char *text);
void
sinter__doc_put_bytes_text(sinter__doc_writer *writer, json_t *object, const char *name,
                           sinter_bytes text);
/** Put a text for people: bytes that are no UTF-8 become '?'. NULL puts null. */
void
sinter__doc_put_message(sinter__doc_writer *writer, json_t *object, const char *name,
                        const char *text);
void
sinter__doc_put_integer(sinter__doc_writer *writer, json_t *object, const char *name,
                        int64_t value);
/** Put a count; above 2^63 - 1 is a failure (SINTER_E_OVERFLOW). */
void
sinter__doc_put_count(sinter__doc_writer *writer, json_t *object, const char *name, uint64_t value);
void
sinter__doc_put_bool(sinter__doc_writer *writer, json_t *object, const char *name, bool value);
void
sinter__doc_put_null(sinter__doc_writer *writer, json_t *object, const char *name);

/** Put bytes as hex. */
void
sinter__doc_put_hex(sinter__doc_writer *writer, json_t *object, const char *name,
                    sinter_bytes bytes, const sinter_env *env);

/** Put an encoded key as hex and, with a codec, as `<name>_text`. */
void
sinter__doc_put_key(sinter__doc_writer *writer, json_t *object, const char *name, sinter_bytes key,
                    const sinter_key_codec *codec, const sinter_env *env);

/** Put an empty object or array and return it (borrowed). */
json_t *
sinter__doc_put_object(sinter__doc_writer *writer, json_t *object, const char *name);
json_t *
sinter__doc_put_array(sinter__doc_writer *writer, json_t *object, const char *name);

/** Append to an array: an empty object or array (borrowed), a string. */
json_t *
sinter__doc_append_object(sinter__doc_writer *writer, json_t *array);
json_t *
sinter__doc_append_array(sinter__doc_writer *writer, json_t *array);
void
sinter__doc_append_string(sinter__doc_writer *writer, json_t *array, const char *text);

/** Put `error` as an object {"status","message","file","offset","errno"} (interchange.md 5). */
void
sinter__doc_put_error(sinter__doc_writer *writer, json_t *object, const char *name,
                      const sinter_error *error);

/** Print the root to `out` (with SINTER_PRINT_PRETTY indented), release it, give the status. */
sinter_status
sinter__doc_writer_end(sinter__doc_writer *writer, json_t *root, uint32_t flags, sinter_text *out,
                       sinter_error *err);

#endif
