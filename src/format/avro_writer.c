#include "format/avro_writer.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/uuid.h"
#include "format/avro_binary.h"
#include "format/avro_reader.h"

struct sinter__avro_writer {
    const sinter_env *env;
    sinter_io_file *handle;
    char *path;
    sinter__avro_codec_choice codec;
    size_t block_bytes;
    sinter__pile block; /* raw records */
    int64_t count;      /* of them */
    sinter__avro_coder coder;
    uint64_t written;
    uint8_t sync[SINTER__AVRO_SYNC_BYTES];
};

static sinter_status
append(sinter__avro_writer *self, const void *data, size_t size, sinter_error *err)
{
    SINTER__CHECK(self->handle->ops->append(self->handle, data, size, err));
    self->written += size;
    return SINTER_OK;
}

static sinter_status
create_file(sinter__avro_writer *self, uint32_t flags, sinter_error *err)
{
    const char *slash = strrchr(self->path, '/');
    sinter_io *io = self->env->io;
    char *dir = NULL;
    sinter_status st = SINTER_OK;

    if (slash == NULL) {
        return io->ops->create(io, ".", flags, &self->handle, err);
    }
    SINTER__TRY(sinter__strdup(self->env, self->path, &dir, err));
    dir[slash == self->path ? 1 : slash - self->path] = '\0';
    SINTER__TRY(io->ops->create(io, dir, flags, &self->handle, err));
out:
    sinter__free(self->env, dir);
    return st;
}

/* As random as a name: no two files of a table have the same marker, and with a seed in the
 * environment the same path has the same marker again. */
static sinter_status
make_sync(sinter__avro_writer *self, sinter_error *err)
{
    char uuid[SINTER__UUID_CHARS + 1];

    SINTER__CHECK(sinter__uuid(self->env, sinter__hash(self->path, strlen(self->path)), uuid, err));
    sinter__put_le64(self->sync, sinter__hash(uuid, sizeof uuid));
    sinter__put_le64(self->sync + 8, sinter__hash_seeded(uuid, sizeof uuid, 1));
    return SINTER_OK;
}

static uint8_t *
put_text(uint8_t *to, const char *text)
{
    return sinter__avro_put_bytes(to, (sinter_bytes){(const uint8_t *)text, strlen(text)});
}

static sinter_status
write_header(sinter__avro_writer *self, const char *schema, sinter_error *err)
{
    enum { OTHER_BYTES_MAX = 128 };
    uint8_t *header = NULL;
    uint8_t *to = NULL;
    sinter_status st = SINTER_OK;

    assert(strlen(schema) <= SINTER__AVRO_SCHEMA_BYTES_MAX);
    SINTER__TRY(SINTER__NEW(self->env, header, strlen(schema) + OTHER_BYTES_MAX, err));
    memcpy(header, sinter__avro_magic, SINTER__AVRO_MAGIC_BYTES);
    to = sinter__avro_put_long(header + SINTER__AVRO_MAGIC_BYTES, 2);
    to = put_text(put_text(to, "avro.schema"), schema);
    to = put_text(put_text(to, "avro.codec"), sinter__avro_codec_name(self->codec.codec));
    to = sinter__avro_put_long(to, 0);
    memcpy(to, self->sync, sizeof self->sync);
    SINTER__TRY(append(self, header, (size_t)(to - header) + sizeof self->sync, err));
out:
    sinter__free(self->env, header);
    return st;
}

sinter_status
sinter__avro_writer_open(const sinter_env *env, const char *path,
                         const sinter__avro_writer_options *options, sinter__avro_writer **out,
                         sinter_error *err)
{
    sinter__avro_writer *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->coder.env = env;
    self->codec = options->codec;
    self->block_bytes = options->block_bytes == 0 ? SINTER__AVRO_BLOCK_BYTES : options->block_bytes;
    SINTER__TRY(sinter__strdup(env, path, &self->path, err));
    SINTER__TRY(create_file(self, options->flags, err));
    SINTER__TRY(make_sync(self, err));
    SINTER__TRY(write_header(self, options->schema, err));
    *out = self;
    self = NULL;
out:
    sinter__avro_writer_close(self);
    return st;
}

