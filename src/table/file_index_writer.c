#include "table/file_index_writer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "sinter/io.h"
#include "sinter/nested.h"
#include "table/file_index_builder.h"
#include "table/java_order.h"

#define MAGIC ((int64_t)0x54e4ed01a35aeLL)

enum { VERSION = 1, TEXT_BYTES_MAX = UINT16_MAX };

/** Where an index stands among all. */
typedef struct body {
    size_t at;
    size_t bytes;
} body;

struct sinter__file_index_writer {
    const sinter_env *env;
    const sinter__file_index_plan *plan;
    const sinter_field *fields;
    sinter__index_builder **builders;
    body *bodies;
    sinter__pile content; /* indexes, one behind the other */
    sinter__pile head;    /* what stands before them; all, where all is embedded */
    char *path;           /* of the index file; NULL: there is none */
    bool is_published;
    bool is_kept;
};

/* ---- making and releasing ---- */

static sinter_status
open_builder(const sinter_env *env, const sinter__file_index *index, sinter__index_builder **out,
             sinter_error *err)
{
    switch (index->kind) {
    case SINTER__FILE_INDEX_BLOOM:
        return sinter__index_bloom_open(env, index, out, err);
    case SINTER__FILE_INDEX_BITMAP:
        return sinter__index_bitmap_open(env, index, out, err);
    case SINTER__FILE_INDEX_BSI:
        return sinter__index_bsi_open(env, index, out, err);
    default:
        return sinter__index_range_open(env, index, out, err);
    }
}

/* Name the index of a failure. */
static sinter_status
told(sinter_status st, const sinter__file_index *index, sinter_error *err)
{
    if (st != SINTER_OK) {
        sinter__fail_context(err, "%s index of column %.60s",
                             sinter__file_index_kind_name(index->kind), index->name);
    }
    return st;
}

static sinter_status
open_builders(sinter__file_index_writer *self, sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(self->env, self->builders, self->plan->count, err));
    SINTER__CHECK(SINTER__NEW(self->env, self->bodies, self->plan->count, err));
    for (size_t i = 0; i < self->plan->count; i++) {
        const sinter__file_index *index = &self->plan->items[i];

        SINTER__CHECK(told(open_builder(self->env, index, &self->builders[i], err), index, err));
    }
    return SINTER_OK;
}

sinter_status
sinter__file_index_writer_open(const sinter_env *env, const sinter__file_index_plan *plan,
                               const sinter_field *fields, sinter__file_index_writer **out,
                               sinter_error *err)
{
    sinter__file_index_writer *self = NULL;
    sinter_status st = SINTER_OK;

    assert(plan->count > 0);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->plan = plan;
    self->fields = fields;
    SINTER__TRY(open_builders(self, err));
    *out = self;
    self = NULL;
out:
    sinter__file_index_writer_close(self);
    return st;
}

void
sinter__file_index_writer_keep(sinter__file_index_writer *self)
{
    self->is_kept = true;
}

void
sinter__file_index_writer_close(sinter__file_index_writer *self)
{
    if (self == NULL) {
        return;
    }
    for (size_t i = 0; self->builders != NULL && i < self->plan->count; i++) {
        if (self->builders[i] != NULL) {
            self->builders[i]->close(self->builders[i]);
        }
    }
    if (self->is_published && !self->is_kept) {
        /* What can't be removed is an orphan: the failure that led here is the one told. */
        const sinter_status st = self->env->io->ops->unlink(self->env->io, self->path, NULL);

        (void)st;
    }
    sinter__pile_fini(self->env, &self->content);
    sinter__pile_fini(self->env, &self->head);
    sinter__free(self->env, self->path);
    sinter__free(self->env, self->bodies);
    sinter__free(self->env, self->builders);
    sinter__free(self->env, self);
}

/* ---- rows ---- */

static sinter_status
add_datum(sinter__index_builder *builder, const sinter_type *type, const sinter_datum *datum,
          sinter_error *err)
{
    sinter__index_value value;

    if (datum->is_null) {
        return builder->add(builder, NULL, err);
    }
    SINTER__CHECK(sinter__index_value_of(type, datum, &value, err));
    return builder->add(builder, &value, err);
}

