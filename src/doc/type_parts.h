/*
 * Inside of nested types: making, checking and walking their parts.
 */
#ifndef SINTER_DOC_TYPE_PARTS_H
#define SINTER_DOC_TYPE_PARTS_H

#include "base/arena.h"
#include "doc/doc_read.h"
#include "doc/doc_write.h"
#include "doc/type.h"

/** The count of a MULTISET, INT NOT NULL: its second part. */
sinter_field
sinter__type_count_part(void);

/** Parse a type text that stands in `depth` other types; its parts go to the arena (NULL: they are
 *  checked and forgotten). Failures as sinter_type_create(). */
sinter_status
sinter__type_from_text(sinter__arena *arena, const char *text, size_t depth, sinter_type *out,
                       sinter_error *err);

/** Read a field, `{"id":0,"name":"a","type":...}`; id -1 when it is left out. */
sinter_status
sinter__field_from_json(const sinter__doc_object *object, sinter_field *out, sinter_error *err);

/** Copy `count` fields (shallow) into the arena as the parts of `type`. Names of a ROW's fields
 *  are checked: SINTER_E_INVALID for an empty one and for one that comes twice. */
sinter_status
sinter__type_keep_parts(sinter__arena *arena, const sinter_field *fields, size_t count,
                        sinter_type *type, sinter_error *err);

/** Copy a field with everything in it into the arena. SINTER_E_INVALID: deeper than
 *  SINTER_TYPE_DEPTH_MAX, parts missing or of the wrong number, names as above. */
sinter_status
sinter__field_copy(sinter__arena *arena, const sinter_field *from, sinter_field *out,
                   sinter_error *err);

/** Highest id of fields and the fields in them; -1: none has one. */
int64_t
sinter__fields_highest_id(const sinter_field *fields, size_t count);

/** Number columns and fields that have no id, from `next` on: a column before the fields in it, a
 *  field in a ROW after those in it. Source: table-layout.md 2. */
sinter_status
sinter__fields_assign_ids(sinter__arena *arena, sinter_field *columns, size_t count, int64_t next,
                          sinter_error *err);

/** Put a field as JSON: id, name, type, description, defaultValue, then what `source` (the field
 *  as it was read; NULL: none) has besides. */
void
sinter__field_put_json(sinter__doc_writer *writer, json_t *object, const sinter_field *field,
                       json_t *source);

#endif
