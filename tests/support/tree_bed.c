#include "support/tree_bed.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 16384, PATH_BYTES = 256, RANGES = 8, NAMES_MAX = 4096 };

/* ---- complaints ---- */

static void
stop(const tree_bed *bed, const char *when, const char *what, const char *detail)
{
    fprintf(stderr, "%s (seed %" PRIu64 "), %s: %s: %s\n", bed->label == NULL ? "" : bed->label,
            bed->seed, when, what, detail);
    abort();
}

static void
must(const tree_bed *bed, sinter_status st, const sinter_error *err, const char *what)
{
    if (st != SINTER_OK) {
        char text[700];

        (void)snprintf(text, sizeof text, "%s (%s)", sinter_status_name(st), err->text);
        stop(bed, what, "failed", text);
    }
}

/* ---- the clock ---- */

static int64_t
wall_ms(void *ctx)
{
    return (atomic_fetch_add(&((bed_clock *)ctx)->now_ns, 1000000) + 1000000) / 1000000;
}

static int64_t
monotonic_ns(void *ctx)
{
    return atomic_load(&((bed_clock *)ctx)->now_ns);
}

static void
sleep_ns(void *ctx, int64_t ns)
{
    bed_clock *clock = ctx;

    atomic_fetch_add(&clock->now_ns, ns);
    if (clock->slept != NULL) {
        clock->slept(clock->ctx, ns);
    }
}

void
bed_clock_use(bed_clock *clock, sinter_env *env)
{
    env->clock.ctx = clock;
    env->clock.wall_ms = wall_ms;
    env->clock.monotonic_ns = monotonic_ns;
    env->clock.cpu_ns = monotonic_ns;
    env->clock.sleep_ns = sleep_ns;
}

/* ---- beginning and end ---- */

void
bed_init(tree_bed *bed, sinter_io *memory, const char *dir)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    memset(bed, 0, sizeof *bed);
    bed->dir = dir;
    bed->memory = memory;
    bed->value_bytes = 24;
    bed->clock.now_ns = (int64_t)1000000000 * 1000;
    bed->catalog.max_sequence = -1;
    bed->sequence = -1;
    if (memory == NULL) {
        must(bed,
             sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &bed->memory, &err),
             &err, "memory io");
    }
    st = bed->memory->ops->mkdir(bed->memory, dir, &err);
    must(bed, st == SINTER_E_EXISTS ? SINTER_OK : st, &err, "directory");
    bed->env = *sinter_env_default();
    bed->env.io = bed->memory;
    bed_clock_use(&bed->clock, &bed->env);
    sinter_compact_options_init(&bed->options);
    bed_set(bed, "write-buffer-size", "1 mb");
    bed_set(bed, "write-buffer-spillable", "false");
    bed_set(bed, "target-file-size", "64 kb");
    bed->options.block_bytes = 1000;
    sinter_compact_task_init(&bed->task);
    bed->task.base_dir = dir;
    bed->task.options = &bed->options;
    bed->config = (sinter_merge_tree_config){.struct_size = sizeof bed->config, .task = &bed->task};
    bed->config.name = dir;
}

void
bed_fini(tree_bed *bed, bool owns_memory)
{
    bed_close(bed);
    if (owns_memory) {
        sinter_io_destroy(bed->memory);
    }
}

void
bed_set(tree_bed *bed, const char *key, const char *value)
{
    sinter_error err = SINTER_ERROR_INIT;

    must(bed, sinter_compact_options_set(&bed->options, key, value, &err), &err, key);
}

/* ---- the catalog ---- */

static sinter_file_meta
meta_of(const bed_file *file)
{
    return (sinter_file_meta){.struct_size = sizeof(sinter_file_meta),
                              .level = file->level,
                              .file_name = file->name,
                              .file_size = file->size,
                              .row_count = file->rows,
                              .delete_row_count = file->deletes,
                              .min_sequence_number = file->sequence_min,
                              .max_sequence_number = file->sequence_max,
                              .creation_time_ms = file->created_ms,
                              .schema_id = file->schema_id,
                              .min_key = {file->keys[0], 4},
                              .max_key = {file->keys[1], 4},
                              .file_source = file->source,
                              .upgraded_from = -1};
}

