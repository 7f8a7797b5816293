/*
 * From a write buffer into files of level 0: what is in memory and what was spilled is merged like
 * any other runs, and written by a rolling writer.
 */
#include <assert.h>

#include "base/alloc.h"
#include "compact/lane.h"
#include "compact/order_reader.h"
#include "compact/read_back.h"
#include "compact/section_merge.h"
#include "compact/write_buffer_priv.h"

enum { RANGES_MAX = 256 }; /* taken from the merge at once */

typedef struct flush flush;

/* One run of the merge. */
typedef struct flush_input {
    const flush *flush;
    sinter__spill *spill; /* NULL: the rows in memory */
    size_t index;         /* of its run */
} flush_input;

struct flush {
    sinter__write_buffer *buffer;
    const sinter__flush_config *config;
    sinter_compact_result *result;
    size_t files_before; /* in the result */
    sinter__rolling_writer *writer;
    flush_input *sources;
    sinter_merge_input *inputs;
    size_t count;
    sinter_merge *merge;
    sinter_range ranges[RANGES_MAX];
};

static sinter_status
open_input(void *ctx, const sinter_env *env, sinter_reader **out, sinter_error *err)
{
    const flush_input *input = ctx;
    const sinter__write_buffer *buffer = input->flush->buffer;
    const sinter_order *order = input->flush->config->order;
    /* Prefixes of all runs leave out the same; those of spilled rows nothing. */
    const size_t skip = buffer->spill_count == 0 ? buffer->pages.shared_size : 0;

    SINTER__CHECK(input->spill != NULL ? sinter__spill_open(input->spill, input->index, out, err)
                                       : sinter__write_buffer_read(buffer, env, skip, out, err));
    return order == NULL ? SINTER_OK : sinter__order_reader_open(env, *out, order, out, err);
}

static void
add_input(flush *self, sinter__spill *spill, size_t index)
{
    flush_input *source = &self->sources[self->count];

    *source = (flush_input){.flush = self, .spill = spill, .index = index};
    self->inputs[self->count] =
        (sinter_merge_input){.struct_size = (uint32_t)sizeof self->inputs[0],
                             .open = open_input,
                             .ctx = source,
                             .has_versions = true};
    self->count++;
}

/* What is left of the memory budget; without one, what the options allow a task. */
static uint64_t
memory_left(const flush *self)
{
    const sinter_memory *memory = self->buffer->env->memory;

    if (sinter_memory_limit(memory) == UINT64_MAX) {
        return self->config->memory_bytes != 0 ? self->config->memory_bytes : UINT64_MAX;
    }
    return sinter_memory_limit(memory) - sinter_memory_used(memory);
}

/* What is left of the memory budget for blocks of spilled runs, once the rows in memory are read
 * and the files written. */
static uint64_t
memory_for_spilled(const flush *self)
{
    const sinter__rolling_config *rolling = self->config->rolling;
    const sinter_footprint unknown = {.struct_size = (uint32_t)sizeof unknown};
    uint64_t left = memory_left(self);
    uint64_t kept = sinter__buffer_reader_bytes();

    if (left == UINT64_MAX) {
        return UINT64_MAX;
    }
    kept += sinter__format_writer_bytes(rolling->format, &rolling->write, &unknown);
    left -= kept < left ? kept : left;
    return left / self->buffer->spill_count;
}

/* Where memory is scarce, spilled runs are merged with each other first. */
static sinter_status
fit_spilled(const flush *self, sinter_error *err)
{
    const sinter__write_buffer *buffer = self->buffer;

    for (size_t i = 0; i < buffer->spill_count; i++) {
        SINTER__CHECK(
            sinter__spill_fit(buffer->spills[i], memory_for_spilled(self), memory_left(self), err));
    }
    return SINTER_OK;
}

static sinter_status
open_merge(flush *self, sinter_error *err)
{
    const sinter__write_buffer *buffer = self->buffer;
    sinter_merge_options options;
    size_t count = 1;

    SINTER__CHECK(fit_spilled(self, err));
    for (size_t i = 0; i < buffer->spill_count; i++) {
        count += sinter__spill_run_count(buffer->spills[i]);
    }
    SINTER__CHECK(SINTER__NEW(buffer->env, self->sources, count, err));
    SINTER__CHECK(SINTER__NEW(buffer->env, self->inputs, count, err));
    for (size_t i = 0; i < buffer->spill_count; i++) {
        for (size_t run = 0; run < sinter__spill_run_count(buffer->spills[i]); run++) {
            add_input(self, buffer->spills[i], run);
        }
    }
    if (buffer->pages.rows > 0) {
        add_input(self, NULL, 0);
    }
    sinter_merge_options_init(&options);
    options.sort_engine = self->config->sort_engine;
    options.function = self->config->function;
    options.has_ages = true;
    options.is_cancelled = self->config->is_cancelled;
    options.cancel_ctx = self->config->cancel_ctx;
    return sinter_merge_open(buffer->env, self->inputs, self->count, &options, &self->merge, err);
}

