/*
 * A task of a compaction, and what came of it, between their documents and the work
 * (interchange.md 4, 5).
 */
#ifndef SINTER_TABLE_TASK_H
#define SINTER_TABLE_TASK_H

#include "base/bytes.h"
#include "doc/doc_read.h"
#include "doc/doc_write.h"
#include "sinter/table_compact.h"
#include "table/compact_options.h"
#include "table/index_manifest.h"
#include "table/manifest_entry.h"
#include "table/scan_columns.h"
#include "table/table.h"

/** How a task's files are worked on. The names are those of documents. */
typedef enum sinter__task_type {
    SINTER__TASK_COMPACT = 0,       /* "compact": merged by key, sections of runs */
    SINTER__TASK_REWRITE_FILES = 1, /* "rewrite-files": each by itself */
    SINTER__TASK_APPEND = 2         /* "append": one behind the other */
} sinter__task_type;

/** Where a file's deletion vector lies. */
typedef struct sinter__file_vector {
    const char *index_file; /* path below the table's directory, or whole; NULL: it has none */
    sinter__vector_range range;
} sinter__file_vector;

/** Keys of a part of a unit. Zeroed: all. */
typedef struct sinter__key_range {
    bool has_begin;
    bool has_end;
    sinter_bytes begin; /* encoded, inclusive */
    sinter_bytes end;   /* encoded, exclusive */
} sinter__key_range;

/** Which table, bucket and commit: what task and result share. */
typedef struct sinter__task_place {
    const char *task_id; /* of a unit, whatever its parts are */
    sinter__key_range range;
    const char *base_dir;
    const char *branch; /* NULL: main */
    int64_t schema_id;
    int64_t snapshot_id;
    sinter_bytes partition; /* a row with its arity in front */
    int32_t bucket;
    int32_t total_buckets;
    const char *user;
    int64_t identifier;
} sinter__task_place;

/** A task. What it points to is in an arena, or borrowed. */
typedef struct sinter__table_task {
    sinter__task_place place;
    sinter__task_type type;
    bool drop_delete;
    bool has_now; /* rows of the table expire */
    int64_t now_ms;
    bool force_rewrite_all_files;
    int32_t output_level;
    int32_t max_level;
    uint64_t small_file_bytes;
    uint64_t target_file_bytes;
    const char *output_dir; /* of new files, below the table's directory */
    const char *file_prefix;
    const char *format; /* of new files */
    const char *engine;
    const sinter_option *settings; /* over the schema's options */
    size_t setting_count;
    const sinter__manifest_entry *const *files;
    const sinter__file_vector *vectors; /* one a file */
    size_t count;
    const char *reason;
    const char *reason_text;
} sinter__table_task;

/** What documents of a table need to know of it. Borrowed. */
typedef struct sinter__doc_table {
    const sinter_env *env;
    const sinter_schema *schema;
    const sinter__scan_columns *columns; /* of that schema */
} sinter__doc_table;

/** A file for a document. */
typedef struct sinter__file_doc {
    const sinter__manifest_entry *entry;
    const char *dir;                   /* below the table's directory; NULL: not said */
    const sinter__file_vector *vector; /* NULL: none */
    bool with_stats; /* all of `table_meta`, too: a new file, or one whose rows expire */
} sinter__file_doc;

/**
 * Put a file's object (interchange.md 2).
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT (a key)
 */
sinter_status
sinter__file_doc_put(sinter__doc_writer *writer, json_t *object, const sinter__doc_table *table,
                     const sinter__file_doc *doc, sinter_error *err);

/**
 * Read a file: an entry of kind ADD at `place`.
 * @param vector_out  NULL: the document has none
 * @return            SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (the member)
 */
sinter_status
sinter__file_doc_parse(const sinter__doc_object *object, const sinter__doc_table *table,
                       const sinter__task_place *place, sinter__manifest_entry *out,
                       sinter__file_vector *vector_out, sinter_error *err);

/** Put what task and result share: `table` and `commit`. */
void
sinter__place_doc_put(sinter__doc_writer *writer, json_t *root, const sinter__doc_table *table,
                      const sinter__task_place *place);

/** Read it, without the task's id and base directory. */
sinter_status
sinter__place_doc_parse(const sinter__doc_object *root, sinter__task_place *out, sinter_error *err);

/** Put `range`: null where it is everything. */
void
sinter__range_doc_put(sinter__doc_writer *writer, json_t *root, const sinter__doc_table *table,
                      const sinter__key_range *range);

/** Read it. @return SINTER_OK, SINTER_E_INVALID (no hex, or it ends before it begins) */
sinter_status
sinter__range_doc_parse(const sinter__doc_object *root, sinter__key_range *out, sinter_error *err);

/** Append a task's document, without the end of its line. `schemas` are the contents of schema
 *  files, the newest first. */
sinter_status
sinter__task_doc_print(const sinter__doc_table *table, const sinter__table_task *task,
                       const sinter_bytes *schemas, size_t schema_count, sinter_text *out,
                       sinter_error *err);

/** A task that was read, with a table that has its schemas only. */
typedef struct sinter__task_doc {
    sinter__arena arena;
    json_t *json;
    sinter__json_source source;
    sinter_table *table;
    sinter__compaction options;
    sinter__scan_columns columns; /* all of the newest schema */
    sinter__table_task task;
} sinter__task_doc;

/**
 * Read a task.
 *
 * @param text      borrowed until fini
 * @param base_dir  instead of what it says; NULL: not
 * @param settings  over those of the task
 * @param out       zeroed; release with sinter__task_doc_fini(), after a failure too
 * @return          SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (line, column, member),
 *                  SINTER_E_UNSUPPORTED
 */
sinter_status
sinter__task_doc_load(const sinter_env *env, const sinter__json_source *text, const char *base_dir,
                      const sinter__settings *settings, sinter__task_doc *out, sinter_error *err);

void
sinter__task_doc_fini(sinter__task_doc *doc);

/** Names, types and values of a partition's columns. */
typedef struct sinter__partition_values {
    sinter_column *columns;
    sinter_datum *values;
    size_t count;
} sinter__partition_values;

/** Take a partition apart. Everything is in the arena, or points into the row. */
sinter_status
sinter__partition_open(const sinter__scan_columns *columns, sinter_bytes partition,
                       sinter__arena *arena, sinter__partition_values *out, sinter_error *err);

/** Append the partition as a directory, "a=1/b=x". */
sinter_status
sinter__partition_text(const sinter__scan_columns *columns, const sinter__partition_names *names,
                       sinter_bytes partition, sinter_text *out, sinter_error *err);

/** Append a bucket's directory below the table's, "a=1/bucket-0". */
sinter_status
sinter__bucket_dir(const sinter__scan_columns *columns, const sinter__table_options *options,
                   sinter_bytes partition, int32_t bucket, sinter_text *out, sinter_error *err);

#endif
