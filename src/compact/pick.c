/*
 * The full pick: all files of a bucket as one task (spec/compaction.md 7.5, 8).
 */
#include <assert.h>

#include "base/fail.h"
#include "compact/load.h"

/* All files in one sorted run at the highest level? Files of a level above 0 don't overlap. */
static bool
is_one_top_run(const sinter_file_meta *files, size_t count, int32_t max_level)
{
    for (size_t i = 0; i < count; i++) {
        if (files[i].level != max_level) {
            return false;
        }
    }
    return true;
}

/* Does a file of the highest level gain by a rewrite all the same? */
static bool
wants_rewrite(const sinter_compact_task *task, const sinter_compact_options *options,
              const sinter_file_meta *file)
{
    return options->force_rewrite_all_files ||
           (task->is_expired != NULL && task->is_expired(task->expire_ctx, file));
}

sinter_status
sinter_compact_task_pick_full(sinter_compact_task *task, const sinter_file_meta *files,
                              size_t count, sinter_file_meta *picked, sinter_error *err)
{
    sinter_compact_options options;
    sinter_compact_task known;
    bool is_top = false;
    size_t used = 0;

    SINTER__REQUIRE(err, task != NULL);
    SINTER__REQUIRE(err, count == 0 || (files != NULL && picked != NULL));
    sinter_compact_task_init(&known);
    SINTER__CHECK(sinter__struct_load(&known, sizeof known, task, "sinter_compact_task", err));
    SINTER__CHECK(sinter__compact_options_load(known.options, &options, err));
    for (size_t i = 0; i < count; i++) {
        SINTER__CHECK(sinter__file_meta_check(&files[i], err));
    }
    is_top = known.output_level == known.max_level && is_one_top_run(files, count, known.max_level);
    for (size_t i = 0; i < count; i++) {
        if (!is_top || wants_rewrite(&known, &options, &files[i])) {
            picked[used++] = files[i];
        }
    }
    assert(used <= count);
    task->files = picked;
    task->count = used;
    task->file_rewrite = is_top;
    task->drop_delete = sinter_unit_drops_deletes(files, count, known.output_level, false, false);
    return SINTER_OK;
}
