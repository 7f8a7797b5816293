/*
 * Taking back what a task made, when nobody is going to name it.
 */
#include "base/fail.h"
#include "base/listener.h"
#include "compact/path.h"
#include "sinter/io.h"

/* The removal under way: goes on after a failure and remembers the first. */
typedef struct discard {
    const sinter_env *env;
    const char *base_dir;
    sinter_error *err;
    sinter_status first_failure;
} discard;

static void
note(discard *job, sinter_status st, const sinter_error *detail)
{
    if (job->first_failure == SINTER_OK) {
        job->first_failure = st;
        if (job->err != NULL) {
            *job->err = *detail;
        }
    }
}

static void
remove_file(discard *job, const sinter_file_meta *file)
{
    const sinter_env *env = job->env;
    sinter_error detail = SINTER_ERROR_INIT;
    char *path = NULL;
    sinter_status st = sinter__path_of_file(env, job->base_dir, file, &path, &detail);

    if (st == SINTER_OK) {
        st = env->io->ops->unlink(env->io, path, &detail);
    }
    if (st == SINTER_OK) {
        const sinter_event event = {.struct_size = (uint32_t)sizeof event, .file = path};

        SINTER__TELL(env->listener, file_deleted, &event);
    }
    if (st != SINTER_OK && st != SINTER_E_NOT_FOUND) {
        note(job, st, &detail);
    }
    sinter__free(env, path);
}

/* The files that belong to a data file lie beside it. */
static void
remove_extra_files(discard *job, const sinter_file_meta *file)
{
    for (size_t i = 0; i < file->extra_file_count; i++) {
        sinter_file_meta extra = *file;

        extra.file_name = file->extra_files[i];
        extra.external_path = NULL;
        remove_file(job, &extra);
    }
}

sinter_status
sinter_compact_result_discard(const sinter_env *env, const sinter_compact_result *result,
                              const char *base_dir, sinter_error *err)
{
    discard job = {.env = env, .base_dir = base_dir, .err = err, .first_failure = SINTER_OK};
    const sinter_file_list *after = NULL;

    SINTER__REQUIRE(err, env != NULL && env->io != NULL);
    SINTER__REQUIRE(err, result != NULL && base_dir != NULL);
    after = sinter_compact_result_after(result);
    for (size_t i = 0; i < after->count; i++) {
        if (after->files[i].upgraded_from < 0) { /* else an input */
            remove_file(&job, &after->files[i]);
            remove_extra_files(&job, &after->files[i]);
        }
    }
    return job.first_failure;
}
