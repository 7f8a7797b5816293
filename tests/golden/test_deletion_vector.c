/*
 * Deletion vectors and index files that the reference implementation wrote (deletion_vector.jsonl):
 * the same positions give the same bytes, the bytes give the positions, and damaged bytes are
 * refused for the same reason, in any place.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "table/deletion_file.h"
#include "unit/table/place.h"

TestSuite(golden_deletion_vector, .timeout = 240);

enum { BITS_TRIED_MAX = 3000 };

/* Bytes of a hex member; free() them. */
static uint8_t *
read_hex(const json_t *object, size_t *size_out)
{
    const char *text = golden_text(object, "hex");
    const size_t size = strlen(text) / 2;
    uint8_t *bytes = malloc(size + 1); /* as tight as can be: a byte read too far is seen */

    cr_assert_not_null(bytes);
    for (size_t i = 0; i < size; i++) {
        unsigned byte = 0;

        cr_assert_eq(sscanf(text + 2 * i, "%2x", &byte), 1);
        bytes[i] = (uint8_t)byte;
    }
    *size_out = size;
    return bytes;
}

static sinter_status
add_positions(const json_t *ranges, sinter__deletion_vector *vector)
{
    size_t i = 0;
    const json_t *range = NULL;

    json_array_foreach(ranges, i, range)
    {
        const int64_t last = json_integer_value(json_array_get(range, 1));

        for (int64_t at = json_integer_value(json_array_get(range, 0)); at <= last; at++) {
            bool added = false;
            sinter_error err = SINTER_ERROR_INIT;
            const sinter_status st =
                sinter__deletion_vector_add(vector, (uint64_t)at, &added, &err);

            if (st != SINTER_OK) {
                cr_expect_not_null(strstr(err.text, "position out of range"));
                return st;
            }
            cr_assert(added);
        }
    }
    return SINTER_OK;
}

static sinter__deletion_vector *
make_vector(const json_t *line, const json_t *ranges)
{
    sinter__deletion_vector *vector = NULL;

    cr_assert_eq(sinter__deletion_vector_create(
                     sinter_env_default(), (sinter__deletion_format)golden_int(line, "version"),
                     &vector, NULL),
                 SINTER_OK);
    cr_assert_eq(add_positions(ranges, vector), SINTER_OK);
    return vector;
}

/* Positions as ranges that don't touch. */
static json_t *
positions_of(const sinter__deletion_vector *vector)
{
    json_t *ranges = json_array();
    json_t *open = NULL;
    sinter__deletion_run run;
    uint64_t from = 0;

    while (sinter__deletion_vector_next(vector, from, &run)) {
        cr_assert_geq(run.first, from);
        cr_assert(sinter__deletion_vector_contains(vector, run.first));
        cr_assert(sinter__deletion_vector_contains(vector, run.last));
        if (open != NULL && from == run.first) {
            (void)json_array_set_new(open, 1, json_integer((json_int_t)run.last));
        } else {
            open = json_pack("[I, I]", (json_int_t)run.first, (json_int_t)run.last);
            (void)json_array_append_new(ranges, open);
        }
        from = run.last + 1;
    }
    return ranges;
}

static void
expect_encodes(const char *id, sinter__deletion_vector *vector, const uint8_t *bytes, size_t size)
{
    uint64_t encoded_bytes = 0;
    uint8_t *encoded = malloc(size);

    cr_assert_eq(sinter__deletion_vector_encoded_bytes(vector, &encoded_bytes, NULL), SINTER_OK);
    cr_assert_eq(encoded_bytes, size, "%s: %" PRIu64 " bytes, expected %zu", id, encoded_bytes,
                 size);
    cr_assert_eq((size_t)(sinter__deletion_vector_encode(vector, encoded) - encoded), size);
    for (size_t i = 0; i < size; i++) {
        cr_assert_eq(encoded[i], bytes[i], "%s: byte %zu", id, i);
    }
    free(encoded);
}

/* ---- damage ---- */

