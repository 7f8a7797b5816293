#include "table/deletion_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "support/fault_alloc.h"

TestSuite(table_deletion_file, .timeout = 120);

enum { RANGES_MAX = 8 };

#define RANGE(at, size, rows)                                                     \
    {                                                                             \
        .data_file = {(const uint8_t *)"d", 1}, .offset = (at), .length = (size), \
        .cardinality = (rows), .has = SINTER__VECTOR_HAS_CARDINALITY              \
    }

/* A vector of `count` positions, `step` apart. */
static sinter_status
make(const sinter_env *env, sinter__deletion_format format, uint64_t count, uint64_t step,
     sinter__deletion_vector **out, sinter_error *err)
{
    sinter_status st = sinter__deletion_vector_create(env, format, out, err);
    bool added = false;

    for (uint64_t i = 0; i < count && st == SINTER_OK; i++) {
        st = sinter__deletion_vector_add(*out, i * step, &added, err);
    }
    return st;
}

static sinter_status
write_vector(sinter__deletion_writer *writer, const sinter_env *env, int i, sinter_error *err)
{
    char name[16];
    sinter__deletion_vector *vector = NULL;
    sinter_status st = make(env, i % 2 == 0 ? SINTER__DELETION_V1 : SINTER__DELETION_V2,
                            (uint64_t)i + 1, 3, &vector, err);

    (void)snprintf(name, sizeof name, "data-%d", i);
    if (st == SINTER_OK) {
        st = sinter__deletion_writer_add(
            writer, (sinter_bytes){(const uint8_t *)name, strlen(name)}, vector, err);
    }
    sinter__deletion_vector_destroy(vector);
    return st;
}

/* Write vectors 0 .. count - 1 and keep their ranges; names are those of a static array. */
static sinter_status
write_file(const sinter_env *env, const char *path, int count, sinter__vector_range *ranges,
           sinter_error *err)
{
    static const char *const names[] = {"data-0", "data-1", "data-2", "data-3"};
    sinter__deletion_writer *writer = NULL;
    sinter_status st = sinter__deletion_writer_open(env, path, &writer, err);

    for (int i = 0; i < count && st == SINTER_OK; i++) {
        st = write_vector(writer, env, i, err);
    }
    if (st == SINTER_OK) {
        st = sinter__deletion_writer_finish(writer, err);
    }
    if (st == SINTER_OK) {
        const sinter__vector_list written = sinter__deletion_writer_vectors(writer);

        cr_assert_eq(written.count, (size_t)count);
        memcpy(ranges, written.items, (size_t)count * sizeof *ranges);
        for (int i = 0; i < count; i++) {
            cr_assert_eq(ranges[i].data_file.size, 6);
            cr_assert_eq(memcmp(ranges[i].data_file.data, names[i], 6), 0);
            cr_assert_eq(ranges[i].has, SINTER__VECTOR_HAS_CARDINALITY);
            ranges[i].data_file.data = (const uint8_t *)names[i];
        }
    }
    sinter__deletion_writer_close(writer);
    return st;
}

/* Take over vectors 1 and 2 and put a new one in between. */
static sinter_status
rewrite_file(const sinter_env *env, const sinter__vector_range *ranges, sinter_error *err)
{
    sinter__deletion_file *file = NULL;
    sinter__deletion_vector *vector = NULL;
    sinter__deletion_writer *writer = NULL;
    sinter_status st = sinter__deletion_file_open(env, "d/old", 0, &file, err);

    if (st == SINTER_OK) {
        st = sinter__deletion_writer_open(env, "d/new", &writer, err);
    }
    if (st == SINTER_OK) {
        st = sinter__deletion_writer_take(writer, file, &ranges[1], err);
    }
    if (st == SINTER_OK) {
        st = write_vector(writer, env, 3, err);
    }
    if (st == SINTER_OK) {
        st = sinter__deletion_writer_take(writer, file, &ranges[2], err);
    }
    if (st == SINTER_OK) {
        st = sinter__deletion_file_read(file, &ranges[2], 0, &vector, err);
    }
    if (st == SINTER_OK) {
        cr_assert_eq(sinter__deletion_vector_count(vector), 3);
        st = sinter__deletion_writer_finish(writer, err);
    }
    sinter__deletion_vector_destroy(vector);
    sinter__deletion_writer_close(writer);
    sinter__deletion_file_close(file);
    return st;
}

