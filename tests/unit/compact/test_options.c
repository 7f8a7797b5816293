#include <criterion/criterion.h>
#include <math.h>

#include "compact/load.h"
#include "files.h"

TestSuite(compact_options, .timeout = 20);

static sinter_status
set(sinter_compact_options *options, const char *key, const char *value)
{
    return sinter_compact_options_set(options, key, value, NULL);
}

Test(compact_options, defaults_are_those_of_the_specification)
{
    sinter_compact_options options;

    sinter_compact_options_init(&options);
    cr_expect_eq(options.struct_size, sizeof options);
    cr_expect_eq(options.target_file_bytes, 128u << 20);
    cr_expect_eq(options.small_file_ratio, 0.7);
    cr_expect_eq(options.num_sorted_run_trigger, 5);
    cr_expect_eq(options.sort_engine, SINTER_SORT_LOSER_TREE);
    cr_expect_eq(options.merge_engine, SINTER_MERGE_ENGINE_DEDUPLICATE);
    cr_expect_eq(options.spill_codec, SINTER_CODEC_ZSTD);
    cr_expect_eq(options.spill_codec_level, 1);
    cr_expect_eq(options.codec, SINTER_CODEC_ZSTD);
    cr_expect_eq(options.block_bytes, 65536);
    cr_expect_eq(options.memory_bytes, 64u << 20);
    cr_expect_eq(options.open_files_max, 128);
    cr_expect(options.block_passthrough);
    cr_expect_not(options.force_rewrite_all_files || options.ignore_delete || options.direct);
    cr_expect_eq(options.sort_spill_threshold, 0);
    cr_expect_eq(options.max_size_amplification_percent, 200);
    cr_expect_eq(options.size_ratio, 1);
    cr_expect(options.offpeak_start_hour == -1 && options.offpeak_end_hour == -1);
    cr_expect(options.optimization_interval_ms == 0 && options.total_size_threshold == 0 &&
              options.incremental_size_threshold == 0 && options.target_file_rows == 0);
    cr_expect_eq(options.lookup_compact, SINTER_LOOKUP_COMPACT_RADICAL);
    cr_expect_eq(options.write_buffer_bytes, 256u << 20);
    cr_expect(options.write_buffer_spillable && options.lookup_wait);
    cr_expect_not(options.force_up_level_0 || options.force_lookup || options.write_only ||
                  options.commit_force_compact);
    cr_expect_eq(sinter_compact_lookup_max_interval(&options), 10);
    cr_expect_not(sinter_compact_needs_lookup(&options));
    cr_expect_eq(sinter_compact_stop_trigger(&options), 8);
    cr_expect_eq(sinter_compact_num_levels(&options), 6);
    cr_expect_eq(sinter_compact_spill_threshold(&options), 9);
    cr_expect_eq(sinter_compact_small_file_bytes(&options), 93952409);
    cr_expect_eq(sinter_compact_options_check(&options, NULL), SINTER_OK);
}

