/*
 * Snapshots that expire, and the files that go with them (table-layout.md 14.1, 14.2).
 *
 * Snapshots b to e - 1 go. A data file goes that was deleted in one of b + 1 to e and is not added
 * again later: the deltas are walked from the newest entry to the oldest, with what was added by
 * then at hand. All is found before anything is removed.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/text.h"
#include "sinter/table_maintenance.h"
#include "table/expiry_range.h"
#include "table/index_manifest.h"
#include "table/live_files.h"
#include "table/manifest.h"
#include "table/numbered.h"
#include "table/references.h"
#include "table/removal.h"
#include "table/snapshot.h"
#include "table/snapshot_write.h"

/** Snapshots that tags hold. */
typedef struct tags {
    sinter_snapshot **items;
    size_t count;
    size_t capacity;
} tags;

/** An expiry under way. */
typedef struct expiry {
    sinter__expiry_range range;
    sinter__table_options table_options;
    sinter__partitions partitions;
    tags tags;
    sinter__references needed;   /* metadata that stays: of the first kept and tags */
    sinter__references branches; /* everything that other branches need, and changelogs */
    sinter__name_set added;      /* paths that later entries add */
    sinter__name_set tagged;     /* data files of the tag below */
    const sinter_snapshot *tag;
    sinter__removal data;
    sinter__removal meta;
    sinter_expire_result result;
} expiry;

static const sinter_env *
env_of(const expiry *self)
{
    return self->range.table->env;
}

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

/* ---- what stays ---- */

/** A walk over names, and what its failures go to. */
typedef struct name_walk {
    expiry *expiry;
    sinter_error *err;
} name_walk;

static sinter_status
note_tag(void *ctx, const char *name)
{
    const name_walk *walk = ctx;
    expiry *self = walk->expiry;
    sinter_snapshot *snapshot = NULL;
    tags *all = &self->tags;

    if (all->count == all->capacity) {
        const size_t capacity = all->capacity == 0 ? 16 : 2 * all->capacity;

        SINTER__CHECK(sinter__resize(env_of(self), (void **)&all->items, capacity,
                                     sizeof *all->items, walk->err));
        all->capacity = capacity;
    }
    SINTER__CHECK(sinter_table_snapshot_of_tag(self->range.table, name, &snapshot, walk->err));
    all->items[all->count++] = snapshot;
    return SINTER_OK;
}

/** A branch, which may be main: everything that it needs stays. */
static sinter_status
add_branch(expiry *self, const char *name, sinter_error *err)
{
    const sinter_table_config config = {
        .struct_size = (uint32_t)sizeof config, .path = self->range.table->root, .branch = name};
    const char *own = self->range.table->branch == NULL ? "main" : self->range.table->branch;
    sinter_table *branch = NULL;
    sinter_status st = SINTER_OK;

    if (strcmp(own, name) == 0) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter_table_open(env_of(self), &config, &branch, err));
    st = sinter__references_add_table(&self->branches, branch,
                                      SINTER__REFERENCES_SNAPSHOTS | SINTER__REFERENCES_TAGS |
                                          SINTER__REFERENCES_CHANGELOGS,
                                      err);
    sinter_table_close(branch);
    return st;
}

static sinter_status
note_branch(void *ctx, const char *name)
{
    const name_walk *walk = ctx;

    return add_branch(walk->expiry, name, walk->err);
}

/** Changelogs of the table, too. Where snapshots become changelogs, data files stay by their
 * source, and it is metadata that is needed. */
static sinter_status
add_own_changelogs(expiry *self, sinter_error *err)
{
    return self->range.is_of_changelogs
               ? SINTER_OK
               : sinter__references_add_table(
                     self->range.lives.are_longer ? &self->needed : &self->branches,
                     self->range.table, SINTER__REFERENCES_CHANGELOGS, err);
}

static sinter_status
find_needed(expiry *self, sinter_error *err)
{
    name_walk walk = {self, err};
    sinter_snapshot *first_kept = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter_table_each_tag(self->range.table, note_tag, &walk, err));
    for (size_t i = 0; i < self->tags.count; i++) {
        SINTER__CHECK(
            sinter__references_add(&self->needed, self->range.table, self->tags.items[i], err));
    }
    SINTER__CHECK(sinter__expiry_range_get(&self->range, self->range.first_kept, &first_kept, err));
    self->needed.is_lenient = self->range.is_of_changelogs;
    st = sinter__references_add(&self->needed, self->range.table, first_kept, err);
    if (st == SINTER_OK) {
        st = sinter__references_add_changelog(&self->needed, self->range.table, first_kept, err);
    }
    sinter_snapshot_destroy(first_kept);
    SINTER__CHECK(st);
    SINTER__CHECK(add_own_changelogs(self, err));
    if (self->range.table->branch != NULL) {
        SINTER__CHECK(add_branch(self, "main", err));
    }
    return sinter_table_each_branch(self->range.table, note_branch, &walk, err);
}

