/*
 * A storage writer with a catalog of its own. One thread writes, the library compacts in the
 * background on a pool of threads, another thread reads meanwhile; a JSON file that is swapped by
 * rename says what there is.
 *
 *     writer   write .. write, prepare_commit -> catalog: write, fsync, rename, fsync -> committed
 *     pool              compaction ........ compaction .............
 *     reader   acquire, view .. close, release       acquire, view .. close, release
 *
 * There is no write-ahead log: a row is safe, and is acknowledged, once the catalog names its file.
 * Here a child process writes and dies without a word; then it is started again.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sinter/sinter.h>

enum { COMMITS = 20, NEW_ROWS = 500, CHANGED_ROWS = 100, PATH_BYTES = 512 };

static sinter_status
fail(sinter_error *err, const char *what, const char *path)
{
    const int number = errno;

    err->status = number == ENOSPC || number == EDQUOT ? SINTER_E_NO_SPACE : SINTER_E_IO;
    err->sys_errno = number;
    (void)snprintf(err->file, sizeof err->file, "%.255s", path);
    (void)snprintf(err->text, sizeof err->text, "%s: %s", what, strerror(number));
    return err->status;
}

/* --- the catalog --- */

/* Any form will do that keeps all fields of sinter_file_meta and the largest sequence number. Here
 * it is the text of a `sinter.files` document, which the library prints and parses. */
typedef struct json_catalog {
    const sinter_env *env;
    const char *dir;
    char path[PATH_BYTES];
    char new_path[PATH_BYTES];
    sinter_files_doc *doc; /* what the file says */
} json_catalog;

static sinter_status
read_text(const char *path, sinter_text *text, sinter_error *err)
{
    FILE *file = fopen(path, "rb");
    sinter_status st = SINTER_OK;
    char chunk[4096];
    size_t size;

    if (file == NULL) {
        return errno == ENOENT ? SINTER_END : fail(err, "open", path);
    }
    while (st == SINTER_OK && (size = fread(chunk, 1, sizeof chunk, file)) > 0) {
        st = sinter_text_append(text, chunk, size, err);
    }
    if (st == SINTER_OK && ferror(file)) {
        st = fail(err, "read", path);
    }
    (void)fclose(file);
    return st;
}

static sinter_status
write_and_sync(const char *path, const sinter_text *text, sinter_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    sinter_status st = SINTER_OK;
    size_t done = 0;

    if (fd < 0) {
        return fail(err, "open", path);
    }
    while (st == SINTER_OK && done < text->size) {
        const ssize_t size = write(fd, text->data + done, text->size - done);

        if (size >= 0) {
            done += (size_t)size;
        } else if (errno != EINTR) {
            st = fail(err, "write", path);
        }
    }
    if (st == SINTER_OK && fsync(fd) != 0) {
        st = fail(err, "fsync", path);
    }
    (void)close(fd);
    return st;
}

static sinter_status
sync_dir(const char *path, sinter_error *err)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sinter_status st = SINTER_OK;

    if (fd < 0) {
        return fail(err, "open", path);
    }
    if (fsync(fd) != 0) {
        st = fail(err, "fsync", path);
    }
    (void)close(fd);
    return st;
}

/* Read the file; without one the bucket is new. The name may stem from a process that died before
 * it synced the directory: files are removed by what it says, so it is made durable first. */
static sinter_status
catalog_load(json_catalog *catalog, sinter_error *err)
{
    sinter_files empty;
    sinter_text text;
    sinter_status st;

    sinter_text_init(catalog->env, &text);
    st = sync_dir(catalog->dir, err);
    if (st == SINTER_OK) {
        st = read_text(catalog->path, &text, err);
    }
    if (st == SINTER_END) {
        sinter_files_init(&empty);
        empty.next_sequence = 0;
        st = sinter_files_print(&empty, NULL, 0, &text, err);
    }
    if (st == SINTER_OK) {
        st = sinter_files_doc_parse(catalog->env, catalog->path, sinter_text_bytes(&text),
                                    &catalog->doc, err);
    }
    sinter_text_fini(&text);
    return st;
}

