#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"

TestSuite(compact_scheduler_export, .timeout = 60);

/* What was put, as one string. */
typedef struct page {
    char *text;
    size_t size;
    size_t fail_at; /* piece that is not taken; SIZE_MAX: none */
    size_t pieces;
} page;

static sinter_status
take(void *ctx, const char *text, size_t size)
{
    page *out = ctx;

    if (out->pieces++ == out->fail_at) {
        return SINTER_E_NO_SPACE;
    }
    out->text = realloc(out->text, out->size + size + 1);
    memcpy(out->text + out->size, text, size);
    out->size += size;
    out->text[out->size] = '\0';
    return SINTER_OK;
}

static page
export_all(test_jobs *jobs)
{
    page out = {.fail_at = SIZE_MAX};

    cr_assert_eq(sinter_scheduler_export(jobs->scheduler, take, &out, NULL), SINTER_OK);
    return out;
}

static void
expect_line(const page *out, const char *line)
{
    char whole[256];

    (void)snprintf(whole, sizeof whole, "\n%s\n", line);
    cr_expect_not_null(strstr(out->text, whole), "not there: %s", line);
}

Test(compact_scheduler_export, numbers_come_out_in_the_units_of_the_format)
{
    test_jobs jobs;
    test_job *job = NULL;
    page out;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    job = test_jobs_add(&jobs, 3);
    sinter__gauge(&job->counters.runs, 7);
    sinter__gauge(&job->counters.bytes, 3000);
    sinter__gauge(&job->counters.bottom_bytes, 2000);
    sinter__count(&job->counters.flushed_bytes, 1000);
    sinter__count(&job->counters.compact_written_bytes, 2345);
    sinter__count(&job->counters.compact_ns, 1500000001);
    sinter__gauge(&job->counters.last_compaction_ms, 1234567890123);
    sinter__gauge(&job->counters.level0_files, 4);
    sinter__gauge(&job->counters.buffer_bytes, 1);
    sinter__gauge(&job->counters.buffer_limit_bytes, 3);
    atomic_store(&job->counters.files_by_reason[SINTER_REASON_LARGE_ALONE], 5);
    atomic_store(&job->counters.picks_by_rule[SINTER_PICK_SIZE_RATIO], 6);
    sinter__gauge(&test_jobs_add(&jobs, 1)->counters.level0_files, 1);
    out = export_all(&jobs);
    expect_line(&out, "sinter_bucket_sorted_runs{bucket=\"b1\"} 7");
    expect_line(&out, "sinter_bucket_compaction_seconds_total{bucket=\"b1\"} 1.500000001");
    expect_line(&out, "sinter_bucket_last_compaction_timestamp_seconds{bucket=\"b1\"} "
                      "1234567890.123");
    expect_line(&out, "sinter_bucket_write_amplification{bucket=\"b1\"} 3.345");
    expect_line(&out, "sinter_bucket_space_amplification{bucket=\"b1\"} 1.500");
    expect_line(&out, "sinter_bucket_space_amplification{bucket=\"b2\"} 0.000");
    expect_line(&out, "sinter_max_level0_file_count 4.000");
    expect_line(&out, "sinter_avg_level0_file_count 2.500");
    expect_line(&out, "sinter_max_sort_buffer_utilisation_percent 33.333");
    expect_line(&out, "sinter_avg_compaction_time_seconds -1");
    expect_line(&out, "sinter_scheduler_buckets 2");
    expect_line(&out, "# TYPE sinter_bucket_flushes_total counter");
    expect_line(&out, "sinter_bucket_compaction_files_total{bucket=\"b1\",action=\"upgraded\","
                      "reason=\"large-alone\"} 5");
    expect_line(&out, "sinter_bucket_picks_total{bucket=\"b1\",reason=\"size-ratio\"} 6");
    cr_expect_null(strstr(out.text, "reason=\"overlap\""),
                   "reasons that didn't occur have no line");
    free(out.text);
    test_jobs_end(&jobs);
}

Test(compact_scheduler_export, without_buckets_the_gauges_over_them_are_minus_one)
{
    test_jobs jobs;
    page out;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    out = export_all(&jobs);
    expect_line(&out, "sinter_max_total_file_size_bytes -1");
    expect_line(&out, "sinter_avg_total_file_size_bytes -1");
    cr_expect_null(strstr(out.text, "{bucket="));
    free(out.text);
    test_jobs_end(&jobs);
}

static sinter_status
take_time(test_job *job, const sinter_env *env)
{
    (void)env;
    job->jobs->now_ns += job->job.need;
    return SINTER_OK;
}

Test(compact_scheduler_export, the_average_time_is_that_of_the_last_hundred_tasks)
{
    test_jobs jobs;
    test_job *job = NULL;
    page out;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    job = test_jobs_add(&jobs, 1000000);
    job->work = take_time;
    for (unsigned i = 0; i < 150; i++) {
        job->job.need = i < 100 ? 1000000 : 2000;
        test_job_submit(job);
        cr_assert_eq(test_jobs_run(&jobs), 1);
        sinter__scheduler_reset(jobs.scheduler, &job->job);
    }
    out = export_all(&jobs);
    expect_line(&out, "sinter_avg_compaction_time_seconds 0.000501000");
    free(out.text);
    test_jobs_end(&jobs);
}