/* The catalog's files. Static memory. */
static const sinter_file_meta *
catalog_files(const tree_bed *bed)
{
    static sinter_file_meta files[BED_FILES_MAX];

    for (uint64_t i = 0; i < bed->catalog.count; i++) {
        files[i] = meta_of(&bed->catalog.files[i]);
    }
    return files;
}

static void
catalog_add(tree_bed *bed, const sinter_file_meta *meta)
{
    bed_file *file = &bed->catalog.files[bed->catalog.count];

    if (bed->catalog.count == BED_FILES_MAX || meta->min_key.size != 4 || meta->max_key.size != 4 ||
        strlen(meta->file_name) >= BED_NAME_BYTES) {
        stop(bed, "commit", "no room for a file, or its metadata is odd", meta->file_name);
    }
    *file = (bed_file){.size = meta->file_size,
                       .rows = meta->row_count,
                       .deletes = meta->delete_row_count,
                       .sequence_min = meta->min_sequence_number,
                       .sequence_max = meta->max_sequence_number,
                       .created_ms = meta->creation_time_ms,
                       .schema_id = meta->schema_id,
                       .level = meta->level,
                       .source = meta->file_source};
    (void)snprintf(file->name, sizeof file->name, "%s", meta->file_name);
    memcpy(file->keys[0], meta->min_key.data, 4);
    memcpy(file->keys[1], meta->max_key.data, 4);
    bed->catalog.count++;
}

static void
catalog_remove(tree_bed *bed, const sinter_file_meta *meta)
{
    bed_catalog *catalog = &bed->catalog;

    for (uint64_t i = 0; i < catalog->count; i++) {
        if (strcmp(catalog->files[i].name, meta->file_name) == 0 &&
            catalog->files[i].level == meta->level) {
            catalog->files[i] = catalog->files[--catalog->count];
            return;
        }
    }
    stop(bed, "commit", "an increment retires a file that isn't there", meta->file_name);
}

void
bed_apply(tree_bed *bed, const sinter_increment *increment)
{
    const sinter_file_list *made = sinter_increment_new_files(increment);
    const sinter_file_list *before = sinter_increment_compact_before(increment);
    const sinter_file_list *after = sinter_increment_compact_after(increment);

    for (size_t i = 0; i < made->count; i++) {
        if (made->files[i].file_source != SINTER_FILE_SOURCE_APPEND) {
            stop(bed, "commit", "a flushed file has another source", made->files[i].file_name);
        }
        catalog_add(bed, &made->files[i]);
    }
    for (size_t i = 0; i < before->count; i++) {
        catalog_remove(bed, &before->files[i]);
    }
    for (size_t i = 0; i < after->count; i++) {
        catalog_add(bed, &after->files[i]);
    }
    if (sinter_increment_max_sequence(increment) < bed->catalog.max_sequence) {
        stop(bed, "commit", "the largest sequence went back", "");
    }
    bed->catalog.max_sequence = sinter_increment_max_sequence(increment);
    bed->catalog.generation++;
    bed->catalog.state = bed->flushed;
}

/* Nothing between the last file and the end of the struct is worth storing. */
static size_t
catalog_bytes(const bed_catalog *catalog)
{
    return offsetof(bed_catalog, files) + (size_t)catalog->count * sizeof(bed_file);
}

void
bed_load(tree_bed *bed)
{
    sinter_io *io = bed->memory;
    sinter_io_file *file = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_range range = {.data = &bed->catalog};
    uint64_t size = 0;
    const sinter_status st = io->ops->open(io, bed->catalog_path, 0, &file, &err);

    memset(&bed->catalog, 0, sizeof bed->catalog);
    bed->catalog.max_sequence = -1;
    if (st == SINTER_E_NOT_FOUND) {
        return;
    }
    must(bed, st, &err, "open of the catalog");
    must(bed, file->ops->size(file, &size, &err), &err, "size of the catalog");
    range.size = (size_t)size;
    if (size > sizeof bed->catalog) {
        stop(bed, "load", "the catalog is too long", "");
    }
    must(bed, file->ops->read(file, &range, 1, &err), &err, "read of the catalog");
    file->ops->close(file);
    if (size != catalog_bytes(&bed->catalog)) {
        stop(bed, "load", "the catalog is torn", "");
    }
}

/* ---- the tree ---- */

static void
note_flush(tree_bed *bed)
{
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};

    sinter_merge_tree_metrics_get(bed->tree, &metrics);
    bed->flushes = metrics.flushes;
    bed->flushed = bed->live;
}

