/*
 * The decisions of a task, with a rewriter that only writes down what it was asked for.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"

TestSuite(field_faults, .timeout = 60);

enum { MIB = 1 << 20, TEXT_MAX = 4096 };

/** Writes down each call as text: "rewrite(A|B,C)>3 ". */
typedef struct scribe {
    char text[TEXT_MAX];
    unsigned outputs;
    unsigned fail_at; /* the call (from 1) that fails; 0: none */
    bool drops_all;   /* answer without a file */
} scribe;

static void
scribble(scribe *s, const char *text)
{
    cr_assert_lt(strlen(s->text) + strlen(text), TEXT_MAX);
    strcat(s->text, text);
}

static sinter_status
scribe_rewrite(void *ctx, const sinter_rewrite_request *request, sinter_compact_result *result,
               sinter_error *err)
{
    scribe *s = ctx;
    char name[16] = "";
    char tail[32];
    sinter_file_meta made = file_of(name, request->output_level, "a", "b");

    scribble(s, "rewrite(");
    for (size_t i = 0; i < request->section_count; i++) {
        scribble(s, i > 0 ? "," : "");
        for (size_t r = 0; r < request->sections[i].count; r++) {
            const sinter_rewrite_run *run = &request->sections[i].runs[r];

            scribble(s, r > 0 ? "|" : "");
            for (size_t f = 0; f < run->count; f++) {
                scribble(s, f > 0 ? "+" : "");
                scribble(s, run->files[f]->file_name);
            }
        }
    }
    (void)snprintf(tail, sizeof tail, ")>%d%s ", request->output_level,
                   request->drop_delete ? "!" : "");
    scribble(s, tail);
    s->outputs++;
    if (s->outputs == s->fail_at) {
        return SINTER_E_IO;
    }
    if (s->drops_all) {
        return SINTER_OK;
    }
    (void)snprintf(name, sizeof name, "out%u", s->outputs);
    return sinter_compact_result_add_after(result, &made, err);
}

static void
set_up(sinter_compact_task *task, const sinter_file_meta *files, size_t count, int32_t output_level)
{
    sinter_compact_task_init(task);
    task->files = files;
    task->count = count;
    task->output_level = output_level;
}

static sinter_compact_result *
run(sinter_compact_task *task, scribe *s)
{
    const sinter_rewriter rewriter = {
        .struct_size = sizeof rewriter, .ctx = s, .rewrite = scribe_rewrite};
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    task->rewriter = &rewriter;
    cr_assert_eq(sinter_compact_task_run(sinter_env_default(), task, &result, &err), SINTER_OK,
                 "%s", err.text);
    task->rewriter = NULL;
    return result;
}

/* "A@0 B@1 " */
static void
expect_files(const sinter_file_list *files, const char *expected)
{
    char text[TEXT_MAX] = "";

    for (size_t i = 0; i < files->count; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s@%d ",
                       files->files[i].file_name, files->files[i].level);
    }
    cr_expect_str_eq(text, expected, "%s instead of %s", text, expected);
}

/* "A:rewritten:overlap " */
static void
expect_decisions(const sinter_compact_result *result, const char *expected)
{
    char text[TEXT_MAX] = "";
    size_t count = 0;
    const sinter_file_decision *decisions = sinter_compact_result_decisions(result, &count);

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s:%s:%s ",
                       decisions[i].file->file_name, sinter_file_action_name(decisions[i].action),
                       sinter_reason_code(decisions[i].reason));
    }
    cr_expect_str_eq(text, expected, "%s instead of %s", text, expected);
}

/* Files A..E of spec 9. */
static void
example(sinter_file_meta files[5])
{
    files[0] = file_sized("A", 0, "01", "10", 5u * MIB);
    files[1] = file_sized("B", 1, "05", "20", 50u * MIB);
    files[2] = file_sized("C", 1, "30", "40", 2u * MIB);
    files[3] = file_sized("D", 2, "50", "90", 120u * MIB);
    files[4] = file_sized("E", 0, "95", "99", 1u * MIB);
}

