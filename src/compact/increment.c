#include "compact/increment.h"

#include <assert.h>
#include <string.h>

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

/* The place of this very entry: same name, same level. */
static size_t
find_entry(const sinter_file_list *list, const sinter_file_meta *file)
{
    size_t i = 0;

    while (i < list->count && (list->files[i].level != file->level ||
                               strcmp(list->files[i].file_name, file->file_name) != 0)) {
        i++;
    }
    return i;
}

static bool
has_name(const sinter_file_list *list, const char *name)
{
    return sinter__meta_list_find(list, name) < list->count;
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

static sinter_status
note(sinter_increment *increment, const change *what, sinter_error *err)
{
    const sinter_file_list *before = what->before;
    const sinter_file_list *after = what->after;
    sinter__meta_list *olds = &increment->compact_before;
    sinter__meta_list *news = &increment->compact_after;
    sinter_file_meta *before_copies = NULL;
    sinter_file_meta *after_copies = NULL;

    /* Everything that can fail comes first. */
    SINTER__CHECK(sinter__meta_list_reserve(olds, before->count, err));
    SINTER__CHECK(sinter__meta_list_reserve(news, after->count, err));
    SINTER__CHECK(copy_list(&olds->arena, before, &before_copies, err));
    SINTER__CHECK(copy_list(&news->arena, after, &after_copies, err));
    for (size_t i = 0; i < before->count; i++) {
        const sinter_file_meta *file = &before->files[i];
        const size_t entry = find_entry(&news->list, file);

        if (entry == news->list.count) {
            append(olds, &before_copies[i]);
            continue;
        }
        sinter__meta_list_remove(news, entry);
        if (!has_name(&olds->list, file->file_name) && !has_name(after, file->file_name)) {
            what->gone(what->ctx, file);
        }
    }
    for (size_t i = 0; i < after->count; i++) {
        append(news, &after_copies[i]);
    }
    return SINTER_OK;
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
    const sinter_file_list *made = &later->new_files.list;
    const size_t count = made->count;
    sinter_file_meta *copies = NULL;

    SINTER__CHECK(sinter__meta_list_reserve(&earlier->new_files, count, err));
    SINTER__CHECK(copy_list(&earlier->new_files.arena, made, &copies, err));
    SINTER__CHECK(note(earlier,
                       &(change){.before = &later->compact_before.list,
                                 .after = &later->compact_after.list,
                                 .gone = gone,
                                 .ctx = ctx},
                       err));
    for (size_t i = 0; i < count; i++) {
        append(&earlier->new_files, &copies[i]);
    }
    return SINTER_OK;
}

bool
sinter__increment_is_upgraded(const sinter_increment *increment, const sinter_file_meta *file)
{
    return has_name(&increment->compact_before.list, file->file_name) &&
           !has_name(&increment->new_files.list, file->file_name);
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
