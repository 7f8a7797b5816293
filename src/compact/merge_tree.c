/*
 * The write path of a bucket: buffer, flush, wait, commit (spec/compaction.md 15.3, 15.4).
 *
 *     write -> buffer -> flush -> level-0 files -> levels -> compaction -> levels
 *                                     |                          |
 *                                 new files              before and after       -> increment
 *
 * Invariant: a file that lies in the levels is named by the caller's catalog, by an increment that
 * was handed over, by one that came back, or by `pending`; close removes those that only the last
 * two name.
 */
#include "sinter/merge_tree.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/listener.h"
#include "compact/increment.h"
#include "compact/levels.h"
#include "compact/load.h"
#include "compact/manager.h"
#include "compact/names.h"
#include "compact/path.h"
#include "compact/read_back.h"
#include "compact/section_merge.h"
#include "compact/write_pool.h"

enum {
    SLOWDOWN_NS_MAX = 1000 * 1000 * 1000, /* a full buffer waits no longer */
    SLOWDOWN_SLICE_NS = 1000 * 1000
};

struct sinter_merge_tree {
    const sinter_env *env;
    const sinter_compact_task *task;
    sinter_manager *manager;
    sinter__bucket_counters *counters; /* the manager's */
    sinter__write_buffer *buffer;
    sinter_write_pool *pool; /* NULL: the buffer has memory of its own */
    sinter__pool_member member;
    char *output_path;
    sinter_increment pending;
    sinter_increment *returned; /* came back, and are older than `pending`; the oldest first */
    uint64_t handed_out;        /* increments that aren't empty; those that came back don't count */
    uint64_t committed;         /* the largest number of a committed one */
    sinter_compact_result *unnoted; /* taken, but memory ran out before `pending` knew of it */
    int64_t last_sequence;
    int64_t newest_schema;
    int64_t last_flush_ns;  /* when the buffer was last emptied */
    uint32_t delta_commits; /* full-compaction.delta-commits; 0: none */
    uint32_t commits;       /* since the last full compaction asked for by them */
    bool commit_waits;      /* for the compaction, whether the caller does or not */
};

/* ---- flush ---- */

/* How the files of a flush are written. */
static void
configure_rolling(const sinter_merge_tree *tree, const sinter_compact_task *task,
                  const sinter_compact_options *options, sinter__rolling_config *out)
{
    *out = (sinter__rolling_config){
        .format = task->format != NULL ? task->format : sinter_format_sst(),
        .write = {.struct_size = (uint32_t)sizeof out->write,
                  .block_bytes = options->block_bytes,
                  .codec = sinter_compact_codec_of_level(options, 0),
                  .codec_level = options->codec_level,
                  .filter_bits_per_key = options->filter_bits_per_key,
                  .direct = options->direct,
                  .schema_id = (uint32_t)tree->newest_schema,
                  .key_types = task->key_types,
                  .row_type = task->row_type,
                  .blocks_beside = tree->env->executor.submit != NULL ? SINTER__BLOCKS_BESIDE : 0},
        .dir = tree->output_path,
        .meta_dir = task->output_dir,
        .prefix = task->file_prefix != NULL ? task->file_prefix : "data-",
        .target_bytes = options->target_file_bytes,
        .target_rows = options->target_file_rows,
        .schema_id = tree->newest_schema,
        .file_source = SINTER_FILE_SOURCE_APPEND,
    };
}

/* The files are there: let levels and increment know of all of them or, after a failure, of none.
 */
static sinter_status
add_files(void *ctx, const sinter_compact_result *result, sinter_error *err)
{
    sinter_merge_tree *tree = ctx;
    const sinter_file_list *files = sinter_compact_result_after(result);
    sinter__meta_list *added = &tree->pending.new_files;
    const size_t known = added->list.count;
    uint64_t bytes = 0;
    sinter_status st = SINTER_OK;

    for (size_t i = 0; i < files->count && st == SINTER_OK; i++) {
        st = sinter__meta_list_add(added, &files->files[i], err);
        bytes += files->files[i].file_size;
    }
    if (st == SINTER_OK && files->count > 0) {
        st = sinter__manager_add_files(tree->manager, files->files, files->count, err);
    }
    if (st != SINTER_OK) {
        added->list.count = known;
        return st;
    }
    sinter__count(&tree->counters->flushes, 1);
    sinter__count(&tree->counters->flushed_bytes, bytes);
    return SINTER_OK;
}

