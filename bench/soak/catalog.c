#include "soak/catalog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 512, NAME_ROOM = 256, KEY_HEX_ROOM = 256 };

/* ---- files ---- */

static sinter_bytes
copy_bytes(sinter_bytes bytes)
{
    uint8_t *copy = soak_allocate(bytes.size);

    if (bytes.size > 0) {
        memcpy(copy, bytes.data, bytes.size);
    }
    return (sinter_bytes){copy, bytes.size};
}

static void
file_add(soak_catalog *catalog, const sinter_file_meta *file)
{
    const size_t name_size = strlen(file->file_name) + 1;
    char *name = soak_allocate(name_size);
    sinter_file_meta *copy = NULL;

    if (catalog->count == catalog->capacity) {
        catalog->capacity = catalog->capacity == 0 ? 8 : catalog->capacity * 2;
        catalog->files = soak_resize(catalog->files, catalog->capacity, sizeof *catalog->files);
    }
    memcpy(name, file->file_name, name_size);
    copy = &catalog->files[catalog->count++];
    *copy = (sinter_file_meta){.struct_size = (uint32_t)sizeof *copy,
                               .level = file->level,
                               .file_name = name,
                               .file_size = file->file_size,
                               .row_count = file->row_count,
                               .delete_row_count = file->delete_row_count,
                               .min_sequence_number = file->min_sequence_number,
                               .max_sequence_number = file->max_sequence_number,
                               .creation_time_ms = file->creation_time_ms,
                               .min_key = copy_bytes(file->min_key),
                               .max_key = copy_bytes(file->max_key),
                               .schema_id = file->schema_id,
                               .file_source = file->file_source,
                               .upgraded_from = -1};
}

static void
file_fini(sinter_file_meta *file)
{
    free((void *)(uintptr_t)file->file_name);
    free((void *)(uintptr_t)file->min_key.data);
    free((void *)(uintptr_t)file->max_key.data);
}

static sinter_file_meta *
file_find(const soak_catalog *catalog, const char *name)
{
    for (size_t i = 0; i < catalog->count; i++) {
        if (strcmp(catalog->files[i].file_name, name) == 0) {
            return &catalog->files[i];
        }
    }
    return NULL;
}

void
soak_catalog_init(soak_catalog *catalog)
{
    *catalog = (soak_catalog){.max_sequence = -1};
}

void
soak_catalog_fini(soak_catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++) {
        file_fini(&catalog->files[i]);
    }
    free(catalog->files);
    soak_catalog_init(catalog);
}

void
soak_catalog_copy(const soak_catalog *catalog, soak_catalog *out)
{
    soak_catalog_init(out);
    out->moment = catalog->moment;
    out->max_sequence = catalog->max_sequence;
    for (size_t i = 0; i < catalog->count; i++) {
        file_add(out, &catalog->files[i]);
    }
}

bool
soak_catalog_names(const soak_catalog *catalog, const char *file_name)
{
    return file_find(catalog, file_name) != NULL;
}

static void
add_all(soak_catalog *catalog, const sinter_file_list *list, const char *what)
{
    for (size_t i = 0; i < list->count; i++) {
        const sinter_file_meta *file = &list->files[i];

        if (file_find(catalog, file->file_name) != NULL) {
            soak_wrong("%s %s, which the catalog holds already", what, file->file_name);
        }
        file_add(catalog, file);
    }
}

void
soak_catalog_apply(soak_catalog *catalog, const sinter_increment *increment, uint64_t moment)
{
    const sinter_file_list *before = sinter_increment_compact_before(increment);
    const int64_t max_sequence = sinter_increment_max_sequence(increment);

    add_all(catalog, sinter_increment_new_files(increment), "a flush made");
    for (size_t i = 0; i < before->count; i++) {
        sinter_file_meta *file = file_find(catalog, before->files[i].file_name);

        if (file == NULL || file->level != before->files[i].level) {
            soak_wrong("a compaction retires %s of level %d, which the catalog does not hold",
                       before->files[i].file_name, (int)before->files[i].level);
        }
        file_fini(file);
        *file = catalog->files[--catalog->count];
    }
    add_all(catalog, sinter_increment_compact_after(increment), "a compaction made");
    if (max_sequence < catalog->max_sequence) {
        soak_wrong("the largest sequence went back from %" PRId64 " to %" PRId64,
                   catalog->max_sequence, max_sequence);
    }
    catalog->max_sequence = max_sequence;
    catalog->moment = moment;
}

/* ---- text ---- */

static uint64_t
checksum(const char *text, size_t size)
{
    uint64_t sum = size;

    for (size_t i = 0; i < size; i++) {
        sum = soak_mix(sum, (uint8_t)text[i]);
    }
    return sum;
}

static void
print_hex(FILE *out, sinter_bytes bytes)
{
    fputs(bytes.size == 0 ? " -" : " ", out);
    for (size_t i = 0; i < bytes.size; i++) {
        fprintf(out, "%02x", bytes.data[i]);
    }
}

static void
print_catalog(FILE *out, const soak_catalog *catalog)
{
    fprintf(out, "soak-catalog 1\nmoment %" PRIu64 "\nmax-sequence %" PRId64 "\n", catalog->moment,
            catalog->max_sequence);
    for (size_t i = 0; i < catalog->count; i++) {
        const sinter_file_meta *file = &catalog->files[i];

        fprintf(out,
                "file %s %d %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                " %" PRId64 " %d",
                file->file_name, (int)file->level, file->file_size, file->row_count,
                file->delete_row_count, file->min_sequence_number, file->max_sequence_number,
                file->creation_time_ms, file->schema_id, (int)file->file_source);
        print_hex(out, file->min_key);
        print_hex(out, file->max_key);
        fputc('\n', out);
    }
}

