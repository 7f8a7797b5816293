/*
 * Taking back what a task made, when nobody is going to name it.
 */
#include "base/fail.h"
#include "compact/remove.h"

sinter_status
sinter_compact_result_discard(const sinter_env *env, const sinter_compact_result *result,
                              const char *base_dir, sinter_error *err)
{
    sinter_status first_failure = SINTER_OK;
    const sinter_file_list *after = NULL;

    SINTER__REQUIRE(err, env != NULL && env->io != NULL);
    SINTER__REQUIRE(err, result != NULL && base_dir != NULL);
    after = sinter_compact_result_after(result);
    for (size_t i = 0; i < after->count; i++) {
        sinter_error *detail = first_failure == SINTER_OK ? err : NULL;
        sinter_status st = SINTER_OK;

        if (after->files[i].upgraded_from < 0) { /* else an input */
            st = sinter__file_remove(env, base_dir, &after->files[i], detail);
        }
        first_failure = first_failure == SINTER_OK ? st : first_failure;
    }
    return first_failure;
}
