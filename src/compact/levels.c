/*
 * An update makes a new set from the files that stay and those that come, checks it, and lets it be
 * the current one: so whoever acquires sees all of an update or nothing, and a failure changes
 * nothing.
 */
#include "compact/levels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "compact/age.h"
#include "compact/file_set.h"
#include "compact/load.h"
#include "compact/names.h"
#include "compact/remove.h"

struct sinter_levels {
    const sinter_env *env;
    sinter__file_home *home;
    const sinter_file_set *current; /* changed with the home's mutex held */
    uint32_t num_levels;
    void (*dropped)(void *ctx, const char *file_name);
    void *dropped_ctx;
};

/** A list of files that a caller gave. */
typedef struct given {
    const sinter_file_meta *files;
    size_t count;
} given;

/** An update under way. */
typedef struct update {
    sinter_levels *levels;
    given before;
    given after;
    const sinter_file_meta *old; /* the files as they are, in order */
    sinter__file_block *const *old_blocks;
    size_t old_count;
    bool *is_removed;            /* per old file */
    sinter__file_block **listed; /* blocks of the new set: old ones, then new ones; then sorted */
    size_t kept;
    size_t count;
    sinter__file_block **made; /* new blocks, each with one use of ours */
    size_t made_count;
    sinter__names names_before;
    sinter__names names_after;
} update;

static int
compare_blocks(const void *left, const void *right)
{
    const sinter__file_block *const *a = left;
    const sinter__file_block *const *b = right;

    return sinter__place_compare(&(*a)->meta, &(*b)->meta);
}

static sinter_status
update_reserve(update *job, sinter_error *err)
{
    const sinter_env *env = job->levels->env;

    if (job->after.count > SIZE_MAX - job->old_count) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu new files", job->after.count);
    }
    SINTER__CHECK(SINTER__NEW(env, job->is_removed, job->old_count, err));
    SINTER__CHECK(SINTER__NEW(env, job->listed, job->old_count + job->after.count, err));
    SINTER__CHECK(SINTER__NEW(env, job->made, job->after.count, err));
    SINTER__CHECK(sinter__file_home_reserve(job->levels->home, job->after.count, err));
    SINTER__CHECK(
        sinter__names_of_files(env, job->before.files, job->before.count, &job->names_before, err));
    return sinter__names_of_files(env, job->after.files, job->after.count, &job->names_after, err);
}

static void
update_fini(update *job)
{
    const sinter_env *env = job->levels->env;

    sinter__file_blocks_release(job->levels->home, job->made, job->made_count);
    sinter__names_fini(env, &job->names_after);
    sinter__names_fini(env, &job->names_before);
    sinter__free(env, job->made);
    sinter__free(env, job->listed);
    sinter__free(env, job->is_removed);
}