/** The newest tag on a snapshot before this one; NULL: none. */
static const sinter_snapshot *
tag_before(const expiry *self, int64_t id)
{
    const sinter_snapshot *newest = NULL;

    for (size_t i = 0; i < self->tags.count; i++) {
        const sinter_snapshot *tag = self->tags.items[i];

        if (tag->id < id && (newest == NULL || tag->id > newest->id)) {
            newest = tag;
        }
    }
    return newest;
}

/** Have the data files of that tag at hand. */
static sinter_status
load_tag(expiry *self, int64_t id, sinter_error *err)
{
    const sinter_snapshot *tag = tag_before(self, id);
    sinter__live_files *files = NULL;
    const sinter__bucket_files *buckets = NULL;
    size_t count = 0;
    sinter_status st = SINTER_OK;

    if (tag == self->tag) {
        return SINTER_OK;
    }
    sinter__name_set_fini(&self->tagged);
    self->tag = tag;
    if (tag == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__live_files_read(self->range.table, tag, &files, err));
    buckets = sinter__live_files_buckets(files, &count);
    for (size_t b = 0; b < count; b++) {
        for (size_t i = 0; i < buckets[b].count; i++) {
            SINTER__TRY(sinter__name_set_add(&self->tagged, buckets[b].entries[i]->file.file_name,
                                             NULL, err));
        }
    }
out:
    sinter__live_files_destroy(files);
    return st;
}

/* ---- what goes ---- */

/** Is a failure that of a file that is gone already? Then there is nothing to find in it. */
static sinter_status
unless_gone(sinter_status st, const sinter_error *detail, sinter_error *err)
{
    if (st == SINTER_E_NOT_FOUND) {
        return SINTER_OK;
    }
    if (st != SINTER_OK && err != NULL) {
        *err = *detail;
    }
    return st;
}

static sinter_status
read_list(const expiry *self, const sinter_list_file *file, sinter__manifest_list *out,
          sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_text path;
    sinter_status st = SINTER_OK;

    if (file->name == NULL) {
        return SINTER_OK;
    }
    sinter_text_init(env_of(self), &path);
    st = sinter__manifest_path(self->range.table, bytes_of(file->name), &path, &detail);
    if (st == SINTER_OK) {
        st = sinter__manifest_list_read(env_of(self), path.data,
                                        file->size_bytes > 0 ? (uint64_t)file->size_bytes : 0, out,
                                        &detail);
    }
    sinter_text_fini(&path);
    return unless_gone(st, &detail, err);
}

/** Entries in their order, in an arena. */
typedef struct entries {
    sinter__arena arena;
    const sinter__manifest_entry **items;
    size_t count;
    size_t capacity;
} entries;

static sinter_status
read_manifest(const expiry *self, const sinter__manifest_meta *meta, entries *out,
              sinter_error *err)
{
    const sinter__manifest_entry *entry = NULL;
    sinter__manifest_reader *reader = NULL;
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(env_of(self), &path);
    SINTER__TRY(sinter__manifest_path(self->range.table, meta->file_name, &path, err));
    SINTER__TRY(sinter__manifest_open(env_of(self), path.data, meta, NULL, &reader, err));
    while ((st = sinter__manifest_next(reader, &entry, err)) == SINTER_OK) {
        if (out->count == out->capacity) {
            const size_t capacity = out->capacity == 0 ? 64 : 2 * out->capacity;

            SINTER__TRY(sinter__resize(env_of(self), (void **)&out->items, capacity,
                                       sizeof *out->items, err));
            out->capacity = capacity;
        }
        SINTER__TRY(sinter__manifest_entry_copy(&out->arena, entry, &out->items[out->count], err));
        out->count++;
    }
    st = st == SINTER_END ? SINTER_OK : st;
out:
    sinter__manifest_close(reader);
    sinter_text_fini(&path);
    return st;
}

