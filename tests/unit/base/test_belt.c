#include "base/belt.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>

#include "executors.h"
#include "fault_alloc.h"
#include "records.h"

TestSuite(base_belt, .timeout = 60);

enum { PLACES_MAX = 8 };

/* Items are numbers. Working on one squares it; what leaves is checked to be the next square. */
typedef struct numbers {
    sinter__belt *belt;
    uint64_t lying[PLACES_MAX];
    uint64_t begun;
    _Atomic uint64_t begin_max; /* no item from this on may be begun */
    uint64_t work_fails_at;
    uint64_t leave_fails_at;
    uint64_t left;
    atomic_int leaving;
    _Atomic uint64_t done_by[SINTER__BELT_WORKERS];
} numbers;

static bool
begin_number(void *ctx, size_t place)
{
    numbers *self = ctx;

    if (self->begun >= self->begin_max) {
        return false;
    }
    cr_assert_eq(self->lying[place], self->begun, "items are begun in order");
    self->begun++;
    return true;
}

static sinter_status
square(void *ctx, size_t place, int worker, sinter_error *err)
{
    numbers *self = ctx;
    const uint64_t number = self->lying[place];

    (void)atomic_fetch_add(&self->done_by[worker], 1);
    if (number >= self->work_fails_at) {
        return SINTER__ERR(err, SINTER_E_INVALID, "number %llu", (unsigned long long)number);
    }
    self->lying[place] = number * number;
    return SINTER_OK;
}

static sinter_status
leave_square(void *ctx, size_t place, sinter_error *err)
{
    numbers *self = ctx;

    cr_assert_eq(atomic_fetch_add(&self->leaving, 1), 0, "one leaves at a time");
    cr_assert_eq(self->lying[place], self->left * self->left, "items leave in order");
    if (self->left == self->leave_fails_at) {
        return SINTER__ERR(err, SINTER_E_IO, "stuck");
    }
    self->left++;
    (void)atomic_fetch_sub(&self->leaving, 1);
    return SINTER_OK;
}

static const sinter__belt_ops number_ops = {
    .begin = begin_number, .work = square, .leave = leave_square};

static void
numbers_init(numbers *self, const sinter_env *env, size_t places)
{
    *self = (numbers){
        .begin_max = UINT64_MAX, .work_fails_at = UINT64_MAX, .leave_fails_at = UINT64_MAX};
    cr_assert_eq(sinter__belt_create(env, &number_ops, self, places, &self->belt, NULL), SINTER_OK);
}

/* Put the numbers begin .. end - 1. */
static sinter_status
put_numbers(numbers *self, uint64_t begin, uint64_t end, sinter_error *err)
{
    for (uint64_t i = begin; i < end; i++) {
        size_t place = 0;

        SINTER__CHECK(sinter__belt_room(self->belt, &place, err));
        self->lying[place] = i;
        sinter__belt_put(self->belt);
    }
    return SINTER_OK;
}

static void
check_all_leave(const sinter_env *env, size_t places, uint64_t count)
{
    numbers all;

    numbers_init(&all, env, places);
    cr_assert_eq(put_numbers(&all, 0, count / 2, NULL), SINTER_OK);
    cr_assert_eq(sinter__belt_reduce(all.belt, 0, NULL), SINTER_OK);
    cr_assert_eq(all.left, count / 2);
    cr_assert_eq(sinter__belt_count(all.belt), 0);
    cr_assert_eq(put_numbers(&all, count / 2, count, NULL), SINTER_OK);
    cr_assert_eq(sinter__belt_reduce(all.belt, 0, NULL), SINTER_OK);
    cr_assert_eq(all.left, count);
    sinter__belt_destroy(all.belt);
}

Test(base_belt, items_leave_in_order_with_any_executor)
{
    for (size_t places = 1; places <= PLACES_MAX; places++) {
        sinter_env env;

        sinter_env_init(&env);
        check_all_leave(&env, places, 100);
        for (int kind = TEST_EXECUTOR_INLINE; kind <= TEST_EXECUTOR_REFUSES; kind++) {
            static test_executor executor;

            executor = (test_executor){.kind = (test_executor_kind)kind};
            test_executor_use(&executor, &env);
            check_all_leave(&env, places, 100);
            test_executor_run(&executor); /* late: the belts are gone */
            cr_expect(executor.submitted > 0 || places == 1);
        }
        for (uint32_t threads = 1; threads <= 3; threads++) {
            sinter_pool *pool = NULL;

            cr_assert_eq(sinter_pool_create(sinter_env_default(), threads, 8, &pool, NULL), 0);
            env.executor = sinter_pool_executor(pool);
            check_all_leave(&env, places, 3000);
            sinter_pool_destroy(pool);
        }
    }
}

Test(base_belt, a_helper_that_is_late_is_not_hoped_for_until_it_comes)
{
    static test_executor executor = {.kind = TEST_EXECUTOR_KEEPS};
    sinter_env env;
    numbers all;

    sinter_env_init(&env);
    test_executor_use(&executor, &env);
    numbers_init(&all, &env, 3);
    cr_expect(sinter__belt_has_help(all.belt));
    cr_assert_eq(put_numbers(&all, 0, 3, NULL), SINTER_OK);
    cr_expect(sinter__belt_has_help(all.belt), "there is time yet");
    cr_expect_eq(all.left, 0);
    cr_assert_eq(put_numbers(&all, 3, 10, NULL), SINTER_OK);
    cr_expect_not(sinter__belt_has_help(all.belt));
    cr_expect_eq(all.left, 7);
    cr_expect_eq(executor.submitted, 1, "it is called once");
    test_executor_run(&executor);
    cr_expect_eq(all.left, 10);
    cr_expect(sinter__belt_has_help(all.belt));
    cr_expect_eq(all.done_by[SINTER__BELT_HELPER], 3);
    sinter__belt_destroy(all.belt);
}

