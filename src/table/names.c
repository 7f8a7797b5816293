/*
 * Tags and branches: the names that a table has of them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "doc/text.h"
#include "sinter/io.h"
#include "table/table.h"

typedef struct name_list {
    const char *prefix;
    sinter__arena arena;
    const char **items;
    size_t count;
    size_t capacity;
    sinter_error *err;
} name_list;

static sinter_status
note_name(void *ctx, const char *name)
{
    name_list *names = ctx;
    const size_t prefix_size = strlen(names->prefix);

    if (strncmp(name, names->prefix, prefix_size) != 0 || name[prefix_size] == '\0') {
        return SINTER_OK;
    }
    if (names->count == names->capacity) {
        const size_t wanted = names->capacity == 0 ? 16 : names->capacity * 2;

        SINTER__CHECK(sinter__resize(names->arena.env, (void **)&names->items, wanted,
                                     sizeof *names->items, names->err));
        names->capacity = wanted;
    }
    SINTER__CHECK(sinter__arena_strdup(&names->arena, name + prefix_size,
                                       &names->items[names->count], names->err));
    names->count++;
    return SINTER_OK;
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Call `each` with what stands behind the prefix in the names of a directory. */
static sinter_status
each_name(const sinter_env *env, const char *dir, const char *prefix,
          sinter_status (*each)(void *ctx, const char *name), void *ctx, sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    name_list names = {.prefix = prefix, .arena.env = env, .err = &detail};
    sinter_status st = env->io->ops->list(env->io, dir, note_name, &names, &detail);

    if (st == SINTER_E_NOT_FOUND) {
        st = SINTER_OK;
        assert(names.count == 0);
    } else if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    if (names.count > 1) {
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    }
    for (size_t i = 0; i < names.count && st == SINTER_OK; i++) {
        st = each(ctx, names.items[i]);
    }
    sinter__free(env, names.items);
    sinter__arena_fini(&names.arena);
    return st;
}

sinter_status
sinter_table_each_tag(sinter_table *table, sinter_status (*each)(void *ctx, const char *name),
                      void *ctx, sinter_error *err)
{
    sinter_text dir;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && each != NULL);
    sinter_text_init(table->env, &dir);
    st = sinter__table_dir(table, "tag", &dir, err);
    if (st == SINTER_OK) {
        st = each_name(table->env, dir.data, "tag-", each, ctx, err);
    }
    sinter_text_fini(&dir);
    return st;
}

sinter_status
sinter_table_each_branch(sinter_table *table, sinter_status (*each)(void *ctx, const char *name),
                         void *ctx, sinter_error *err)
{
    sinter_text dir;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && each != NULL);
    sinter_text_init(table->env, &dir);
    SINTER__TRY(sinter__text_puts(&dir, table->root, err));
    SINTER__TRY(sinter__text_puts(&dir, "/branch", err));
    SINTER__TRY(each_name(table->env, dir.data, "branch-", each, ctx, err));
out:
    sinter_text_fini(&dir);
    return st;
}
