#include "compact/increment.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "compact/result.h"
#include "files.h"
#include "support/fault_alloc.h"

TestSuite(compact_increment, .timeout = 20);

/* Names of files that went for good. */
typedef struct gone_list {
    char names[8][32];
    size_t count;
} gone_list;

static void
note_gone(void *ctx, const sinter_file_meta *file)
{
    gone_list *gone = ctx;

    cr_assert_lt(gone->count, 8);
    cr_assert_lt(strlen(file->file_name), sizeof gone->names[0]);
    strcpy(gone->names[gone->count++], file->file_name);
}

/* A result: `before` becomes `after`, another file; NULL: none. */
static sinter_compact_result *
rewrite_of(const sinter_file_meta *before, const char *after, int32_t level)
{
    sinter_compact_result *result = NULL;
    sinter_file_meta made;

    cr_assert_eq(sinter__result_create(sinter_env_default(), before, 1, &result, NULL), SINTER_OK);
    cr_assert_eq(sinter__result_add_before(result, before, NULL), SINTER_OK);
    if (after != NULL) {
        made = file_of(after, level, "a", "z");
        cr_assert_eq(sinter_compact_result_add_after(result, &made, NULL), SINTER_OK);
    }
    return result;
}

static sinter_compact_result *
upgrade_of(const sinter_file_meta *before, int32_t level)
{
    sinter_compact_result *result = NULL;

    cr_assert_eq(sinter__result_create(sinter_env_default(), before, 1, &result, NULL), SINTER_OK);
    cr_assert_eq(sinter__result_add_before(result, before, NULL), SINTER_OK);
    cr_assert_eq(sinter__result_add_upgraded(result, before, level, NULL), SINTER_OK);
    return result;
}

static void
note(sinter_increment *increment, sinter_compact_result *result, gone_list *gone)
{
    cr_assert_eq(sinter__increment_note(increment, result, note_gone, gone, NULL), SINTER_OK);
    sinter_compact_result_destroy(result);
}

static void
expect_list(const sinter_file_list *list, const char *text)
{
    char found[256] = "";

    for (size_t i = 0; i < list->count; i++) {
        char one[64];

        snprintf(one, sizeof one, "%s%s@%d", i > 0 ? " " : "", list->files[i].file_name,
                 list->files[i].level);
        strcat(found, one);
    }
    cr_expect_str_eq(found, text);
}

Test(compact_increment, a_chain_of_rewrites_is_its_net_effect)
{
    const sinter_file_meta a = file_of("a", 0, "a", "z");
    const sinter_file_meta b = file_of("b", 3, "a", "z");
    const sinter_file_meta c = file_of("c", 4, "a", "z");
    gone_list gone = {.count = 0};
    sinter_increment increment;

    sinter__increment_init(&increment, sinter_env_default());
    cr_expect(sinter_increment_is_empty(&increment));
    note(&increment, rewrite_of(&a, "b", 3), &gone);
    note(&increment, rewrite_of(&b, "c", 4), &gone);
    note(&increment, rewrite_of(&c, "d", 5), &gone);
    expect_list(sinter_increment_compact_before(&increment), "a@0");
    expect_list(sinter_increment_compact_after(&increment), "d@5");
    cr_assert_eq(gone.count, 2);
    cr_expect_str_eq(gone.names[0], "b");
    cr_expect_str_eq(gone.names[1], "c");
    sinter__increment_fini(&increment);
}