/* Append the files that aren't retired. */
static size_t
keep_files(const sinter_file_meta *files, size_t count, const sinter_file_list *retired,
           sinter_file_meta *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        size_t k = 0;

        while (k < retired->count && strcmp(retired->files[k].file_name, files[i].file_name) != 0) {
            k++;
        }
        if (k == retired->count) {
            out[kept++] = files[i];
        }
    }
    return kept;
}

/* What the catalog has to say after the increment: (old files + new files - before) + after. */
static sinter_status
print_next(const json_catalog *catalog, const sinter_increment *increment, sinter_text *text,
           sinter_error *err)
{
    const sinter_file_list *added = sinter_increment_new_files(increment);
    const sinter_file_list *before = sinter_increment_compact_before(increment);
    const sinter_file_list *after = sinter_increment_compact_after(increment);
    sinter_files next = *sinter_files_doc_get(catalog->doc);
    sinter_file_meta *files;
    size_t count;
    sinter_status st;

    files = calloc(next.file_count + added->count + after->count + 1, sizeof *files);
    if (files == NULL) {
        return SINTER_E_NOMEM;
    }
    count = keep_files(next.files, next.file_count, before, files);
    count += keep_files(added->files, added->count, before, files + count);
    for (size_t i = 0; i < after->count; i++) {
        files[count++] = after->files[i];
    }
    next.files = files;
    next.file_count = count;
    next.file_extras = NULL;
    next.next_sequence = sinter_increment_max_sequence(increment) + 1;
    st = sinter_files_print(&next, NULL, SINTER_PRINT_PRETTY, text, err);
    free(files);
    return st;
}

/**
 * Make an increment durable.
 * @param is_unsure  after a failure: whether it happened all the same is for the next start to see
 */
static sinter_status
catalog_commit(json_catalog *catalog, const sinter_increment *increment, bool *is_unsure,
               sinter_error *err)
{
    sinter_files_doc *next = NULL;
    sinter_text text;
    sinter_status st;

    *is_unsure = false;
    sinter_text_init(catalog->env, &text);
    st = print_next(catalog, increment, &text, err);
    if (st == SINTER_OK) {
        st = sinter_files_doc_parse(catalog->env, catalog->path, sinter_text_bytes(&text), &next,
                                    err);
    }
    if (st == SINTER_OK) {
        st = write_and_sync(catalog->new_path, &text, err);
    }
    if (st == SINTER_OK) {
        *is_unsure = true;
        st = rename(catalog->new_path, catalog->path) == 0 ? sync_dir(catalog->dir, err)
                                                           : fail(err, "rename", catalog->path);
    }
    if (st == SINTER_OK) {
        sinter_files_doc_destroy(catalog->doc);
        catalog->doc = next;
        next = NULL;
    }
    sinter_files_doc_destroy(next);
    sinter_text_fini(&text);
    return st;
}

/* --- the store: everything that lives as long as the bucket is open --- */

typedef struct row_store {
    sinter_env env;
    sinter_io_file *lock; /* one process at a time */
    sinter_pool *pool;
    sinter_scheduler *scheduler;
    json_catalog catalog;
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_merge_tree *tree;
    sinter_clean_result cleaned;
} row_store;

/* Released in the reverse order of making: what is borrowed lives longer than who borrows it. */
static void
store_close(row_store *store)
{
    sinter_merge_tree_close(store->tree);
    sinter_scheduler_destroy(store->scheduler);
    sinter_pool_destroy(store->pool);
    sinter_files_doc_destroy(store->catalog.doc);
    if (store->lock != NULL) {
        store->lock->ops->close(store->lock);
    }
}

