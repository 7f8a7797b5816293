/*
 * A stand-in for Criterion where it can't start: under ThreadSanitizer, and in programs that are
 * cross-built and run under an emulator. All tests run in one process, one after another; the first
 * failed assertion ends it. Only what the tests of this tree use is here.
 */
#ifndef SINTER_TESTS_CRITERION_SHIM_H
#define SINTER_TESTS_CRITERION_SHIM_H

#pragma GCC system_header /* as the real one: no warnings about what its macros are given */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct criterion_shim_options {
    int is_set;
    void (*init)(void);
    void (*fini)(void);
    double timeout; /* ctest has its own */
    const char *description;
};

struct criterion_shim_entry {
    const char *suite;
    const char *name; /* NULL: the suite itself */
    void (*run)(void);
    struct criterion_shim_options options;
};

enum { CRITERION_SHIM_ENTRIES_MAX = 1024 };

/* Weak: every source file of a test program brings them, the linker keeps one. */
__attribute__((
    weak)) struct criterion_shim_entry criterion_shim_entries[CRITERION_SHIM_ENTRIES_MAX];
__attribute__((weak)) size_t criterion_shim_count;
__attribute__((weak)) int criterion_shim_failures;

static inline void
criterion_shim_add(struct criterion_shim_entry entry)
{
    if (criterion_shim_count == CRITERION_SHIM_ENTRIES_MAX) {
        fprintf(stderr, "more tests than the stand-in has room for\n");
        exit(2);
    }
    criterion_shim_entries[criterion_shim_count++] = entry;
}

__attribute__((format(printf, 6, 7))) static inline void
criterion_shim_check(int is_fatal, int holds, const char *file, int line, const char *condition,
                     const char *format, ...)
{
    va_list args;

    if (holds) {
        return;
    }
    criterion_shim_failures++;
    fprintf(stderr, "%s:%d: not so: %s;", file, line, condition);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    if (is_fatal) {
        exit(1);
    }
}

static inline void
criterion_shim_run(const struct criterion_shim_entry *test)
{
    struct criterion_shim_options options = test->options;

    for (size_t i = 0; i < criterion_shim_count; i++) {
        const struct criterion_shim_entry *suite = &criterion_shim_entries[i];

        if (suite->name == NULL && strcmp(suite->suite, test->suite) == 0) {
            options.init = options.init != NULL ? options.init : suite->options.init;
            options.fini = options.fini != NULL ? options.fini : suite->options.fini;
        }
    }
    fprintf(stderr, "[ RUN  ] %s::%s\n", test->suite, test->name);
    if (options.init != NULL) {
        options.init();
    }
    test->run();
    if (options.fini != NULL) {
        options.fini();
    }
}

__attribute__((weak)) int
main(int argc, char **argv)
{
    size_t count = 0;

    (void)argc;
    (void)argv;
    for (size_t i = 0; i < criterion_shim_count; i++) {
        if (criterion_shim_entries[i].name != NULL) {
            criterion_shim_run(&criterion_shim_entries[i]);
            count++;
        }
    }
    fprintf(stderr, "[ DONE ] %zu tests, %d failed checks\n", count, criterion_shim_failures);
    return criterion_shim_failures != 0 || count == 0;
}

#define TestSuite(suite_, ...)                                                   \
    __attribute__((constructor)) static void criterion_shim_suite_##suite_(void) \
    {                                                                            \
        criterion_shim_add((struct criterion_shim_entry){                        \
            .suite = #suite_, .options = {.is_set = 1, ##__VA_ARGS__}});         \
    }                                                                            \
    struct criterion_shim_entry

#define Test(suite_, name_, ...)                                                              \
    static void criterion_shim_test_##suite_##_##name_(void);                                 \
    __attribute__((constructor)) static void criterion_shim_test_add_##suite_##_##name_(void) \
    {                                                                                         \
        criterion_shim_add(                                                                   \
            (struct criterion_shim_entry){.suite = #suite_,                                   \
                                          .name = #name_,                                     \
                                          .run = criterion_shim_test_##suite_##_##name_,      \
                                          .options = {.is_set = 1, ##__VA_ARGS__}});          \
    }                                                                                         \
    static void criterion_shim_test_##suite_##_##name_(void)

#define CRITERION_SHIM_CHECK(fatal, condition, text, ...) \
    criterion_shim_check((fatal), (condition) ? 1 : 0, __FILE__, __LINE__, text, " " __VA_ARGS__)

#define cr_assert(c, ...) CRITERION_SHIM_CHECK(1, c, #c, __VA_ARGS__)
#define cr_assert_not(c, ...) CRITERION_SHIM_CHECK(1, !(c), "not " #c, __VA_ARGS__)
#define cr_assert_eq(a, b, ...) CRITERION_SHIM_CHECK(1, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) CRITERION_SHIM_CHECK(1, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) CRITERION_SHIM_CHECK(1, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) CRITERION_SHIM_CHECK(1, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) CRITERION_SHIM_CHECK(1, (a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) CRITERION_SHIM_CHECK(1, (a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_assert_null(a, ...) CRITERION_SHIM_CHECK(1, (a) == NULL, #a " is NULL", __VA_ARGS__)
#define cr_assert_not_null(a, ...) CRITERION_SHIM_CHECK(1, (a) != NULL, #a, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) \
    CRITERION_SHIM_CHECK(1, strcmp((a), (b)) == 0, #a " equals " #b, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...) \
    CRITERION_SHIM_CHECK(1, strcmp((a), (b)) != 0, #a " differs from " #b, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...) \
    CRITERION_SHIM_CHECK(1, memcmp((a), (b), (size)) == 0, #a " equals " #b, __VA_ARGS__)
#define cr_assert_fail(...) CRITERION_SHIM_CHECK(1, 0, "reached", __VA_ARGS__)

#define cr_expect(c, ...) CRITERION_SHIM_CHECK(0, c, #c, __VA_ARGS__)
#define cr_expect_not(c, ...) CRITERION_SHIM_CHECK(0, !(c), "not " #c, __VA_ARGS__)
#define cr_expect_eq(a, b, ...) CRITERION_SHIM_CHECK(0, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...) CRITERION_SHIM_CHECK(0, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...) CRITERION_SHIM_CHECK(0, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...) CRITERION_SHIM_CHECK(0, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...) CRITERION_SHIM_CHECK(0, (a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...) CRITERION_SHIM_CHECK(0, (a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_expect_null(a, ...) CRITERION_SHIM_CHECK(0, (a) == NULL, #a " is NULL", __VA_ARGS__)
#define cr_expect_not_null(a, ...) CRITERION_SHIM_CHECK(0, (a) != NULL, #a, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) \
    CRITERION_SHIM_CHECK(0, strcmp((a), (b)) == 0, #a " equals " #b, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...) \
    CRITERION_SHIM_CHECK(0, strcmp((a), (b)) != 0, #a " differs from " #b, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, size, ...) \
    CRITERION_SHIM_CHECK(0, memcmp((a), (b), (size)) == 0, #a " equals " #b, __VA_ARGS__)
#define cr_expect_fail(...) CRITERION_SHIM_CHECK(0, 0, "reached", __VA_ARGS__)

#define cr_log_info(...) ((void)fprintf(stderr, __VA_ARGS__))

#endif
