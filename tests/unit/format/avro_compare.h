/*
 * Structs that were decoded, compared with what avro-c reads of the same bytes.
 */
#ifndef SINTER_TESTS_AVRO_COMPARE_H
#define SINTER_TESTS_AVRO_COMPARE_H

#include <avro.h>

#include "format/avro_codec.h"

/** Go to the value in a union; false: null. */
bool
avro_compare_unwrap(avro_value_t *value);

/** Fail the test unless every wanted member is what avro-c has in the field of its name. */
void
avro_compare(avro_value_t *theirs, const sinter__avro_shape *shape, const uint8_t *ours);

#endif
