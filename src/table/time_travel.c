/*
 * Snapshots by something else than their number.
 */
#include <inttypes.h>

#include "base/fail.h"
#include "doc/files_doc.h"
#include "doc/text.h"
#include "table/numbered.h"
#include "table/snapshot.h"
#include "table/table.h"

sinter_status
sinter_table_snapshot_of_tag(sinter_table *table, const char *tag, sinter_snapshot **out,
                             sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_text path;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && tag != NULL && out != NULL);
    *out = NULL;
    if (!sinter__file_name_is_plain(tag)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.100s\" is no name of a tag", tag);
    }
    sinter_text_init(table->env, &path);
    SINTER__TRY(sinter__table_dir(table, "tag/tag-", &path, err));
    SINTER__TRY(sinter__text_puts(&path, tag, err));
    st = sinter__snapshot_read(table->env, path.data, out, &detail);
    if (st == SINTER_E_NOT_FOUND) {
        st = SINTER__ERR_AT(err, st, path.data, -1, "there is no tag \"%.100s\"", tag);
    } else if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
out:
    sinter_text_fini(&path);
    return st;
}

/*
 * Clocks of committers may disagree, so times need not ascend with the numbers: the walk goes from
 * the newest on and takes the first that fits.
 */
sinter_status
sinter_table_snapshot_at(sinter_table *table, int64_t time_ms, sinter_snapshot **out,
                         sinter_error *err)
{
    sinter__numbers ids = {0};
    sinter_text dir;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL && out != NULL);
    *out = NULL;
    sinter_text_init(table->env, &dir);
    SINTER__TRY(sinter__table_dir(table, "snapshot", &dir, err));
    SINTER__TRY(
        sinter__numbers_list(&(sinter__numbered){table->env, dir.data, "snapshot-"}, &ids, err));
    for (size_t i = ids.count; i > 0; i--) {
        SINTER__TRY(sinter_table_snapshot_get(table, ids.items[i - 1], out, err));
        if ((*out)->time_ms <= time_ms) {
            goto out;
        }
        sinter_snapshot_destroy(*out);
        *out = NULL;
    }
    st = SINTER__ERR_AT(err, SINTER_E_NOT_FOUND, dir.data, -1,
                        "no snapshot is as old as %" PRId64 " ms since 1970", time_ms);
out:
    sinter__numbers_fini(table->env, &ids);
    sinter_text_fini(&dir);
    return st;
}
