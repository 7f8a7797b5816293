#include "table/consumers.h"

#include <string.h>

#include "base/fail.h"
#include "doc/files_doc.h"
#include "doc/text.h"
#include "sinter/io.h"
#include "table/json_file.h"

/** A walk over a directory of consumers. */
typedef struct walk {
    const sinter_env *env;
    const char *dir;
    int64_t next;
    sinter_error detail;
} walk;

static sinter_status
read_next(const sinter_env *env, const char *path, int64_t *next, sinter_error *err)
{
    sinter__arena arena = {.env = env};
    sinter__json_file file = {0};
    sinter_text text;
    int64_t value = 0;
    bool is_given = false;
    sinter_status st = SINTER_OK;

    sinter_text_init(env, &text);
    SINTER__TRY(sinter__doc_read_file(env, path, &text, err));
    SINTER__TRY(sinter__json_file_open(path, sinter_text_bytes(&text), &arena, &file, err));
    SINTER__TRY(sinter__json_file_status(sinter__doc_integer(&file.root, "nextSnapshot",
                                                             (sinter__doc_range){0, INT64_MAX},
                                                             &is_given, &value, err),
                                         path, err));
    if (!is_given) {
        SINTER__FAIL_AT(err, SINTER_E_CORRUPT, path, -1, "the member nextSnapshot is missing");
    }
    *next = value < *next ? value : *next;
out:
    sinter__json_file_close(&file);
    sinter_text_fini(&text);
    sinter__arena_fini(&arena);
    return st;
}

static sinter_status
note_consumer(void *ctx, const char *name)
{
    walk *self = ctx;
    sinter_text path;
    sinter_status st = SINTER_OK;

    if (strncmp(name, "consumer-", sizeof "consumer-" - 1) != 0) {
        return SINTER_OK;
    }
    sinter_text_init(self->env, &path);
    SINTER__TRY(sinter__text_puts(&path, self->dir, &self->detail));
    SINTER__TRY(sinter__text_puts(&path, "/", &self->detail));
    SINTER__TRY(sinter__text_puts(&path, name, &self->detail));
    st = read_next(self->env, path.data, &self->next, &self->detail);
    if (st == SINTER_E_NOT_FOUND) { /* it has just gone */
        st = SINTER_OK;
    }
out:
    sinter_text_fini(&path);
    return st;
}

sinter_status
sinter__consumers_next(sinter_table *table, int64_t *out, sinter_error *err)
{
    sinter_io *io = table->env->io;
    walk self = {.env = table->env, .next = INT64_MAX, .detail = SINTER_ERROR_INIT};
    sinter_text dir;
    sinter_status st = SINTER_OK;

    sinter_text_init(table->env, &dir);
    SINTER__TRY(sinter__table_dir(table, "consumer", &dir, err));
    self.dir = dir.data;
    st = io->ops->list(io, dir.data, note_consumer, &self, &self.detail);
    if (st == SINTER_E_NOT_FOUND) {
        st = SINTER_OK;
    } else if (st != SINTER_OK && err != NULL) {
        *err = self.detail;
    }
    *out = self.next;
out:
    sinter_text_fini(&dir);
    return st;
}
