#include "sinter/table_stats.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "place.h"
#include "sinter/table_create.h"
#include "sinter/table_write.h"
#include "support/fault_alloc.h"

static sinter_table *
open_table(const sinter_env *env)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_table *table = NULL;

    cr_assert_eq(sinter_table_open(env, &config, &table, NULL), SINTER_OK);
    return table;
}

static void
make_table(place *p, const char *json)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    const sinter_bytes text = {(const uint8_t *)json, strlen(json)};
    sinter_schema *schema = NULL;

    place_init(p, NULL);
    cr_assert_eq(sinter_schema_parse(&p->env, NULL, text, &schema, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_create(&p->env, &config, schema, NULL), SINTER_OK);
    sinter_schema_destroy(schema);
}

/* Commit keys 0 to count - 1, those below `deleted` as deletes. */
static void
write_keys(place *p, int count, int deleted)
{
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_table_writer *writer = NULL;
    sinter_table *table = open_table(&p->env);

    cr_assert_eq(sinter_table_writer_open(table, NULL, &writer, NULL), SINTER_OK);
    for (int i = 0; i < count; i++) {
        const sinter_datum value = {.as.integer = i};

        cr_assert_eq(sinter_table_writer_add(writer,
                                             i < deleted ? SINTER_KIND_DELETE : SINTER_KIND_INSERT,
                                             &value, NULL),
                     SINTER_OK);
    }
    cr_assert_eq(sinter_table_writer_commit(writer, &result, NULL), SINTER_OK);
    sinter_table_writer_close(writer);
    sinter_table_close(table);
}

static void
get_stats(place *p, sinter_table_stats *out)
{
    sinter_table *table = open_table(&p->env);

    out->struct_size = (uint32_t)sizeof *out;
    cr_assert_eq(sinter_table_stats_get(table, NULL, NULL, NULL, out, NULL), SINTER_OK);
    sinter_table_close(table);
}

#define FIELD "\"fields\":[{\"name\":\"k\",\"type\":\"INT\"}]"

Test(table_table_stats, files_of_level_0_are_a_run_each_and_compaction_joins_them)
{
    sinter_table_stats stats = {0};
    place p;

    make_table(&p,
               "{" FIELD ",\"primaryKeys\":[\"k\"],\"options\":{\"bucket\":\"1\",\"file.format\":"
               "\"avro\"}}");
    get_stats(&p, &stats);
    cr_expect(stats.buckets == 0 && stats.sum.files == 0 && stats.has_key);
    write_keys(&p, 5, 0);
    write_keys(&p, 3, 2);
    get_stats(&p, &stats);
    cr_expect(stats.buckets == 1 && stats.sum.files == 2 && stats.sum.rows == 8);
    cr_expect(stats.sum.level0_files == 2 && stats.sum.sorted_runs == 2);
    cr_expect(stats.max_sorted_runs == 2 && stats.sum.top_bytes == 0);
    cr_expect(stats.sum.deleted_rows == 2 && stats.sum.files_after == 1);
    cr_expect(stats.sum.gain_bytes == stats.sum.bytes && stats.sum.bytes > 0);
    cr_expect(stats.class_files[0] == 2 && stats.class_bytes[0] == stats.sum.bytes);
    cr_expect_eq(stats.target_file_bytes, (uint64_t)128 << 20);
    place_fini(&p);
}

Test(table_table_stats, without_a_key_small_files_are_what_compaction_joins)
{
    sinter_table_stats stats = {0};
    place p;

    make_table(&p, "{" FIELD ",\"options\":{\"file.format\":\"avro\"}}");
    write_keys(&p, 2, 0);
    get_stats(&p, &stats);
    cr_expect(stats.sum.files == 1 && stats.sum.files_after == 1 && stats.sum.gain_bytes == 0);
    cr_expect(!stats.has_key && stats.sum.sorted_runs == 0);
    write_keys(&p, 2, 0);
    write_keys(&p, 2, 0);
    get_stats(&p, &stats);
    cr_expect(stats.sum.files == 3 && stats.sum.files_after == 1);
    cr_expect_eq(stats.sum.gain_bytes, stats.sum.bytes);
    cr_expect_eq(stats.target_file_bytes, (uint64_t)256 << 20);
    place_fini(&p);
}

Test(table_table_stats, classes_of_sizes_ascend)
{
    for (size_t i = 1; i < SINTER_FILE_SIZE_CLASSES; i++) {
        cr_expect_lt(sinter_file_size_class_limit(i - 1), sinter_file_size_class_limit(i));
    }
    cr_expect_eq(sinter_file_size_class_limit(SINTER_FILE_SIZE_CLASSES - 1), UINT64_MAX);
    cr_expect_eq(sinter_file_size_class_limit(SINTER_FILE_SIZE_CLASSES), UINT64_MAX);
}

Test(table_table_stats, every_allocation_may_fail)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_status st = SINTER_E_NOMEM;
    place p;

    make_table(&p, "{" FIELD ",\"options\":{\"file.format\":\"avro\"}}");
    write_keys(&p, 1, 0);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_table_stats stats = {.struct_size = (uint32_t)sizeof stats};
        sinter_table *table = NULL;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.io = p.memory;
        st = sinter_table_open(&fault.env, &config, &table, NULL);
        if (st == SINTER_OK) {
            st = sinter_table_stats_get(table, NULL, NULL, NULL, &stats, NULL);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %" PRIu64, n);
        sinter_table_close(table);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    place_fini(&p);
}
