#include "format/avro_reader.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "format/avro_binary.h"

enum {
    READ_BYTES = 256 << 10,
    BLOCK_HEAD_BYTES_MAX = 2 * SINTER__AVRO_LONG_BYTES_MAX,
    META_ENTRIES_MAX = 4096
};

const uint8_t sinter__avro_magic[SINTER__AVRO_MAGIC_BYTES] = {'O', 'b', 'j', 1};

/** A key of the metadata and its value. */
typedef struct meta_entry {
    sinter_bytes key;
    sinter_bytes value;
} meta_entry;

struct sinter__avro_reader {
    const sinter_env *env;
    sinter_io_file *handle;
    char *path;
    uint64_t size;         /* of the file */
    uint64_t block_max;    /* raw bytes of a block */
    size_t read_bytes;     /* of one read */
    sinter__scratch ahead; /* bytes of the file: */
    uint64_t ahead_offset; /* they begin here */
    size_t ahead_size;     /* how many there are */
    size_t ahead_used;     /* how many of them are behind us */
    sinter__arena arena;   /* of the metadata */
    meta_entry *meta;
    size_t meta_count;
    size_t meta_capacity;
    sinter__avro_codec codec;
    sinter__avro_coder coder;
    uint8_t sync[SINTER__AVRO_SYNC_BYTES];
};

static uint64_t
position(const sinter__avro_reader *self)
{
    return self->ahead_offset + self->ahead_used;
}

/** Name file and offset of a failure that has none; returns `st`. */
static sinter_status
locate(const sinter__avro_reader *self, uint64_t offset, sinter_status st, sinter_error *err)
{
    if (st < 0) {
        sinter__fail_file(err, self->path);
        if (err != NULL && err->offset < 0) {
            err->offset = (int64_t)offset;
        }
    }
    return st;
}

/** Have `wanted` bytes in one piece where we stand, or as many as the file still has. */
static sinter_status
have(sinter__avro_reader *self, uint64_t wanted, sinter_bytes *out, sinter_error *err)
{
    const uint64_t left = self->size - position(self);
    const size_t there = self->ahead_size - self->ahead_used;
    size_t target = 0;
    sinter_io_range range = {0};
    static const uint8_t nothing[1]; /* an address, as there may be none yet */

    wanted = wanted < left ? wanted : left;
    if (wanted > there) {
        target = (size_t)(wanted > self->read_bytes ? wanted : self->read_bytes);
        target = (size_t)(target < left ? target : left);
        if (there > 0) {
            memmove(self->ahead.data, self->ahead.data + self->ahead_used, there);
        }
        self->ahead_offset += self->ahead_used;
        self->ahead_used = 0;
        self->ahead_size = there;
        SINTER__CHECK(sinter__scratch_grow(self->env, &self->ahead, target, err));
        range = (sinter_io_range){.offset = self->ahead_offset + there,
                                  .data = self->ahead.data + there,
                                  .size = target - there};
        SINTER__CHECK(self->handle->ops->read(self->handle, &range, 1, err));
        self->ahead_size = target;
    }
    *out = (sinter_bytes){nothing, 0};
    if (self->ahead_size > self->ahead_used) {
        *out = (sinter_bytes){self->ahead.data + self->ahead_used,
                              self->ahead_size - self->ahead_used};
    }
    return SINTER_OK;
}

static sinter_status
header_corrupt(const sinter__avro_reader *self, const sinter__avro_cursor *cursor,
               const uint8_t *begin, const char *what, sinter_error *err)
{
    return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->path,
                          position(self) + (uint64_t)(cursor->at - begin), "header: %s", what);
}

