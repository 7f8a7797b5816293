/*
 * Results into one COMPACT snapshot (interchange.md 5, "Commit").
 *
 * Everything is found anew in the newest snapshot: entries of retired files, and vectors of files
 * that stay. When somebody else commits in between, it is all found once more; only what can't be
 * found any more is a conflict.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/text.h"
#include "table/commit.h"
#include "table/commit_index.h"
#include "table/external_paths.h"
#include "table/live_files.h"
#include "table/partitions.h"
#include "table/result_parts.h"

enum { ATTEMPTS_MAX = 20 };

/* Results and what becomes of them. */
typedef struct results_commit {
    sinter_table *table;
    sinter__table_options options;
    sinter__scan_columns columns;
    sinter__result_doc *docs;
    bool *is_duplicate;
    bool *is_done;
    size_t count;
    sinter_table_commit_info info;
} results_commit;

/* One attempt: a snapshot, and the delta that is made of it. */
typedef struct attempt {
    sinter__arena arena;
    sinter_snapshot *snapshot;
    sinter__live_files *files;
    sinter__index_manifest index;
    const sinter__manifest_entry **live; /* all live files, sorted by name */
    size_t live_count;
    const sinter__manifest_entry **entries;
    size_t count;
    size_t delete_count;
    sinter_bytes *retired; /* names of files whose rows are in others now */
    size_t retired_count;
    sinter__index_change change;
} attempt;

/* ---- documents ---- */

/* Branches share files: what was planned in one might be found in another one, too. */
static sinter_status
check_branch(const results_commit *commit, const sinter__result_doc *doc, sinter_error *err)
{
    const char *ours = commit->table->branch == NULL ? "main" : commit->table->branch;
    const char *theirs = doc->place.branch == NULL ? "main" : doc->place.branch;

    return strcmp(ours, theirs) == 0
               ? SINTER_OK
               : SINTER__ERR(err, SINTER_E_INVALID, "the result is of branch %.100s, not of %.100s",
                             theirs, ours);
}

static sinter_status
load_docs(results_commit *commit, const sinter_table_result *results, sinter_error *err)
{
    const sinter_env *env = commit->table->env;
    const sinter__doc_table table = {env, sinter_table_schema(commit->table), &commit->columns};

    SINTER__CHECK(SINTER__NEW(env, commit->docs, commit->count, err));
    SINTER__CHECK(SINTER__NEW(env, commit->is_duplicate, commit->count, err));
    SINTER__CHECK(SINTER__NEW(env, commit->is_done, commit->count, err));
    for (size_t i = 0; i < commit->count; i++) {
        SINTER__CHECK(sinter__result_doc_load(
            &table, &(sinter__json_source){.name = results[i].source, .text = results[i].document},
            &commit->docs[i], err));
        SINTER__CHECK(check_branch(commit, &commit->docs[i], err));
        for (size_t k = 0; k < i && !commit->is_duplicate[i]; k++) {
            commit->is_duplicate[i] =
                !commit->is_duplicate[k] &&
                sinter__result_is_same_part(&commit->docs[i], &commit->docs[k]);
        }
        commit->info.duplicates += commit->is_duplicate[i] ? 1 : 0;
        commit->info.results += commit->is_duplicate[i] ? 0 : 1;
    }
    return SINTER_OK;
}

/* ---- parts of units ---- */