Test(compact_options, every_option_is_set_by_its_key)
{
    sinter_compact_options o;

    sinter_compact_options_init(&o);
    cr_expect_eq(set(&o, "target-file-size", "20 kb"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.small-file-ratio", "0.25"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.force-rewrite-all-files", "TRUE"), SINTER_OK);
    cr_expect_eq(set(&o, "num-sorted-run.compaction-trigger", "7"), SINTER_OK);
    cr_expect_eq(set(&o, "num-sorted-run.stop-trigger", "9"), SINTER_OK);
    cr_expect_eq(set(&o, "num-levels", "4"), SINTER_OK);
    cr_expect_eq(set(&o, "sort-engine", "min-heap"), SINTER_OK);
    cr_expect_eq(set(&o, "sort-spill-threshold", "3"), SINTER_OK);
    cr_expect_eq(set(&o, "spill-compression", "lz4"), SINTER_OK);
    cr_expect_eq(set(&o, "spill-compression.zstd-level", "-5"), SINTER_OK);
    cr_expect_eq(set(&o, "local-sort.max-num-file-handles", "16"), SINTER_OK);
    cr_expect_eq(set(&o, "merge-engine", "first-row"), SINTER_OK);
    cr_expect_eq(set(&o, "ignore-delete", "true"), SINTER_OK);
    cr_expect_eq(set(&o, "file.compression", "none"), SINTER_OK);
    cr_expect_eq(set(&o, "file.compression.per.level", "0:lz4,5:zstd"), SINTER_OK);
    cr_expect_eq(set(&o, "file.compression.zstd-level", "19"), SINTER_OK);
    cr_expect_eq(set(&o, "file.block-size", "4 kb"), SINTER_OK);
    cr_expect_eq(set(&o, "sinter.block-passthrough", "false"), SINTER_OK);
    cr_expect_eq(set(&o, "sinter.filter.bits-per-key", "10"), SINTER_OK);
    cr_expect_eq(set(&o, "sinter.io.direct", "true"), SINTER_OK);
    cr_expect_eq(set(&o, "sinter.memory-budget", "1 gb"), SINTER_OK);

    cr_expect_eq(o.target_file_bytes, 20480);
    cr_expect_eq(o.small_file_ratio, 0.25);
    cr_expect(o.force_rewrite_all_files && o.ignore_delete && o.direct && !o.block_passthrough);
    cr_expect_eq(o.num_sorted_run_trigger, 7);
    cr_expect_eq(sinter_compact_stop_trigger(&o), 9);
    cr_expect_eq(sinter_compact_num_levels(&o), 4);
    cr_expect_eq(o.sort_engine, SINTER_SORT_MIN_HEAP);
    cr_expect_eq(sinter_compact_spill_threshold(&o), 3);
    cr_expect_eq(o.spill_codec, SINTER_CODEC_LZ4);
    cr_expect_eq(o.spill_codec_level, -5);
    cr_expect_eq(o.open_files_max, 16);
    cr_expect_eq(o.merge_engine, SINTER_MERGE_ENGINE_FIRST_ROW);
    cr_expect_eq(o.codec, SINTER_CODEC_NONE);
    cr_expect_eq(o.codec_level, 19);
    cr_expect_eq(sinter_compact_codec_of_level(&o, 0), SINTER_CODEC_LZ4);
    cr_expect_eq(sinter_compact_codec_of_level(&o, 1), SINTER_CODEC_NONE);
    cr_expect_eq(sinter_compact_codec_of_level(&o, 5), SINTER_CODEC_ZSTD);
    cr_expect_eq(sinter_compact_codec_of_level(&o, INT32_MAX), SINTER_CODEC_NONE);
    cr_expect_eq(o.block_bytes, 4096);
    cr_expect_eq(o.filter_bits_per_key, 10);
    cr_expect_eq(o.memory_bytes, 1u << 30);
    cr_expect_eq(sinter_compact_options_check(&o, NULL), SINTER_OK);
}

