/*
 * Any bytes as a deletion vector, whose checksum is not compared: what is read is written so that
 * it reads the same, merges with itself, and takes a position more.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "table/deletion_vector.h"

enum { WRITTEN_BYTES_MAX = 1 << 22 };

static void
check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static sinter__deletion_vector *
decode(const uint8_t *data, size_t size, uint32_t flags)
{
    const sinter__deletion_source source = {.bytes = {data, size}, .flags = flags};
    sinter__deletion_vector *vector = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_status st =
        sinter__deletion_vector_decode(sinter_env_default(), &source, &vector, &err);

    check(st == SINTER_OK || (st == SINTER_E_CORRUPT && err.text[0] != '\0' && err.offset >= 0 &&
                              (uint64_t)err.offset <= size));
    return vector;
}

static uint64_t
walk(const sinter__deletion_vector *vector)
{
    sinter__deletion_run run;
    uint64_t count = 0;

    for (uint64_t from = 0; sinter__deletion_vector_next(vector, from, &run); from = run.last + 1) {
        check(run.first >= from && run.last >= run.first);
        check(sinter__deletion_vector_contains(vector, run.first));
        check(sinter__deletion_vector_contains(vector, run.last));
        count += run.last - run.first + 1;
    }
    return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sinter__deletion_vector *vector = decode(data, size, SINTER__DELETION_IGNORE_CHECKSUM);
    sinter__deletion_vector *again = NULL;
    uint8_t *written = NULL;
    uint64_t bytes = 0;
    bool added = false;

    if (vector == NULL) {
        return 0;
    }
    check(walk(vector) == sinter__deletion_vector_count(vector));
    if (sinter__deletion_vector_encoded_bytes(vector, &bytes, NULL) == SINTER_OK &&
        bytes <= WRITTEN_BYTES_MAX) {
        written = malloc(bytes);
        check(written != NULL);
        check(sinter__deletion_vector_encode(vector, written) == written + bytes);
        again = decode(written, bytes, 0);
        check(again != NULL);
        check(sinter__deletion_vector_merge(again, vector, NULL) == SINTER_OK);
        check(walk(again) == sinter__deletion_vector_count(vector));
        check(sinter__deletion_vector_add(again, data[size - 1] * UINT64_C(40000), &added, NULL) ==
              SINTER_OK);
        check(walk(again) == sinter__deletion_vector_count(vector) + added);
    }
    sinter__deletion_vector_destroy(again);
    sinter__deletion_vector_destroy(vector);
    free(written);
    return 0;
}
