#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "fault_alloc.h"
#include "sinter/env.h"

TestSuite(base_memory, .timeout = 30);

Test(base_memory, the_ceiling_holds_and_the_peak_stays)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_memory *memory = NULL;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 1000, &memory, NULL), SINTER_OK);
    cr_expect_eq(sinter_memory_limit(memory), 1000);
    cr_expect_eq(sinter_memory_reserve(memory, 600, &err), SINTER_OK);
    cr_expect_eq(sinter_memory_reserve(memory, 401, &err), SINTER_E_TOO_LARGE);
    cr_expect(strstr(err.text, "1000") != NULL && strstr(err.text, "401") != NULL, "%s", err.text);
    cr_expect_eq(sinter_memory_used(memory), 600, "a refusal takes nothing");
    cr_expect_eq(sinter_memory_reserve(memory, 400, &err), SINTER_OK);
    cr_expect_eq(sinter_memory_reserve(memory, 1, NULL), SINTER_E_TOO_LARGE);
    cr_expect_eq(sinter_memory_reserve(memory, UINT64_MAX, NULL), SINTER_E_TOO_LARGE);
    cr_expect_eq(sinter_memory_reserve(memory, 0, NULL), SINTER_OK);
    sinter_memory_release(memory, 1000);
    cr_expect_eq(sinter_memory_used(memory), 0);
    cr_expect_eq(sinter_memory_peak(memory), 1000);
    sinter_memory_destroy(memory);
    sinter_memory_destroy(NULL);
}

Test(base_memory, without_a_ceiling_it_only_counts)
{
    sinter_memory *memory = NULL;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 0, &memory, NULL), SINTER_OK);
    cr_expect_eq(sinter_memory_limit(memory), UINT64_MAX);
    cr_expect_eq(sinter_memory_reserve(memory, (uint64_t)1 << 62, NULL), SINTER_OK);
    cr_expect_eq(sinter_memory_peak(memory), (uint64_t)1 << 62);
    sinter_memory_release(memory, (uint64_t)1 << 62);
    sinter_memory_destroy(memory);
    cr_expect_eq(sinter_memory_reserve(NULL, UINT64_MAX, NULL), SINTER_OK, "no budget at all");
    sinter_memory_release(NULL, UINT64_MAX);
    cr_expect(sinter_memory_used(NULL) == 0 && sinter_memory_peak(NULL) == 0);
    cr_expect_eq(sinter_memory_limit(NULL), UINT64_MAX);
}

static void *
take_and_give(void *arg)
{
    sinter_memory *memory = arg;

    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t bytes = i % 7 + 1;

        if (sinter_memory_reserve(memory, bytes, NULL) == SINTER_OK) {
            sinter_memory_release(memory, bytes);
        }
    }
    return NULL;
}

Test(base_memory, threads_never_pass_the_ceiling_together)
{
    enum { THREADS = 4, LIMIT = 12 };
    sinter_memory *memory = NULL;
    pthread_t ids[THREADS];

    cr_assert_eq(sinter_memory_create(sinter_env_default(), LIMIT, &memory, NULL), SINTER_OK);
    for (size_t i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&ids[i], NULL, take_and_give, memory), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_join(ids[i], NULL), 0);
    }
    cr_expect_eq(sinter_memory_used(memory), 0);
    cr_expect(sinter_memory_peak(memory) >= 7 && sinter_memory_peak(memory) <= LIMIT);
    sinter_memory_destroy(memory);
}

Test(base_memory, a_share_is_taken_of_the_whole_and_nothing_of_what_is_refused)
{
    sinter_memory *whole = NULL;
    sinter_memory share;
    sinter_memory other;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 100, &whole, NULL), SINTER_OK);
    sinter__memory_init(&share, whole, 60);
    sinter__memory_init(&other, whole, 0);
    cr_expect_eq(sinter_memory_reserve(&share, 61, NULL), SINTER_E_TOO_LARGE);
    cr_expect_eq(sinter_memory_used(whole), 0);
    cr_expect_eq(sinter_memory_reserve(&share, 60, NULL), SINTER_OK);
    cr_expect_eq(sinter_memory_used(whole), 60);
    cr_expect_eq(sinter_memory_reserve(&other, 41, NULL), SINTER_E_TOO_LARGE, "of the whole");
    cr_expect(sinter_memory_used(&other) == 0 && sinter_memory_used(whole) == 60);
    cr_expect_eq(sinter_memory_reserve(&other, 40, NULL), SINTER_OK);
    cr_expect_eq(sinter_memory_limit(&share), 60);
    cr_expect_eq(sinter_memory_limit(&other), UINT64_MAX);
    sinter_memory_release(&share, 60);
    sinter_memory_release(&other, 40);
    cr_expect_eq(sinter_memory_used(whole), 0);
    sinter_memory_destroy(whole);
}

Test(base_memory, making_one_may_fail)
{
    sinter_memory *memory = NULL;
    fault_alloc fault;

    fault_alloc_init(&fault, 0);
    cr_expect_eq(sinter_memory_create(&fault.env, 1, &memory, NULL), SINTER_E_NOMEM);
    cr_expect(memory == NULL);
    cr_expect_eq(sinter_memory_create(NULL, 1, &memory, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_memory_create(&fault.env, 1, NULL, NULL), SINTER_E_INVALID);
}
