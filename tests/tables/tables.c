#include "tables.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sinter/io.h"

enum { NAME_BYTES = 256, ROOT_BYTES = 4096, PATH_BYTES = ROOT_BYTES + 2 * NAME_BYTES };

static const char *
tables_dir(void)
{
    const char *named = getenv("SINTER_TABLES_DIR");

    if (named != NULL && named[0] != '\0') {
        return named;
    }
    return access(SINTER_TABLES_SHARED, R_OK) == 0 ? SINTER_TABLES_SHARED : SINTER_TABLES_SAMPLE;
}

static int
is_case(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot != NULL && strcmp(dot, ".db") == 0;
}

static bool
run_case(const char *root, const char *folder, bool (*run)(table_case *test), sinter_io *io)
{
    sinter_table_config config = {.struct_size = (uint32_t)sizeof config};
    table_case test = {.name = NULL};
    char name[NAME_BYTES];
    char dir[PATH_BYTES];
    char path[PATH_BYTES + NAME_BYTES];
    bool has_checked = false;

    (void)snprintf(name, sizeof name, "%.*s", (int)(strlen(folder) - strlen(".db")), folder);
    (void)snprintf(dir, sizeof dir, "%s/%s", root, folder);
    (void)snprintf(path, sizeof path, "%s/t", dir);
    test.name = name;
    test.dir = dir;
    sinter_env_init(&test.env);
    test.env.io = io;
#ifdef SINTER_TABLES_COLUMNAR
    test.env.columnar_library = SINTER_TABLES_COLUMNAR;
#endif
    config.path = path;
    cr_assert_eq(sinter_table_open(&test.env, &config, &test.table, NULL), SINTER_OK, "%s", path);
    has_checked = run(&test);
    sinter_table_close(test.table);
    return has_checked;
}

void
tables_run(bool (*run)(table_case *test))
{
    char root[ROOT_BYTES];
    struct dirent **entries = NULL;
    sinter_io *io = NULL;
    int checked = 0;
    int count = 0;

    (void)snprintf(root, sizeof root, "%s/oracle", tables_dir());
    count = scandir(root, &entries, is_case, alphasort);
    cr_assert_gt(count, 0, "%s holds no tables", root);
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, NULL, &io, NULL),
                 SINTER_OK);
    for (int i = 0; i < count; i++) {
        checked += run_case(root, entries[i]->d_name, run, io) ? 1 : 0;
        free(entries[i]);
    }
    free(entries);
    sinter_io_destroy(io);
    cr_assert_gt(checked, 0, "%s holds nothing to check", root);
    printf("tables: %s: %d of %d\n", root, checked, count);
    (void)fflush(stdout);
}

bool
tables_read_lines(const table_case *test, const char *name, tables_lines *out)
{
    char path[PATH_BYTES + NAME_BYTES];
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size = 0;
    FILE *file = NULL;

    *out = (tables_lines){.items = NULL};
    (void)snprintf(path, sizeof path, "%s/%s", test->dir, name);
    file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    while ((size = getline(&line, &capacity, file)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        out->items = realloc(out->items, (out->count + 1) * sizeof *out->items);
        cr_assert_not_null(out->items);
        out->items[out->count++] = strdup(line);
    }
    cr_assert_eq(ferror(file), 0, "%s", path);
    (void)fclose(file);
    free(line);
    return true;
}

void
tables_lines_free(tables_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        free(lines->items[i]);
    }
    free(lines->items);
}

json_t *
tables_read_json(const table_case *test, const char *name)
{
    char path[PATH_BYTES + NAME_BYTES];
    json_error_t error;
    json_t *json = NULL;

    (void)snprintf(path, sizeof path, "%s/%s", test->dir, name);
    json = json_load_file(path, JSON_ALLOW_NUL, &error);
    cr_assert_not_null(json, "%s: %s", path, error.text);
    return json;
}

bool
tables_can_read(const table_case *test)
{
#ifdef SINTER_TABLES_COLUMNAR
    (void)test;
    return true;
#else
    return fnmatch("*_avro", test->name, 0) == 0;
#endif
}

bool
tables_find_exception(const table_case *test, const char *what, char *reason, size_t size)
{
    FILE *file = fopen(SINTER_TABLES_EXCEPTIONS, "r");
    char line[256];
    char pattern[128];
    char refused[32];
    bool is_found = false;

    cr_assert_not_null(file);
    while (!is_found && fgets(line, sizeof line, file) != NULL) {
        int at = 0;

        is_found = line[0] != '#' && sscanf(line, "%127s %31s %n", pattern, refused, &at) == 2 &&
                   strcmp(refused, what) == 0 && fnmatch(pattern, test->name, 0) == 0;
        if (is_found) {
            (void)snprintf(reason, size, "%.*s", (int)strcspn(line + at, "\n"), line + at);
        }
    }
    (void)fclose(file);
    return is_found;
}
