#include "compact/file_block.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

/* Where bytes are packed one after the other; without memory they are only counted. */
typedef struct packing {
    uint8_t *data;
    size_t size;
} packing;

static const void *
pack(packing *to, const void *bytes, size_t size)
{
    const size_t at = to->size;

    to->size += size;
    if (to->data == NULL) {
        return NULL;
    }
    if (size > 0) {
        memcpy(to->data + at, bytes, size);
    }
    return to->data + at;
}

static const char *
pack_text(packing *to, const char *text)
{
    return text == NULL ? NULL : pack(to, text, strlen(text) + 1);
}

static sinter_bytes
pack_bytes(packing *to, sinter_bytes bytes)
{
    return (sinter_bytes){bytes.size == 0 ? NULL : pack(to, bytes.data, bytes.size), bytes.size};
}

/* Pack what `file` points to, and let `copy` point there. Pointers come first, aligned. */
static void
pack_file(packing *to, const sinter_file_meta *file, sinter_file_meta *copy)
{
    const size_t count = file->extra_file_count;
    const char **names = NULL;

    if (to->data != NULL) {
        names = (const char **)(void *)to->data;
    }
    to->size = count * sizeof *names;
    for (size_t i = 0; i < count; i++) {
        const char *name = pack_text(to, file->extra_files[i]);

        if (names != NULL) {
            names[i] = name;
        }
    }
    *copy = *file;
    copy->extra_files = count == 0 ? NULL : names;
    copy->file_name = pack_text(to, file->file_name);
    copy->dir = pack_text(to, file->dir);
    copy->external_path = pack_text(to, file->external_path);
    copy->min_key = pack_bytes(to, file->min_key);
    copy->max_key = pack_bytes(to, file->max_key);
    copy->upgraded_from = -1;
}

sinter_status
sinter__file_block_create(const sinter_env *env, const sinter_file_meta *file,
                          sinter__file_block **out, sinter_error *err)
{
    sinter__file_block *block = NULL;
    sinter_file_meta measured;
    packing to = {0};

    if (file->extra_file_count > SIZE_MAX / 2 / sizeof(const char *)) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu extra files", file->extra_file_count);
    }
    pack_file(&to, file, &measured);
    SINTER__CHECK(sinter__alloc(env, sizeof *block + to.size, 1, (void **)&block, err));
    assert(block != NULL);
    to.data = (uint8_t *)(block + 1);
    pack_file(&to, file, &block->meta);
    block->root = block;
    block->uses = 1;
    *out = block;
    return SINTER_OK;
}

static bool
texts_equal(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
bytes_equal(sinter_bytes a, sinter_bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool
texts_and_keys_equal(const sinter_file_meta *a, const sinter_file_meta *b)
{
    /* No directory and an empty one are the same. */
    return strcmp(a->file_name, b->file_name) == 0 &&
           texts_equal(a->dir == NULL ? "" : a->dir, b->dir == NULL ? "" : b->dir) &&
           texts_equal(a->external_path, b->external_path) && bytes_equal(a->min_key, b->min_key) &&
           bytes_equal(a->max_key, b->max_key);
}

bool
sinter__file_meta_equal(const sinter_file_meta *a, const sinter_file_meta *b)
{
    assert(a->file_name != NULL);
    assert(b->file_name != NULL);

    if (a->level != b->level || a->file_size != b->file_size || a->row_count != b->row_count ||
        a->delete_row_count != b->delete_row_count ||
        a->min_sequence_number != b->min_sequence_number ||
        a->max_sequence_number != b->max_sequence_number ||
        a->creation_time_ms != b->creation_time_ms || a->schema_id != b->schema_id ||
        a->file_source != b->file_source || a->extra_file_count != b->extra_file_count ||
        a->carried != b->carried || !texts_and_keys_equal(a, b)) {
        return false;
    }
    for (size_t i = 0; i < a->extra_file_count; i++) {
        if (strcmp(a->extra_files[i], b->extra_files[i]) != 0) {
            return false;
        }
    }
    return true;
}
