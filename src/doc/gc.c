/*
 * Removing what a catalog no longer names: retired files, data files of runs that failed, and
 * temporaries of dead processes. Files go first and are forgotten afterwards: a gc that dies
 * between finds them missing the next time, which is fine.
 */
#include <assert.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/load.h"
#include "compact/names.h"
#include "compact/orphans.h"
#include "compact/path.h"
#include "doc/catalog.h"

/* A walk over the directory and what it found. */
typedef struct gc_run {
    sinter_catalog *catalog;
    const sinter_gc_options *options;
    sinter_gc_result *result;
    sinter__arena arena;
    sinter__names live;    /* the catalog's files and what goes with them */
    sinter__names retired; /* its retired ones */
    int64_t now_ms;
    sinter_error *err;
} gc_run;

/* Is it one of the catalog's files, or a file that goes with one? */
static bool
is_live(const gc_run *run, const char *name)
{
    return sinter__names_find(&run->live, name) != NULL;
}

/* Does the catalog know of it? */
static bool
is_known(void *ctx, const char *name)
{
    const gc_run *run = ctx;

    return is_live(run, name) || sinter__names_find(&run->retired, name) != NULL;
}

static sinter_status
learn_names(gc_run *run)
{
    const sinter_env *env = run->catalog->env;
    const sinter_files *content = &run->catalog->doc->content;

    SINTER__CHECK(
        sinter__names_of_all(env, content->files, content->file_count, &run->live, run->err));
    SINTER__CHECK(sinter__names_init(env, content->retired_count, &run->retired, run->err));
    for (size_t i = 0; i < content->retired_count; i++) {
        sinter__names_add(&run->retired, content->retired[i].file_name, NULL);
    }
    sinter__names_sort(&run->retired);
    return SINTER_OK;
}

static bool
is_old(const gc_run *run, int64_t time_ms)
{
    int64_t age = 0;

    return !__builtin_sub_overflow(run->now_ms, time_ms, &age) &&
           age >= run->options->older_than_ms;
}

/* Remove one file; one that is gone already is as good as removed. */
static sinter_status
remove_file(gc_run *run, const char *name, sinter_gc_reason reason)
{
    const sinter_env *env = run->catalog->env;
    sinter_io_stat info = {0};
    char *path = NULL;
    sinter_status st = SINTER_OK;

    /* This check stands before a removal and stays in every build. */
    if (is_live(run, name)) {
        SINTER__FAIL_AT(run->err, SINTER_E_CONFLICT, name, -1,
                        "a file of the catalog is listed as retired");
    }
    SINTER__TRY(sinter__path_join(env, run->catalog->doc->base_dir, NULL, name, &path, run->err));
    st = env->io->ops->stat(env->io, path, &info, run->err);
    if (st == SINTER_E_NOT_FOUND) {
        st = SINTER_OK;
        goto out;
    }
    if (st != SINTER_OK) {
        goto out;
    }
    if (run->options->each != NULL) {
        run->options->each(run->options->each_ctx, name, reason, info.size_bytes);
    }
    if (!run->options->dry_run) {
        st = env->io->ops->unlink(env->io, path, run->err);
        if (st != SINTER_OK && st != SINTER_E_NOT_FOUND) {
            goto out;
        }
        st = SINTER_OK;
    }
    run->result->bytes += info.size_bytes;
    run->result->retired_files += reason == SINTER_GC_RETIRED ? 1u : 0u;
    run->result->orphan_files += reason == SINTER_GC_ORPHAN ? 1u : 0u;
out:
    sinter__free(env, path);
    return st;
}

/* Remove an orphan that is old enough. */
static sinter_status
remove_orphan(gc_run *run, const char *name)
{
    const sinter_env *env = run->catalog->env;
    sinter_io_stat info = {0};
    char *path = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__path_join(env, run->catalog->doc->base_dir, NULL, name, &path, run->err));
    st = env->io->ops->stat(env->io, path, &info, run->err);
    sinter__free(env, path);
    if (st == SINTER_E_NOT_FOUND || (st == SINTER_OK && info.is_directory)) {
        return SINTER_OK;
    }
    SINTER__CHECK(st);
    return is_old(run, info.mtime_ms) ? remove_file(run, name, SINTER_GC_ORPHAN) : SINTER_OK;
}

/* Orphans are listed first and removed after the walk. */
static sinter_status
remove_orphans(gc_run *run)
{
    const sinter_env *env = run->catalog->env;
    const char *dir = run->catalog->doc->base_dir;
    const sinter__known_names known = {.has = is_known, .ctx = run};
    sinter__orphans orphans = {.arena.env = env};
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__orphans_list(env, dir, "data-", &known, &orphans, run->err));
    for (size_t i = 0; i < orphans.count; i++) {
        SINTER__TRY(remove_orphan(run, orphans.names[i]));
    }
out:
    sinter__orphans_fini(&orphans);
    return st;
}

/* Remove retired files and forget them. */
static sinter_status
remove_retired(gc_run *run)
{
    const sinter_files *content = &run->catalog->doc->content;
    sinter_files kept = *content;
    sinter_retired_file *list = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__doc_room(&run->arena, content->retired_count, sizeof *list,
                                   (void **)&list, run->err));
    for (size_t i = 0; i < content->retired_count; i++) {
        if (!is_old(run, content->retired[i].retired_ms)) {
            list[count++] = content->retired[i];
            continue;
        }
        SINTER__CHECK(remove_file(run, content->retired[i].file_name, SINTER_GC_RETIRED));
    }
    if (run->options->dry_run || count == content->retired_count) {
        return SINTER_OK;
    }
    kept.retired = list;
    kept.retired_count = count;
    return sinter__catalog_replace(run->catalog, &kept, run->err);
}

sinter_status
sinter_catalog_gc(sinter_catalog *catalog, const sinter_gc_options *options, sinter_gc_result *out,
                  sinter_error *err)
{
    sinter_gc_options known = {.struct_size = (uint32_t)sizeof known};
    sinter_gc_result done = {.struct_size = (uint32_t)sizeof done};
    gc_run run = {.catalog = catalog, .err = err};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, catalog != NULL);
    SINTER__REQUIRE(err, out == NULL || out->struct_size >= sizeof out->struct_size);
    if (options != NULL) {
        SINTER__CHECK(sinter__struct_load(&known, sizeof known, options, "sinter_gc_options", err));
    }
    SINTER__REQUIRE(err, known.older_than_ms >= 0);
    SINTER__CHECK(sinter__catalog_check_writable(catalog, err));
    SINTER__REQUIRE(err, !catalog->is_changed);
    run.options = &known;
    run.result = &done;
    run.arena.env = catalog->env;
    run.now_ms = sinter__now_ms(catalog->env);
    SINTER__TRY(learn_names(&run));
    SINTER__TRY(remove_orphans(&run));
    SINTER__TRY(remove_retired(&run));
    if (!run.options->dry_run && catalog->env->io->ops->clean != NULL) {
        SINTER__TRY(catalog->env->io->ops->clean(catalog->env->io, catalog->doc->base_dir,
                                                 &run.result->temporary_files, err));
    }
    if (catalog->is_changed) {
        SINTER__TRY(sinter_catalog_commit(catalog, err));
    }
out:
    if (out != NULL) {
        sinter__struct_store(out, &done, sizeof done);
    }
    sinter__names_fini(catalog->env, &run.retired);
    sinter__names_fini(catalog->env, &run.live);
    sinter__arena_fini(&run.arena);
    return st;
}
