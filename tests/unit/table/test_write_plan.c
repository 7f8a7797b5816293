#include "table/write_plan.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "format/columnar_abi.h"
#include "place.h"
#include "sinter/table.h"
#include "support/fault_alloc.h"

/** A table of columns p INT NOT NULL, k INT NOT NULL, v STRING, partitioned by p. */
typedef struct bed {
    place place;
    sinter_table *table;
    sinter__table_options options;
    sinter__write_plan plan;
    sinter_error err;
    sinter_status status;
} bed;

/* Make the plan of a table with these options, as JSON members. */
static void
open_bed(bed *b, const char *keys, const char *options)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
    char text[1024];

    memset(b, 0, sizeof *b);
    place_init(&b->place, NULL);
    (void)snprintf(text, sizeof text,
                   "{\"version\":3,\"id\":0,\"fields\":["
                   "{\"id\":0,\"name\":\"p\",\"type\":\"INT NOT NULL\"},"
                   "{\"id\":3,\"name\":\"k\",\"type\":\"INT NOT NULL\"},"
                   "{\"id\":4,\"name\":\"v\",\"type\":\"STRING\"}],"
                   "\"highestFieldId\":4,\"partitionKeys\":[\"p\"],\"primaryKeys\":[%s],"
                   "\"options\":{%s},\"timeMillis\":0}",
                   keys, options);
    place_write(&b->place, "t/schema/schema-0", text);
    cr_assert_eq(sinter_table_open(&b->place.env, &config, &b->table, NULL), SINTER_OK);
    cr_assert_eq(sinter__table_options_load(sinter_table_schema(b->table), &b->options, NULL),
                 SINTER_OK);
    b->plan.arena.env = &b->place.env;
    b->err = (sinter_error)SINTER_ERROR_INIT;
    b->status =
        sinter__write_plan_init(&b->plan, sinter_table_schema(b->table), &b->options, &b->err);
}

static void
close_bed(bed *b)
{
    sinter__write_plan_fini(&b->plan);
    sinter_table_close(b->table);
    place_fini(&b->place);
}

static const char keys[] = "\"p\",\"k\"";

Test(table_write_plan, files_have_key_sequence_kind_and_all_columns)
{
    static const struct {
        const char *name;
        int64_t id;
        bool nullable;
    } fields[] = {{"_KEY_k", 1073741826, false},
                  {"_SEQUENCE_NUMBER", 2147483646, false},
                  {"_VALUE_KIND", 2147483645, false},
                  {"p", 0, false},
                  {"k", 3, false},
                  {"v", 4, true}};
    bed b;

    open_bed(&b, keys, "");
    cr_assert_eq(b.status, SINTER_OK, "%s", b.err.text);
    cr_assert_eq(b.plan.field_count, 6);
    cr_expect_eq(b.plan.system_count, 3);
    for (size_t i = 0; i < b.plan.field_count; i++) {
        cr_expect_str_eq(b.plan.fields[i].name, fields[i].name);
        cr_expect_eq(b.plan.fields[i].id, fields[i].id);
        cr_expect_eq(b.plan.fields[i].type.nullable, fields[i].nullable);
    }
    close_bed(&b);
    open_bed(&b, "", "");
    cr_expect_eq(b.plan.field_count, 3, "tables without key have their columns only");
    close_bed(&b);
    open_bed(&b, keys, "\"data-file.thin-mode\":\"true\"");
    cr_expect_eq(b.plan.field_count, 5);
    cr_expect_str_eq(b.plan.fields[0].name, "_SEQUENCE_NUMBER");
    close_bed(&b);
}

Test(table_write_plan, levels_have_formats_and_codecs_of_their_own)
{
    const sinter__file_form *form = NULL;
    bed b;

    open_bed(&b, keys,
             "\"file.format.per.level\":\"0:avro,5:orc\","
             "\"file.compression.per.level\":\"0:snappy, 3:none\","
             "\"file.suffix.include.compression\":\"true\","
             "\"file.block-size\":\"32 mb\"");
    cr_assert_eq(b.status, SINTER_OK, "%s", b.err.text);
    form = sinter__write_plan_form(&b.plan, 0);
    cr_expect_eq(form->kind, SINTER__FILE_AVRO);
    cr_expect_eq(form->codec, SINTER__AVRO_CODEC_SNAPPY);
    cr_expect_str_eq(form->extension, ".snappy.avro");
    form = sinter__write_plan_form(&b.plan, 1);
    cr_expect_str_eq(form->extension, ".zstd.parquet");
    cr_expect_eq(form->codec, SINTER__COLUMNAR_ZSTD);
    cr_expect_eq(form->codec_level, 1);
    cr_expect_eq(form->group_bytes, 32 << 20);
    cr_expect_str_eq(sinter__write_plan_form(&b.plan, 3)->extension, ".none.parquet");
    form = sinter__write_plan_form(&b.plan, 5);
    cr_expect_eq(form->kind, SINTER__FILE_ORC);
    cr_expect_str_eq(form->extension, ".zstd.orc");
    close_bed(&b);
}

