#include "compact/increment.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compact/result.h"
#include "files.h"
#include "support/fault_alloc.h"
#include "support/records.h"

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

/* Names, one after the other. */
typedef struct gone_text {
    char text[1024];
} gone_text;

static void
note_text(void *ctx, const sinter_file_meta *file)
{
    gone_text *gone = ctx;

    strcat(strcat(gone->text, file->file_name), " ");
}

static void
expect_own(const sinter_increment *increment, const char *text)
{
    gone_text own = {.text = ""};

    sinter__increment_each_own(increment, note_text, &own);
    cr_expect_str_eq(own.text, text);
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
    expect_own(&increment, ""); /* it is the catalog's */
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
    expect_own(&increment, "b ");
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

/* ---- joined ---- */

enum { CHAIN = 12, CHAIN_FILES = 64 };

/** Files that live, as the results of a chain change them. */
typedef struct live_files {
    const char *names[CHAIN_FILES];
    int32_t levels[CHAIN_FILES];
    size_t count;
    size_t made;
} live_files;

static void
add_live(live_files *live, int32_t level)
{
    static char names[CHAIN_FILES][8]; /* results borrow them */

    cr_assert_lt(live->made, CHAIN_FILES);
    snprintf(names[live->made], sizeof names[0], "f%zu", live->made);
    live->names[live->count] = names[live->made++];
    live->levels[live->count++] = level;
}

static sinter_file_meta
live_meta(const live_files *live, size_t i)
{
    return file_of(live->names[i], live->levels[i], "a", "z");
}

/* Draw a flush, noted in `increments` (several hold the same history). */
static void
flush_live(live_files *live, sinter_increment *const *increments, size_t count)
{
    sinter_file_meta made;

    add_live(live, 0);
    made = live_meta(live, live->count - 1);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(sinter__meta_list_add(&increments[i]->new_files, &made, NULL), SINTER_OK);
    }
}

