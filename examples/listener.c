/*
 * Listens to a compaction: what begins and ends, which files appear, how far it is.
 */
#include <inttypes.h>
#include <stdio.h>

#include <sinter/sinter.h>

/* The caller's own state; callbacks come on the thread that works, with no lock held. */
typedef struct seen {
    int files_created;
    uint64_t records;
} seen;

static void
on_task_begin(void *ctx, const sinter_event *event)
{
    (void)ctx;
    (void)event;
    puts("a task begins");
}

static void
on_file_created(void *ctx, const sinter_event *event)
{
    seen *seen_so_far = ctx;

    seen_so_far->files_created++;
    printf("a file of %" PRIu64 " records\n", event->records);
}

static void
on_progress(void *ctx, const sinter_event *event)
{
    seen *seen_so_far = ctx;

    seen_so_far->records = event->records;
}

static void
on_task_end(void *ctx, const sinter_event *event)
{
    (void)ctx;
    printf("a task ends: %s\n", sinter_status_text(event->status));
}

static sinter_status
compact(const sinter_env *env, const sinter_files_doc *doc, sinter_error *err)
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
    task.drop_delete = true;
    st = sinter_compact_task_run(env, &task, &result, err);
    sinter_compact_result_destroy(result);
    return st;
}

int
main(int argc, char **argv)
{
    seen seen_so_far = {0};
    const sinter_listener listener = {
        .struct_size = (uint32_t)sizeof listener,
        .ctx = &seen_so_far,
        .task_begin = on_task_begin,
        .task_end = on_task_end,
        .file_created = on_file_created,
        .progress = on_progress,
    };
    sinter_error err = SINTER_ERROR_INIT;
    sinter_files_doc *doc = NULL;
    sinter_env env;
    sinter_status st;

    sinter_env_init(&env);
    env.listener = &listener;
    st = sinter_files_doc_load(&env, argc > 1 ? argv[1] : ".", NULL, &doc, &err);
    if (st == SINTER_OK) {
        st = compact(&env, doc, &err);
    }
    if (st == SINTER_OK) {
        printf("%d files created, %" PRIu64 " records read\n", seen_so_far.files_created,
               seen_so_far.records);
    } else {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    }
    sinter_files_doc_destroy(doc);
    return st == SINTER_OK ? 0 : 1;
}