Test(table_write_plan, files_without_keys_have_no_form_of_a_level)
{
    const sinter__file_form *form = NULL;
    bed b;

    open_bed(&b, "",
             "\"file.format.per.level\":\"0:avro\",\"file.compression.per.level\":\"0:snappy\","
             "\"metadata.stats-mode.per.level\":\"0:none\","
             "\"file.suffix.include.compression\":\"true\"");
    cr_assert_eq(b.status, SINTER_OK, "%s", b.err.text);
    form = sinter__write_plan_form(&b.plan, 0);
    cr_expect_str_eq(form->extension, ".zstd.parquet");
    cr_expect_eq(form->modes[0].kind, SINTER__STATS_TRUNCATE);
    close_bed(&b);
}

Test(table_write_plan, options_of_the_formats_are_honoured)
{
    bed b;

    open_bed(&b, "",
             "\"file.compression.zstd-level\":\"9\",\"parquet.page.size\":\"4096\","
             "\"parquet.block.size\":\"1048576\",\"parquet.enable.dictionary\":\"false\"");
    cr_assert_eq(b.status, SINTER_OK, "%s", b.err.text);
    cr_expect_eq(b.plan.form.codec_level, 9);
    cr_expect_eq(b.plan.form.page_bytes, 4096);
    cr_expect_eq(b.plan.form.group_bytes, 1 << 20);
    cr_expect(b.plan.form.no_dictionary);
    cr_expect_str_eq(b.plan.form.extension, ".parquet");
    close_bed(&b);
}

Test(table_write_plan, external_paths_are_those_that_the_strategy_takes)
{
    static const char list[] = "\"data-file.external-paths\":\"file:///a//b/ , "
                               "FILE:/c\",\"data-file.external-paths.strategy\":";
    static const char specific[] =
        "\"specific-fs\",\"data-file.external-paths.specific-fs\":\"file\"";
    static const char *const strategies[] = {"\"None\"", "\"ROUND-ROBIN\"", specific};

    for (size_t i = 0; i < 3; i++) {
        char options[320];
        bed b;

        (void)snprintf(options, sizeof options, "%s%s", list, strategies[i]);
        open_bed(&b, keys, options);
        cr_assert_eq(b.status, SINTER_OK, "%s", b.err.text);
        cr_assert_eq(b.plan.external.count, i == 0 ? 0 : 2);
        for (size_t d = 0; d < b.plan.external.count; d++) {
            cr_expect_str_eq(b.plan.external.dirs[d], d == 0 ? "/a/b" : "/c");
        }
        close_bed(&b);
    }
}

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

Test(table_write_plan, paths_of_metadata_are_local_ones_or_refused)
{
    static const struct {
        const char *whole;
        const char *beside;
        const char *local;
    } cases[] = {{"file:/a/b/x.avro", "", ">/a/b/x.avro"},
                 {"file:///a/b/x.avro", "x.index", ">/a/b/x.index"},
                 {"/a:b/x.avro", "x.index", ">/a:b/x.index"},
                 {"x.avro", "x.index", ">x.index"},
                 {"file:x.avro", "x.index", ">x.index"}};
    sinter_text path;

    sinter_text_init(sinter_env_default(), &path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinter_text_reset(&path);
        cr_assert_eq(sinter_text_append(&path, ">", 1, NULL), SINTER_OK);
        cr_assert_eq(sinter__external_path_local(bytes_of(cases[i].whole),
                                                 bytes_of(cases[i].beside), &path, NULL),
                     SINTER_OK);
        cr_expect_str_eq(path.data, cases[i].local);
    }
    cr_expect_eq(
        sinter__external_path_local(bytes_of("s3://b/x.avro"), bytes_of("x.index"), &path, NULL),
        SINTER_E_UNSUPPORTED);
    sinter_text_fini(&path);
}

#define ROUND_ROBIN ",\"data-file.external-paths.strategy\":\"round-robin\""

