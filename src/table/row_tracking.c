#include "table/row_tracking.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "table/schema_check.h"

enum { ROW_ID = 2147483642, SEQUENCE_ID = 2147483646, TRACKING_COLUMNS = 2 };

static const sinter_field tracking[TRACKING_COLUMNS] = {
    {.name = "_ROW_ID", .id = ROW_ID, .type = {.id = SINTER_TYPE_BIGINT, .nullable = true}},
    {.name = "_SEQUENCE_NUMBER", .id = SEQUENCE_ID, .type = {.id = SINTER_TYPE_BIGINT}}};

sinter_status
sinter__tracked_schema_init(const sinter_env *env, const sinter_schema *base,
                            sinter__tracked_schema *out, sinter_error *err)
{
    const size_t count = sinter_row_type_count(base->row_type);
    sinter_type_parts parts = {.count = count + TRACKING_COLUMNS};
    const sinter_type type = {.id = SINTER_TYPE_ROW, .parts = &parts};
    sinter_field *fields = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(SINTER__NEW(env, fields, parts.count, err));
    parts.fields = fields;
    for (size_t i = 0; i < parts.count; i++) {
        fields[i] = i < count
                        ? (sinter_field){.name = sinter_row_type_column_name(base->row_type, i),
                                         .id = sinter_row_type_column_id(base->row_type, i),
                                         .type = *sinter_row_type_column_type(base->row_type, i)}
                        : tracking[i - count];
    }
    st = sinter_row_type_of_type(env, &type, NULL, 0, &out->row_type, err);
    sinter__free(env, fields);
    if (st == SINTER_OK) {
        out->schema = *base;
        out->schema.row_type = out->row_type;
    }
    return st;
}

void
sinter__tracked_schema_fini(sinter__tracked_schema *self)
{
    sinter_row_type_destroy(self->row_type);
    self->row_type = NULL;
}

bool
sinter__has_tracking_columns(const sinter__data_file *file)
{
    size_t found = 0;

    for (size_t i = 0; (file->has & SINTER__FILE_HAS_WRITE_COLS) != 0 && i < file->write_cols.count;
         i++) {
        for (size_t k = 0; k < TRACKING_COLUMNS; k++) {
            found += sinter__name_is(file->write_cols.items[i], tracking[k].name) ? 1 : 0;
        }
    }
    return found == TRACKING_COLUMNS;
}

sinter__row_defaults
sinter__row_defaults_of(const sinter__data_file *file, size_t at)
{
    return (sinter__row_defaults){.at = at,
                                  .has_first_row_id =
                                      (file->has & SINTER__FILE_HAS_FIRST_ROW_ID) != 0,
                                  .first_row_id = file->first_row_id,
                                  .sequence = file->max_sequence,
                                  .is_set = true};
}