Test(compact_options, every_option_of_strategies_and_writers_is_set_by_its_key)
{
    sinter_compact_options o;

    sinter_compact_options_init(&o);
    cr_expect_eq(set(&o, "compaction.max-size-amplification-percent", "0"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.size-ratio", "7"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.offpeak.start.hour", "22"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.offpeak.end.hour", "0"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.offpeak-ratio", "20"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.optimization-interval", "2 h"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.total-size-threshold", "1 gb"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.incremental-size-threshold", "2 gb"), SINTER_OK);
    cr_expect_eq(set(&o, "compaction.force-up-level-0", "true"), SINTER_OK);
    cr_expect_eq(set(&o, "lookup-compact", "gentle"), SINTER_OK);
    cr_expect_eq(set(&o, "lookup-compact.max-interval", "12"), SINTER_OK);
    cr_expect_eq(set(&o, "force-lookup", "true"), SINTER_OK);
    cr_expect_eq(set(&o, "lookup-wait", "false"), SINTER_OK);
    cr_expect_eq(set(&o, "full-compaction.delta-commits", "30"), SINTER_OK);
    cr_expect_eq(set(&o, "commit.force-compact", "true"), SINTER_OK);
    cr_expect_eq(set(&o, "write-buffer-size", "64 mb"), SINTER_OK);
    cr_expect_eq(set(&o, "write-buffer-spillable", "false"), SINTER_OK);
    cr_expect_eq(set(&o, "write-buffer-spill.max-disk-size", "3 gb"), SINTER_OK);
    cr_expect_eq(set(&o, "target-file-row-num", "1000"), SINTER_OK);

    cr_expect_eq(o.max_size_amplification_percent, 0);
    cr_expect_eq(o.size_ratio, 7);
    cr_expect_eq(o.offpeak_start_hour, 22);
    cr_expect_eq(o.offpeak_end_hour, 0);
    cr_expect_eq(o.offpeak_ratio, 20);
    cr_expect_eq(o.optimization_interval_ms, 7200000);
    cr_expect_eq(o.total_size_threshold, 1u << 30);
    cr_expect_eq(o.incremental_size_threshold, 2ull << 30);
    cr_expect_eq(o.lookup_compact, SINTER_LOOKUP_COMPACT_GENTLE);
    cr_expect_eq(sinter_compact_lookup_max_interval(&o), 12);
    cr_expect(o.force_up_level_0 && o.force_lookup && sinter_compact_needs_lookup(&o));
    cr_expect_eq(o.full_delta_commits, 30);
    cr_expect(o.commit_force_compact && !o.lookup_wait && !o.write_buffer_spillable);
    cr_expect_eq(o.write_buffer_bytes, 64u << 20);
    cr_expect_eq(o.write_buffer_disk_max, 3ull << 30);
    cr_expect_eq(o.target_file_rows, 1000);
    cr_expect_eq(sinter_compact_options_check(&o, NULL), SINTER_OK);
    cr_expect_eq(set(&o, "write-only", "true"), SINTER_OK);
    cr_expect(o.write_only);
}

static void
expect_contradiction(const sinter_compact_options *options, const char *one, const char *other)
{
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(sinter_compact_options_check(options, &err), SINTER_E_INVALID, "%s and %s", one,
                 other);
    cr_expect(strstr(err.text, one) != NULL && strstr(err.text, other) != NULL, "%s", err.text);
}

Test(compact_options, values_that_contradict_each_other_are_refused_and_both_named)
{
    sinter_compact_options o;

    sinter_compact_options_init(&o);
    o.offpeak_start_hour = 3;
    expect_contradiction(&o, "compaction.offpeak.start.hour", "compaction.offpeak.end.hour");
    o.offpeak_start_hour = -1;
    o.offpeak_end_hour = 3;
    expect_contradiction(&o, "compaction.offpeak.start.hour", "compaction.offpeak.end.hour");
    o.offpeak_start_hour = 3;
    cr_expect_eq(sinter_compact_options_check(&o, NULL), SINTER_OK, "an empty stretch is none");
    o.write_only = true;
    cr_expect_eq(sinter_compact_options_check(&o, NULL), SINTER_OK);
    o.commit_force_compact = true;
    expect_contradiction(&o, "write-only", "commit.force-compact");
    o.commit_force_compact = false;
    o.full_delta_commits = 1;
    expect_contradiction(&o, "write-only", "full-compaction.delta-commits");
}

Test(compact_options, codecs_of_levels_are_a_map)
{
    static const char *const right[] = {"", " ", "31:none", " 3 : lz4 , 4: none ", "1:lz4,"};
    static const char *const wrong[] = {"lz4",
                                        "0",
                                        "0:",
                                        "0:lz5",
                                        "32:lz4",
                                        "-1:lz4",
                                        "0:lz4;1:lz4",
                                        ",0:lz4",
                                        "0:lz4:zstd",
                                        "x:lz4",
                                        "0:zstdzstdzstdzstdzstd",
                                        "99999999999999999999:lz4"};
    sinter_compact_options o;
    sinter_error err = SINTER_ERROR_INIT;

    sinter_compact_options_init(&o);
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        cr_expect_eq(set(&o, "file.compression.per.level", right[i]), SINTER_OK, "%s", right[i]);
    }
    cr_expect_eq(o.codec_of_level[1], SINTER_CODEC_LZ4 + 1);
    cr_expect_eq(o.codec_of_level[3], 0, "only what was set last");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_eq(set(&o, "file.compression.per.level", wrong[i]), SINTER_E_INVALID, "%s",
                     wrong[i]);
    }
    cr_expect_eq(o.codec_of_level[1], SINTER_CODEC_LZ4 + 1, "a refused value changes nothing");
    cr_expect_eq(sinter_compact_options_set(&o, "file.compression.per.level", "2:snappy", &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "file.compression.per.level"), "%s", err.text);
    o.codec_of_level[7] = 9;
    cr_expect_eq(sinter_compact_options_check(&o, NULL), SINTER_E_INVALID);
}

Test(compact_options, a_typing_error_is_answered_with_the_nearest_key)
{
    sinter_compact_options options;
    sinter_error err = SINTER_ERROR_INIT;

    sinter_compact_options_init(&options);
    cr_expect_eq(sinter_compact_options_set(&options, "target-fil-size", "1 mb", &err),
                 SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "\"target-file-size\""), "%s", err.text);
    cr_expect_eq(sinter_compact_options_set(&options, "", "1", &err), SINTER_E_INVALID);
    cr_expect_eq(sinter_compact_options_set(&options, "sort.spill-treshold", "4", &err),
                 SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "\"sort-spill-threshold\""), "%s", err.text);
}