/* Threads for the compactions of all buckets, and who shares them out. */
static sinter_status
start_threads(row_store *store, sinter_error *err)
{
    const sinter_scheduler_options options = {.struct_size = (uint32_t)sizeof options,
                                              .tasks_max = 2};
    sinter_status st;

    st = sinter_pool_create(sinter_env_default(), 2, 1024, &store->pool, err);
    if (st == SINTER_OK) {
        store->env.executor = sinter_pool_executor(store->pool);
        st = sinter_scheduler_create(&store->env, &options, &store->scheduler, err);
    }
    return st;
}

/* What the catalog says, and nothing else, is there when the tree opens. */
static sinter_status
open_tree(row_store *store, sinter_error *err)
{
    const sinter_files *known = sinter_files_doc_get(store->catalog.doc);
    const sinter_clean_options clean = {
        .struct_size = (uint32_t)sizeof clean, .files = known->files, .count = known->file_count};
    sinter_merge_tree_config config = {.struct_size = (uint32_t)sizeof config};
    sinter_status st;

    store->cleaned.struct_size = (uint32_t)sizeof store->cleaned;
    st = sinter_clean_dir(&store->env, store->catalog.dir, &clean, &store->cleaned, err);
    if (st != SINTER_OK) {
        return st;
    }
    sinter_compact_options_init(&store->options);
    store->options.write_buffer_bytes = (uint64_t)4 << 20;
    sinter_compact_task_init(&store->task);
    store->task.base_dir = store->catalog.dir;
    store->task.options = &store->options;
    config.name = "rows";
    config.task = &store->task;
    config.scheduler = store->scheduler;
    config.files = known->files;
    config.count = known->file_count;
    config.max_sequence = known->next_sequence - 1;
    return sinter_merge_tree_open(&store->env, &config, &store->tree, err);
}

static sinter_status
store_open(row_store *store, const char *dir, sinter_error *err)
{
    json_catalog *catalog = &store->catalog;
    char lock_path[PATH_BYTES];
    sinter_status st;

    memset(store, 0, sizeof *store);
    catalog->env = &store->env;
    catalog->dir = dir;
    (void)snprintf(catalog->path, sizeof catalog->path, "%s/bucket.json", dir);
    (void)snprintf(catalog->new_path, sizeof catalog->new_path, "%s/bucket.json.new", dir);
    (void)snprintf(lock_path, sizeof lock_path, "%s/lock", dir);
    sinter_env_init(&store->env);
    st = store->env.io->ops->lock(store->env.io, lock_path, &store->lock, err);
    if (st == SINTER_OK) {
        st = start_threads(store, err);
    }
    if (st == SINTER_OK) {
        st = catalog_load(catalog, err);
    }
    if (st == SINTER_OK) {
        st = open_tree(store, err);
    }
    if (st != SINTER_OK) {
        store_close(store);
    }
    return st;
}

/* What was written so far is acknowledged when this returns SINTER_OK. */
static sinter_status
store_commit(row_store *store, bool wait, sinter_error *err)
{
    sinter_increment *increment = NULL;
    bool is_unsure = false;
    sinter_status st;

    st = sinter_merge_tree_prepare_commit(store->tree, wait, &increment, err);
    if (st != SINTER_OK) {
        return st; /* nothing was handed over; it may be tried again */
    }
    st = catalog_commit(&store->catalog, increment, &is_unsure, err);
    if (st == SINTER_OK) {
        /* A retired file that can't be removed is garbage, which the next start removes. */
        (void)!sinter_merge_tree_committed(store->tree, increment, NULL);
    } else if (!is_unsure) {
        /* The next increment has all of it. */
        (void)!sinter_merge_tree_return(store->tree, increment, NULL);
        increment = NULL;
    }
    sinter_increment_destroy(increment);
    return st; /* failed: call again; if it is unsure, close, and ask the catalog */
}

/* --- rows: a number, and the commit that wrote it last --- */