static void
note_buffer(sinter_merge_tree *tree)
{
    sinter__gauge(&tree->counters->buffer_bytes, sinter__write_buffer_bytes(tree->buffer));
    sinter__gauge(&tree->counters->spills, sinter__write_buffer_spills(tree->buffer));
}

/* Make files of the buffer, which is emptied when levels and increment know of them. */
static sinter_status
write_files(sinter_merge_tree *tree, sinter_error *err)
{
    sinter_compact_options options;
    sinter_compact_task task;
    sinter__rolling_config rolling;
    sinter__flush_config flush = {.rolling = &rolling, .accept = add_files, .accept_ctx = tree};
    sinter_compact_result *result = NULL;
    sinter_status st = SINTER_OK;

    sinter_compact_task_init(&task);
    SINTER__CHECK(sinter__struct_load(&task, sizeof task, tree->task, "sinter_compact_task", err));
    SINTER__CHECK(sinter__compact_options_load(task.options, &options, err));
    configure_rolling(tree, &task, &options, &rolling);
    flush.order = task.order;
    flush.sort_engine = options.sort_engine;
    flush.reads_back = options.verify_output;
    flush.memory_bytes = options.memory_bytes;
    SINTER__TRY(sinter__result_create(tree->env, NULL, 0, &result, err));
    SINTER__TRY(sinter__merge_function_create(tree->env, task.merge_function, &options,
                                              &flush.function, err));
    SINTER__TRY(sinter__write_buffer_flush(tree->buffer, &flush, result, err));
    note_buffer(tree);
out:
    sinter__merge_function_destroy(flush.function);
    sinter_compact_result_destroy(result);
    return st;
}

/* ---- results ---- */

static void
file_is_gone(void *ctx, const sinter_file_meta *file)
{
    sinter_merge_tree *tree = ctx;

    const sinter_status st =
        sinter_levels_discard(sinter__manager_levels(tree->manager), file, NULL);

    (void)st; /* what stays is an orphan, which cleaning removes */
}

static sinter_status
note_unnoted(sinter_merge_tree *tree, sinter_error *err)
{
    if (tree->unnoted == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__increment_note(&tree->pending, tree->unnoted, file_is_gone, tree, err));
    sinter_compact_result_destroy(tree->unnoted);
    tree->unnoted = NULL;
    return SINTER_OK;
}

/* Take what the compaction has done; no result is no failure. */
static sinter_status
take_result(sinter_merge_tree *tree, bool wait, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__CHECK(note_unnoted(tree, err));
    st = sinter_manager_take_result(tree->manager, wait, &tree->unnoted, err);
    return st == SINTER_OK ? note_unnoted(tree, err) : (st == SINTER_END ? SINTER_OK : st);
}

static void
tell_stall(const sinter_merge_tree *tree, bool is_end, int64_t duration_ns)
{
    const sinter_event event = {
        .struct_size = (uint32_t)sizeof event,
        .bucket = sinter__manager_name(tree->manager),
        .text = "more sorted runs than num-sorted-run.stop-trigger",
        .records = sinter_levels_run_count(sinter__manager_levels(tree->manager)),
        .duration_ns = duration_ns,
    };

    if (is_end) {
        SINTER__TELL(tree->env->listener, stall_end, &event);
    } else {
        SINTER__TELL(tree->env->listener, stall_begin, &event);
    }
}

