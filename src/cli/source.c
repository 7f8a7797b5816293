#include "cli/source.h"

#include <string.h>

#include "cli/opts.h"
#include "cli/report.h"

bool
cli_is_directory(const cli *session, const char *path)
{
    sinter_io_stat info;

    memset(&info, 0, sizeof info);
    return session->boot.io->ops->stat(session->boot.io, path, &info, NULL) == SINTER_OK &&
           info.is_directory;
}

/* Is the first thing in the file a brace, as in a JSON object? Data files begin otherwise. */
static bool
begins_with_brace(const cli *session, const char *path)
{
    const sinter_io_ops *ops = session->boot.io->ops;
    char start[64] = {0};
    sinter_io_range range = {.data = start, .size = sizeof start - 1};
    sinter_io_file *file = NULL;
    uint64_t size = 0;
    bool is_read = false;

    if (ops->open(session->boot.io, path, 0, &file, NULL) != SINTER_OK) {
        return false;
    }
    if (ops->size(file, &size, NULL) == SINTER_OK) {
        range.size = size < range.size ? (size_t)size : range.size;
        is_read = range.size > 0 && ops->read(file, &range, 1, NULL) == SINTER_OK;
    }
    ops->close(file);
    return is_read && start[strspn(start, " \t\r\n")] == '{';
}

bool
cli_is_source(const cli *session, const char *path)
{
    const size_t length = strlen(path);

    return (length > 5 && strcmp(path + length - 5, ".json") == 0) ||
           cli_is_directory(session, path) || begins_with_brace(session, path);
}

static int
load(cli *session, const char *base_dir, uint32_t flags, cli_source *source)
{
    const sinter_files_load_options load_options = {
        .struct_size = (uint32_t)sizeof load_options,
        .flags = (flags & CLI_SOURCE_TRUST) != 0 ? SINTER_FILES_LOAD_TRUST : 0,
        .base_dir = base_dir,
    };
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    if ((flags & CLI_SOURCE_WRITE) != 0 && cli_is_directory(session, source->path)) {
        st = sinter_catalog_open(&session->boot, source->path, SINTER_CATALOG_WRITE,
                                 &source->catalog, &err);
    }
    if (st == SINTER_OK && (flags & CLI_SOURCE_FILE) != 0 &&
        !cli_is_source(session, source->path)) {
        st = sinter_files_doc_of_file(&session->boot, source->path, &source->doc, &err);
    } else if (st == SINTER_OK) {
        st = sinter_files_doc_load(&session->boot, source->path, &load_options, &source->doc, &err);
    }
    if (st != SINTER_OK) {
        return cli_fail_status(st, &err);
    }
    source->files = sinter_files_doc_get(source->doc);
    source->base_dir = sinter_files_doc_base_dir(source->doc);
    source->codec = sinter_files_doc_key_codec(source->doc);
    source->row_type = sinter_files_doc_row_type(source->doc);
    return CLI_EXIT_OK;
}

static int
set_options(const cli_common *common, cli_source *source)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st;
    int code;

    sinter_compact_options_init(&source->options);
    st = sinter_files_doc_options(source->doc, &source->options, &err);
    if (st != SINTER_OK) {
        if (err.file[0] == '\0') {
            (void)snprintf(err.file, sizeof err.file, "%s", source->path);
        }
        return cli_fail_status(st, &err);
    }
    code = cli_settings_apply(&common->settings, &source->options);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    code = cli_memory_apply(common, &source->options);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    st = sinter_compact_options_check(&source->options, &err);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail(CLI_EXIT_USAGE, "%s", err.text);
}

/* Highest level: that of the document, else of the options; never below a file's level. */
static int32_t
find_max_level(const cli_source *source)
{
    int32_t levels = source->files->num_levels > 0
                         ? source->files->num_levels
                         : (int32_t)sinter_compact_num_levels(&source->options);

    for (size_t i = 0; i < source->files->file_count; i++) {
        if (source->files->files[i].level >= levels) {
            levels = source->files->files[i].level + 1;
        }
    }
    return levels - 1;
}

int
cli_source_open(cli *session, const cli_common *common, const char *path, const char *base_dir,
                uint32_t flags, cli_source *out)
{
    int code;

    memset(out, 0, sizeof *out);
    out->path = path;
    code = load(session, base_dir, flags, out);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    code = set_options(common, out);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    out->max_level = find_max_level(out);
    return CLI_EXIT_OK;
}

void
cli_source_close(cli_source *source)
{
    sinter_files_doc_destroy(source->doc);
    sinter_catalog_close(source->catalog);
}

void
cli_put_text(sinter_text *text)
{
    if (text->size > 0) {
        (void)fwrite(text->data, 1, text->size, stdout);
        (void)cli_output_failed();
    }
    sinter_text_fini(text);
}