static sinter_status
put_row(row_store *store, uint32_t number, uint8_t commit, sinter_error *err)
{
    const uint8_t key[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16),
                            (uint8_t)(number >> 8), (uint8_t)number};

    return sinter_merge_tree_write(store->tree, (sinter_bytes){key, sizeof key}, SINTER_KIND_INSERT,
                                   (sinter_bytes){&commit, 1}, err);
}

/* New rows, and the first ones once more. */
static sinter_status
put_rows(row_store *store, uint8_t commit, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    for (uint32_t i = 0; st == SINTER_OK && i < NEW_ROWS; i++) {
        st = put_row(store, (uint32_t)commit * NEW_ROWS + i, commit, err);
    }
    for (uint32_t i = 0; st == SINTER_OK && i < CHANGED_ROWS; i++) {
        st = put_row(store, i, commit, err);
    }
    return st;
}

/* What a reader finds. */
typedef struct row_counts {
    size_t rows;
    size_t newest; /* of the rows that each commit changes, those that the last one wrote */
    size_t runs;
} row_counts;

static void
look_at(const sinter_range *range, uint8_t last_commit, row_counts *found)
{
    const sinter_batch *batch = range->batch;

    found->rows += range->count;
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        const sinter_bytes key = sinter_batch_key(batch, i);
        const sinter_bytes value = batch->payload_ops->value(batch, i);

        if (key.data[0] == 0 && key.data[1] == 0 && key.data[2] == 0 &&
            key.data[3] < CHANGED_ROWS && value.data[0] == last_commit) {
            found->newest++;
        }
    }
}

/* Any thread may do this: the files of a set stay as long as it is held. */
static sinter_status
look(row_store *store, uint8_t last_commit, row_counts *found, sinter_error *err)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(store->tree);
    sinter_view_source source = {.struct_size = (uint32_t)sizeof source,
                                 .base_dir = store->catalog.dir};
    sinter_view *view = NULL;
    sinter_range ranges[32];
    size_t count = 0;
    sinter_status st;

    memset(found, 0, sizeof *found);
    (void)sinter_file_set_runs(set, &found->runs);
    source.files = sinter_file_set_files(set, &source.count);
    st = sinter_view_open(&store->env, &source, NULL, &view, err);
    while (st == SINTER_OK && (st = sinter_view_next(view, ranges, 32, &count, err)) == SINTER_OK) {
        for (size_t i = 0; i < count; i++) {
            look_at(&ranges[i], last_commit, found);
        }
    }
    sinter_view_close(view);
    sinter_file_set_release(set);
    return st == SINTER_END ? SINTER_OK : st;
}

/* --- the process that dies --- */

/* The thread of the tree: all calls that change it are made here. */
typedef struct row_writer {
    row_store *store;
    atomic_size_t acknowledged; /* rows */
    atomic_bool is_done;
    sinter_status st;
    sinter_error err;
} row_writer;

static void *
write_all(void *arg)
{
    row_writer *self = arg;

    for (uint8_t commit = 0; self->st == SINTER_OK && commit < COMMITS; commit++) {
        self->st = put_rows(self->store, commit, &self->err);
        if (self->st == SINTER_OK) {
            self->st = store_commit(self->store, false, &self->err);
        }
        if (self->st == SINTER_OK) {
            atomic_store(&self->acknowledged, (size_t)(commit + 1) * NEW_ROWS);
        }
    }
    atomic_store(&self->is_done, true);
    return NULL;
}

/* Read again and again while the writer writes; every acknowledged row has to be there. */
static sinter_status
read_beside(row_writer *writer, size_t *missing, sinter_error *err)
{
    sinter_status st = SINTER_OK;
    bool is_done = false;

    while (st == SINTER_OK && !is_done) {
        const size_t acknowledged = atomic_load(&writer->acknowledged);
        row_counts found;

        is_done = atomic_load(&writer->is_done);
        st = look(writer->store, COMMITS - 1, &found, err);
        if (st == SINTER_OK && found.rows < acknowledged) {
            *missing += acknowledged - found.rows;
        }
    }
    return st;
}