static sinter_status
write_rows(flush *self, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    do {
        size_t count = 0;

        st = sinter_merge_next(self->merge, self->ranges, RANGES_MAX, &count, err);
        if (st == SINTER_OK) {
            st =
                sinter__rolling_writer_append(self->writer, self->ranges, count, self->result, err);
        }
    } while (st == SINTER_OK);
    return st == SINTER_END ? sinter__rolling_writer_finish(self->writer, self->result, err) : st;
}

/* What the merge itself doesn't know of. */
static void
add_spilling(const sinter__write_buffer *buffer, sinter_merge_counters *counters)
{
    for (size_t i = 0; i < buffer->spill_count; i++) {
        counters->spill_runs += sinter__spill_run_count(buffer->spills[i]);
        counters->spilled_bytes += sinter__spill_bytes(buffer->spills[i]);
        counters->spill_passes += sinter__spill_passes(buffer->spills[i]);
    }
}

/* The new files, as they come back from where they were written to. */
static sinter_status
read_back(const flush *self, sinter_error *err)
{
    const sinter__flush_config *config = self->config;
    const sinter_file_list *all = &self->result->after.list;
    const sinter_file_list made = {.files = all->files + self->files_before,
                                   .count = all->count - self->files_before};
    const sinter__read_back how = {.format = config->rolling->format,
                                   .dir = config->rolling->dir,
                                   .direct = config->rolling->write.direct,
                                   .is_cancelled = config->is_cancelled,
                                   .cancel_ctx = config->cancel_ctx};

    if (!config->reads_back || made.count == 0) {
        return SINTER_OK;
    }
    return sinter__read_back_files(self->buffer->env, &how, made,
                                   &self->result->counters.bytes_verified, err);
}

static sinter_status
run(flush *self, sinter_error *err)
{
    const sinter_env *env = self->buffer->env;
    sinter_merge_counters counters = {.struct_size = (uint32_t)sizeof counters};

    SINTER__CHECK(sinter__write_buffer_sort(self->buffer, err));
    SINTER__CHECK(sinter__rolling_writer_create(env, self->config->rolling, &self->writer, err));
    SINTER__CHECK(open_merge(self, err));
    SINTER__CHECK(write_rows(self, err));
    sinter_merge_counters_get(self->merge, &counters);
    SINTER__CHECK(
        sinter__merge_counters_check(&counters, sinter__rolling_writer_rows(self->writer), err));
    sinter_merge_close(self->merge); /* its memory may be wanted for reading back */
    self->merge = NULL;
    SINTER__CHECK(sinter__rolling_writer_sync(self->writer, err));
    SINTER__CHECK(read_back(self, err));
    if (self->config->accept != NULL) {
        SINTER__CHECK(self->config->accept(self->config->accept_ctx, self->result, err));
    }
    sinter__rolling_writer_keep(self->writer);
    add_spilling(self->buffer, &counters);
    sinter__merge_counters_add(&self->result->counters.merge, &counters);
    return SINTER_OK;
}

sinter_status
sinter__write_buffer_flush(sinter__write_buffer *buffer, const sinter__flush_config *config,
                           sinter_compact_result *result, sinter_error *err)
{
    const sinter_env *env = buffer->env;
    const size_t files_before = result->after.list.count;
    flush *self = NULL;
    sinter_status st = SINTER_OK;

    if (sinter__write_buffer_rows(buffer) == 0) {
        sinter__write_buffer_clear(buffer); /* memory that was kept for more rows */
        return SINTER_OK;
    }
    assert(config->rolling->write.level == 0);
    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->buffer = buffer;
    self->config = config;
    self->result = result;
    self->files_before = files_before;
    st = run(self, err);
    sinter_merge_close(self->merge);
    sinter__rolling_writer_destroy(self->writer);
    sinter__free(env, self->inputs);
    sinter__free(env, self->sources);
    sinter__free(env, self);
    if (st == SINTER_OK) {
        sinter__write_buffer_clear(buffer);
    } else {
        sinter__result_cut_after(result, files_before);
    }
    return st;
}
