#include "model/merge_harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MAX = 20, TEXT_BYTES = 512 };

__attribute__((format(printf, 2, 3))) static void
complain(merged *result, const char *format, ...)
{
    va_list args;

    if (!result->has_complaint) {
        result->has_complaint = true;
        va_start(args, format);
        vsnprintf(result->complaint, sizeof result->complaint, format, args);
        va_end(args);
    }
}

/* What the callbacks of one merge share. */
typedef struct watch {
    const merge_setup *setup;
    merged *result;
    test_rng rng;
    bool was_asked;     /* for a block, in the current call */
    uint8_t *asked_key; /* first key of the first block asked for in the current call */
    size_t asked_size;
    size_t count_at_call; /* records given before the current call */
} watch;

static bool
watch_accepts(void *ctx, const sinter_block_info *info)
{
    watch *w = ctx;
    merged *result = w->result;

    result->asked_blocks++;
    if (!w->was_asked) {
        w->was_asked = true;
        free(w->asked_key);
        w->asked_size = info->first_key.size;
        w->asked_key = malloc(w->asked_size + 1);
        if (w->asked_key == NULL) {
            abort();
        }
        if (w->asked_size > 0) {
            memcpy(w->asked_key, info->first_key.data, w->asked_size);
        }
    }
    if (!info->is_whole || (w->setup->options.drop_delete && info->retract_count > 0) ||
        !test_rng_chance(&w->rng, w->setup->accept_percent)) {
        return false;
    }
    result->accepted_blocks++;
    return true;
}

static bool
watch_cancelled(void *ctx)
{
    watch *w = ctx;

    return ++w->result->cancel_asks == w->setup->cancel_at;
}

/* A block may be asked for when nothing is unflushed: then no row of the same call is before it. */
static void
watch_check(watch *w)
{
    merged *result = w->result;

    if (w->was_asked && result->count > w->count_at_call) {
        const sinter_bytes asked = {w->asked_key, w->asked_size};

        if (test_bytes_compare(result->records[w->count_at_call].key, asked) < 0) {
            complain(result, "a block was asked for while rows before it were unflushed");
        }
    }
    w->was_asked = false;
    w->count_at_call = result->count;
}

static void
add_record(merged *result, const test_record *record)
{
    test_record *copy = NULL;

    if (result->count == result->capacity) {
        result->capacity = 2 * result->capacity + 64;
        result->records = realloc(result->records, result->capacity * sizeof *result->records);
        if (result->records == NULL) {
            abort();
        }
    }
    copy = &result->records[result->count++];
    *copy = *record;
    copy->key = test_pool_copy(&result->pool, record->key);
    copy->value = test_pool_copy(&result->pool, record->value);
    copy->order = test_pool_copy(&result->pool, record->order);
    copy->origin = 0;
}

static void
take_stored(merged *result, const sinter_range *range)
{
    uint32_t count = 0;
    const test_record *records = run_block_records(range->batch, &count);

    result->stored_blocks++;
    if (range->first != 0 || range->count != range->batch->row_count || range->count != count) {
        complain(result, "a stored block was not given whole");
    }
    for (uint32_t i = 0; i < count; i++) {
        add_record(result, &records[i]);
    }
}

static void
take_value(merged *result, const sinter_batch *batch, uint32_t row, test_record *record,
           sinter__buffer *buffer)
{
    const sinter_payload_ops *ops = batch->payload_ops;

    buffer->size = 0;
    if (ops == NULL) {
        complain(result, "a batch without payload ops");
    } else if (ops == &columnar_payload_ops) {
        if (columnar_value(sinter_env_default(), batch->payload, row, buffer, NULL) != SINTER_OK) {
            abort();
        }
        record->value = (sinter_bytes){buffer->data, buffer->size};
    } else if (ops->value != NULL) {
        record->value = ops->value(batch, row);
    } else {
        complain(result, "a payload of format %s", ops->format);
    }
}

static void
take_rows(merged *result, const sinter_range *range, bool has_orders)
{
    const sinter_batch *batch = range->batch;
    sinter__buffer buffer = {0};

    for (uint32_t row = range->first; row < range->first + range->count; row++) {
        test_record record = {.key = sinter_batch_key(batch, row),
                              .sequence = batch->sequences[row],
                              .kind = batch->kinds[row]};

        if (batch->dropped != NULL && batch->dropped[row] != SINTER_DROP_KEEP) {
            complain(result, "a dropped row was given");
        }
        if (has_orders && batch->orders == NULL) {
            complain(result, "a batch lost its user sequence");
        } else if (batch->orders != NULL) {
            record.order =
                (sinter_bytes){batch->orders + batch->order_offsets[row],
                               batch->order_offsets[row + 1] - batch->order_offsets[row]};
        }
        take_value(result, batch, row, &record, &buffer);
        add_record(result, &record);
    }
    sinter__buffer_fini(sinter_env_default(), &buffer);
}

