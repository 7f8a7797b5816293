/*
 * Many commit to one table at once, on real files.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commit_bed.h"
#include "manifest_bed.h"
#include "table/live_files.h"

TestSuite(table_commit_race, .timeout = 120);

enum { COMMITTERS = 20, COMMITS = 2 };

/** One of them. */
typedef struct committer {
    const char *path;
    size_t number;
    commit_bed bed; /* for its entries only */
    sinter_status status[COMMITS];
    char text[COMMITS][512];
} committer;

static void
commit_some(void *arg)
{
    committer *self = arg;
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = self->path};
    sinter_table *table = NULL;
    char user[16];

    (void)snprintf(user, sizeof user, "u%zu", self->number);
    cr_assert_eq(sinter_table_open(sinter_env_default(), &config, &table, NULL), SINTER_OK);
    for (size_t i = 0; i < COMMITS; i++) {
        sinter__commit_outcome outcome;
        sinter_error err = SINTER_ERROR_INIT;
        char name[16];
        const sinter__manifest_entry *entry = NULL;
        sinter__commit_request request = {.user = user, .count = 1, .identifier = (int64_t)i};

        (void)snprintf(name, sizeof name, "%zu-%zu", self->number, i);
        entry = commit_bed_entry(
            &self->bed, SINTER__ENTRY_ADD,
            &(bed_file){.name = name, .partition = (int32_t)self->number, .level = (int32_t)i + 1});
        request.entries = &entry;
        request.kind = i == 0 ? SINTER_COMMIT_APPEND : SINTER_COMMIT_COMPACT;
        self->status[i] = sinter__commit(table, &request, &outcome, &err);
        (void)snprintf(self->text[i], sizeof self->text[i], "%s", err.text);
    }
    sinter_table_close(table);
}

static void
make_table(const char *path)
{
    static const char schema[] =
        "{\"version\":3,\"id\":0,\"fields\":[{\"id\":0,\"name\":\"p\",\"type\":\"INT NOT NULL\"},"
        "{\"id\":1,\"name\":\"k\",\"type\":\"INT NOT NULL\"}],\"highestFieldId\":2,"
        "\"partitionKeys\":[\"p\"],\"primaryKeys\":[\"p\",\"k\"],\"options\":{\"bucket\":\"2\","
        "\"commit.max-retries\":\"1000\",\"commit.min-retry-wait\":\"1 ms\","
        "\"commit.max-retry-wait\":\"8 ms\",\"manifest.merge-min-count\":\"5\"},\"timeMillis\":7}";
    sinter_io *io = sinter_io_posix();
    char text[256];

    (void)snprintf(text, sizeof text, "%s/schema", path);
    cr_assert_eq(io->ops->mkdir(io, text, NULL), SINTER_OK);
    (void)snprintf(text, sizeof text, "%s/schema/schema-0", path);
    cr_assert_eq(io->ops->replace(io, text, schema, sizeof schema - 1, NULL), SINTER_OK);
}

/** How many live files there are; the table is consistent or the test fails. */
static size_t
count_live(const char *path)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = path};
    sinter_table *table = NULL;
    sinter_snapshot *snapshot = NULL;
    sinter__live_files *files = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    int64_t id = 0;
    size_t buckets = 0;
    size_t count = 0;

    cr_assert_eq(sinter_table_open(sinter_env_default(), &config, &table, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_latest_id(table, &id, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_snapshot_get(table, id, &snapshot, NULL), SINTER_OK);
    cr_assert_eq(sinter__live_files_read(table, snapshot, &files, &err), SINTER_OK, "%s", err.text);
    for (size_t b = 0;; b++) {
        const sinter__bucket_files *all = sinter__live_files_buckets(files, &buckets);

        if (b == buckets) {
            break;
        }
        count += all[b].count;
    }
    cr_expect_eq(snapshot->id, COMMITTERS * COMMITS, "no commit twice, and none is lost");
    cr_expect_eq(snapshot->total_record_count, COMMITTERS * COMMITS);
    sinter__live_files_destroy(files);
    sinter_snapshot_destroy(snapshot);
    sinter_table_close(table);
    return count;
}

Test(table_commit_race, twenty_committers_all_get_their_snapshots)
{
    static committer all[COMMITTERS];
    char path[] = "/tmp/commit-race-XXXXXX";
    char command[64];
    sinter_pool *pool = NULL;
    sinter_executor executor;

    cr_assert_not_null(mkdtemp(path));
    make_table(path);
    cr_assert_eq(sinter_pool_create(sinter_env_default(), COMMITTERS, COMMITTERS, &pool, NULL),
                 SINTER_OK);
    executor = sinter_pool_executor(pool);
    for (size_t i = 0; i < COMMITTERS; i++) {
        all[i] = (committer){.path = path, .number = i, .bed.arena.env = sinter_env_default()};
        cr_assert_eq(executor.submit(executor.ctx, commit_some, &all[i]), SINTER_OK);
    }
    sinter_pool_destroy(pool);
    for (size_t i = 0; i < COMMITTERS; i++) {
        for (size_t c = 0; c < COMMITS; c++) {
            cr_expect_eq(all[i].status[c], SINTER_OK, "%s", all[i].text[c]);
        }
        sinter__arena_fini(&all[i].bed.arena);
    }
    cr_expect_eq(count_live(path), COMMITTERS * COMMITS);
    (void)snprintf(command, sizeof command, "rm -rf %s", path);
    cr_expect_eq(system(command), 0);
}
