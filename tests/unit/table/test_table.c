#include "sinter/table.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "place.h"
#include "support/fault_alloc.h"

static sinter_status
open_table(place *p, const char *path, const char *branch, sinter_table **out, sinter_error *err)
{
    const sinter_table_config config = {
        .struct_size = (uint32_t)sizeof config, .path = path, .branch = branch};

    return sinter_table_open(&p->env, &config, out, err);
}

static void
expect_snapshot_at(sinter_table *table, int64_t time_ms, int64_t id)
{
    sinter_snapshot *snapshot = NULL;
    const sinter_status st = sinter_table_snapshot_at(table, time_ms, &snapshot, NULL);

    if (id == 0) {
        cr_expect_eq(st, SINTER_E_NOT_FOUND);
        cr_expect_null(snapshot);
        return;
    }
    cr_assert_eq(st, SINTER_OK);
    cr_expect_eq(snapshot->id, id, "at %lld", (long long)time_ms);
    sinter_snapshot_destroy(snapshot);
}

static sinter_status
append_id(void *ctx, int64_t id)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%lld ", (long long)id);
    strcat(ctx, text);
    return SINTER_OK;
}

static sinter_status
append_name(void *ctx, const char *name)
{
    strcat(strcat(ctx, name), " ");
    return strcmp(name, "stop") == 0 ? SINTER_E_CANCELLED : SINTER_OK;
}

Test(table_table, paths_and_file_uris_are_opened_and_others_refused_by_name)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    place p;

    place_init(&p, NULL);
    place_write_schema(&p);
    cr_assert_eq(open_table(&p, "t/", NULL, &table, NULL), SINTER_OK);
    cr_expect_str_eq(sinter_table_path(table), "t");
    cr_expect_null(sinter_table_branch(table));
    cr_expect_eq(sinter_table_schema(table)->id, 0);
    sinter_table_close(table);
    cr_assert_eq(open_table(&p, "file:t", "main", &table, NULL), SINTER_OK);
    sinter_table_close(table);
    cr_expect_eq(open_table(&p, "file:///no", NULL, &table, &err), SINTER_E_NOT_FOUND);
    cr_expect_str_eq(err.file, "/no/schema");
    cr_expect_eq(open_table(&p, "FILE:/no", NULL, &table, &err), SINTER_E_NOT_FOUND);
    cr_expect_eq(open_table(&p, "s3://b/t", NULL, &table, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "s3"));
    cr_expect_eq(open_table(&p, "file://host/t", NULL, &table, &err), SINTER_E_UNSUPPORTED);
    cr_expect_eq(open_table(&p, "", NULL, &table, &err), SINTER_E_INVALID);
    cr_expect_null(table);
    place_fini(&p);
}