Test(compact_task, example_a_to_e_rewrites_three_and_upgrades_two)
{
    sinter_file_meta files[5];
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    sinter_compact_result *result = NULL;

    example(files);
    set_up(&task, files, 5, 3);
    result = run(&task, &s);
    cr_expect_str_eq(s.text, "rewrite(A|B,C)>3 ");
    expect_files(sinter_compact_result_before(result), "A@0 B@1 C@1 D@2 E@0 ");
    expect_files(sinter_compact_result_after(result), "out1@3 D@3 E@3 ");
    expect_decisions(result, "A:rewritten:overlap B:rewritten:overlap C:rewritten:small-neighbours "
                             "D:upgraded:large-alone E:upgraded:small-alone ");
    sinter_compact_result_destroy(result);
}

Test(compact_task, the_counters_of_the_example_tell_rewritten_from_upgraded_bytes)
{
    sinter_file_meta files[5];
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    sinter_compact_result *result = NULL;
    const sinter_compact_counters *counters = NULL;

    example(files);
    set_up(&task, files, 5, 3);
    result = run(&task, &s);
    counters = sinter_compact_result_counters(result);
    cr_expect_eq(counters->files_rewritten, 3);
    cr_expect_eq(counters->bytes_read, 57u * MIB);
    cr_expect_eq(counters->files_upgraded, 2);
    cr_expect_eq(counters->bytes_upgraded, 121u * MIB);
    cr_expect_eq(counters->bytes_written, 1000);
    sinter_compact_result_destroy(result);
}

Test(compact_task, forced_rewriting_spares_no_file_of_the_example)
{
    sinter_file_meta files[5];
    sinter_compact_options options;
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    sinter_compact_result *result = NULL;

    example(files);
    sinter_compact_options_init(&options);
    options.force_rewrite_all_files = true;
    set_up(&task, files, 5, 3);
    task.options = &options;
    result = run(&task, &s);
    cr_expect_str_eq(s.text, "rewrite(A|B,C)>3 rewrite(D)>3 rewrite(E)>3 ");
    expect_decisions(result, "A:rewritten:overlap B:rewritten:overlap C:rewritten:small-neighbours "
                             "D:rewritten:forced E:rewritten:forced ");
    sinter_compact_result_destroy(result);
}

Test(compact_task, files_of_level_0_are_rewritten_where_they_may_not_move)
{
    const sinter_file_meta files[] = {file_sized("small", 0, "01", "02", 10),
                                      file_sized("big", 0, "03", "04", 500),
                                      file_sized("above", 1, "05", "09", 500)};
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    sinter_compact_result *result = NULL;

    set_up(&task, files, 3, 3);
    task.small_file_bytes = 100;
    task.rewrites_level_0 = true;
    result = run(&task, &s);
    cr_expect_str_eq(s.text, "rewrite(small)>3 rewrite(big)>3 ");
    expect_decisions(result, "small:rewritten:forced big:rewritten:forced "
                             "above:upgraded:large-alone ");
    sinter_compact_result_destroy(result);
}

Test(compact_task, example_t2_leaves_alone_what_lies_in_the_output_level)
{
    const sinter_file_meta files[] = {
        file_sized("s1", 1, "01", "02", 10), file_sized("s2", 1, "03", "04", 10),
        file_sized("big", 3, "05", "09", 500), file_sized("s3", 3, "10", "11", 10)};
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    scribe top = {.outputs = 0};
    sinter_compact_result *result = NULL;

    set_up(&task, files, 4, 3);
    task.small_file_bytes = 100;
    result = run(&task, &s);
    cr_expect_str_eq(s.text, "rewrite(s1,s2)>3 ");
    expect_files(sinter_compact_result_before(result), "s1@1 s2@1 ");
    expect_files(sinter_compact_result_after(result), "out1@3 ");
    expect_decisions(result, "s1:rewritten:small-neighbours s2:rewritten:small-neighbours "
                             "big:kept:at-level s3:kept:at-level ");
    sinter_compact_result_destroy(result);

    task.output_level = 5;
    result = run(&task, &top);
    cr_expect_str_eq(top.text, "rewrite(s1,s2)>5 ");
    expect_files(sinter_compact_result_after(result), "out1@5 big@5 s3@5 ");
    sinter_compact_result_destroy(result);
}

