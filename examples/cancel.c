/*
 * Shows how far a compaction is, and cancels it: Ctrl-C stops it, and it leaves nothing behind. The
 * first try is cancelled by a signal of our own, the second one succeeds.
 */
#define _POSIX_C_SOURCE 200809L /* isatty */

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <sinter/sinter.h>

/* A signal handler may store into a lock-free atomic, and the working thread may read it. */
static atomic_bool stop;

static void
on_interrupt(int number)
{
    (void)number;
    atomic_store(&stop, true);
}

/* Asked now and then on the working thread. */
static bool
is_cancelled(void *ctx)
{
    (void)ctx;
    return atomic_load(&stop);
}

/* A bar for people: on a terminal only, so that logs stay clean. */
typedef struct progress_bar {
    uint64_t total_bytes;
    bool is_terminal;
} progress_bar;

static void
draw(void *ctx, uint64_t bytes, uint64_t records)
{
    static const char full[] = "########################################";
    const progress_bar *bar = ctx;
    const int width = (int)sizeof full - 1;
    const double share = bytes < bar->total_bytes ? (double)bytes / (double)bar->total_bytes : 1.0;
    const int done = (int)(share * width);

    if (bar->is_terminal) {
        fprintf(stderr, "\r[%.*s%*s] %3d %%, %llu records", done, full, width - done, "",
                (int)(share * 100), (unsigned long long)records);
    }
}

static void
erase(const progress_bar *bar)
{
    if (bar->is_terminal) {
        fprintf(stderr, "\r\033[K");
    }
}

static sinter_status
compact(const sinter_env *env, const sinter_files_doc *doc, sinter_error *err)
{
    const sinter_files *all = sinter_files_doc_get(doc);
    progress_bar bar = {.is_terminal = isatty(STDERR_FILENO) != 0};
    sinter_compact_result *result = NULL;
    sinter_compact_task task;
    sinter_status st;

    for (size_t i = 0; i < all->file_count; i++) {
        bar.total_bytes += all->files[i].file_size;
    }
    sinter_compact_task_init(&task);
    task.base_dir = sinter_files_doc_base_dir(doc);
    task.files = all->files;
    task.count = all->file_count;
    task.key_types = all->key_types;
    task.row_type = all->row_type;
    task.output_level = task.max_level;
    task.is_cancelled = is_cancelled;
    task.progress = draw;
    task.progress_ctx = &bar;
    st = sinter_compact_task_run(env, &task, &result, err);
    erase(&bar);
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
    sinter_status st;

    (void)signal(SIGINT, on_interrupt);
    st = sinter_files_doc_load(env, argc > 1 ? argv[1] : ".", NULL, &doc, &err);
    if (st == SINTER_OK) {
        (void)raise(SIGINT);
        st = compact(env, doc, &err);
    }
    if (st == SINTER_E_CANCELLED) {
        atomic_store(&stop, false);
        (void)signal(SIGINT, on_interrupt); /* some systems forget it after one signal */
        st = compact(env, doc, &err);
    }
    if (st != SINTER_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    }
    sinter_files_doc_destroy(doc);
    return st == SINTER_OK ? 0 : 1;
}
