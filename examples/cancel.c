/*
 * Cancels a compaction while it runs. The task ends with SINTER_E_CANCELLED and leaves nothing;
 * the second try, which nobody cancels, succeeds.
 */
#include <stdio.h>

#include <sinter/sinter.h>

/* Asked now and then on the working thread. Another thread, or a signal handler, would set a flag
 * of its own that is read here. */
static bool
is_cancelled(void *ctx)
{
    const bool *flag = ctx;

    return *flag;
}

static sinter_status
compact(const sinter_env *env, const sinter_files_doc *doc, bool *cancel, sinter_error *err)
{
    const sinter_files *all = sinter_files_doc_get(doc);
    sinter_compact_result *result = NULL;
    sinter_compact_task task;
    sinter_status st;

    sinter_compact_task_init(&task);
    task.base_dir = sinter_files_doc_base_dir(doc);
    task.files = all->files;
    task.count = all->file_count;
    task.key_types = all->key_types;
    task.row_type = all->row_type;
    task.output_level = task.max_level;
    task.is_cancelled = is_cancelled;
    task.cancel_ctx = cancel;
    st = sinter_compact_task_run(env, &task, &result, err);
    if (st == SINTER_OK) {
        printf("done: %zu new files\n", sinter_compact_result_after(result)->count);
    } else {
        printf("%s: %s\n", sinter_status_name(st), sinter_status_text(st));
    }
    sinter_compact_result_destroy(result);
    return st;
}

int
main(int argc, char **argv)
{
    const sinter_env *env = sinter_env_default();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_files_doc *doc = NULL;
    bool cancel = true;
    sinter_status st;

    st = sinter_files_doc_load(env, argc > 1 ? argv[1] : ".", NULL, &doc, &err);
    if (st == SINTER_OK) {
        st = compact(env, doc, &cancel, &err);
    }
    if (st == SINTER_E_CANCELLED) {
        cancel = false;
        st = compact(env, doc, &cancel, &err);
    }
    if (st != SINTER_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    }
    sinter_files_doc_destroy(doc);
    return st == SINTER_OK ? 0 : 1;
}
