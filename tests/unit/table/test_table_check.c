#include "sinter/table_check.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "place.h"
#include "sinter/io.h"
#include "sinter/rows.h"
#include "sinter/table_create.h"
#include "sinter/table_write.h"
#include "support/fault_alloc.h"
#include "table/live_files.h"
#include "table/manifest.h"
#include "table/manifest_list.h"

static const char *const schema_json =
    "{\"fields\":[{\"name\":\"k\",\"type\":\"INT\"},{\"name\":\"v\",\"type\":\"STRING\"}],"
    "\"primaryKeys\":[\"k\"],\"options\":{\"file.format\":\"avro\",\"bucket\":\"1\"}}";

static sinter_table *
open_table(const sinter_env *env)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_table *table = NULL;

    cr_assert_eq(sinter_table_open(env, &config, &table, &err), SINTER_OK, "%s", err.text);
    return table;
}

static void
write_rows(const sinter_env *env, int first, int count)
{
    sinter_table_write_result result = {.struct_size = (uint32_t)sizeof result};
    sinter_table_writer *writer = NULL;
    sinter_table *table = open_table(env);
    sinter_datum values[2] = {0};

    cr_assert_eq(sinter_table_writer_open(table, NULL, &writer, NULL), SINTER_OK);
    for (int i = 0; i < count; i++) {
        values[0].as.integer = first + i;
        values[1].is_null = i == 1;
        values[1].as.bytes = (sinter_bytes){(const uint8_t *)"abcdefgh" + i, 1};
        cr_assert_eq(sinter_table_writer_add(writer, SINTER_KIND_INSERT, values, NULL), SINTER_OK);
    }
    cr_assert_eq(sinter_table_writer_commit(writer, &result, NULL), SINTER_OK);
    sinter_table_writer_close(writer);
    sinter_table_close(table);
}

/* A table of two files of level 0: keys 0 to 2, and 1 to 3. */
static void
make_table(place *p)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    const sinter_bytes json = {(const uint8_t *)schema_json, strlen(schema_json)};
    sinter_schema *schema = NULL;

    place_init(p, NULL);
    cr_assert_eq(sinter_schema_parse(&p->env, NULL, json, &schema, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_create(&p->env, &config, schema, NULL), SINTER_OK);
    sinter_schema_destroy(schema);
    write_rows(&p->env, 0, 3);
    write_rows(&p->env, 1, 3);
}

/* What was told. */
typedef struct told {
    size_t count;
    char first[1024];
} told;

static void
take_fault(void *ctx, sinter_status status, const sinter_error *err)
{
    told *to = ctx;

    cr_expect_neq(status, SINTER_OK);
    if (to->count++ == 0) {
        (void)snprintf(to->first, sizeof to->first, "%s: %s", err->file, err->text);
    }
}

static sinter_status
check_of(const sinter_env *env, uint32_t flags, told *faults, sinter_table_check_result *result)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    const sinter_table_check_options options = {.struct_size = (uint32_t)sizeof options,
                                                .flags = flags,
                                                .fault = take_fault,
                                                .ctx = faults};
    sinter_table *table = NULL;
    sinter_status st = sinter_table_open(env, &config, &table, NULL);

    result->struct_size = (uint32_t)sizeof *result;
    if (st == SINTER_OK) {
        st = sinter_table_check(table, &options, result, NULL);
    }
    sinter_table_close(table);
    return st;
}

static void
expect_fault(place *p, const char *word)
{
    sinter_table_check_result result = {0};
    told faults = {0};

    cr_assert_eq(check_of(&p->env, 0, &faults, &result), SINTER_OK);
    cr_expect_eq(result.faults, faults.count);
    cr_expect_eq(faults.count, 1, "%zu: %s", faults.count, faults.first);
    cr_expect_not_null(strstr(faults.first, word), "%s", faults.first);
    place_fini(p);
}

/* ---- damage ---- */

/* What a snapshot says, where it isn't what is so. */
typedef struct lies {
    int64_t total; /* added to the true numbers */
    int64_t list_size;
    void (*edit)(sinter__manifest_entry *entries, size_t count);
} lies;

static void
write_list(place *p, const char *name, const sinter__manifest_meta *items, size_t count,
           uint64_t *size)
{
    sinter__meta_write how = {.path = name};

    cr_assert_eq(sinter__meta_codec("null", 0, &how.codec, NULL), SINTER_OK);
    cr_assert_eq(sinter__manifest_list_write(&p->env, &how, items, count, size, NULL), SINTER_OK);
}

static void
write_snapshot(place *p, int64_t rows, uint64_t base, uint64_t delta)
{
    char text[600];

    (void)snprintf(text, sizeof text,
                   "{\"version\":3,\"id\":3,\"schemaId\":0,\"baseManifestList\":\"base\","
                   "\"baseManifestListSize\":%" PRIu64 ",\"deltaManifestList\":\"delta\","
                   "\"deltaManifestListSize\":%" PRIu64
                   ",\"changelogManifestList\":null,\"commitUser\":\"u\",\"commitIdentifier\":1,"
                   "\"commitKind\":\"APPEND\",\"timeMillis\":0,\"totalRecordCount\":%" PRId64
                   ",\"deltaRecordCount\":0,\"changelogRecordCount\":0}",
                   base, delta, rows);
    place_write(p, "t/snapshot/snapshot-3", text);
}