static int
run_and_die(const char *dir)
{
    row_store store;
    row_writer writer = {.store = &store, .err = SINTER_ERROR_INIT};
    sinter_error err = SINTER_ERROR_INIT;
    size_t missing = 0;
    pthread_t thread;
    sinter_status st = store_open(&store, dir, &err);

    if (st == SINTER_OK && (errno = pthread_create(&thread, NULL, write_all, &writer)) != 0) {
        st = fail(&err, "pthread_create", dir);
    } else if (st == SINTER_OK) {
        st = read_beside(&writer, &missing, &err);
        (void)pthread_join(thread, NULL); /* from here on this is the tree's thread */
    }
    if (st == SINTER_OK && writer.st != SINTER_OK) {
        st = writer.st;
        err = writer.err;
    }
    if (st == SINTER_OK) {
        printf("acknowledged: %zu rows; missing to readers: %zu\n",
               atomic_load(&writer.acknowledged), missing);
        st = put_row(&store, 1000000, 0, &err);
    }
    if (st == SINTER_OK) {
        st = sinter_merge_tree_flush(store.tree, &err); /* a file that no catalog will name */
    }
    if (st != SINTER_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    }
    (void)fflush(stdout);
    return st == SINTER_OK ? 0 : 1; /* closes nothing */
}

/* --- and the next one --- */

static sinter_status
write_file(void *ctx, const char *text, size_t size)
{
    return fwrite(text, 1, size, ctx) == size ? SINTER_OK : SINTER_E_IO;
}

/* For whoever collects metrics: Prometheus text in a file. */
static sinter_status
export_metrics(row_store *store, sinter_error *err)
{
    char path[PATH_BYTES];
    FILE *file;
    sinter_status st;

    (void)snprintf(path, sizeof path, "%s/metrics.prom", store->catalog.dir);
    file = fopen(path, "w");
    if (file == NULL) {
        return fail(err, "open", path);
    }
    st = sinter_scheduler_export(store->scheduler, write_file, file, err);
    return fclose(file) == 0 || st != SINTER_OK ? st : fail(err, "close", path);
}

static sinter_status
go_on(row_store *store, sinter_error *err)
{
    row_counts found;
    sinter_status st = look(store, COMMITS - 1, &found, err);

    if (st == SINTER_OK) {
        printf("after the restart: %zu rows, %zu changed; garbage was %s\n", found.rows,
               found.newest, store->cleaned.files > 0 ? "removed" : "not there");
        st = put_rows(store, COMMITS, err);
    }
    if (st == SINTER_OK) {
        st = sinter_merge_tree_compact(store->tree, true, err);
    }
    if (st == SINTER_OK) {
        st = store_commit(store, true, err);
    }
    if (st == SINTER_OK) {
        st = look(store, COMMITS, &found, err);
    }
    if (st == SINTER_OK) {
        printf("one commit more: %zu rows, %zu changed, in %zu run\n", found.rows, found.newest,
               found.runs);
        st = export_metrics(store, err);
    }
    return st;
}

int
main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : "bucket";
    sinter_error err = SINTER_ERROR_INIT;
    int code = 1;
    row_store store;
    sinter_status st;
    pid_t child;

    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        perror(dir);
        return 1;
    }
    child = fork();
    if (child == 0) {
        _exit(run_and_die(dir));
    }
    if (child < 0 || waitpid(child, &code, 0) != child || code != 0) {
        fprintf(stderr, "the first process failed\n");
        return 1;
    }
    st = store_open(&store, dir, &err);
    if (st == SINTER_OK) {
        st = go_on(&store, &err);
        store_close(&store);
    }
    if (st != SINTER_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    }
    return st == SINTER_OK ? 0 : 1;
}
