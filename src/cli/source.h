/*
 * What a verb works on: a directory with a catalog, a sinter.files document, or one data file.
 */
#ifndef SINTER_CLI_SOURCE_H
#define SINTER_CLI_SOURCE_H

#include "cli/session.h"

/** An open source. Everything but `options` is borrowed from the document. */
typedef struct cli_source {
    const char *path;
    const char *base_dir;
    sinter_catalog *catalog; /* locked for changes; NULL: not */
    sinter_files_doc *doc;   /* of its own, so that it outlives changes of the catalog */
    const sinter_files *files;
    const sinter_key_codec *codec;   /* NULL: keys are opaque */
    const sinter_row_type *row_type; /* NULL: values are opaque */
    sinter_compact_options options;  /* defaults, then the document's, then the command line's */
    int32_t max_level;
} cli_source;

enum {
    CLI_SOURCE_WRITE = 1u << 0, /* a directory's catalog is locked for changes */
    CLI_SOURCE_FILE = 1u << 1,  /* what is no cli_is_source() is a data file, shown alone */
    CLI_SOURCE_TRUST = 1u << 2  /* SINTER_FILES_LOAD_TRUST */
};

/**
 * Open `path` and set up options. Those name the memory budget for cli_session_start().
 * @param base_dir  replaces a document's base_dir; NULL: as written
 * @return          an exit code; the source needs cli_source_close() in any case
 */
int
cli_source_open(cli *session, const cli_common *common, const char *path, const char *base_dir,
                uint32_t flags, cli_source *out);

void
cli_source_close(cli_source *source);

/** Is there a directory of this name? */
bool
cli_is_directory(const cli *session, const char *path);

/** Is it a directory or a document (a name that ends in ".json", or JSON inside), and no data
 *  file? */
bool
cli_is_source(const cli *session, const char *path);

/** Print a text that the library made; releases it. */
void
cli_put_text(sinter_text *text);

#endif
