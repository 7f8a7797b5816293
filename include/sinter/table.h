/*
 * Tables in Paimon's layout (table-layout.md): schemas, snapshots, tags and branches of a table in
 * a directory.
 */
#ifndef SINTER_TABLE_H
#define SINTER_TABLE_H

#include "sinter/base.h"
#include "sinter/doc.h"
#include "sinter/env.h"
#include "sinter/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a commit was. The names are Paimon's. */
typedef enum sinter_commit_kind {
    SINTER_COMMIT_APPEND = 0,
    SINTER_COMMIT_COMPACT = 1,
    SINTER_COMMIT_OVERWRITE = 2,
    SINTER_COMMIT_ANALYZE = 3
} sinter_commit_kind;

/** "APPEND", "COMPACT", "OVERWRITE", "ANALYZE"; "?" for other numbers. */
SINTER_API const char *
sinter_commit_kind_name(int32_t kind);

/** A name in `manifest/` and its size. */
typedef struct sinter_list_file {
    const char *name;   /* NULL: none */
    int64_t size_bytes; /* -1: not known (written before 1.1) */
} sinter_list_file;

/** A snapshot as its file says. Strings live as long as it. Source: table-layout.md 3. */
typedef struct sinter_snapshot {
    uint32_t struct_size;
    int32_t commit_kind; /* sinter_commit_kind */
    int64_t version;     /* of the document; 3 is the newest known */
    int64_t id;          /* from 1 */
    int64_t schema_id;   /* newest at the commit */
    sinter_list_file base;
    sinter_list_file delta;
    sinter_list_file changelog; /* name NULL: none */
    const char *index_manifest; /* NULL: none */
    const char *commit_user;
    int64_t commit_identifier;
    int64_t time_ms; /* wall clock of the committer, UTC */
    int64_t total_record_count;
    int64_t delta_record_count;
    int64_t changelog_record_count; /* 0 when the file doesn't say */
    int64_t watermark;              /* INT64_MIN: none */
    const char *statistics;         /* name in statistics/; NULL: none */
    int64_t next_row_id;            /* -1: the file doesn't say */
    const sinter_option *properties;
    size_t property_count;
} sinter_snapshot;

/** Release; takes NULL. */
SINTER_API void
sinter_snapshot_destroy(sinter_snapshot *snapshot);

/** A schema as its file says. Everything lives as long as the table. Source: table-layout.md 2. */
typedef struct sinter_schema {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t version; /* of the document, 1..3 */
    int64_t id;
    int64_t highest_field_id;        /* ever given, nested and dropped ones included */
    int64_t time_ms;                 /* 0: not known */
    const sinter_row_type *row_type; /* all columns; its keys are the primary key */
    const char *const *partition_keys;
    size_t partition_key_count;
    const char *const *primary_keys;
    size_t primary_key_count;
    const sinter_option *options;
    size_t option_count;
    const char *comment; /* NULL: none */
} sinter_schema;

/** Value of an option as the schema has it; NULL: not set. */
SINTER_API const char *
sinter_schema_option(const sinter_schema *schema, const char *key);

/** A table, or one of its branches. Confined. */
typedef struct sinter_table sinter_table;

/** How to open a table. Zeroed with struct_size set: the main branch. */
typedef struct sinter_table_config {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;   /* the table's directory, or "file:" and it. Borrowed for the call */
    const char *branch; /* NULL: main. Borrowed for the call */
} sinter_table_config;

/**
 * Open a table: read its newest schema.
 *
 * @param env     borrowed until close; needs an io
 * @param config  copied
 * @return        SINTER_OK, SINTER_E_NOMEM,
 *                SINTER_E_NOT_FOUND    no such directory, branch, or no schema in it
 *                SINTER_E_UNSUPPORTED  a URI that isn't "file:", named
 *                SINTER_E_CORRUPT      a schema file, with line, column and member
 *                SINTER_E_INVALID      arguments; SINTER_E_IO
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_open(const sinter_env *env, const sinter_table_config *config, sinter_table **out,
                  sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_table_close(sinter_table *table);

/** The table's directory without "file:"; the branch's name, NULL for main. */
SINTER_API const char *
sinter_table_path(const sinter_table *table);
SINTER_API const char *
sinter_table_branch(const sinter_table *table);

/** The newest schema when the table was opened or refreshed. */
SINTER_API const sinter_schema *
sinter_table_schema(const sinter_table *table);

/** Look for a newer schema. @return as sinter_table_open() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_refresh(sinter_table *table, sinter_error *err);

/** The schema with this id; read once. @return as sinter_table_open() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_schema_get(sinter_table *table, int64_t id, const sinter_schema **out,
                        sinter_error *err);

/**
 * Id of the newest (oldest) snapshot. Hints are tried first and never trusted.
 * @return SINTER_OK, SINTER_END (the table has no snapshot), SINTER_E_NOMEM, SINTER_E_IO
 * Source: table-layout.md 1.3.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_latest_id(sinter_table *table, int64_t *out, sinter_error *err);
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_earliest_id(sinter_table *table, int64_t *out, sinter_error *err);

/**
 * Read a snapshot.
 * @param out  release with sinter_snapshot_destroy()
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_NOT_FOUND (never there),
 *             SINTER_E_EXPIRED (older than the oldest),
 *             SINTER_E_CORRUPT (file, line, column, member),
 *             SINTER_E_UNSUPPORTED (a version above 3), SINTER_E_IO
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_snapshot_get(sinter_table *table, int64_t id, sinter_snapshot **out,
                          sinter_error *err);

/** The snapshot that a tag holds. @return as above, SINTER_E_INVALID (no name of a tag) */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_snapshot_of_tag(sinter_table *table, const char *tag, sinter_snapshot **out,
                             sinter_error *err);

/**
 * The newest snapshot whose time is at most `time_ms`.
 * @return as above, SINTER_E_NOT_FOUND when all are newer
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_snapshot_at(sinter_table *table, int64_t time_ms, sinter_snapshot **out,
                         sinter_error *err);

/**
 * Call `each` with the ids of all snapshots, ascending. A failure of `each` ends the walk.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_IO, what `each` gave
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_each_snapshot(sinter_table *table, sinter_status (*each)(void *ctx, int64_t id),
                           void *ctx, sinter_error *err);

/** The same with the names of tags, and of branches, in the order of their bytes.
 *  @return as sinter_table_each_snapshot() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_each_tag(sinter_table *table, sinter_status (*each)(void *ctx, const char *name),
                      void *ctx, sinter_error *err);
SINTER_API SINTER_NODISCARD sinter_status
sinter_table_each_branch(sinter_table *table, sinter_status (*each)(void *ctx, const char *name),
                         void *ctx, sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
