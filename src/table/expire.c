/*
 * Snapshots that expire, and the files that go with them (table-layout.md 14.1, 14.2).
 *
 * Snapshots b to e - 1 go. A data file goes that was deleted in one of b + 1 to e and is not added
 * again later: the deltas are walked from the newest entry to the oldest, with what was added by
 * then at hand. All is found before anything is removed.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/env.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/text.h"
#include "sinter/table_maintenance.h"
#include "table/commit_options.h"
#include "table/consumers.h"
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

/** How long changelogs live. */
typedef struct lives {
    bool are_longer; /* than those of snapshots: changelogs are kept on their own */
    int64_t retain_min;
    int64_t retain_max;
    int64_t older_than_ms;
} lives;

/** An expiry under way: of snapshots, or of changelogs that outlived theirs. */
typedef struct expiry {
    sinter_table *table;
    bool is_of_changelogs;
    bool has_producer; /* changes are in changelog files, else in deltas */
    lives lives;
    sinter_expire_options options;
    sinter__table_options table_options;
    sinter__partitions partitions;
    bool clean_directories; /* snapshot.clean-empty-directories */
    int64_t begin;
    int64_t end;
    int64_t first_kept; /* `end`, or for changelogs the next that there is */
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
    return self->table->env;
}

static const char *
dir_name(const expiry *self)
{
    return self->is_of_changelogs ? "changelog" : "snapshot";
}

static const char *
prefix(const expiry *self)
{
    return self->is_of_changelogs ? "changelog-" : "snapshot-";
}

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

/* ---- which snapshots ---- */

static sinter_status
load_lives(expiry *self, int64_t now_ms, sinter_error *err)
{
    const sinter_schema *schema = sinter_table_schema(self->table);
    const sinter_expire_options *options = &self->options;
    const char *producer = sinter_schema_option(schema, "changelog-producer");
    lives *own = &self->lives;
    int64_t ms = now_ms - options->older_than_ms;

    own->retain_min = options->retain_min;
    own->retain_max = options->retain_max;
    SINTER__CHECK(
        sinter__option_count(schema, "changelog.num-retained.min", 1, &own->retain_min, err));
    SINTER__CHECK(
        sinter__option_count(schema, "changelog.num-retained.max", 1, &own->retain_max, err));
    SINTER__CHECK(sinter__option_duration(schema, "changelog.time-retained", &ms, err));
    own->older_than_ms = now_ms - ms;
    own->are_longer = own->retain_min > options->retain_min ||
                      own->retain_max > options->retain_max ||
                      own->older_than_ms < options->older_than_ms;
    self->has_producer = producer != NULL && strcasecmp(producer, "none") != 0;
    if (own->are_longer && own->retain_max < own->retain_min) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "%" PRId64 " changelogs stay at least, but %" PRId64 " at most",
                           own->retain_min, own->retain_max);
    }
    return SINTER_OK;
}

/** Fill in what the caller leaves to the table. */
static sinter_status
load_options(expiry *self, const sinter_expire_options *given, sinter_error *err)
{
    const sinter_schema *schema = sinter_table_schema(self->table);
    const int64_t now_ms = sinter__now_ms(env_of(self));
    sinter_expire_options *options = &self->options;
    int64_t min = 10;
    int64_t max = INT32_MAX;
    int64_t limit = 50;
    int64_t retained_ms = INT64_C(3600) * 1000;

    *options = (sinter_expire_options){.struct_size = (uint32_t)sizeof *options};
    if (given != NULL) {
        SINTER__CHECK(
            sinter__struct_load(options, sizeof *options, given, "sinter_expire_options", err));
    }
    SINTER__REQUIRE(err, (options->flags & ~(uint32_t)SINTER_REMOVE_DRY_RUN) == 0);
    SINTER__REQUIRE(err, options->retain_min >= 0 && options->retain_max >= 0);
    SINTER__REQUIRE(err, options->limit >= 0);
    SINTER__CHECK(sinter__option_count(schema, "snapshot.num-retained.min", 1, &min, err));
    SINTER__CHECK(sinter__option_count(schema, "snapshot.num-retained.max", 1, &max, err));
    SINTER__CHECK(sinter__option_count(schema, "snapshot.expire.limit", 1, &limit, err));
    SINTER__CHECK(sinter__option_duration(schema, "snapshot.time-retained", &retained_ms, err));
    SINTER__CHECK(sinter__option_bool(schema, "snapshot.clean-empty-directories",
                                      &self->clean_directories, err));
    options->retain_min = options->retain_min == 0 ? min : options->retain_min;
    options->retain_max = options->retain_max == 0 ? max : options->retain_max;
    options->limit = options->limit == 0 ? limit : options->limit;
    options->older_than_ms =
        options->older_than_ms == 0 ? now_ms - retained_ms : options->older_than_ms;
    if (options->retain_max < options->retain_min) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "%" PRId64 " snapshots stay at least, but %" PRId64 " at most",
                           options->retain_min, options->retain_max);
    }
    return load_lives(self, now_ms, err);
}

