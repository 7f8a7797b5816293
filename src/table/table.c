/*
 * A table in a directory: its schemas and snapshots.
 */
#include "table/table.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/files_doc.h"
#include "doc/text.h"
#include "sinter/io.h"
#include "table/numbered.h"
#include "table/schema.h"
#include "table/snapshot.h"

/* ---- places ---- */

/* Schemes have no case. */
static bool
is_file_scheme(const char *scheme, size_t size)
{
    static const char file[] = {'f', 'i', 'l', 'e'};

    for (size_t i = 0; i < sizeof file && i < size; i++) {
        if ((scheme[i] | 0x20) != file[i]) {
            return false;
        }
    }
    return size == sizeof file;
}

sinter_status
sinter__local_path(const char *uri, const char **out, sinter_error *err)
{
    const size_t scheme =
        strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

    *out = uri;
    if (scheme == 0 || uri[scheme] != ':') {
        return SINTER_OK;
    }
    if (!is_file_scheme(uri, scheme)) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "%.*s: tables on a file system only (\"file:\" or a path), not %.200s",
                           (int)scheme, uri, uri);
    }
    *out = uri + scheme + 1;
    if (strncmp(*out, "///", 3) == 0) {
        *out += 2;
    } else if (strncmp(*out, "//", 2) == 0) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "a table on another host can't be opened: %.200s", uri);
    }
    return SINTER_OK;
}

/* Copy without slashes at the end. */
static sinter_status
copy_path(const sinter_env *env, const char *path, char **out, sinter_error *err)
{
    size_t size = strlen(path);

    while (size > 1 && path[size - 1] == '/') {
        size--;
    }
    SINTER__CHECK(sinter__alloc(env, size + 1, 1, (void **)out, err));
    memcpy(*out, path, size);
    (*out)[size] = '\0';
    return SINTER_OK;
}

sinter_status
sinter__table_dir(const sinter_table *table, const char *dir, sinter_text *out, sinter_error *err)
{
    sinter_text_reset(out);
    SINTER__CHECK(sinter__text_puts(out, table->home, err));
    SINTER__CHECK(sinter__text_puts(out, "/", err));
    return sinter__text_puts(out, dir, err);
}

sinter_status
sinter__manifest_path(const sinter_table *table, sinter_bytes name, sinter_text *out,
                      sinter_error *err)
{
    sinter_text_reset(out);
    SINTER__CHECK(sinter__text_puts(out, table->root, err));
    SINTER__CHECK(sinter__text_puts(out, "/manifest/", err));
    return sinter_text_append(out, name.data, name.size, err);
}

static sinter_status
find_home(sinter_table *table, const char *branch, sinter_error *err)
{
    sinter_text path;
    sinter_status st = SINTER_OK;

    if (branch == NULL || strcmp(branch, "main") == 0) {
        return copy_path(table->env, table->root, &table->home, err);
    }
    if (!sinter__file_name_is_plain(branch)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.100s\" is no name of a branch", branch);
    }
    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__text_puts(&path, table->root, err));
    SINTER__TRY(sinter__text_puts(&path, "/branch/branch-", err));
    SINTER__TRY(sinter__text_puts(&path, branch, err));
    SINTER__TRY(copy_path(table->env, branch, &table->branch, err));
    SINTER__TRY(copy_path(table->env, path.data, &table->home, err));
out:
    sinter_text_fini(&path);
    return st;
}

/* ---- schemas ---- */

sinter_status
sinter_table_schema_get(sinter_table *table, int64_t id, const sinter_schema **out,
                        sinter_error *err)
{
    sinter__schema_node *node = NULL;
    sinter_text path;
    sinter_text dir;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL && id >= 0);
    for (node = table->schemas; node != NULL; node = node->next) {
        if (node->schema->id == id) {
            *out = node->schema;
            return SINTER_OK;
        }
    }
    *out = NULL;
    sinter_text_init(table->env, &path);
    sinter_text_init(table->env, &dir);
    SINTER__TRY(SINTER__NEW(table->env, node, 1, err));
    SINTER__TRY(sinter__table_dir(table, "schema", &dir, err));
    SINTER__TRY(
        sinter__number_path(&(sinter__numbered){table->env, dir.data, "schema-"}, id, &path, err));
    SINTER__TRY(sinter__schema_read(table->env, path.data, &node->schema, err));
    if (node->schema->id != id) {
        SINTER__FAIL_AT(err, SINTER_E_CORRUPT, path.data, -1,
                        "the file says that it is schema %" PRId64, node->schema->id);
    }
    *out = node->schema;
    node->next = table->schemas;
    table->schemas = node;
    node = NULL;
out:
    if (node != NULL) {
        sinter_schema_destroy(node->schema);
        sinter__free(table->env, node);
    }
    sinter_text_fini(&dir);
    sinter_text_fini(&path);
    return st;
}

sinter_status
sinter_table_refresh(sinter_table *table, sinter_error *err)
{
    sinter__numbers ids = {0};
    sinter_text dir;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL);
    sinter_text_init(table->env, &dir);
    SINTER__TRY(sinter__table_dir(table, "schema", &dir, err));
    SINTER__TRY(
        sinter__numbers_list(&(sinter__numbered){table->env, dir.data, "schema-"}, &ids, err));
    if (ids.count == 0) {
        SINTER__FAIL_AT(err, SINTER_E_NOT_FOUND, dir.data, -1,
                        "no table: there is no file schema-N in this directory");
    }
    SINTER__TRY(sinter_table_schema_get(table, ids.items[ids.count - 1], &table->latest, err));