Test(compact_task, a_file_of_exactly_the_limit_is_large)
{
    const sinter_file_meta files[] = {file_sized("a", 0, "1", "2", 99),
                                      file_sized("b", 0, "3", "4", 100),
                                      file_sized("c", 0, "5", "6", 99)};
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    sinter_compact_result *result = NULL;

    set_up(&task, files, 3, 1);
    task.small_file_bytes = 100;
    result = run(&task, &s);
    cr_expect_str_eq(s.text, "", "b keeps a and c apart");
    expect_files(sinter_compact_result_after(result), "a@1 b@1 c@1 ");
    sinter_compact_result_destroy(result);
}

Test(field_faults, f03_a_file_with_deletes_is_not_moved_to_the_bottom)
{
    const int64_t deletes[] = {0, 1, -1};
    static const char *const reasons[] = {"X:upgraded:large-alone ", "X:rewritten:top-deletes ",
                                          "X:rewritten:top-deletes-unknown "};

    for (size_t i = 0; i < 3; i++) {
        sinter_file_meta file = file_sized("X", 0, "a", "z", 500u * MIB);
        sinter_compact_task task;
        scribe top = {.outputs = 0};
        scribe middle = {.outputs = 0};
        sinter_compact_result *result = NULL;

        file.delete_row_count = deletes[i];
        set_up(&task, &file, 1, 5);
        task.drop_delete = true;
        result = run(&task, &top);
        cr_expect_str_eq(top.text, deletes[i] == 0 ? "" : "rewrite(X)>5! ");
        expect_decisions(result, reasons[i]);
        sinter_compact_result_destroy(result);

        task.output_level = 3;
        result = run(&task, &middle);
        cr_expect_str_eq(middle.text, "");
        expect_decisions(result, "X:upgraded:large-alone ");
        sinter_compact_result_destroy(result);
    }
}

Test(field_faults, f03_a_small_file_with_deletes_is_not_moved_to_the_bottom_either)
{
    sinter_file_meta file = file_sized("X", 5, "a", "z", 1);
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    sinter_compact_result *result = NULL;

    file.delete_row_count = 1;
    set_up(&task, &file, 1, 5);
    result = run(&task, &s);
    cr_expect_str_eq(s.text, "rewrite(X)>5 ", "also where it lies there already");
    sinter_compact_result_destroy(result);
}

Test(field_faults, f30_nothing_there)
{
    const sinter_file_meta files[] = {file_empty("x", 0), file_of("a", 0, "a", "b"),
                                      file_of("b", 0, "a", "b"), file_empty("y", 1)};
    sinter_compact_task task;
    scribe nothing = {.outputs = 0};
    scribe s = {.drops_all = true};
    sinter_compact_result *result = NULL;

    set_up(&task, NULL, 0, 5);
    result = run(&task, &nothing);
    cr_expect_eq(sinter_compact_result_before(result)->count, 0);
    cr_expect_eq(sinter_compact_result_after(result)->count, 0);
    sinter_compact_result_destroy(result);

    set_up(&task, files, 4, 5);
    result = run(&task, &s);
    cr_expect_str_eq(s.text, "rewrite(b|a)>5 ");
    expect_files(sinter_compact_result_before(result), "b@0 a@0 x@0 y@1 ");
    cr_expect_eq(sinter_compact_result_after(result)->count, 0);
    expect_decisions(result, "x:rewritten:empty a:rewritten:overlap b:rewritten:overlap "
                             "y:rewritten:empty ");
    cr_expect_eq(sinter_compact_result_counters(result)->bytes_read, 2000,
                 "nothing is read of an empty file");
    sinter_compact_result_destroy(result);
}

static bool
is_expired_b(void *ctx, const sinter_file_meta *file)
{
    (void)ctx;
    return strcmp(file->file_name, "b") == 0;
}

Test(compact_task, an_expired_file_is_rewritten_wherever_it_lies)
{
    const sinter_file_meta files[] = {file_sized("a", 3, "a", "b", 500),
                                      file_sized("b", 3, "c", "d", 500)};
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    sinter_compact_result *result = NULL;

    set_up(&task, files, 2, 3);
    task.small_file_bytes = 100;
    task.is_expired = is_expired_b;
    result = run(&task, &s);
    cr_expect_str_eq(s.text, "rewrite(b)>3 ");
    expect_decisions(result, "a:kept:at-level b:rewritten:expired ");
    sinter_compact_result_destroy(result);
}

