/*
 * Values as file indexes take them: a number or bytes, with one meaning of equal and of before.
 * NaN is one value, behind all others, and -0 comes before 0.
 */
#ifndef SINTER_TABLE_FILE_INDEX_VALUE_H
#define SINTER_TABLE_FILE_INDEX_VALUE_H

#include "sinter/type.h"

/** What the values of a type are in an index. */
typedef enum sinter__index_form {
    SINTER__INDEX_BYTES = 0, /* CHAR, VARCHAR, BINARY, VARBINARY */
    SINTER__INDEX_BOOLEAN,
    SINTER__INDEX_INT8,
    SINTER__INDEX_INT16,
    SINTER__INDEX_INT32, /* INT, DATE, TIME */
    SINTER__INDEX_INT64, /* BIGINT, DECIMAL, TIMESTAMP*: milli- or microseconds */
    SINTER__INDEX_FLOAT,
    SINTER__INDEX_DOUBLE
} sinter__index_form;

/** A value that isn't null. */
typedef struct sinter__index_value {
    int64_t number; /* of FLOAT and DOUBLE the bits, a sign before them */
    sinter_bytes bytes;
} sinter__index_value;

/** The form of a type that isn't nested, nor VARIANT or BLOB. */
sinter__index_form
sinter__index_form_of(const sinter_type *type);

/**
 * Make a value of a datum that isn't null.
 * @param out  bytes are the datum's
 * @return     SINTER_OK, SINTER_E_OVERFLOW (a DECIMAL or TIMESTAMP that 64 bits don't hold)
 */
sinter_status
sinter__index_value_of(const sinter_type *type, const sinter_datum *datum, sinter__index_value *out,
                       sinter_error *err);

/** Order of two values of one form: below, equal or above 0. */
int
sinter__index_value_compare(sinter__index_form form, const sinter__index_value *a,
                            const sinter__index_value *b);

/** Bytes that put() writes. */
size_t
sinter__index_value_size(sinter__index_form form, const sinter__index_value *value);

/** Write it, most significant byte first, bytes behind their number; returns the byte behind it. */
uint8_t *
sinter__index_value_put(sinter__index_form form, const sinter__index_value *value, uint8_t *to);

/** Java's hash of it, which decides its place in a HashMap. */
uint32_t
sinter__index_value_java_hash(sinter__index_form form, const sinter__index_value *value);

/** The hash that bloom filters take. */
uint64_t
sinter__index_value_bloom_hash(sinter__index_form form, const sinter__index_value *value);

#endif