/* The value of a key; a MAP without it is as null. */
static sinter_status
add_of_map(const sinter__file_index_writer *self, size_t at, const sinter_datum *map,
           sinter_error *err)
{
    const sinter__file_index *index = &self->plan->items[at];
    const size_t key_size = strlen(index->key);
    sinter_array keys = {.count = 0};
    sinter_array values = {.count = 0};
    bool is_there = false;

    if (!map->is_null) {
        SINTER__CHECK(
            sinter_map_open(&self->fields[index->column].type, map->as.bytes, &keys, &values, err));
    }
    for (size_t i = 0; i < keys.count; i++) {
        sinter_datum datum;

        SINTER__CHECK(sinter_array_get(&keys, i, &datum, err));
        if (!datum.is_null && datum.as.bytes.size == key_size &&
            memcmp(datum.as.bytes.data, index->key, key_size) == 0) {
            SINTER__CHECK(sinter_array_get(&values, i, &datum, err));
            SINTER__CHECK(add_datum(self->builders[at], &index->type, &datum, err));
            is_there = true;
        }
    }
    return is_there ? SINTER_OK : self->builders[at]->add(self->builders[at], NULL, err);
}

sinter_status
sinter__file_index_writer_add(sinter__file_index_writer *self, const sinter_datum *values,
                              sinter_error *err)
{
    for (size_t i = 0; i < self->plan->count; i++) {
        const sinter__file_index *index = &self->plan->items[i];
        const sinter_datum *value = &values[index->column];

        SINTER__CHECK(told(index->key == NULL
                               ? add_datum(self->builders[i], &index->type, value, err)
                               : add_of_map(self, i, value, err),
                           index, err));
    }
    return SINTER_OK;
}

/* ---- the container ---- */

/* Put the bytes of a UTF-16 unit as Java's DataOutput has them; returns how many. */
static size_t
put_unit(uint16_t unit, uint8_t out[3])
{
    if (unit > 0 && unit < 0x80) {
        out[0] = (uint8_t)unit;
        return 1;
    }
    if (unit < 0x800) {
        out[0] = (uint8_t)(0xc0u | unit >> 6);
        out[1] = (uint8_t)(0x80u | (unit & 0x3fu));
        return 2;
    }
    out[0] = (uint8_t)(0xe0u | unit >> 12);
    out[1] = (uint8_t)(0x80u | (unit >> 6 & 0x3fu));
    out[2] = (uint8_t)(0x80u | (unit & 0x3fu));
    return 3;
}

static sinter_status
put_text(sinter__file_index_writer *self, const char *text, sinter_error *err)
{
    const size_t before = self->head.size;
    uint8_t *to = NULL;
    uint16_t units[2];
    size_t count = 0;
    size_t bytes = 0;

    SINTER__CHECK(sinter__index_room(self->env, &self->head, 2, &to, err));
    while ((count = sinter__java_units(&text, units)) > 0) {
        for (size_t i = 0; i < count; i++) {
            uint8_t unit[3];
            const size_t size = put_unit(units[i], unit);

            SINTER__CHECK(sinter__index_room(self->env, &self->head, size, &to, err));
            memcpy(to, unit, size);
        }
    }
    bytes = self->head.size - before - 2;
    if (bytes > TEXT_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a name of %zu bytes, %d are the limit", bytes,
                           TEXT_BYTES_MAX);
    }
    self->head.memory.data[before] = (uint8_t)(bytes >> 8);
    self->head.memory.data[before + 1] = (uint8_t)bytes;
    return SINTER_OK;
}

/* How many indexes from one on have its name. */
static size_t
count_named(const sinter__file_index_plan *plan, size_t first)
{
    size_t count = 1;

    while (first + count < plan->count &&
           strcmp(plan->items[first].name, plan->items[first + count].name) == 0) {
        count++;
    }
    return count;
}

static sinter_status
put_names(sinter__file_index_writer *self, size_t head_bytes, sinter_error *err)
{
    const sinter__file_index_plan *plan = self->plan;
    const sinter_env *env = self->env;
    size_t named = 0;

    for (size_t i = 0; i < plan->count; i++) {
        if (named == 0) {
            named = count_named(plan, i);
            SINTER__CHECK(put_text(self, plan->items[i].name, err));
            SINTER__CHECK(sinter__index_put_int(env, &self->head, named, err));
        }
        named--;
        SINTER__CHECK(put_text(self, sinter__file_index_kind_name(plan->items[i].kind), err));
        SINTER__CHECK(
            sinter__index_put_int(env, &self->head, head_bytes + self->bodies[i].at, err));
        SINTER__CHECK(sinter__index_put_int(env, &self->head, self->bodies[i].bytes, err));
    }
    return SINTER_OK;
}

