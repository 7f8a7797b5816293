#include "compact/result.h"

#include <criterion/criterion.h>

#include "files.h"
#include "support/fault_alloc.h"

TestSuite(compact_result, .timeout = 20);

Test(compact_result, new_files_are_copied_whole)
{
    char name[] = "new.sst";
    char dir[] = "bucket-0";
    char extra_name[] = "new.index";
    uint8_t key[] = {1, 2, 3};
    const char *extra[] = {extra_name};
    sinter_file_meta file = file_of(name, 3, "", "");
    sinter_compact_result *result = NULL;
    const sinter_file_meta *copy = NULL;

    file.dir = dir;
    file.min_key = (sinter_bytes){key, 2};
    file.max_key = (sinter_bytes){key, 3};
    file.extra_files = extra;
    file.extra_file_count = 1;
    file.upgraded_from = 9;
    cr_assert_eq(sinter__result_create(sinter_env_default(), NULL, 0, &result, NULL), SINTER_OK);
    cr_assert_eq(sinter_compact_result_add_after(result, &file, NULL), SINTER_OK);
    memset(name, 'x', sizeof name - 1);
    memset(dir, 'x', sizeof dir - 1);
    memset(extra_name, 'x', sizeof extra_name - 1);
    memset(key, 9, sizeof key);

    cr_assert_eq(sinter_compact_result_after(result)->count, 1);
    copy = &sinter_compact_result_after(result)->files[0];
    cr_expect_str_eq(copy->file_name, "new.sst");
    cr_expect_str_eq(copy->dir, "bucket-0");
    cr_expect_str_eq(copy->extra_files[0], "new.index");
    cr_expect_eq(copy->min_key.size, 2);
    cr_expect_eq(memcmp(copy->max_key.data, "\1\2\3", 3), 0);
    cr_expect_eq(copy->upgraded_from, -1, "a new file was never elsewhere");
    sinter_compact_result_destroy(result);
}

Test(compact_result, a_result_outlives_the_environment_struct)
{
    sinter_env env = *sinter_env_default();
    sinter_compact_result *result = NULL;
    const sinter_file_meta file = file_of("a", 0, "a", "b");

    cr_assert_eq(sinter__result_create(&env, &file, 1, &result, NULL), SINTER_OK);
    memset(&env, 0, sizeof env);
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(sinter_compact_result_add_after(result, &file, NULL), SINTER_OK);
        cr_assert_eq(sinter__result_add_before(result, &file, NULL), SINTER_OK);
        cr_assert_eq(sinter__result_add_upgraded(result, &file, 1 + i, NULL), SINTER_OK);
    }
    cr_expect_eq(sinter_compact_result_after(result)->count, 200);
    cr_expect_eq(sinter_compact_result_before(result)->count, 100);
    cr_expect_eq(sinter_compact_result_after(result)->files[3].level, 2);
    cr_expect_eq(sinter_compact_result_after(result)->files[3].upgraded_from, 0);
    sinter_compact_result_destroy(result);
    sinter_compact_result_destroy(NULL);
}

Test(compact_result, each_reason_has_its_own_code_and_a_sentence)
{
    static const char *const codes[] = {"overlap",     "small-neighbours",
                                        "top-deletes", "top-deletes-unknown",
                                        "forced",      "expired",
                                        "large-alone", "small-alone",
                                        "at-level",    "empty"};

    for (int i = 0; i < 10; i++) {
        const char *text = sinter_reason_text((sinter_reason)i);

        cr_expect_str_eq(sinter_reason_code((sinter_reason)i), codes[i]);
        cr_expect(strlen(text) > 20 && text[strlen(text) - 1] == '.', "%s", text);
    }
    cr_expect_str_eq(sinter_reason_code((sinter_reason)10), "unknown");
    cr_expect_str_eq(sinter_file_action_name(SINTER_ACTION_KEPT), "kept");
    cr_expect_str_eq(sinter_file_action_name(SINTER_ACTION_UPGRADED), "upgraded");
    cr_expect_str_eq(sinter_file_action_name(SINTER_ACTION_REWRITTEN), "rewritten");
}

Test(compact_result, every_allocation_may_fail)
{
    static const char *const extra[] = {"x"};
    sinter_file_meta file = file_of("a", 0, "a", "b");
    sinter_status st = SINTER_E_NOMEM;

    file.extra_files = extra;
    file.extra_file_count = 1;
    file.dir = "d";
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_compact_result *result = NULL;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = sinter__result_create(&fault.env, &file, 1, &result, NULL);
        for (int i = 0; i < 9 && st == SINTER_OK; i++) {
            st = sinter_compact_result_add_after(result, &file, NULL);
        }
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        sinter_compact_result_destroy(result);
        cr_assert_eq(fault.live, 0);
    }
}

Test(compact_result, each_reason_has_a_code_a_sentence_and_one_action)
{
    for (sinter_reason r = 0; r < SINTER_REASON_COUNT; r++) {
        cr_expect_str_neq(sinter_reason_code(r), "unknown", "reason %d", (int)r);
        cr_expect_str_neq(sinter_reason_code(r), "other", "reason %d", (int)r);
        cr_expect_str_neq(sinter_reason_text(r), "unknown", "reason %d", (int)r);
        cr_expect_str_neq(sinter_file_action_name(sinter_reason_action(r)), "unknown");
    }
    cr_expect_eq(sinter_reason_action(SINTER_REASON_AT_LEVEL), SINTER_ACTION_KEPT);
    cr_expect_eq(sinter_reason_action(SINTER_REASON_SMALL_ALONE), SINTER_ACTION_UPGRADED);
    cr_expect_eq(sinter_reason_action(SINTER_REASON_EXPIRED), SINTER_ACTION_REWRITTEN);
}