Test(compact_options, a_key_of_any_length_is_refused)
{
    sinter_compact_options options;
    char key[5000];

    sinter_compact_options_init(&options);
    memset(key, 'k', sizeof key);
    for (size_t size = 0; size < sizeof key; size += size < 200 ? 1 : 997) {
        key[size] = '\0';
        cr_expect_eq(set(&options, key, "1"), SINTER_E_INVALID, "%zu", size);
        key[size] = 'k';
    }
}

Test(compact_options, keys_that_only_paimon_implements_are_refused_by_name)
{
    sinter_compact_options options;
    sinter_error err = SINTER_ERROR_INIT;

    sinter_compact_options_init(&options);
    cr_expect_eq(sinter_compact_options_set(&options, "changelog-producer", "lookup", &err),
                 SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "changelog-producer"));
    cr_expect_eq(set(&options, "merge-engine", "aggregation"), SINTER_E_UNSUPPORTED);
    cr_expect_eq(set(&options, "record-level.expire-time", "1 d"), SINTER_E_UNSUPPORTED);
    cr_expect_eq(set(&options, "file.compression", "snappy"), SINTER_E_UNSUPPORTED);
}

Test(compact_options, a_foreign_key_with_the_value_that_asks_for_nothing_is_fine)
{
    sinter_compact_options options;

    sinter_compact_options_init(&options);
    cr_expect_eq(set(&options, "changelog-producer", "none"), SINTER_OK);
    cr_expect_eq(set(&options, "deletion-vectors.enabled", "false"), SINTER_OK);
    cr_expect_eq(set(&options, "page-size", "64 kb"), SINTER_OK);
    cr_expect_eq(set(&options, "deletion-vectors.enabled", "true"), SINTER_E_UNSUPPORTED);
}

Test(compact_options, values_out_of_range_are_refused_and_change_nothing)
{
    static const char *const bad[][2] = {
        {"target-file-size", "0"},
        {"target-file-size", "-1"},
        {"target-file-size", "9223372036854775808"},
        {"compaction.small-file-ratio", "1.01"},
        {"compaction.small-file-ratio", "-0.5"},
        {"compaction.small-file-ratio", "nan"},
        {"compaction.small-file-ratio", ""},
        {"compaction.small-file-ratio", "0.1234567890123456"},
        {"compaction.small-file-ratio", "."},
        {"num-sorted-run.compaction-trigger", "0"},
        {"num-sorted-run.compaction-trigger", "2147483648"},
        {"num-levels", "1"},
        {"sort-spill-threshold", "1"},
        {"sort-spill-threshold", "0"},
        {"sort-engine", "tree"},
        {"sort-engine", ""},
        {"merge-engine", "Deduplicate"},
        {"ignore-delete", "yes"},
        {"ignore-delete", "truex"},
        {"file.compression", "bz2"},
        {"file.compression.zstd-level", "23"},
        {"file.block-size", "8 gb"},
        {"file.block-size", "1073741825"},
        {"sinter.filter.bits-per-key", "65"},
        {"compaction.offpeak.start.hour", "24"},
        {"compaction.offpeak.end.hour", "-2"},
        {"compaction.optimization-interval", "0"},
        {"compaction.optimization-interval", "999 micros"},
        {"compaction.optimization-interval", "1 week"},
        {"compaction.optimization-interval", ""},
        {"compaction.size-ratio", "-1"},
        {"lookup-compact", "Radical"},
        {"lookup-compact.max-interval", "0"},
        {"full-compaction.delta-commits", "0"},
        {"target-file-row-num", "9223372036854775808"},
        {"num-levels", "3x"},
        {"num-levels", ""},
    };
    sinter_compact_options options;
    sinter_compact_options before;

    sinter_compact_options_init(&options);
    before = options;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_eq(set(&options, bad[i][0], bad[i][1]), SINTER_E_INVALID, "%s = %s", bad[i][0],
                     bad[i][1]);
    }
    cr_expect_eq(memcmp(&options, &before, sizeof options), 0);
}

