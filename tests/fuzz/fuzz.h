/*
 * What fuzz targets share: the function that a fuzzer calls, and that the replay calls for each
 * file of a corpus.
 */
#ifndef SINTER_TESTS_FUZZ_H
#define SINTER_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Try one input; always 0. A fault ends the process. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
