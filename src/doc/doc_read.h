/*
 * Reading members of documents strictly (interchange.md 1): every refusal has line, column and
 * member path.
 */
#ifndef SINTER_DOC_READ_H
#define SINTER_DOC_READ_H

#include "base/arena.h"
#include "doc/json.h"
#include "sinter/doc.h"

/** An object of a document and its path. Strings and bytes read go to the arena. */
typedef struct sinter__doc_object {
    const sinter__json_source *source;
    sinter__arena *arena;
    const json_t *json;
    char path[SINTER__JSON_PATH_MAX];
} sinter__doc_object;

/** Is a member needed? */
typedef enum sinter__doc_need { SINTER__DOC_OPTIONAL = 0, SINTER__DOC_NEEDED = 1 } sinter__doc_need;

/** Range of an integer member. */
typedef struct sinter__doc_range {
    int64_t min;
    int64_t max;
} sinter__doc_range;

#define SINTER__DOC_ANY_INTEGER ((sinter__doc_range){INT64_MIN, INT64_MAX})

/** Names that a kind of document knows, at any depth. */
typedef struct sinter__doc_kind {
    const char *format;
    int64_t version;          /* newest that is understood */
    const char *const *names; /* for must_understand; ends with NULL */
} sinter__doc_kind;

/** Check that `json` is an object of this kind and version, and its must_understand. */
sinter_status
sinter__doc_check(const sinter__doc_object *root, const sinter__doc_kind *kind, sinter_error *err);

/** Fail at a member: "..., member PATH.NAME: WHAT". `name` NULL: the object itself. */
sinter_status
sinter__doc_fail(const sinter__doc_object *object, sinter_status status, const char *name,
                 const char *what, sinter_error *err);

/** The member's value; NULL when it is missing or null (refused if needed). */
sinter_status
sinter__doc_member(const sinter__doc_object *object, const char *name, sinter__doc_need need,
                   const json_t **out, sinter_error *err);

/** The text of a value, borrowed from it; a value that is no string, or has a zero byte, is
 *  SINTER_E_INVALID under `name`. */
sinter_status
sinter__doc_text(const sinter__doc_object *object, const char *name, const json_t *value,
                 const char **out, sinter_error *err);

/** A string member, copied; NULL when missing. */
sinter_status
sinter__doc_string(const sinter__doc_object *object, const char *name, sinter__doc_need need,
                   const char **out, sinter_error *err);

/** An integer member within a range; `*has_out` false and `*out` untouched when missing. */
sinter_status
sinter__doc_integer(const sinter__doc_object *object, const char *name, sinter__doc_range range,
                    bool *has_out, int64_t *out, sinter_error *err);

/** A hex member, decoded; NULL bytes when missing. */
sinter_status
sinter__doc_hex(const sinter__doc_object *object, const char *name, bool *has_out,
                sinter_bytes *out, sinter_error *err);

/** An enum member: position in `names` (ends with NULL); -1 when missing. */
sinter_status
sinter__doc_enum(const sinter__doc_object *object, const char *name, const char *const *names,
                 int *out, sinter_error *err);

/** A boolean member; `*out` untouched when missing. */
sinter_status
sinter__doc_bool(const sinter__doc_object *object, const char *name, bool *out, sinter_error *err);

/** An object member; `out->json` NULL when missing. */
sinter_status
sinter__doc_child(const sinter__doc_object *object, const char *name, sinter__doc_need need,
                  sinter__doc_object *out, sinter_error *err);

/** An array member; NULL when missing. */
sinter_status
sinter__doc_array(const sinter__doc_object *object, const char *name, sinter__doc_need need,
                  const json_t **out, sinter_error *err);

/** Element `index` of an array member, which must be an object. */
sinter_status
sinter__doc_element(const sinter__doc_object *object, const char *name, const json_t *array,
                    size_t index, sinter__doc_object *out, sinter_error *err);

/** An array of strings, copied; NULL and 0 when missing. */
sinter_status
sinter__doc_strings(const sinter__doc_object *object, const char *name, const char *const **out,
                    size_t *count_out, sinter_error *err);

/** An object whose members are all strings, copied in the order of the text; NULL and 0 when
 *  missing. */
sinter_status
sinter__doc_string_map(const sinter__doc_object *object, const char *name,
                       const sinter_option **out, size_t *count_out, sinter_error *err);

/** Zeroed room for `count` items in an arena. */
sinter_status
sinter__doc_room(sinter__arena *arena, size_t count, size_t size, void **out, sinter_error *err);

#endif
