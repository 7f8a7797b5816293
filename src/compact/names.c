#include "compact/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static int
compare_names(const void *left, const void *right)
{
    const sinter__name *a = left;
    const sinter__name *b = right;

    return strcmp(a->text, b->text);
}

sinter_status
sinter__names_init(const sinter_env *env, size_t capacity, sinter__names *out, sinter_error *err)
{
    *out = (sinter__names){.all = NULL};
    SINTER__CHECK(SINTER__NEW(env, out->all, capacity, err));
    out->capacity = capacity;
    return SINTER_OK;
}

void
sinter__names_add(sinter__names *names, const char *text, const sinter_file_meta *file)
{
    assert(names->count < names->capacity);
    names->all[names->count++] = (sinter__name){text, file};
}

void
sinter__names_sort(sinter__names *names)
{
    if (names->count > 1) {
        qsort(names->all, names->count, sizeof *names->all, compare_names);
    }
}

sinter_status
sinter__names_of_files(const sinter_env *env, const sinter_file_meta *files, size_t count,
                       sinter__names *out, sinter_error *err)
{
    SINTER__CHECK(sinter__names_init(env, count, out, err));
    for (size_t i = 0; i < count; i++) {
        sinter__names_add(out, files[i].file_name, &files[i]);
    }
    sinter__names_sort(out);
    return SINTER_OK;
}

sinter_status
sinter__names_of_all(const sinter_env *env, const sinter_file_meta *files, size_t count,
                     sinter__names *out, sinter_error *err)
{
    size_t total = count;

    *out = (sinter__names){.all = NULL};
    for (size_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(total, files[i].extra_file_count, &total)) {
            return SINTER__ERR(err, SINTER_E_NOMEM, "%zu extra files", files[i].extra_file_count);
        }
    }
    SINTER__CHECK(sinter__names_init(env, total, out, err));
    for (size_t i = 0; i < count; i++) {
        sinter__names_add(out, files[i].file_name, &files[i]);
        for (size_t k = 0; k < files[i].extra_file_count; k++) {
            sinter__names_add(out, files[i].extra_files[k], &files[i]);
        }
    }
    sinter__names_sort(out);
    return SINTER_OK;
}

const sinter__name *
sinter__names_find(const sinter__names *names, const char *text)
{
    const sinter__name wanted = {.text = text};

    return names->count == 0
               ? NULL
               : bsearch(&wanted, names->all, names->count, sizeof *names->all, compare_names);
}

void
sinter__names_fini(const sinter_env *env, sinter__names *names)
{
    sinter__free(env, names->all);
    *names = (sinter__names){.all = NULL};
}
