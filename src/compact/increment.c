#include "compact/increment.h"

#include <assert.h>

#include "base/alloc.h"
#include "compact/names.h"

void
sinter__increment_init(sinter_increment *increment, const sinter_env *env)
{
    *increment = (sinter_increment){.env = env};
    increment->new_files.arena.env = env;
    increment->compact_before.arena.env = env;
    increment->compact_after.arena.env = env;
}

void
sinter__increment_fini(sinter_increment *increment)
{
    sinter__meta_list_fini(&increment->compact_after);
    sinter__meta_list_fini(&increment->compact_before);
    sinter__meta_list_fini(&increment->new_files);
}

/* Copies of a list in an arena. */
static sinter_status
copy_list(sinter__arena *arena, const sinter_file_list *list, sinter_file_meta **out,
          sinter_error *err)
{
    *out = NULL;
    if (list->count == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(arena, list->count * sizeof **out, (void **)out, err));
    for (size_t i = 0; i < list->count; i++) {
        SINTER__CHECK(sinter__file_meta_copy(arena, &list->files[i], &(*out)[i], err));
    }
    return SINTER_OK;
}

static void
append(sinter__meta_list *list, const sinter_file_meta *file)
{
    assert(file != NULL);
    assert(list->list.count < list->capacity);
    list->list.files[list->list.count++] = *file;
}

/** Files that were replaced by others. */
typedef struct change {
    const sinter_file_list *before;
    const sinter_file_list *after;
    void (*gone)(void *ctx, const sinter_file_meta *file);
    void *ctx;
} change;

/** What becomes of the files that a change retires. */
typedef struct fates {
    sinter__names before;
    sinter__names after;
    bool *is_made; /* per file of `before`: an earlier change made this very entry */
    bool *is_old;  /* the increment retires a file of this name already */
} fates;

static sinter_status
fates_make(const sinter_env *env, const change *what, fates *out, sinter_error *err)
{
    SINTER__CHECK(
        sinter__names_of_files(env, what->before->files, what->before->count, &out->before, err));
    SINTER__CHECK(
        sinter__names_of_files(env, what->after->files, what->after->count, &out->after, err));
    SINTER__CHECK(SINTER__NEW(env, out->is_made, what->before->count, err));
    return SINTER__NEW(env, out->is_old, what->before->count, err);
}

static void
fates_fini(const sinter_env *env, fates *f)
{
    sinter__free(env, f->is_old);
    sinter__free(env, f->is_made);
    sinter__names_fini(env, &f->after);
    sinter__names_fini(env, &f->before);
}

/* Take what goes again out of the list of what was made; mark it and what was retired before. */
static void
strike_off(sinter__meta_list *news, const sinter_file_list *olds, const change *what, fates *f)
{
    const sinter_file_meta *before = what->before->files;
    size_t kept = 0;

    for (size_t i = 0; i < news->list.count; i++) {
        const sinter_file_meta *file = &news->list.files[i];
        const sinter__name *found = sinter__names_find(&f->before, file->file_name);

        if (found != NULL && found->file->level == file->level) {
            f->is_made[found->file - before] = true;
        } else {
            news->list.files[kept++] = *file;
        }
    }
    news->list.count = kept;
    for (size_t i = 0; i < olds->count; i++) {
        const sinter__name *found = sinter__names_find(&f->before, olds->files[i].file_name);

        if (found != NULL) {
            f->is_old[found->file - before] = true;
        }
    }
}

/* Time O((what the increment says + the change) log(the change)). */
static sinter_status
note(sinter_increment *increment, const change *what, sinter_error *err)
{
    const sinter_file_list *before = what->before;
    const sinter_file_list *after = what->after;
    sinter__meta_list *olds = &increment->compact_before;
    sinter__meta_list *news = &increment->compact_after;
    sinter_file_meta *before_copies = NULL;
    sinter_file_meta *after_copies = NULL;
    fates f = {.is_made = NULL};
    sinter_status st = SINTER_OK;

    /* Everything that can fail comes first. */
    SINTER__TRY(fates_make(increment->env, what, &f, err));
    SINTER__TRY(sinter__meta_list_reserve(olds, before->count, err));
    SINTER__TRY(sinter__meta_list_reserve(news, after->count, err));
    SINTER__TRY(copy_list(&olds->arena, before, &before_copies, err));
    SINTER__TRY(copy_list(&news->arena, after, &after_copies, err));
    strike_off(news, &olds->list, what, &f);
    for (size_t i = 0; i < before->count; i++) {
        if (!f.is_made[i]) {
            append(olds, &before_copies[i]);
        } else if (!f.is_old[i] &&
                   sinter__names_find(&f.after, before->files[i].file_name) == NULL) {
            what->gone(what->ctx, &before->files[i]);
        }
    }
    for (size_t i = 0; i < after->count; i++) {
        append(news, &after_copies[i]);
    }
out:
    fates_fini(increment->env, &f);
    return st;
}

