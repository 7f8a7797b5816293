#include "table/commit.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/env.h"
#include "base/fail.h"
#include "doc/text.h"
#include "sinter/io.h"
#include "table/commit_options.h"
#include "table/conflicts.h"
#include "table/index_change.h"
#include "table/make_dirs.h"
#include "table/snapshot_write.h"

/** A commit under way. */
typedef struct work {
    sinter_table *table;
    const sinter__commit_request *request;
    sinter__commit_outcome *out;
    sinter__commit_options options;
    sinter__table_options table_options;
    sinter__partitions partitions;
    sinter__new_meta meta;
    sinter__conflicts conflicts;
    int64_t begun_ns;
    int64_t seen_id; /* up to here no snapshot is this commit; -1: nobody has looked */
    int64_t open_id; /* an earlier attempt left open whether this snapshot is its own; 0: none */
    /* Of the attempt: */
    sinter__arena arena;
    sinter_snapshot *latest; /* NULL: the table has none */
    bool is_lost;            /* to somebody else: try again */
    bool is_open;            /* whether it is committed, or lasts, is not known */
} work;

/* ---- the request ---- */

static sinter_status
check_entries(const sinter__commit_request *request, sinter_error *err)
{
    for (size_t i = 0; i < request->count; i++) {
        SINTER__CHECK(sinter__manifest_entry_check(request->entries[i], err));
        if (request->kind == SINTER_COMMIT_APPEND &&
            request->entries[i]->kind != SINTER__ENTRY_ADD) {
            return SINTER__ERR(err, SINTER_E_INVALID, "an APPEND deletes no files");
        }
    }
    for (size_t i = 0; i < request->changelog_count; i++) {
        SINTER__CHECK(sinter__manifest_entry_check(request->changelog[i], err));
        if (request->changelog[i]->kind != SINTER__ENTRY_ADD) {
            return SINTER__ERR(err, SINTER_E_INVALID, "a changelog file can't be deleted");
        }
    }
    return SINTER_OK;
}

static sinter_status
check_request(const sinter__commit_request *request, sinter_error *err)
{
    if (request->user == NULL || request->kind < SINTER_COMMIT_APPEND ||
        request->kind > SINTER_COMMIT_ANALYZE) {
        return SINTER__ERR(err, SINTER_E_INVALID, "a commit needs a user and a kind");
    }
    for (size_t i = 0; i < request->index_added_count; i++) {
        if (request->kind == SINTER_COMMIT_APPEND && request->index_added[i]->vectors.count > 0) {
            return SINTER__ERR(err, SINTER_E_INVALID, "an APPEND marks no rows as deleted");
        }
    }
    return check_entries(request, err);
}

/* ---- where the table stands ---- */

/** Schema, options and partitions may be others with each attempt. */
static sinter_status
read_schema(work *w, sinter_error *err)
{
    const sinter_schema *schema = NULL;

    SINTER__CHECK(sinter_table_refresh(w->table, err));
    schema = sinter_table_schema(w->table);
    SINTER__CHECK(sinter__table_options_load(schema, &w->table_options, err));
    SINTER__CHECK(sinter__commit_options_load(schema, &w->options, err));
    sinter__partitions_fini(&w->partitions);
    w->partitions = (sinter__partitions){.arena.env = w->table->env};
    SINTER__CHECK(sinter__partitions_init(&w->partitions, schema, &w->table_options, err));
    w->meta.format = w->options.format;
    w->meta.codec = w->options.codec;
    w->meta.target_bytes = w->options.manifests.target_bytes;
    w->conflicts.schema = schema;
    return SINTER_OK;
}

static sinter_status
read_latest(work *w, sinter_error *err)
{
    int64_t id = 0;
    sinter_status st = sinter_table_latest_id(w->table, &id, err);

    if (st == SINTER_END) {
        return SINTER_OK;
    }
    SINTER__CHECK(st);
    st = sinter_table_snapshot_get(w->table, id, &w->latest, err);
    /* Somebody has committed and expired since: what is newest is another one. */
    w->is_lost = st == SINTER_E_NOT_FOUND || st == SINTER_E_EXPIRED;
    return st;
}

static int64_t
latest_id(const work *w)
{
    return w->latest == NULL ? 0 : w->latest->id;
}

