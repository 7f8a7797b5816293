/*
 * The merged view of a set of files: what a read returns (spec/compaction.md 4, 14).
 *
 * Sections are merged one after another in key order; the next one is opened when the one before it
 * is drained. Files and sections outside of the asked range are left alone.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "compact/load.h"
#include "compact/section_merge.h"

struct sinter_view {
    sinter_env env; /* the caller's, with a budget of its own if that has none */
    sinter_memory *own_memory;
    sinter_memory *own_space; /* of spill files; NULL: no limit */
    sinter_compact_options options;
    sinter_view_options view;
    sinter__merge_config config;
    sinter__read_counters read;
    sinter_partition *partition;
    size_t next_section;
    uint64_t files_outside;       /* of the range */
    sinter__section_merge *merge; /* of the current section */
    sinter_rewrite_run *runs;     /* room for the runs of any section */
};

/* The runs of a section without files outside of the range. */
static size_t
wanted_runs(sinter_view *view, size_t section)
{
    const size_t run_count = sinter_partition_run_count(view->partition, section);
    size_t used = 0;

    for (size_t r = 0; r < run_count; r++) {
        sinter_rewrite_run whole = {.files = NULL};
        sinter_rewrite_run run;

        whole.files = sinter_partition_run(view->partition, section, r, &whole.count);
        assert(whole.count > 0);
        run = sinter__run_in_range(&view->config.read, &whole);
        view->files_outside += whole.count - run.count;
        if (run.count > 0) {
            view->runs[used++] = run;
        }
    }
    return used;
}

/* Open the next section that has wanted files; SINTER_END if there is none. */
static sinter_status
open_next_section(sinter_view *view, sinter_error *err)
{
    assert(view->merge == NULL);
    while (view->next_section < sinter_partition_section_count(view->partition)) {
        const sinter_rewrite_section section = {.runs = view->runs,
                                                .count = wanted_runs(view, view->next_section)};

        view->next_section++;
        if (section.count > 0) {
            return sinter__section_merge_open(&view->env, &view->config, &section, &view->merge,
                                              err);
        }
    }
    return SINTER_END;
}

/* Between a key and the same with a zero byte behind it no other key can lie. */
static bool
is_single_key(const sinter_view_options *v)
{
    return v->has_begin_key && v->has_end_key && v->end_key.size == v->begin_key.size + 1 &&
           v->end_key.data[v->begin_key.size] == 0 &&
           (v->begin_key.size == 0 ||
            memcmp(v->begin_key.data, v->end_key.data, v->begin_key.size) == 0);
}

static sinter_status
check_files(const sinter_view_source *source, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, source->base_dir != NULL);
    SINTER__REQUIRE(err, source->files != NULL || source->count == 0);
    SINTER__REQUIRE(err, source->count <= UINT32_MAX);
    for (size_t i = 0; i < source->count && st == SINTER_OK; i++) {
        st = sinter__file_meta_check(&source->files[i], err);
    }
    return st;
}

static sinter_status
load_options(sinter_view *view, const sinter_view_source *source,
             const sinter_view_options *options, sinter_error *err)
{
    view->view.struct_size = (uint32_t)sizeof view->view;
    if (options != NULL) {
        SINTER__CHECK(sinter__struct_load(&view->view, sizeof view->view, options,
                                          "sinter_view_options", err));
    }
    return sinter__compact_options_load(source->options, &view->options, err);
}

static void
configure(sinter_view *view, const sinter_view_source *source)
{
    const char *spill_dir = view->view.spill_dir != NULL ? view->view.spill_dir : source->base_dir;
    sinter__merge_config *config = &view->config;

    sinter__merge_config_init(config, &view->options, spill_dir);
    config->merge.drop_delete = !view->view.keep_deletes;
    config->read.format = source->format != NULL ? source->format : sinter_format_sst();
    config->read.base_dir = source->base_dir;
    config->read.keys_only = view->view.keys_only && source->order == NULL;
    config->read.has_begin_key = view->view.has_begin_key;
    config->read.has_end_key = view->view.has_end_key;
    config->read.is_single_key = is_single_key(&view->view);
    config->read.begin_key = view->view.begin_key;
    config->read.end_key = view->view.end_key;
    config->read.counters = &view->read;
    config->order = source->order;
}

