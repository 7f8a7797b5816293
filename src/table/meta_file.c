#include "table/meta_file.h"

#include <assert.h>
#include <string.h>

#include "format/avro_reader.h"
#include "table/columnar_records.h"

enum {
    BLOCK_BYTES_MAX = 256 << 20, /* usual are 64 KB and a record */
    MAGIC_BYTES = 4
};

struct sinter__meta_file {
    const sinter_env *env;
    const sinter__meta_kind *kind;
    char *path;
    sinter__avro_reader *reader;       /* NULL: ORC or Parquet */
    sinter__columnar_records *records; /* NULL: Avro */
    sinter__avro_schema *schema;
    sinter__avro_decoder *decoder;
    sinter__cargo cargo; /* of each record: the decoder fills the values */
    sinter__avro_block block;
    sinter__avro_cursor cursor; /* in the block */
    uint64_t left;              /* records of the block */
};

/** The version alone, to tell when nothing else can be read. */
typedef struct version_record {
    int32_t version;
    uint32_t padding;
} version_record;

static const sinter__avro_want version_want = {"_VERSION", SINTER__AVRO_FORM_INT32,
                                               offsetof(version_record, version), 0, NULL};
static const sinter__avro_shape version_shape = {&version_want, 1, sizeof(version_record), 0};

sinter_status
sinter__meta_file_fault(const sinter__meta_file *file, sinter_status st, sinter_error *err)
{
    if (st < 0) {
        sinter__fail_file(err, file->path);
        if (err != NULL && err->offset < 0 && file->reader != NULL) {
            err->offset = (int64_t)file->block.offset;
        }
    }
    return st;
}

static sinter_status
unknown_version(const sinter__meta_file *self, int32_t version, sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                       "version %d of a %s is not known; %d is the one that is", version,
                       self->kind->what, self->kind->version);
}

/** Get the next block. */
static sinter_status
next_block(sinter__meta_file *self, sinter_error *err)
{
    if (self->cursor.at != self->cursor.end) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "%zu bytes follow the last record of a block",
                           (size_t)(self->cursor.end - self->cursor.at));
    }
    if (self->records != NULL) { /* each is a block of its own */
        SINTER__CHECK(sinter__columnar_records_next(self->records, &self->block.bytes, err));
        self->block.count = 1;
    } else {
        SINTER__CHECK(sinter__avro_reader_next(self->reader, &self->block, err));
    }
    self->cursor = (sinter__avro_cursor){self->block.bytes.data,
                                         self->block.bytes.data + self->block.bytes.size};
    self->left = self->block.count;
    return SINTER_OK;
}

/* A file of another version may lack what is wanted: then its version is what to tell, if it can
 * be read. */
static bool
has_other_version(sinter__meta_file *self, int32_t *out)
{
    sinter__avro_decoder *decoder = NULL;
    version_record record = {.version = self->kind->version};
    sinter_status st =
        sinter__avro_decoder_create(self->env, self->schema, &version_shape, &decoder, NULL);

    if (st == SINTER_OK) {
        st = next_block(self, NULL);
    }
    if (st == SINTER_OK) {
        st = sinter__avro_decoder_next(decoder, &self->cursor, &record, NULL);
    }
    sinter__avro_decoder_destroy(decoder);
    *out = record.version;
    return st == SINTER_OK && record.version != self->kind->version;
}

/** See which fields of the file are unknown, and describe them if they are to be kept. */
static sinter_status
find_unknown(sinter__meta_file *self, sinter_bytes schema, sinter__arena *keep, sinter_error *err)
{
    size_t spares = 0;

    if (keep != NULL) {
        SINTER__CHECK(
            sinter__carried_create(keep, self->decoder, schema, &self->cargo.carried, err));
        self->cargo.values = sinter__avro_decoder_spare_values(self->decoder);
        return SINTER_OK;
    }
    (void)sinter__avro_decoder_spares(self->decoder, &spares);
    if (spares > 0 || sinter__avro_decoder_lost(self->decoder) != NULL) {
        self->cargo.carried = &sinter__carried_nothing_kept;
    }
    return SINTER_OK;
}

static sinter_status
compile(sinter__meta_file *self, const sinter__meta_read *how, sinter_error *err)
{
    sinter_bytes text = {0};
    sinter_status st = SINTER_OK;
    int32_t version = 0;

    if (self->records != NULL) {
        text = sinter__columnar_records_schema(self->records);
    } else {
        (void)sinter__avro_reader_meta(self->reader, "avro.schema", &text);
    }
    SINTER__CHECK(sinter__avro_schema_parse(self->env, text, &self->schema, err));
    st = sinter__avro_decoder_create(self->env, self->schema, self->kind->shape, &self->decoder,
                                     err);
    if ((st == SINTER_E_CORRUPT || st == SINTER_E_UNSUPPORTED) &&
        has_other_version(self, &version)) {
        return unknown_version(self, version, err);
    }
    SINTER__CHECK(st);
    return find_unknown(self, text, how->keep, err);
}

/** The first bytes of a file; fewer, and zeros, when it has fewer. */
static sinter_status
read_magic(const sinter_env *env, const char *path, uint8_t magic[MAGIC_BYTES], sinter_error *err)
{
    sinter_io_file *handle = NULL;
    sinter_io_range range = {.data = magic};
    uint64_t size = 0;
    sinter_status st = SINTER_OK;

    memset(magic, 0, MAGIC_BYTES);
    SINTER__TRY(env->io->ops->open(env->io, path, 0, &handle, err));
    SINTER__TRY(handle->ops->size(handle, &size, err));
    range.size = size < MAGIC_BYTES ? (size_t)size : MAGIC_BYTES;
    if (range.size > 0) {
        SINTER__TRY(handle->ops->read(handle, &range, 1, err));
    }
out:
    if (handle != NULL) {
        handle->ops->close(handle);
    }
    return st;
}

