/*
 * A strategy that picks what a test tells it to.
 */
#ifndef SINTER_TESTS_TOLD_STRATEGY_H
#define SINTER_TESTS_TOLD_STRATEGY_H

#include "sinter/strategy.h"

enum { TOLD_NAMES_MAX = 8 };

typedef struct told_strategy {
    sinter_strategy base; /* hand this to the code under test */
    int32_t output_level; /* 0: nothing is picked */
    bool takes_all;
    bool file_rewrite;                 /* of the picks to come */
    const char *names[TOLD_NAMES_MAX]; /* of the files to pick, up to the first NULL */
    sinter_status answer;              /* what to fail with */
    unsigned asked;
} told_strategy;

/** Nothing to pick. */
void
told_init(told_strategy *told);

/** Pick nothing. */
void
told_nothing(told_strategy *told);

/** Pick all files. */
void
told_all(told_strategy *told, int32_t output_level);

/** Pick the files of up to three names; NULL: none. */
void
told_files(told_strategy *told, int32_t output_level, const char *one, const char *two,
           const char *three);

#endif
