/*
 * A backend of one's own: it stands in front of the memory backend, counts what is opened and
 * published, and makes the library run without touching a disk. A backend for an object store
 * fills the same table.
 */
#include <stdio.h>

#include <sinter/sinter.h>

/* A backend begins with sinter_io. Files come from the backend behind and are used as they are. */
typedef struct counting_io {
    sinter_io base;
    sinter_io *behind;
    int opened;
    int created;
} counting_io;

static counting_io *
self_of(sinter_io *io)
{
    return (counting_io *)(void *)io;
}

static sinter_status
counting_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out,
              sinter_error *err)
{
    counting_io *self = self_of(io);

    self->opened++;
    return self->behind->ops->open(self->behind, path, flags, out, err);
}

static sinter_status
counting_create(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
                sinter_error *err)
{
    counting_io *self = self_of(io);

    self->created++;
    return self->behind->ops->create(self->behind, dir, flags, out, err);
}

static sinter_status
counting_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err)
{
    return self_of(io)->behind->ops->stat(self_of(io)->behind, path, out, err);
}

static sinter_status
counting_sync_dir(sinter_io *io, const char *path, sinter_error *err)
{
    return self_of(io)->behind->ops->sync_dir(self_of(io)->behind, path, err);
}

static sinter_status
counting_mkdir(sinter_io *io, const char *path, sinter_error *err)
{
    return self_of(io)->behind->ops->mkdir(self_of(io)->behind, path, err);
}

static sinter_status
counting_unlink(sinter_io *io, const char *path, sinter_error *err)
{
    return self_of(io)->behind->ops->unlink(self_of(io)->behind, path, err);
}

/* The table: what concerns files is taken over from the backend behind. */
static void
counting_init(counting_io *self, sinter_io_ops *ops, sinter_io *behind)
{
    *ops = *behind->ops;
    ops->struct_size = (uint32_t)sizeof *ops;
    ops->name = "counting";
    ops->open = counting_open;
    ops->create = counting_create;
    ops->stat = counting_stat;
    ops->sync_dir = counting_sync_dir;
    ops->mkdir = counting_mkdir;
    ops->unlink = counting_unlink;
    ops->list = NULL; /* the parts used here need none of these */
    ops->clean = NULL;
    ops->replace = NULL;
    ops->lock = NULL;
    ops->destroy = NULL;
    *self = (counting_io){.base = {.ops = ops}, .behind = behind};
}

/* A file of keys "000" .. "999" from `first` on, every third one. */
static sinter_status
write_file(const sinter_env *env, const char *path, int first, int64_t sequence,
           sinter_file_stats *stats_out, sinter_error *err)
{
    const sinter_write_options options = {.struct_size = (uint32_t)sizeof options};
    const sinter_format *format = sinter_format_sst();
    sinter_batch_builder *builder = NULL;
    sinter_writer *writer = NULL;
    char key[16];
    sinter_range range;
    size_t taken;
    uint32_t taken_rows;
    sinter_status st;

    st = sinter_batch_builder_create(env, &builder, err);
    for (int i = first; st == SINTER_OK && i < 1000; i += 3) {
        (void)snprintf(key, sizeof key, "%03d", i);
        st = sinter_batch_builder_add(builder, (sinter_bytes){(const uint8_t *)key, 3}, sequence,
                                      SINTER_KIND_INSERT,
                                      (sinter_bytes){(const uint8_t *)"value", 5}, err);
    }
    if (st == SINTER_OK) {
        st = format->open_writer(format->self, env, path, &options, &writer, err);
    }
    if (st == SINTER_OK) {
        range.batch = sinter_batch_builder_batch(builder);
        range.first = 0;
        range.count = range.batch->row_count;
        st = writer->ops->append(writer, &range, 1, UINT64_MAX, &taken, &taken_rows, err);
    }
    if (st == SINTER_OK) {
        stats_out->struct_size = (uint32_t)sizeof *stats_out;
        st = writer->ops->finish(writer, stats_out, err);
    }
    if (writer != NULL) {
        writer->ops->close(writer);
    }
    sinter_batch_builder_destroy(builder);
    return st;
}

static sinter_status
compact(const sinter_env *env, sinter_error *err)
{
    sinter_file_meta files[2] = {0};
    sinter_compact_result *result = NULL;
    sinter_compact_task task;
    sinter_status st = SINTER_OK;

    for (int i = 0; st == SINTER_OK && i < 2; i++) {
        sinter_file_stats stats = {0};

        files[i].struct_size = (uint32_t)sizeof files[i];
        files[i].file_name = i == 0 ? "older.sst" : "newer.sst";
        files[i].max_sequence_number = files[i].min_sequence_number = i;
        files[i].min_key = (sinter_bytes){(const uint8_t *)(i == 0 ? "000" : "001"), 3};
        files[i].max_key = (sinter_bytes){(const uint8_t *)(i == 0 ? "999" : "997"), 3};
        st = write_file(env, i == 0 ? "/older.sst" : "/newer.sst", i, i, &stats, err);
        files[i].file_size = stats.file_size;
        files[i].row_count = stats.row_count;
    }
    if (st != SINTER_OK) {
        return st;
    }
    sinter_compact_task_init(&task);
    task.base_dir = "/";
    task.files = files;
    task.count = 2;
    st = sinter_compact_task_run(env, &task, &result, err);
    if (st == SINTER_OK) {
        const sinter_file_list *after = sinter_compact_result_after(result);

        printf("%d + %d records became %d\n", (int)files[0].row_count, (int)files[1].row_count,
               (int)after->files[0].row_count);
    }
    sinter_compact_result_destroy(result);
    return st;
}

int
main(void)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *memory = NULL;
    sinter_io_ops ops;
    counting_io counting;
    sinter_env env;
    sinter_status st;

    sinter_env_init(&env);
    st = sinter_io_create(&env, SINTER_IO_MEMORY, NULL, &memory, &err);
    if (st == SINTER_OK) {
        counting_init(&counting, &ops, memory);
        env.io = &counting.base;
    }
    if (st == SINTER_OK) {
        st = compact(&env, &err);
    }
    if (st == SINTER_OK) {
        printf("%s: %d files created, %s\n", sinter_io_name(env.io), counting.created,
               counting.opened >= 2 ? "inputs opened" : "nothing read");
    } else {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    }
    sinter_io_destroy(memory);
    return st == SINTER_OK ? 0 : 1;
}
