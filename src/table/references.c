#include "table/references.h"

#include <string.h>

#include "base/fail.h"
#include "doc/text.h"
#include "table/index_manifest.h"
#include "table/manifest.h"
#include "table/numbered.h"
#include "table/snapshot.h"

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

/** Is a file missing that may be? */
static bool
may_lack(const sinter__references *self, sinter_status st)
{
    return st == SINTER_E_NOT_FOUND && self->is_lenient;
}

static sinter_status
add_data_files(sinter__references *self, const sinter_table *table,
               const sinter__manifest_meta *meta, sinter_error *err)
{
    const sinter__manifest_entry *entry = NULL;
    sinter__manifest_reader *reader = NULL;
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__manifest_path(table, meta->file_name, &path, err));
    SINTER__TRY(sinter__manifest_open(table->env, path.data, meta, NULL, &reader, err));
    while ((st = sinter__manifest_next(reader, &entry, err)) == SINTER_OK) {
        SINTER__TRY(sinter__name_set_add(&self->names, entry->file.file_name, NULL, err));
        for (size_t i = 0; i < entry->file.extra_files.count; i++) {
            SINTER__TRY(
                sinter__name_set_add(&self->names, entry->file.extra_files.items[i], NULL, err));
        }
    }
    st = st == SINTER_END ? SINTER_OK : st;
out:
    sinter__manifest_close(reader);
    sinter_text_fini(&path);
    return st;
}

static sinter_status
add_list(sinter__references *self, const sinter_table *table, const sinter_list_file *file,
         sinter_error *err)
{
    sinter__manifest_list list = {.arena.env = table->env};
    sinter_text path;
    bool is_new = false;
    sinter_status st = SINTER_OK;

    if (file->name == NULL) {
        return SINTER_OK;
    }
    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__name_set_add(&self->names, bytes_of(file->name), &is_new, err));
    if (!is_new) {
        goto out;
    }
    SINTER__TRY(sinter__manifest_path(table, bytes_of(file->name), &path, err));
    SINTER__TRY(sinter__manifest_list_read(
        table->env, path.data, file->size_bytes > 0 ? (uint64_t)file->size_bytes : 0, &list, err));
    for (size_t i = 0; i < list.count; i++) {
        SINTER__TRY(sinter__name_set_add(&self->names, list.items[i].file_name, &is_new, err));
        if (is_new && self->with_data) {
            st = add_data_files(self, table, &list.items[i], err);
            SINTER__TRY(may_lack(self, st) ? SINTER_OK : st);
        }
    }
out:
    sinter__manifest_list_fini(&list);
    sinter_text_fini(&path);
    return may_lack(self, st) ? SINTER_OK : st;
}

static sinter_status
add_index(sinter__references *self, const sinter_table *table, const char *name, sinter_error *err)
{
    sinter__index_manifest manifest = {.arena.env = table->env};
    sinter_text path;
    bool is_new = false;
    sinter_status st = SINTER_OK;

    if (name == NULL) {
        return SINTER_OK;
    }
    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__name_set_add(&self->names, bytes_of(name), &is_new, err));
    if (is_new) {
        SINTER__TRY(sinter__manifest_path(table, bytes_of(name), &path, err));
        SINTER__TRY(sinter__index_manifest_read(table->env, path.data, &manifest, err));
    }
    for (size_t i = 0; i < manifest.count; i++) {
        SINTER__TRY(sinter__name_set_add(&self->names, manifest.items[i].file_name, NULL, err));
    }
out:
    sinter__index_manifest_fini(&manifest);
    sinter_text_fini(&path);
    return may_lack(self, st) ? SINTER_OK : st;
}

sinter_status
sinter__references_add(sinter__references *self, const sinter_table *table,
                       const sinter_snapshot *snapshot, sinter_error *err)
{
    SINTER__CHECK(add_list(self, table, &snapshot->base, err));
    SINTER__CHECK(add_list(self, table, &snapshot->delta, err));
    SINTER__CHECK(add_index(self, table, snapshot->index_manifest, err));
    return snapshot->statistics == NULL
               ? SINTER_OK
               : sinter__name_set_add(&self->names, bytes_of(snapshot->statistics), NULL, err);
}

