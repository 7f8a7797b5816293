/*
 * Counters as text for Prometheus, format version 0.0.4: for each metric its HELP, its TYPE and one
 * line a bucket. The counters are copied first, so that nothing is locked while text is made.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "compact/metrics.h"
#include "compact/scheduler_priv.h"

/* ---- a copy of all counters ---- */

typedef struct bucket_copy {
    const char *name; /* in `names` */
    sinter_bucket_metrics metrics;
} bucket_copy;

typedef struct copy {
    sinter_scheduler_metrics scheduler;
    int64_t average_task_ns; /* of the last tasks; -1: none has ended */
    bucket_copy *buckets;
    size_t bucket_count;
    size_t bucket_room;
    char *names;
    size_t name_bytes;
    size_t name_room;
} copy;

static const char *
name_of(const sinter__job *job)
{
    return job->name == NULL ? "" : job->name;
}

/* Copy what there is room for, and count what there is. */
static void
copy_buckets(sinter_scheduler *scheduler, copy *out)
{
    out->bucket_count = 0;
    out->name_bytes = 0;
    sinter__monitor_lock(&scheduler->monitor);
    for (const sinter__job *job = scheduler->buckets; job != NULL; job = job->next_bucket) {
        const char *name = name_of(job);
        const size_t size = strlen(name) + 1;

        if (out->bucket_count < out->bucket_room && size <= out->name_room &&
            out->name_bytes <= out->name_room - size) {
            bucket_copy *bucket = &out->buckets[out->bucket_count];

            bucket->name = out->names + out->name_bytes;
            memcpy(out->names + out->name_bytes, name, size);
            bucket->metrics = (sinter_bucket_metrics){.struct_size = sizeof bucket->metrics};
            if (job->counters != NULL) {
                sinter__bucket_counters_get(job->counters, &bucket->metrics);
            }
        }
        out->bucket_count++;
        out->name_bytes += size;
    }
    sinter__monitor_unlock(&scheduler->monitor);
}

static void
copy_times(sinter_scheduler *scheduler, copy *out)
{
    int64_t sum = 0;
    uint64_t count = 0;

    sinter__monitor_lock(&scheduler->monitor);
    count = scheduler->ended < SINTER__SCHEDULER_LAST_TASKS ? scheduler->ended
                                                            : SINTER__SCHEDULER_LAST_TASKS;
    for (uint64_t i = 0; i < count; i++) {
        sum += scheduler->last_ns[i];
    }
    sinter__monitor_unlock(&scheduler->monitor);
    out->average_task_ns = count == 0 ? -1 : sum / (int64_t)count;
}

static sinter_status
copy_all(sinter_scheduler *scheduler, copy *out, sinter_error *err)
{
    const sinter_env *env = &scheduler->env;

    out->scheduler.struct_size = (uint32_t)sizeof out->scheduler;
    sinter_scheduler_metrics_get(scheduler, &out->scheduler);
    copy_times(scheduler, out);
    copy_buckets(scheduler, out);
    while (out->bucket_count > out->bucket_room || out->name_bytes > out->name_room) {
        const size_t bucket_room = out->bucket_count + out->bucket_count / 8;
        const size_t name_room = out->name_bytes + out->name_bytes / 8;

        SINTER__CHECK(
            sinter__resize(env, (void **)&out->buckets, bucket_room, sizeof *out->buckets, err));
        out->bucket_room = bucket_room;
        SINTER__CHECK(sinter__resize(env, (void **)&out->names, name_room, 1, err));
        out->name_room = name_room;
        copy_buckets(scheduler, out);
    }
    return SINTER_OK;
}

/* ---- text ---- */

typedef struct text {
    sinter_status (*put)(void *ctx, const char *text, size_t size);
    void *ctx;
    sinter_status status; /* the first failure of `put`; nothing is put after it */
    size_t used;
    char piece[4096];
} text;

static void
flush(text *out)
{
    if (out->status == SINTER_OK && out->used > 0) {
        out->status = out->put(out->ctx, out->piece, out->used);
    }
    out->used = 0;
}

static void
put_bytes(text *out, const char *data, size_t size)
{
    assert(size <= sizeof out->piece);
    if (size > sizeof out->piece - out->used) {
        flush(out);
    }
    memcpy(out->piece + out->used, data, size);
    out->used += size;
}

static void
put_text(text *out, const char *data)
{
    put_bytes(out, data, strlen(data));
}