/** A snapshot, or changelog, by its number. */
static sinter_status
get_numbered(const expiry *self, int64_t id, sinter_snapshot **out, sinter_error *err)
{
    sinter_text dir;
    sinter_text path;
    sinter_status st = SINTER_OK;

    if (!self->is_of_changelogs) {
        return sinter_table_snapshot_get(self->table, id, out, err);
    }
    sinter_text_init(env_of(self), &dir);
    sinter_text_init(env_of(self), &path);
    SINTER__TRY(sinter__table_dir(self->table, dir_name(self), &dir, err));
    SINTER__TRY(sinter__number_path(&(sinter__numbered){env_of(self), dir.data, prefix(self)}, id,
                                    &path, err));
    st = sinter__snapshot_read(env_of(self), path.data, out, err);
out:
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}

/** Is this snapshot too young to go? One that isn't there is not. */
static sinter_status
is_young(const expiry *self, int64_t id, bool *out, sinter_error *err)
{
    const int64_t older_than_ms =
        self->is_of_changelogs ? self->lives.older_than_ms : self->options.older_than_ms;
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = get_numbered(self, id, &snapshot, &detail);

    *out = st == SINTER_OK && snapshot->time_ms >= older_than_ms;
    sinter_snapshot_destroy(snapshot);
    if (st == SINTER_E_NOT_FOUND || st == SINTER_E_EXPIRED) {
        return SINTER_OK;
    }
    if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    return st;
}

static int64_t
smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/** The first that there is, and the one that none may go from on. */
static sinter_status
find_ends(expiry *self, int64_t latest, int64_t *newest, sinter_error *err)
{
    sinter_text dir;
    sinter__numbered files = {.env = env_of(self), .prefix = "changelog-"};
    sinter_status st = SINTER_OK;

    *newest = latest;
    if (!self->is_of_changelogs) {
        return sinter_table_earliest_id(self->table, &self->begin, err);
    }
    sinter_text_init(files.env, &dir);
    SINTER__TRY(sinter__table_dir(self->table, "changelog", &dir, err));
    files.dir = dir.data;
    SINTER__TRY(sinter__number_find(&files, SINTER__NUMBER_EARLIEST, &self->begin, err));
    st = sinter__number_find(&files, SINTER__NUMBER_LATEST, newest, err);
out:
    sinter_text_fini(&dir);
    return st;
}

/** Numbers may lack where changelogs were kept, then not, and then again. What lies before a gap
 * goes by itself; the first behind it stays. */
static sinter_status
end_at_gap(expiry *self, sinter_error *err)
{
    sinter_text dir;
    sinter__numbered files = {.env = env_of(self), .prefix = prefix(self)};
    sinter__numbers numbers = {.count = 0};
    size_t first = 0;
    size_t i = 0;
    sinter_status st = SINTER_OK;

    sinter_text_init(files.env, &dir);
    SINTER__TRY(sinter__table_dir(self->table, dir_name(self), &dir, err));
    files.dir = dir.data;
    SINTER__TRY(sinter__numbers_list(&files, &numbers, err));
    while (i < numbers.count && numbers.items[i] < self->begin) {
        i++;
    }
    first = i;
    while (i < numbers.count && numbers.items[i] < self->end &&
           numbers.items[i] == self->begin + (int64_t)(i - first)) {
        i++;
    }
    self->end = smaller(self->end, self->begin + (int64_t)(i - first));
    self->first_kept = i < numbers.count ? numbers.items[i] : self->end;
    st = self->begin < self->end && i < numbers.count ? SINTER_OK : SINTER_END;
out:
    sinter__numbers_fini(files.env, &numbers);
    sinter_text_fini(&dir);
    return st;
}