static bool
is_this_commit(const sinter__commit_request *request, const sinter_snapshot *snapshot)
{
    return snapshot->commit_identifier == request->identifier &&
           snapshot->commit_kind == request->kind &&
           strcmp(snapshot->commit_user, request->user) == 0;
}

/** Look at one snapshot: SINTER_END if it is this commit. */
static sinter_status
look_at(work *w, int64_t id, sinter_error *err)
{
    sinter_snapshot *snapshot = NULL;
    sinter_status st = sinter_table_snapshot_get(w->table, id, &snapshot, err);

    if (st != SINTER_OK) {
        return st;
    }
    if (is_this_commit(w->request, snapshot)) {
        if (!sinter__new_meta_keep(&w->meta, snapshot->base.name)) {
            w->out->was_done = w->out->snapshot_id != id; /* else seen as ours before */
        }
        w->out->snapshot_id = id;
        w->open_id = 0;
        st = SINTER_END;
    } else if (id == w->open_id) {
        /* The id is taken, so what an earlier attempt left can't appear any more. */
        (void)sinter__new_meta_keep(&w->meta, NULL);
        w->open_id = 0;
    }
    sinter_snapshot_destroy(snapshot);
    return st;
}

/** Is it in the history already, or what of it nobody has looked at? SINTER_END: it is. */
static sinter_status
look_back(work *w, sinter_error *err)
{
    const bool is_whole = w->seen_id < 0;
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    if (is_whole && !w->request->is_replay) {
        w->seen_id = latest_id(w);
        return SINTER_OK;
    }
    for (int64_t id = latest_id(w); id > 0 && id > w->seen_id && st == SINTER_OK; id--) {
        st = look_at(w, id, &detail);
    }
    if (st == SINTER_E_EXPIRED || st == SINTER_E_NOT_FOUND) {
        st = w->open_id != 0 ? st : SINTER_OK; /* the history ends here */
    }
    if (st == SINTER_OK) {
        w->seen_id = latest_id(w);
    } else if (st != SINTER_END && err != NULL) {
        *err = detail;
    }
    return st;
}

/** No COMPACT or OVERWRITE of others since the snapshot that is said to be safe. */
static sinter_status
check_strict(work *w, sinter_error *err)
{
    for (int64_t id = latest_id(w); w->options.last_safe_id >= 0 && id > w->options.last_safe_id;
         id--) {
        sinter_snapshot *snapshot = NULL;
        sinter_status st = sinter_table_snapshot_get(w->table, id, &snapshot, NULL);

        if (st == SINTER_E_EXPIRED || st == SINTER_E_NOT_FOUND) {
            return SINTER_OK;
        }
        if (st == SINTER_OK && strcmp(snapshot->commit_user, w->request->user) != 0 &&
            (snapshot->commit_kind == SINTER_COMMIT_COMPACT ||
             snapshot->commit_kind == SINTER_COMMIT_OVERWRITE)) {
            st = SINTER__ERR(err, SINTER_E_CONFLICT,
                             "snapshot %" PRId64 " is of kind %s by another user, and "
                             "commit.strict-mode.last-safe-snapshot is %" PRId64,
                             id, sinter_commit_kind_name(snapshot->commit_kind),
                             w->options.last_safe_id);
        }
        sinter_snapshot_destroy(snapshot);
        SINTER__CHECK(st);
    }
    return SINTER_OK;
}

/* ---- what is written ---- */

static sinter_status
meta_path(const work *w, const char *name, sinter_text *out, sinter_error *err)
{
    return sinter__manifest_path(w->table, (sinter_bytes){(const uint8_t *)name, strlen(name)}, out,
                                 err);
}

static sinter_status
read_list(const work *w, const sinter_list_file *file, sinter__manifest_list *list,
          sinter_error *err)
{
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(w->table->env, &path);
    SINTER__TRY(meta_path(w, file->name, &path, err));
    st = sinter__manifest_list_read(
        w->table->env, path.data, file->size_bytes > 0 ? (uint64_t)file->size_bytes : 0, list, err);
out:
    sinter_text_fini(&path);
    return st;
}