/** Open the file by what it is made of: the one place that knows. */
static sinter_status
open_by_magic(sinter__meta_file *self, const char *path, const sinter__meta_read *how,
              sinter_error *err)
{
    const sinter__avro_reader_options options = {.expected_bytes = how->expected_bytes,
                                                 .block_bytes_max = BLOCK_BYTES_MAX};
    uint8_t magic[MAGIC_BYTES];

    SINTER__CHECK(sinter__strdup(self->env, path, &self->path, err));
    SINTER__CHECK(read_magic(self->env, path, magic, err));
    if (memcmp(magic, "ORC", 3) == 0 || memcmp(magic, "PAR1", MAGIC_BYTES) == 0) {
        return sinter__columnar_records_open(self->env, path, how->expected_bytes, &self->records,
                                             err);
    }
    return sinter__avro_reader_open(self->env, path, &options, &self->reader, err);
}

sinter_status
sinter__meta_file_open(const sinter_env *env, const char *path, const sinter__meta_kind *kind,
                       const sinter__meta_read *how, sinter__meta_file **out, sinter_error *err)
{
    const sinter__meta_read defaults = {0};
    sinter__meta_file *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    how = how == NULL ? &defaults : how;
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->kind = kind;
    SINTER__TRY(open_by_magic(self, path, how, err));
    SINTER__TRY(sinter__meta_file_fault(self, compile(self, how, err), err));
    *out = self;
    self = NULL;
out:
    sinter__meta_file_close(self);
    return st;
}

static sinter_status
next_record(sinter__meta_file *self, void *record, sinter_error *err)
{
    int32_t version = 0;

    while (self->left == 0) {
        SINTER__CHECK(next_block(self, err));
    }
    SINTER__CHECK(sinter__avro_decoder_next(self->decoder, &self->cursor, record, err));
    self->left--;
    memcpy(&version, record, sizeof version);
    return version == self->kind->version ? SINTER_OK : unknown_version(self, version, err);
}

sinter_status
sinter__meta_file_next(sinter__meta_file *file, void *record, sinter__cargo *cargo,
                       sinter_error *err)
{
    SINTER__CHECK(sinter__meta_file_fault(file, next_record(file, record, err), err));
    *cargo = file->cargo;
    return SINTER_OK;
}

void
sinter__meta_file_close(sinter__meta_file *file)
{
    if (file != NULL) {
        sinter__avro_decoder_destroy(file->decoder);
        sinter__avro_schema_destroy(file->schema);
        sinter__avro_reader_close(file->reader);
        sinter__columnar_records_close(file->records);
        sinter__free(file->env, file->path);
        sinter__free(file->env, file);
    }
}

sinter_status
sinter__meta_codec(const char *name, int level, sinter__avro_codec_choice *out, sinter_error *err)
{
    const char *known = strcmp(name, "zstd") == 0 ? "zstandard" : name;

    *out = (sinter__avro_codec_choice){.level = level};
    return sinter__avro_codec_find((sinter_bytes){(const uint8_t *)known, strlen(known)},
                                   &out->codec, err);
}

static char *
put_text(char *to, const char *text)
{
    return text == NULL ? to : stpcpy(to, text);
}

/** Print the schema, and see that it is one: carried fields of several files could define a name
 *  twice. */
static sinter_status
make_schema(const sinter_env *env, const sinter__meta_kind *kind,
            const sinter__carried_union *carried, char **out, sinter_error *err)
{
    static const char end[] = "]}";
    const size_t size =
        strlen(kind->schema_begin) + (kind->schema_outer == NULL ? 0 : strlen(kind->schema_outer)) +
        sinter__carried_union_json_size(carried, NULL) +
        (kind->outer == NULL ? 0 : sinter__carried_union_json_size(carried, kind->outer)) +
        sizeof end;
    sinter__avro_schema *schema = NULL;
    sinter_status st = SINTER_OK;
    char *to = NULL;

    SINTER__CHECK(SINTER__NEW(env, *out, size, err));
    to = put_text(*out, kind->schema_begin);
    if (kind->outer != NULL) {
        to = sinter__carried_union_json_put(carried, kind->outer, to);
    }
    to = put_text(to, kind->schema_outer);
    to = sinter__carried_union_json_put(carried, NULL, to);
    to = put_text(to, end);
    assert((size_t)(to - *out) == size - 1);
    if (carried->count == 0) {
        return SINTER_OK;
    }
    if (size - 1 > SINTER__AVRO_SCHEMA_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "the schema of a %s has %zu bytes", kind->what,
                           size - 1);
    }
    st = sinter__avro_schema_parse(env, (sinter_bytes){(const uint8_t *)*out, size - 1}, &schema,
                                   err);
    sinter__avro_schema_destroy(schema);
    if (st == SINTER_E_CORRUPT) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "the unknown fields of a %s can't be carried over together", kind->what);
    }
    return st;
}

sinter_status
sinter__meta_file_create(const sinter_env *env, const sinter__meta_write *how,
                         const sinter__meta_kind *kind, const sinter__carried_union *carried,
                         sinter__meta_writer **out, sinter_error *err)
{
    char *schema = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(make_schema(env, kind, carried, &schema, err));
    SINTER__TRY(sinter__meta_writer_open(env, how->path,
                                         &(const sinter__meta_writer_options){.format = how->format,
                                                                              .schema = schema,
                                                                              .codec = how->codec},
                                         out, err));
out:
    sinter__free(env, schema);
    return st;
}