/** Find begin and end; SINTER_END: there is nothing to do. */
static sinter_status
find_range(expiry *self, sinter_error *err)
{
    const int64_t retain_min =
        self->is_of_changelogs ? self->lives.retain_min : self->options.retain_min;
    const int64_t retain_max =
        self->is_of_changelogs ? self->lives.retain_max : self->options.retain_max;
    int64_t latest = 0;
    int64_t newest = 0;
    int64_t next = INT64_MAX;
    int64_t id = 0;
    bool young = false;

    SINTER__CHECK(sinter_table_latest_id(self->table, &latest, err));
    SINTER__CHECK(find_ends(self, latest, &newest, err));
    SINTER__CHECK(sinter__consumers_next(self->table, &next, err));
    self->end = latest - smaller(retain_min, latest) + 1;
    self->end = smaller(self->end, next);
    self->end = smaller(self->end, self->begin + smaller(self->options.limit, latest));
    self->end = smaller(self->end, self->is_of_changelogs ? newest : INT64_MAX);
    id = latest - smaller(retain_max, latest) + 1;
    for (id = id < self->begin ? self->begin : id; id < self->end; id++) {
        SINTER__CHECK(is_young(self, id, &young, err));
        if (young) {
            self->end = id;
        }
    }
    self->first_kept = self->end;
    if (self->begin < self->end && self->is_of_changelogs) {
        return end_at_gap(self, err);
    }
    return self->begin < self->end ? SINTER_OK : SINTER_END;
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
    SINTER__CHECK(sinter_table_snapshot_of_tag(self->table, name, &snapshot, walk->err));
    all->items[all->count++] = snapshot;
    return SINTER_OK;
}

/** A branch, which may be main: everything that it needs stays. */
static sinter_status
add_branch(expiry *self, const char *name, sinter_error *err)
{
    const sinter_table_config config = {
        .struct_size = (uint32_t)sizeof config, .path = self->table->root, .branch = name};
    const char *own = self->table->branch == NULL ? "main" : self->table->branch;
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
    return self->is_of_changelogs ? SINTER_OK
                                  : sinter__references_add_table(
                                        self->lives.are_longer ? &self->needed : &self->branches,
                                        self->table, SINTER__REFERENCES_CHANGELOGS, err);
}

static sinter_status
find_needed(expiry *self, sinter_error *err)
{
    name_walk walk = {self, err};
    sinter_snapshot *first_kept = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter_table_each_tag(self->table, note_tag, &walk, err));
    for (size_t i = 0; i < self->tags.count; i++) {
        SINTER__CHECK(sinter__references_add(&self->needed, self->table, self->tags.items[i], err));
    }
    SINTER__CHECK(get_numbered(self, self->first_kept, &first_kept, err));
    self->needed.is_lenient = self->is_of_changelogs;
    st = sinter__references_add(&self->needed, self->table, first_kept, err);
    if (st == SINTER_OK) {
        st = sinter__references_add_changelog(&self->needed, self->table, first_kept, err);
    }
    sinter_snapshot_destroy(first_kept);
    SINTER__CHECK(st);
    SINTER__CHECK(add_own_changelogs(self, err));
    if (self->table->branch != NULL) {
        SINTER__CHECK(add_branch(self, "main", err));
    }
    return sinter_table_each_branch(self->table, note_branch, &walk, err);
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
    SINTER__CHECK(sinter__live_files_read(self->table, tag, &files, err));
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
    st = sinter__manifest_path(self->table, bytes_of(file->name), &path, &detail);
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
    SINTER__TRY(sinter__manifest_path(self->table, meta->file_name, &path, err));
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
    return self->lives.are_longer && !self->is_of_changelogs && !self->has_producer &&
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
    st = sinter__manifest_path(self->table, bytes_of(name), &path, &detail);
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
    const bool becomes_changelog = self->lives.are_longer && !self->is_of_changelogs;

    if (!becomes_changelog || self->has_producer) {
        SINTER__CHECK(plan_list(self, &snapshot->base, err));
        SINTER__CHECK(plan_list(self, &snapshot->delta, err));
    }
    if (!becomes_changelog) {
        SINTER__CHECK(plan_list(self, &snapshot->changelog, err));
    }
    if (self->is_of_changelogs) {
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

    SINTER__TRY(get_numbered(self, id, &snapshot, err));
    if (self->is_of_changelogs ? id < self->end : id > self->begin) {
        SINTER__TRY(plan_delta(self, snapshot, err));
    }
    if (id < self->end) {
        if (self->is_of_changelogs || !self->lives.are_longer) {
            SINTER__TRY(plan_changelog(self, snapshot, err));
        }
        SINTER__TRY(plan_metadata(self, snapshot, err));
        self->result.snapshots += self->is_of_changelogs ? 0 : 1;
        self->result.changelogs += self->is_of_changelogs ? 1 : 0;
    }
out:
    sinter_snapshot_destroy(snapshot);
    return st;
}