Test(table_write_plan, what_cannot_be_honoured_is_refused_with_key_and_value)
{
    static const struct {
        const char *key;
        const char *value;
        const char *other; /* option that goes with it */
        sinter_status status;
    } wrong[] = {
        {"file.format", "csv", "", SINTER_E_UNSUPPORTED},
        {"file.format.per.level", "0:csv", "", SINTER_E_UNSUPPORTED},
        {"file.compression", "lzo", "", SINTER_E_UNSUPPORTED},
        {"file.compression.per.level", "2:brotli", "", SINTER_E_UNSUPPORTED},
        {"file.compression.per.level", "2=none", "", SINTER_E_INVALID},
        {"file.compression.zstd-level", "7", ",\"file.format\":\"orc\"", SINTER_E_UNSUPPORTED},
        {"file.compression.zstd-level", "none", "", SINTER_E_INVALID},
        {"file.compression.zstd-level", "99", "", SINTER_E_INVALID},
        {"parquet.writer.version", "PARQUET_2_0", "", SINTER_E_UNSUPPORTED},
        {"parquet.bloom.filter.enabled", "true", "", SINTER_E_UNSUPPORTED},
        {"orc.bloom.filter.columns", "v", ",\"file.format\":\"orc\"", SINTER_E_UNSUPPORTED},
        {"file-index.lumina.columns", "v", "", SINTER_E_UNSUPPORTED},
        {"file-index.bsi.columns", "v", "", SINTER_E_UNSUPPORTED},
        {"file-index.bitmap.columns", "w", "", SINTER_E_INVALID},
        {"file-index.bitmap.columns", "v[a]", "", SINTER_E_UNSUPPORTED},
        {"file-index.bitmap.columns", "v,,k", "", SINTER_E_INVALID},
        {"file-index.bitmap.k.version", "2", ",\"file-index.bitmap.columns\":\"v\"",
         SINTER_E_INVALID},
        {"file-index.bitmap.v.version", "3", ",\"file-index.bitmap.columns\":\"v\"",
         SINTER_E_INVALID},
        {"file-index.bloom-filter.v.fpp", "1", ",\"file-index.bloom-filter.columns\":\"v\"",
         SINTER_E_INVALID},
        {"file-index.bloom-filter.v.items", "0", ",\"file-index.bloom-filter.columns\":\"v\"",
         SINTER_E_INVALID},
        {"file-index.range-bitmap.v.chunk-size", "4 gb",
         ",\"file-index.range-bitmap.columns\":\"v\"", SINTER_E_INVALID},
        {"file-index.in-manifest-threshold", "few", "", SINTER_E_INVALID},
        {"row-tracking.enabled", "true", "", SINTER_E_UNSUPPORTED}, /* with a key */
        {"data-file.external-paths", "s3://b/c", ROUND_ROBIN, SINTER_E_UNSUPPORTED},
        {"data-file.external-paths", "file:x", ROUND_ROBIN, SINTER_E_UNSUPPORTED},
        {"data-file.external-paths", "file:///", ROUND_ROBIN, SINTER_E_UNSUPPORTED},
        {"data-file.external-paths", "/x", ROUND_ROBIN, SINTER_E_INVALID},
        {"data-file.external-paths.strategy", "entropy-inject",
         ",\"data-file.external-paths\":\"file:/x\"", SINTER_E_UNSUPPORTED},
        {"data-file.external-paths.specific-fs", "oss",
         ",\"data-file.external-paths\":\"file:/x\","
         "\"data-file.external-paths.strategy\":\"specific-fs\"",
         SINTER_E_INVALID},
        {"file.block-size", "many", "", SINTER_E_INVALID},
        {"metadata.stats-mode", "some", "", SINTER_E_INVALID},
        {"metadata.stats-mode.per.level", "0:some", "", SINTER_E_INVALID},
        {"fields.v.stats-mode", "truncate(x)", "", SINTER_E_INVALID}};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *colon = strchr(wrong[i].value, ':');
        const char *named = colon == NULL ? wrong[i].value : colon + 1;
        char options[320];
        bed b;

        (void)snprintf(options, sizeof options, "\"%s\":\"%s\"%s", wrong[i].key, wrong[i].value,
                       wrong[i].other);
        open_bed(&b, keys, options);
        cr_expect_eq(b.status, wrong[i].status, "%s: %s", options, b.err.text);
        cr_expect_not_null(strstr(b.err.text, wrong[i].key), "%s", b.err.text);
        cr_expect_not_null(strstr(b.err.text, named), "%s", b.err.text);
        close_bed(&b);
    }
}

