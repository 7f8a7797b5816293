/*
 * Prints what a reader of all files of a directory sees, as JSON lines, without writing anything.
 */
#include <stdio.h>

#include <sinter/sinter.h>

static sinter_status
print_range(sinter_row_writer *writer, const sinter_range *range, sinter_text *text,
            sinter_error *err)
{
    const sinter_batch *batch = range->batch;
    sinter_status st = SINTER_OK;

    for (uint32_t i = range->first; st == SINTER_OK && i < range->first + range->count; i++) {
        st = sinter_row_writer_append_stored(writer, batch->kinds[i], sinter_batch_key(batch, i),
                                             batch->payload_ops->value(batch, i), text, err);
    }
    if (text->size > 0) {
        (void)fwrite(text->data, 1, text->size, stdout);
        sinter_text_reset(text);
    }
    return st;
}

static sinter_status
print_view(const sinter_env *env, const sinter_files_doc *doc, sinter_error *err)
{
    const sinter_row_options row_options = {.struct_size = (uint32_t)sizeof row_options};
    const sinter_files *files = sinter_files_doc_get(doc);
    const sinter_view_source source = {.struct_size = (uint32_t)sizeof source,
                                       .base_dir = sinter_files_doc_base_dir(doc),
                                       .files = files->files,
                                       .count = files->file_count};
    sinter_row_writer *writer = NULL;
    sinter_view *view = NULL;
    sinter_range ranges[32];
    sinter_text text;
    size_t count = 0;
    sinter_status st;

    sinter_text_init(env, &text);
    st = sinter_row_writer_create(env, sinter_files_doc_row_type(doc), &row_options, &writer, err);
    if (st == SINTER_OK) {
        st = sinter_view_open(env, &source, NULL, &view, err);
    }
    while (st == SINTER_OK) {
        st = sinter_view_next(view, ranges, 32, &count, err);
        for (size_t i = 0; st == SINTER_OK && i < count; i++) {
            st = print_range(writer, &ranges[i], &text, err);
        }
    }
    sinter_view_close(view);
    sinter_row_writer_destroy(writer);
    sinter_text_fini(&text);
    return st == SINTER_END ? SINTER_OK : st;
}

int
main(int argc, char **argv)
{
    const sinter_env *env = sinter_env_default();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_files_doc *doc = NULL;
    sinter_status st;

    st = sinter_files_doc_load(env, argc > 1 ? argv[1] : ".", NULL, &doc, &err);
    if (st == SINTER_OK) {
        st = print_view(env, doc, &err);
    }
    if (st != SINTER_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    }
    sinter_files_doc_destroy(doc);
    return st == SINTER_OK ? 0 : 1;
}