Test(compact_task, a_file_rewrite_takes_each_file_by_itself_in_the_given_order)
{
    const sinter_file_meta files[] = {file_of("b", 5, "c", "d"), file_empty("x", 5),
                                      file_of("a", 5, "a", "b")};
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    sinter_compact_result *result = NULL;

    set_up(&task, files, 3, 5);
    task.file_rewrite = true;
    task.drop_delete = true;
    result = run(&task, &s);
    cr_expect_str_eq(s.text, "rewrite(b)>5! rewrite(a)>5! ");
    expect_files(sinter_compact_result_before(result), "b@5 x@5 a@5 ");
    expect_files(sinter_compact_result_after(result), "out1@5 out2@5 ");
    sinter_compact_result_destroy(result);
}

Test(compact_task, an_upgrade_changes_the_level_and_nothing_else)
{
    static const char *const extra[] = {"D.index"};
    static const int carried = 7;
    sinter_file_meta file = file_sized("D", 2, "a", "z", 500u * MIB);
    sinter_file_meta expected;
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    sinter_compact_result *result = NULL;
    const sinter_file_list *after = NULL;

    file.creation_time_ms = 77;
    file.file_source = SINTER_FILE_SOURCE_APPEND;
    file.extra_files = extra;
    file.extra_file_count = 1;
    file.carried = &carried;
    file.schema_id = 3;
    set_up(&task, &file, 1, 4);
    result = run(&task, &s);
    after = sinter_compact_result_after(result);
    cr_assert_eq(after->count, 1);
    expected = file;
    expected.level = 4;
    expected.upgraded_from = 2;
    cr_expect_eq(memcmp(&after->files[0], &expected, sizeof expected), 0);
    sinter_compact_result_destroy(result);
}

Test(compact_task, a_plan_decides_the_same_and_makes_no_file)
{
    sinter_file_meta files[5];
    sinter_compact_task task;
    sinter_compact_result *result = NULL;

    example(files);
    set_up(&task, files, 5, 3);
    cr_assert_eq(sinter_compact_task_plan(sinter_env_default(), &task, &result, NULL), SINTER_OK);
    expect_files(sinter_compact_result_before(result), "A@0 B@1 C@1 D@2 E@0 ");
    expect_files(sinter_compact_result_after(result), "D@3 E@3 ");
    expect_decisions(result, "A:rewritten:overlap B:rewritten:overlap C:rewritten:small-neighbours "
                             "D:upgraded:large-alone E:upgraded:small-alone ");
    cr_expect_eq(sinter_compact_result_counters(result)->bytes_read, 57u * MIB);
    sinter_compact_result_destroy(result);
}

static sinter_status
run_refused(const sinter_compact_task *task, sinter_error *err)
{
    sinter_compact_result *result = NULL;
    const sinter_status st = sinter_compact_task_run(sinter_env_default(), task, &result, err);

    cr_expect_null(result);
    sinter_compact_result_destroy(result);
    return st;
}

Test(compact_task, what_the_rules_forbid_is_refused_before_anything_is_done)
{
    const sinter_file_meta files[] = {file_of("deep", 4, "a", "b")};
    sinter_compact_options options;
    sinter_compact_task task;
    scribe s = {.outputs = 0};
    const sinter_rewriter rewriter = {
        .struct_size = sizeof rewriter, .ctx = &s, .rewrite = scribe_rewrite};
    sinter_error err = SINTER_ERROR_INIT;

    set_up(&task, files, 1, 3);
    task.rewriter = &rewriter;
    cr_expect_eq(run_refused(&task, &err), SINTER_E_INVALID, "an upgrade downwards");
    cr_expect_str_eq(err.file, "deep");
    task.output_level = 0;
    cr_expect_eq(run_refused(&task, NULL), SINTER_E_INVALID);
    task.output_level = 6;
    cr_expect_eq(run_refused(&task, NULL), SINTER_E_INVALID);
    task.output_level = 5;
    sinter_compact_options_init(&options);
    options.target_file_bytes = 0;
    task.options = &options;
    cr_expect_eq(run_refused(&task, NULL), SINTER_E_INVALID);
    task.options = NULL;
    task.struct_size = 0;
    cr_expect_eq(run_refused(&task, NULL), SINTER_E_INVALID);
    cr_expect_str_eq(s.text, "");
}