static size_t
get(const place *p, const char *path, uint8_t *bytes, size_t capacity)
{
    sinter_io_stat stat = {0};
    sinter_io_range all = {.data = bytes};
    sinter_io_file *file = NULL;

    cr_assert_eq(p->memory->ops->stat(p->memory, path, &stat, NULL), SINTER_OK);
    cr_assert_leq(stat.size_bytes, capacity);
    all.size = (size_t)stat.size_bytes;
    cr_assert_eq(p->memory->ops->open(p->memory, path, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->read(file, &all, 1, NULL), SINTER_OK);
    file->ops->close(file);
    return all.size;
}

static void
put(const place *p, const char *path, const void *bytes, size_t size)
{
    cr_assert_eq(p->memory->ops->replace(p->memory, path, bytes, size, NULL), SINTER_OK);
}

static void
start(place *p, const sinter_env *env)
{
    place_init(p, env);
    cr_assert_eq(p->memory->ops->mkdir(p->memory, "d", NULL), SINTER_OK);
}

Test(table_deletion_file, vectors_of_both_formats_stand_in_one_file)
{
    sinter__vector_range ranges[RANGES_MAX];
    sinter__deletion_file *file = NULL;
    place p;

    start(&p, NULL);
    cr_assert_eq(write_file(&p.env, "d/f", 4, ranges, NULL), SINTER_OK);
    cr_expect(ranges[0].offset == 1 && ranges[0].length == 22);
    cr_expect(ranges[1].offset == 31 && ranges[1].length == 44);
    cr_expect_eq(ranges[2].offset, 75);
    cr_assert_eq(sinter__deletion_file_open(&p.env, "d/f", 0, &file, NULL), SINTER_OK);
    for (int i = 3; i >= 0; i--) {
        sinter__deletion_vector *vector = NULL;

        cr_assert_eq(sinter__deletion_file_read(file, &ranges[i], 0, &vector, NULL), SINTER_OK);
        cr_expect_eq(sinter__deletion_vector_count(vector), (uint64_t)i + 1);
        cr_expect_eq((int)sinter__deletion_vector_format(vector), i % 2 + 1);
        sinter__deletion_vector_destroy(vector);
    }
    sinter__deletion_file_close(file);
    place_fini(&p);
}

Test(table_deletion_file, no_vectors_make_a_file_of_one_byte)
{
    sinter__deletion_writer *writer = NULL;
    sinter__deletion_file *file = NULL;
    uint8_t bytes[8];
    place p;

    start(&p, NULL);
    cr_assert_eq(sinter__deletion_writer_open(&p.env, "d/f", &writer, NULL), SINTER_OK);
    cr_assert_eq(sinter__deletion_writer_finish(writer, NULL), SINTER_OK);
    cr_expect_eq(sinter__deletion_writer_bytes(writer), 1);
    cr_expect_eq(sinter__deletion_writer_vectors(writer).count, 0);
    sinter__deletion_writer_close(writer);
    cr_assert_eq(get(&p, "d/f", bytes, sizeof bytes), 1);
    cr_expect_eq(bytes[0], 1);
    cr_expect_eq(sinter__deletion_file_open(&p.env, "d/f", 1, &file, NULL), SINTER_OK);
    sinter__deletion_file_close(file);
    place_fini(&p);
}

Test(table_deletion_file, vectors_that_are_taken_over_keep_their_bytes_whatever_their_form)
{
    /* Positions 1 and 2 as two runs that touch, which this library would write as an array. */
    static const uint8_t odd[] = {1, 0, 0, 0, 0x17, 0x5e, 0x43, 0xf2, 0xd0, 0x3b, 0x30,
                                  0, 0, 1, 0, 0,    1,    0,    2,    0,    1,    0,
                                  0, 0, 2, 0, 0,    0,    0x84, 0xf4, 0x14, 0x52};
    const sinter__vector_range range = {
        .data_file = {(const uint8_t *)"x", 1}, .offset = 1, .length = 23};
    sinter__deletion_writer *writer = NULL;
    sinter__deletion_file *file = NULL;
    sinter__deletion_vector *vector = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    uint8_t bytes[64];
    place p;

    start(&p, NULL);
    put(&p, "d/old", odd, sizeof odd);
    cr_assert_eq(sinter__deletion_file_open(&p.env, "d/old", sizeof odd, &file, NULL), SINTER_OK);
    cr_assert_eq(sinter__deletion_file_read(file, &range, 0, &vector, &err), SINTER_OK, "%s",
                 err.text);
    cr_expect_eq(sinter__deletion_vector_count(vector), 2);
    sinter__deletion_vector_destroy(vector);
    cr_assert_eq(sinter__deletion_writer_open(&p.env, "d/new", &writer, NULL), SINTER_OK);
    cr_assert_eq(sinter__deletion_writer_take(writer, file, &range, NULL), SINTER_OK);
    cr_expect_eq(sinter__deletion_writer_vectors(writer).items[0].has, 0);
    cr_assert_eq(sinter__deletion_writer_finish(writer, NULL), SINTER_OK);
    sinter__deletion_writer_close(writer);
    sinter__deletion_file_close(file);
    cr_assert_eq(get(&p, "d/new", bytes, sizeof bytes), sizeof odd);
    cr_expect_arr_eq(bytes, odd, sizeof odd);
    place_fini(&p);
}

static void
expect_refused(place *p, const sinter__vector_range *range, int64_t offset, const char *word)
{
    sinter__deletion_file *file = NULL;
    sinter__deletion_vector *vector = NULL;
    sinter__deletion_writer *writer = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter__deletion_file_open(&p->env, "d/f", 0, &file, NULL), SINTER_OK);
    cr_expect_eq(sinter__deletion_file_read(file, range, 0, &vector, &err), SINTER_E_CORRUPT, "%s",
                 word);
    cr_expect_str_eq(err.file, "d/f");
    cr_expect_eq(err.offset, offset, "%s: %lld", word, (long long)err.offset);
    cr_expect_not_null(strstr(err.text, word), "%s, not: %s", word, err.text);
    if (strstr(word, "positions where") == NULL) { /* what is taken over isn't counted */
        cr_assert_eq(sinter__deletion_writer_open(&p->env, "d/g", &writer, NULL), SINTER_OK);
        cr_expect_eq(sinter__deletion_writer_take(writer, file, range, &err), SINTER_E_CORRUPT);
        cr_expect_eq(sinter__deletion_writer_bytes(writer), 1);
        sinter__deletion_writer_close(writer);
    }
    sinter__deletion_file_close(file);
}