/* Make a third snapshot of the same files, with entries and numbers that were changed. */
static void
damage(place *p, const lies *what)
{
    sinter__manifest_entry entries[2];
    const sinter__manifest_entry *pointers[2] = {&entries[0], &entries[1]};
    sinter__meta_write how = {.path = "t/manifest/manifest-x"};
    sinter__manifest_meta meta = {0};
    sinter__live_files *files = NULL;
    sinter_snapshot *snapshot = NULL;
    sinter_table *table = NULL;
    uint64_t base = 0;
    uint64_t delta = 0;
    size_t count = 0;
    int64_t rows = 0;

    make_table(p);
    table = open_table(&p->env);
    cr_assert_eq(sinter_table_snapshot_get(table, 2, &snapshot, NULL), SINTER_OK);
    cr_assert_eq(sinter__live_files_read(table, snapshot, &files, NULL), SINTER_OK);
    for (size_t i = 0; i < 2; i++) {
        entries[i] = *sinter__live_files_buckets(files, &count)[0].entries[i];
    }
    if (what->edit != NULL) {
        what->edit(entries, 2);
    }
    rows = entries[0].file.row_count + entries[1].file.row_count;
    cr_assert_eq(sinter__meta_codec("null", 0, &how.codec, NULL), SINTER_OK);
    cr_assert_eq(sinter__manifest_write(&p->env, &how, pointers, 2, &meta, NULL), SINTER_OK);
    write_list(p, "t/manifest/base", &meta, 1, &base);
    write_list(p, "t/manifest/delta", NULL, 0, &delta);
    write_snapshot(p, rows + what->total, base + (uint64_t)what->list_size, delta);
    sinter__live_files_destroy(files);
    sinter_snapshot_destroy(snapshot);
    sinter_table_close(table);
}

static void
edit_row_count(sinter__manifest_entry *entries, size_t count)
{
    (void)count;
    entries[1].file.row_count++;
}

static void
edit_delete_count(sinter__manifest_entry *entries, size_t count)
{
    (void)count;
    entries[1].file.delete_row_count = 1;
}

static void
edit_levels(sinter__manifest_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        entries[i].file.level = 5;
    }
}

static void
edit_max_value(sinter__manifest_entry *entries, size_t count)
{
    (void)count;
    entries[0].file.value_stats.max_values = entries[0].file.value_stats.min_values;
}

static void
edit_min_key(sinter__manifest_entry *entries, size_t count)
{
    (void)count;
    entries[0].file.min_key = entries[0].file.max_key;
}

static void
edit_nulls(sinter__manifest_entry *entries, size_t count)
{
    static const int64_t nulls[] = {0, 0};

    (void)count;
    entries[0].file.value_stats.null_counts = (sinter__int64_list){nulls, 2};
}

static void
edit_sequence(sinter__manifest_entry *entries, size_t count)
{
    (void)count;
    entries[0].file.max_sequence = 1;
}

static void
edit_size(sinter__manifest_entry *entries, size_t count)
{
    (void)count;
    entries[0].file.file_size--;
}

static void
edit_name(sinter__manifest_entry *entries, size_t count)
{
    (void)count;
    entries[0].file.file_name = (sinter_bytes){(const uint8_t *)"data-gone.avro", 14};
}

static void
edit_bucket(sinter__manifest_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        entries[i].total_buckets = 7;
    }
}

/* Where the files of a table outside may not be: no directory is told. */
static void
edit_external(sinter__manifest_entry *entries, size_t count)
{
    static const sinter_bytes extra = {(const uint8_t *)"gone.index", 10};

    (void)count;
    entries[0].file.has |= SINTER__FILE_HAS_EXTERNAL_PATH;
    entries[0].file.external_path = (sinter_bytes){(const uint8_t *)"gone.avro", 9};
    entries[0].file.extra_files = (sinter__bytes_list){&extra, 1};
}

/* ---- tests ---- */

Test(table_table_check, a_table_that_was_written_is_sound)
{
    sinter_table_check_result result = {0};
    told faults = {0};
    place p;

    make_table(&p);
    cr_assert_eq(check_of(&p.env, SINTER_CHECK_ALL, &faults, &result), SINTER_OK);
    cr_expect_eq(faults.count, 0, "%s", faults.first);
    cr_expect(result.snapshots == 2 && result.data_files == 2 && result.rows == 6);
    cr_expect(result.lists == 4 && result.manifests == 2 && result.bytes > 0);
    place_fini(&p);
    damage(&p, &(lies){0});
    cr_assert_eq(check_of(&p.env, 0, &faults, &result), SINTER_OK);
    cr_expect_eq(faults.count, 0, "%s", faults.first);
    place_fini(&p);
}