Test(compact_task, a_file_that_is_named_twice_is_refused)
{
    const sinter_file_meta files[] = {file_of("a", 0, "a", "b"), file_of("b", 0, "a", "b"),
                                      file_of("a", 1, "a", "b")};
    sinter_compact_task task;
    sinter_error err = SINTER_ERROR_INIT;

    set_up(&task, files, 3, 5);
    cr_expect_eq(run_refused(&task, &err), SINTER_E_INVALID);
    cr_expect_str_eq(err.file, "a");
}

static bool
is_cancelled_at(void *ctx)
{
    unsigned *left = ctx;

    return (*left)-- == 0;
}

Test(compact_task, a_failed_or_cancelled_rewrite_ends_the_task)
{
    const sinter_file_meta files[] = {file_of("a", 0, "a", "b"), file_of("b", 0, "a", "b"),
                                      file_sized("c", 0, "c", "d", 500), file_of("d", 0, "e", "f"),
                                      file_of("e", 0, "e", "f")};
    sinter_compact_task task;
    scribe s = {.fail_at = 1};
    unsigned left = 1;
    const sinter_rewriter rewriter = {
        .struct_size = sizeof rewriter, .ctx = &s, .rewrite = scribe_rewrite};

    set_up(&task, files, 5, 5);
    task.small_file_bytes = 100;
    task.rewriter = &rewriter;
    cr_expect_eq(run_refused(&task, NULL), SINTER_E_IO);
    cr_expect_str_eq(s.text, "rewrite(b|a)>5 ");

    s = (scribe){.outputs = 0};
    task.is_cancelled = is_cancelled_at;
    task.cancel_ctx = &left;
    cr_expect_eq(run_refused(&task, NULL), SINTER_E_CANCELLED);
    cr_expect_str_eq(s.text, "rewrite(b|a)>5 ", "the second one is not begun");
}

Test(compact_task, every_allocation_may_fail)
{
    const sinter_file_meta files[] = {file_of("a", 0, "a", "b"), file_of("b", 0, "a", "b"),
                                      file_sized("c", 0, "c", "d", 500u * MIB)};
    sinter_status st = SINTER_E_NOMEM;
    uint64_t n = 0;

    for (; st != SINTER_OK; n++) {
        sinter_compact_result *result = NULL;
        sinter_compact_task task;
        scribe s = {.outputs = 0};
        const sinter_rewriter rewriter = {
            .struct_size = sizeof rewriter, .ctx = &s, .rewrite = scribe_rewrite};
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        set_up(&task, files, 3, 5);
        task.rewriter = &rewriter;
        fault_alloc_init(&fault, n);
        st = sinter_compact_task_run(&fault.env, &task, &result, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && result == NULL && err.status == st));
        sinter_compact_result_destroy(result);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
    cr_expect_gt(n, 8);
}

/*
 * An independent model of spec 9 for files that overlap at most in pairs: it works on the files in
 * key order and writes the same text.
 */
typedef struct model {
    char text[TEXT_MAX];
    char candidate[TEXT_MAX];
    size_t candidate_sections;
    const sinter_file_meta *candidate_alone; /* with one section of one file */
    int32_t output_level;
    bool force;
} model;

static void
model_upgrade(model *m, const sinter_file_meta *file)
{
    const bool is_top = m->output_level == 5;
    char text[64] = "";

    if ((is_top && file->delete_row_count != 0) || m->force) {
        (void)snprintf(text, sizeof text, "rewrite(%s)>%d ", file->file_name, m->output_level);
    } else if (file->level != m->output_level) {
        (void)snprintf(text, sizeof text, "up(%s) ", file->file_name);
    }
    strcat(m->text, text);
}

static void
model_flush(model *m)
{
    char tail[16];

    if (m->candidate_sections == 1 && m->candidate_alone != NULL) {
        model_upgrade(m, m->candidate_alone);
    } else if (m->candidate_sections > 0) {
        (void)snprintf(tail, sizeof tail, ")>%d ", m->output_level);
        strcat(m->text, "rewrite(");
        strcat(m->text, m->candidate);
        strcat(m->text, tail);
    }
    m->candidate[0] = '\0';
    m->candidate_sections = 0;
    m->candidate_alone = NULL;
}