sinter_status
sinter__increment_note(sinter_increment *increment, const sinter_compact_result *result,
                       void (*gone)(void *ctx, const sinter_file_meta *file), void *ctx,
                       sinter_error *err)
{
    return note(increment,
                &(change){.before = sinter_compact_result_before(result),
                          .after = sinter_compact_result_after(result),
                          .gone = gone,
                          .ctx = ctx},
                err);
}

sinter_status
sinter__increment_join(sinter_increment *earlier, const sinter_increment *later,
                       void (*gone)(void *ctx, const sinter_file_meta *file), void *ctx,
                       sinter_error *err)
{
    const sinter_file_list made = later->new_files.list;
    sinter_file_meta *copies = NULL;

    SINTER__CHECK(sinter__meta_list_reserve(&earlier->new_files, made.count, err));
    SINTER__CHECK(copy_list(&earlier->new_files.arena, &made, &copies, err));
    SINTER__CHECK(note(earlier,
                       &(change){.before = &later->compact_before.list,
                                 .after = &later->compact_after.list,
                                 .gone = gone,
                                 .ctx = ctx},
                       err));
    for (size_t i = 0; i < made.count; i++) {
        append(&earlier->new_files, &copies[i]);
    }
    return SINTER_OK;
}

void
sinter__increment_each_own(const sinter_increment *increment,
                           void (*each)(void *ctx, const sinter_file_meta *file), void *ctx)
{
    const sinter_file_list *made = &increment->new_files.list;
    const sinter_file_list *before = &increment->compact_before.list;
    const sinter_file_list *after = &increment->compact_after.list;
    sinter__names retired;
    const sinter_status st =
        sinter__names_of_files(increment->env, before->files, before->count, &retired, NULL);

    for (size_t i = 0; i < made->count; i++) {
        each(ctx, &made->files[i]);
    }
    for (size_t i = 0; i < after->count; i++) {
        const sinter_file_meta *file = &after->files[i];

        if (file->upgraded_from < 0 ||
            (st == SINTER_OK && sinter__names_find(&retired, file->file_name) == NULL)) {
            each(ctx, file);
        }
    }
    sinter__names_fini(increment->env, &retired);
}

static void
move_list(sinter__meta_list *source, sinter__meta_list *target)
{
    const sinter_env *env = source->arena.env;
    const sinter_env *target_env = target->arena.env;

    assert(target->list.count == 0);
    sinter__meta_list_fini(target);
    *target = *source;
    target->arena.env = target_env;
    *source = (sinter__meta_list){.arena.env = env};
}

void
sinter__increment_move(sinter_increment *source, sinter_increment *target)
{
    move_list(&source->new_files, &target->new_files);
    move_list(&source->compact_before, &target->compact_before);
    move_list(&source->compact_after, &target->compact_after);
}

bool
sinter_increment_is_empty(const sinter_increment *increment)
{
    return increment->new_files.list.count == 0 && increment->compact_before.list.count == 0 &&
           increment->compact_after.list.count == 0;
}

const sinter_file_list *
sinter_increment_new_files(const sinter_increment *increment)
{
    return &increment->new_files.list;
}

const sinter_file_list *
sinter_increment_compact_before(const sinter_increment *increment)
{
    return &increment->compact_before.list;
}

const sinter_file_list *
sinter_increment_compact_after(const sinter_increment *increment)
{
    return &increment->compact_after.list;
}

int64_t
sinter_increment_max_sequence(const sinter_increment *increment)
{
    return increment->max_sequence;
}

void
sinter_increment_destroy(sinter_increment *increment)
{
    if (increment != NULL) {
        const sinter_env *env = increment->env;

        sinter__increment_fini(increment);
        sinter__free(env, increment);
    }
}