Test(compact_options, fields_out_of_range_do_not_pass_the_check)
{
    sinter_compact_options good;
    sinter_compact_options bad[13];

    sinter_compact_options_init(&good);
    for (size_t i = 0; i < 13; i++) {
        bad[i] = good;
    }
    bad[0].target_file_bytes = 0;
    bad[1].small_file_ratio = 1.5;
    bad[2].sort_engine = 2;
    bad[3].merge_engine = -1;
    bad[4].sort_spill_threshold = 1;
    bad[5].codec = 3;
    bad[6].block_bytes = 0;
    bad[7].filter_bits_per_key = 65;
    bad[8].target_file_bytes = UINT64_MAX;
    bad[9].offpeak_end_hour = 24;
    bad[10].lookup_compact = 2;
    bad[11].optimization_interval_ms = UINT64_MAX;
    bad[12].size_ratio = UINT32_MAX;
    for (size_t i = 0; i < 13; i++) {
        cr_expect_eq(sinter_compact_options_check(&bad[i], NULL), SINTER_E_INVALID, "%zu", i);
    }
    bad[1].small_file_ratio = (double)NAN;
    cr_expect_eq(sinter_compact_options_check(&bad[1], NULL), SINTER_E_INVALID);
}

Test(compact_options, derived_values_saturate_at_the_largest_int)
{
    sinter_compact_options options;

    sinter_compact_options_init(&options);
    options.num_sorted_run_trigger = INT32_MAX;
    cr_expect_eq(sinter_compact_stop_trigger(&options), INT32_MAX);
    cr_expect_eq(sinter_compact_num_levels(&options), INT32_MAX);
    cr_expect_eq(sinter_compact_spill_threshold(&options), INT32_MAX);
    options.num_sorted_run_trigger = 8;
    options.num_sorted_run_stop = 4;
    cr_expect_eq(sinter_compact_stop_trigger(&options), 8, "never below the trigger");
    options.lookup_max_interval = 2;
    cr_expect_eq(sinter_compact_lookup_max_interval(&options), 8, "never below the trigger");
    options.lookup_max_interval = 0;
    options.num_sorted_run_trigger = INT32_MAX;
    cr_expect_eq(sinter_compact_lookup_max_interval(&options), INT32_MAX);
}

Test(compact_options, each_option_describes_itself_and_its_default_is_what_init_gives)
{
    sinter_compact_options defaults;
    sinter_option_info info = {.struct_size = sizeof info};
    size_t count = 0;

    sinter_compact_options_init(&defaults);
    while (sinter_compact_option_info(count, &info)) {
        sinter_compact_options options = defaults;

        cr_expect(strlen(info.key) > 0 && strlen(info.text) > 0 && strlen(info.range_text) > 0);
        if (info.default_text[0] != '\0') {
            cr_expect_eq(set(&options, info.key, info.default_text), SINTER_OK, "%s", info.key);
        }
        cr_expect_eq(memcmp(&options, &defaults, sizeof options), 0, "%s", info.key);
        count++;
    }
    cr_expect_eq(count, 48);
}

Test(compact_options, structs_of_other_versions_are_read)
{
    struct {
        sinter_compact_options options;
        uint64_t newer;
    } larger = {.newer = 0};
    sinter_compact_options loaded;
    sinter_compact_options smaller;

    sinter_compact_options_init(&larger.options);
    larger.options.struct_size = sizeof larger;
    larger.options.target_file_bytes = 77;
    cr_expect_eq(sinter__compact_options_load(&larger.options, &loaded, NULL), SINTER_OK);
    cr_expect_eq(loaded.target_file_bytes, 77);
    cr_expect_eq(loaded.struct_size, sizeof loaded);
    larger.newer = 1;
    cr_expect_eq(sinter__compact_options_load(&larger.options, &loaded, NULL), SINTER_E_INVALID);

    sinter_compact_options_init(&smaller);
    smaller.target_file_bytes = 88;
    smaller.memory_bytes = 0; /* beyond what the older version had */
    smaller.struct_size = (uint32_t)offsetof(sinter_compact_options, small_file_ratio);
    cr_expect_eq(sinter__compact_options_load(&smaller, &loaded, NULL), SINTER_OK);
    cr_expect_eq(loaded.target_file_bytes, 88);
    cr_expect_eq(loaded.memory_bytes, 64u << 20);
    sinter_compact_options_init(&smaller);
    smaller.size_ratio = 0; /* a version whose last four words were reserved */
    smaller.struct_size =
        (uint32_t)offsetof(sinter_compact_options, max_size_amplification_percent);
    cr_expect_eq(sinter__compact_options_load(&smaller, &loaded, NULL), SINTER_OK);
    cr_expect_eq(loaded.size_ratio, 1);
    cr_expect_eq(loaded.write_buffer_bytes, 256u << 20);
    smaller.struct_size = 0;
    cr_expect_eq(sinter__compact_options_load(&smaller, &loaded, NULL), SINTER_E_INVALID);
}
