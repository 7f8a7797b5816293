/*
 * What a killed process left in a directory, removed.
 */
#include "base/listener.h"
#include "base/load.h"
#include "compact/load.h"
#include "compact/names.h"
#include "compact/orphans.h"
#include "compact/path.h"
#include "sinter/io.h"

static bool
is_named(void *ctx, const char *name)
{
    return sinter__names_find(ctx, name) != NULL;
}

static sinter_status
remove_orphan(const sinter_env *env, const char *dir, const char *name, sinter_clean_result *done,
              sinter_error *err)
{
    sinter_event event = {.struct_size = 0};
    sinter_io_stat info = {0};
    char *path = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__path_join(env, dir, NULL, name, &path, err));
    SINTER__TRY(env->io->ops->stat(env->io, path, &info, err));
    if (info.is_directory) {
        goto out;
    }
    SINTER__TRY(env->io->ops->unlink(env->io, path, err));
    done->files++;
    done->bytes += info.size_bytes;
    event = (sinter_event){
        .struct_size = (uint32_t)sizeof event, .file = path, .bytes = info.size_bytes};
    SINTER__TELL(env->listener, file_deleted, &event);
out:
    sinter__free(env, path);
    return st == SINTER_E_NOT_FOUND ? SINTER_OK : st; /* gone already is as good */
}

static sinter_status
clean(const sinter_env *env, const char *dir, const sinter__orphans *orphans,
      sinter_clean_result *done, sinter_error *err)
{
    for (size_t i = 0; i < orphans->count; i++) {
        SINTER__CHECK(remove_orphan(env, dir, orphans->names[i], done, err));
    }
    if (env->io->ops->clean != NULL) {
        SINTER__CHECK(env->io->ops->clean(env->io, dir, &done->temporary_files, err));
    }
    return SINTER_OK;
}

sinter_status
sinter_clean_dir(const sinter_env *env, const char *dir, const sinter_clean_options *given,
                 sinter_clean_result *out, sinter_error *err)
{
    sinter_clean_options options = {.struct_size = (uint32_t)sizeof options};
    sinter__names named = {.all = NULL};
    const sinter__known_names known = {.has = is_named, .ctx = &named};
    sinter_clean_result done = {.struct_size = (uint32_t)sizeof done};
    sinter__orphans orphans = {.arena.env = env};
    const char *prefix = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && env->io != NULL);
    SINTER__REQUIRE(err, dir != NULL && given != NULL);
    SINTER__REQUIRE(err, out == NULL || out->struct_size >= sizeof out->struct_size);
    SINTER__CHECK(
        sinter__struct_load(&options, sizeof options, given, "sinter_clean_options", err));
    SINTER__REQUIRE(err, options.files != NULL || options.count == 0);
    for (size_t i = 0; i < options.count; i++) {
        SINTER__CHECK(sinter__file_meta_check(&options.files[i], err));
    }
    SINTER__TRY(sinter__names_of_all(env, options.files, options.count, &named, err));
    prefix = options.file_prefix != NULL ? options.file_prefix : "data-";
    SINTER__TRY(sinter__orphans_list(env, dir, prefix, &known, &orphans, err));
    SINTER__TRY(clean(env, dir, &orphans, &done, err));
out:
    if (out != NULL) {
        sinter__struct_store(out, &done, sizeof done);
    }
    sinter__orphans_fini(&orphans);
    sinter__names_fini(env, &named);
    return st;
}