static void
take_range(merged *result, const sinter_range *range, bool has_orders)
{
    if (range->batch == NULL || range->count == 0 || range->first >= range->batch->row_count ||
        range->count > range->batch->row_count - range->first) {
        complain(result, "a range outside its batch");
        return;
    }
    if ((range->batch->flags & SINTER_BATCH_STORED) != 0) {
        take_stored(result, range);
    } else {
        take_rows(result, range, has_orders);
    }
}

static void
drain(watch *w, sinter_merge *merge)
{
    const merge_setup *setup = w->setup;
    merged *result = w->result;
    test_rng rng = {setup->seed};

    while (result->status == SINTER_OK) {
        sinter_range ranges[CAPACITY_MAX];
        const size_t capacity =
            setup->capacity != 0 ? setup->capacity : 1 + (size_t)test_rng_below(&rng, CAPACITY_MAX);
        size_t count = 0;

        if (setup->stop_after != 0 && result->calls == setup->stop_after) {
            return;
        }
        result->calls++;
        result->status = sinter_merge_next(merge, ranges, capacity, &count, &result->err);
        if (result->status == SINTER_OK && (count == 0 || count > capacity)) {
            complain(result, "%zu ranges for room of %zu", count, capacity);
            return;
        }
        for (size_t i = 0; result->status == SINTER_OK && i < count; i++) {
            take_range(result, &ranges[i], setup->world->has_orders);
        }
        watch_check(w);
    }
    if (result->status == SINTER_END) {
        size_t count = 0;
        sinter_range range;

        if (sinter_merge_next(merge, &range, 1, &count, NULL) != SINTER_END) {
            complain(result, "another call at the end gave something else");
        }
        result->status = SINTER_OK;
    }
}

static void
check_counters(merged *result)
{
    const sinter_merge_counters *c = &result->counters;
    const uint64_t dropped = c->superseded + c->deleted + c->expired + c->filtered + c->vector;

    if (c->records_in != c->records_out + dropped) {
        complain(result, "counters: %llu in, %llu out, %llu dropped",
                 (unsigned long long)c->records_in, (unsigned long long)c->records_out,
                 (unsigned long long)dropped);
    }
    if (c->blocks_passed != result->stored_blocks ||
        result->accepted_blocks != result->stored_blocks) {
        complain(result, "counters: %llu blocks passed, %llu accepted, %llu given",
                 (unsigned long long)c->blocks_passed, (unsigned long long)result->accepted_blocks,
                 (unsigned long long)result->stored_blocks);
    }
    if (c->records_out != result->count) {
        complain(result, "counters: %llu out, but %zu given", (unsigned long long)c->records_out,
                 result->count);
    }
}

void
merge_run(const merge_setup *setup, const test_runs *runs, merged *out)
{
    sinter_merge_input *inputs = calloc(runs->count + 1, sizeof *inputs);
    run_source *sources = calloc(runs->count + 1, sizeof *sources);
    sinter_merge *merge = NULL;
    sinter_merge_options options = setup->options;
    watch w = {.setup = setup, .result = out, .rng = {setup->seed + 1}};
    const int64_t live_before = setup->world->live_readers;

    if (inputs == NULL || sources == NULL) {
        abort();
    }
    *out = (merged){.err = SINTER_ERROR_INIT};
    for (size_t r = 0; r < runs->count; r++) {
        sources[r] =
            (run_source){.world = setup->world, .run = &runs->items[r], .index = (uint32_t)r};
        inputs[r] = (sinter_merge_input){.struct_size = sizeof inputs[r],
                                         .estimated_bytes = runs->items[r].count * 50,
                                         .memory_bytes = 1, /* these readers reserve nothing */
                                         .open = run_source_open,
                                         .ctx = &sources[r],
                                         .has_versions = setup->world->has_versions};
    }
    if (setup->watches_blocks) {
        options.accepts_block = watch_accepts;
        options.accepts_ctx = &w;
    }
    if (setup->cancel_at != 0) {
        options.is_cancelled = watch_cancelled;
        options.cancel_ctx = &w;
    }
    out->status = sinter_merge_open(setup->env, inputs, runs->count, &options, &merge, &out->err);
    memset(&options, 0xdd, sizeof options);                   /* they were copied, too */
    memset(inputs, 0xdd, (runs->count + 1) * sizeof *inputs); /* they were copied */
    out->counters.struct_size = sizeof out->counters;
    if (out->status == SINTER_OK) {
        out->was_opened = true;
        drain(&w, merge);
        sinter_merge_counters_get(merge, &out->counters);
        if (out->status == SINTER_OK && setup->stop_after == 0) {
            check_counters(out);
        }
    } else if (merge != NULL) {
        complain(out, "a failed open gave a merge");
    }
    sinter_merge_close(merge);
    if (setup->world->live_readers != live_before) {
        complain(out, "%lld readers left open",
                 (long long)(setup->world->live_readers - live_before));
    }
    if (setup->world->complaint != NULL) {
        complain(out, "%s", setup->world->complaint);
    }
    free(w.asked_key);
    free(inputs);
    free(sources);
}

void
merged_fini(merged *result)
{
    free(result->records);
    test_pool_fini(&result->pool);
    *result = (merged){0};
}