static sinter_status
keep_entry(sinter__avro_reader *self, const meta_entry *entry, sinter_error *err)
{
    meta_entry *place = NULL;

    if (self->meta_count == META_ENTRIES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "header: more than %d keys", META_ENTRIES_MAX);
    }
    if (self->meta_count == self->meta_capacity) {
        const size_t capacity = self->meta_capacity == 0 ? 4 : 2 * self->meta_capacity;

        SINTER__CHECK(
            sinter__resize(self->env, (void **)&self->meta, capacity, sizeof *self->meta, err));
        self->meta_capacity = capacity;
    }
    place = &self->meta[self->meta_count];
    SINTER__CHECK(sinter__arena_copy(&self->arena, entry->key, &place->key, err));
    SINTER__CHECK(sinter__arena_copy(&self->arena, entry->value, &place->value, err));
    self->meta_count++;
    return SINTER_OK;
}

/** A block of the map. `*count_out` 0: it was the last. SINTER_END: the bytes are not enough. */
static sinter_status
read_entries(sinter__avro_reader *self, sinter__avro_cursor *cursor, int64_t *count_out,
             sinter_error *err)
{
    meta_entry entry = {0};
    int64_t count = 0;
    int64_t skipped = 0;

    if (!sinter__avro_get_long(cursor, &count) || count == INT64_MIN) {
        return SINTER_END;
    }
    if (count < 0) {
        count = -count;
        if (!sinter__avro_get_long(cursor, &skipped)) {
            return SINTER_END;
        }
    }
    *count_out = count;
    for (int64_t i = 0; i < count; i++) {
        if (!sinter__avro_get_bytes(cursor, &entry.key) ||
            !sinter__avro_get_bytes(cursor, &entry.value)) {
            return SINTER_END;
        }
        SINTER__CHECK(keep_entry(self, &entry, err));
    }
    return SINTER_OK;
}

/* The map's size isn't known: it is read from what is there, and when that doesn't hold all of it,
 * from more. The usual header is in the first read. */
static sinter_status
read_meta(sinter__avro_reader *self, sinter__avro_cursor *cursor, sinter_error *err)
{
    sinter_bytes there = {0};
    sinter_status st = SINTER_END;
    int64_t count = 0;

    for (uint64_t wanted = 4096; st == SINTER_END; wanted *= 4) {
        const uint64_t limit =
            wanted < SINTER__AVRO_META_BYTES_MAX ? wanted : SINTER__AVRO_META_BYTES_MAX;

        SINTER__CHECK(have(self, limit, &there, err));
        there.size =
            there.size < SINTER__AVRO_META_BYTES_MAX ? there.size : SINTER__AVRO_META_BYTES_MAX;
        *cursor = (sinter__avro_cursor){there.data, there.data + there.size};
        self->meta_count = 0;
        do {
            st = read_entries(self, cursor, &count, err);
        } while (st == SINTER_OK && count != 0);
        if (st == SINTER_OK && cursor->end - cursor->at < SINTER__AVRO_SYNC_BYTES) {
            st = SINTER_END;
        }
        if (st == SINTER_END && limit == SINTER__AVRO_META_BYTES_MAX &&
            there.size == SINTER__AVRO_META_BYTES_MAX) {
            return header_corrupt(self, cursor, there.data, "more than 8 MiB of metadata", err);
        }
        if (st == SINTER_END && position(self) + there.size == self->size) {
            return header_corrupt(self, cursor, there.data,
                                  "the metadata is damaged or the file ends within it", err);
        }
    }
    return locate(self, position(self), st, err);
}