/* A compaction of some files: one is moved, or all become at most two new ones. */
static sinter_compact_result *
compact_live(live_files *live, test_rng *rng)
{
    const int32_t level = 1 + (int32_t)test_rng_below(rng, 5);
    const size_t first = (size_t)test_rng_below(rng, live->count);
    const size_t count = 1 + (size_t)test_rng_below(rng, live->count - first);
    live_files rest = *live;
    sinter_file_meta inputs[CHAIN_FILES];
    sinter_compact_result *result = NULL;

    for (size_t i = 0; i < count; i++) {
        inputs[i] = live_meta(live, first + i);
    }
    cr_assert_eq(sinter__result_create(sinter_env_default(), inputs, count, &result, NULL),
                 SINTER_OK);
    rest.count = 0;
    for (size_t i = 0; i < live->count; i++) {
        if (i < first || i >= first + count) {
            rest.names[rest.count] = live->names[i];
            rest.levels[rest.count++] = live->levels[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(sinter__result_add_before(result, &inputs[i], NULL), SINTER_OK);
    }
    if (count == 1 && inputs[0].level < level) {
        cr_assert_eq(sinter__result_add_upgraded(result, &inputs[0], level, NULL), SINTER_OK);
        rest.names[rest.count] = inputs[0].file_name;
        rest.levels[rest.count++] = level;
    } else {
        for (uint64_t n = test_rng_below(rng, 3); n > 0; n--) {
            sinter_file_meta made;

            add_live(&rest, level);
            made = live_meta(&rest, rest.count - 1);
            cr_assert_eq(sinter_compact_result_add_after(result, &made, NULL), SINTER_OK);
        }
    }
    *live = rest;
    return result;
}

static void
expect_equal_lists(const sinter_file_list *a, const sinter_file_list *b, uint64_t seed)
{
    cr_assert_eq(a->count, b->count, "seed %" PRIu64, seed);
    for (size_t i = 0; i < a->count; i++) {
        cr_assert_str_eq(a->files[i].file_name, b->files[i].file_name, "seed %" PRIu64, seed);
        cr_assert_eq(a->files[i].level, b->files[i].level, "seed %" PRIu64, seed);
    }
}

/* Every name of `some` is among those of `all`, and none twice. */
static void
expect_gone(const char *some, const char *all, uint64_t seed)
{
    char copy[1024];
    char *rest = NULL;

    strcpy(copy, some);
    for (char *name = strtok_r(copy, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
        char with_space[16];
        const char *place = NULL;

        snprintf(with_space, sizeof with_space, "%s ", name);
        place = strstr(all, with_space);
        cr_assert_not_null(place, "seed %" PRIu64 ": %s is gone", seed, name);
    }
}

Test(compact_increment, joined_parts_are_what_one_would_have_been)
{
    const uint64_t cases = scaled_cases(400);

    for (uint64_t seed = 1; seed <= cases; seed++) {
        test_rng rng = {.state = seed};
        live_files live = {.count = 0};
        gone_text gone_whole = {.text = ""};
        gone_text gone_parts = {.text = ""};
        sinter_increment whole;
        sinter_increment parts[2];
        const uint64_t cut = test_rng_below(&rng, CHAIN);

        add_live(&live, 0); /* the catalog's */
        add_live(&live, 3);
        sinter__increment_init(&whole, sinter_env_default());
        sinter__increment_init(&parts[0], sinter_env_default());
        sinter__increment_init(&parts[1], sinter_env_default());
        for (uint64_t step = 0; step < CHAIN; step++) {
            sinter_increment *part = &parts[step < cut ? 0 : 1];

            if (live.count == 0 || test_rng_chance(&rng, 40)) {
                flush_live(&live, (sinter_increment *const[]){&whole, part}, 2);
            } else {
                sinter_compact_result *result = compact_live(&live, &rng);

                cr_assert_eq(sinter__increment_note(&whole, result, note_text, &gone_whole, NULL),
                             SINTER_OK);
                cr_assert_eq(sinter__increment_note(part, result, note_text, &gone_parts, NULL),
                             SINTER_OK);
                sinter_compact_result_destroy(result);
            }
        }
        cr_assert_eq(sinter__increment_join(&parts[0], &parts[1], note_text, &gone_parts, NULL),
                     SINTER_OK);
        expect_equal_lists(&parts[0].new_files.list, &whole.new_files.list, seed);
        expect_equal_lists(&parts[0].compact_before.list, &whole.compact_before.list, seed);
        expect_equal_lists(&parts[0].compact_after.list, &whole.compact_after.list, seed);
        cr_assert_eq(strlen(gone_parts.text), strlen(gone_whole.text), "seed %" PRIu64, seed);
        expect_gone(gone_parts.text, gone_whole.text, seed);
        expect_gone(gone_whole.text, gone_parts.text, seed);
        sinter__increment_fini(&parts[0]);
        sinter__increment_fini(&parts[1]);
        sinter__increment_fini(&whole);
    }
}

Test(compact_increment, a_file_made_before_and_replaced_since_is_in_no_list)
{
    const sinter_file_meta a = file_of("a", 0, "a", "z");
    const sinter_file_meta b = file_of("b", 3, "a", "z");
    gone_list gone = {.count = 0};
    sinter_increment earlier;
    sinter_increment later;

    sinter__increment_init(&earlier, sinter_env_default());
    sinter__increment_init(&later, sinter_env_default());
    note(&earlier, rewrite_of(&a, "b", 3), &gone);
    note(&later, rewrite_of(&b, "c", 5), &gone);
    cr_expect_eq(gone.count, 0, "as long as it may be committed");
    cr_assert_eq(sinter__increment_join(&earlier, &later, note_gone, &gone, NULL), SINTER_OK);
    expect_list(sinter_increment_compact_before(&earlier), "a@0");
    expect_list(sinter_increment_compact_after(&earlier), "c@5");
    cr_assert_eq(gone.count, 1);
    cr_expect_str_eq(gone.names[0], "b");
    sinter__increment_fini(&earlier);
    sinter__increment_fini(&later);
}

Test(compact_increment, joining_that_fails_changes_nothing)
{
    const sinter_file_meta a = file_of("a", 0, "a", "z");
    const sinter_file_meta b = file_of("b", 3, "a", "z");
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        gone_list gone = {.count = 0};
        sinter_increment earlier;
        sinter_increment later;
        fault_alloc fault;

        fault_alloc_init(&fault, UINT64_MAX);
        sinter__increment_init(&earlier, &fault.env);
        sinter__increment_init(&later, sinter_env_default());
        cr_assert_eq(sinter__meta_list_add(&later.new_files, &a, NULL), SINTER_OK);
        note(&earlier, rewrite_of(&a, "b", 3), &gone);
        note(&later, rewrite_of(&b, "c", 5), &gone);
        fault.fail_at = fault.calls + n;
        st = sinter__increment_join(&earlier, &later, note_gone, &gone, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        expect_list(sinter_increment_new_files(&earlier), st == SINTER_OK ? "a@0" : "");
        expect_list(sinter_increment_compact_after(&earlier), st == SINTER_OK ? "c@5" : "b@3");
        cr_assert_eq(gone.count, st == SINTER_OK ? 1 : 0);
        expect_list(sinter_increment_compact_after(&later), "c@5");
        sinter__increment_fini(&earlier);
        sinter__increment_fini(&later);
        cr_assert_eq(fault.live, 0, "leak when allocation %" PRIu64 " fails", n);
    }
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
