/*
 * Every metadata file in Avro of the tables that Paimon made: SINTER_TABLES_DIR, or
 * `../shared/tables` beside the tree, or the samples in tests/data alone.
 */
#include <avro.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../format/avro_compare.h"
#include "manifest_bed.h"

TestSuite(table_real_manifests, .timeout = 600);

enum { PATH_MAX_CHARS = 4096 };

/* What was seen. */
typedef struct walk {
    size_t manifests;
    size_t lists;
    size_t indexes;
    size_t others; /* ORC and Parquet */
    size_t ours;   /* with the schema that we write */
} walk;

/* Records of a block as avro-c reads them are those that we read. */
static void
compare_block(const sinter__avro_block *block, sinter__avro_decoder *decoder, avro_value_t *root)
{
    avro_reader_t reader =
        avro_reader_memory((const char *)block->bytes.data, (int64_t)block->bytes.size);
    sinter__avro_cursor cursor = {block->bytes.data, block->bytes.data + block->bytes.size};

    for (uint64_t i = 0; i < block->count; i++) {
        sinter__manifest_entry entry;
        avro_value_t value;

        avro_value_reset(root);
        cr_assert_eq(avro_value_read(reader, root), 0);
        value = *root;
        cr_assert(avro_compare_unwrap(&value));
        cr_assert_eq(sinter__avro_decoder_next(decoder, &cursor, &entry, NULL), SINTER_OK);
        avro_compare(&value, &sinter__manifest_entry_shape, (const uint8_t *)&entry);
    }
    cr_assert(cursor.at == cursor.end);
    avro_reader_free(reader);
}

static void
compare_with_avro_c(const char *path)
{
    const sinter_env *env = sinter_env_default();
    sinter__avro_reader *file = NULL;
    sinter__avro_schema *schema = NULL;
    sinter__avro_decoder *decoder = NULL;
    sinter__avro_block block = {0};
    sinter_bytes text = {0};
    avro_schema_t theirs = NULL;
    avro_value_iface_t *kind = NULL;
    avro_value_t root;

    cr_assert_eq(sinter__avro_reader_open(env, path, NULL, &file, NULL), SINTER_OK);
    cr_assert(sinter__avro_reader_meta(file, "avro.schema", &text));
    cr_assert_eq(sinter__avro_schema_parse(env, text, &schema, NULL), SINTER_OK);
    cr_assert_eq(
        sinter__avro_decoder_create(env, schema, &sinter__manifest_entry_shape, &decoder, NULL),
        SINTER_OK);
    cr_assert_eq(avro_schema_from_json_length((const char *)text.data, text.size, &theirs), 0);
    kind = avro_generic_class_from_schema(theirs);
    cr_assert_eq(avro_generic_value_new(kind, &root), 0);
    while (sinter__avro_reader_next(file, &block, NULL) == SINTER_OK) {
        compare_block(&block, decoder, &root);
    }
    avro_value_decref(&root);
    avro_value_iface_decref(kind);
    avro_schema_decref(theirs);
    sinter__avro_decoder_destroy(decoder);
    sinter__avro_schema_destroy(schema);
    sinter__avro_reader_close(file);
}

static sinter_status
rewrite_manifest(const char *path, const sinter_env *out_env, sinter_error *err)
{
    enum { ROOM = 4096 };
    const sinter__meta_write how = {.path = "out"};
    sinter__arena arena = {.env = sinter_env_default()};
    const sinter__manifest_entry **entries = calloc(ROOM, sizeof(void *));
    sinter__manifest_meta meta;
    size_t count = 0;
    sinter_status st =
        bed_read(sinter_env_default(), path, NULL, &arena, entries, ROOM, &count, err);

    if (st == SINTER_OK) {
        cr_assert_gt(count, 0);
        compare_with_avro_c(path);
        st = sinter__manifest_write(out_env, &how, entries, count, &meta, err);
    }
    free(entries);
    sinter__arena_fini(&arena);
    return st;
}

static sinter_status
rewrite_list(const char *path, const sinter_env *out_env, sinter_error *err)
{
    const sinter__meta_write how = {.path = "out"};
    sinter__manifest_list list = {0};
    uint64_t bytes = 0;
    sinter_status st = sinter__manifest_list_read(sinter_env_default(), path, 0, &list, err);

    if (st == SINTER_OK) {
        st = sinter__manifest_list_write(out_env, &how, list.items, list.count, &bytes, err);
    }
    sinter__manifest_list_fini(&list);
    return st;
}