static sinter_status
read_header(sinter__avro_reader *self, sinter_error *err)
{
    sinter_bytes there = {0};
    sinter_bytes name = {0};
    sinter__avro_cursor cursor = {0};

    SINTER__CHECK(have(self, SINTER__AVRO_MAGIC_BYTES, &there, err));
    if (there.size < SINTER__AVRO_MAGIC_BYTES ||
        memcmp(there.data, sinter__avro_magic, SINTER__AVRO_MAGIC_BYTES) != 0) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->path, 0,
                              "no Avro container: it doesn't begin with \"Obj\" 1");
    }
    self->ahead_used = SINTER__AVRO_MAGIC_BYTES;
    SINTER__CHECK(read_meta(self, &cursor, err));
    memcpy(self->sync, cursor.at, sizeof self->sync);
    self->ahead_used = (size_t)(cursor.at - self->ahead.data) + sizeof self->sync;
    (void)sinter__avro_reader_meta(self, "avro.codec", &name);
    SINTER__CHECK(locate(self, SINTER__AVRO_MAGIC_BYTES,
                         sinter__avro_codec_find(name, &self->codec, err), err));
    if (!sinter__avro_reader_meta(self, "avro.schema", &name)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->path, SINTER__AVRO_MAGIC_BYTES,
                              "header: no avro.schema");
    }
    if (name.size > SINTER__AVRO_SCHEMA_BYTES_MAX) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, self->path, SINTER__AVRO_MAGIC_BYTES,
                              "header: a schema of %zu bytes; %d are the limit", name.size,
                              SINTER__AVRO_SCHEMA_BYTES_MAX);
    }
    return SINTER_OK;
}

static sinter_status
open_file(sinter__avro_reader *self, const char *path, const sinter__avro_reader_options *options,
          sinter_error *err)
{
    sinter_io *io = self->env->io;

    SINTER__CHECK(sinter__strdup(self->env, path, &self->path, err));
    SINTER__CHECK(
        io->ops->open(io, path, options->flags | SINTER_IO_SEQUENTIAL, &self->handle, err));
    SINTER__CHECK(self->handle->ops->size(self->handle, &self->size, err));
    if (options->expected_bytes != 0 && self->size != options->expected_bytes) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, path, self->size,
                              "the file has %llu bytes where it should have %llu",
                              (unsigned long long)self->size,
                              (unsigned long long)options->expected_bytes);
    }
    return read_header(self, err);
}

sinter_status
sinter__avro_reader_open(const sinter_env *env, const char *path,
                         const sinter__avro_reader_options *options, sinter__avro_reader **out,
                         sinter_error *err)
{
    const sinter__avro_reader_options defaults = {0};
    sinter__avro_reader *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    options = options == NULL ? &defaults : options;
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->arena.env = env;
    self->coder.env = env;
    self->block_max =
        options->block_bytes_max == 0 ? SINTER_BLOCK_BYTES_MAX : options->block_bytes_max;
    self->read_bytes = options->read_bytes == 0 ? READ_BYTES : options->read_bytes;
    SINTER__TRY(locate(self, 0, open_file(self, path, options, err), err));
    *out = self;
    self = NULL;
out:
    sinter__avro_reader_close(self);
    return st;
}

bool
sinter__avro_reader_meta(const sinter__avro_reader *reader, const char *key, sinter_bytes *out)
{
    const size_t size = strlen(key);

    for (size_t i = 0; i < reader->meta_count; i++) {
        if (reader->meta[i].key.size == size && memcmp(reader->meta[i].key.data, key, size) == 0) {
            *out = reader->meta[i].value;
            return true;
        }
    }
    return false;
}

const char *
sinter__avro_reader_path(const sinter__avro_reader *reader)
{
    return reader->path;
}

/** Read the two numbers in front of a block; `*size_out` gets how many bytes they take. */
static sinter_status
peek_block_head(sinter__avro_reader *self, int64_t *count, int64_t *bytes, size_t *size_out,
                sinter_error *err)
{
    sinter_bytes there = {0};
    sinter__avro_cursor cursor = {0};

    SINTER__CHECK(have(self, BLOCK_HEAD_BYTES_MAX, &there, err));
    cursor = (sinter__avro_cursor){there.data, there.data + there.size};
    if (!sinter__avro_get_long(&cursor, count) || !sinter__avro_get_long(&cursor, bytes)) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "the head of a block is damaged or cut off");
    }
    if (*count < 0 || *bytes < 0) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a block of %lld records and %lld bytes",
                           (long long)*count, (long long)*bytes);
    }
    *size_out = (size_t)(cursor.at - there.data);
    return SINTER_OK;
}