/* The writer waits because there are too many runs. */
static sinter_status
stall(sinter_merge_tree *tree, sinter_error *err)
{
    const int64_t begin_ns = sinter__now_ns(tree->env);
    int64_t waited_ns = 0;
    sinter_status st = SINTER_OK;

    sinter__count(&tree->counters->stalls, 1);
    tell_stall(tree, false, 0);
    st = take_result(tree, true, err);
    waited_ns = sinter__now_ns(tree->env) - begin_ns;
    sinter__count(&tree->counters->stall_ns, (uint64_t)waited_ns);
    tell_stall(tree, true, waited_ns);
    return st;
}

/* Start a compaction if one is due. A queue without room is no failure: the next call tries again.
 */
static sinter_status
trigger(sinter_merge_tree *tree, bool full, sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    const sinter_status st = sinter_manager_trigger(tree->manager, full, &detail);

    if (st == SINTER_OK || st == SINTER_END ||
        (st == SINTER_E_BUSY && !full && !sinter_manager_should_wait_latest(tree->manager))) {
        return SINTER_OK;
    }
    if (err != NULL) {
        *err = detail;
    }
    return st;
}

/* Make files of what is buffered, and take what the compaction has done meanwhile. */
static sinter_status
flush_rows(sinter_merge_tree *tree, bool wait, sinter_error *err)
{
    bool must_stall = false;

    if (sinter__write_buffer_rows(tree->buffer) > 0) {
        must_stall = sinter_manager_should_wait_latest(tree->manager) &&
                     sinter__manager_has_task(tree->manager);
        SINTER__CHECK(write_files(tree, err));
    }
    return must_stall ? stall(tree, err) : take_result(tree, wait, err);
}

static sinter_status
flush(sinter_merge_tree *tree, bool wait, bool full, sinter_error *err)
{
    SINTER__CHECK(flush_rows(tree, wait, err));
    return trigger(tree, full, err);
}

sinter_status
sinter_merge_tree_flush(sinter_merge_tree *tree, sinter_error *err)
{
    SINTER__REQUIRE(err, tree != NULL);
    return flush(tree, false, false, err);
}

sinter_status
sinter_merge_tree_compact(sinter_merge_tree *tree, bool full, sinter_error *err)
{
    SINTER__REQUIRE(err, tree != NULL);
    return flush(tree, true, full, err);
}

/* ---- write ---- */

/*
 * A full buffer was flushed and the compaction doesn't keep up: give it some of the time that
 * filling the buffer took, the more the nearer the stop trigger is. So writers become slower before
 * they have to stand still.
 */
static void
slow_down(sinter_merge_tree *tree)
{
    const sinter_env *env = tree->env;
    const int64_t begin_ns = sinter__now_ns(env);
    const int64_t filled_ns = begin_ns - tree->last_flush_ns;
    const int64_t left_ns = filled_ns < SLOWDOWN_NS_MAX ? filled_ns : SLOWDOWN_NS_MAX;
    int64_t now_ns = begin_ns;
    double pressure = 0;

    if (env->clock.sleep_ns == NULL) {
        return;
    }
    while ((pressure = sinter__manager_pressure(tree->manager)) > 0 &&
           (double)(now_ns - begin_ns) < pressure * (double)left_ns) {
        sinter__sleep_ns(env, SLOWDOWN_SLICE_NS);
        now_ns = sinter__now_ns(env);
    }
    if (now_ns > begin_ns) {
        sinter__count(&tree->counters->slowdowns, 1);
        sinter__count(&tree->counters->slowdown_ns, (uint64_t)(now_ns - begin_ns));
    }
    tree->last_flush_ns = now_ns;
}

/* The buffer is full. */
static sinter_status
make_room(sinter_merge_tree *tree, sinter_error *err)
{
    SINTER__CHECK(flush(tree, false, false, err));
    slow_down(tree);
    return SINTER_OK;
}

/* Another tree of the pool needs memory: spill, or flush. */
static sinter_status
give_way(void *ctx, sinter_error *err)
{
    sinter_merge_tree *tree = ctx;
    const sinter_status st = sinter__write_buffer_spill(tree->buffer, err);

    note_buffer(tree);
    return st == SINTER_END ? make_room(tree, err) : st;
}

