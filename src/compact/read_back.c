#include "compact/read_back.h"

#include <assert.h>

#include "base/alloc.h"
#include "compact/path.h"

/* Size of a format that knows of verifying. */
#define VERIFY_SIZE (offsetof(sinter_format, verify) + sizeof(void (*)(void)))

sinter_status
sinter__read_back_check(const sinter_format *format, sinter_error *err)
{
    if (format->struct_size < VERIFY_SIZE || format->verify == NULL) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "sinter.verify-output: files of the format \"%s\" can't be verified",
                           format->name);
    }
    return SINTER_OK;
}

static sinter_status
read_file(const sinter_env *env, const sinter__read_back *how, const sinter_file_meta *file,
          sinter_error *err)
{
    const sinter_file_stats said = {.struct_size = (uint32_t)sizeof said,
                                    .file_size = file->file_size,
                                    .row_count = file->row_count,
                                    .retract_count = (uint64_t)file->delete_row_count,
                                    .sequence_min = file->min_sequence_number,
                                    .sequence_max = file->max_sequence_number,
                                    .creation_time_ms = file->creation_time_ms,
                                    .min_key = file->min_key,
                                    .max_key = file->max_key};
    const sinter_verify_options options = {.struct_size = (uint32_t)sizeof options,
                                           .direct = how->direct,
                                           .said = &said,
                                           .is_cancelled = how->is_cancelled,
                                           .cancel_ctx = how->cancel_ctx};
    char *path = NULL;
    sinter_status st = SINTER_OK;

    assert(file->delete_row_count >= 0);
    SINTER__CHECK(file->external_path != NULL
                      ? sinter__strdup(env, file->external_path, &path, err)
                      : sinter__path_join(env, how->dir, NULL, file->file_name, &path, err));
    st = how->format->verify(how->format->self, env, path, &options, err);
    if (st != SINTER_OK) {
        sinter__fail_file(err, path);
        sinter__fail_context(err, "a new file was read back (sinter.verify-output)");
    }
    sinter__free(env, path);
    return st;
}

sinter_status
sinter__read_back_files(const sinter_env *env, const sinter__read_back *how, sinter_file_list files,
                        uint64_t *bytes_out, sinter_error *err)
{
    for (size_t i = 0; i < files.count; i++) {
        const sinter_file_meta *file = &files.files[i];

        if (file->upgraded_from < 0) {
            SINTER__CHECK(read_file(env, how, file, err));
            *bytes_out += file->file_size;
        }
    }
    return SINTER_OK;
}