sinter_status
soak_catalog_save(const sinter_env *env, const char *dir, const soak_catalog *catalog,
                  sinter_error *err)
{
    char path[PATH_ROOM];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    sinter_status st = SINTER_OK;

    if (out == NULL) {
        soak_wrong("the program itself is out of memory");
    }
    print_catalog(out, catalog);
    fflush(out);
    fprintf(out, "end %zu %016" PRIx64 "\n", catalog->count, checksum(text, size));
    fclose(out);
    (void)snprintf(path, sizeof path, "%s/" SOAK_CATALOG_NAME, dir);
    st = env->io->ops->replace(env->io, path, text, size, err);
    free(text);
    return st;
}

static sinter_bytes
parse_hex(const char *text, uint8_t room[KEY_HEX_ROOM / 2])
{
    size_t size = 0;

    for (; text[0] != '-' && text[2 * size] != '\0'; size++) {
        const char pair[3] = {text[2 * size], text[2 * size + 1], '\0'};

        room[size] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return (sinter_bytes){room, size};
}

static bool
parse_file(const char *line, soak_catalog *out)
{
    char name[NAME_ROOM];
    char min_hex[KEY_HEX_ROOM];
    char max_hex[KEY_HEX_ROOM];
    uint8_t min_key[KEY_HEX_ROOM / 2];
    uint8_t max_key[KEY_HEX_ROOM / 2];
    sinter_file_meta file = {.file_name = name};

    if (sscanf(line,
               "file %255s %" SCNd32 " %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64
               " %" SCNd64 " %" SCNd64 " %" SCNd32 " %255s %255s",
               name, &file.level, &file.file_size, &file.row_count, &file.delete_row_count,
               &file.min_sequence_number, &file.max_sequence_number, &file.creation_time_ms,
               &file.schema_id, &file.file_source, min_hex, max_hex) != 12) {
        return false;
    }
    file.min_key = parse_hex(min_hex, min_key);
    file.max_key = parse_hex(max_hex, max_key);
    file_add(out, &file);
    return true;
}

static bool
parse(char *text, soak_catalog *out)
{
    char *line = text;
    char *next = NULL;
    size_t count = 0;
    uint64_t sum = 0;

    if (sscanf(line, "soak-catalog 1\nmoment %" SCNu64 "\nmax-sequence %" SCNd64, &out->moment,
               &out->max_sequence) != 2) {
        return false;
    }
    for (int i = 0; i < 3 && line != NULL; i++) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    for (; line != NULL && strncmp(line, "file ", 5) == 0; line = next) {
        next = strchr(line, '\n');
        if (next == NULL) {
            return false;
        }
        next++;
        if (!parse_file(line, out)) {
            return false;
        }
    }
    return line != NULL && sscanf(line, "end %zu %" SCNx64, &count, &sum) == 2 &&
           count == out->count && sum == checksum(text, (size_t)(line - text));
}

static sinter_status
read_text(sinter_io *io, const char *path, char **out, sinter_error *err)
{
    sinter_io_file *file = NULL;
    uint64_t size = 0;
    sinter_status st = io->ops->open(io, path, 0, &file, err);

    *out = NULL;
    if (st != SINTER_OK) {
        return st;
    }
    st = file->ops->size(file, &size, err);
    if (st == SINTER_OK) {
        sinter_io_range all = {.size = (size_t)size};

        *out = soak_allocate((size_t)size + 1);
        all.data = *out;
        st = size == 0 ? SINTER_OK : file->ops->read(file, &all, 1, err);
    }
    file->ops->close(file);
    return st;
}

sinter_status
soak_catalog_load(const sinter_env *env, const char *dir, soak_catalog *out, sinter_error *err)
{
    char path[PATH_ROOM];
    char *text = NULL;
    sinter_status st = SINTER_OK;

    soak_catalog_init(out);
    (void)snprintf(path, sizeof path, "%s/" SOAK_CATALOG_NAME, dir);
    st = read_text(env->io, path, &text, err);
    if (st == SINTER_OK && !parse(text, out)) {
        soak_wrong("%s is no whole catalog", path);
    }
    free(text);
    return st;
}

/* ---- the directory ---- */

typedef struct dir_check {
    const char *dir;
    const soak_catalog *catalog;
    size_t named;
} dir_check;

static sinter_status
check_name(void *ctx, const char *name)
{
    dir_check *check = ctx;

    if (soak_catalog_names(check->catalog, name)) {
        check->named++;
    } else if (strcmp(name, SOAK_CATALOG_NAME) != 0 && strstr(name, "lock") == NULL) {
        soak_wrong("%s/%s is garbage: the catalog does not name it", check->dir, name);
    }
    return SINTER_OK;
}

sinter_status
soak_catalog_check_dir(const sinter_env *env, const char *dir, const soak_catalog *catalog,
                       sinter_error *err)
{
    dir_check check = {.dir = dir, .catalog = catalog};
    sinter_status st = env->io->ops->list(env->io, dir, check_name, &check, err);

    for (size_t i = 0; st == SINTER_OK && check.named < catalog->count && i < catalog->count; i++) {
        char path[PATH_ROOM];
        sinter_io_stat about;

        (void)snprintf(path, sizeof path, "%s/%s", dir, catalog->files[i].file_name);
        st = env->io->ops->stat(env->io, path, &about, err);
        if (st == SINTER_E_NOT_FOUND) {
            soak_wrong("%s is gone: the catalog names it", path);
        }
    }
    return st;
}
