#include "table/deletion_file.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "sst/scratch.h"

enum {
    VERSION = 1,
    VERSION_BYTES = 1,
    OUTER_BYTES = 8, /* what the length of format 1 doesn't count */
    RANGES_FIRST = 8
};

/* ---- reading ---- */

struct sinter__deletion_file {
    const sinter_env *env;
    sinter_io_file *handle;
    char *path;
    uint64_t size;
    sinter__scratch bytes; /* of the vector that was read last */
};

static sinter_status
check_file(sinter__deletion_file *self, uint64_t expected_bytes, sinter_error *err)
{
    uint8_t version = 0;
    const sinter_io_range range = {.data = &version, .size = VERSION_BYTES};

    SINTER__CHECK(self->handle->ops->size(self->handle, &self->size, err));
    if (expected_bytes != 0 && self->size != expected_bytes) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->path, -1,
                              "the file has %llu bytes where it should have %llu",
                              (unsigned long long)self->size, (unsigned long long)expected_bytes);
    }
    if (self->size < VERSION_BYTES) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->path, 0,
                              "truncated: an index file of no bytes");
    }
    SINTER__CHECK(self->handle->ops->read(self->handle, &range, 1, err));
    if (version != VERSION) {
        return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, self->path, 0,
                              "an index file of deletion vectors of version %u, known is %d",
                              (unsigned)version, VERSION);
    }
    return SINTER_OK;
}

sinter_status
sinter__deletion_file_open(const sinter_env *env, const char *path, uint64_t expected_bytes,
                           sinter__deletion_file **out, sinter_error *err)
{
    sinter__deletion_file *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->env = env;
    SINTER__TRY(sinter__strdup(env, path, &self->path, err));
    SINTER__TRY(env->io->ops->open(env->io, path, 0, &self->handle, err));
    SINTER__TRY(check_file(self, expected_bytes, err));
    *out = self;
    self = NULL;
out:
    sinter__deletion_file_close(self);
    return st;
}

void
sinter__deletion_file_close(sinter__deletion_file *file)
{
    if (file == NULL) {
        return;
    }
    if (file->handle != NULL) {
        file->handle->ops->close(file->handle);
    }
    sinter__scratch_fini(file->env, &file->bytes);
    sinter__free(file->env, file->path);
    sinter__free(file->env, file);
}

/* Read the bytes of a range, and what a longer format might have behind them. */
static sinter_status
read_range(sinter__deletion_file *self, const sinter__vector_range *range, uint32_t flags,
           sinter__deletion_source *out, sinter_error *err)
{
    sinter_io_range bytes = {.offset = (uint64_t)range->offset};
    uint64_t left = 0;
    uint64_t wanted = (uint64_t)range->length + OUTER_BYTES;

    *out = (sinter__deletion_source){.path = self->path, .offset = bytes.offset, .flags = flags};
    if (range->offset < VERSION_BYTES || range->length <= 0) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->path, range->offset,
                              "length mismatch: a deletion vector of length %d at %d",
                              (int)range->length, (int)range->offset);
    }
    left = bytes.offset < self->size ? self->size - bytes.offset : 0;
    if ((uint64_t)range->length > left) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->path, range->offset,
                              "truncated: a deletion vector of length %d where %llu bytes are left",
                              (int)range->length, (unsigned long long)left);
    }
    wanted = wanted < left ? wanted : left;
    SINTER__CHECK(sinter__scratch_fit(self->env, &self->bytes, (size_t)wanted, err));
    bytes.data = self->bytes.data;
    bytes.size = (size_t)wanted;
    SINTER__CHECK(self->handle->ops->read(self->handle, &bytes, 1, err));
    out->bytes = (sinter_bytes){self->bytes.data, bytes.size};
    out->length = (uint64_t)range->length;
    return SINTER_OK;
}

sinter_status
sinter__deletion_file_read(sinter__deletion_file *file, const sinter__vector_range *range,
                           uint32_t flags, sinter__deletion_vector **out, sinter_error *err)
{
    sinter__deletion_source source;
    sinter__deletion_vector *vector = NULL;
    uint64_t count = 0;

    *out = NULL;
    SINTER__CHECK(read_range(file, range, flags, &source, err));
    SINTER__CHECK(sinter__deletion_vector_decode(file->env, &source, &vector, err));
    count = sinter__deletion_vector_count(vector);
    if ((range->has & SINTER__VECTOR_HAS_CARDINALITY) != 0 &&
        (uint64_t)range->cardinality != count && (flags & SINTER__DELETION_IGNORE_CHECKSUM) == 0) {
        sinter__deletion_vector_destroy(vector);
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, file->path, range->offset,
                              "a deletion vector of %llu positions where it should have %lld",
                              (unsigned long long)count, (long long)range->cardinality);
    }
    *out = vector;
    return SINTER_OK;
}

/* ---- writing ---- */

struct sinter__deletion_writer {
    const sinter_env *env;
    sinter_io_file *handle;
    char *path;
    char *dir;
    uint64_t written;
    sinter__scratch bytes; /* of the vector at hand */
    sinter__arena arena;   /* names of data files */
    sinter__vector_range *ranges;
    size_t range_count;
    size_t range_capacity;
};

