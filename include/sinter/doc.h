/*
 * Interchange documents: the JSON by which work enters and leaves (interchange.md).
 *
 * Reading is strict: unknown formats and versions, duplicate members, wrong types, numbers that
 * are no 64-bit integers and sizes above the limits are refused with line, column and member path.
 * Writing gives equal bytes for equal content.
 */
#ifndef SINTER_DOC_H
#define SINTER_DOC_H

#include "sinter/base.h"
#include "sinter/compact.h"
#include "sinter/env.h"
#include "sinter/rows.h"
#include "sinter/sst.h"
#include "sinter/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Limits of a document. Source: interchange.md 1. */
#define SINTER_DOC_BYTES_MAX ((uint64_t)64 << 20)
#define SINTER_DOC_NESTING_MAX 32
#define SINTER_DOC_STRING_BYTES_MAX ((uint64_t)16 << 20)

/** An option of a document: key and value as a table has them. */
typedef struct sinter_option {
    const char *key;
    const char *value;
} sinter_option;

/** A file that is no longer part of a catalog but may still lie in its directory. */
typedef struct sinter_retired_file {
    const char *file_name;
    int64_t retired_ms; /* when it was retired, since the Unix epoch, UTC */
} sinter_retired_file;

/**
 * Content of a `sinter.files` document. Pointers are borrowed: from the sinter_files_doc that
 * handed it out, or from the caller who filled it for printing. Zeroed with struct_size set and
 * the -1s below: an empty document.
 */
typedef struct sinter_files {
    uint32_t struct_size;
    int32_t num_levels;    /* -1: not given */
    int32_t output_level;  /* -1: not given */
    bool has_unit;         /* `unit` counts, even when empty */
    const char *base_dir;  /* as written; NULL: the document's directory */
    const char *key_types; /* type texts, one per line; NULL: not given, "": opaque keys */
    const char *row_type;  /* JSON; NULL: not given */
    const sinter_option *options;
    size_t option_count;
    const char *const *unit; /* file names */
    size_t unit_count;
    const sinter_file_meta *files;
    size_t file_count;
    const char *const *file_extras;     /* per file: members that sinter_file_meta has no place
                                           for (format, compression, table_meta) as a JSON object,
                                           or NULL; NULL: none has any */
    int64_t next_sequence;              /* catalogs; -1: not given */
    int64_t generation;                 /* catalogs; -1: not given */
    const sinter_retired_file *retired; /* catalogs */
    size_t retired_count;
    uint64_t reserved[4];
} sinter_files;

/** Set struct_size and the -1s. */
SINTER_API void
sinter_files_init(sinter_files *files);

/** A `sinter.files` document that owns its content. Immutable. */
typedef struct sinter_files_doc sinter_files_doc;

/**
 * Parse a document's text. Nothing is read from disk: metadata that the document leaves out stays
 * 0 (delete_row_count -1) until sinter_files_doc_load() fills it.
 *
 * @param source  name for errors; NULL: none
 * @return        SINTER_OK, SINTER_E_NOMEM,
 *                SINTER_E_INVALID      not such a document (line, column, member path)
 *                SINTER_E_UNSUPPORTED  another format or version, or a `must_understand` member
 *                SINTER_E_TOO_LARGE    a limit of interchange.md 1
 *                SINTER_E_OVERFLOW     a JSON integer outside 64 bits
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_files_doc_parse(const sinter_env *env, const char *source, sinter_bytes text,
                       sinter_files_doc **out, sinter_error *err);

enum {
    /** Open a file only for what the document leaves out. What is stated is not checked against
     *  footers; readers notice another size, number of rows, or keys outside of the bounds. */
    SINTER_FILES_LOAD_TRUST = 1u << 0
};

/** How to load a document. Zeroed with struct_size set: as written. */
typedef struct sinter_files_load_options {
    uint32_t struct_size;
    uint32_t flags;       /* SINTER_FILES_LOAD_TRUST; unknown bits are refused */
    const char *base_dir; /* replaces the document's; NULL: as written. Borrowed */
} sinter_files_load_options;

