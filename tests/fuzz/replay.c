/*
 * Runs a fuzz target over files and folders of files: replay PATH...
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { INPUT_BYTES_MAX = 64 << 20, PATH_CHARS_MAX = 4096 };

static size_t replayed;

static void
die(const char *what, const char *path)
{
    (void)fprintf(stderr, "replay: %s: %s\n", what, path);
    exit(2);
}

static void
replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long size = 0;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
        size > INPUT_BYTES_MAX || fseek(file, 0, SEEK_SET) != 0) {
        die("can't read", path);
    }
    bytes = malloc((size_t)size + 1); /* an input ends where its memory ends, but for one byte */
    if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        die("can't read", path);
    }
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    replayed++;
}

static void
replay(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *item = NULL;

    if (dir == NULL) {
        replay_file(path);
        return;
    }
    while ((item = readdir(dir)) != NULL) {
        char name[PATH_CHARS_MAX];

        if (item->d_name[0] != '.') {
            (void)snprintf(name, sizeof name, "%s/%s", path, item->d_name);
            replay_file(name);
        }
    }
    (void)closedir(dir);
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        replay(argv[i]);
    }
    (void)printf("%zu inputs replayed\n", replayed);
    return replayed == 0;
}