static sinter_status
create_file(sinter__deletion_writer *self, sinter_error *err)
{
    const sinter_env *env = self->env;
    const uint8_t version = VERSION;
    char *slash = strrchr(self->path, '/');

    SINTER__CHECK(sinter__strdup(env, slash == NULL ? "." : self->path, &self->dir, err));
    if (slash != NULL) {
        self->dir[slash == self->path ? 1 : slash - self->path] = '\0';
    }
    SINTER__CHECK(env->io->ops->create(env->io, self->dir, 0, &self->handle, err));
    SINTER__CHECK(self->handle->ops->append(self->handle, &version, VERSION_BYTES, err));
    self->written = VERSION_BYTES;
    return SINTER_OK;
}

sinter_status
sinter__deletion_writer_open(const sinter_env *env, const char *path, sinter__deletion_writer **out,
                             sinter_error *err)
{
    sinter__deletion_writer *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->arena.env = env;
    SINTER__TRY(sinter__strdup(env, path, &self->path, err));
    SINTER__TRY(create_file(self, err));
    *out = self;
    self = NULL;
out:
    sinter__deletion_writer_close(self);
    return st;
}

void
sinter__deletion_writer_close(sinter__deletion_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    if (writer->handle != NULL) {
        writer->handle->ops->close(writer->handle);
    }
    sinter__scratch_fini(writer->env, &writer->bytes);
    sinter__arena_fini(&writer->arena);
    sinter__free(writer->env, writer->ranges);
    sinter__free(writer->env, writer->dir);
    sinter__free(writer->env, writer->path);
    sinter__free(writer->env, writer);
}

/* Offsets and lengths have 32 bits with a sign. */
static sinter_status
check_room(const sinter__deletion_writer *self, uint64_t bytes, sinter_error *err)
{
    if (bytes > INT32_MAX - self->written) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, self->path, self->written,
                              "%llu bytes more make an index file of 2 GiB",
                              (unsigned long long)bytes);
    }
    return SINTER_OK;
}

/* Append a vector's bytes and note its range, for which nothing may fail any more once they are in
 * the file. */
static sinter_status
append(sinter__deletion_writer *self, sinter_bytes bytes, const sinter__vector_range *range,
       sinter_error *err)
{
    sinter__vector_range noted = *range;

    if (self->range_count == self->range_capacity) {
        const size_t capacity = self->range_capacity == 0 ? RANGES_FIRST : self->range_capacity * 2;

        SINTER__CHECK(
            sinter__resize(self->env, (void **)&self->ranges, capacity, sizeof *self->ranges, err));
        self->range_capacity = capacity;
    }
    SINTER__CHECK(sinter__arena_copy(&self->arena, range->data_file, &noted.data_file, err));
    noted.offset = (int32_t)self->written;
    SINTER__CHECK(self->handle->ops->append(self->handle, bytes.data, bytes.size, err));
    self->ranges[self->range_count++] = noted;
    self->written += bytes.size;
    return SINTER_OK;
}

sinter_status
sinter__deletion_writer_add(sinter__deletion_writer *writer, sinter_bytes data_file,
                            sinter__deletion_vector *vector, sinter_error *err)
{
    const uint64_t count = sinter__deletion_vector_count(vector);
    sinter__vector_range range = {.data_file = data_file,
                                  .cardinality = (int64_t)count,
                                  .has = SINTER__VECTOR_HAS_CARDINALITY};
    sinter__deletion_frame frame = {.format = sinter__deletion_vector_format(vector)};
    uint64_t bytes = 0;

    assert(writer->handle != NULL);
    SINTER__CHECK(sinter__deletion_vector_encoded_bytes(vector, &bytes, err));
    SINTER__CHECK(check_room(writer, bytes, err));
    SINTER__CHECK(sinter__scratch_fit(writer->env, &writer->bytes, (size_t)bytes, err));
    (void)sinter__deletion_vector_encode(vector, writer->bytes.data);
    frame.bytes = (uint32_t)bytes;
    range.length = (int32_t)sinter__deletion_frame_length(&frame);
    return append(writer, (sinter_bytes){writer->bytes.data, (size_t)bytes}, &range, err);
}

sinter_status
sinter__deletion_writer_take(sinter__deletion_writer *writer, sinter__deletion_file *from,
                             const sinter__vector_range *range, sinter_error *err)
{
    sinter__deletion_source source;
    sinter__deletion_frame frame;

    assert(writer->handle != NULL);
    SINTER__CHECK(read_range(from, range, 0, &source, err));
    SINTER__CHECK(sinter__deletion_frame_check(&source, &frame, err));
    SINTER__CHECK(check_room(writer, frame.bytes, err));
    return append(writer, (sinter_bytes){source.bytes.data, frame.bytes}, range, err);
}

uint64_t
sinter__deletion_writer_bytes(const sinter__deletion_writer *writer)
{
    return writer->written;
}

sinter__vector_list
sinter__deletion_writer_vectors(const sinter__deletion_writer *writer)
{
    return (sinter__vector_list){writer->ranges, writer->range_count};
}

sinter_status
sinter__deletion_writer_finish(sinter__deletion_writer *writer, sinter_error *err)
{
    sinter_io *io = writer->env->io;
    sinter_io_file *handle = writer->handle;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(handle->ops->sync(handle, err));
    st = handle->ops->publish(handle, writer->path, err);
    if (st == SINTER_E_EXISTS) {
        return st;
    }
    if (st == SINTER_OK) {
        st = io->ops->sync_dir(io, writer->dir, err);
    }
    if (st != SINTER_OK) {
        /* Publishing may have worked and said otherwise; the name is ours alone, and nobody knows
         * of it yet. If this fails too, it is an orphan. */
        const sinter_status ignored = io->ops->unlink(io, writer->path, NULL);

        (void)ignored;
    }
    return st;
}