/* Has this tree used up its own share, so that other trees' memory is of no help? */
static bool
is_at_own_limit(const sinter_merge_tree *tree, sinter_bytes key, sinter_bytes value)
{
    const uint64_t held = sinter__write_buffer_bytes(tree->buffer);

    return held > 0 && held + sinter__write_buffer_least(key.size, value.size) >
                           atomic_load(&tree->counters->buffer_limit_bytes);
}

/* Bring the next record in; flush this buffer, or the pool's largest, until it has room. */
static sinter_status
put(sinter_merge_tree *tree, sinter_bytes key, uint8_t kind, sinter_bytes value, sinter_error *err)
{
    const int64_t sequence = tree->last_sequence + 1;
    sinter_status st = SINTER_END;

    for (;;) {
        st = sinter__write_buffer_put(tree->buffer, key, sequence, kind, value, err);
        if (st != SINTER_END) {
            return st;
        }
        st = tree->pool != NULL && !is_at_own_limit(tree, key, value)
                 ? sinter__write_pool_make_room(tree->pool, err)
                 : make_room(tree, err);
        if (st == SINTER_END) {
            return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                               "a record of %zu bytes doesn't fit into the write pool",
                               key.size + value.size);
        }
        SINTER__CHECK(st);
    }
}

static sinter_status
check_record(const sinter_merge_tree *tree, sinter_bytes key, uint8_t kind, sinter_bytes value,
             sinter_error *err)
{
    SINTER__REQUIRE(err, kind <= SINTER_KIND_DELETE);
    SINTER__REQUIRE(err, (key.data != NULL || key.size == 0));
    SINTER__REQUIRE(err, (value.data != NULL || value.size == 0));
    if (key.size > SINTER_KEY_BYTES_MAX || value.size > SINTER_VALUE_BYTES_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE,
                           "a key of %zu and a value of %zu bytes; at most %llu and %llu are taken",
                           key.size, value.size, (unsigned long long)SINTER_KEY_BYTES_MAX,
                           (unsigned long long)SINTER_VALUE_BYTES_MAX);
    }
    if (tree->last_sequence == INT64_MAX) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "no sequence number is left after 2^63 - 1");
    }
    return SINTER_OK;
}

sinter_status
sinter_merge_tree_write(sinter_merge_tree *tree, sinter_bytes key, uint8_t kind, sinter_bytes value,
                        sinter_error *err)
{
    SINTER__REQUIRE(err, tree != NULL);
    SINTER__CHECK(check_record(tree, key, kind, value, err));
    SINTER__CHECK(put(tree, key, kind, value, err));
    tree->last_sequence++;
    sinter__count(&tree->counters->rows_written, 1);
    sinter__count(&tree->counters->bytes_in, key.size + value.size);
    note_buffer(tree);
    return SINTER_OK;
}

/* ---- commit ---- */

/* Start a compaction before a commit. One that can't be started doesn't hold the commit up: it is
 * told, and the next commit tries again. */
static bool
trigger_before_commit(sinter_merge_tree *tree, bool full)
{
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_status st = trigger(tree, full, &err);

    if (st != SINTER_OK) {
        const sinter_event event = {.struct_size = (uint32_t)sizeof event,
                                    .bucket = sinter__manager_name(tree->manager),
                                    .file = err.file,
                                    .text = err.text,
                                    .status = st};

        SINTER__TELL(tree->env->listener, background_error, &event);
    }
    return st == SINTER_OK;
}

