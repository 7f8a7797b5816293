#include "macro/sinter_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Noreturn void
fail(const char *what, const sinter_error *err)
{
    fprintf(stderr, "%s: %s: %s (%s)\n", what, sinter_status_name(err->status), err->text,
            err->file);
    exit(1);
}

void
require(sinter_status st, const char *what, const sinter_error *err)
{
    if (st != SINTER_OK) {
        fail(what, err);
    }
}

void
make_dir(const char *path)
{
    if (mkdir(path, 0755) != 0) {
        perror(path);
        exit(1);
    }
}

file_set *
files_create(void)
{
    file_set *files = calloc(1, sizeof *files);

    if (files == NULL) {
        perror("files");
        exit(1);
    }
    return files;
}

void
files_add(file_set *files, const char *dir, const char *name)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_sst_properties properties = {.struct_size = sizeof properties};
    char *path = files->paths[files->count];
    sinter_file_meta *meta = &files->metas[files->count];
    sinter_sst **sst = &files->open[files->count];

    if (files->count == FILES_MAX || snprintf(path, PATH_ROOM, "%s/%s", dir, name) >= PATH_ROOM) {
        fprintf(stderr, "too many files, or too long a name: %s\n", name);
        exit(1);
    }
    require(sinter_sst_open(sinter_env_default(), path, sst, &err), path, &err);
    sinter_sst_properties_get(*sst, &properties);
    memset(meta, 0, sizeof *meta);
    meta->struct_size = sizeof *meta;
    meta->level = properties.level;
    meta->file_name = strrchr(path, '/') + 1;
    meta->external_path = path;
    meta->file_size = properties.file_size;
    meta->row_count = properties.row_count;
    meta->delete_row_count = (int64_t)properties.retract_count;
    meta->min_sequence_number = properties.sequence_min;
    meta->max_sequence_number = properties.sequence_max;
    meta->creation_time_ms = properties.creation_time_ms;
    meta->min_key = properties.min_key;
    meta->max_key = properties.max_key;
    meta->file_source = SINTER_FILE_SOURCE_APPEND;
    meta->upgraded_from = -1;
    files->file_bytes += properties.file_size;
    files->block_count += properties.block_count;
    files->count++;
}

void
files_close(file_set *files)
{
    for (size_t i = 0; i < files->count; i++) {
        sinter_sst_close(files->open[i]);
    }
    free(files);
}

int
codec_of(const bench_options *options)
{
    switch (options->codec) {
    case BENCH_CODEC_LZ4:
        return SINTER_CODEC_LZ4;
    case BENCH_CODEC_ZSTD:
        return SINTER_CODEC_ZSTD;
    default:
        return SINTER_CODEC_NONE;
    }
}

sinter_io_kind
io_kind_of(const char *name)
{
    if (strcmp(name, "posix") == 0) {
        return SINTER_IO_POSIX;
    }
    return strcmp(name, "io_uring") == 0 ? SINTER_IO_URING : SINTER_IO_AUTO;
}