Test(table_table, the_newest_schema_counts_and_old_ones_stay_readable)
{
    const sinter_schema *old = NULL;
    const sinter_schema *again = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    place p;

    place_init(&p, NULL);
    place_write_schema(&p);
    cr_assert_eq(open_table(&p, "t", NULL, &table, NULL), SINTER_OK);
    place_write(&p, "t/schema/schema-1",
                "{\"id\":1,\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":\"INT NOT NULL\"}],"
                "\"highestFieldId\":1,\"partitionKeys\":[],\"primaryKeys\":[\"k\"]}");
    cr_expect_eq(sinter_table_schema(table)->id, 0);
    cr_assert_eq(sinter_table_refresh(table, NULL), SINTER_OK);
    cr_expect_eq(sinter_table_schema(table)->id, 1);
    cr_assert_eq(sinter_table_schema_get(table, 0, &old, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_schema_get(table, 0, &again, NULL), SINTER_OK);
    cr_expect_eq(old, again);
    cr_expect_eq(sinter_row_type_count(old->row_type), 2);
    cr_expect_eq(sinter_table_schema_get(table, 5, &old, &err), SINTER_E_NOT_FOUND);
    place_write(&p, "t/schema/schema-7",
                "{\"id\":1,\"fields\":[{\"name\":\"k\",\"type\":\"INT\"}],"
                "\"highestFieldId\":1}");
    cr_expect_eq(sinter_table_refresh(table, &err), SINTER_E_CORRUPT);
    cr_expect_str_eq(err.file, "t/schema/schema-7");
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table, snapshots_are_found_by_number_tag_and_time)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_snapshot *snapshot = NULL;
    sinter_table *table = NULL;
    char ids[64] = "";
    int64_t id = 0;
    place p;

    place_init(&p, NULL);
    place_write_schema(&p);
    cr_assert_eq(open_table(&p, "t", NULL, &table, NULL), SINTER_OK);
    cr_expect_eq(sinter_table_latest_id(table, &id, NULL), SINTER_END);
    cr_expect_eq(sinter_table_earliest_id(table, &id, NULL), SINTER_END);
    place_write_snapshot(&p, 10, 1000);
    place_write_snapshot(&p, 9, 900);
    place_write_snapshot(&p, 11, 950); /* a clock that went back */
    place_write_snapshot(&p, 12, 1200);
    place_write(&p, "t/snapshot/LATEST", "11");
    place_write(&p, "t/snapshot/EARLIEST", "8");
    cr_assert_eq(sinter_table_latest_id(table, &id, NULL), SINTER_OK);
    cr_expect_eq(id, 12);
    cr_assert_eq(sinter_table_earliest_id(table, &id, NULL), SINTER_OK);
    cr_expect_eq(id, 9);
    cr_assert_eq(sinter_table_each_snapshot(table, append_id, ids, NULL), SINTER_OK);
    cr_expect_str_eq(ids, "9 10 11 12 ");
    expect_snapshot_at(table, 899, 0);
    expect_snapshot_at(table, 900, 9);
    expect_snapshot_at(table, 1000, 11);
    expect_snapshot_at(table, 5000, 12);
    cr_expect_eq(sinter_table_snapshot_get(table, 8, &snapshot, &err), SINTER_E_EXPIRED);
    cr_expect_eq(sinter_table_snapshot_get(table, 13, &snapshot, &err), SINTER_E_NOT_FOUND);
    place_write(&p, "t/snapshot/snapshot-13", "{\"id\":");
    cr_expect_eq(sinter_table_snapshot_get(table, 13, &snapshot, &err), SINTER_E_CORRUPT);
    cr_expect_str_eq(err.file, "t/snapshot/snapshot-13");
    place_write(&p, "t/snapshot/snapshot-14",
                "{\"id\":1,\"schemaId\":0,\"baseManifestList\":\"a\",\"deltaManifestList\":\"b\","
                "\"commitUser\":\"u\",\"commitIdentifier\":1,\"commitKind\":\"APPEND\","
                "\"timeMillis\":0}");
    cr_expect_eq(sinter_table_snapshot_get(table, 14, &snapshot, &err), SINTER_E_CORRUPT);
    cr_expect_null(snapshot);
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table, tags_and_branches_are_listed_in_order)
{
    static const char *const tagged =
        "{\"id\":4,\"schemaId\":0,\"baseManifestList\":\"a\",\"deltaManifestList\":\"b\","
        "\"commitUser\":\"u\",\"commitIdentifier\":1,\"commitKind\":\"APPEND\",\"timeMillis\":0,"
        "\"tagCreateTime\":[2024,1,2,3,4,5,6],\"tagTimeRetained\":90000.000000000}";
    sinter_error err = SINTER_ERROR_INIT;
    sinter_snapshot *snapshot = NULL;
    sinter_table *table = NULL;
    char names[64] = "";
    place p;

    place_init(&p, NULL);
    place_write_schema(&p);
    cr_assert_eq(open_table(&p, "t", NULL, &table, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_each_tag(table, append_name, names, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_each_branch(table, append_name, names, NULL), SINTER_OK);
    cr_expect_str_eq(names, "");
    place_write(&p, "t/tag/tag-v2", tagged);
    place_write(&p, "t/tag/tag-v10", tagged);
    place_write(&p, "t/tag/tag-", tagged);
    place_write(&p, "t/tag/.tag-x.tmp", tagged);
    cr_assert_eq(sinter_table_each_tag(table, append_name, names, NULL), SINTER_OK);
    cr_expect_str_eq(names, "v10 v2 ");
    cr_assert_eq(sinter_table_snapshot_of_tag(table, "v2", &snapshot, &err), SINTER_OK, "%s",
                 err.text);
    cr_expect_eq(snapshot->id, 4);
    sinter_snapshot_destroy(snapshot);
    cr_expect_eq(sinter_table_snapshot_of_tag(table, "v3", &snapshot, &err), SINTER_E_NOT_FOUND);
    cr_expect_not_null(strstr(err.text, "v3"));
    cr_expect_eq(sinter_table_snapshot_of_tag(table, "../x", &snapshot, &err), SINTER_E_INVALID);
    place_write(&p, "t/branch/branch-b/schema/schema-0", "");
    place_write(&p, "t/branch/branch-stop/schema/schema-0", "");
    place_write(&p, "t/branch/branch-z/schema/schema-0", "");
    names[0] = '\0';
    cr_expect_eq(sinter_table_each_branch(table, append_name, names, NULL), SINTER_E_CANCELLED);
    cr_expect_str_eq(names, "b stop ");
    sinter_table_close(table);
    place_fini(&p);
}

Test(table_table, a_branch_has_schemas_and_snapshots_of_its_own)
{
    static const char *const schema =
        "{\"id\":1,\"fields\":[{\"id\":0,\"name\":\"b\",\"type\":\"INT\"}],\"highestFieldId\":0,"
        "\"partitionKeys\":[],\"primaryKeys\":[]}";
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;
    int64_t id = 0;
    place p;

    place_init(&p, NULL);
    place_write_schema(&p);
    place_write_snapshot(&p, 1, 1);
    place_write(&p, "t/branch/branch-dev/schema/schema-1", schema);
    cr_assert_eq(open_table(&p, "t", "dev", &table, NULL), SINTER_OK);
    cr_expect_str_eq(sinter_table_branch(table), "dev");
    cr_expect_str_eq(sinter_table_path(table), "t");
    cr_expect_str_eq(sinter_row_type_column_name(sinter_table_schema(table)->row_type, 0), "b");
    cr_expect_eq(sinter_table_latest_id(table, &id, NULL), SINTER_END);
    sinter_table_close(table);
    cr_expect_eq(open_table(&p, "t", "no", &table, &err), SINTER_E_NOT_FOUND);
    cr_expect_eq(open_table(&p, "t", "../../t", &table, &err), SINTER_E_INVALID);
    place_fini(&p);
}

Test(table_table, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_snapshot *snapshot = NULL;
        sinter_table *table = NULL;
        fault_alloc fault;
        place p;

        fault_alloc_init(&fault, n);
        place_init(&p, &fault.env);
        place_write_schema(&p);
        place_write_snapshot(&p, 1, 1);
        place_write(&p, "t/tag/tag-a", "{}");
        st = open_table(&p, "t", NULL, &table, NULL);
        if (st == SINTER_OK) {
            char names[64] = "";

            st = sinter_table_each_tag(table, append_name, names, NULL);
        }
        if (st == SINTER_OK) {
            st = sinter_table_snapshot_at(table, 1, &snapshot, NULL);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "%d at %llu", (int)st,
                  (unsigned long long)n);
        sinter_snapshot_destroy(snapshot);
        sinter_table_close(table);
        cr_assert_eq(fault.live, 0);
        place_fini(&p);
        cr_assert_lt(n, 200);
    }
}
