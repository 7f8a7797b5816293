/*
 * Makes a directory with a catalog, and writes rows into it: three level-0 files that overlap.
 */
#include <stdio.h>
#include <string.h>

#include <sinter/sinter.h>

/* One row (id, name); a later row of the same id replaces it, a delete takes it away. */
static sinter_status
add(sinter_ingest *ingest, uint8_t kind, int64_t id, const char *name, sinter_error *err)
{
    sinter_datum values[2] = {0};

    values[0].as.integer = id;
    values[1].is_null = name == NULL;
    values[1].as.bytes.data = (const uint8_t *)name;
    values[1].as.bytes.size = name == NULL ? 0 : strlen(name);
    return sinter_ingest_add(ingest, kind, values, err);
}

static sinter_status
write_rows(sinter_ingest *ingest, sinter_error *err)
{
    char name[32];
    sinter_status st = SINTER_OK;

    for (int64_t id = 1; st == SINTER_OK && id <= 1000; id++) {
        (void)snprintf(name, sizeof name, "name %d", (int)id);
        st = add(ingest, SINTER_KIND_INSERT, id, name, err);
    }
    if (st == SINTER_OK) {
        st = sinter_ingest_flush(ingest, err); /* the first file */
    }
    for (int64_t id = 500; st == SINTER_OK && id <= 1500; id++) {
        st = add(ingest, SINTER_KIND_UPDATE_AFTER, id, "renamed", err);
    }
    if (st == SINTER_OK) {
        st = sinter_ingest_flush(ingest, err); /* the second */
    }
    for (int64_t id = 4; st == SINTER_OK && id <= 1400; id++) {
        st = add(ingest, SINTER_KIND_DELETE, id, NULL, err);
    }
    return st; /* finish writes the third */
}

static sinter_status
create(const sinter_env *env, const char *dir, sinter_error *err)
{
    static const char *const keys[] = {"id"};
    sinter_column columns[] = {{.name = "id"}, {.name = "name"}};
    sinter_row_type *row_type = NULL;
    sinter_catalog_options options = {.struct_size = (uint32_t)sizeof options, .num_levels = 6};
    sinter_status st;

    st = sinter_type_parse("BIGINT NOT NULL", &columns[0].type, err);
    if (st == SINTER_OK) {
        st = sinter_type_parse("STRING", &columns[1].type, err);
    }
    if (st == SINTER_OK) {
        const sinter_row_layout all = {.struct_size = (uint32_t)sizeof all,
                                       .columns = columns,
                                       .count = 2,
                                       .keys = keys,
                                       .key_count = 1};

        st = sinter_row_type_create(env, &all, &row_type, err);
    }
    if (st == SINTER_OK) {
        options.row_type = row_type;
        st = sinter_catalog_create(env, dir, &options, err);
    }
    sinter_row_type_destroy(row_type);
    return st;
}

int
main(int argc, char **argv)
{
    const sinter_env *env = sinter_env_default();
    const char *dir = argc > 1 ? argv[1] : "data";
    sinter_error err = SINTER_ERROR_INIT;
    sinter_ingest_counters counters = {.struct_size = (uint32_t)sizeof counters};
    sinter_catalog *catalog = NULL;
    sinter_ingest *ingest = NULL;
    sinter_status st;

    st = create(env, dir, &err);
    if (st == SINTER_OK) {
        st = sinter_catalog_open(env, dir, SINTER_CATALOG_WRITE, &catalog, &err);
    }
    if (st == SINTER_OK) {
        st = sinter_ingest_open(env, catalog, NULL, &ingest, &err);
    }
    if (st == SINTER_OK) {
        st = write_rows(ingest, &err);
    }
    if (st == SINTER_OK) {
        st = sinter_ingest_finish(ingest, &counters, &err); /* all files appear at once */
    }
    if (st == SINTER_OK) {
        printf("%d rows in %d files\n", (int)counters.rows_in, (int)counters.files);
    } else {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    }
    sinter_ingest_close(ingest);
    sinter_catalog_close(catalog);
    return st == SINTER_OK ? 0 : 1;
}