/** The base: all manifests of the latest snapshot, merged. */
static sinter_status
write_base(work *w, sinter_snapshot *next, sinter_error *err)
{
    sinter__manifest_list inputs = {.arena.env = w->table->env};
    sinter__manifest_list merged = {.arena.env = w->table->env};
    sinter_status st = SINTER_OK;

    if (w->latest != NULL) {
        SINTER__TRY(read_list(w, &w->latest->base, &inputs, err));
        SINTER__TRY(read_list(w, &w->latest->delta, &inputs, err));
    }
    SINTER__TRY(sinter__manifests_rewrite(&w->meta, &w->options.manifests, &inputs, &merged, err));
    st = sinter__new_meta_list(&w->meta, merged.items, merged.count, &next->base, err);
out:
    sinter__manifest_list_fini(&merged);
    sinter__manifest_list_fini(&inputs);
    return st;
}

/** Manifests of entries, and their list. */
static sinter_status
write_entries(work *w, const sinter__manifest_entry *const *entries, size_t count,
              sinter_list_file *out, sinter_error *err)
{
    sinter__manifest_list list = {.arena.env = w->table->env};
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__new_meta_manifests(&w->meta, entries, count, &list, err));
    st = sinter__new_meta_list(&w->meta, list.items, list.count, out, err);
out:
    sinter__manifest_list_fini(&list);
    return st;
}

static sinter_status
too_many_rows(sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_OVERFLOW, "the rows of the table can't be counted any more");
}

/** An entry as it is committed: in tables with row tracking it gets the snapshot's id as sequence
 *  numbers, and a new file that has none the ids of its rows. */
static sinter_status
track_rows(work *w, sinter_snapshot *next, const sinter__manifest_entry *entry,
           const sinter__manifest_entry **out, sinter_error *err)
{
    sinter__manifest_entry *copy = NULL;
    sinter__data_file *file = NULL;

    *out = entry;
    if (!w->options.row_tracking) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__arena_take(&w->arena, sizeof *copy, (void **)&copy, err));
    *copy = *entry;
    file = &copy->file;
    file->min_sequence = file->max_sequence = next->id;
    if (entry->kind == SINTER__ENTRY_ADD && (file->has & SINTER__FILE_HAS_SOURCE) != 0 &&
        file->source == SINTER__FILE_SOURCE_APPEND &&
        (file->has & SINTER__FILE_HAS_FIRST_ROW_ID) == 0) {
        file->has |= SINTER__FILE_HAS_FIRST_ROW_ID;
        file->first_row_id = next->next_row_id;
        if (__builtin_add_overflow(next->next_row_id, file->row_count, &next->next_row_id)) {
            return too_many_rows(err);
        }
    }
    *out = copy;
    return SINTER_OK;
}

/** The delta, DELETEs first. */
static sinter_status
write_delta(work *w, sinter_snapshot *next, sinter_error *err)
{
    static const int32_t kinds[] = {SINTER__ENTRY_DELETE, SINTER__ENTRY_ADD};
    const sinter__commit_request *request = w->request;
    const sinter__manifest_entry **entries = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__arena_take(&w->arena, (request->count + 1) * sizeof *entries,
                                     (void **)&entries, err));
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < request->count; i++) {
            const int64_t rows = request->entries[i]->file.row_count;

            if (request->entries[i]->kind != kinds[k]) {
                continue;
            }
            SINTER__CHECK(track_rows(w, next, request->entries[i], &entries[count++], err));
            if (__builtin_add_overflow(next->delta_record_count, k == 0 ? -rows : rows,
                                       &next->delta_record_count)) {
                return too_many_rows(err);
            }
        }
    }
    if (__builtin_add_overflow(next->total_record_count, next->delta_record_count,
                               &next->total_record_count)) {
        return too_many_rows(err);
    }
    assert(count == request->count);
    return write_entries(w, entries, count, &next->delta, err);
}

static sinter_status
write_changelog(work *w, sinter_snapshot *next, sinter_error *err)
{
    const sinter__commit_request *request = w->request;

    for (size_t i = 0; i < request->changelog_count; i++) {
        if (__builtin_add_overflow(next->changelog_record_count,
                                   request->changelog[i]->file.row_count,
                                   &next->changelog_record_count)) {
            return too_many_rows(err);
        }
    }
    return request->changelog_count == 0
               ? SINTER_OK
               : write_entries(w, request->changelog, request->changelog_count, &next->changelog,
                               err);
}

