#include "table/external_paths.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "doc/text.h"
#include "table/table.h"

static const char paths_key[] = "data-file.external-paths";
static const char strategy_key[] = "data-file.external-paths.strategy";
static const char fs_key[] = "data-file.external-paths.specific-fs";

/** A path of the list; blanks around it don't count. */
typedef struct word {
    const char *text;
    size_t size;
} word;

/* The next one. @return false: there is none */
static bool
next_word(const char **at, word *out)
{
    const char *text = *at;
    size_t size = 0;

    if (text == NULL) {
        return false;
    }
    size = strcspn(text, ",");
    *at = text[size] == ',' ? text + size + 1 : NULL;
    while (size > 0 && text[0] == ' ') {
        text++;
        size--;
    }
    while (size > 0 && text[size - 1] == ' ') {
        size--;
    }
    *out = (word){text, size};
    return true;
}

static size_t
scheme_size(const word *path)
{
    size_t size = 0;

    while (size < path->size && path->text[size] != ':' && path->text[size] != '/') {
        size++;
    }
    return size < path->size && path->text[size] == ':' ? size : 0;
}

/* The local path without slashes that say nothing; NULL: of another file system. */
static sinter_status
copy_local(sinter__arena *arena, const word *path, const char **out, sinter_error *err)
{
    char *copy = NULL;
    const char *local = NULL;
    size_t size = 0;

    *out = NULL;
    SINTER__CHECK(sinter__arena_take(arena, path->size + 1, (void **)&copy, err));
    memcpy(copy, path->text, path->size);
    copy[path->size] = '\0';
    if (sinter__local_path(copy, &local, NULL) != SINTER_OK) {
        return SINTER_OK;
    }
    for (; *local != '\0'; local++) {
        if (*local != '/' || size == 0 || copy[size - 1] != '/') {
            copy[size++] = *local;
        }
    }
    size -= size > 1 && copy[size - 1] == '/' ? 1 : 0;
    copy[size] = '\0';
    *out = copy;
    return SINTER_OK;
}

/* Absolute, and not the root, whose parts would begin with two slashes, as the name of a host does.
 */
static bool
is_place(const char *local)
{
    return local != NULL && local[0] == '/' && local[1] != '\0';
}

static sinter_status
check_word(const word *path, sinter_error *err)
{
    if (scheme_size(path) == 0) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "option %s: \"%.*s\" has no scheme (\"file:/dir\")", paths_key,
                           (int)(path->size < 100 ? path->size : 100), path->text);
    }
    return SINTER_OK;
}

/* Room for all of the list. */
static sinter_status
make_room(const char *list, sinter__arena *arena, sinter__external_paths *out, sinter_error *err)
{
    size_t most = 1;

    *out = (sinter__external_paths){.count = 0};
    for (const char *at = list; *at != '\0'; at++) {
        most += *at == ',' ? 1 : 0;
    }
    return sinter__arena_take(arena, most * sizeof *out->dirs, (void **)&out->dirs, err);
}

sinter_status
sinter__external_paths_all(const sinter_schema *schema, sinter__arena *arena,
                           sinter__external_paths *out, sinter_error *err)
{
    const char *list = sinter_schema_option(schema, paths_key);
    word path;

    *out = (sinter__external_paths){.count = 0};
    if (list == NULL || list[0] == '\0') {
        return SINTER_OK;
    }
    SINTER__CHECK(make_room(list, arena, out, err));
    while (next_word(&list, &path)) {
        SINTER__CHECK(copy_local(arena, &path, &out->dirs[out->count], err));
        out->count += is_place(out->dirs[out->count]) ? 1 : 0;
    }
    return SINTER_OK;
}