static void
model_collect(model *m, const sinter_file_meta *first, const sinter_file_meta *second)
{
    strcat(m->candidate, m->candidate_sections > 0 ? "," : "");
    if (second != NULL) { /* both end in one key, so the new run comes out first */
        strcat(m->candidate, second->file_name);
        strcat(m->candidate, "|");
    }
    strcat(m->candidate, first->file_name);
    m->candidate_sections++;
    m->candidate_alone = second == NULL && m->candidate_sections == 1 ? first : NULL;
}

/** Sections of one or two files, in key order. */
typedef struct pairs {
    sinter_file_meta files[24];
    char names[24][4];
    char keys[24][24];
    bool is_second[24]; /* shares the section of the file before it */
    size_t count;
} pairs;

static void
draw_pairs(test_rng *rng, pairs *out, int32_t output_level)
{
    out->count = (size_t)test_rng_below(rng, 25);
    for (size_t i = 0; i < out->count; i++) {
        const int32_t level = (int32_t)test_rng_below(rng, (uint64_t)output_level + 1);

        out->is_second[i] = i > 0 && !out->is_second[i - 1] && test_rng_chance(rng, 30);
        (void)snprintf(out->names[i], sizeof out->names[i], "%c", (char)('A' + (int)i));
        (void)snprintf(out->keys[i], sizeof out->keys[i], "%02zu", i);
        if (out->is_second[i]) {
            (void)memcpy(out->keys[i], out->keys[i - 1], sizeof out->keys[i]);
        }
        out->files[i] =
            file_sized(out->names[i], level, out->keys[i], out->keys[i], test_rng_below(rng, 200));
        out->files[i].delete_row_count = (int64_t)test_rng_below(rng, 3) - 1;
    }
}

static void
model_run(model *m, const pairs *p, uint64_t limit)
{
    for (size_t i = 0; i < p->count; i++) {
        const bool has_second = i + 1 < p->count && p->is_second[i + 1];

        if (has_second) {
            model_collect(m, &p->files[i], &p->files[i + 1]);
            i++;
        } else if (p->files[i].file_size < limit) {
            model_collect(m, &p->files[i], NULL);
        } else {
            model_flush(m);
            model_upgrade(m, &p->files[i]);
        }
    }
    model_flush(m);
}

/* The rewrites as the scribe has them and the upgrades read off the result, in one order. */
static void
tell(const scribe *s, const sinter_compact_result *result, char *text)
{
    const sinter_file_list *after = sinter_compact_result_after(result);
    const char *rest = s->text;

    text[0] = '\0';
    for (size_t i = 0; i < after->count; i++) {
        if (after->files[i].upgraded_from >= 0) {
            (void)sprintf(text + strlen(text), "up(%s) ", after->files[i].file_name);
        } else {
            const size_t size = (size_t)(strchr(rest, ' ') - rest) + 1;

            strncat(text, rest, size);
            rest += size;
        }
    }
}

Test(compact_task, decisions_are_those_of_a_model_made_apart)
{
    for (uint64_t seed = 1; seed <= scaled_cases(3000); seed++) {
        test_rng rng = {seed};
        const int32_t output_level = 1 + (int32_t)test_rng_below(&rng, 5);
        static pairs p;
        model m = {.output_level = output_level, .force = test_rng_chance(&rng, 20)};
        scribe s = {.outputs = 0};
        sinter_compact_options options;
        sinter_compact_task task;
        sinter_compact_result *result = NULL;
        char text[TEXT_MAX];

        draw_pairs(&rng, &p, output_level);
        sinter_compact_options_init(&options);
        options.force_rewrite_all_files = m.force;
        set_up(&task, p.files, p.count, output_level);
        task.options = &options;
        task.small_file_bytes = 1 + test_rng_below(&rng, 200);
        model_run(&m, &p, task.small_file_bytes);
        result = run(&task, &s);
        tell(&s, result, text);
        cr_assert_str_eq(text, m.text, "seed %" PRIu64 ":\n  %s\n  instead of\n  %s", seed, text,
                         m.text);
        sinter_compact_result_destroy(result);
    }
}