static void
expect_modes_of_level(const char *options, int32_t level, const char *expected)
{
    static const char letters[] = "-ctf";
    char found[64] = "";
    bed b;

    open_bed(&b, keys, options);
    cr_assert_eq(b.status, SINTER_OK, "%s: %s", options, b.err.text);
    for (size_t i = 0; i < b.plan.field_count; i++) {
        const sinter__stats_mode *mode = &sinter__write_plan_form(&b.plan, level)->modes[i];
        char text[8];

        (void)snprintf(text, sizeof text, "%c%.3u", letters[mode->kind], mode->length % 1000);
        (void)strcat(found, text);
    }
    cr_expect_str_eq(found, expected, "%s", options);
    close_bed(&b);
}

static void
expect_modes(const char *options, const char *expected)
{
    expect_modes_of_level(options, 5, expected);
}

Test(table_write_plan, statistics_are_kept_as_options_say)
{
    expect_modes("", "t128t128t128t016t016t016");
    expect_modes("\"metadata.stats-mode\":\"none\",\"fields.v.stats-mode\":\"counts\"",
                 "t128t128t128-000-000c000");
    expect_modes("\"metadata.stats-mode\":\"full\"", "t128t128t128f000f000f000");
    /* Where a file has no keys of its own, those of the table serve. */
    expect_modes("\"data-file.thin-mode\":\"true\"", "t128t128t016t128t016");
}

Test(table_write_plan, as_many_columns_have_statistics_as_are_asked_for)
{
    expect_modes("\"metadata.stats-keep-first-n-columns\":\"1\"", "t128t128t128t016-000-000");
    expect_modes("\"metadata.stats-keep-first-n-columns\":\"0\"", "t128t128t128-000-000-000");
    expect_modes("\"metadata.stats-keep-first-n-columns\":\"1\",\"fields.v.stats-mode\":\"full\"",
                 "t128t128t128t016-000f000");
    expect_modes("\"metadata.stats-keep-first-n-columns\":\"-1\"", "t128t128t128t016t016t016");
    /* A column with a mode of its own counts, one that serves as key doesn't. */
    expect_modes("\"data-file.thin-mode\":\"true\",\"metadata.stats-keep-first-n-columns\":\"1\"",
                 "t128t128t016t128-000");
    expect_modes("\"data-file.thin-mode\":\"true\",\"metadata.stats-keep-first-n-columns\":\"1\","
                 "\"fields.p.stats-mode\":\"none\"",
                 "t128t128-000t128-000");
    /* All fields of a file of Avro count. */
    expect_modes("\"file.format\":\"avro\",\"metadata.stats-keep-first-n-columns\":\"1\"",
                 "t016-000-000-000-000-000");
    expect_modes("\"file.format\":\"avro\",\"metadata.stats-keep-first-n-columns\":\"4\"",
                 "t016t016t016t016-000-000");
}

Test(table_write_plan, avro_has_statistics_of_keys_as_of_other_columns)
{
    expect_modes("\"file.format\":\"avro\"", "t016t016t016t016t016t016");
    expect_modes("\"file.format\":\"avro\",\"metadata.stats-mode\":\"full\"",
                 "f000f000f000f000f000f000");
    expect_modes("\"file.format\":\"avro\",\"data-file.thin-mode\":\"true\"",
                 "t016t016t016t016t016");
}

Test(table_write_plan, levels_have_statistics_of_their_own)
{
    static const char options[] =
        "\"metadata.stats-mode.per.level\":\"0:full,5:counts\",\"metadata.stats-mode\":\"none\","
        "\"file.format.per.level\":\"4:avro\",\"fields.v.stats-mode\":\"truncate(7)\"";

    expect_modes_of_level(options, 0, "t128t128t128f000f000t007");
    expect_modes_of_level(options, 3, "t128t128t128-000-000t007");
    expect_modes_of_level(options, 4, "-000-000-000-000-000t007"); /* Avro: no exception for keys */
    expect_modes_of_level(options, 5, "t128t128t128c000c000t007");
}

Test(table_write_plan, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    bed b;

    open_bed(&b, keys, "\"file.compression.per.level\":\"0:lz4\"");
    cr_assert_eq(b.status, SINTER_OK);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__write_plan plan = {.schema = NULL};
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        plan.arena.env = &fault.env;
        st = sinter__write_plan_init(&plan, sinter_table_schema(b.table), &b.options, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM, "%d", (int)st);
        sinter__write_plan_fini(&plan);
        cr_assert_eq(fault.live, 0);
        cr_assert_lt(n, 1000);
    }
    close_bed(&b);
}