Test(base_belt, without_an_executor_or_refused_there_is_no_help)
{
    static test_executor executor = {.kind = TEST_EXECUTOR_REFUSES};
    sinter_env env;
    numbers all;

    sinter_env_init(&env);
    numbers_init(&all, &env, 3);
    cr_expect_not(sinter__belt_has_help(all.belt));
    sinter__belt_destroy(all.belt);
    test_executor_use(&executor, &env);
    numbers_init(&all, &env, 3);
    cr_assert_eq(put_numbers(&all, 0, 2, NULL), SINTER_OK);
    cr_expect_not(sinter__belt_has_help(all.belt));
    cr_assert_eq(sinter__belt_reduce(all.belt, 1, NULL), SINTER_OK);
    cr_expect_eq(all.left, 1);
    sinter__belt_destroy(all.belt);
}

Test(base_belt, an_item_that_may_not_begin_yet_waits)
{
    static test_executor executor = {.kind = TEST_EXECUTOR_INLINE};
    sinter_env env;
    numbers all;

    sinter_env_init(&env);
    test_executor_use(&executor, &env);
    numbers_init(&all, &env, 4);
    all.begin_max = 1;
    cr_assert_eq(put_numbers(&all, 0, 4, NULL), SINTER_OK);
    cr_expect_eq(all.left, 1);
    all.begin_max = UINT64_MAX;
    cr_assert_eq(sinter__belt_reduce(all.belt, 0, NULL), SINTER_OK);
    cr_expect_eq(all.left, 4);
    sinter__belt_destroy(all.belt);
}

/* The first failing item tells, whoever meets it. */
static void
check_failure(const sinter_env *env, uint64_t work_fails_at, uint64_t leave_fails_at)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    size_t place = 0;
    numbers all;

    numbers_init(&all, env, 4);
    all.work_fails_at = work_fails_at;
    all.leave_fails_at = leave_fails_at;
    st = put_numbers(&all, 0, 200, &err);
    if (st == SINTER_OK) {
        st = sinter__belt_reduce(all.belt, 0, &err);
    }
    if (work_fails_at <= leave_fails_at) {
        char text[32];

        cr_assert_eq(st, SINTER_E_INVALID);
        (void)snprintf(text, sizeof text, "number %llu", (unsigned long long)work_fails_at);
        cr_assert_str_eq(err.text, text);
        cr_assert_eq(all.left, work_fails_at);
    } else {
        cr_assert_eq(st, SINTER_E_IO);
        cr_assert_eq(all.left, leave_fails_at);
    }
    cr_assert_eq(err.status, st);
    cr_assert_eq(sinter__belt_room(all.belt, &place, NULL), st, "it stays so");
    cr_assert_eq(sinter__belt_reduce(all.belt, 0, NULL), st);
    sinter__belt_destroy(all.belt);
}

Test(base_belt, the_first_failure_in_order_is_told)
{
    static test_executor executor = {.kind = TEST_EXECUTOR_INLINE};
    sinter_pool *pool = NULL;
    test_rng rng = {.state = 9};
    sinter_env env;

    sinter_env_init(&env);
    cr_assert_eq(sinter_pool_create(sinter_env_default(), 1, 2000, &pool, NULL), SINTER_OK);
    for (int round = 0; round < 300; round++) {
        const uint64_t work = test_rng_below(&rng, 250);
        const uint64_t leave = test_rng_below(&rng, 200);

        if (round % 3 == 0) {
            env.executor = (sinter_executor){.submit = NULL};
        } else if (round % 3 == 1) {
            test_executor_use(&executor, &env);
        } else {
            env.executor = sinter_pool_executor(pool);
        }
        check_failure(&env, work, leave);
    }
    sinter_pool_destroy(pool);
}

Test(base_belt, what_lies_on_it_at_the_end_is_dropped)
{
    sinter_pool *pool = NULL;
    sinter_env env;

    sinter_env_init(&env);
    cr_assert_eq(sinter_pool_create(sinter_env_default(), 1, 2000, &pool, NULL), SINTER_OK);
    env.executor = sinter_pool_executor(pool);
    for (uint64_t round = 0; round < 500; round++) {
        numbers all;

        numbers_init(&all, &env, 4);
        cr_assert_eq(put_numbers(&all, 0, round % 7, NULL), SINTER_OK);
        sinter__belt_destroy(all.belt);
    }
    sinter_pool_destroy(pool);
    sinter__belt_destroy(NULL);
}

Test(base_belt, no_memory_is_told)
{
    fault_alloc faults;
    sinter__belt *belt = NULL;

    fault_alloc_init(&faults, 0);
    cr_expect_eq(sinter__belt_create(&faults.env, &number_ops, NULL, 4, &belt, NULL),
                 SINTER_E_NOMEM);
    cr_expect_null(belt);
    cr_expect_eq(faults.live, 0);
}
