/*
 * Every Parquet and ORC file below a folder of tables is read as far as its footer counts.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnar_bed.h"
#include "sinter/io.h"

TestSuite(format_columnar_tables, .timeout = 300);

typedef struct folder {
    columnar_bed *bed;
    const char *dir;
    unsigned files;
} folder;

static bool
ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text);
    const size_t end_size = strlen(end);

    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static void
read_file(folder *walk, const char *path)
{
    const sinter__columnar_read read = {.struct_size = (uint32_t)sizeof read};
    const sinter__columnar_api *api = walk->bed->columnar.api;
    sinter__columnar_info info = {.struct_size = (uint32_t)sizeof info};
    sinter__columnar_file *file = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(api->file_open(&walk->bed->columnar.host, path, 0, 0, &file, &err), SINTER_OK,
                 "%s: %s", path, err.text);
    cr_assert_eq(api->file_info(file, &info, &err), SINTER_OK);
    cr_expect_eq(info.kind,
                 ends_with(path, ".orc") ? SINTER__COLUMNAR_ORC : SINTER__COLUMNAR_PARQUET);
    api->file_close(file);
    cr_expect_eq(bed_read(walk->bed, path, &read, false, &err), (int64_t)info.row_count, "%s: %s",
                 path, err.text);
    walk->files++;
}

static sinter_status
visit(void *ctx, const char *name)
{
    const folder *above = ctx;
    char path[1024];
    folder here = {above->bed, path, 0};
    sinter_io *io = above->bed->env.io;
    sinter_io_stat stat;

    cr_assert_lt(snprintf(path, sizeof path, "%s/%s", above->dir, name), (int)sizeof path);
    cr_assert_eq(io->ops->stat(io, path, &stat, NULL), SINTER_OK);
    if (stat.is_directory) {
        cr_assert_eq(io->ops->list(io, path, visit, &here, NULL), SINTER_OK);
    } else if (ends_with(name, ".parquet") || ends_with(name, ".orc")) {
        read_file(&here, path);
    }
    ((folder *)ctx)->files += here.files;
    return SINTER_OK;
}

Test(format_columnar_tables, every_file_of_the_tables_is_read)
{
    const char *dir = getenv("SINTER_TABLES_DIR");
    sinter_io *memory_io = NULL;
    folder walk = {0};
    sinter_io_stat stat;
    columnar_bed bed;

    bed_init(&bed, (uint64_t)256 << 20);
    memory_io = bed.env.io;
    bed.env.io = sinter_io_posix();
    walk = (folder){&bed, dir != NULL ? dir : TABLES_DIR, 0};
    if (dir != NULL || bed.env.io->ops->stat(bed.env.io, TABLES_DIR, &stat, NULL) == SINTER_OK) {
        cr_assert_eq(bed.env.io->ops->list(bed.env.io, walk.dir, visit, &walk, NULL), SINTER_OK);
        cr_expect_gt(walk.files, 0);
    }
    bed.env.io = memory_io;
    bed_fini(&bed);
}