static sinter_status
read_entries(const expiry *self, const sinter_list_file *file, entries *out, sinter_error *err)
{
    sinter__manifest_list list = {.arena.env = env_of(self)};
    sinter_status st = read_list(self, file, &list, err);

    for (size_t i = 0; i < list.count && st == SINTER_OK; i++) {
        sinter_error detail = SINTER_ERROR_INIT;

        st = unless_gone(read_manifest(self, &list.items[i], out, &detail), &detail, err);
    }
    sinter__manifest_list_fini(&list);
    return st;
}

static void
entries_fini(entries *self)
{
    sinter__free(self->arena.env, self->items);
    sinter__arena_fini(&self->arena);
}

/** Plan to remove a data file with what lies beside it. */
static sinter_status
plan_data_file(expiry *self, const sinter__manifest_entry *entry, sinter_error *err)
{
    const sinter__bytes_list *extra = &entry->file.extra_files;

    if (sinter__name_set_has(&self->branches.names, entry->file.file_name)) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__removal_data_file(&self->data, entry, entry->file.file_name, err));
    for (size_t i = 0; i < extra->count; i++) {
        SINTER__CHECK(sinter__removal_data_file(&self->data, entry, extra->items[i], err));
    }
    return SINTER_OK;
}

/** Does a changelog without changelog files need this file, which a delta appended? */
static bool
is_change(const expiry *self, const sinter__manifest_entry *entry)
{
    return self->range.lives.are_longer && !self->range.is_of_changelogs &&
           !self->range.has_producer &&
           ((entry->file.has & SINTER__FILE_HAS_SOURCE) == 0 ||
            entry->file.source != SINTER__FILE_SOURCE_COMPACT);
}

/** Data files that a delta deletes and that nothing adds later. Deltas come newest first. */
static sinter_status
plan_delta(expiry *self, const sinter_snapshot *snapshot, sinter_error *err)
{
    entries all = {.arena.env = env_of(self)};
    sinter_status st = SINTER_OK;

    SINTER__TRY(load_tag(self, snapshot->id, err));
    SINTER__TRY(read_entries(self, &snapshot->delta, &all, err));
    for (size_t i = all.count; i > 0; i--) {
        const sinter__manifest_entry *entry = all.items[i - 1];

        if (entry->kind == SINTER__ENTRY_ADD) {
            SINTER__TRY(sinter__name_set_add(&self->added, entry->file.file_name, NULL, err));
        } else if (!is_change(self, entry) &&
                   !sinter__name_set_has(&self->added, entry->file.file_name) &&
                   !sinter__name_set_has(&self->tagged, entry->file.file_name)) {
            SINTER__TRY(plan_data_file(self, entry, err));
        }
    }
out:
    entries_fini(&all);
    return st;
}

/** Changelog files; tags read none. */
static sinter_status
plan_changelog(expiry *self, const sinter_snapshot *snapshot, sinter_error *err)
{
    entries all = {.arena.env = env_of(self)};
    sinter_status st = read_entries(self, &snapshot->changelog, &all, err);

    for (size_t i = 0; i < all.count && st == SINTER_OK; i++) {
        if (all.items[i]->kind == SINTER__ENTRY_ADD) {
            st = plan_data_file(self, all.items[i], err);
        }
    }
    entries_fini(&all);
    return st;
}

static bool
is_needed(const expiry *self, sinter_bytes name)
{
    return sinter__name_set_has(&self->needed.names, name) ||
           sinter__name_set_has(&self->branches.names, name);
}

static sinter_status
plan_meta_file(expiry *self, const char *dir, sinter_bytes name, sinter_error *err)
{
    return is_needed(self, name) ? SINTER_OK : sinter__removal_file(&self->meta, dir, name, err);
}

static sinter_status
plan_list(expiry *self, const sinter_list_file *file, sinter_error *err)
{
    sinter__manifest_list list = {.arena.env = env_of(self)};
    sinter_status st = SINTER_OK;

    if (file->name == NULL || is_needed(self, bytes_of(file->name))) {
        return SINTER_OK; /* and so are its manifests */
    }
    st = read_list(self, file, &list, err);
    for (size_t i = 0; i < list.count && st == SINTER_OK; i++) {
        st = plan_meta_file(self, "manifest", list.items[i].file_name, err);
    }
    if (st == SINTER_OK) {
        st = plan_meta_file(self, "manifest", bytes_of(file->name), err);
    }
    sinter__manifest_list_fini(&list);
    return st;
}