/* Whatever is read of damaged bytes is a vector like any other. */
static void
try_damaged(const char *id, const uint8_t *bytes, size_t size, uint32_t flags)
{
    const sinter__deletion_source source = {.bytes = {bytes, size}, .flags = flags};
    sinter__deletion_vector *vector = NULL;
    sinter__deletion_vector *again = NULL;
    sinter__deletion_source second = {.flags = 0};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t encoded_bytes = 0;
    uint8_t *encoded = NULL;
    const sinter_status st =
        sinter__deletion_vector_decode(sinter_env_default(), &source, &vector, &err);

    cr_assert(st == SINTER_OK || (st == SINTER_E_CORRUPT && vector == NULL && err.status == st &&
                                  err.offset >= 0 && (size_t)err.offset <= size),
              "%s: %s", id, err.text);
    cr_assert(st != SINTER_OK || flags != 0, "%s: damage was not seen", id);
    if (st != SINTER_OK ||
        sinter__deletion_vector_encoded_bytes(vector, &encoded_bytes, NULL) != SINTER_OK ||
        encoded_bytes > 1 << 20) {
        sinter__deletion_vector_destroy(vector);
        return;
    }
    encoded = malloc(encoded_bytes);
    (void)sinter__deletion_vector_encode(vector, encoded);
    second.bytes = (sinter_bytes){encoded, encoded_bytes};
    cr_assert_eq(sinter__deletion_vector_decode(sinter_env_default(), &second, &again, &err),
                 SINTER_OK, "%s: %s", id, err.text);
    cr_assert_eq(sinter__deletion_vector_count(again), sinter__deletion_vector_count(vector));
    sinter__deletion_vector_destroy(again);
    sinter__deletion_vector_destroy(vector);
    free(encoded);
}