static sinter_status
partition_files(sinter_view *view, const sinter_view_source *source, sinter_error *err)
{
    const sinter_env *env = &view->env;
    size_t run_count = 0;

    SINTER__CHECK(
        sinter_partition_create(env, source->files, source->count, &view->partition, err));
    for (size_t s = 0; s < sinter_partition_section_count(view->partition); s++) {
        const size_t runs = sinter_partition_run_count(view->partition, s);

        run_count = runs > run_count ? runs : run_count;
    }
    return SINTER__NEW(env, view->runs, run_count, err);
}

sinter_status
sinter_view_open(const sinter_env *env, const sinter_view_source *given,
                 const sinter_view_options *options, sinter_view **out, sinter_error *err)
{
    sinter_view_source source = {.struct_size = (uint32_t)sizeof source};
    sinter_view *view = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__REQUIRE(err, env->io != NULL && given != NULL);
    SINTER__CHECK(sinter__struct_load(&source, sizeof source, given, "sinter_view_source", err));
    SINTER__CHECK(check_files(&source, err));

    SINTER__TRY(SINTER__NEW(env, view, 1, err));
    view->env = *env;
    SINTER__TRY(load_options(view, &source, options, err));
    configure(view, &source);
    if (env->memory == NULL) {
        SINTER__TRY(sinter_memory_create(env, view->options.memory_bytes, &view->own_memory, err));
        view->env.memory = view->own_memory;
    }
    if (view->options.spill_limit_bytes > 0) {
        SINTER__TRY(
            sinter_memory_create(env, view->options.spill_limit_bytes, &view->own_space, err));
        view->config.merge.spill_space = view->own_space;
    }
    SINTER__TRY(sinter__merge_function_create(&view->env, source.merge_function, &view->options,
                                              &view->config.merge.function, err));
    SINTER__TRY(partition_files(view, &source, err));
    *out = view;
    view = NULL;
out:
    sinter_view_close(view);
    return st;
}

sinter_status
sinter_view_next(sinter_view *view, sinter_range *ranges, size_t capacity, size_t *count_out,
                 sinter_error *err)
{
    sinter_status st = SINTER_END;

    SINTER__REQUIRE(err, view != NULL && ranges != NULL && capacity > 0 && count_out != NULL);
    *count_out = 0;
    while (st == SINTER_END) {
        st = view->merge == NULL ? open_next_section(view, err) : SINTER_OK;
        if (st != SINTER_OK) {
            return st; /* SINTER_END: no more sections */
        }
        st = sinter_merge_next(sinter__section_merge_get(view->merge), ranges, capacity, count_out,
                               err);
        if (st == SINTER_END) {
            sinter__section_merge_close(view->merge);
            view->merge = NULL;
        }
    }
    return st;
}

void
sinter_view_counters_get(const sinter_view *view, sinter_view_counters *out)
{
    const sinter_view_counters counters = {
        .struct_size = (uint32_t)sizeof counters,
        .files_outside = view->files_outside,
        .files_opened = view->read.files_opened,
        .files_filtered = view->read.files_filtered,
        .blocks_read = view->read.blocks_read,
        .rows_read = view->read.rows_read,
    };

    sinter__struct_store(out, &counters, sizeof counters);
}

void
sinter_view_close(sinter_view *view)
{
    if (view != NULL) {
        const sinter_env env = view->env;

        sinter__section_merge_close(view->merge);
        sinter__merge_function_destroy(view->config.merge.function);
        sinter_partition_destroy(view->partition);
        sinter__free(&env, view->runs);
        sinter_memory_destroy(view->own_space);
        sinter_memory_destroy(view->own_memory);
        sinter__free(&env, view);
    }
}
