#include "table/bucket_output.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sync.h"

typedef struct made_file {
    sinter__data_made made; /* `path` is the name alone */
    struct made_file *next;
} made_file;

struct sinter__bucket_output {
    sinter__bucket_output_config config;
    const sinter_env *env;
    sinter__mutex mutex; /* guards everything below */
    bool has_mutex;
    sinter__arena arena;
    made_file *made;
    int64_t next_sequence;
};

sinter_status
sinter__bucket_output_create(const sinter_env *env, const sinter__bucket_output_config *config,
                             sinter__bucket_output **out, sinter_error *err)
{
    sinter__bucket_output *self = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->config = *config;
    self->arena.env = env;
    self->next_sequence = config->first_sequence;
    SINTER__TRY(sinter__mutex_init(&self->mutex, err));
    self->has_mutex = true;
    *out = self;
    self = NULL;
out:
    sinter__bucket_output_destroy(self);
    return st;
}

void
sinter__bucket_output_destroy(sinter__bucket_output *self)
{
    if (self != NULL) {
        if (self->has_mutex) {
            sinter__mutex_fini(&self->mutex);
        }
        sinter__arena_fini(&self->arena);
        sinter__free(self->env, self);
    }
}

const char *
sinter__bucket_output_extension(const sinter__bucket_output *self)
{
    return sinter__write_plan_form(self->config.plan, self->config.level)->extension;
}

/* ---- what was made ---- */

static sinter_status
copy_stats(sinter__arena *arena, const sinter__simple_stats *stats, sinter__simple_stats *out,
           sinter_error *err)
{
    sinter_bytes counts = {(const uint8_t *)stats->null_counts.items,
                           stats->null_counts.count * sizeof *stats->null_counts.items};

    *out = *stats;
    SINTER__CHECK(sinter__arena_copy(arena, stats->min_values, &out->min_values, err));
    SINTER__CHECK(sinter__arena_copy(arena, stats->max_values, &out->max_values, err));
    SINTER__CHECK(sinter__arena_copy(arena, counts, &counts, err));
    out->null_counts.items = (const int64_t *)(const void *)counts.data;
    return SINTER_OK;
}

/* Names of columns belong to the plan; their list is copied. */
static sinter_status
copy_made(sinter__arena *arena, const sinter__data_made *made, sinter__data_made *out,
          sinter_error *err)
{
    const sinter__bytes_list *columns = &made->value_stats.columns;
    const char *slash = strrchr(made->path, '/');
    sinter_bytes names = {(const uint8_t *)columns->items, columns->count * sizeof *columns->items};

    *out = *made;
    SINTER__CHECK(
        sinter__arena_strdup(arena, slash == NULL ? made->path : slash + 1, &out->path, err));
    SINTER__CHECK(copy_stats(arena, &made->key_stats, &out->key_stats, err));
    SINTER__CHECK(copy_stats(arena, &made->value_stats.stats, &out->value_stats.stats, err));
    SINTER__CHECK(sinter__arena_copy(arena, names, &names, err));
    SINTER__CHECK(sinter__arena_copy(arena, made->embedded_index, &out->embedded_index, err));
    out->value_stats.columns.items = (const sinter_bytes *)(const void *)names.data;
    return SINTER_OK;
}

static sinter_status
note_made(void *ctx, const sinter__data_made *made, sinter_error *err)
{
    sinter__bucket_output *self = ctx;
    made_file *file = NULL;
    sinter_status st = SINTER_OK;

    sinter__mutex_lock(&self->mutex);
    st = sinter__arena_take(&self->arena, sizeof *file, (void **)&file, err);
    if (st == SINTER_OK) {
        st = copy_made(&self->arena, made, &file->made, err);
    }
    if (st == SINTER_OK) {
        file->next = self->made;
        self->made = file;
        self->next_sequence += (int64_t)made->row_count;
    }
    sinter__mutex_unlock(&self->mutex);
    return st;
}

const sinter__data_made *
sinter__bucket_output_find(const sinter__bucket_output *self, const char *name)
{
    const made_file *file = self->made;

    while (file != NULL && strcmp(file->made.path, name) != 0) {
        file = file->next;
    }
    return file == NULL ? NULL : &file->made;
}

/* ---- making ---- */

sinter_status
sinter__bucket_output_open(void *self, const sinter_env *env, const char *path,
                           const sinter_write_options *options, sinter_writer **out,
                           sinter_error *err)
{
    sinter__bucket_output *output = self;
    sinter__data_output file = {.plan = output->config.plan,
                                .level = output->config.level,
                                .direct = options->direct,
                                .made = note_made,
                                .made_ctx = output};

    *out = NULL;
    if (options->level != output->config.level) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, path, -1,
                              "a file of level %d, where files of level %d are made",
                              options->level, output->config.level);
    }
    sinter__mutex_lock(&output->mutex);
    file.first_sequence = output->next_sequence;
    sinter__mutex_unlock(&output->mutex);
    return sinter__data_writer_open(env, &file, path, out, err);
}