/* ---- index files ---- */

static sinter_status
read_index(const work *w, const char *name, sinter__index_manifest *out, sinter_error *err)
{
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(w->table->env, &path);
    SINTER__TRY(meta_path(w, name, &path, err));
    st = sinter__index_manifest_read(w->table->env, path.data, out, err);
out:
    sinter_text_fini(&path);
    return st;
}

static bool
is_same_name(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/** The index manifest of the snapshot that was planned from, if it isn't the latest one's. */
static sinter_status
read_planned_index(const work *w, sinter__index_manifest *out, bool *is_other, sinter_error *err)
{
    const char *latest = w->latest == NULL ? NULL : w->latest->index_manifest;
    sinter_snapshot *planned = NULL;
    sinter_status st = SINTER_OK;

    *is_other = false;
    if (w->request->read_id <= 0 || w->request->read_id == latest_id(w)) {
        return SINTER_OK;
    }
    st = sinter_table_snapshot_get(w->table, w->request->read_id, &planned, err);
    if (st == SINTER_E_EXPIRED || st == SINTER_E_NOT_FOUND) {
        return SINTER__ERR(err, SINTER_E_CONFLICT,
                           "snapshot %" PRId64 ", which this commit was planned from, is gone",
                           w->request->read_id);
    }
    if (st == SINTER_OK && !is_same_name(planned->index_manifest, latest)) {
        *is_other = true;
        if (planned->index_manifest != NULL) {
            st = read_index(w, planned->index_manifest, out, err);
        }
    }
    sinter_snapshot_destroy(planned);
    return st;
}

static bool
deletes_files(const sinter__commit_request *request)
{
    size_t i = 0;

    while (i < request->count && request->entries[i]->kind == SINTER__ENTRY_ADD) {
        i++;
    }
    return i < request->count;
}

static sinter_status
change_index(work *w, const sinter__index_manifest *old, const sinter__index_manifest *planned,
             sinter_snapshot *next, sinter_error *err)
{
    const sinter__index_change change = {.request = w->request,
                                         .has_buckets =
                                             sinter_table_schema(w->table)->primary_key_count > 0 ||
                                             w->table_options.bucket > 0,
                                         .old = old,
                                         .read = planned};
    const sinter__index_entry *const *entries = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__index_change_apply(&change, &w->arena, &entries, &count, err));
    if (w->request->index_added_count + w->request->index_removed_count == 0) {
        return SINTER_OK;
    }
    next->index_manifest = NULL;
    return count == 0
               ? SINTER_OK
               : sinter__new_meta_index(&w->meta, entries, count, &next->index_manifest, err);
}

/** Carry the index manifest over, or write another one. */
static sinter_status
write_index(work *w, sinter_snapshot *next, sinter_error *err)
{
    const char *name = w->latest == NULL ? NULL : w->latest->index_manifest;
    sinter__index_manifest old = {.arena.env = w->table->env};
    sinter__index_manifest planned = {.arena.env = w->table->env};
    bool is_other = false;
    sinter_status st = SINTER_OK;

    next->index_manifest = name;
    if (w->request->index_added_count + w->request->index_removed_count == 0 &&
        (name == NULL || !deletes_files(w->request))) {
        return SINTER_OK;
    }
    if (name != NULL) {
        SINTER__TRY(read_index(w, name, &old, err));
    }
    SINTER__TRY(read_planned_index(w, &planned, &is_other, err));
    st = change_index(w, &old, is_other ? &planned : NULL, next, err);
out:
    sinter__index_manifest_fini(&planned);
    sinter__index_manifest_fini(&old);
    return st;
}

/* ---- one attempt ---- */

/** What the next snapshot has before anything is written. */
static void
begin_snapshot(const work *w, sinter_snapshot *next)
{
    const sinter__commit_request *request = w->request;
    const sinter_snapshot *latest = w->latest;

    *next = (sinter_snapshot){.struct_size = (uint32_t)sizeof *next,
                              .commit_kind = request->kind,
                              .id = latest_id(w) + 1,
                              .schema_id = sinter_table_schema(w->table)->id,
                              .commit_user = request->user,
                              .commit_identifier = request->identifier,
                              .time_ms = sinter__now_ms(w->table->env),
                              .watermark = INT64_MIN,
                              .properties = request->properties,
                              .property_count = request->property_count};
    if (latest != NULL) {
        next->total_record_count = latest->total_record_count;
        next->watermark = latest->watermark;
        next->next_row_id = latest->next_row_id < 0 ? 0 : latest->next_row_id;
        next->statistics = latest->schema_id == next->schema_id ? latest->statistics : NULL;
    }
    if (request->has_watermark && request->watermark > next->watermark) {
        next->watermark = request->watermark;
    }
}