Test(table_deletion_file, ranges_that_a_file_does_not_hold_are_refused)
{
    static const sinter__vector_range refused[] = {
        RANGE(0, 22, 1),   RANGE(-5, 22, 1),        RANGE(1, 0, 1),
        RANGE(1, -1, 1),   RANGE(INT32_MIN, 22, 1), RANGE(1, INT32_MAX, 1),
        RANGE(140, 22, 1), RANGE(INT32_MAX, 1, 1),  RANGE(INT32_MAX, INT32_MAX, 1),
    };
    sinter__vector_range ranges[RANGES_MAX];
    place p;

    start(&p, NULL);
    cr_assert_eq(write_file(&p.env, "d/f", 3, ranges, NULL), SINTER_OK);
    cr_assert_eq(sinter_memory_create(sinter_env_default(), 64 << 10, &p.env.memory, NULL),
                 SINTER_OK); /* nothing of the sizes that are told is got */
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const bool is_place = refused[i].offset < 1 || refused[i].length < 1;

        expect_refused(&p, &refused[i],
                       refused[i].offset < 0 ? refused[i].offset : refused[i].offset,
                       is_place ? "length mismatch" : "truncated");
    }
    expect_refused(&p, &(sinter__vector_range)RANGE(1, 23, 1), 1, "length mismatch");
    expect_refused(&p, &(sinter__vector_range)RANGE(2, 22, 1), 6, "bad magic");
    expect_refused(&p, &(sinter__vector_range)RANGE(1, 22, 2), 1, "1 positions where");
    sinter_memory_destroy(p.env.memory);
    place_fini(&p);
}

Test(table_deletion_file, another_size_or_version_is_refused)
{
    sinter__deletion_file *file = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    place p;

    start(&p, NULL);
    put(&p, "d/none", "", 0);
    put(&p, "d/two", "\2", 1);
    put(&p, "d/one", "\1", 1);
    cr_expect_eq(sinter__deletion_file_open(&p.env, "d/none", 0, &file, &err), SINTER_E_CORRUPT);
    cr_expect_eq(sinter__deletion_file_open(&p.env, "d/one", 2, &file, &err), SINTER_E_CORRUPT);
    cr_expect_str_eq(err.text, "the file has 1 bytes where it should have 2");
    cr_expect_eq(sinter__deletion_file_open(&p.env, "d/two", 1, &file, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "version 2"));
    cr_expect_eq(sinter__deletion_file_open(&p.env, "d/other", 0, &file, &err), SINTER_E_NOT_FOUND);
    cr_expect_null(file);
    place_fini(&p);
}

Test(table_deletion_file, every_bit_of_a_vector_is_watched_over)
{
    sinter__vector_range ranges[RANGES_MAX];
    uint8_t bytes[256];
    size_t size = 0;
    place p;

    start(&p, NULL);
    cr_assert_eq(write_file(&p.env, "d/f", 3, ranges, NULL), SINTER_OK);
    size = get(&p, "d/f", bytes, sizeof bytes);
    for (size_t bit = 8; bit < size * 8; bit++) {
        int damaged = 0;

        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        put(&p, "d/f", bytes, size);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        for (int i = 0; i < 3; i++) {
            sinter__deletion_file *file = NULL;
            sinter__deletion_vector *vector = NULL;
            sinter_status st = sinter__deletion_file_open(&p.env, "d/f", size, &file, NULL);

            cr_assert_eq(st, SINTER_OK);
            st = sinter__deletion_file_read(file, &ranges[i], 0, &vector, NULL);
            cr_assert(st == SINTER_OK || st == SINTER_E_CORRUPT);
            damaged += st != SINTER_OK;
            sinter__deletion_vector_destroy(vector);
            sinter__deletion_file_close(file);
        }
        cr_assert_eq(damaged, 1, "bit %zu: %d vectors are damaged", bit, damaged);
    }
    place_fini(&p);
}

