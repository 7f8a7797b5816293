/* Compacts the files of a directory that `sinter ingest`, or write_files.c, made. */
#include <stdio.h>
#include <stdlib.h>

#include <sinter/sinter.h>

int
main(int argc, char **argv)
{
    const sinter_env *env = sinter_env_default();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_catalog *catalog = NULL;
    sinter_compact_result *result = NULL;
    sinter_compact_task task;
    sinter_file_meta *picked = NULL;
    sinter_status st;

    sinter_compact_task_init(&task); /* all options have defaults */
    st = sinter_catalog_open(env, argc > 1 ? argv[1] : ".", SINTER_CATALOG_WRITE, &catalog, &err);
    if (st == SINTER_OK) {
        const sinter_files_doc *doc = sinter_catalog_doc(catalog);
        const sinter_files *all = sinter_files_doc_get(doc);

        task.base_dir = sinter_files_doc_base_dir(doc);
        task.key_types = all->key_types;
        task.row_type = all->row_type;
        task.output_level = task.max_level;
        picked = malloc((all->file_count + 1) * sizeof *picked);
        st = sinter_compact_task_pick_full(&task, all->files, all->file_count, picked, &err);
    }
    if (st == SINTER_OK) {
        st = sinter_compact_task_run(env, &task, &result, &err);
    }
    if (st == SINTER_OK) {
        printf("%zu files became %zu\n", sinter_compact_result_before(result)->count,
               sinter_compact_result_after(result)->count);
        st = sinter_catalog_apply(catalog, result, &err);
    }
    if (st == SINTER_OK) {
        st = sinter_catalog_commit(catalog, &err);
    }
    if (st != SINTER_OK && result != NULL) { /* the new files, unless the catalog names them */
        (void)!sinter_catalog_discard(catalog, result, NULL);
    }
    if (st != SINTER_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    }
    sinter_compact_result_destroy(result);
    sinter_catalog_close(catalog);
    free(picked);
    return st == SINTER_OK ? 0 : 1;
}