static sinter_status
plan_index(expiry *self, const char *name, sinter_error *err)
{
    sinter__index_manifest manifest = {.arena.env = env_of(self)};
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_text path;
    sinter_status st = SINTER_OK;

    if (name == NULL || is_needed(self, bytes_of(name))) {
        return SINTER_OK;
    }
    sinter_text_init(env_of(self), &path);
    st = sinter__manifest_path(self->range.table, bytes_of(name), &path, &detail);
    if (st == SINTER_OK) {
        st = sinter__index_manifest_read(env_of(self), path.data, &manifest, &detail);
    }
    st = unless_gone(st, &detail, err);
    for (size_t i = 0; i < manifest.count && st == SINTER_OK; i++) {
        if (!is_needed(self, manifest.items[i].file_name)) {
            st = sinter__removal_index_file(&self->meta, &manifest.items[i], err);
        }
    }
    if (st == SINTER_OK) {
        st = plan_meta_file(self, "manifest", bytes_of(name), err);
    }
    sinter__index_manifest_fini(&manifest);
    sinter_text_fini(&path);
    return st;
}

static sinter_status
plan_metadata(expiry *self, const sinter_snapshot *snapshot, sinter_error *err)
{
    const bool becomes_changelog = self->range.lives.are_longer && !self->range.is_of_changelogs;

    if (!becomes_changelog || self->range.has_producer) {
        SINTER__CHECK(plan_list(self, &snapshot->base, err));
        SINTER__CHECK(plan_list(self, &snapshot->delta, err));
    }
    if (!becomes_changelog) {
        SINTER__CHECK(plan_list(self, &snapshot->changelog, err));
    }
    if (self->range.is_of_changelogs) {
        return SINTER_OK; /* the rest went with the snapshot */
    }
    SINTER__CHECK(plan_index(self, snapshot->index_manifest, err));
    return snapshot->statistics == NULL
               ? SINTER_OK
               : plan_meta_file(self, "statistics", bytes_of(snapshot->statistics), err);
}

/** Plan what goes with a snapshot, from the newest that matters to the oldest. What a changelog's
 *  delta deletes was needed by the changelogs before it. */
static sinter_status
plan_snapshot(expiry *self, int64_t id, sinter_error *err)
{
    sinter_snapshot *snapshot = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__expiry_range_get(&self->range, id, &snapshot, err));
    if (self->range.is_of_changelogs ? id < self->range.end : id > self->range.begin) {
        SINTER__TRY(plan_delta(self, snapshot, err));
    }
    if (id < self->range.end) {
        if (self->range.is_of_changelogs || !self->range.lives.are_longer) {
            SINTER__TRY(plan_changelog(self, snapshot, err));
        }
        SINTER__TRY(plan_metadata(self, snapshot, err));
        self->result.snapshots += self->range.is_of_changelogs ? 0 : 1;
        self->result.changelogs += self->range.is_of_changelogs ? 1 : 0;
    }
out:
    sinter_snapshot_destroy(snapshot);
    return st;
}

/* ---- doing it ---- */

/** Snapshots that go become changelogs, if these live longer. */
static sinter_status
keep_changelogs(const expiry *self, sinter_error *err)
{
    for (int64_t id = self->range.begin;
         self->range.lives.are_longer && !self->range.is_of_changelogs && id < self->range.end;
         id++) {
        sinter_snapshot *snapshot = NULL;
        sinter_status st = sinter_table_snapshot_get(self->range.table, id, &snapshot, err);

        if (st == SINTER_OK) {
            st = sinter__changelog_publish(self->range.table, snapshot, err);
        }
        sinter_snapshot_destroy(snapshot);
        SINTER__CHECK(st);
    }
    return SINTER_OK;
}

static sinter_status
remove_snapshots(expiry *self, sinter_error *err)
{
    sinter_io *io = env_of(self)->io;
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_text dir;
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(env_of(self), &dir);
    sinter_text_init(env_of(self), &path);
    SINTER__TRY(sinter__table_dir(self->range.table, sinter__expiry_dir(&self->range), &dir, err));
    for (int64_t id = self->range.begin; id < self->range.end; id++) {
        SINTER__TRY(sinter__number_path(
            &(sinter__numbered){env_of(self), dir.data, sinter__expiry_prefix(&self->range)}, id,
            &path, err));
        SINTER__TRY(unless_gone(io->ops->unlink(io, path.data, &detail), &detail, err));
    }
    SINTER__TRY(io->ops->sync_dir(io, dir.data, err)); /* none comes back without its files */
    sinter__hint_write(self->range.table, sinter__expiry_dir(&self->range), "EARLIEST",
                       self->range.first_kept);
out:
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}