out:
    sinter__numbers_fini(table->env, &ids);
    sinter_text_fini(&dir);
    return st;
}

const sinter_schema *
sinter_table_schema(const sinter_table *table)
{
    return table->latest;
}

/* ---- opening ---- */

sinter_status
sinter_table_open(const sinter_env *env, const sinter_table_config *given, sinter_table **out,
                  sinter_error *err)
{
    sinter_table_config config = {.struct_size = (uint32_t)sizeof config};
    sinter_table *table = NULL;
    const char *path = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && env->io != NULL && given != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(sinter__struct_load(&config, sizeof config, given, "sinter_table_config", err));
    SINTER__REQUIRE(err, config.path != NULL && config.path[0] != '\0');
    SINTER__CHECK(sinter__local_path(config.path, &path, err));
    SINTER__CHECK(SINTER__NEW(env, table, 1, err));
    table->env = env;
    SINTER__TRY(copy_path(env, path, &table->root, err));
    SINTER__TRY(find_home(table, config.branch, err));
    SINTER__TRY(sinter_table_refresh(table, err));
    *out = table;
    table = NULL;
out:
    sinter_table_close(table);
    return st;
}

void
sinter_table_close(sinter_table *table)
{
    if (table == NULL) {
        return;
    }
    while (table->schemas != NULL) {
        sinter__schema_node *node = table->schemas;

        table->schemas = node->next;
        sinter_schema_destroy(node->schema);
        sinter__free(table->env, node);
    }
    sinter__free(table->env, table->root);
    sinter__free(table->env, table->branch);
    sinter__free(table->env, table->home);
    sinter__free(table->env, table);
}

const char *
sinter_table_path(const sinter_table *table)
{
    return table->root;
}

const char *
sinter_table_branch(const sinter_table *table)
{
    return table->branch;
}

/* ---- snapshots ---- */

static sinter_status
find_id(sinter_table *table, sinter__number_end end, int64_t *out, sinter_error *err)
{
    sinter_text dir;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    sinter_text_init(table->env, &dir);
    SINTER__TRY(sinter__table_dir(table, "snapshot", &dir, err));
    SINTER__TRY(
        sinter__number_find(&(sinter__numbered){table->env, dir.data, "snapshot-"}, end, out, err));
out:
    sinter_text_fini(&dir);
    return st;
}

sinter_status
sinter_table_latest_id(sinter_table *table, int64_t *out, sinter_error *err)
{
    return find_id(table, SINTER__NUMBER_LATEST, out, err);
}

sinter_status
sinter_table_earliest_id(sinter_table *table, int64_t *out, sinter_error *err)
{
    return find_id(table, SINTER__NUMBER_EARLIEST, out, err);
}

/* A snapshot that isn't there was never, or is there no more. */
static sinter_status
missing_snapshot(sinter_table *table, int64_t id, const char *path, sinter_error *err)
{
    int64_t earliest = 0;
    const sinter_status st = sinter_table_earliest_id(table, &earliest, err);

    if (st != SINTER_OK && st != SINTER_END) {
        return st;
    }
    if (st == SINTER_OK && id < earliest) {
        return SINTER__ERR_AT(err, SINTER_E_EXPIRED, path, -1,
                              "snapshot %" PRId64 " is expired; the oldest is %" PRId64, id,
                              earliest);
    }
    return SINTER__ERR_AT(err, SINTER_E_NOT_FOUND, path, -1, "there is no snapshot %" PRId64, id);
}

sinter_status
sinter_table_snapshot_get(sinter_table *table, int64_t id, sinter_snapshot **out, sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_text dir;
    sinter_text path;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    *out = NULL;
    sinter_text_init(table->env, &dir);
    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__table_dir(table, "snapshot", &dir, err));
    SINTER__TRY(sinter__number_path(&(sinter__numbered){table->env, dir.data, "snapshot-"}, id,
                                    &path, err));
    st = sinter__snapshot_read(table->env, path.data, out, &detail);
    if (st == SINTER_E_NOT_FOUND) {
        st = missing_snapshot(table, id, path.data, err);
    } else if (st != SINTER_OK && err != NULL) {
        *err = detail;
    } else if (st == SINTER_OK && (*out)->id != id) {
        st = SINTER__ERR_AT(err, SINTER_E_CORRUPT, path.data, -1,
                            "the file says that it is snapshot %" PRId64, (*out)->id);
        sinter_snapshot_destroy(*out);
        *out = NULL;
    }
out:
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}

sinter_status
sinter_table_each_snapshot(sinter_table *table, sinter_status (*each)(void *ctx, int64_t id),
                           void *ctx, sinter_error *err)
{
    sinter__numbers ids = {0};
    sinter_text dir;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && each != NULL);
    sinter_text_init(table->env, &dir);
    SINTER__TRY(sinter__table_dir(table, "snapshot", &dir, err));
    SINTER__TRY(
        sinter__numbers_list(&(sinter__numbered){table->env, dir.data, "snapshot-"}, &ids, err));
    for (size_t i = 0; i < ids.count; i++) {
        SINTER__TRY(each(ctx, ids.items[i]));
    }
out:
    sinter__numbers_fini(table->env, &ids);
    sinter_text_fini(&dir);
    return st;
}
