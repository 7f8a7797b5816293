#include "table/meta_writer.h"

#include <string.h>

#include "base/fail.h"
#include "table/columnar_record_writer.h"

struct sinter__meta_writer {
    const sinter_env *env;
    sinter__avro_writer *avro;       /* NULL: another format */
    sinter__record_writer *columnar; /* NULL: Avro */
    sinter__buffer record;           /* of another format: the next one */
};

sinter_status
sinter__meta_format_find(const char *name, sinter__meta_format *out, sinter_error *err)
{
    static const char *const names[] = {[SINTER__META_AVRO] = "avro",
                                        [SINTER__META_PARQUET] = "parquet",
                                        [SINTER__META_ORC] = "orc"};

    *out = SINTER__META_AVRO;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (sinter__meta_format)i;
            return SINTER_OK;
        }
    }
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                       "manifests in \"%.32s\": avro, orc and parquet are known", name);
}

sinter_status
sinter__meta_writer_open(const sinter_env *env, const char *path,
                         const sinter__meta_writer_options *options, sinter__meta_writer **out,
                         sinter_error *err)
{
    const sinter__avro_writer_options avro = {.schema = options->schema, .codec = options->codec};
    const sinter__record_writer_options columnar = {.kind = options->format == SINTER__META_ORC
                                                                ? SINTER__COLUMNAR_ORC
                                                                : SINTER__COLUMNAR_PARQUET,
                                                    .schema = options->schema,
                                                    .codec = options->codec};
    sinter__meta_writer *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->env = env;
    st = options->format == SINTER__META_AVRO
             ? sinter__avro_writer_open(env, path, &avro, &self->avro, err)
             : sinter__record_writer_open(env, path, &columnar, &self->columnar, err);
    if (st != SINTER_OK) {
        sinter__meta_writer_close(self);
        return st;
    }
    *out = self;
    return SINTER_OK;
}

sinter_status
sinter__meta_writer_reserve(sinter__meta_writer *self, size_t size, uint8_t **out,
                            sinter_error *err)
{
    if (self->avro != NULL) {
        return sinter__avro_writer_reserve(self->avro, size, out, err);
    }
    self->record.size = 0;
    SINTER__CHECK(sinter__buffer_reserve(self->env, &self->record, size, err));
    *out = self->record.data;
    return SINTER_OK;
}

sinter_status
sinter__meta_writer_commit(sinter__meta_writer *self, size_t size, sinter_error *err)
{
    if (self->avro != NULL) {
        return sinter__avro_writer_commit(self->avro, size, err);
    }
    return sinter__record_writer_append(self->columnar, (sinter_bytes){self->record.data, size},
                                        err);
}

uint64_t
sinter__meta_writer_bytes(const sinter__meta_writer *self)
{
    return self->avro != NULL ? sinter__avro_writer_bytes(self->avro)
                              : sinter__record_writer_bytes(self->columnar);
}

sinter_status
sinter__meta_writer_finish(sinter__meta_writer *self, uint64_t *bytes_out, sinter_error *err)
{
    return self->avro != NULL ? sinter__avro_writer_finish(self->avro, bytes_out, err)
                              : sinter__record_writer_finish(self->columnar, bytes_out, err);
}

void
sinter__meta_writer_close(sinter__meta_writer *self)
{
    if (self != NULL) {
        sinter__avro_writer_close(self->avro);
        sinter__record_writer_close(self->columnar);
        sinter__buffer_fini(self->env, &self->record);
        sinter__free(self->env, self);
    }
}
