/*
 * An allocator for tests: refuses the n-th allocation and counts what is live.
 */
#ifndef SINTER_TESTS_FAULT_ALLOC_H
#define SINTER_TESTS_FAULT_ALLOC_H

#include "sinter/env.h"

typedef struct fault_alloc {
    sinter_env env;   /* hand this to the code under test */
    uint64_t fail_at; /* the allocation (from 0) that is refused; UINT64_MAX: none */
    _Atomic uint64_t calls;
    _Atomic int64_t live; /* blocks not yet released */
} fault_alloc;

/** Default environment whose `fail_at`-th allocation or resize is refused. */
void
fault_alloc_init(fault_alloc *fault, uint64_t fail_at);

#endif
