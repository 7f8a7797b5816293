#include "compact/orphans.h"

#include <string.h>

#include "base/uuid.h"
#include "sinter/format.h"
#include "sinter/io.h"

/* A walk over a directory. */
typedef struct orphan_walk {
    const sinter_env *env;
    const char *prefix;
    const sinter__known_names *known;
    sinter__orphans *found;
    sinter_error *err;
} orphan_walk;

static bool
is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool
is_uuid(const char *text)
{
    for (size_t i = 0; i < SINTER__UUID_CHARS; i++) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? text[i] != '-' : !is_hex(text[i])) {
            return false;
        }
    }
    return true;
}

/* Does the library give such names to data files: <prefix><uuid>-<number>.sst? */
static bool
is_data_name(const char *name, const char *prefix)
{
    const size_t prefix_size = strlen(prefix);
    const char *at = name + prefix_size;

    if (strncmp(name, prefix, prefix_size) != 0 || strlen(at) <= SINTER__UUID_CHARS + 1 ||
        !is_uuid(at)) {
        return false;
    }
    at += SINTER__UUID_CHARS;
    if (at[0] != '-' || at[1] < '0' || at[1] > '9') {
        return false;
    }
    for (at++; *at >= '0' && *at <= '9'; at++) {
    }
    return strcmp(at, sinter_format_sst()->extension) == 0;
}

static sinter_status
note_name(void *ctx, const char *name)
{
    orphan_walk *walk = ctx;
    sinter__orphans *found = walk->found;

    if (!is_data_name(name, walk->prefix) || walk->known->has(walk->known->ctx, name)) {
        return SINTER_OK;
    }
    if (found->count == found->capacity) {
        const size_t wanted = found->capacity < 16 ? 16 : found->capacity * 2;

        SINTER__CHECK(sinter__resize(walk->env, (void **)&found->names, wanted,
                                     sizeof *found->names, walk->err));
        found->capacity = wanted;
    }
    SINTER__CHECK(
        sinter__arena_strdup(&found->arena, name, &found->names[found->count], walk->err));
    found->count++;
    return SINTER_OK;
}

sinter_status
sinter__orphans_list(const sinter_env *env, const char *dir, const char *prefix,
                     const sinter__known_names *known, sinter__orphans *out, sinter_error *err)
{
    orphan_walk walk = {.env = env, .prefix = prefix, .known = known, .found = out, .err = err};

    return env->io->ops->list(env->io, dir, note_name, &walk, err);
}

void
sinter__orphans_fini(sinter__orphans *orphans)
{
    sinter__free(orphans->arena.env, orphans->names);
    sinter__arena_fini(&orphans->arena);
}