/** The directory of manifests: made before the first, or synced. */
static sinter_status
manifest_dir(const work *w, bool is_written, sinter_error *err)
{
    const sinter_env *env = w->table->env;
    sinter_text dir;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &dir);
    SINTER__TRY(sinter__text_puts(&dir, w->table->root, err));
    SINTER__TRY(sinter__text_puts(&dir, "/manifest", err));
    st = is_written ? env->io->ops->sync_dir(env->io, dir.data, err)
                    : sinter__dirs_make(env, dir.data, NULL, err);
out:
    sinter_text_fini(&dir);
    return st;
}

static sinter_status
write_all(work *w, sinter_error *err)
{
    sinter__publish_step step = SINTER__PUBLISH_NOT_BEGUN;
    sinter_snapshot next;
    sinter_status st = SINTER_OK;

    begin_snapshot(w, &next);
    if (w->latest == NULL) {
        SINTER__CHECK(manifest_dir(w, false, err));
    }
    SINTER__CHECK(write_index(w, &next, err));
    SINTER__CHECK(write_base(w, &next, err));
    SINTER__CHECK(write_delta(w, &next, err));
    SINTER__CHECK(write_changelog(w, &next, err));
    SINTER__CHECK(manifest_dir(w, true, err));
    st = sinter__snapshot_publish(w->table, &next, &step, err);
    w->is_lost = st == SINTER_E_EXISTS;
    w->is_open = step == SINTER__PUBLISH_BEGUN;
    if (w->is_open) {
        w->open_id = next.id;
    } else if (st == SINTER_OK) {
        (void)sinter__new_meta_keep(&w->meta, next.base.name);
        w->open_id = 0;
        w->out->snapshot_id = next.id;
    }
    return st;
}

static sinter_status
attempt(work *w, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__CHECK(read_schema(w, err));
    SINTER__CHECK(read_latest(w, err));
    st = look_back(w, err);
    if (st == SINTER_END) {
        st = sinter__snapshots_sync(w->table, err); /* an attempt that failed may not have */
        w->is_open = st != SINTER_OK;
        w->open_id = w->is_open ? w->out->snapshot_id : 0;
        return st;
    }
    SINTER__CHECK(st);
    SINTER__CHECK(check_strict(w, err));
    if (w->request->kind != SINTER_COMMIT_APPEND && w->request->count > 0) {
        SINTER__CHECK(sinter__conflicts_check(&w->conflicts, w->latest, err));
    }
    return write_all(w, err);
}

/** Was a file missing because what the attempt was based on is no longer the newest, and expired?
 */
static bool
is_outdated(const work *w, sinter_status st)
{
    int64_t id = 0;

    return st == SINTER_E_NOT_FOUND && w->latest != NULL &&
           sinter_table_latest_id(w->table, &id, NULL) == SINTER_OK && id > w->latest->id;
}

/** An attempt, and what it leaves behind if it fails. */
static sinter_status
try_once(work *w, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    w->is_lost = false;
    w->is_open = false;
    w->meta.attempt = w->out->attempts++;
    st = attempt(w, err);
    w->is_lost = w->is_lost || is_outdated(w, st);
    if (st != SINTER_OK && !w->is_open) {
        sinter__new_meta_discard(&w->meta, w->meta.attempt);
    }
    sinter_snapshot_destroy(w->latest);
    w->latest = NULL;
    sinter__arena_fini(&w->arena);
    w->arena = (sinter__arena){.env = w->table->env};
    return st;
}

/* ---- attempts ---- */

/** Doubles with each retry, up to a limit, and a fifth at random, so that those who lost to each
 *  other don't meet again. */