static sinter_status
read_block(sinter__avro_reader *self, sinter__avro_block *out, sinter_error *err)
{
    sinter_bytes there = {0};
    int64_t count = 0;
    int64_t bytes = 0;
    size_t head = 0;

    SINTER__CHECK(peek_block_head(self, &count, &bytes, &head, err));
    self->ahead_used += head;
    if ((uint64_t)bytes > self->block_max) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a block of %lld bytes; %llu are the limit",
                           (long long)bytes, (unsigned long long)self->block_max);
    }
    if ((uint64_t)bytes + SINTER__AVRO_SYNC_BYTES > self->size - position(self)) {
        return SINTER__ERR(err, SINTER_E_CORRUPT,
                           "a block of %lld bytes reaches beyond the end of the file",
                           (long long)bytes);
    }
    SINTER__CHECK(have(self, (uint64_t)bytes + SINTER__AVRO_SYNC_BYTES, &there, err));
    if (memcmp(there.data + bytes, self->sync, sizeof self->sync) != 0) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->path, position(self) + (uint64_t)bytes,
                              "the sync marker behind a block is not the file's");
    }
    self->ahead_used += (size_t)bytes + SINTER__AVRO_SYNC_BYTES;
    SINTER__CHECK(sinter__avro_block_decode(&self->coder, self->codec,
                                            (sinter_bytes){there.data, (size_t)bytes},
                                            self->block_max, &out->bytes, err));
    if ((uint64_t)count > out->bytes.size) {
        return SINTER__ERR(err, SINTER_E_CORRUPT, "a block of %zu bytes for %lld records",
                           out->bytes.size, (long long)count);
    }
    out->count = (uint64_t)count;
    return SINTER_OK;
}

sinter_status
sinter__avro_reader_next(sinter__avro_reader *reader, sinter__avro_block *out, sinter_error *err)
{
    *out = (sinter__avro_block){.offset = position(reader)};
    assert(out->offset <= reader->size);
    if (out->offset == reader->size) {
        return SINTER_END;
    }
    return locate(reader, out->offset, read_block(reader, out, err), err);
}

sinter_status
sinter__avro_reader_measure(sinter__avro_reader *reader, uint64_t *block_bytes_out,
                            uint64_t *reader_bytes_out, sinter_error *err)
{
    const uint64_t left = reader->size - position(reader);
    uint64_t stored = SINTER__AVRO_BLOCK_BYTES;
    uint64_t raw = SINTER__AVRO_BLOCK_BYTES;
    int64_t count = 0;
    int64_t bytes = 0;
    size_t head = 0;

    if (left == 0) {
        return SINTER_END;
    }
    SINTER__CHECK(
        locate(reader, position(reader), peek_block_head(reader, &count, &bytes, &head, err), err));
    stored = (uint64_t)bytes > stored ? (uint64_t)bytes : stored;
    stored = stored < left ? stored : left;
    raw = stored > raw ? stored : raw;
    raw = raw < reader->block_max ? raw : reader->block_max;
    *block_bytes_out = raw;
    /* What was read ahead is moved to the front of room that doubles. */
    *reader_bytes_out = sinter__scratch_room((size_t)(2 * (left < reader->read_bytes + stored
                                                               ? left + SINTER__AVRO_SYNC_BYTES
                                                               : reader->read_bytes + stored))) +
                        sinter__avro_decoder_bytes(reader->codec, raw);
    return SINTER_OK;
}

void
sinter__avro_reader_close(sinter__avro_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    if (reader->handle != NULL) {
        reader->handle->ops->close(reader->handle);
    }
    sinter__avro_coder_fini(&reader->coder);
    sinter__scratch_fini(reader->env, &reader->ahead);
    sinter__arena_fini(&reader->arena);
    sinter__free(reader->env, reader->meta);
    sinter__free(reader->env, reader->path);
    sinter__free(reader->env, reader);
}
