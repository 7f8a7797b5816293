#include "table/snapshot_write.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "doc/text.h"
#include "sinter/io.h"
#include "table/make_dirs.h"
#include "table/numbered.h"
#include "table/snapshot.h"

sinter_status
sinter__snapshots_sync(const sinter_table *table, sinter_error *err)
{
    sinter_io *io = table->env->io;
    sinter_text dir;
    sinter_status st = SINTER_OK;

    sinter_text_init(table->env, &dir);
    SINTER__TRY(sinter__table_dir(table, "snapshot", &dir, err));
    st = io->ops->sync_dir(io, dir.data, err);
out:
    sinter_text_fini(&dir);
    return st;
}

void
sinter__hint_write(const sinter_table *table, const char *dir, const char *name, int64_t number)
{
    sinter_io *io = table->env->io;
    char digits[24];
    const int size = snprintf(digits, sizeof digits, "%" PRId64, number);
    sinter_text path;

    sinter_text_init(table->env, &path);
    if (sinter__table_dir(table, dir, &path, NULL) == SINTER_OK &&
        sinter__text_puts(&path, "/", NULL) == SINTER_OK &&
        sinter__text_puts(&path, name, NULL) == SINTER_OK) {
        /* Nobody relies on it: readers check what it says. */
        (void)!io->ops->replace(io, path.data, digits, (size_t)size, NULL);
    }
    sinter_text_fini(&path);
}

/** A file with the snapshot's text, synced, without a name. */
static sinter_status
write_text(const sinter_table *table, const sinter_snapshot *snapshot, const char *dir,
           sinter_io_file **out, sinter_error *err)
{
    sinter_io *io = table->env->io;
    sinter_io_file *file = NULL;
    sinter_text text;
    sinter_status st = SINTER_OK;

    sinter_text_init(table->env, &text);
    SINTER__TRY(sinter__snapshot_print(snapshot, &text, err));
    SINTER__TRY(io->ops->create(io, dir, 0, &file, err));
    SINTER__TRY(file->ops->append(file, text.data, text.size, err));
    SINTER__TRY(file->ops->sync(file, err));
    *out = file;
    file = NULL;
out:
    if (file != NULL) {
        file->ops->close(file);
    }
    sinter_text_fini(&text);
    return st;
}

/** Files of numbers, "snapshot/snapshot-7". */
typedef struct series {
    const char *dir;
    const char *prefix;
} series;

static sinter_status
publish(const sinter_table *table, const series *in, const sinter_snapshot *snapshot,
        sinter__publish_step *step_out, sinter_error *err)
{
    sinter_io *io = table->env->io;
    sinter_io_file *file = NULL;
    sinter_text dir;
    sinter_text path;
    sinter_status st = SINTER_OK;

    *step_out = SINTER__PUBLISH_NOT_BEGUN;
    sinter_text_init(table->env, &dir);
    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__table_dir(table, in->dir, &dir, err));
    SINTER__TRY(sinter__dirs_make(table->env, dir.data, NULL, err));
    SINTER__TRY(sinter__number_path(&(sinter__numbered){table->env, dir.data, in->prefix},
                                    snapshot->id, &path, err));
    SINTER__TRY(write_text(table, snapshot, dir.data, &file, err));
    *step_out = SINTER__PUBLISH_BEGUN;
    st = file->ops->publish(file, path.data, err);
    if (st == SINTER_E_EXISTS) {
        *step_out = SINTER__PUBLISH_NOT_BEGUN;
    }
    SINTER__TRY(st);
    SINTER__TRY(io->ops->sync_dir(io, dir.data, err));
    *step_out = SINTER__PUBLISH_DONE;
    sinter__hint_write(table, in->dir, "LATEST", snapshot->id);
out:
    if (file != NULL) {
        file->ops->close(file);
    }
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}

sinter_status
sinter__snapshot_publish(const sinter_table *table, const sinter_snapshot *snapshot,
                         sinter__publish_step *step_out, sinter_error *err)
{
    return publish(table, &(series){"snapshot", "snapshot-"}, snapshot, step_out, err);
}

sinter_status
sinter__changelog_publish(const sinter_table *table, const sinter_snapshot *snapshot,
                          sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter__publish_step step = SINTER__PUBLISH_NOT_BEGUN;
    const sinter_status st =
        publish(table, &(series){"changelog", "changelog-"}, snapshot, &step, &detail);

    if (st == SINTER_E_EXISTS) {
        return SINTER_OK;
    }
    if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    return st;
}