Test(compact_increment, an_upgraded_file_never_goes)
{
    const sinter_file_meta a0 = file_of("a", 0, "a", "z");
    const sinter_file_meta a3 = file_of("a", 3, "a", "z");
    const sinter_file_meta a5 = file_of("a", 5, "a", "z");
    gone_list gone = {.count = 0};
    sinter_increment increment;

    sinter__increment_init(&increment, sinter_env_default());
    note(&increment, upgrade_of(&a0, 3), &gone);
    note(&increment, upgrade_of(&a3, 5), &gone);
    expect_list(sinter_increment_compact_before(&increment), "a@0");
    expect_list(sinter_increment_compact_after(&increment), "a@5");
    cr_expect(sinter__increment_is_upgraded(&increment, &a5), "the catalog's own");
    note(&increment, rewrite_of(&a5, "b", 5), &gone);
    expect_list(sinter_increment_compact_before(&increment), "a@0");
    expect_list(sinter_increment_compact_after(&increment), "b@5");
    cr_expect_eq(gone.count, 0, "the catalog names it until the commit");
    sinter__increment_fini(&increment);
}

Test(compact_increment, an_output_that_is_upgraded_and_rewritten_goes_once)
{
    const sinter_file_meta a = file_of("a", 0, "a", "z");
    const sinter_file_meta b3 = file_of("b", 3, "a", "z");
    const sinter_file_meta b5 = file_of("b", 5, "a", "z");
    gone_list gone = {.count = 0};
    sinter_increment increment;

    sinter__increment_init(&increment, sinter_env_default());
    note(&increment, rewrite_of(&a, "b", 3), &gone);
    note(&increment, upgrade_of(&b3, 5), &gone);
    cr_expect_eq(gone.count, 0, "its data lives on in the higher level");
    expect_list(sinter_increment_compact_after(&increment), "b@5");
    cr_expect(!sinter__increment_is_upgraded(&increment, &b5), "nobody else names it");
    note(&increment, rewrite_of(&b5, NULL, 0), &gone);
    cr_assert_eq(gone.count, 1);
    cr_expect_str_eq(gone.names[0], "b");
    expect_list(sinter_increment_compact_before(&increment), "a@0");
    expect_list(sinter_increment_compact_after(&increment), "");
    sinter__increment_fini(&increment);
}

Test(compact_increment, moving_leaves_an_empty_one)
{
    const sinter_file_meta a = file_of("a", 0, "a", "z");
    gone_list gone = {.count = 0};
    sinter_increment source;
    sinter_increment target;

    sinter__increment_init(&source, sinter_env_default());
    sinter__increment_init(&target, sinter_env_default());
    cr_assert_eq(sinter__meta_list_add(&source.new_files, &a, NULL), SINTER_OK);
    note(&source, rewrite_of(&a, "b", 3), &gone);
    sinter__increment_move(&source, &target);
    cr_expect(sinter_increment_is_empty(&source));
    expect_list(sinter_increment_new_files(&target), "a@0");
    expect_list(sinter_increment_compact_after(&target), "b@3");
    note(&source, rewrite_of(&a, "c", 3), &gone);
    expect_list(sinter_increment_compact_after(&source), "c@3");
    sinter__increment_fini(&source);
    sinter__increment_fini(&target);
}

Test(compact_increment, noting_that_fails_notes_nothing)
{
    const sinter_file_meta a = file_of("a", 0, "a", "z");
    const sinter_file_meta b = file_of("b", 3, "a", "z");
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_compact_result *first = rewrite_of(&a, "b", 3);
        sinter_compact_result *second = rewrite_of(&b, "c", 5);
        gone_list gone = {.count = 0};
        sinter_increment increment;
        fault_alloc fault;

        fault_alloc_init(&fault, UINT64_MAX);
        sinter__increment_init(&increment, &fault.env);
        cr_assert_eq(sinter__increment_note(&increment, first, note_gone, &gone, NULL), SINTER_OK);
        fault.fail_at = fault.calls + n;
        st = sinter__increment_note(&increment, second, note_gone, &gone, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        expect_list(sinter_increment_compact_after(&increment), st == SINTER_OK ? "c@5" : "b@3");
        cr_assert_eq(gone.count, st == SINTER_OK ? 1 : 0);
        sinter__increment_fini(&increment);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
        sinter_compact_result_destroy(first);
        sinter_compact_result_destroy(second);
    }
}