Test(compact_scheduler_export, names_are_escaped_and_made_utf8)
{
    static const char *const names[] = {"a\"b",    "a\\b",     "a\nb",         "gr\xc3\xbc\xc3\x9f",
                                        "a\xff",   "\xe2\x82", "\xed\xa0\x80", "\xf0\x9f\x98\x80",
                                        "\xc0\xaf"};
    static const char *const labels[] = {"a\\\"b",
                                         "a\\\\b",
                                         "a\\nb",
                                         "gr\xc3\xbc\xc3\x9f",
                                         "a\xef\xbf\xbd",
                                         "\xef\xbf\xbd\xef\xbf\xbd",
                                         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
                                         "\xf0\x9f\x98\x80",
                                         "\xef\xbf\xbd\xef\xbf\xbd"};
    test_jobs jobs;
    page out;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        test_jobs_add(&jobs, 1)->job.name = names[i];
    }
    test_jobs_add(&jobs, 1)->job.name = NULL;
    out = export_all(&jobs);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char line[128];

        (void)snprintf(line, sizeof line, "sinter_bucket_files{bucket=\"%s\"} 0", labels[i]);
        expect_line(&out, line);
    }
    expect_line(&out, "sinter_bucket_files{bucket=\"\"} 0");
    free(out.text);
    test_jobs_end(&jobs);
}

/* The name of a line's metric, up to a blank or a brace. */
static size_t
name_length(const char *line)
{
    return strcspn(line, " {");
}

Test(compact_scheduler_export, each_metric_is_described_once_and_its_lines_stand_together)
{
    test_jobs jobs;
    char *line = NULL;
    char *rest = NULL;
    char current[128] = "";
    char seen[8192] = " ";
    unsigned described = 0;
    page out;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    for (unsigned i = 0; i < TEST_JOBS_MAX; i++) {
        (void)test_jobs_add(&jobs, i);
    }
    out = export_all(&jobs);
    cr_expect_gt(out.pieces, 10, "in pieces");
    cr_expect_eq(out.text[out.size - 1], '\n');
    for (line = strtok_r(out.text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char name[128];

        if (strncmp(line, "# HELP ", 7) == 0) {
            (void)snprintf(name, sizeof name, " %.*s ", (int)name_length(line + 7), line + 7);
            cr_assert_null(strstr(seen, name), "twice:%s", name);
            cr_assert_lt(strlen(seen) + strlen(name), sizeof seen);
            (void)strcat(seen, name);
            (void)snprintf(current, sizeof current, "%.*s", (int)name_length(line + 7), line + 7);
            described++;
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            const bool is_total =
                strlen(current) > 6 && strcmp(current + strlen(current) - 6, "_total") == 0;

            (void)snprintf(name, sizeof name, "%.*s", (int)name_length(line + 7), line + 7);
            cr_assert_str_eq(name, current);
            cr_expect_str_eq(line + 8 + strlen(name), is_total ? "counter" : "gauge", "%s", line);
        } else {
            (void)snprintf(name, sizeof name, "%.*s", (int)name_length(line), line);
            cr_assert_str_eq(name, current);
        }
    }
    cr_expect_gt(described, 50);
    free(out.text);
    test_jobs_end(&jobs);
}

Test(compact_scheduler_export, the_page_about_metrics_names_them_all)
{
    static char doc[65536];
    FILE *file = fopen(SINTER_METRICS_PAGE, "rb");
    unsigned named = 0;
    test_jobs jobs;
    page out;

    cr_assert_not_null(file, "%s", SINTER_METRICS_PAGE);
    cr_assert_gt(fread(doc, 1, sizeof doc - 1, file), 1000);
    (void)fclose(file);
    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    out = export_all(&jobs);
    for (const char *at = strstr(out.text, "# TYPE "); at != NULL; at = strstr(at, "# TYPE ")) {
        const size_t length = name_length(at + 7);
        const size_t type_length = strcspn(at + 8 + length, "\n");
        char row[160];

        (void)snprintf(row, sizeof row, "| `%.*s` | %.*s |", (int)length, at + 7, (int)type_length,
                       at + 8 + length);
        cr_expect_not_null(strstr(doc, row), "not on the page: %s", row);
        at += length;
        named++;
    }
    cr_expect_gt(named, 50);
    free(out.text);
    test_jobs_end(&jobs);
}

Test(compact_scheduler_export, what_the_caller_does_not_take_ends_it)
{
    test_jobs jobs;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    for (unsigned i = 0; i < TEST_JOBS_MAX; i++) {
        (void)test_jobs_add(&jobs, i);
    }
    for (size_t n = 0; n < 5; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        page out = {.fail_at = n};

        cr_expect_eq(sinter_scheduler_export(jobs.scheduler, take, &out, &err), SINTER_E_NO_SPACE);
        cr_expect(out.pieces == n + 1 && err.status == SINTER_E_NO_SPACE);
        free(out.text);
    }
    cr_expect_eq(sinter_scheduler_export(jobs.scheduler, NULL, NULL, NULL), SINTER_E_INVALID);
    test_jobs_end(&jobs);
}

Test(compact_scheduler_export, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    test_jobs jobs;
    uint64_t before = 0;

    test_jobs_init(&jobs);
    test_jobs_begin(&jobs, NULL);
    for (unsigned i = 0; i < 10; i++) {
        (void)test_jobs_add(&jobs, i);
    }
    before = (uint64_t)jobs.alloc.live;
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        page out = {.fail_at = SIZE_MAX};

        jobs.alloc.fail_at = jobs.alloc.calls + n;
        st = sinter_scheduler_export(jobs.scheduler, take, &out, NULL);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && out.pieces == 0));
        cr_assert_eq((uint64_t)jobs.alloc.live, before);
        free(out.text);
    }
    test_jobs_end(&jobs);
}
