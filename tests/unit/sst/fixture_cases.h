/*
 * Files of released format versions that stay in the tree: their records follow from a seed, so
 * that reading them back can be compared. Never change a case; add new ones.
 */
#ifndef SINTER_TESTS_FIXTURE_CASES_H
#define SINTER_TESTS_FIXTURE_CASES_H

#include "sst_support.h"

typedef struct fixture_case {
    const char *name;
    uint64_t seed;
    sst_shape shape;
    sst_plan plan;
} fixture_case;

static const fixture_case fixture_cases[] = {
    {"v1-none",
     1,
     {.count = 60,
      .key_min = 16,
      .key_max = 16,
      .value_min = 20,
      .value_max = 20,
      .sequence_space = 1000},
     {.options = {.block_bytes = 700}}},
    {"v1-lz4",
     2,
     {.count = 60, .key_max = 12, .value_max = 60, .delete_percent = 20, .sequence_space = 1000},
     {.options = {.block_bytes = 700, .codec = SINTER_CODEC_LZ4, .level = 1}}},
    {"v1-zstd",
     3,
     {.count = 60, .key_max = 12, .value_max = 60, .delete_percent = 20},
     {.options = {.block_bytes = 900, .codec = SINTER_CODEC_ZSTD, .codec_level = 3, .level = 2}}},
    {"v1-zstd-negative",
     4,
     {.count = 60, .key_min = 8, .key_max = 8, .value_max = 60, .noise = true},
     {.options = {.block_bytes = 900, .codec = SINTER_CODEC_ZSTD, .codec_level = -5}}},
    {"v1-filters",
     5,
     {.count = 80,
      .key_min = 4,
      .key_max = 9,
      .value_max = 20,
      .delete_percent = 5,
      .sequence_space = 9},
     {.options = {.block_bytes = 300, .filter_bits_per_key = 10}, .page_bytes = 500}},
    {"v1-levels",
     6,
     {.count = 90, .key_min = 6, .key_max = 6, .value_max = 10, .sequence_space = 2},
     {.options = {.block_bytes = 40}, .page_bytes = 250}},
    {"v1-big-value",
     7,
     {.count = 5, .key_min = 5, .key_max = 5, .value_min = 3000, .value_max = 3000},
     {.options = {.block_bytes = 500, .codec = SINTER_CODEC_ZSTD}}},
    {"v1-empty-values",
     8,
     {.count = 50, .key_min = 8, .key_max = 8, .sequence_space = 1},
     {.page_bytes = 0}},
    {"v1-shared-keys",
     9,
     {.count = 60,
      .key_min = 14,
      .key_max = 20,
      .value_max = 5,
      .shared = 12,
      .sequence_space = 100},
     {.options = {.block_bytes = 600, .codec = SINTER_CODEC_ZSTD}}},
    {"v1-properties",
     10,
     {.count = 3, .key_max = 3, .value_max = 3},
     {.options = {.level = 5, .schema_id = 3, .key_types = "BIGINT", .row_type = "{\"fields\":[]}"},
      .property = "fixture"}},
    {"v1-front-coded",
     12,
     {.count = 80,
      .key_min = 24,
      .key_max = 40,
      .value_max = 12,
      .shared = 20,
      .sequence_space = 100},
     {.options = {.block_bytes = 900, .codec = SINTER_CODEC_LZ4}}},
    {"v1-no-rows", 11, {.count = 0}, {.page_bytes = 0}},
};

enum { FIXTURE_COUNT = (int)(sizeof fixture_cases / sizeof fixture_cases[0]) };

#endif
