/*
 * How failures are made and passed on (see base.h for what callers see).
 *
 * The site that sees a failure fills the caller's error once with SINTER__FAIL or SINTER__FAIL_AT;
 * callers pass it on with SINTER__TRY. Both jump to the label `out` of their function, whose
 * status variable is `st`. SINTER__RETURN_FAIL is for functions that hold nothing.
 */
#ifndef SINTER_BASE_FAIL_H
#define SINTER_BASE_FAIL_H

#include <errno.h>

#include "sinter/base.h"

/** Where a failure was seen, and of what. */
typedef struct sinter__fail_site {
    const char *origin_file;
    int origin_line;
    int sys_errno;
    const char *file; /* NULL: none */
    int64_t offset;   /* -1: none */
} sinter__fail_site;

/** Fill `err` (may be NULL) and return `status`. */
sinter_status
sinter__fail(sinter_error *err, sinter_status status, const sinter__fail_site *site,
             const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Put "context: " in front of the text of a failure that is being passed on. */
void
sinter__fail_context(sinter_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Name the file of a failure that has none yet. */
void
sinter__fail_file(sinter_error *err, const char *file);

#define SINTER__ERR_SYS(err, status, sys_errno, path, offset, ...)                              \
    sinter__fail(                                                                               \
        (err), (status),                                                                        \
        &(const sinter__fail_site){__FILE__, __LINE__, (sys_errno), (path), (int64_t)(offset)}, \
        __VA_ARGS__)
#define SINTER__ERR_AT(err, status, path, offset, ...) \
    SINTER__ERR_SYS((err), (status), 0, (path), (offset), __VA_ARGS__)
#define SINTER__ERR(err, status, ...) SINTER__ERR_SYS((err), (status), 0, NULL, -1, __VA_ARGS__)

#define SINTER__FAIL(err, status, ...)                  \
    do {                                                \
        st = SINTER__ERR((err), (status), __VA_ARGS__); \
        goto out;                                       \
    } while (0)
#define SINTER__FAIL_AT(err, status, path, offset, ...)                      \
    do {                                                                     \
        st = SINTER__ERR_AT((err), (status), (path), (offset), __VA_ARGS__); \
        goto out;                                                            \
    } while (0)

/* These two stand inside other blocks everywhere; without braces of their own they don't count as
 * levels of nesting. */

/** Go to `out` with the status of `call` unless it is SINTER_OK. */
#define SINTER__TRY(call)    \
    do {                     \
        st = (call);         \
        if (st != SINTER_OK) \
            goto out;        \
    } while (0)

/** The same for functions that hold nothing: return at once. */
#define SINTER__CHECK(call)                        \
    do {                                           \
        const sinter_status check_status = (call); \
        if (check_status != SINTER_OK)             \
            return check_status;                   \
    } while (0)

/** Refuse a bad argument of a public function: returns SINTER_E_INVALID. */
#define SINTER__REQUIRE(err, condition)                                                      \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            return SINTER__ERR((err), SINTER_E_INVALID, "argument refused: %s", #condition); \
        }                                                                                    \
    } while (0)

#endif
