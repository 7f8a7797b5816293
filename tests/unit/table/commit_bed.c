#include "commit_bed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "manifest_bed.h"
#include "table/live_files.h"

void
commit_bed_init(commit_bed *bed, const sinter_env *env, const char *options)
{
    char text[1024];

    memset(bed, 0, sizeof *bed);
    place_init(&bed->place, env);
    bed->env = bed->place.env;
    bed->arena.env = sinter_env_default();
    (void)snprintf(text, sizeof text,
                   "{\"version\":3,\"id\":0,\"fields\":[{\"id\":0,\"name\":\"p\",\"type\":"
                   "\"INT NOT NULL\"},{\"id\":1,\"name\":\"k\",\"type\":\"INT NOT NULL\"},"
                   "{\"id\":2,\"name\":\"v\",\"type\":\"STRING\"}],\"highestFieldId\":2,"
                   "\"partitionKeys\":[\"p\"],\"primaryKeys\":[\"p\",\"k\"],\"options\":{%s},"
                   "\"timeMillis\":7}",
                   options);
    place_write(&bed->place, "t/schema/schema-0", text);
}

void
commit_bed_open(commit_bed *bed)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;

    sinter_table_close(bed->table);
    bed->table = NULL;
    cr_assert_eq(sinter_table_open(&bed->env, &config, &bed->table, &err), SINTER_OK, "%s",
                 err.text);
}

void
commit_bed_fini(commit_bed *bed)
{
    sinter_table_close(bed->table);
    sinter__arena_fini(&bed->arena);
    place_fini(&bed->place);
}

/** A row of one INT, or of none, with its arity. */
static sinter_bytes
make_row(commit_bed *bed, bool has_value, int32_t value)
{
    const size_t size = has_value ? 20 : 12;
    uint8_t *row = NULL;

    cr_assert_eq(sinter__arena_take(&bed->arena, size, (void **)&row, NULL), SINTER_OK);
    memset(row, 0, size);
    row[3] = has_value;
    if (has_value) {
        sinter__put_le32(row + 12, (uint32_t)value);
    }
    return (sinter_bytes){row, size};
}

sinter_bytes
commit_bed_partition(commit_bed *bed, int32_t partition)
{
    return make_row(bed, true, partition);
}

const sinter__manifest_entry *
commit_bed_entry(commit_bed *bed, int32_t kind, const bed_file *file)
{
    const sinter_bytes none = make_row(bed, false, 0);
    const sinter__simple_stats stats = {
        .min_values = none, .max_values = none, .has = SINTER__STATS_HAS_NULL_COUNTS};
    sinter__manifest_entry *entry = NULL;

    cr_assert_eq(sinter__arena_take(&bed->arena, sizeof *entry, (void **)&entry, NULL), SINTER_OK);
    *entry = (sinter__manifest_entry){.version = SINTER__MANIFEST_VERSION,
                                      .kind = kind,
                                      .partition = commit_bed_partition(bed, file->partition),
                                      .bucket = file->bucket,
                                      .total_buckets = 2,
                                      .file = {.file_name = bed_text(file->name),
                                               .file_size = 100,
                                               .row_count = file->rows == 0 ? 1 : file->rows,
                                               .min_key = make_row(bed, true, file->min),
                                               .max_key = make_row(bed, true, file->max),
                                               .key_stats = stats,
                                               .value_stats = stats,
                                               .level = file->level,
                                               .has = SINTER__FILE_HAS_SOURCE,
                                               .source = SINTER__FILE_SOURCE_APPEND}};
    return entry;
}

sinter_status
commit_bed_commit(commit_bed *bed, sinter__commit_request request, sinter__commit_outcome *out,
                  sinter_error *err)
{
    const char *user = bed->user == NULL ? "u" : bed->user;

    request.user = request.user == NULL ? user : request.user;
    return sinter__commit(bed->table, &request, out, err);
}

