/*
 * wide_table DIR PARTITIONS BUCKETS FILES MANIFEST_BYTES: the metadata of a table of many files.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sinter/io.h"
#include "wide_table.h"

int
main(int argc, char **argv)
{
    wide_table shape = {.partitions = 0};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *io = NULL;
    sinter_env env;
    sinter_status st = SINTER_OK;

    if (argc != 6) {
        fprintf(stderr, "wide_table DIR PARTITIONS BUCKETS FILES MANIFEST_BYTES\n");
        return 2;
    }
    shape.partitions = (uint32_t)strtoul(argv[2], NULL, 10);
    shape.buckets = (uint32_t)strtoul(argv[3], NULL, 10);
    shape.files = (uint32_t)strtoul(argv[4], NULL, 10);
    shape.manifest_bytes = strtoull(argv[5], NULL, 10);
    sinter_env_init(&env);
    st = sinter_io_create(&env, SINTER_IO_POSIX, NULL, &io, &err);
    if (st == SINTER_OK) {
        env.io = io;
        st = wide_table_write(&env, argv[1], &shape, &err);
    }
    if (st != SINTER_OK) {
        fprintf(stderr, "wide_table: %s: %s\n", err.file, err.text);
    }
    sinter_io_destroy(io);
    return st == SINTER_OK ? 0 : 1;
}