sinter_status
sinter__references_add_changelog(sinter__references *self, const sinter_table *table,
                                 const sinter_snapshot *snapshot, sinter_error *err)
{
    return add_list(self, table, &snapshot->changelog, err);
}

/* ---- all of a table ---- */

/** A walk over snapshots of some sort. */
typedef struct walk {
    sinter__references *references;
    sinter_table *table;
    sinter_error *err;
} walk;

/** Add a snapshot that lies in a file; if that is gone by now, nothing needs what it named. */
static sinter_status
add_file(const walk *self, const char *path, bool is_tag)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_snapshot *snapshot = NULL;
    bool is_there = true;
    sinter_status st = sinter__snapshot_read(self->table->env, path, &snapshot, &detail);

    if (st == SINTER_OK) {
        st = sinter__references_add(self->references, self->table, snapshot, &detail);
    }
    if (st == SINTER_OK) {
        st = sinter__references_add_changelog(self->references, self->table, snapshot, &detail);
        st = st == SINTER_E_NOT_FOUND && is_tag ? SINTER_OK : st;
    }
    sinter_snapshot_destroy(snapshot);
    if (st == SINTER_E_NOT_FOUND) {
        SINTER__CHECK(sinter__path_exists(self->table->env, path, &is_there, self->err));
        if (!is_there) {
            return SINTER_OK;
        }
        detail.status = st = SINTER_E_CORRUPT;
        sinter__fail_context(&detail, "metadata of %.150s is missing", path);
    }
    if (st != SINTER_OK && self->err != NULL) {
        *self->err = detail;
    }
    return st;
}

static sinter_status
add_numbered(const walk *self, const char *dir, const char *prefix)
{
    sinter__numbers numbers = {0};
    sinter_text home;
    sinter_text path;
    sinter__numbered files = {.env = self->table->env, .prefix = prefix};
    sinter_status st = SINTER_OK;

    sinter_text_init(files.env, &home);
    sinter_text_init(files.env, &path);
    SINTER__TRY(sinter__table_dir(self->table, dir, &home, self->err));
    files.dir = home.data;
    SINTER__TRY(sinter__numbers_list(&files, &numbers, self->err));
    for (size_t i = 0; i < numbers.count; i++) {
        SINTER__TRY(sinter__number_path(&files, numbers.items[i], &path, self->err));
        SINTER__TRY(add_file(self, path.data, false));
    }
out:
    sinter__numbers_fini(files.env, &numbers);
    sinter_text_fini(&path);
    sinter_text_fini(&home);
    return st;
}

static sinter_status
add_tag(void *ctx, const char *name)
{
    const walk *self = ctx;
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(self->table->env, &path);
    SINTER__TRY(sinter__table_dir(self->table, "tag/tag-", &path, self->err));
    SINTER__TRY(sinter__text_puts(&path, name, self->err));
    st = add_file(self, path.data, true);
out:
    sinter_text_fini(&path);
    return st;
}

sinter_status
sinter__references_add_table(sinter__references *self, sinter_table *table, uint32_t which,
                             sinter_error *err)
{
    walk w = {self, table, err};
    sinter_status st = SINTER_OK;

    if ((which & SINTER__REFERENCES_SNAPSHOTS) != 0) {
        SINTER__CHECK(add_numbered(&w, "snapshot", "snapshot-"));
    }
    if ((which & SINTER__REFERENCES_TAGS) != 0) {
        SINTER__CHECK(sinter_table_each_tag(table, add_tag, &w, err));
    }
    if ((which & SINTER__REFERENCES_CHANGELOGS) != 0) {
        /* Last: what is missing here would be damage there. */
        self->is_lenient = true;
        st = add_numbered(&w, "changelog", "changelog-");
        self->is_lenient = false;
    }
    return st;
}
