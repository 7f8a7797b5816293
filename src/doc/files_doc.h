/*
 * Inside of `sinter.files` documents.
 */
#ifndef SINTER_DOC_FILES_DOC_H
#define SINTER_DOC_FILES_DOC_H

#include "doc/doc_read.h"
#include "doc/doc_write.h"
#include "sinter/doc.h"

/** Members of a file object that a document may leave out; bits say which were given. */
enum {
    SINTER__GIVEN_FILE_SIZE = 1u << 0,
    SINTER__GIVEN_ROW_COUNT = 1u << 1,
    SINTER__GIVEN_MIN_KEY = 1u << 2,
    SINTER__GIVEN_MAX_KEY = 1u << 3,
    SINTER__GIVEN_MIN_SEQUENCE = 1u << 4,
    SINTER__GIVEN_MAX_SEQUENCE = 1u << 5,
    SINTER__GIVEN_DELETE_COUNT = 1u << 6,
    SINTER__GIVEN_CREATION_TIME = 1u << 7,
    SINTER__GIVEN_SCHEMA_ID = 1u << 8
};

struct sinter_files_doc {
    const sinter_env *env;
    sinter__arena arena;
    sinter_files content;
    sinter_file_meta *files; /* content.files */
    const char **extras;     /* content.file_extras */
    uint32_t *given;         /* per file: SINTER__GIVEN_* */
    size_t *unit;            /* positions; set by load */
    const char *base_dir;    /* resolved; "." until load */
    sinter_row_type *row_type;
    sinter_key_codec *codec;
};

/** Read a file object. */
sinter_status
sinter__file_object_parse(const sinter__doc_object *object, sinter_file_meta *out,
                          const char **extras_out, uint32_t *given_out, sinter_error *err);

/** Put all members of a file into `object`. `extras` NULL: none. */
sinter_status
sinter__file_object_put(sinter__doc_writer *writer, json_t *object, const sinter_file_meta *file,
                        const char *extras, const sinter_key_codec *codec, const sinter_env *env);

/** Put name and level only. */
void
sinter__file_identity_put(sinter__doc_writer *writer, json_t *object, const sinter_file_meta *file);

/** Is this a name without directory: not empty, no '/', neither "." nor ".."? */
bool
sinter__file_name_is_plain(const char *name);

/** Is this a directory below the base: relative, and nowhere upwards? */
bool
sinter__dir_is_below(const char *dir);

/** Deep copy of a content as a document at the same place with the same types as `like`. */
sinter_status
sinter__files_doc_copy(const sinter_env *env, const sinter_files *content,
                       const sinter_files_doc *like, sinter_files_doc **out, sinter_error *err);

/** The content after a result, in arrays that live in `arena`: what apply copies. Retired names
 *  are appended to `retired` with `now_ms` when `now_ms` >= 0. */
sinter_status
sinter__files_after(sinter__arena *arena, const sinter_files_doc *before,
                    const sinter_compact_result *result, int64_t now_ms, sinter_files *out,
                    sinter_error *err);

/** Read a whole file of at most SINTER_DOC_BYTES_MAX bytes. */
sinter_status
sinter__doc_read_file(const sinter_env *env, const char *path, sinter_text *out, sinter_error *err);

/** "DIR/NAME" in the arena; DIR "" or NULL: NAME alone; an absolute NAME stays itself. */
sinter_status
sinter__doc_path_join(sinter__arena *arena, const char *dir, const char *name, const char **out,
                      sinter_error *err);

#endif