static sinter_status
rewrite_index(const char *path, const sinter_env *out_env, sinter_error *err)
{
    const sinter__meta_write how = {.path = "out"};
    sinter__index_manifest manifest = {0};
    const sinter__index_entry *entries[256];
    uint64_t bytes = 0;
    sinter_status st = sinter__index_manifest_read(sinter_env_default(), path, &manifest, err);

    cr_assert_leq(manifest.count, 256);
    for (size_t i = 0; i < manifest.count; i++) {
        entries[i] = &manifest.items[i];
    }
    if (st == SINTER_OK) {
        st = sinter__index_manifest_write(out_env, &how, entries, manifest.count, &bytes, err);
    }
    sinter__index_manifest_fini(&manifest);
    return st;
}

/* What was written again has all fields of the file; with our schema the same bytes. */
static void
compare_files(walk *seen, const char *path, const sinter_env *out_env)
{
    bed_content theirs = bed_content_of(sinter_env_default(), path);
    bed_content ours = bed_content_of(out_env, "out");

    cr_expect_eq(ours.count, theirs.count, "%s", path);
    if (theirs.count == 0) { /* then nothing unknown is lost with the fields */
        cr_expect_eq(ours.size, 0);
    } else if (strcmp(ours.schema, theirs.schema) == 0) {
        seen->ours++;
        cr_expect(ours.size == theirs.size &&
                      (ours.size == 0 || memcmp(ours.records, theirs.records, ours.size) == 0),
                  "%s", path);
    } else {
        cr_expect(theirs.schema[0] == '[' || strlen(ours.schema) > strlen(theirs.schema), "%s",
                  path);
    }
    bed_content_fini(&theirs);
    bed_content_fini(&ours);
}

static bool
is_avro(const char *path)
{
    FILE *file = fopen(path, "rb");
    char magic[4] = {0};
    bool is_read = false;

    cr_assert_not_null(file, "%s", path);
    is_read = fread(magic, 1, sizeof magic, file) == sizeof magic;
    (void)fclose(file);
    return is_read && memcmp(magic, "Obj\x01", sizeof magic) == 0;
}

static void
try_file(walk *seen, const char *path, const char *name)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    avro_bed bed;

    if (!is_avro(path)) {
        seen->others++;
        return;
    }
    avro_bed_init(&bed, NULL);
    if (strstr(name, "index-manifest-") == name) {
        seen->indexes++;
        st = rewrite_index(path, &bed.env, &err);
    } else if (strstr(name, "manifest-list-") == name || strstr(name, "manifest_list") != NULL) {
        seen->lists++;
        st = rewrite_list(path, &bed.env, &err);
    } else {
        seen->manifests++;
        st = rewrite_manifest(path, &bed.env, &err);
    }
    cr_expect_eq(st, SINTER_OK, "%s: %s", path, err.text);
    if (st == SINTER_OK) {
        compare_files(seen, path, &bed.env);
    }
    avro_bed_fini(&bed);
}

static void
walk_folder(walk *seen, const char *path, bool is_manifest)
{
    DIR *dir = opendir(path);
    const struct dirent *item = NULL;

    cr_assert_not_null(dir, "%s", path);
    while ((item = readdir(dir)) != NULL) {
        char name[PATH_MAX_CHARS];
        struct stat stat_of = {0};

        (void)snprintf(name, sizeof name, "%s/%s", path, item->d_name);
        if (item->d_name[0] == '.' || stat(name, &stat_of) != 0) {
            continue;
        }
        if (S_ISDIR(stat_of.st_mode)) {
            walk_folder(seen, name, strcmp(item->d_name, "manifest") == 0);
        } else if (is_manifest && strstr(item->d_name, "manifest") != NULL) {
            try_file(seen, name, item->d_name);
        }
    }
    (void)closedir(dir);
}

Test(table_real_manifests, every_file_is_read_as_avro_c_reads_it_and_written_again_with_all_it_had)
{
    const char *folder = getenv("SINTER_TABLES_DIR");
    struct stat stat_of = {0};
    walk seen = {0};

    walk_folder(&seen, SINTER_MANIFESTS, true);
    cr_expect(seen.manifests == 2 && seen.lists == 1 && seen.indexes == 1 && seen.ours == 4);
    folder = folder == NULL ? SINTER_TABLES : folder;
    if (stat(folder, &stat_of) == 0) {
        walk_folder(&seen, folder, false);
    }
    cr_expect_lt(seen.others, seen.manifests + seen.lists + seen.indexes);
}