static int64_t
wait_ms(const work *w, uint32_t retry)
{
    int64_t wait = w->options.min_wait_ms;
    uint64_t dice = 0;

    for (uint32_t i = 0; i < retry && wait < w->options.max_wait_ms; i++) {
        wait = wait > INT64_MAX / 2 ? INT64_MAX : 2 * wait;
    }
    wait = wait < w->options.max_wait_ms ? wait : w->options.max_wait_ms;
    memcpy(&dice, w->meta.uuid, sizeof dice);
    dice = (dice + retry) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return wait <= 0 ? 0 : wait + (int64_t)(dice % ((uint64_t)wait / 5 + 1));
}

/** Wait before the next attempt; false: there is none. */
static bool
wait_for_next(const work *w)
{
    const sinter_env *env = w->table->env;
    const uint32_t retry = w->out->attempts - 1;
    const int64_t now_ns = sinter__now_ns(env);
    const int64_t ms = wait_ms(w, retry);
    int64_t end_ns = INT64_MAX;

    if (retry >= w->options.max_retries ||
        (now_ns - w->begun_ns) / 1000000 >= w->options.timeout_ms) {
        return false;
    }
    if (env->clock.sleep_ns == NULL || ms > (INT64_MAX - now_ns) / 1000000) {
        return true;
    }
    end_ns = now_ns + ms * 1000000;
    for (int64_t at = now_ns; at < end_ns; at = sinter__now_ns(env)) {
        sinter__sleep_ns(env, end_ns - at);
    }
    return true;
}

static sinter_status
run(work *w, sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_status st = sinter__new_meta_init(&w->meta, &detail);
    bool goes_on = st == SINTER_OK;

    while (goes_on) {
        detail = (sinter_error)SINTER_ERROR_INIT;
        st = try_once(w, &detail);
        goes_on = st != SINTER_OK && st != SINTER_E_CONFLICT && (w->is_lost || w->open_id != 0) &&
                  wait_for_next(w);
    }
    if (st == SINTER_OK) {
        return st;
    }
    w->out->is_unknown = w->open_id != 0;
    if (w->is_lost) {
        return SINTER__ERR(err, SINTER_E_CONFLICT,
                           "gave up after %u attempts: others committed first", w->out->attempts);
    }
    if (w->out->is_unknown) {
        sinter__fail_context(&detail, "whether snapshot %" PRId64 " is committed is not known",
                             w->open_id);
    }
    if (err != NULL) {
        *err = detail;
    }
    return st;
}

sinter_status
sinter__commit(sinter_table *table, const sinter__commit_request *request,
               sinter__commit_outcome *out, sinter_error *err)
{
    const sinter_env *env = table->env;
    work w = {.table = table, .request = request, .out = out, .seen_id = -1};
    sinter_status st = SINTER_OK;

    *out = (sinter__commit_outcome){0};
    SINTER__CHECK(check_request(request, err));
    w.begun_ns = sinter__now_ns(env);
    w.arena.env = env;
    w.partitions.arena.env = env;
    w.meta = (sinter__new_meta){.arena.env = env, .table = table, .partitions = &w.partitions};
    w.conflicts = (sinter__conflicts){
        .table = table, .request = request, .partitions = &w.partitions, .arena.env = env};
    st = run(&w, err);
    sinter__conflicts_fini(&w.conflicts);
    sinter__new_meta_fini(&w.meta);
    sinter__partitions_fini(&w.partitions);
    sinter__arena_fini(&w.arena);
    return st;
}

sinter_status
sinter__commit_last_identifier(sinter_table *table, const char *user, int64_t *out,
                               sinter_error *err)
{
    int64_t id = 0;
    bool is_found = false;

    SINTER__CHECK(sinter_table_latest_id(table, &id, err));
    for (; id > 0 && !is_found; id--) {
        sinter_snapshot *snapshot = NULL;
        const sinter_status st = sinter_table_snapshot_get(table, id, &snapshot, err);

        if (st == SINTER_E_EXPIRED || st == SINTER_E_NOT_FOUND) {
            return SINTER_END;
        }
        SINTER__CHECK(st);
        is_found = strcmp(snapshot->commit_user, user) == 0;
        *out = snapshot->commit_identifier;
        sinter_snapshot_destroy(snapshot);
    }
    return is_found ? SINTER_OK : SINTER_END;
}