/** A gap in the ids: what lies before it was expired by somebody who was interrupted. */
static sinter_status
skip_gap(expiry *self, sinter_error *err)
{
    sinter_text dir;
    sinter_text path;
    bool is_there = true;
    sinter_status st = SINTER_OK;

    sinter_text_init(env_of(self), &dir);
    sinter_text_init(env_of(self), &path);
    SINTER__TRY(sinter__table_dir(self->table, dir_name(self), &dir, err));
    for (int64_t id = self->end - 1; id >= self->begin; id--) {
        SINTER__TRY(sinter__number_path(&(sinter__numbered){env_of(self), dir.data, prefix(self)},
                                        id, &path, err));
        SINTER__TRY(sinter__path_exists(env_of(self), path.data, &is_there, err));
        if (!is_there) {
            self->begin = id + 1;
        }
    }
out:
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}

/* ---- doing it ---- */

/** Snapshots that go become changelogs, if these live longer. */
static sinter_status
keep_changelogs(const expiry *self, sinter_error *err)
{
    for (int64_t id = self->begin;
         self->lives.are_longer && !self->is_of_changelogs && id < self->end; id++) {
        sinter_snapshot *snapshot = NULL;
        sinter_status st = sinter_table_snapshot_get(self->table, id, &snapshot, err);

        if (st == SINTER_OK) {
            st = sinter__changelog_publish(self->table, snapshot, err);
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
    SINTER__TRY(sinter__table_dir(self->table, dir_name(self), &dir, err));
    for (int64_t id = self->begin; id < self->end; id++) {
        SINTER__TRY(sinter__number_path(&(sinter__numbered){env_of(self), dir.data, prefix(self)},
                                        id, &path, err));
        SINTER__TRY(unless_gone(io->ops->unlink(io, path.data, &detail), &detail, err));
    }
    SINTER__TRY(io->ops->sync_dir(io, dir.data, err)); /* none comes back without its files */
    sinter__hint_write(self->table, dir_name(self), "EARLIEST", self->first_kept);
out:
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}

static sinter_status
expire(expiry *self, sinter_error *err)
{
    const bool is_dry = (self->options.flags & SINTER_REMOVE_DRY_RUN) != 0;
    const sinter__removal_listener told = {self->options.each, self->options.ctx, is_dry};

    SINTER__CHECK(find_range(self, err));
    SINTER__CHECK(find_needed(self, err));
    SINTER__CHECK(skip_gap(self, err));
    for (int64_t id = self->end - (self->is_of_changelogs ? 1 : 0); id >= self->begin; id--) {
        SINTER__CHECK(plan_snapshot(self, id, err));
    }
    if (!self->is_of_changelogs) {
        self->result.first_id = self->begin;
        self->result.last_id = self->end - 1;
    }
    if (!is_dry) {
        SINTER__CHECK(keep_changelogs(self, err));
        SINTER__CHECK(remove_snapshots(self, err));
    }
    self->result.data_files += sinter__removal_run(&self->data, &told, &self->result.left_files);
    if (self->clean_directories && !is_dry) {
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
                                     .root = self->table->root,
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
    SINTER__CHECK(sinter_table_refresh(self->table, err));
    SINTER__CHECK(load_options(self, options, err));
    SINTER__CHECK(
        sinter__table_options_load(sinter_table_schema(self->table), &self->table_options, err));
    return sinter__partitions_init(&self->partitions, sinter_table_schema(self->table),
                                   &self->table_options, err);
}

/** Expire snapshots, or changelogs, and add what was done. */
static sinter_status
run(sinter_table *table, const sinter_expire_options *options, bool is_of_changelogs,
    sinter_expire_result *result, sinter_error *err)
{
    expiry self = {.table = table, .is_of_changelogs = is_of_changelogs, .result = *result};
    sinter_status st = begin(&self, options, err);

    if (st == SINTER_OK && (!is_of_changelogs || self.lives.are_longer)) {
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
