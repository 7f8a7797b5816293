/*
 * How the data files of a table are written, as the options of its schema say (table-layout.md 2.2,
 * 7, 8, 9).
 */
#ifndef SINTER_TABLE_WRITE_PLAN_H
#define SINTER_TABLE_WRITE_PLAN_H

#include "base/arena.h"
#include "format/avro_block.h"
#include "table/external_paths.h"
#include "table/file_index_plan.h"
#include "table/stats_collector.h"
#include "table/table_options.h"

/** Formats of data files. */
typedef enum sinter__file_kind {
    SINTER__FILE_AVRO = 0,
    SINTER__FILE_PARQUET = 1,
    SINTER__FILE_ORC = 2,
    SINTER__FILE_SST = 3
} sinter__file_kind;

/** How the files of a level are written. */
typedef struct sinter__file_form {
    sinter__file_kind kind;
    int32_t codec;         /* sinter__avro_codec, sinter__columnar_codec or sinter_codec */
    int32_t codec_level;   /* zstd; 0: the codec's own */
    uint64_t group_bytes;  /* row groups of Parquet, stripes of ORC; 0: the format's own */
    uint32_t page_bytes;   /* of Parquet; 0: the format's own */
    bool no_dictionary;    /* of Parquet */
    const char *name;      /* "avro", "parquet", "orc", "sst" */
    const char *extension; /* ".avro", ".zstd.parquet" */
    const sinter__stats_mode *modes; /* of the plan's fields */
} sinter__file_form;

/** The form of a level that has one of its own. */
typedef struct sinter__level_form {
    int64_t level;
    sinter__file_form form;
} sinter__level_form;

/** A plan. Immutable once it is made. */
typedef struct sinter__write_plan {
    sinter__arena arena;
    const sinter_schema *schema;
    sinter__file_form form; /* of levels that are not among these */
    sinter__level_form *levels;
    size_t level_count;
    /* Columns of a file: the key's, sequence and kind, where there are any, and all of the table's.
     */
    sinter_field *fields;
    size_t field_count;
    size_t system_count; /* of them that are none of the table's */
    size_t *keys;        /* positions in the table of the primary key without partition columns */
    size_t key_count;    /* 0: no primary key */
    bool has_key_fields; /* data-file.thin-mode leaves them out */
    bool stats_dense;    /* metadata.stats-dense-store */
    sinter__file_index_plan indexes;
    const char *file_prefix;         /* data-file.prefix */
    sinter__external_paths external; /* where files go instead of the table */
} sinter__write_plan;

/**
 * Make a plan.
 *
 * @param out      zeroed with `arena.env` set; release with sinter__write_plan_fini(), after a
 *                 failure too
 * @param schema   of the files; must outlive the plan, as `options` must
 * @return         SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (an option's value is none),
 *                 SINTER_E_UNSUPPORTED (an option's value that can't be honoured; both named)
 */
sinter_status
sinter__write_plan_init(sinter__write_plan *out, const sinter_schema *schema,
                        const sinter__table_options *options, sinter_error *err);

/** Release. */
void
sinter__write_plan_fini(sinter__write_plan *self);

/** The form of files of a level. */
const sinter__file_form *
sinter__write_plan_form(const sinter__write_plan *self, int32_t level);

#endif