/* The place of an old file that stands where `file` would; false: none does. */
static bool
find_place(const update *job, const sinter_file_meta *file, size_t *place_out)
{
    size_t low = 0;
    size_t high = job->old_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (sinter__place_compare(&job->old[middle], file) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *place_out = low;
    return low < job->old_count && sinter__place_compare(&job->old[low], file) == 0;
}

/* Mark what goes; what stays is listed first. */
static void
retire_files(update *job)
{
    for (size_t i = 0; i < job->before.count; i++) {
        const sinter_file_meta *file = &job->before.files[i];
        size_t place = 0;

        if (find_place(job, file, &place) &&
            (file->level == 0 || sinter__file_meta_equal(&job->old[place], file))) {
            job->is_removed[place] = true;
        }
    }
    for (size_t i = 0; i < job->old_count; i++) {
        if (!job->is_removed[i]) {
            job->listed[job->kept++] = job->old_blocks[i];
        }
    }
    job->count = job->kept;
}

static sinter_status
add_file(update *job, const sinter_file_meta *file, sinter_error *err)
{
    sinter__file_block **block = &job->made[job->made_count];
    bool is_back = false;
    size_t place = 0;

    if ((uint32_t)file->level >= job->levels->num_levels) {
        return SINTER_OK; /* spec 5: ignored */
    }
    if (file->level == 0 && find_place(job, file, &place) && !job->is_removed[place]) {
        return SINTER_OK; /* the same element */
    }
    SINTER__CHECK(sinter__file_block_create(job->levels->env, file, block, err));
    job->made_count++;
    /* Only a file that goes in the same update can come back under its name. */
    is_back = sinter__names_find(&job->names_before, file->file_name) != NULL;
    SINTER__CHECK(sinter__file_block_join(job->levels->home, *block, is_back, err));
    job->listed[job->count++] = *block;
    return SINTER_OK;
}

static sinter_status
refuse_twice(const char *name, sinter_error *err)
{
    return SINTER__ERR_AT(err, SINTER_E_INVALID, name, -1, "the file %s would be listed twice",
                          name);
}

static bool
is_made(const update *job, const char *name)
{
    for (size_t i = 0; i < job->made_count; i++) {
        if (strcmp(job->made[i]->meta.file_name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* No name twice: neither among the new files nor in both halves. */
static sinter_status
check_names(const update *job, sinter_error *err)
{
    const sinter__name *names = job->names_after.all;

    for (size_t i = 1; i < job->after.count; i++) {
        if (strcmp(names[i - 1].text, names[i].text) == 0) {
            return refuse_twice(names[i].text, err);
        }
    }
    for (size_t i = 0; i < job->kept; i++) {
        const char *name = job->listed[i]->meta.file_name;

        if (sinter__names_find(&job->names_after, name) != NULL && is_made(job, name)) {
            return refuse_twice(name, err);
        }
    }
    return SINTER_OK;
}

/* Put the files in order; none of a level above 0 may overlap. */
static sinter_status
order_files(const update *job, sinter_error *err)
{
    if (job->count > 1) {
        qsort(job->listed, job->count, sizeof(*job->listed), compare_blocks);
    }
    for (size_t i = 1; i < job->count; i++) {
        const sinter_file_meta *last = &job->listed[i - 1]->meta;
        const sinter_file_meta *file = &job->listed[i]->meta;

        if (file->level == 0 || file->level != last->level || last->row_count == 0 ||
            sinter__key_compare(file->min_key, last->max_key) > 0) {
            continue;
        }
        return SINTER__ERR_AT(err, SINTER_E_INVALID, file->file_name, -1,
                              "the files %s and %s overlap in level %d", last->file_name,
                              file->file_name, file->level);
    }
    return SINTER_OK;
}

/* Tell which names are gone for good. */
static void
tell_dropped(const update *job)
{
    const sinter_levels *levels = job->levels;
    const sinter__name *names = job->names_before.all;

    for (size_t i = 0; levels->dropped != NULL && i < job->before.count; i++) {
        if ((i == 0 || strcmp(names[i - 1].text, names[i].text) != 0) &&
            sinter__names_find(&job->names_after, names[i].text) == NULL) {
            levels->dropped(levels->dropped_ctx, names[i].text);
        }
    }
}

static sinter_status
update_run(update *job, sinter_error *err)
{
    sinter_levels *levels = job->levels;
    const sinter_file_set *next = NULL;
    const sinter_file_set *old = NULL;

    SINTER__CHECK(update_reserve(job, err));
    retire_files(job);
    for (size_t i = 0; i < job->after.count; i++) {
        SINTER__CHECK(add_file(job, &job->after.files[i], err));
    }
    SINTER__CHECK(check_names(job, err));
    SINTER__CHECK(order_files(job, err));
    SINTER__CHECK(sinter__file_set_create(levels->home, job->listed, job->count, levels->num_levels,
                                          &next, err));
    old = sinter__file_set_swap(levels->home, &levels->current, next);
    tell_dropped(job); /* names may lie in the old set */
    sinter_file_set_release(old);
    return SINTER_OK;
}

static sinter_status
check_files(const given *list, sinter_error *err)
{
    SINTER__REQUIRE(err, list->files != NULL || list->count == 0);
    for (size_t i = 0; i < list->count; i++) {
        SINTER__CHECK(sinter__file_meta_check(&list->files[i], err));
    }
    return SINTER_OK;
}

sinter_status
sinter_levels_update(sinter_levels *levels, const sinter_file_meta *before, size_t before_count,
                     const sinter_file_meta *after, size_t after_count, sinter_error *err)
{
    update job = {
        .levels = levels, .before = {before, before_count}, .after = {after, after_count}};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, levels != NULL);
    SINTER__CHECK(check_files(&job.before, err));
    SINTER__CHECK(check_files(&job.after, err));
    if (levels->current != NULL) {
        job.old = sinter_file_set_files(levels->current, &job.old_count);
        job.old_blocks = sinter__file_set_blocks(levels->current);
    }
    st = update_run(&job, err);
    update_fini(&job);
    return st;
}

static sinter_status
count_levels(uint32_t configured, const given *list, uint32_t *out, sinter_error *err)
{
    uint32_t levels = configured;

    for (size_t i = 0; i < list->count; i++) {
        const uint32_t needed = (uint32_t)list->files[i].level + 1;

        levels = needed > levels ? needed : levels;
    }
    if (levels < 2) {
        return SINTER__ERR(err, SINTER_E_INVALID, "num-levels: %u levels are less than two",
                           levels);
    }
    *out = levels;
    return SINTER_OK;
}

sinter_status
sinter_levels_create(const sinter_env *env, const sinter_levels_options *given_options,
                     const sinter_file_meta *files, size_t count, sinter_levels **out,
                     sinter_error *err)
{
    sinter_levels_options options = {.struct_size = (uint32_t)sizeof options};
    const given list = {files, count};
    sinter_levels *levels = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && given_options != NULL);
    SINTER__REQUIRE(err, out != NULL);
    *out = NULL;
    SINTER__CHECK(
        sinter__struct_load(&options, sizeof options, given_options, "sinter_levels_options", err));
    SINTER__REQUIRE(err, options.base_dir == NULL || env->io != NULL);
    SINTER__CHECK(check_files(&list, err));
    SINTER__CHECK(SINTER__NEW(env, levels, 1, err));
    levels->env = env;
    SINTER__TRY(count_levels(options.num_levels, &list, &levels->num_levels, err));
    SINTER__TRY(sinter__file_home_create(env, options.base_dir, &levels->home, err));
    SINTER__TRY(sinter_levels_update(levels, NULL, 0, files, count, err));
    levels->dropped = options.dropped;
    levels->dropped_ctx = options.dropped_ctx;
    *out = levels;
    levels = NULL;
out:
    sinter_levels_destroy(levels);
    return st;
}

void
sinter_levels_destroy(sinter_levels *levels)
{
    if (levels != NULL) {
        sinter_file_set_release(levels->current);
        sinter__file_home_release(levels->home);
        sinter__free(levels->env, levels);
    }
}

void
sinter__levels_abandon(sinter_levels *levels)
{
    sinter_file_set_release(sinter__file_set_swap(levels->home, &levels->current, NULL));
}

const sinter_file_set *
sinter_levels_acquire(sinter_levels *levels)
{
    return sinter__file_set_acquire_current(levels->home, &levels->current);
}

const sinter_file_set *
sinter_levels_current(const sinter_levels *levels)
{
    return levels->current;
}

size_t
sinter_levels_run_count(const sinter_levels *levels)
{
    size_t count = 0;

    (void)sinter_file_set_runs(levels->current, &count);
    return count;
}

sinter_status
sinter_levels_discard(sinter_levels *levels, const sinter_file_meta *file, sinter_error *err)
{
    const char *base_dir = NULL;
    sinter__file_use use = SINTER__FILE_UNUSED;

    SINTER__REQUIRE(err, levels != NULL && file != NULL);
    SINTER__CHECK(sinter__file_meta_check(file, err));
    base_dir = sinter__file_home_base_dir(levels->home);
    SINTER__REQUIRE(err, base_dir != NULL);
    use = sinter__file_home_doom(levels->home, file->file_name);
    if (use == SINTER__FILE_LISTED) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, file->file_name, -1,
                              "the levels list the file %s, so it can't be removed",
                              file->file_name);
    }
    if (use == SINTER__FILE_HELD) {
        return SINTER_OK;
    }
    return sinter__file_remove(levels->env, base_dir, file, err);
}