sinter_status
bed_open(tree_bed *bed, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    bed->config.files = catalog_files(bed);
    bed->config.count = (size_t)bed->catalog.count;
    bed->config.max_sequence = bed->catalog.max_sequence;
    st = sinter_merge_tree_open(&bed->env, &bed->config, &bed->tree, err);
    bed->config.files = NULL;
    if (st == SINTER_OK) {
        bed->sequence = bed->catalog.max_sequence;
        bed->live = bed->catalog.state;
        note_flush(bed);
    }
    return st;
}

void
bed_close(tree_bed *bed)
{
    sinter_merge_tree_close(bed->tree);
    bed->tree = NULL;
    bed->live = bed->catalog.state;
    bed->flushed = bed->catalog.state;
}

static void
key_bytes(uint32_t key, uint8_t out[4])
{
    for (unsigned i = 0; i < 4; i++) {
        out[i] = (uint8_t)(key >> (24 - 8 * i));
    }
}

/* The bytes that write number `version` gave its key. */
static void
value_bytes(uint64_t version, uint8_t *out, size_t size)
{
    test_rng rng = {version};

    memcpy(out, &version, sizeof version);
    for (size_t i = sizeof version; i < size; i++) {
        out[i] = (uint8_t)test_rng_next(&rng);
    }
}

sinter_status
bed_write(tree_bed *bed, uint32_t key, uint8_t kind, sinter_error *err)
{
    const bool is_first_row = bed->options.merge_engine == SINTER_MERGE_ENGINE_FIRST_ROW;
    const uint64_t version = bed->writes + 1;
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};
    uint8_t value[BED_VALUE_MAX];
    uint8_t bytes[4];
    sinter_status st = SINTER_OK;

    key_bytes(key, bytes);
    value_bytes(version, value, bed->value_bytes);
    st = sinter_merge_tree_write(bed->tree, (sinter_bytes){bytes, 4}, kind,
                                 (sinter_bytes){value, bed->value_bytes}, err);
    sinter_merge_tree_metrics_get(bed->tree, &metrics);
    if (metrics.flushes != bed->flushes) { /* the full buffer was flushed before */
        note_flush(bed);
    }
    if (st == SINTER_OK) {
        bed->writes++;
        bed->sequence++;
        if (sinter_kind_is_retract(kind)) {
            bed->live.versions[key] = bed->options.ignore_delete ? bed->live.versions[key] : 0;
        } else if (!is_first_row || bed->live.versions[key] == 0) {
            bed->live.versions[key] = version;
        }
    }
    return st;
}

static void
write_must(tree_bed *bed, uint32_t key, uint8_t kind)
{
    sinter_error err = SINTER_ERROR_INIT;

    must(bed, bed_write(bed, key, kind, &err), &err, "write");
}

void
bed_put(tree_bed *bed, uint32_t key)
{
    write_must(bed, key, SINTER_KIND_INSERT);
}

void
bed_delete(tree_bed *bed, uint32_t key)
{
    write_must(bed, key, SINTER_KIND_DELETE);
}

/* After a call that flushes: has it? */
static sinter_status
flushed(tree_bed *bed, sinter_status st)
{
    sinter_bucket_metrics metrics = {.struct_size = sizeof metrics};

    sinter_merge_tree_metrics_get(bed->tree, &metrics);
    if (st == SINTER_OK || metrics.flushes != bed->flushes) {
        note_flush(bed);
    }
    return st;
}

sinter_status
bed_flush(tree_bed *bed, sinter_error *err)
{
    return flushed(bed, sinter_merge_tree_flush(bed->tree, err));
}

sinter_status
bed_compact(tree_bed *bed, bool full, sinter_error *err)
{
    return flushed(bed, sinter_merge_tree_compact(bed->tree, full, err));
}

/* The catalog lists what the tree has. */
void
bed_expect_same_files(tree_bed *bed)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(bed->tree);
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);

    if (count != bed->catalog.count) {
        stop(bed, "commit", "the catalog has another number of files", bed_files_text(bed));
    }
    for (size_t i = 0; i < count; i++) {
        bool is_there = false;

        for (uint64_t j = 0; j < bed->catalog.count; j++) {
            is_there = is_there || (bed->catalog.files[j].level == files[i].level &&
                                    strcmp(bed->catalog.files[j].name, files[i].file_name) == 0);
        }
        if (!is_there) {
            stop(bed, "commit", "the catalog doesn't have a file", files[i].file_name);
        }
    }
    sinter_file_set_release(set);
}