int64_t
commit_bed_append(commit_bed *bed, const bed_file *file)
{
    const sinter__manifest_entry *entry = commit_bed_entry(bed, SINTER__ENTRY_ADD, file);
    sinter__commit_outcome outcome;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(commit_bed_commit(bed, (sinter__commit_request){.entries = &entry, .count = 1},
                                   &outcome, &err),
                 SINTER_OK, "%s", err.text);
    return outcome.snapshot_id;
}

/* ---- what is there ---- */

/** A table of its own over the place, which the tests' faults don't reach. */
static sinter_table *
open_beneath(commit_bed *bed)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    static sinter_env env;
    sinter_table *table = NULL;

    env = *sinter_env_default();
    env.io = bed->place.memory;
    cr_assert_eq(sinter_table_open(&env, &config, &table, NULL), SINTER_OK);
    return table;
}

static int
compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

const char *
commit_bed_live(commit_bed *bed, int64_t id)
{
    static char text[BED_FILES_MAX * 33];
    char names[BED_FILES_MAX][32];
    sinter_table *table = open_beneath(bed);
    sinter_snapshot *snapshot = NULL;
    sinter__live_files *files = NULL;
    const sinter__bucket_files *buckets = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    size_t bucket_count = 0;
    size_t count = 0;

    (void)snprintf(text, sizeof text, "none");
    if (id == 0 && sinter_table_latest_id(table, &id, NULL) == SINTER_END) {
        sinter_table_close(table);
        return text;
    }
    cr_assert_eq(sinter_table_snapshot_get(table, id, &snapshot, &err), SINTER_OK, "%s", err.text);
    cr_assert_eq(sinter__live_files_read(table, snapshot, &files, &err), SINTER_OK, "%s: %s",
                 err.file, err.text);
    buckets = sinter__live_files_buckets(files, &bucket_count);
    for (size_t b = 0; b < bucket_count; b++) {
        for (size_t i = 0; i < buckets[b].count; i++) {
            const sinter__data_file *file = &buckets[b].entries[i]->file;

            cr_assert_lt(count, BED_FILES_MAX);
            (void)snprintf(names[count++], sizeof names[0], "%.*s@%d", (int)file->file_name.size,
                           (const char *)file->file_name.data, file->level);
        }
    }
    qsort(names, count, sizeof names[0], compare_texts);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        (void)strcat(strcat(text, i == 0 ? "" : " "), names[i]);
    }
    sinter__live_files_destroy(files);
    sinter_snapshot_destroy(snapshot);
    sinter_table_close(table);
    return text;
}

int64_t
commit_bed_append_file(commit_bed *bed, const bed_file *file)
{
    char path[96];

    (void)snprintf(path, sizeof path, "t/p=%d/bucket-%d/%s", file->partition, file->bucket,
                   file->name);
    place_write(&bed->place, path, "rows");
    return commit_bed_append(bed, file);
}

bool
commit_bed_has(const commit_bed *bed, const char *path)
{
    sinter_io *io = bed->place.memory;
    sinter_io_stat info;

    return io->ops->stat(io, path, &info, NULL) == SINTER_OK;
}

/** A table, and whether all files were there so far. */
typedef struct whole {
    const commit_bed *bed;
    sinter_table *table;
    bool is_whole;
} whole;

static sinter_status
check_snapshot(void *ctx, int64_t id)
{
    whole *self = ctx;
    sinter_snapshot *snapshot = NULL;
    sinter__live_files *files = NULL;
    const sinter__bucket_files *buckets = NULL;
    size_t count = 0;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter_table_snapshot_get(self->table, id, &snapshot, &err), SINTER_OK, "%s",
                 err.text);
    cr_assert_eq(sinter__live_files_read(self->table, snapshot, &files, &err), SINTER_OK, "%s",
                 err.text);
    buckets = sinter__live_files_buckets(files, &count);
    for (size_t b = 0; b < count; b++) {
        for (size_t i = 0; i < buckets[b].count; i++) {
            const sinter_bytes name = buckets[b].entries[i]->file.file_name;
            char path[96];

            (void)snprintf(path, sizeof path, "t/p=%d/bucket-%d/%.*s",
                           buckets[b].partition.data[12], buckets[b].bucket, (int)name.size,
                           (const char *)name.data);
            self->is_whole = self->is_whole && commit_bed_has(self->bed, path);
        }
    }
    sinter__live_files_destroy(files);
    sinter_snapshot_destroy(snapshot);
    return SINTER_OK;
}