sinter_status
sinter__avro_writer_reserve(sinter__avro_writer *writer, size_t size, uint8_t **out,
                            sinter_error *err)
{
    sinter__pile *block = &writer->block;

    *out = NULL;
    if (size > SINTER_BLOCK_BYTES_MAX - block->size) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, writer->path, writer->written,
                              "a record of %zu bytes doesn't fit in a block", size);
    }
    SINTER__CHECK(sinter__scratch_grow(writer->env, &block->memory, block->size + size + 1, err));
    *out = block->memory.data + block->size;
    return SINTER_OK;
}

static sinter_status
end_block(sinter__avro_writer *self, sinter_error *err)
{
    uint8_t head[2 * SINTER__AVRO_LONG_BYTES_MAX];
    uint8_t *to = sinter__avro_put_long(head, self->count);
    sinter_bytes stored = {0};

    SINTER__CHECK(sinter__avro_block_encode(
        &self->coder, self->codec, (sinter_bytes){self->block.memory.data, self->block.size},
        &stored, err));
    to = sinter__avro_put_long(to, (int64_t)stored.size);
    SINTER__CHECK(append(self, head, (size_t)(to - head), err));
    SINTER__CHECK(append(self, stored.data, stored.size, err));
    SINTER__CHECK(append(self, self->sync, sizeof self->sync, err));
    self->count = 0;
    self->block.size = 0;
    return SINTER_OK;
}

sinter_status
sinter__avro_writer_commit(sinter__avro_writer *writer, size_t size, sinter_error *err)
{
    assert(size > 0); /* readers take a record of no bytes for a damaged block */
    assert(size <= writer->block.memory.capacity - writer->block.size);
    writer->block.size += size;
    writer->count++;
    return writer->block.size < writer->block_bytes ? SINTER_OK : end_block(writer, err);
}

sinter_status
sinter__avro_writer_append(sinter__avro_writer *writer, const sinter_bytes *records, size_t count,
                           sinter_error *err)
{
    sinter__pile *block = &writer->block;
    uint8_t *to = NULL;

    for (size_t i = 0; i < count; i++) {
        const sinter_bytes record = records[i];

        if (record.size < block->memory.capacity - block->size) {
            to = block->memory.data + block->size;
        } else {
            SINTER__CHECK(sinter__avro_writer_reserve(writer, record.size, &to, err));
        }
        assert(to != NULL); /* without memory there is no room */
        memcpy(to, record.data, record.size);
        SINTER__CHECK(sinter__avro_writer_commit(writer, record.size, err));
    }
    return SINTER_OK;
}

uint64_t
sinter__avro_writer_bytes(const sinter__avro_writer *writer)
{
    return writer->written;
}

sinter_status
sinter__avro_writer_finish(sinter__avro_writer *writer, uint64_t *bytes_out, sinter_error *err)
{
    sinter_io_file *handle = writer->handle;

    *bytes_out = 0;
    if (writer->count > 0) {
        SINTER__CHECK(end_block(writer, err));
    }
    SINTER__CHECK(handle->ops->sync(handle, err));
    SINTER__CHECK(handle->ops->publish(handle, writer->path, err));
    *bytes_out = writer->written;
    return SINTER_OK;
}

void
sinter__avro_writer_close(sinter__avro_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    if (writer->handle != NULL) {
        writer->handle->ops->close(writer->handle);
    }
    sinter__avro_coder_fini(&writer->coder);
    sinter__pile_fini(writer->env, &writer->block);
    sinter__free(writer->env, writer->path);
    sinter__free(writer->env, writer);
}