Test(table_table_check, what_metadata_says_wrongly_is_found)
{
    static const struct {
        lies what;
        const char *word;
    } cases[] = {
        {{.edit = edit_row_count}, "3 rows, 4 on record"},
        {{.edit = edit_delete_count}, "0 rows delete, 1 on record"},
        {{.edit = edit_levels}, "overlaps"},
        {{.edit = edit_max_value}, "above the largest"},
        {{.edit = edit_min_key}, "first key"},
        {{.edit = edit_nulls}, "1 nulls, 0"},
        {{.edit = edit_sequence}, "sequence numbers"},
        {{.edit = edit_size}, "on record"},
        {{.edit = edit_name}, "data-gone.avro"},
        {{.total = 1}, "totalRecordCount"},
        {{.list_size = 1}, "base"},
    };
    place p;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        damage(&p, &cases[i].what);
        expect_fault(&p, cases[i].word);
    }
}

Test(table_table_check, rows_of_another_bucket_are_found)
{
    sinter_table_check_result result = {0};
    told faults = {0};
    place p;

    damage(&p, &(lies){.edit = edit_bucket});
    cr_assert_eq(check_of(&p.env, 0, &faults, &result), SINTER_OK);
    cr_expect_gt(faults.count, 0);
    cr_expect_not_null(strstr(faults.first, "of bucket"), "%s", faults.first);
    place_fini(&p);
}

Test(table_table_check, files_beside_one_outside_without_a_directory_are_looked_for)
{
    sinter_table_check_result result = {0};
    told faults = {0};
    place p;

    damage(&p, &(lies){.edit = edit_external});
    cr_assert_eq(check_of(&p.env, 0, &faults, &result), SINTER_OK);
    cr_expect_eq(faults.count, 2, "the file and its index: %zu", faults.count);
    cr_expect_eq(strncmp(faults.first, "gone.avro: ", 11), 0, "%s", faults.first);
    place_fini(&p);
}

static sinter_status
flip_one(void *ctx, const char *name)
{
    place *p = ctx;
    sinter_io *io = p->memory;
    sinter_io_file *file = NULL;
    uint8_t bytes[4096];
    uint64_t size = 0;
    char path[256];

    (void)snprintf(path, sizeof path, "t/bucket-0/%s", name);
    cr_assert_eq(io->ops->open(io, path, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->size(file, &size, NULL), SINTER_OK);
    cr_assert(size <= sizeof bytes);
    cr_assert_eq(
        file->ops->read(file, &(sinter_io_range){.data = bytes, .size = (size_t)size}, 1, NULL),
        SINTER_OK);
    file->ops->close(file);
    bytes[size - 1] ^= 1; /* in the marker behind the last block */
    cr_assert_eq(io->ops->replace(io, path, bytes, (size_t)size, NULL), SINTER_OK);
    return SINTER_E_CANCELLED; /* one is enough */
}

Test(table_table_check, a_flipped_byte_of_a_data_file_is_found_where_the_format_tells)
{
    sinter_table_check_result result = {0};
    told faults = {0};
    place p;

    make_table(&p);
    cr_assert_eq(p.memory->ops->list(p.memory, "t/bucket-0", flip_one, &p, NULL),
                 SINTER_E_CANCELLED);
    cr_assert_eq(check_of(&p.env, SINTER_CHECK_METADATA_ONLY, &faults, &result), SINTER_OK);
    cr_expect(faults.count == 0 && result.rows == 0, "nothing was read");
    expect_fault(&p, ".avro");
}

Test(table_table_check, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    place p;

    make_table(&p);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_table_check_result result = {0};
        told faults = {0};
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.io = p.memory;
        st = check_of(&fault.env, 0, &faults, &result);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %" PRIu64, n);
        cr_expect_eq(faults.count, 0, "no memory is no fault of the table: %s", faults.first);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    place_fini(&p);
}

Test(table_table_check, every_call_of_the_io_may_fail)
{
    bool came_to_it = true;
    place p;

    make_table(&p);
    for (uint64_t n = 0; came_to_it; n++) {
        const sinter_fault_options rule = {
            .struct_size = (uint32_t)sizeof rule, .kind = SINTER_FAULT_EIO, .at_call = n};
        sinter_table_check_result result = {0};
        sinter_io *faulty = NULL;
        sinter_env env = p.env;
        told faults = {0};
        sinter_status st = SINTER_OK;

        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), p.memory, &rule, &faulty, NULL),
                     SINTER_OK);
        env.io = faulty;
        st = check_of(&env, SINTER_CHECK_ALL, &faults, &result);
        came_to_it = sinter_io_fault_calls(faulty) > n;
        cr_expect(st == SINTER_OK || st == SINTER_E_IO, "call %" PRIu64, n);
        cr_expect_eq(faults.count, st == SINTER_OK && came_to_it ? 1 : 0,
                     "call %" PRIu64 ": %zu faults, %s", n, faults.count, faults.first);
        cr_expect_neq(faults.first[0], ':', "call %" PRIu64 " names no file%s", n, faults.first);
        sinter_io_destroy(faulty);
    }
    place_fini(&p);
}