/* Flush, and compact as far as the options want it before a commit. */
static sinter_status
prepare(sinter_merge_tree *tree, bool wait, sinter_error *err)
{
    const bool full = tree->delta_commits > 0 && tree->commits + 1 >= tree->delta_commits;
    const bool has_to_wait = wait || full || tree->commit_waits;
    bool is_started = false;

    SINTER__CHECK(flush_rows(tree, wait || full, err));
    is_started = trigger_before_commit(tree, full);
    if (has_to_wait) {
        SINTER__CHECK(take_result(tree, true, err));
    } else if (sinter_manager_should_wait_prepare(tree->manager) &&
               sinter__manager_has_task(tree->manager)) {
        SINTER__CHECK(stall(tree, err));
    } else if (!sinter__manager_has_failed(tree->manager)) {
        /* A failure is left for the next call: without threads it would come out of every commit.
         */
        SINTER__CHECK(take_result(tree, false, err));
    }
    tree->commits = full && is_started ? 0 : tree->commits + 1;
    return SINTER_OK;
}

/* Let `pending` say what the increments say that came back, too. */
static sinter_status
join_returned(sinter_merge_tree *tree, sinter_error *err)
{
    while (tree->returned != NULL) {
        sinter_increment *earlier = tree->returned;
        sinter_increment *second = earlier->next;

        SINTER__CHECK(sinter__increment_join(earlier, second != NULL ? second : &tree->pending,
                                             file_is_gone, tree, err));
        if (second != NULL) {
            earlier->next = second->next;
            sinter_increment_destroy(second);
            continue;
        }
        sinter__increment_fini(&tree->pending);
        sinter__increment_move(earlier, &tree->pending);
        tree->returned = NULL;
        sinter_increment_destroy(earlier);
    }
    return SINTER_OK;
}

sinter_status
sinter_merge_tree_prepare_commit(sinter_merge_tree *tree, bool wait, sinter_increment **out,
                                 sinter_error *err)
{
    sinter_increment *increment = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, tree != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(tree->env, increment, 1, err));
    sinter__increment_init(increment, tree->env);
    SINTER__TRY(prepare(tree, wait, err));
    SINTER__TRY(join_returned(tree, err));
    sinter__increment_move(&tree->pending, increment);
    increment->max_sequence = tree->last_sequence;
    increment->number = sinter_increment_is_empty(increment) ? 0 : ++tree->handed_out;
    *out = increment;
    increment = NULL;
out:
    sinter_increment_destroy(increment);
    return st;
}

sinter_status
sinter_merge_tree_committed(sinter_merge_tree *tree, const sinter_increment *increment,
                            sinter_error *err)
{
    const sinter_file_list *after = NULL;
    const sinter_file_list *before = NULL;
    sinter__names stays = {.all = NULL};
    sinter_status first_failure = SINTER_OK;

    SINTER__REQUIRE(err, tree != NULL && increment != NULL);
    if (increment->number > tree->committed) {
        tree->committed = increment->number;
    }
    after = sinter_increment_compact_after(increment);
    before = sinter_increment_compact_before(increment);
    SINTER__CHECK(sinter__names_of_files(tree->env, after->files, after->count, &stays, err));
    for (size_t i = 0; i < before->count; i++) {
        sinter_error *detail = first_failure == SINTER_OK ? err : NULL;
        sinter_status st = SINTER_OK;

        if (sinter__names_find(&stays, before->files[i].file_name) == NULL) {
            st = sinter_levels_discard(sinter__manager_levels(tree->manager), &before->files[i],
                                       detail);
        }
        first_failure = first_failure == SINTER_OK ? st : first_failure;
    }
    sinter__names_fini(tree->env, &stays);
    return first_failure;
}

sinter_status
sinter_merge_tree_return(sinter_merge_tree *tree, sinter_increment *increment, sinter_error *err)
{
    SINTER__REQUIRE(err, tree != NULL && increment != NULL);
    if (increment->number == 0) {
        sinter_increment_destroy(increment);
        return SINTER_OK;
    }
    if (increment->number != tree->handed_out || increment->number <= tree->committed) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "increment %llu can't be given back: %llu were handed out and did not "
                           "come back, and number %llu was committed",
                           (unsigned long long)increment->number,
                           (unsigned long long)tree->handed_out,
                           (unsigned long long)tree->committed);
    }
    tree->handed_out--;
    increment->next = tree->returned;
    tree->returned = increment;
    return SINTER_OK;
}

