/*
 * Executors for tests: what they are given is run at once, later, or refused.
 */
#ifndef SINTER_TESTS_EXECUTORS_H
#define SINTER_TESTS_EXECUTORS_H

#include "sinter/env.h"

enum { TEST_EXECUTOR_TASKS_MAX = 4096 };

/** What an executor does with a task. */
typedef enum test_executor_kind {
    TEST_EXECUTOR_INLINE, /* runs it before submit returns */
    TEST_EXECUTOR_KEEPS,  /* runs it when test_executor_run() is called */
    TEST_EXECUTOR_REFUSES
} test_executor_kind;

/** One executor. Confined. */
typedef struct test_executor {
    test_executor_kind kind;
    size_t submitted;
    size_t count; /* kept */
    void (*work[TEST_EXECUTOR_TASKS_MAX])(void *arg);
    void *args[TEST_EXECUTOR_TASKS_MAX];
} test_executor;

/** Let an environment use it; zeroed but for its kind. */
void
test_executor_use(test_executor *executor, sinter_env *env);

/** Run what is kept. */
void
test_executor_run(test_executor *executor);

#endif