bool
commit_bed_is_whole(commit_bed *bed)
{
    whole self = {bed, open_beneath(bed), true};

    cr_assert_eq(sinter_table_each_snapshot(self.table, check_snapshot, &self, NULL), SINTER_OK);
    sinter_table_close(self.table);
    return self.is_whole;
}

/** Names in manifest/, and which of them a snapshot needs. */
typedef struct names {
    sinter_table *table;
    char items[512][96];
    bool is_used[512];
    size_t count;
    size_t missing;
} names;

static sinter_status
note_name(void *ctx, const char *name)
{
    names *all = ctx;

    cr_assert_lt(all->count, 512);
    (void)snprintf(all->items[all->count++], sizeof all->items[0], "%s", name);
    return SINTER_OK;
}

static void
use(names *all, const char *name)
{
    size_t i = 0;

    while (i < all->count && strcmp(all->items[i], name) != 0) {
        i++;
    }
    if (i < all->count) {
        all->is_used[i] = true;
    } else {
        all->missing++;
    }
}

static void
use_list(names *all, const sinter_list_file *file)
{
    sinter__manifest_list list = {.arena.env = sinter_env_default()};
    char path[128];
    char name[96];

    use(all, file->name);
    (void)snprintf(path, sizeof path, "t/manifest/%s", file->name);
    cr_assert_eq(
        sinter__manifest_list_read(all->table->env, path, (uint64_t)file->size_bytes, &list, NULL),
        SINTER_OK, "%s", path);
    for (size_t i = 0; i < list.count; i++) {
        (void)snprintf(name, sizeof name, "%.*s", (int)list.items[i].file_name.size,
                       (const char *)list.items[i].file_name.data);
        use(all, name);
    }
    sinter__manifest_list_fini(&list);
}

static sinter_status
use_snapshot(void *ctx, int64_t id)
{
    names *all = ctx;
    sinter_snapshot *snapshot = NULL;

    cr_assert_eq(sinter_table_snapshot_get(all->table, id, &snapshot, NULL), SINTER_OK);
    use_list(all, &snapshot->base);
    use_list(all, &snapshot->delta);
    if (snapshot->changelog.name != NULL) {
        use_list(all, &snapshot->changelog);
    }
    if (snapshot->index_manifest != NULL) {
        use(all, snapshot->index_manifest);
    }
    sinter_snapshot_destroy(snapshot);
    return SINTER_OK;
}

static void
look(commit_bed *bed, size_t *orphans, size_t *missing)
{
    names *all = calloc(1, sizeof *all);
    sinter_io *io = bed->place.memory;

    all->table = open_beneath(bed);
    (void)!io->ops->list(io, "t/manifest", note_name, all, NULL);
    cr_assert_eq(sinter_table_each_snapshot(all->table, use_snapshot, all, NULL), SINTER_OK);
    *orphans = 0;
    *missing = all->missing;
    for (size_t i = 0; i < all->count; i++) {
        *orphans += !all->is_used[i];
    }
    sinter_table_close(all->table);
    free(all);
}

size_t
commit_bed_orphans(commit_bed *bed)
{
    size_t orphans = 0;
    size_t missing = 0;

    look(bed, &orphans, &missing);
    return orphans;
}

size_t
commit_bed_missing(commit_bed *bed)
{
    size_t orphans = 0;
    size_t missing = 0;

    look(bed, &orphans, &missing);
    return missing;
}
