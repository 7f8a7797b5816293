/*
 * Rows of values into columns of Arrow, to be written to Parquet and ORC files.
 */
#ifndef SINTER_TABLE_COLUMNAR_BUILDER_H
#define SINTER_TABLE_COLUMNAR_BUILDER_H

#include "table/columnar_type.h"

/** Columns that rows are appended to. Confined. */
typedef struct sinter__columnar_builder sinter__columnar_builder;

/**
 * Make an empty one.
 *
 * @param kind    sinter__columnar_kind of the files that the rows go to
 * @param fields  `count` of them; only their types are kept, whose parts are borrowed
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_UNSUPPORTED (VARIANT, BLOB, a nested type of
 *                unknown parts; column named)
 */
sinter_status
sinter__columnar_builder_create(const sinter_env *env, int32_t kind,
                                const sinter__columnar_field *fields, size_t count,
                                sinter__columnar_builder **out, sinter_error *err);

/** Release; takes NULL. */
void
sinter__columnar_builder_destroy(sinter__columnar_builder *builder);

/**
 * Append a row.
 *
 * @param values  one per column, within their types; copied
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_TOO_LARGE (2 GiB of strings, or as many
 *                elements, in a column: take the rows before), SINTER_E_OVERFLOW (a timestamp that
 *                Arrow can't hold), SINTER_E_CORRUPT (a nested value). After a failure it can only
 *                be destroyed
 */
sinter_status
sinter__columnar_builder_append(sinter__columnar_builder *builder, const sinter_datum *values,
                                sinter_error *err);

/** Rows since the last take, and their bytes. */
uint64_t
sinter__columnar_builder_rows(const sinter__columnar_builder *builder);
uint64_t
sinter__columnar_builder_bytes(const sinter__columnar_builder *builder);

/**
 * Hand the rows over as a struct array and be empty again.
 * @param out  release it by its own function; it doesn't need the builder
 * @return     SINTER_OK, SINTER_E_NOMEM; after that the builder can only be destroyed
 */
sinter_status
sinter__columnar_builder_take(sinter__columnar_builder *builder, struct ArrowArray *out,
                              sinter_error *err);

#endif
