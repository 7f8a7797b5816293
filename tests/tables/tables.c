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

/** Files of the system, but for those that tables of paimon-cpp have outside of their folders. */
typedef struct mapped_io {
    sinter_io base;
    sinter_io *inner;
    const char *dir; /* of the case */
} mapped_io;

/** Where a file lies: what tables name as "/tmp/external" came with them. */
static const char *
map_path(const mapped_io *io, const char *path, char *out)
{
    static const char outside[] = "/tmp/external/";

    if (strncmp(path, outside, sizeof outside - 1) != 0) {
        return path;
    }
    (void)snprintf(out, PATH_BYTES, "%s/external/%s", io->dir, path + sizeof outside - 1);
    return out;
}

static sinter_status
mapped_open(sinter_io *base, const char *path, uint32_t flags, sinter_io_file **out,
            sinter_error *err)
{
    const mapped_io *io = (const mapped_io *)base;
    char mapped[PATH_BYTES];

    return io->inner->ops->open(io->inner, map_path(io, path, mapped), flags, out, err);
}

static sinter_status
mapped_stat(sinter_io *base, const char *path, sinter_io_stat *out, sinter_error *err)
{
    const mapped_io *io = (const mapped_io *)base;
    char mapped[PATH_BYTES];

    return io->inner->ops->stat(io->inner, map_path(io, path, mapped), out, err);
}

static sinter_status
mapped_list(sinter_io *base, const char *path, sinter_status (*each)(void *ctx, const char *name),
            void *ctx, sinter_error *err)
{
    const mapped_io *io = (const mapped_io *)base;

    return io->inner->ops->list(io->inner, path, each, ctx, err);
}

/* For reading. */
static const sinter_io_ops mapped_ops = {.struct_size = (uint32_t)sizeof mapped_ops,
                                         .name = "mapped",
                                         .open = mapped_open,
                                         .stat = mapped_stat,
                                         .list = mapped_list};

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

/** A folder of cases. */
typedef struct folder {
    const char *path;     /* under the root */
    const char *table;    /* name of the table of each; NULL: that of its case */
    const char *expected; /* see table_case */
    bool is_optional;
} folder;

static bool
run_case(const char *root, const folder *in, const char *entry, bool (*run)(table_case *test),
         sinter_io *inner)
{
    sinter_table_config config = {.struct_size = (uint32_t)sizeof config};
    mapped_io io = {.base.ops = &mapped_ops, .inner = inner};
    table_case test = {.expected = in->expected};
    const int size = (int)(strlen(entry) - strlen(".db"));
    char name[NAME_BYTES];
    char dir[PATH_BYTES];
    char path[PATH_BYTES + NAME_BYTES];
    bool has_checked = false;

    (void)snprintf(name, sizeof name, "%s%s%.*s", in->table == NULL ? in->path : "",
                   in->table == NULL ? "/" : "", size, entry);
    (void)snprintf(dir, sizeof dir, "%s/%s/%s", root, in->path, entry);
    (void)snprintf(path, sizeof path, "%s/%.*s", dir, in->table == NULL ? size : 1,
                   in->table == NULL ? entry : in->table);
    test.name = name;
    test.dir = io.dir = dir;
    sinter_env_init(&test.env);
    test.env.io = &io.base;
#ifdef SINTER_TABLES_COLUMNAR
    test.env.columnar_library = SINTER_TABLES_COLUMNAR;
#endif
    config.path = path;
    cr_assert_eq(sinter_table_open(&test.env, &config, &test.table, NULL), SINTER_OK, "%s", path);
    has_checked = run(&test);
    sinter_table_close(test.table);
    return has_checked;
}

static void
run_folder(const char *root, const folder *in, bool (*run)(table_case *test), sinter_io *io)
{
    char path[PATH_BYTES];
    struct dirent **entries = NULL;
    int checked = 0;
    int count = 0;

    (void)snprintf(path, sizeof path, "%s/%s", root, in->path);
    count = scandir(path, &entries, is_case, alphasort);
    if (count <= 0 && in->is_optional) {
        free(entries);
        return;
    }
    cr_assert_gt(count, 0, "%s holds no tables", path);
    for (int i = 0; i < count; i++) {
        checked += run_case(root, in, entries[i]->d_name, run, io) ? 1 : 0;
        free(entries[i]);
    }
    free(entries);
    cr_assert(checked > 0 || in->is_optional, "%s holds nothing to check", path);
    printf("tables: %s: %d of %d\n", path, checked, count);
    (void)fflush(stdout);
}

static void
run_folders(const folder *folders, size_t count, bool (*run)(table_case *test))
{
    sinter_io *io = NULL;

    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_POSIX, NULL, &io, NULL),
                 SINTER_OK);
    for (size_t i = 0; i < count; i++) {
        run_folder(tables_dir(), &folders[i], run, io);
    }
    sinter_io_destroy(io);
}

static const folder folders[] = {
    {"oracle", "t", "expected", false},          {"paimon-cpp/avro", NULL, "expected/", true},
    {"paimon-cpp/orc", NULL, "expected/", true}, {"paimon-cpp/parquet", NULL, "expected/", true},
    {"paimon-cpp", NULL, "expected/", true},
};

void
tables_run(bool (*run)(table_case *test))
{
    run_folders(folders, 1, run);
}

void
tables_run_all(bool (*run)(table_case *test))
{
    run_folders(folders, sizeof folders / sizeof folders[0], run);
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
    return fnmatch("*_avro", test->name, 0) == 0 ||
           fnmatch("paimon-cpp/avro/*", test->name, 0) == 0;
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