static void
damage(const char *id, const uint8_t *bytes, size_t size)
{
    const size_t step = size * 8 / BITS_TRIED_MAX + 1;

    for (size_t bit = 0; bit < size * 8; bit += step) {
        uint8_t *damaged = malloc(size);

        memcpy(damaged, bytes, size);
        damaged[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        try_damaged(id, damaged, size, 0);
        try_damaged(id, damaged, size, SINTER__DELETION_IGNORE_CHECKSUM);
        free(damaged);
    }
    for (size_t cut = 0; cut < size; cut += step) {
        uint8_t *damaged = malloc(cut + 1);

        memcpy(damaged, bytes, cut);
        try_damaged(id, damaged, cut, 0);
        if (cut >= 8) { /* a length that fits to what is left */
            damaged[0] = 0;
            damaged[1] = 0;
            damaged[2] = (uint8_t)((cut - 8) >> 8);
            damaged[3] = (uint8_t)(cut - 8);
            try_damaged(id, damaged, cut, SINTER__DELETION_IGNORE_CHECKSUM);
        }
        free(damaged);
    }
}

/* ---- lines ---- */

static void
run_vector(const char *id, const json_t *line)
{
    sinter__deletion_source source = {.length = (uint64_t)golden_int(line, "length")};
    sinter__deletion_vector *vector = make_vector(line, golden_get(line, "positions"));
    sinter__deletion_vector *decoded = NULL;
    sinter__deletion_frame frame;
    sinter_error err = SINTER_ERROR_INIT;
    size_t size = 0;
    uint8_t *bytes = read_hex(line, &size);

    source.bytes = (sinter_bytes){bytes, size};
    cr_assert_eq(sinter__deletion_vector_count(vector), (uint64_t)golden_int(line, "cardinality"),
                 "%s", id);
    expect_encodes(id, vector, bytes, size);
    cr_assert_eq(sinter__deletion_frame_check(&source, &frame, &err), SINTER_OK, "%s: %s", id,
                 err.text);
    cr_assert_eq(frame.bytes, size);
    cr_assert_eq(sinter__deletion_frame_length(&frame), golden_int(line, "length"));
    cr_assert_eq(sinter__deletion_vector_decode(sinter_env_default(), &source, &decoded, &err),
                 SINTER_OK, "%s: %s", id, err.text);
    cr_assert_eq(sinter__deletion_vector_format(decoded), golden_int(line, "version"));
    golden_expect(id, "positions", golden_get(line, "positions"), positions_of(decoded));
    expect_encodes(id, decoded, bytes, size);
    damage(id, bytes, size);
    sinter__deletion_vector_destroy(decoded);
    sinter__deletion_vector_destroy(vector);
    free(bytes);
}

static void
run_refused(const char *id, const json_t *line)
{
    sinter__deletion_vector *vector = NULL;

    cr_assert_str_eq(golden_text(golden_get(line, "error"), "category"), "position-out-of-range");
    cr_assert_eq(sinter__deletion_vector_create(
                     sinter_env_default(), (sinter__deletion_format)golden_int(line, "version"),
                     &vector, NULL),
                 SINTER_OK);
    cr_assert_eq(add_positions(golden_get(line, "positions"), vector), SINTER_E_OVERFLOW, "%s", id);
    sinter__deletion_vector_destroy(vector);
}

static void
run_decode(const char *id, const json_t *line)
{
    const bool is_flipped = strcmp(golden_text(line, "damage"), "crc-flipped") == 0;
    const json_t *error = json_object_get(line, "error");
    sinter__deletion_source source = {.length = (uint64_t)golden_int(line, "length")};
    sinter__deletion_vector *vector = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    size_t size = 0;
    uint8_t *bytes = read_hex(line, &size);
    sinter_status st = SINTER_OK;

    source.bytes = (sinter_bytes){bytes, size};
    st = sinter__deletion_vector_decode(sinter_env_default(), &source, &vector, &err);
    if (is_flipped) {
        cr_assert_eq(st, SINTER_E_CORRUPT, "%s", id);
        cr_expect_not_null(strstr(err.text, "checksum mismatch"), "%s", err.text);
        source.flags = SINTER__DELETION_IGNORE_CHECKSUM;
        st = sinter__deletion_vector_decode(sinter_env_default(), &source, &vector, &err);
    }
    if (error != NULL) {
        char words[64];

        (void)snprintf(words, sizeof words, "%s", golden_text(error, "category"));
        for (char *dash = words; (dash = strchr(dash, '-')) != NULL;) {
            *dash = ' ';
        }
        cr_assert_eq(st, SINTER_E_CORRUPT, "%s", id);
        cr_expect_not_null(strstr(err.text, words), "%s: %s", words, err.text);
    } else {
        cr_assert_eq(st, SINTER_OK, "%s: %s", id, err.text);
        cr_expect_eq(sinter__deletion_vector_count(vector),
                     (uint64_t)golden_int(line, "cardinality"));
        golden_expect(id, "positions", golden_get(line, "positions"), positions_of(vector));
    }
    sinter__deletion_vector_destroy(vector);
    free(bytes);
}

static sinter_bytes
name_of(const json_t *item)
{
    const char *name = golden_text(item, "dataFile");

    return (sinter_bytes){(const uint8_t *)name, strlen(name)};
}

/* The ranges that were written, as the manifest has them. */
static json_t *
ranges_of(const sinter__deletion_writer *writer)
{
    json_t *ranges = json_array();
    const sinter__vector_list written = sinter__deletion_writer_vectors(writer);

    for (size_t i = 0; i < written.count; i++) {
        const sinter__vector_range *range = &written.items[i];

        cr_assert_eq(range->has, SINTER__VECTOR_HAS_CARDINALITY);
        (void)json_array_append_new(
            ranges, json_pack("{s:s%, s:i, s:i, s:I}", "dataFile", range->data_file.data,
                              range->data_file.size, "offset", (int)range->offset, "length",
                              (int)range->length, "cardinality", (json_int_t)range->cardinality));
    }
    return ranges;
}

static void
write_index_file(const char *id, const json_t *line, place *p)
{
    sinter__deletion_writer *writer = NULL;
    const json_t *item = NULL;
    size_t i = 0;

    cr_assert_eq(sinter__deletion_writer_open(&p->env, "index", &writer, NULL), SINTER_OK);
    json_array_foreach(golden_get(line, "vectors"), i, item)
    {
        sinter__deletion_vector *vector = make_vector(line, golden_get(item, "positions"));

        cr_assert_eq(sinter__deletion_writer_add(writer, name_of(item), vector, NULL), SINTER_OK,
                     "%s", id);
        sinter__deletion_vector_destroy(vector);
    }
    cr_assert_eq(sinter__deletion_writer_finish(writer, NULL), SINTER_OK, "%s", id);
    golden_expect(id, "ranges", golden_get(line, "ranges"), ranges_of(writer));
    cr_assert_eq(sinter__deletion_writer_bytes(writer), (uint64_t)golden_int(line, "fileSize"));
    sinter__deletion_writer_close(writer);
}

static void
expect_file(const char *id, const json_t *line, const place *p, const char *path)
{
    size_t size = 0;
    uint8_t *expected = read_hex(line, &size);
    uint8_t *found = malloc(size);
    const sinter_io_range all = {.data = found, .size = size};
    sinter_io_stat stat = {0};
    sinter_io_file *file = NULL;

    cr_assert_eq(p->memory->ops->stat(p->memory, path, &stat, NULL), SINTER_OK);
    cr_assert_eq(stat.size_bytes, size, "%s", id);
    cr_assert_eq(p->memory->ops->open(p->memory, path, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->read(file, &all, 1, NULL), SINTER_OK);
    file->ops->close(file);
    cr_assert_eq(memcmp(found, expected, size), 0, "%s: other bytes", id);
    free(found);
    free(expected);
}

/* Read every vector by its range, and take it over into another file. */
static void
read_index_file(const char *id, const json_t *line, const place *p)
{
    const json_t *ranges = golden_get(line, "ranges");
    sinter__deletion_file *file = NULL;
    sinter__deletion_writer *copy = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    const json_t *item = NULL;
    size_t i = 0;

    cr_assert_eq(sinter__deletion_file_open(&p->env, "index",
                                            (uint64_t)golden_int(line, "fileSize"), &file, &err),
                 SINTER_OK, "%s: %s", id, err.text);
    cr_assert_eq(sinter__deletion_writer_open(&p->env, "copy", &copy, NULL), SINTER_OK);
    json_array_foreach(ranges, i, item)
    {
        const sinter__vector_range range = {.data_file = name_of(item),
                                            .offset = (int32_t)golden_int(item, "offset"),
                                            .length = (int32_t)golden_int(item, "length"),
                                            .cardinality = golden_int(item, "cardinality"),
                                            .has = SINTER__VECTOR_HAS_CARDINALITY};
        const json_t *written = json_array_get(golden_get(line, "vectors"), i);
        sinter__deletion_vector *vector = NULL;

        cr_assert_eq(sinter__deletion_file_read(file, &range, 0, &vector, &err), SINTER_OK,
                     "%s: %s", id, err.text);
        golden_expect(id, "positions", golden_get(written, "positions"), positions_of(vector));
        sinter__deletion_vector_destroy(vector);
        cr_assert_eq(sinter__deletion_writer_take(copy, file, &range, &err), SINTER_OK, "%s: %s",
                     id, err.text);
    }
    cr_assert_eq(sinter__deletion_writer_finish(copy, NULL), SINTER_OK);
    golden_expect(id, "ranges taken over", ranges, ranges_of(copy));
    sinter__deletion_writer_close(copy);
    sinter__deletion_file_close(file);
}

static void
run_index_file(const char *id, const json_t *line)
{
    place p;

    place_init(&p, NULL);
    write_index_file(id, line, &p);
    expect_file(id, line, &p, "index");
    read_index_file(id, line, &p);
    expect_file(id, line, &p, "copy");
    place_fini(&p);
}

static void
run_line(const char *id, const json_t *line)
{
    const char *kind = golden_text(line, "kind");

    if (strcmp(kind, "index_file") == 0) {
        run_index_file(id, line);
    } else if (strcmp(kind, "decode") == 0) {
        run_decode(id, line);
    } else if (json_object_get(line, "error") != NULL) {
        run_refused(id, line);
    } else {
        cr_assert_str_eq(kind, "vector");
        run_vector(id, line);
    }
}

Test(golden_deletion_vector, vectors_and_index_files_are_those_of_the_reference)
{
    golden_run("deletion_vector.jsonl", run_line);
}
