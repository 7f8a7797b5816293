/*
 * Says what a compaction would do, and why, from metadata alone: the worked example of five files
 * on four levels. No file is opened, none needs to exist.
 */
#include <stdio.h>

#include <sinter/sinter.h>

#define MIB ((uint64_t)1 << 20)

/* Keys are one byte here; sinter_key_encode() makes them of typed columns. */
static sinter_file_meta
file(const char *name, int32_t level, const char *min_key, const char *max_key, uint64_t mib)
{
    return (sinter_file_meta){
        .struct_size = (uint32_t)sizeof(sinter_file_meta),
        .file_name = name,
        .level = level,
        .min_key = {(const uint8_t *)min_key, 1},
        .max_key = {(const uint8_t *)max_key, 1},
        .file_size = mib * MIB,
        .row_count = 1000,
    };
}

int
main(void)
{
    const sinter_file_meta files[] = {
        file("A", 0, "\x01", "\x0a", 5), file("B", 1, "\x05", "\x14", 50),
        file("C", 1, "\x1e", "\x28", 2), file("D", 2, "\x32", "\x5a", 120),
        file("E", 0, "\x5f", "\x63", 1),
    };
    sinter_error err = SINTER_ERROR_INIT;
    sinter_compact_result *result = NULL;
    const sinter_file_decision *decisions;
    sinter_compact_task task;
    sinter_status st;
    size_t count = 0;

    sinter_compact_task_init(&task);
    task.files = files;
    task.count = sizeof files / sizeof files[0];
    task.base_dir = ".";
    task.output_level = 3;
    task.max_level = 5;
    st = sinter_compact_task_plan(sinter_env_default(), &task, &result, &err);
    if (st != SINTER_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
        return 1;
    }
    decisions = sinter_compact_result_decisions(result, &count);
    for (size_t i = 0; i < count; i++) {
        printf("%s %s (%s)\n", decisions[i].file->file_name,
               sinter_file_action_name(decisions[i].action),
               sinter_reason_code(decisions[i].reason));
    }
    sinter_compact_result_destroy(result);
    return 0;
}