sinter_status
bed_prepare(tree_bed *bed, bool wait, sinter_increment **out, sinter_error *err)
{
    const sinter_status st =
        flushed(bed, sinter_merge_tree_prepare_commit(bed->tree, wait, out, err));

    if (st != SINTER_OK && *out != NULL) {
        stop(bed, "commit", "a failure with an increment", "");
    }
    if (st == SINTER_OK && sinter_increment_max_sequence(*out) < bed->sequence) {
        stop(bed, "commit", "the largest sequence is below a number given out", "");
    }
    return st;
}

sinter_status
bed_commit(tree_bed *bed, bool wait, sinter_error *err)
{
    sinter_increment *increment = NULL;
    sinter_io *io = bed->env.io;
    sinter_status st = bed_prepare(bed, wait, &increment, err);

    if (st != SINTER_OK) {
        return st;
    }
    bed_apply(bed, increment);
    bed_expect_same_files(bed);
    if (bed->catalog_path != NULL) {
        st = io->ops->replace(io, bed->catalog_path, &bed->catalog, catalog_bytes(&bed->catalog),
                              err);
    }
    if (st == SINTER_OK) {
        st = sinter_merge_tree_committed(bed->tree, increment, err);
        if (st != SINTER_OK) { /* a file stood in the way; it may be asked again */
            st = sinter_merge_tree_committed(bed->tree, increment, err);
        }
    }
    sinter_increment_destroy(increment);
    return st;
}

/* ---- what must hold ---- */

static void
note_row(tree_bed *bed, const sinter_range *range, uint32_t row, bed_state *seen, const char *when)
{
    const sinter_bytes key = sinter_batch_key(range->batch, range->first + row);
    const sinter_bytes value = range->batch->payload_ops->value(range->batch, range->first + row);
    uint8_t expected[BED_VALUE_MAX];
    uint32_t number = 0;
    uint64_t version = 0;

    for (size_t i = 0; i < 4 && i < key.size; i++) {
        number = number << 8 | key.data[i];
    }
    if (key.size != 4 || number >= BED_KEYS || value.size < sizeof version ||
        value.size > sizeof expected || seen->versions[number] != 0) {
        stop(bed, when, "a row that was never written, or came twice", "");
    }
    memcpy(&version, value.data, sizeof version);
    value_bytes(version, expected, value.size);
    if (memcmp(expected, value.data, value.size) != 0) {
        stop(bed, when, "a value has other bytes", "");
    }
    seen->versions[number] = version;
}

static void
read_files(tree_bed *bed, const sinter_file_meta *files, size_t count, bed_state *seen,
           const char *when)
{
    sinter_env env = *sinter_env_default();
    const sinter_view_source source = {.struct_size = sizeof source,
                                       .base_dir = bed->dir,
                                       .files = files,
                                       .count = count,
                                       .options = &bed->options};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_range ranges[RANGES];
    sinter_view *view = NULL;
    size_t given = 0;
    sinter_status st = SINTER_OK;

    memset(seen, 0, sizeof *seen);
    env.io = bed->memory;
    must(bed, sinter_view_open(&env, &source, NULL, &view, &err), &err, when);
    while ((st = sinter_view_next(view, ranges, RANGES, &given, &err)) == SINTER_OK) {
        for (size_t i = 0; i < given; i++) {
            for (uint32_t row = 0; row < ranges[i].count; row++) {
                note_row(bed, &ranges[i], row, seen, when);
            }
        }
    }
    must(bed, st == SINTER_END ? SINTER_OK : st, &err, when);
    sinter_view_close(view);
}

static void
expect_state(tree_bed *bed, const sinter_file_meta *files, size_t count, const bed_state *expected,
             const char *when)
{
    bed_state seen;
    sinter_error err = SINTER_ERROR_INIT;
    char text[128];

    must(bed, sinter_files_check(sinter_env_default(), files, count, &err), &err, when);
    read_files(bed, files, count, &seen, when);
    for (size_t i = 0; i < BED_KEYS; i++) {
        if (seen.versions[i] != expected->versions[i]) {
            (void)snprintf(text, sizeof text, "key %zu is %" PRIu64 " instead of %" PRIu64, i,
                           seen.versions[i], expected->versions[i]);
            stop(bed, when, "a wrong answer", text);
        }
    }
}