/* `wanted` NULL: paths of any file system. */
static sinter_status
load_paths(const char *list, const char *wanted, sinter__arena *arena, sinter__external_paths *out,
           sinter_error *err)
{
    const char *at = list;
    word path;

    SINTER__CHECK(make_room(list, arena, out, err));
    while (next_word(&at, &path)) {
        const size_t scheme = scheme_size(&path);
        const char **local = &out->dirs[out->count];

        SINTER__CHECK(check_word(&path, err));
        if (wanted != NULL &&
            (strlen(wanted) != scheme || strncasecmp(wanted, path.text, scheme) != 0)) {
            continue;
        }
        SINTER__CHECK(copy_local(arena, &path, local, err));
        if (!is_place(*local)) {
            return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                               "option %s: files can't be written to \"%.*s\" (\"file:/dir\" only)",
                               paths_key, (int)(path.size < 100 ? path.size : 100), path.text);
        }
        out->count++;
    }
    return out->count > 0
               ? SINTER_OK
               : SINTER__ERR(err, SINTER_E_INVALID, "option %s: none of \"%.100s\" is of \"%.40s\"",
                             fs_key, list, wanted == NULL ? "" : wanted);
}

sinter_status
sinter__external_paths_load(const sinter_schema *schema, sinter__arena *arena,
                            sinter__external_paths *out, sinter_error *err)
{
    const char *list = sinter_schema_option(schema, paths_key);
    const char *strategy = sinter_schema_option(schema, strategy_key);
    const char *wanted = NULL;

    *out = (sinter__external_paths){.count = 0};
    if (list == NULL || list[0] == '\0' || strategy == NULL || strcasecmp(strategy, "none") == 0) {
        return SINTER_OK;
    }
    if (strcasecmp(strategy, "specific-fs") == 0) {
        wanted = sinter_schema_option(schema, fs_key);
        if (wanted == NULL) {
            return SINTER__ERR(err, SINTER_E_INVALID, "option %s: it is missing", fs_key);
        }
    } else if (strcasecmp(strategy, "round-robin") != 0) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "option %s: files can't be written with \"%.60s\" by this version",
                           strategy_key, strategy);
    }
    return load_paths(list, wanted, arena, out, err);
}

sinter_status
sinter__external_path_name(sinter__arena *arena, const char *path, sinter_bytes *out,
                           sinter_error *err)
{
    const size_t size = strlen(path) + sizeof "file:" - 1;
    char *name = NULL;

    SINTER__CHECK(sinter__arena_take(arena, size + 1, (void **)&name, err));
    (void)snprintf(name, size + 1, "file:%s", path);
    *out = (sinter_bytes){(const uint8_t *)name, size};
    return SINTER_OK;
}

sinter_status
sinter__external_path_local(sinter_bytes whole, sinter_bytes beside, sinter_text *out,
                            sinter_error *err)
{
    const size_t begin = out->size;
    const char *local = NULL;
    size_t size = whole.size;

    while (beside.size > 0 && size > 0 && whole.data[size - 1] != '/') {
        size--;
    }
    SINTER__CHECK(sinter_text_append(out, whole.data, size, err));
    SINTER__CHECK(sinter_text_append(out, beside.data, beside.size, err));
    SINTER__CHECK(sinter__local_path(out->data + begin, &local, err));
    size = strlen(local);
    memmove(out->data + begin, local, size + 1);
    out->size = begin + size;
    return SINTER_OK;
}

sinter_status
sinter__external_paths_join(const sinter__external_paths *self, const char *below,
                            sinter__arena *arena, sinter__external_paths *out, sinter_error *err)
{
    *out = (sinter__external_paths){.count = self->count};
    if (self->count == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(
        sinter__arena_take(arena, self->count * sizeof *out->dirs, (void **)&out->dirs, err));
    for (size_t i = 0; i < self->count; i++) {
        const size_t size = strlen(self->dirs[i]) + 1 + strlen(below) + 1;
        char *dir = NULL;

        SINTER__CHECK(sinter__arena_take(arena, size, (void **)&dir, err));
        (void)snprintf(dir, size, "%s/%s", self->dirs[i], below);
        out->dirs[i] = dir;
    }
    return SINTER_OK;
}