/* ---- the rest ---- */

const sinter_file_set *
sinter_merge_tree_acquire(sinter_merge_tree *tree)
{
    return sinter_manager_acquire(tree->manager);
}

void
sinter_merge_tree_cancel(sinter_merge_tree *tree)
{
    sinter_manager_cancel(tree->manager);
}

sinter_manager *
sinter_merge_tree_manager(sinter_merge_tree *tree)
{
    return tree->manager;
}

void
sinter_merge_tree_metrics_get(const sinter_merge_tree *tree, sinter_bucket_metrics *out)
{
    sinter_manager_metrics_get(tree->manager, out);
}

/* ---- life ---- */

/* What the restored files know: numbers go on behind the largest, new files follow the newest
 * schema, or a newer one that the task names. */
static sinter_status
restore(sinter_merge_tree *tree, const sinter_merge_tree_config *config, sinter_error *err)
{
    sinter_compact_task task;

    sinter_compact_task_init(&task);
    SINTER__CHECK(
        sinter__struct_load(&task, sizeof task, config->task, "sinter_compact_task", err));
    tree->newest_schema = task.schema_id > 0 ? task.schema_id : 0;
    tree->last_sequence = config->max_sequence < -1 ? -1 : config->max_sequence;
    for (size_t i = 0; i < config->count; i++) {
        const sinter_file_meta *file = &config->files[i];

        if (file->row_count > 0 && file->max_sequence_number > tree->last_sequence) {
            tree->last_sequence = file->max_sequence_number;
        }
        if (file->schema_id > tree->newest_schema) {
            tree->newest_schema = file->schema_id;
        }
    }
    return SINTER_OK;
}

/* Does the row with the largest sequence decide alone what becomes of a key? */
static bool
keeps_newest(const sinter_compact_task *task, const sinter_compact_options *options)
{
    return options->merge_engine == SINTER_MERGE_ENGINE_DEDUPLICATE && !options->ignore_delete &&
           task->merge_function == NULL && task->order == NULL;
}

static sinter_status
make_buffer(sinter_merge_tree *tree, const sinter_compact_options *options, sinter_error *err)
{
    sinter_compact_task task;
    sinter__write_buffer_config config = {
        .memory = tree->pool != NULL ? sinter__write_pool_memory(tree->pool) : NULL,
        .limit_bytes = options->write_buffer_bytes,
        .spill_dir = options->write_buffer_spillable ? tree->output_path : NULL,
        .spill_bytes_max =
            options->write_buffer_disk_max != 0 ? options->write_buffer_disk_max : UINT64_MAX,
        .spill_codec = options->spill_codec,
        .spill_codec_level = options->spill_codec_level,
    };

    sinter_compact_task_init(&task);
    SINTER__CHECK(sinter__struct_load(&task, sizeof task, tree->task, "sinter_compact_task", err));
    config.keeps_newest = keeps_newest(&task, options);
    SINTER__CHECK(sinter__write_buffer_create(tree->env, &config, &tree->buffer, err));
    sinter__gauge(&tree->counters->buffer_limit_bytes, options->write_buffer_bytes);
    if (tree->pool != NULL) {
        tree->member =
            (sinter__pool_member){.buffer = tree->buffer, .give_way = give_way, .ctx = tree};
        sinter__write_pool_enter(tree->pool, &tree->member);
    }
    return SINTER_OK;
}