void
bed_expect_set(tree_bed *bed, const sinter_file_set *set, const bed_state *state, const char *when)
{
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);

    expect_state(bed, files, count, state, when);
}

void
bed_expect_view(tree_bed *bed, const char *when)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(bed->tree);

    bed_expect_set(bed, set, &bed->flushed, when);
    sinter_file_set_release(set);
}

void
bed_expect_catalog(tree_bed *bed, const char *when)
{
    expect_state(bed, catalog_files(bed), (size_t)bed->catalog.count, &bed->catalog.state, when);
}

void
bed_clean(tree_bed *bed)
{
    sinter_env env = *sinter_env_default();
    const sinter_clean_options options = {.struct_size = sizeof options,
                                          .files = catalog_files(bed),
                                          .count = (size_t)bed->catalog.count};
    sinter_error err = SINTER_ERROR_INIT;

    env.io = bed->memory;
    must(bed, sinter_clean_dir(&env, bed->dir, &options, NULL, &err), &err, "cleaning");
}

/** Names of a directory. */
typedef struct names {
    char items[NAMES_MAX][BED_NAME_BYTES];
    size_t count;
} names;

static sinter_status
note_name(void *ctx, const char *name)
{
    names *all = ctx;

    if (all->count == NAMES_MAX) {
        return SINTER_E_TOO_LARGE;
    }
    (void)snprintf(all->items[all->count++], BED_NAME_BYTES, "%s", name);
    return SINTER_OK;
}

/* Strike a name off; false: it isn't there. */
static bool
strike(names *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->items[i], name) == 0) {
            all->items[i][0] = '\0';
            return true;
        }
    }
    return false;
}

void
bed_expect_names(tree_bed *bed, const char *when)
{
    static names all;
    sinter_error err = SINTER_ERROR_INIT;

    all.count = 0;
    must(bed, bed->memory->ops->list(bed->memory, bed->dir, note_name, &all, &err), &err, when);
    for (uint64_t i = 0; i < bed->catalog.count; i++) {
        if (!strike(&all, bed->catalog.files[i].name)) {
            stop(bed, when, "a file of the catalog isn't there", bed->catalog.files[i].name);
        }
    }
    if (bed->catalog_path != NULL) {
        (void)strike(&all, strrchr(bed->catalog_path, '/') + 1);
    }
    if (bed->tree != NULL) {
        const sinter_file_set *set = sinter_merge_tree_acquire(bed->tree);
        size_t count = 0;
        const sinter_file_meta *files = sinter_file_set_files(set, &count);

        for (size_t i = 0; i < count; i++) {
            char path[PATH_BYTES];
            sinter_io_stat info;

            (void)strike(&all, files[i].file_name);
            (void)snprintf(path, sizeof path, "%s/%s", bed->dir, files[i].file_name);
            if (bed->memory->ops->stat(bed->memory, path, &info, NULL) != SINTER_OK) {
                stop(bed, when, "a file of the tree isn't there", path);
            }
        }
        sinter_file_set_release(set);
    }
    for (size_t i = 0; i < all.count; i++) {
        if (all.items[i][0] != '\0') {
            stop(bed, when, "a file is left behind", all.items[i]);
        }
    }
}

/* ---- texts and numbers ---- */

static const char *
text_of(const sinter_file_meta *files, size_t count)
{
    static char texts[2][TEXT_BYTES];
    static unsigned turn;
    char *text = texts[turn++ % 2];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < TEXT_BYTES; i++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s@%" PRId32 " ",
                                 files[i].file_name, files[i].level);
    }
    return text;
}

const char *
bed_files_text(tree_bed *bed)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(bed->tree);
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);
    const char *text = text_of(files, count);

    sinter_file_set_release(set);
    return text;
}

const char *
bed_list_text(const sinter_file_list *list)
{
    return text_of(list->files, list->count);
}

size_t
bed_name_count(tree_bed *bed)
{
    static names all;

    all.count = 0;
    return bed->memory->ops->list(bed->memory, bed->dir, note_name, &all, NULL) == SINTER_OK
               ? all.count
               : SIZE_MAX;
}

size_t
bed_run_count(tree_bed *bed)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(bed->tree);
    size_t count = 0;

    (void)sinter_file_set_runs(set, &count);
    sinter_file_set_release(set);
    return count;
}
