#include "compact/meta_list.h"

#include <assert.h>

static sinter_status
copy_extra_files(sinter__arena *arena, sinter_file_meta *file, sinter_error *err)
{
    const char **names = NULL;

    if (file->extra_file_count == 0) {
        file->extra_files = NULL;
        return SINTER_OK;
    }
    if (file->extra_file_count > SIZE_MAX / sizeof *names) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu extra files", file->extra_file_count);
    }
    SINTER__CHECK(
        sinter__arena_take(arena, file->extra_file_count * sizeof *names, (void **)&names, err));
    for (size_t i = 0; i < file->extra_file_count; i++) {
        SINTER__CHECK(sinter__arena_strdup(arena, file->extra_files[i], &names[i], err));
    }
    file->extra_files = names;
    return SINTER_OK;
}

sinter_status
sinter__file_meta_copy(sinter__arena *arena, const sinter_file_meta *file, sinter_file_meta *out,
                       sinter_error *err)
{
    sinter_file_meta copy = *file;

    assert(file->file_name != NULL);
    SINTER__CHECK(sinter__arena_strdup(arena, file->file_name, &copy.file_name, err));
    SINTER__CHECK(sinter__arena_strdup(arena, file->dir, &copy.dir, err));
    SINTER__CHECK(sinter__arena_strdup(arena, file->external_path, &copy.external_path, err));
    SINTER__CHECK(sinter__arena_copy(arena, file->min_key, &copy.min_key, err));
    SINTER__CHECK(sinter__arena_copy(arena, file->max_key, &copy.max_key, err));
    SINTER__CHECK(copy_extra_files(arena, &copy, err));
    *out = copy;
    return SINTER_OK;
}

sinter_status
sinter__meta_list_reserve(sinter__meta_list *list, size_t extra, sinter_error *err)
{
    const size_t wanted = list->list.count + extra;
    const size_t doubled = list->capacity * 2;

    if (wanted <= list->capacity) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__resize(list->arena.env, (void **)&list->list.files,
                                 wanted > doubled ? wanted : doubled, sizeof *list->list.files,
                                 err));
    list->capacity = wanted > doubled ? wanted : doubled;
    return SINTER_OK;
}

sinter_status
sinter__meta_list_add(sinter__meta_list *list, const sinter_file_meta *file, sinter_error *err)
{
    SINTER__CHECK(sinter__meta_list_reserve(list, 1, err));
    SINTER__CHECK(
        sinter__file_meta_copy(&list->arena, file, &list->list.files[list->list.count], err));
    list->list.count++;
    return SINTER_OK;
}

void
sinter__meta_list_fini(sinter__meta_list *list)
{
    sinter__free(list->arena.env, list->list.files);
    sinter__arena_fini(&list->arena);
    list->list = (sinter_file_list){.files = NULL};
    list->capacity = 0;
}