static sinter_status
expire(expiry *self, sinter_error *err)
{
    const bool is_dry = (self->range.options.flags & SINTER_REMOVE_DRY_RUN) != 0;
    const sinter__removal_listener told = {self->range.options.each, self->range.options.ctx,
                                           is_dry};

    SINTER__CHECK(sinter__expiry_range_find(&self->range, err));
    SINTER__CHECK(find_needed(self, err));
    SINTER__CHECK(sinter__expiry_range_skip_gap(&self->range, err));
    for (int64_t id = self->range.end - (self->range.is_of_changelogs ? 1 : 0);
         id >= self->range.begin; id--) {
        SINTER__CHECK(plan_snapshot(self, id, err));
    }
    if (!self->range.is_of_changelogs) {
        self->result.first_id = self->range.begin;
        self->result.last_id = self->range.end - 1;
    }
    if (!is_dry) {
        SINTER__CHECK(keep_changelogs(self, err));
        SINTER__CHECK(remove_snapshots(self, err));
    }
    self->result.data_files += sinter__removal_run(&self->data, &told, &self->result.left_files);
    if (self->range.clean_directories && !is_dry) {
        sinter__removal_clean_dirs(&self->data);
    }
    self->result.meta_files += sinter__removal_run(&self->meta, &told, &self->result.left_files);
    return SINTER_OK;
}

static void
expiry_fini(expiry *self)
{
    for (size_t i = 0; i < self->tags.count; i++) {
        sinter_snapshot_destroy(self->tags.items[i]);
    }
    sinter__free(env_of(self), self->tags.items);
    sinter__removal_fini(&self->data);
    sinter__removal_fini(&self->meta);
    sinter__name_set_fini(&self->needed.names);
    sinter__name_set_fini(&self->branches.names);
    sinter__name_set_fini(&self->added);
    sinter__name_set_fini(&self->tagged);
    sinter__partitions_fini(&self->partitions);
}

static sinter_status
begin(expiry *self, const sinter_expire_options *options, sinter_error *err)
{
    const sinter__removal removal = {.env = env_of(self),
                                     .root = self->range.table->root,
                                     .options = &self->table_options,
                                     .partitions = &self->partitions};

    self->partitions.arena.env = env_of(self);
    self->needed.names.arena.env = env_of(self);
    self->branches.names.arena.env = env_of(self);
    self->branches.with_data = true;
    self->added.arena.env = env_of(self);
    self->tagged.arena.env = env_of(self);
    self->data = removal;
    self->meta = removal;
    SINTER__CHECK(sinter_table_refresh(self->range.table, err));
    SINTER__CHECK(sinter__expiry_range_load(&self->range, options, err));
    SINTER__CHECK(sinter__table_options_load(sinter_table_schema(self->range.table),
                                             &self->table_options, err));
    return sinter__partitions_init(&self->partitions, sinter_table_schema(self->range.table),
                                   &self->table_options, err);
}

/** Expire snapshots, or changelogs, and add what was done. */
static sinter_status
run(sinter_table *table, const sinter_expire_options *options, bool is_of_changelogs,
    sinter_expire_result *result, sinter_error *err)
{
    expiry self = {.range = {.table = table, .is_of_changelogs = is_of_changelogs},
                   .result = *result};
    sinter_status st = begin(&self, options, err);

    if (st == SINTER_OK && (!is_of_changelogs || self.range.lives.are_longer)) {
        st = expire(&self, err);
    }
    *result = self.result;
    expiry_fini(&self);
    return st == SINTER_END ? SINTER_OK : st;
}

sinter_status
sinter_table_expire(sinter_table *table, const sinter_expire_options *options,
                    sinter_expire_result *out, sinter_error *err)
{
    sinter_expire_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL);
    SINTER__REQUIRE(err, out == NULL || out->struct_size >= sizeof out->struct_size);
    st = run(table, options, false, &result, err);
    if (st == SINTER_OK) {
        st = run(table, options, true, &result, err);
    }
    if (out != NULL) {
        sinter__struct_store(out, &result, sizeof result);
    }
    return st;
}