static sinter_status
make_parts(sinter_merge_tree *tree, const sinter_merge_tree_config *config, sinter_error *err)
{
    const sinter_manager_config manager = {
        .struct_size = (uint32_t)sizeof manager,
        .needs_lookup = config->needs_lookup,
        .keep_deletes = config->keep_deletes,
        .name = config->name,
        .task = config->task,
        .strategy = config->strategy,
        .scheduler = config->scheduler,
        .files = config->files,
        .count = config->count,
    };
    sinter_compact_options options;

    SINTER__CHECK(sinter__compact_options_load(tree->task->options, &options, err));
    if (options.verify_output) {
        const sinter_format *format = tree->task->format;

        SINTER__CHECK(sinter__read_back_check(format != NULL ? format : sinter_format_sst(), err));
    }
    tree->commit_waits =
        options.commit_force_compact ||
        (options.lookup_wait && (config->needs_lookup || sinter_compact_needs_lookup(&options)));
    /* Commits of a write-only bucket compact nothing. */
    tree->delta_commits = options.write_only ? 0 : options.full_delta_commits;
    if (tree->newest_schema > UINT32_MAX) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "the schema id %lld is above 2^32 - 1",
                           (long long)tree->newest_schema);
    }
    SINTER__CHECK(sinter__path_join(tree->env, tree->task->base_dir, tree->task->output_dir, NULL,
                                    &tree->output_path, err));
    SINTER__CHECK(sinter_manager_create(tree->env, &manager, &tree->manager, err));
    tree->counters = sinter__manager_counters(tree->manager);
    return make_buffer(tree, &options, err);
}

sinter_status
sinter_merge_tree_open(const sinter_env *env, const sinter_merge_tree_config *given,
                       sinter_merge_tree **out, sinter_error *err)
{
    sinter_merge_tree_config config = {.struct_size = (uint32_t)sizeof config, .max_sequence = -1};
    sinter_merge_tree *tree = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, env->io != NULL && given != NULL);
    SINTER__CHECK(
        sinter__struct_load(&config, sizeof config, given, "sinter_merge_tree_config", err));
    SINTER__REQUIRE(err, config.task != NULL && config.task->base_dir != NULL);
    SINTER__REQUIRE(err, config.files != NULL || config.count == 0);
    SINTER__TRY(SINTER__NEW(env, tree, 1, err));
    tree->env = env;
    tree->task = config.task;
    tree->pool = config.pool;
    tree->last_flush_ns = sinter__now_ns(env);
    sinter__increment_init(&tree->pending, env);
    SINTER__TRY(restore(tree, &config, err));
    SINTER__TRY(make_parts(tree, &config, err));
    *out = tree;
    tree = NULL;
out:
    sinter_merge_tree_close(tree);
    return st;
}

/* A result that could not be noted: nobody else names its new files. */
static void
drop_unnoted(sinter_merge_tree *tree)
{
    const sinter_file_list *after = sinter_compact_result_after(tree->unnoted);

    for (size_t i = 0; i < after->count; i++) {
        if (after->files[i].upgraded_from < 0) { /* else an input */
            file_is_gone(tree, &after->files[i]);
        }
    }
    sinter_compact_result_destroy(tree->unnoted);
}

/* Remove the files that no increment has given away, each with the last set that lists it. What
 * stays after a failure is an orphan, which cleaning removes. */
static void
drop_all(sinter_merge_tree *tree)
{
    sinter__levels_abandon(sinter__manager_levels(tree->manager));
    sinter__increment_each_own(&tree->pending, file_is_gone, tree);
    while (tree->returned != NULL) {
        sinter_increment *oldest = tree->returned;

        sinter__increment_each_own(oldest, file_is_gone, tree);
        tree->returned = oldest->next;
        sinter_increment_destroy(oldest);
    }
    if (tree->unnoted != NULL) {
        drop_unnoted(tree);
    }
}

void
sinter_merge_tree_close(sinter_merge_tree *tree)
{
    if (tree != NULL) {
        const sinter_env *env = tree->env;

        if (tree->member.buffer != NULL) {
            sinter__write_pool_leave(tree->pool, &tree->member);
        }
        if (tree->manager != NULL) {
            drop_all(tree);
        }
        sinter_manager_destroy(tree->manager);
        sinter__write_buffer_destroy(tree->buffer);
        sinter__increment_fini(&tree->pending);
        sinter__free(env, tree->output_path);
        sinter__free(env, tree);
    }
}