static void
print_key(sinter_bytes key, char *out, size_t size)
{
    size_t at = 0;

    for (size_t i = 0; i < key.size && at + 6 < size; i++) {
        at += (size_t)snprintf(out + at, size - at, "%02x", key.data[i]);
    }
    snprintf(out + at, size - at, "(%zu)", key.size);
}

static bool
records_equal(const test_record *a, const test_record *b)
{
    return test_bytes_equal(a->key, b->key) && a->sequence == b->sequence && a->kind == b->kind &&
           test_bytes_equal(a->order, b->order) && test_bytes_equal(a->value, b->value);
}

static bool
difference(size_t at, const test_record *got, const test_record *wanted, char *text_out)
{
    char got_key[40] = "none";
    char wanted_key[40] = "none";

    if (got != NULL) {
        print_key(got->key, got_key, sizeof got_key);
    }
    if (wanted != NULL) {
        print_key(wanted->key, wanted_key, sizeof wanted_key);
    }
    snprintf(text_out, TEXT_BYTES,
             "record %zu: key %s sequence %lld kind %d instead of key %s sequence %lld kind %d%s",
             at, got_key, got == NULL ? 0 : (long long)got->sequence, got == NULL ? 0 : got->kind,
             wanted_key, wanted == NULL ? 0 : (long long)wanted->sequence,
             wanted == NULL ? 0 : wanted->kind,
             got != NULL && wanted != NULL && !test_bytes_equal(got->value, wanted->value)
                 ? " (values differ)"
                 : "");
    return false;
}

static bool
counters_match(const merged *result, const model_result *model, char *text_out)
{
    const sinter_merge_counters *got = &result->counters;
    const sinter_merge_counters *wanted = &model->counters;
    const struct {
        const char *name;
        uint64_t got, wanted;
    } pairs[] = {
        {"records_in", got->records_in, wanted->records_in},
        {"records_out", got->records_out, wanted->records_out},
        {"superseded", got->superseded, wanted->superseded},
        {"deleted", got->deleted, wanted->deleted},
        {"expired", got->expired, wanted->expired},
        {"filtered", got->filtered, wanted->filtered},
        {"vector", got->vector, wanted->vector},
        {"keys", got->keys, wanted->keys},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i].got != pairs[i].wanted) {
            snprintf(text_out, TEXT_BYTES, "counter %s is %llu instead of %llu", pairs[i].name,
                     (unsigned long long)pairs[i].got, (unsigned long long)pairs[i].wanted);
            return false;
        }
    }
    return true;
}

bool
merged_matches(const merged *result, const model_result *model, char *text_out)
{
    text_out[0] = '\0';
    if (result->has_complaint) {
        snprintf(text_out, TEXT_BYTES, "%s", result->complaint);
        return false;
    }
    for (size_t i = 0; i < result->count || i < model->count; i++) {
        const test_record *got = i < result->count ? &result->records[i] : NULL;
        const test_record *wanted = i < model->count ? model->records[i] : NULL;

        if (result->status < 0 && got == NULL) {
            break; /* a failure may come before rows that would have been given */
        }
        if (got == NULL || wanted == NULL || !records_equal(got, wanted)) {
            return difference(i, got, wanted, text_out);
        }
    }
    if (result->status != model->status) {
        snprintf(text_out, TEXT_BYTES, "status %s (%.300s) instead of %s",
                 sinter_status_name(result->status), result->err.text,
                 sinter_status_name(model->status));
        return false;
    }
    return result->status != SINTER_OK || counters_match(result, model, text_out);
}

bool
merged_equal(const merged *a, const merged *b, char *text_out)
{
    for (size_t i = 0; i < a->count || i < b->count; i++) {
        const test_record *x = i < a->count ? &a->records[i] : NULL;
        const test_record *y = i < b->count ? &b->records[i] : NULL;

        if (x == NULL || y == NULL || !records_equal(x, y)) {
            return difference(i, x, y, text_out);
        }
    }
    if (a->status != b->status) {
        snprintf(text_out, TEXT_BYTES, "status %s instead of %s", sinter_status_name(a->status),
                 sinter_status_name(b->status));
        return false;
    }
    return true;
}

void
run_world_fit(run_world *world, const test_runs *runs)
{
    world->has_orders = runs->has_orders;
    world->key_width = runs->key_width;
    world->prefix_skip = runs->prefix_skip;
}

void
merge_options_rules(const model_rules *rules, sinter_merge_options *out)
{
    out->function = rules->engine == MODEL_FIRST_ROW
                        ? sinter_merge_first_row(rules->ignore_delete)
                        : sinter_merge_deduplicate(rules->ignore_delete);
    out->drop_delete = rules->drop_delete;
    out->has_ages = rules->has_ages;
}

void
merge_setup_init(merge_setup *setup, run_world *world, const test_runs *runs)
{
    *setup = (merge_setup){.env = sinter_env_default(), .world = world};
    sinter_merge_options_init(&setup->options);
    run_world_fit(world, runs);
}