/* Did another part of the unit, before this one, retire the file already? */
static bool
is_retired_before(const results_commit *commit, size_t index, const sinter__file_identity *file)
{
    const sinter__result_doc *doc = &commit->docs[index];
    const bool is_part = doc->place.range.has_begin || doc->place.range.has_end;

    for (size_t i = 0; is_part && i < index; i++) {
        const sinter__result_doc *other = &commit->docs[i];

        for (size_t b = 0; !commit->is_duplicate[i] && sinter__result_is_same_unit(other, doc) &&
                           b < other->before_count;
             b++) {
            if (other->before[b].level == file->level &&
                sinter__key_equal(other->before[b].file_name, file->file_name)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- files of a snapshot ---- */

static int
compare_names(const void *a, const void *b)
{
    return sinter__key_compare((*(const sinter__manifest_entry *const *)a)->file.file_name,
                               (*(const sinter__manifest_entry *const *)b)->file.file_name);
}

static sinter_status
sort_files(attempt *at, sinter_error *err)
{
    size_t count = 0;
    const sinter__bucket_files *buckets = sinter__live_files_buckets(at->files, &count);
    size_t room = 0;

    for (size_t b = 0; b < count; b++) {
        room += buckets[b].count;
    }
    SINTER__CHECK(sinter__doc_room(&at->arena, room, sizeof *at->live, (void **)&at->live, err));
    for (size_t b = 0; b < count; b++) {
        for (size_t f = 0; f < buckets[b].count; f++) {
            at->live[at->live_count++] = buckets[b].entries[f];
        }
    }
    if (room > 1) {
        qsort(at->live, room, sizeof *at->live, compare_names);
    }
    return SINTER_OK;
}

/* A live file of a bucket; NULL: it isn't there. */
static const sinter__manifest_entry *
find_file(const attempt *at, const sinter__task_place *place, sinter_bytes name, int32_t level)
{
    size_t first = 0;

    for (size_t end = at->live_count; first < end;) {
        const size_t middle = first + (end - first) / 2;

        if (sinter__key_compare(at->live[middle]->file.file_name, name) < 0) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    for (; first < at->live_count && sinter__key_equal(at->live[first]->file.file_name, name);
         first++) {
        const sinter__manifest_entry *entry = at->live[first];

        if (entry->file.level == level && entry->bucket == place->bucket &&
            sinter__key_equal(entry->partition, place->partition)) {
            return entry;
        }
    }
    return NULL;
}

/* Is everything that the result says there, and nothing of what it retires? */
static bool
is_result_done(const attempt *at, const sinter__result_doc *doc)
{
    for (size_t i = 0; i < doc->before_count; i++) {
        if (find_file(at, &doc->place, doc->before[i].file_name, doc->before[i].level) != NULL) {
            return false;
        }
    }
    for (size_t i = 0; i < doc->made_count; i++) {
        if (find_file(at, &doc->place, doc->made[i].file.file_name, doc->made[i].file.level) ==
            NULL) {
            return false;
        }
    }
    for (size_t i = 0; i < doc->upgraded_count; i++) {
        if (find_file(at, &doc->place, doc->upgraded[i].file_name, doc->upgraded[i].level) ==
            NULL) {
            return false;
        }
    }
    return true;
}

/* Is the result in the table already? Where it leaves no file, all of whose rows were deleted, only
 * the history of its user can tell it from files that others replaced. */
static sinter_status
find_done(const results_commit *commit, const attempt *at, const sinter__result_doc *doc, bool *out,
          sinter_error *err)
{
    int64_t last = INT64_MIN;
    sinter_status st = SINTER_OK;

    *out = is_result_done(at, doc);
    if (!*out || doc->before_count == 0 || doc->made_count + doc->upgraded_count > 0) {
        return SINTER_OK;
    }
    st = sinter__commit_last_identifier(commit->table, doc->place.user, &last, err);
    *out = st == SINTER_OK && last >= doc->place.identifier;
    return st == SINTER_END ? SINTER_OK : st;
}

/* Parts of a unit are done together or not at all. */
static sinter_status
find_all_done(results_commit *commit, const attempt *at, sinter_error *err)
{
    for (size_t i = 0; i < commit->count; i++) {
        if (!commit->is_duplicate[i]) {
            SINTER__CHECK(find_done(commit, at, &commit->docs[i], &commit->is_done[i], err));
        }
    }
    for (size_t i = 0; i < commit->count; i++) {
        for (size_t k = 0; !commit->is_done[i] && !commit->is_duplicate[i] && k < commit->count;
             k++) {
            commit->is_done[k] = commit->is_done[k] &&
                                 !sinter__result_is_same_unit(&commit->docs[k], &commit->docs[i]);
        }
    }
    commit->info.done = 0;
    for (size_t i = 0; i < commit->count; i++) {
        commit->info.done += commit->is_done[i] ? 1 : 0;
    }
    return SINTER_OK;
}

static sinter_status
fail_missing(const results_commit *commit, const attempt *at, const sinter__result_doc *doc,
             const sinter__file_identity *file, sinter_error *err)
{
    const sinter_env *env = commit->table->env;
    sinter__partitions partitions = {.arena.env = env};
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &path);
    st = sinter__partitions_init(&partitions, sinter_table_schema(commit->table), &commit->options,
                                 NULL);
    if (st == SINTER_OK) {
        st = sinter__partitions_path(&partitions, doc->place.partition, &path, NULL);
    }
    st = SINTER__ERR(err, SINTER_E_CONFLICT,
                     "%s%.120s%sbucket %d: file %.*s of level %d isn't in snapshot %" PRId64
                     " any more: it was compacted, or its rows were replaced",
                     path.size > 0 ? "partition " : "",
                     st == SINTER_OK && path.size > 0 ? path.data : "", path.size > 0 ? ", " : "",
                     doc->place.bucket,
                     (int)(file->file_name.size < 120 ? file->file_name.size : 120),
                     (const char *)file->file_name.data, file->level, at->snapshot->id);
    sinter__partitions_fini(&partitions);
    sinter_text_fini(&path);
    return st;
}

/* ---- the delta ---- */

/* Copy of an entry with another kind, and level. */
static sinter_status
add_entry(attempt *at, const sinter__manifest_entry *entry, int32_t kind, int32_t level,
          sinter_error *err)
{
    sinter__manifest_entry *copy = NULL;

    SINTER__CHECK(sinter__doc_room(&at->arena, 1, sizeof *copy, (void **)&copy, err));
    *copy = *entry;
    copy->kind = kind;
    copy->file.level = level;
    at->entries[at->count++] = copy;
    at->delete_count += kind == SINTER__ENTRY_DELETE ? 1 : 0;
    return SINTER_OK;
}

static const sinter__file_identity *
find_upgraded(const sinter__result_doc *doc, const sinter__file_identity *before)
{
    for (size_t i = 0; i < doc->upgraded_count; i++) {
        if (doc->upgraded[i].upgraded_from == before->level &&
            sinter__key_equal(doc->upgraded[i].file_name, before->file_name)) {
            return &doc->upgraded[i];
        }
    }
    return NULL;
}

static const sinter__file_vector *
find_read(const sinter__result_doc *doc, sinter_bytes name)
{
    for (size_t i = 0; i < doc->vector_count; i++) {
        if (sinter__key_equal(doc->vectors[i].range.data_file, name)) {
            return &doc->vectors[i];
        }
    }
    return NULL;
}

static sinter_status
delete_files(const results_commit *commit, attempt *at, size_t index, sinter_error *err)
{
    const sinter__result_doc *doc = &commit->docs[index];

    for (size_t i = 0; i < doc->before_count; i++) {
        const sinter__file_identity *before = &doc->before[i];
        const sinter__manifest_entry *entry =
            find_file(at, &doc->place, before->file_name, before->level);

        const bool is_kept = find_upgraded(doc, before) != NULL;

        if (entry == NULL) {
            return fail_missing(commit, at, doc, before, err);
        }
        if (!is_kept) {
            SINTER__CHECK(sinter__index_check_vector(&at->index, before->file_name,
                                                     find_read(doc, before->file_name), err));
        }
        if (is_retired_before(commit, index, before)) {
            continue;
        }
        SINTER__CHECK(add_entry(at, entry, SINTER__ENTRY_DELETE, entry->file.level, err));
        if (!is_kept) {
            at->retired[at->retired_count++] = before->file_name;
        }
    }
    return SINTER_OK;
}

static sinter_status
add_files(const results_commit *commit, attempt *at, const sinter__result_doc *doc,
          sinter_error *err)
{
    for (size_t i = 0; i < doc->upgraded_count; i++) {
        const sinter__file_identity *file = &doc->upgraded[i];
        const sinter__manifest_entry *entry =
            find_file(at, &doc->place, file->file_name, file->upgraded_from);

        if (entry == NULL) {
            return fail_missing(commit, at, doc, file, err);
        }
        SINTER__CHECK(add_entry(at, entry, SINTER__ENTRY_ADD, file->level, err));
    }
    for (size_t i = 0; i < doc->made_count; i++) {
        const sinter__manifest_entry *made = &doc->made[i];

        SINTER__CHECK(add_entry(at, made, SINTER__ENTRY_ADD, made->file.level, err));
    }
    return SINTER_OK;
}

static sinter_status
make_delta(results_commit *commit, attempt *at, sinter_error *err)
{
    size_t room = 0;

    for (size_t i = 0; i < commit->count; i++) {
        const sinter__result_doc *doc = &commit->docs[i];

        room += doc->before_count + doc->made_count + doc->upgraded_count;
    }
    SINTER__CHECK(
        sinter__doc_room(&at->arena, room, sizeof *at->entries, (void **)&at->entries, err));
    SINTER__CHECK(
        sinter__doc_room(&at->arena, room, sizeof *at->retired, (void **)&at->retired, err));
    SINTER__CHECK(find_all_done(commit, at, err));
    for (size_t i = 0; i < commit->count; i++) {
        if (!commit->is_duplicate[i] && !commit->is_done[i]) {
            SINTER__CHECK(delete_files(commit, at, i, err));
        }
    }
    for (size_t i = 0; i < commit->count; i++) {
        if (!commit->is_duplicate[i] && !commit->is_done[i]) {
            SINTER__CHECK(add_files(commit, at, &commit->docs[i], err));
        }
    }
    return SINTER_OK;
}

/* ---- attempts ---- */

static sinter_status
open_attempt(results_commit *commit, attempt *at, sinter_error *err)
{
    sinter_table *table = commit->table;
    int64_t id = 0;
    sinter_status st = sinter_table_latest_id(table, &id, err);

    if (st == SINTER_END) {
        return SINTER__ERR(err, SINTER_E_CONFLICT, "the table has no snapshot any more");
    }
    SINTER__CHECK(st);
    SINTER__CHECK(sinter_table_snapshot_get(table, id, &at->snapshot, err));
    SINTER__CHECK(sinter__live_files_read(table, at->snapshot, &at->files, err));
    SINTER__CHECK(sort_files(at, err));
    return sinter__index_read(table, at->snapshot, &at->index, err);
}

static void
close_attempt(attempt *at)
{
    sinter__index_manifest_fini(&at->index);
    sinter__live_files_destroy(at->files);
    sinter_snapshot_destroy(at->snapshot);
    sinter__arena_fini(&at->arena);
}

/* Whose commit it is: the newest of the first one's user, of those that aren't done already. One of
 * these would name the snapshot that it is in, and the others would be taken for done, too. */
static void
name_commit(const results_commit *commit, sinter__commit_request *request)
{
    for (size_t i = 0; i < commit->count; i++) {
        const sinter__task_place *place = &commit->docs[i].place;

        if (commit->is_duplicate[i] || commit->is_done[i]) {
            continue;
        }
        if (request->user == NULL) {
            request->user = place->user;
            request->identifier = place->identifier;
        } else if (strcmp(place->user, request->user) == 0 &&
                   place->identifier > request->identifier) {
            request->identifier = place->identifier;
        }
    }
    assert(request->user != NULL);
}

static sinter_status
commit_delta(results_commit *commit, attempt *at, sinter_error *err)
{
    sinter__commit_outcome outcome = {.snapshot_id = 0};
    sinter__commit_request request = {.kind = SINTER_COMMIT_COMPACT,
                                      .is_replay = true,
                                      .read_id = at->snapshot->id,
                                      .entries = at->entries,
                                      .count = at->count};
    sinter_status st = SINTER_OK;

    name_commit(commit, &request);
    SINTER__CHECK(
        sinter__index_change_make(commit->table,
                                  &(sinter__index_retire){.options = &commit->options,
                                                          .columns = &commit->columns,
                                                          .index = &at->index,
                                                          .retired = at->retired,
                                                          .retired_count = at->retired_count},
                                  &at->arena, &at->change, err));
    request.index_added = at->change.added;
    request.index_added_count = at->change.added_count;
    request.index_removed = at->change.removed;
    request.index_removed_count = at->change.removed_count;
    st = sinter__commit(commit->table, &request, &outcome, err);
    commit->info.is_unknown = outcome.is_unknown;
    if (st != SINTER_OK) {
        if (!outcome.is_unknown) {
            sinter__index_change_undo(commit->table, &at->change);
        }
        return st;
    }
    if (outcome.was_done) {
        sinter__index_change_undo(commit->table, &at->change);
    }
    commit->info.was_done = outcome.was_done;
    commit->info.snapshot_id = outcome.snapshot_id;
    commit->info.files_before = at->delete_count;
    commit->info.files_after = at->count - at->delete_count;
    return SINTER_OK;
}

/* One attempt; `*is_stale_out`: it failed, and the table has a newer snapshot by now. */
static sinter_status
try_commit(results_commit *commit, bool *is_stale_out, sinter_error *err)
{
    attempt at = {.arena.env = commit->table->env, .index.arena.env = commit->table->env};
    int64_t newest = 0;
    sinter_status st = SINTER_OK;

    *is_stale_out = false;
    SINTER__TRY(open_attempt(commit, &at, err));
    SINTER__TRY(make_delta(commit, &at, err));
    if (at.count == 0) {
        commit->info.was_done = true;
        commit->info.snapshot_id = at.snapshot->id;
        goto out;
    }
    st = commit_delta(commit, &at, err);
    if (st == SINTER_E_CONFLICT && !commit->info.is_unknown) {
        const sinter_status found = sinter_table_latest_id(commit->table, &newest, NULL);

        *is_stale_out = found == SINTER_OK && newest != at.snapshot->id;
    }
out:
    close_attempt(&at);
    return st;
}

/* ---- duplicates ---- */

/* Is it a new file of a result that is used? */
static bool
is_made(const results_commit *commit, sinter_bytes name)
{
    for (size_t i = 0; i < commit->count; i++) {
        const sinter__result_doc *doc = &commit->docs[i];

        for (size_t k = 0; !commit->is_duplicate[i] && k < doc->made_count; k++) {
            if (sinter__key_equal(doc->made[k].file.file_name, name)) {
                return true;
            }
        }
    }
    return false;
}

/* Is it among the files of these buckets? */
static bool
is_live(const sinter__bucket_files *buckets, size_t count, sinter_bytes name)
{
    for (size_t b = 0; b < count; b++) {
        for (size_t f = 0; f < buckets[b].count; f++) {
            if (sinter__key_equal(buckets[b].entries[f]->file.file_name, name)) {
                return true;
            }
        }
    }
    return false;
}

/* Forget every new file of a duplicate that the snapshot names. */
static sinter_status
spare_named(results_commit *commit, sinter_table *table, const sinter_snapshot *snapshot,
            sinter_error *err)
{
    sinter__live_files *files = NULL;
    const sinter__bucket_files *buckets = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__live_files_read(table, snapshot, &files, err));
    buckets = sinter__live_files_buckets(files, &count);
    for (size_t i = 0; i < commit->count; i++) {
        sinter__result_doc *doc = &commit->docs[i];

        for (size_t k = 0; commit->is_duplicate[i] && k < doc->made_count; k++) {
            if (is_live(buckets, count, doc->made[k].file.file_name)) {
                doc->made[k].file.file_name.size = 0;
            }
        }
    }
    sinter__live_files_destroy(files);
    return SINTER_OK;
}

/* Where names of files are looked for. */
typedef struct spare_walk {
    results_commit *commit;
    sinter_table *table;
    sinter_error *err;
} spare_walk;

static sinter_status
spare_snapshot(void *ctx, int64_t id)
{
    const spare_walk *walk = ctx;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = sinter_table_snapshot_get(walk->table, id, &snapshot, walk->err);

    st = st == SINTER_OK ? spare_named(walk->commit, walk->table, snapshot, walk->err) : st;
    sinter_snapshot_destroy(snapshot);
    return st;
}

static sinter_status
spare_tag(void *ctx, const char *name)
{
    const spare_walk *walk = ctx;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = sinter_table_snapshot_of_tag(walk->table, name, &snapshot, walk->err);

    st = st == SINTER_OK ? spare_named(walk->commit, walk->table, snapshot, walk->err) : st;
    sinter_snapshot_destroy(snapshot);
    return st;
}

/* `name` NULL: the main branch. */
static sinter_status
spare_branch(void *ctx, const char *name)
{
    spare_walk walk = *(const spare_walk *)ctx;
    const sinter_table_config config = {
        .struct_size = (uint32_t)sizeof config, .path = walk.table->root, .branch = name};
    sinter_status st = sinter_table_open(walk.table->env, &config, &walk.table, walk.err);

    if (st != SINTER_OK) {
        return st;
    }
    st = sinter_table_each_snapshot(walk.table, spare_snapshot, &walk, walk.err);
    if (st == SINTER_OK) {
        st = sinter_table_each_tag(walk.table, spare_tag, &walk, walk.err);
    }
    sinter_table_close(walk.table);
    return st;
}

/* Print where a new file, or one that belongs to it, lies. */
static sinter_status
print_path(const results_commit *commit, const sinter__manifest_entry *made, sinter_bytes name,
           sinter_text *path, sinter_error *err)
{
    if ((made->file.has & SINTER__FILE_HAS_EXTERNAL_PATH) != 0) {
        return sinter__external_path_local(made->file.external_path, name, path, err);
    }
    SINTER__CHECK(sinter__text_puts(path, commit->table->root, err));
    SINTER__CHECK(sinter__text_puts(path, "/", err));
    SINTER__CHECK(sinter__bucket_dir(&commit->columns, &commit->options, made->partition,
                                     made->bucket, path, err));
    SINTER__CHECK(sinter__text_puts(path, "/", err));
    return sinter_text_append(path, name.data, name.size, err);
}

static sinter_status
remove_named(results_commit *commit, const sinter__manifest_entry *made, sinter_bytes name,
             sinter_error *err)
{
    const sinter_table *table = commit->table;
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(table->env, &path);
    SINTER__TRY(print_path(commit, made, name, &path, err));
    st = table->env->io->ops->unlink(table->env->io, path.data, err);
    st = st == SINTER_E_NOT_FOUND ? SINTER_OK : st;
out:
    sinter_text_fini(&path);
    return st;
}

/* Remove a new file with those that belong to it. */
static sinter_status
remove_file(results_commit *commit, const sinter__manifest_entry *made, sinter_error *err)
{
    const sinter__bytes_list *extra = &made->file.extra_files;

    SINTER__CHECK(remove_named(commit, made, made->file.file_name, err));
    commit->info.files_discarded++;
    for (size_t i = 0; i < extra->count; i++) {
        SINTER__CHECK(remove_named(commit, made, extra->items[i], err));
    }
    return SINTER_OK;
}

/* New files of duplicates are nobody's, unless a used result or any snapshot names them. When that
 * can't be found out they stay. */
static void
discard_duplicates(results_commit *commit)
{
    spare_walk walk = {.commit = commit, .table = commit->table};

    if (spare_branch(&walk, NULL) != SINTER_OK ||
        sinter_table_each_branch(commit->table, spare_branch, &walk, NULL) != SINTER_OK) {
        return;
    }
    for (size_t i = 0; i < commit->count; i++) {
        const sinter__result_doc *doc = &commit->docs[i];

        for (size_t k = 0; commit->is_duplicate[i] && k < doc->made_count; k++) {
            const sinter_bytes name = doc->made[k].file.file_name;

            if (name.size > 0 && !is_made(commit, name)) {
                const sinter_status ignored = remove_file(commit, &doc->made[k], NULL);

                (void)ignored; /* an orphan, which the commit doesn't fail for */
            }
        }
    }
}

/* ---- all ---- */

/* Temporary files that committers who were killed left behind; what can't be done is left to the
 * next one. */
static void
clean_metadata(const sinter_table *table)
{
    static const char *const dirs[] = {"snapshot", "manifest", "index"};
    const sinter_io_ops *ops = table->env->io->ops;
    uint64_t removed = 0;

    for (size_t i = 0; ops->clean != NULL && i < sizeof dirs / sizeof dirs[0]; i++) {
        sinter_text dir;

        sinter_text_init(table->env, &dir);
        if (sinter__text_puts(&dir, i == 0 ? table->home : table->root, NULL) == SINTER_OK &&
            sinter__text_puts(&dir, "/", NULL) == SINTER_OK &&
            sinter__text_puts(&dir, dirs[i], NULL) == SINTER_OK) {
            const sinter_status ignored = ops->clean(table->env->io, dir.data, &removed, NULL);

            (void)ignored;
        }
        sinter_text_fini(&dir);
    }
}

static sinter_status
open_commit(results_commit *commit, sinter_error *err)
{
    const sinter_schema *schema = NULL;

    SINTER__CHECK(sinter_table_refresh(commit->table, err));
    schema = sinter_table_schema(commit->table);
    SINTER__CHECK(sinter__table_options_load(schema, &commit->options, err));
    return sinter__scan_columns_init(&commit->columns, schema, &commit->options, NULL, 0, err);
}

static void
close_commit(results_commit *commit)
{
    const sinter_env *env = commit->table->env;

    for (size_t i = 0; commit->docs != NULL && i < commit->count; i++) {
        sinter__result_doc_fini(&commit->docs[i]);
    }
    sinter__free(env, commit->docs);
    sinter__free(env, commit->is_duplicate);
    sinter__free(env, commit->is_done);
    sinter__scan_columns_fini(&commit->columns);
}

sinter_status
sinter_table_commit_results(sinter_table *table, const sinter_table_result *results, size_t count,
                            const sinter_table_commit_options *given, sinter_table_commit_info *out,
                            sinter_error *err)
{
    sinter_table_commit_options options = {.struct_size = (uint32_t)sizeof options};
    results_commit commit = {.table = table, .count = count};
    bool is_stale = false;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && results != NULL && count > 0);
    if (given != NULL) {
        SINTER__CHECK(sinter__struct_load(&options, sizeof options, given,
                                          "sinter_table_commit_options", err));
    }
    commit.info.struct_size = (uint32_t)sizeof commit.info;
    commit.columns.arena.env = table->env;
    SINTER__TRY(open_commit(&commit, err));
    SINTER__TRY(load_docs(&commit, results, err));
    SINTER__TRY(sinter__result_parts_check(
        &(sinter__result_set){commit.docs, commit.is_duplicate, commit.count}, err));
    clean_metadata(table);
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        st = try_commit(&commit, &is_stale, err);
        if (!is_stale) {
            break;
        }
    }
    if (st == SINTER_OK && !options.keep && commit.info.duplicates > 0) {
        discard_duplicates(&commit);
    }
out:
    if (out != NULL) {
        sinter__struct_store(out, &commit.info, sizeof commit.info);
    }
    close_commit(&commit);
    return st;
}

sinter_status
sinter_table_result_discard(sinter_table *table, const sinter_table_result *result,
                            sinter_error *err)
{
    results_commit commit = {.table = table, .count = 1};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && result != NULL);
    commit.columns.arena.env = table->env;
    SINTER__TRY(open_commit(&commit, err));
    SINTER__TRY(load_docs(&commit, result, err));
    for (size_t i = 0; i < commit.docs[0].made_count; i++) {
        SINTER__TRY(remove_file(&commit, &commit.docs[0].made[i], err));
    }
out:
    close_commit(&commit);
    return st;
}