static sinter_status
put_head(sinter__file_index_writer *self, size_t head_bytes, sinter_error *err)
{
    const sinter_env *env = self->env;
    size_t names = 0;

    self->head.size = 0;
    for (size_t i = 0; i < self->plan->count; i += count_named(self->plan, i)) {
        names++;
    }
    SINTER__CHECK(sinter__index_put_long(env, &self->head, MAGIC, err));
    SINTER__CHECK(sinter__index_put_int(env, &self->head, VERSION, err));
    SINTER__CHECK(sinter__index_put_int(env, &self->head, head_bytes, err));
    SINTER__CHECK(sinter__index_put_int(env, &self->head, names, err));
    SINTER__CHECK(put_names(self, head_bytes, err));
    return sinter__index_put_int(env, &self->head, 0, err);
}

static sinter_status
put_content(sinter__file_index_writer *self, sinter_error *err)
{
    for (size_t i = 0; i < self->plan->count; i++) {
        const sinter__file_index *index = &self->plan->items[i];

        self->bodies[i].at = self->content.size;
        SINTER__CHECK(
            told(self->builders[i]->encode(self->builders[i], &self->content, err), index, err));
        self->bodies[i].bytes = self->content.size - self->bodies[i].at;
        self->builders[i]->close(self->builders[i]);
        self->builders[i] = NULL;
    }
    return SINTER_OK;
}

/* ---- the file ---- */

static sinter_status
write_file(sinter__file_index_writer *self, sinter_error *err)
{
    const sinter_io_ops *ops = self->env->io->ops;
    sinter_io_file *file = NULL;
    char *dir = NULL;
    char *slash = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__strdup(self->env, self->path, &dir, err));
    slash = strrchr(dir, '/');
    if (slash != NULL) {
        dir[slash == dir ? 1 : slash - dir] = '\0';
    }
    SINTER__TRY(ops->create(self->env->io, slash == NULL ? "." : dir, 0, &file, err));
    SINTER__TRY(file->ops->append(file, self->head.memory.data, self->head.size, err));
    SINTER__TRY(file->ops->append(file, self->content.memory.data, self->content.size, err));
    SINTER__TRY(file->ops->sync(file, err));
    st = file->ops->publish(file, self->path, err);
    self->is_published = st != SINTER_E_EXISTS; /* it may have worked and said otherwise */
out:
    if (file != NULL) {
        file->ops->close(file);
    }
    sinter__free(self->env, dir);
    return st;
}

sinter_status
sinter__file_index_writer_finish(sinter__file_index_writer *self, const char *data_path,
                                 sinter__file_index_made *out, sinter_error *err)
{
    const size_t path_bytes = strlen(data_path) + sizeof SINTER__FILE_INDEX_SUFFIX;
    const char *slash = NULL;
    size_t head_bytes = 0;

    *out = (sinter__file_index_made){.file_name = NULL};
    SINTER__CHECK(put_content(self, err));
    SINTER__CHECK(put_head(self, 0, err));
    head_bytes = self->head.size;
    SINTER__CHECK(put_head(self, head_bytes, err));
    assert(self->head.size == head_bytes);
    if (head_bytes + self->content.size <= self->plan->embed_bytes) {
        SINTER__CHECK(sinter__index_append(self->env, &self->head, &self->content, err));
        out->embedded = (sinter_bytes){self->head.memory.data, self->head.size};
        return SINTER_OK;
    }
    if (self->content.size > INT32_MAX - head_bytes) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "file indexes of %zu bytes, 2 GiB are the limit", self->content.size);
    }
    SINTER__CHECK(SINTER__NEW(self->env, self->path, path_bytes, err));
    (void)snprintf(self->path, path_bytes, "%s" SINTER__FILE_INDEX_SUFFIX, data_path);
    SINTER__CHECK(write_file(self, err));
    slash = strrchr(self->path, '/');
    out->file_name = slash == NULL ? self->path : slash + 1;
    return SINTER_OK;
}
