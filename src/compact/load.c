#include "compact/load.h"

#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"

sinter_status
sinter__compact_options_load(const sinter_compact_options *source, sinter_compact_options *out,
                             sinter_error *err)
{
    sinter_compact_options_init(out);
    if (source != NULL) {
        SINTER__CHECK(sinter__struct_load(out, sizeof *out, source, "sinter_compact_options", err));
    }
    return sinter_compact_options_check(out, err);
}

sinter_status
sinter__file_meta_check(const sinter_file_meta *file, sinter_error *err)
{
    const char *name = file->file_name;

    if (file->struct_size != sizeof *file) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, NULL, -1,
                              "sinter_file_meta: struct_size is %u, this version has %zu",
                              file->struct_size, sizeof *file);
    }
    if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, name, -1,
                              "a file name has to be one path component");
    }
    if (file->level < 0) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, name, -1, "the level is %d, below 0",
                              file->level);
    }
    if (file->row_count > 0 && sinter__key_compare(file->min_key, file->max_key) > 0) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, name, -1,
                              "the smallest key of the file is above its largest");
    }
    return SINTER_OK;
}