/**
 * Load a document from a file, or a directory's catalog; complete the metadata of `sst` files from
 * their footers and check what was given against them; check that names differ, that files of one
 * level >= 1 don't overlap, that all files have the same key types, and that the unit names files.
 *
 * @param path     a document, or a directory that holds CATALOG.json
 * @param options  NULL: defaults
 * @return         as sinter_files_doc_parse() and sinter_sst_open(); SINTER_E_INVALID also when a
 *                 given value differs from the footer: the text has member, stated and found value
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_files_doc_load(const sinter_env *env, const char *path,
                      const sinter_files_load_options *options, sinter_files_doc **out,
                      sinter_error *err);

/**
 * Make a document of one `sst` file, as if a document beside it named this file alone, at level 0.
 * @return  failures of sinter_sst_open(), SINTER_E_INVALID
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_files_doc_of_file(const sinter_env *env, const char *path, sinter_files_doc **out,
                         sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_files_doc_destroy(sinter_files_doc *doc);

/** The content; lives as long as the document. */
SINTER_API const sinter_files *
sinter_files_doc_get(const sinter_files_doc *doc);

/** Where the files lie: base_dir made relative to the document's place; never NULL. */
SINTER_API const char *
sinter_files_doc_base_dir(const sinter_files_doc *doc);

/** Positions of the unit's files in `files`, `*count_out` of them; without a unit NULL. */
SINTER_API const size_t *
sinter_files_doc_unit(const sinter_files_doc *doc, size_t *count_out);

/** Row type of document or files; NULL: values are opaque. */
SINTER_API const sinter_row_type *
sinter_files_doc_row_type(const sinter_files_doc *doc);

/** Key codec of document or files; NULL: keys are opaque. */
SINTER_API const sinter_key_codec *
sinter_files_doc_key_codec(const sinter_files_doc *doc);

/** Set every option of the document that sinter_compact_options_set() takes.
 *  @return as sinter_compact_options_set() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_files_doc_options(const sinter_files_doc *doc, sinter_compact_options *options,
                         sinter_error *err);

/**
 * Append a `sinter.files` document and a newline.
 * @param codec  shows keys as text too; NULL: no
 * @param flags  SINTER_PRINT_PRETTY
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (text that is not UTF-8)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_files_print(const sinter_files *files, const sinter_key_codec *codec, uint32_t flags,
                   sinter_text *out, sinter_error *err);

/**
 * The document after a compaction (`--catalog-out`): retired files out, new ones in, unit and
 * output level unset.
 * @param before  the document the task ran on
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_CONFLICT (a retired file isn't there)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_files_doc_apply(const sinter_env *env, const sinter_files_doc *before,
                       const sinter_compact_result *result, sinter_files_doc **out,
                       sinter_error *err);

/** Characters of a task id, without the closing zero. */
#define SINTER_TASK_ID_CHARS 36

/**
 * Draw the id of a task: a random UUID. Results of one task and range are told to be duplicates by
 * it, so a task that was planned anew needs a new one.
 *
 * @param env  with random_seed != 0 the id follows from the seed and the clock
 * @return     SINTER_OK; SINTER_E_IO: the system gave no random bytes; SINTER_E_INVALID
 *
 * Thread-safe. Source: interchange.md 4, 5.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_task_id_draw(const sinter_env *env, char out[SINTER_TASK_ID_CHARS + 1], sinter_error *err);

/** What a `sinter.result` document says. Borrowed for the call. */
typedef struct sinter_result_content {
    uint32_t struct_size;
    uint32_t flags;      /* SINTER_PRINT_PRETTY */
    const char *task_id; /* NULL: null, for what no task did */
    const char *base_dir;
    const sinter_compact_result *result; /* NULL: nothing was done */
    const sinter_error *error;           /* NULL: status "ok"; else "cancelled" or "failed" */
    const sinter_key_codec *codec;       /* shows keys as text too; NULL: no */
} sinter_result_content;