Test(table_deletion_file, a_name_that_is_taken_is_not_written_over)
{
    sinter__vector_range ranges[RANGES_MAX];
    uint8_t before[256];
    uint8_t after[256];
    size_t size = 0;
    place p;

    start(&p, NULL);
    cr_assert_eq(write_file(&p.env, "d/f", 2, ranges, NULL), SINTER_OK);
    size = get(&p, "d/f", before, sizeof before);
    cr_expect_eq(write_file(&p.env, "d/f", 3, ranges, NULL), SINTER_E_EXISTS);
    cr_assert_eq(get(&p, "d/f", after, sizeof after), size);
    cr_expect_arr_eq(after, before, size);
    place_fini(&p);
}

Test(table_deletion_file, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__vector_range ranges[RANGES_MAX];
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;
        place p;

        fault_alloc_init(&fault, UINT64_MAX);
        start(&p, &fault.env);
        cr_assert_eq(write_file(&p.env, "d/old", 3, ranges, NULL), SINTER_OK);
        fault.calls = 0;
        fault.fail_at = n;
        st = rewrite_file(&p.env, ranges, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        cr_assert_eq(fault.live, 0);
        place_fini(&p);
    }
}

Test(table_deletion_file, every_call_of_the_io_may_fail_and_then_there_is_no_new_file)
{
    static const sinter_fault_kind kinds[] = {SINTER_FAULT_EIO, SINTER_FAULT_ENOSPC,
                                              SINTER_FAULT_TORN_WRITE};

    for (size_t kind = 0; kind < 3; kind++) {
        sinter_status st = SINTER_E_IO;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            const sinter_fault_options fault = {
                .struct_size = (uint32_t)sizeof fault, .kind = kinds[kind], .at_call = n};
            sinter__vector_range ranges[RANGES_MAX];
            sinter_error err = SINTER_ERROR_INIT;
            sinter_io_stat stat = {0};
            sinter_io *faulty = NULL;
            place p;

            start(&p, NULL);
            cr_assert_eq(write_file(&p.env, "d/old", 3, ranges, NULL), SINTER_OK);
            cr_assert_eq(
                sinter_io_fault_create(sinter_env_default(), p.memory, &fault, &faulty, NULL),
                SINTER_OK);
            p.env.io = faulty;
            st = rewrite_file(&p.env, ranges, &err);
            cr_assert(st == SINTER_OK || st == SINTER_E_NO_SPACE || st == SINTER_E_IO, "%s",
                      err.text);
            cr_expect_eq(p.memory->ops->stat(p.memory, "d/new", &stat, NULL) == SINTER_OK,
                         st == SINTER_OK);
            sinter_io_destroy(faulty);
            place_fini(&p);
        }
    }
}

Test(table_deletion_file, after_a_loss_of_power_a_finished_file_is_there_and_no_other)
{
    sinter_status st = SINTER_E_IO;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        const sinter_fault_options fault = {
            .struct_size = (uint32_t)sizeof fault, .kind = SINTER_FAULT_CRASH, .at_call = n};
        sinter__vector_range ranges[RANGES_MAX];
        sinter__vector_range old[RANGES_MAX];
        sinter_io_stat stat = {0};
        sinter_io *faulty = NULL;
        place p;

        start(&p, NULL);
        cr_assert_eq(p.memory->ops->sync_dir(p.memory, ".", NULL), SINTER_OK);
        cr_assert_eq(write_file(&p.env, "d/old", 3, old, NULL), SINTER_OK);
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), p.memory, &fault, &faulty, NULL),
                     SINTER_OK);
        p.env.io = faulty;
        st = write_file(&p.env, "d/new", 3, ranges, NULL);
        cr_assert_eq(sinter_io_fault_restart(faulty, NULL), SINTER_OK);
        cr_expect_eq(p.memory->ops->stat(p.memory, "d/old", &stat, NULL), SINTER_OK);
        if (p.memory->ops->stat(p.memory, "d/new", &stat, NULL) == SINTER_OK) {
            cr_expect_eq(stat.size_bytes, (uint64_t)(ranges[2].offset + ranges[2].length + 8));
        }
        cr_expect(st != SINTER_OK ||
                  p.memory->ops->stat(p.memory, "d/new", &stat, NULL) == SINTER_OK);
        sinter_io_destroy(faulty);
        place_fini(&p);
    }
}