/* Length of the UTF-8 character that begins here; 0: there is none. */
static size_t
utf8_length(const unsigned char *at)
{
    /* first byte, lowest and highest second byte (Unicode, table 3-7) */
    static const unsigned char rules[][5] = {
        {0x00, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const unsigned char *rule = rules[i];
        size_t length = 1;

        if (at[0] < rule[0] || at[0] > rule[1]) {
            continue;
        }
        if (rule[4] > 1 && (at[1] < rule[2] || at[1] > rule[3])) {
            return 0;
        }
        for (length = rule[4] > 1 ? 2 : 1; length < rule[4]; length++) {
            if (at[length] < 0x80 || at[length] > 0xbf) {
                return 0;
            }
        }
        return length;
    }
    return 0;
}

/* A label's value: three characters are escaped, and what is no UTF-8 would spoil all the text. */
static void
put_label(text *out, const char *value)
{
    while (*value != '\0') {
        const size_t length = utf8_length((const unsigned char *)value);

        switch (*value) {
        case '\\':
            put_text(out, "\\\\");
            break;
        case '"':
            put_text(out, "\\\"");
            break;
        case '\n':
            put_text(out, "\\n");
            break;
        default:
            put_bytes(out, length == 0 ? "\xef\xbf\xbd" : value, length == 0 ? 3 : length);
        }
        value += length == 0 ? 1 : length;
    }
}

/* ---- numbers ---- */

/* How a number becomes the unit that Prometheus wants. */
typedef enum unit { PLAIN, NANOSECONDS, MILLISECONDS, THOUSANDTHS } unit;

/* Whole numbers only, because a point may be a comma in the caller's locale. */
static void
put_number(text *out, int64_t value, unit of)
{
    static const int64_t ones[] = {
        [PLAIN] = 1, [NANOSECONDS] = 1000000000, [MILLISECONDS] = 1000, [THOUSANDTHS] = 1000};
    static const int digits[] = {
        [PLAIN] = 0, [NANOSECONDS] = 9, [MILLISECONDS] = 3, [THOUSANDTHS] = 3};
    char number[64];
    int size = 0;

    if (of == PLAIN || value < 0) { /* below zero: there is none, whatever the unit */
        size = snprintf(number, sizeof number, " %lld\n", (long long)value);
    } else {
        size = snprintf(number, sizeof number, " %lld.%0*lld\n", (long long)(value / ones[of]),
                        digits[of], (long long)(value % ones[of]));
    }
    assert(size > 0 && (size_t)size < sizeof number);
    put_bytes(out, number, (size_t)size);
}

static int64_t
whole(uint64_t value)
{
    return value < (uint64_t)INT64_MAX ? (int64_t)value : INT64_MAX;
}

static int64_t
thousandths(double value)
{
    return value < 9e15 ? (int64_t)(value * 1000 + 0.5) : INT64_MAX;
}

static void
put_head(text *out, const char *name, const char *type, const char *help)
{
    put_text(out, "# HELP ");
    put_text(out, name);
    put_text(out, " ");
    put_text(out, help);
    put_text(out, "\n# TYPE ");
    put_text(out, name);
    put_text(out, " ");
    put_text(out, type);
    put_text(out, "\n");
}

static void
put_one(text *out, const char *name, const char *type, const char *help, int64_t value, unit of)
{
    put_head(out, name, type, help);
    put_text(out, name);
    put_number(out, value, of);
}

/* ---- buckets ---- */

typedef struct bucket_metric {
    const char *name;
    const char *type;
    const char *help;
    unit of;
    size_t at;                                            /* of a uint64_t in the struct */
    double (*ratio)(const sinter_bucket_metrics *bucket); /* instead of that */
} bucket_metric;

#define AT(field) offsetof(sinter_bucket_metrics, field), NULL

static const bucket_metric bucket_metrics[] = {
    {"sinter_bucket_sorted_runs", "gauge", "Sorted runs: files a point read may look into.", PLAIN,
     AT(runs)},
    {"sinter_bucket_level0_files", "gauge", "Files in level 0.", PLAIN, AT(level0_files)},
    {"sinter_bucket_files", "gauge", "Data files.", PLAIN, AT(files)},
    {"sinter_bucket_size_bytes", "gauge", "Bytes of all data files.", PLAIN, AT(bytes)},
    {"sinter_bucket_bottom_bytes", "gauge", "Bytes of files in the highest level.", PLAIN,
     AT(bottom_bytes)},
    {"sinter_bucket_write_buffer_bytes", "gauge", "Bytes in the write buffer.", PLAIN,
     AT(buffer_bytes)},
    {"sinter_bucket_write_buffer_limit_bytes", "gauge", "Bytes that the write buffer may hold.",
     PLAIN, AT(buffer_limit_bytes)},
    {"sinter_bucket_rows_written_total", "counter", "Rows given to the write buffer.", PLAIN,
     AT(rows_written)},
    {"sinter_bucket_received_bytes_total", "counter", "Keys and values given to the write buffer.",
     PLAIN, AT(bytes_in)},
    {"sinter_bucket_flushes_total", "counter", "Flushes of the write buffer.", PLAIN, AT(flushes)},
    {"sinter_bucket_flushed_bytes_total", "counter", "Bytes of files that were flushed.", PLAIN,
     AT(flushed_bytes)},
    {"sinter_bucket_spills_total", "counter", "Spills of the write buffer.", PLAIN, AT(spills)},
    {"sinter_bucket_compactions_total", "counter", "Compactions submitted.", PLAIN,
     AT(compactions)},
    {"sinter_bucket_compactions_completed_total", "counter", "Compactions with a result.", PLAIN,
     AT(compactions_completed)},
    {"sinter_bucket_compactions_failed_total", "counter", "Compactions that failed.", PLAIN,
     AT(compactions_failed)},
    {"sinter_bucket_compactions_cancelled_total", "counter", "Compactions that were cancelled.",
     PLAIN, AT(compactions_cancelled)},
    {"sinter_bucket_compaction_read_bytes_total", "counter", "Bytes that compactions read.", PLAIN,
     AT(compact_read_bytes)},
    {"sinter_bucket_compaction_written_bytes_total", "counter", "Bytes that compactions wrote.",
     PLAIN, AT(compact_written_bytes)},
    {"sinter_bucket_compaction_upgraded_bytes_total", "counter",
     "Bytes of files that changed their level only.", PLAIN, AT(compact_upgraded_bytes)},
    {"sinter_bucket_compaction_seconds_total", "counter", "Time of compactions.", NANOSECONDS,
     AT(compact_ns)},
    {"sinter_bucket_records_superseded_total", "counter",
     "Older versions that compactions dropped.", PLAIN, AT(records_superseded)},
    {"sinter_bucket_records_deleted_total", "counter", "Deletes that compactions dropped.", PLAIN,
     AT(records_deleted)},
    {"sinter_bucket_last_compaction_input_bytes", "gauge", "Input of the last compaction.", PLAIN,
     AT(last_input_bytes)},
    {"sinter_bucket_last_compaction_output_bytes", "gauge", "Output of the last compaction.", PLAIN,
     AT(last_output_bytes)},
    {"sinter_bucket_last_compaction_timestamp_seconds", "gauge",
     "When the last compaction ended; 0 before the first.", MILLISECONDS, AT(last_compaction_ms)},
    {"sinter_bucket_stalls_total", "counter", "Times that the writer waited.", PLAIN, AT(stalls)},
    {"sinter_bucket_stall_seconds_total", "counter", "Time that the writer waited.", NANOSECONDS,
     AT(stall_ns)},
    {"sinter_bucket_slowdowns_total", "counter", "Times that the writer was slowed.", PLAIN,
     AT(slowdowns)},
    {"sinter_bucket_slowdown_seconds_total", "counter", "Time that the writer was slowed.",
     NANOSECONDS, AT(slowdown_ns)},
    {"sinter_bucket_write_amplification", "gauge", "Bytes written to disk per byte flushed.",
     THOUSANDTHS, 0, sinter_bucket_write_amplification},
    {"sinter_bucket_space_amplification", "gauge", "Bytes on disk per byte of the highest level.",
     THOUSANDTHS, 0, sinter_bucket_space_amplification},
};

#undef AT

static uint64_t
number_at(const sinter_bucket_metrics *bucket, size_t at)
{
    uint64_t value = 0;

    memcpy(&value, (const char *)bucket + at, sizeof value);
    return value;
}

static void
put_buckets(text *out, const copy *all, const bucket_metric *metric)
{
    put_head(out, metric->name, metric->type, metric->help);
    for (size_t i = 0; i < all->bucket_count && out->status == SINTER_OK; i++) {
        const bucket_copy *bucket = &all->buckets[i];

        put_text(out, metric->name);
        put_text(out, "{bucket=\"");
        put_label(out, bucket->name);
        put_text(out, "\"}");
        put_number(out,
                   metric->ratio != NULL ? thousandths(metric->ratio(&bucket->metrics))
                                         : whole(number_at(&bucket->metrics, metric->at)),
                   metric->of);
    }
}

/* ---- buckets, by reason ---- */

/* One line for each bucket and reason that occurred: buckets are many, and most reasons rare. */
static void
put_reason(text *out, const char *name, const char *bucket, const char *labels[2], uint64_t value)
{
    if (value > 0) {
        put_text(out, name);
        put_text(out, "{bucket=\"");
        put_label(out, bucket);
        put_text(out, "\",");
        if (labels[1] != NULL) {
            put_text(out, "action=\"");
            put_text(out, labels[1]);
            put_text(out, "\",");
        }
        put_text(out, "reason=\"");
        put_text(out, labels[0]);
        put_text(out, "\"}");
        put_number(out, whole(value), PLAIN);
    }
}

static void
put_reasons(text *out, const copy *all)
{
    static const char files[] = "sinter_bucket_compaction_files_total";
    static const char picks[] = "sinter_bucket_picks_total";

    put_head(out, files, "counter", "Input files of compactions by what was done and why.");
    for (size_t i = 0; i < all->bucket_count && out->status == SINTER_OK; i++) {
        for (sinter_reason r = 0; r < SINTER_REASON_COUNT; r++) {
            put_reason(out, files, all->buckets[i].name,
                       (const char *[2]){sinter_reason_code(r),
                                         sinter_file_action_name(sinter_reason_action(r))},
                       all->buckets[i].metrics.files_by_reason[r]);
        }
    }
    put_head(out, picks, "counter", "Compactions submitted by the rule that asked for them.");
    for (size_t i = 0; i < all->bucket_count && out->status == SINTER_OK; i++) {
        for (sinter_pick_rule r = 0; r < SINTER_PICK_RULE_COUNT; r++) {
            put_reason(out, picks, all->buckets[i].name,
                       (const char *[2]){sinter_pick_rule_code(r), NULL},
                       all->buckets[i].metrics.picks_by_rule[r]);
        }
    }
}

/* ---- over all buckets (spec/compaction.md 17) ---- */

typedef struct total {
    const char *most;
    const char *average;
    const char *most_help;
    const char *average_help;
    size_t at;
    size_t of; /* not 0: in percent of that */
} total;

#define TOTAL(most, average, help, at, of)                       \
    {                                                            \
        most, average, "The most " help "; -1 without buckets.", \
            "The average " help "; -1 without buckets.", at, of  \
    }

static const total totals[] = {
    TOTAL("sinter_max_level0_file_count", "sinter_avg_level0_file_count",
          "files in level 0 of a bucket", offsetof(sinter_bucket_metrics, level0_files), 0),
    TOTAL("sinter_max_compaction_input_size_bytes", "sinter_avg_compaction_input_size_bytes",
          "input of a bucket's last compaction", offsetof(sinter_bucket_metrics, last_input_bytes),
          0),
    TOTAL("sinter_max_compaction_output_size_bytes", "sinter_avg_compaction_output_size_bytes",
          "output of a bucket's last compaction",
          offsetof(sinter_bucket_metrics, last_output_bytes), 0),
    TOTAL("sinter_max_total_file_size_bytes", "sinter_avg_total_file_size_bytes",
          "bytes of a bucket", offsetof(sinter_bucket_metrics, bytes), 0),
    TOTAL("sinter_max_sort_buffer_used_bytes", "sinter_avg_sort_buffer_used_bytes",
          "bytes in a bucket's write buffer", offsetof(sinter_bucket_metrics, buffer_bytes), 0),
    TOTAL("sinter_max_sort_buffer_utilisation_percent",
          "sinter_avg_sort_buffer_utilisation_percent", "percent of a bucket's write buffer in use",
          offsetof(sinter_bucket_metrics, buffer_bytes),
          offsetof(sinter_bucket_metrics, buffer_limit_bytes)),
};

#undef TOTAL

static double
part_of(const sinter_bucket_metrics *bucket, const total *what)
{
    const double value = (double)number_at(bucket, what->at);
    const double limit = what->of == 0 ? 0 : (double)number_at(bucket, what->of);

    if (what->of == 0) {
        return value;
    }
    return limit > 0 ? value * 100 / limit : 0;
}

static void
put_total(text *out, const copy *all, const total *what)
{
    double most = all->bucket_count == 0 ? -1 : 0;
    double sum = 0;

    for (size_t i = 0; i < all->bucket_count; i++) {
        const double value = part_of(&all->buckets[i].metrics, what);

        most = value > most ? value : most;
        sum += value;
    }
    put_one(out, what->most, "gauge", what->most_help, most < 0 ? -1 : thousandths(most),
            THOUSANDTHS);
    put_one(out, what->average, "gauge", what->average_help,
            all->bucket_count == 0 ? -1 : thousandths(sum / (double)all->bucket_count),
            THOUSANDTHS);
}

/* ---- the scheduler ---- */

static void
put_scheduler(text *out, const copy *all)
{
    const sinter_scheduler_metrics *m = &all->scheduler;
    const struct {
        const char *name;
        const char *type;
        const char *help;
        int64_t value;
        unit of;
    } lines[] = {
        {"sinter_scheduler_tasks_max", "gauge", "Tasks that may run at a time.", m->tasks_max,
         PLAIN},
        {"sinter_scheduler_running", "gauge", "Tasks that run.", m->running, PLAIN},
        {"sinter_scheduler_queued", "gauge", "Tasks that wait.", m->queued, PLAIN},
        {"sinter_scheduler_paused", "gauge", "1: paused.", m->paused, PLAIN},
        {"sinter_scheduler_buckets", "gauge", "Buckets.", m->buckets, PLAIN},
        {"sinter_scheduler_tasks_submitted_total", "counter", "Tasks submitted.",
         whole(m->submitted), PLAIN},
        {"sinter_scheduler_tasks_completed_total", "counter", "Tasks that did their work.",
         whole(m->completed), PLAIN},
        {"sinter_scheduler_tasks_failed_total", "counter", "Tasks that failed.", whole(m->failed),
         PLAIN},
        {"sinter_scheduler_tasks_cancelled_total", "counter", "Tasks that were cancelled.",
         whole(m->cancelled), PLAIN},
        {"sinter_scheduler_tasks_refused_total", "counter", "Tasks the queue had no room for.",
         whole(m->refused), PLAIN},
        {"sinter_scheduler_busy_seconds_total", "counter", "Time of threads in tasks that ended.",
         whole(m->busy_ns), NANOSECONDS},
        {"sinter_scheduler_wait_seconds_total", "counter", "Time that tasks waited to begin.",
         whole(m->wait_ns), NANOSECONDS},
        {"sinter_scheduler_slow_io_total", "counter", "Calls of the io that were slow.",
         whole(m->slow_ios), PLAIN},
        {"sinter_scheduler_read_bytes_total", "counter", "Bytes that tasks read.",
         whole(m->read_bytes), PLAIN},
        {"sinter_scheduler_written_bytes_total", "counter", "Bytes that tasks wrote.",
         whole(m->written_bytes), PLAIN},
        {"sinter_scheduler_rate_bytes_per_second", "gauge", "The rate limit; 0: none.",
         whole(m->bytes_per_second), PLAIN},
        {"sinter_scheduler_read_rate_bytes_per_second", "gauge",
         "The rate limit of reads on their own; 0: none.", whole(m->read_bytes_per_second), PLAIN},
        {"sinter_scheduler_write_rate_bytes_per_second", "gauge",
         "The rate limit of writes on their own; 0: none.", whole(m->write_bytes_per_second),
         PLAIN},
        {"sinter_scheduler_memory_bytes", "gauge", "Memory budgets of tasks that run.",
         whole(m->memory_bytes), PLAIN},
        {"sinter_scheduler_open_files", "gauge", "Files that tasks that run may open.",
         m->open_files, PLAIN},
        {"sinter_avg_compaction_time_seconds", "gauge",
         "Average time of the last 100 tasks; -1 before the first.", all->average_task_ns,
         NANOSECONDS},
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        put_one(out, lines[i].name, lines[i].type, lines[i].help, lines[i].value, lines[i].of);
    }
}

sinter_status
sinter_scheduler_export(sinter_scheduler *scheduler,
                        sinter_status (*put)(void *ctx, const char *text, size_t size), void *ctx,
                        sinter_error *err)
{
    copy all = {.bucket_count = 0};
    text out = {.put = put, .ctx = ctx};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, scheduler != NULL && put != NULL);
    SINTER__TRY(copy_all(scheduler, &all, err));
    put_scheduler(&out, &all);
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        put_total(&out, &all, &totals[i]);
    }
    for (size_t i = 0; i < sizeof bucket_metrics / sizeof bucket_metrics[0]; i++) {
        put_buckets(&out, &all, &bucket_metrics[i]);
    }
    put_reasons(&out, &all);
    flush(&out);
    if (out.status != SINTER_OK) {
        SINTER__FAIL(err, out.status, "the text wasn't taken");
    }
out:
    sinter__free(&scheduler->env, all.names);
    sinter__free(&scheduler->env, all.buckets);
    return st;
}