/** Append a `sinter.result` document and a newline. Failures as of sinter_files_print(). */
SINTER_API SINTER_NODISCARD sinter_status
sinter_result_print(const sinter_result_content *content, sinter_text *out, sinter_error *err);

/** What a plan says. Borrowed for the call. */
typedef struct sinter_plan_content {
    uint32_t struct_size;
    uint32_t flags; /* SINTER_PRINT_PRETTY */
    const char *base_dir;
    const char *reason_code; /* of the pick: "full", "requested" */
    int32_t output_level;
    int32_t max_level;
    bool drop_delete;
    uint64_t small_file_bytes;
    uint64_t target_file_bytes;
    const sinter_partition *partition;   /* sections and runs of the unit */
    const sinter_compact_result *result; /* of sinter_compact_task_plan() */
    const sinter_key_codec *codec;       /* shows keys as text too; NULL: no */
} sinter_plan_content;

/** Append a `sinter.plan` document and a newline. Failures as of sinter_files_print(). */
SINTER_API SINTER_NODISCARD sinter_status
sinter_plan_print(const sinter_plan_content *content, sinter_text *out, sinter_error *err);

/**
 * Append a `sinter.inspect` document of a file and a newline: properties, and one object per block
 * if it is asked for.
 * @param name   shown as `file_name`
 * @param codec  shows keys as text too; NULL: no
 * @param flags  SINTER_PRINT_PRETTY, SINTER_PRINT_BLOCKS
 * @return       as sinter_files_print() and sinter_sst_each_block()
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_inspect_print(sinter_sst *sst, const char *name, const sinter_key_codec *codec,
                     uint32_t flags, sinter_text *out, sinter_error *err);

/**
 * Append a `sinter.verify` document and a newline.
 * @param result  what was counted; may be NULL after a failure
 * @param error   the fault; NULL: the file is sound
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_verify_print(const char *name, const sinter_sst_verify_result *result,
                    const sinter_error *error, uint32_t flags, sinter_text *out, sinter_error *err);

/** Append `{"error":{...}}` and a newline: what `--json` prints when a command fails.
 *  @return SINTER_OK, SINTER_E_NOMEM */
SINTER_API SINTER_NODISCARD sinter_status
sinter_error_print(const sinter_error *error, sinter_text *out, sinter_error *err);

/** A JSON object under construction, for reports that no function above prints. Confined. */
typedef struct sinter_json sinter_json;

/** Make an empty object. @param env borrowed until destroy. @return SINTER_OK, SINTER_E_NOMEM */
SINTER_API SINTER_NODISCARD sinter_status
sinter_json_create(const sinter_env *env, sinter_json **out, sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_json_destroy(sinter_json *json);

/**
 * Begin an object or array inside of what is open; what is put from now on goes into it, until
 * sinter_json_end(). A failure here and below is remembered and told by sinter_json_print().
 * @param name  of the member, UTF-8; ignored inside an array
 */
SINTER_API void
sinter_json_begin_object(sinter_json *json, const char *name);
SINTER_API void
sinter_json_begin_array(sinter_json *json, const char *name);

/** End what was begun last; the root needs no end. */
SINTER_API void
sinter_json_end(sinter_json *json);

/** Put a text; NULL puts null, bytes that are no UTF-8 become '?'. */
SINTER_API void
sinter_json_put_text(sinter_json *json, const char *name, const char *text);
SINTER_API void
sinter_json_put_integer(sinter_json *json, const char *name, int64_t value);
/** Put a count; above 2^63 - 1 is SINTER_E_OVERFLOW. */
SINTER_API void
sinter_json_put_count(sinter_json *json, const char *name, uint64_t value);
SINTER_API void
sinter_json_put_bool(sinter_json *json, const char *name, bool value);

/**
 * Append the object and a newline.
 * @param flags  SINTER_PRINT_PRETTY
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (no name, or one that is not UTF-8;
 *               something begun was not ended), SINTER_E_OVERFLOW (a count), SINTER_E_TOO_LARGE
 *               (nested deeper than SINTER_DOC_NESTING_MAX)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_json_print(const sinter_json *json, uint32_t flags, sinter_text *out, sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
