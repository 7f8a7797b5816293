#include "soak/reader.h"

#include <assert.h>

static_assert((int)SOAK_SETS <= (int)SOAK_PINS_OF_READER, "each set has a pin");

static uint32_t
pin_of(const soak_reader *reader, uint32_t slot)
{
    return reader->number * SOAK_PINS_OF_READER + slot;
}

static void
release(soak_reader *reader, uint32_t slot)
{
    soak_held *held = &reader->held[slot];

    if (held->bucket != NULL) {
        sinter_file_set_release(held->set);
        soak_model_release(&held->bucket->model, pin_of(reader, slot));
        atomic_fetch_sub(&held->bucket->holders, 1);
        held->bucket = NULL;
    }
}

/* Unless the bucket is closed, or there is no room to tell what the set stands for. */
static void
acquire(soak_reader *reader, uint32_t slot)
{
    const uint32_t count = reader->bucket_count; /* the busy ones more often */
    const uint32_t below = soak_random_one_in(&reader->random, 2) ? count : (count + 7) / 8;
    soak_bucket *bucket = &reader->buckets[soak_random_below(&reader->random, below)];
    soak_held *held = &reader->held[slot];
    bool is_known = true;

    (void)pthread_rwlock_rdlock(&bucket->door);
    if (bucket->tree != NULL) {
        soak_model_acquire_begin(&bucket->model, pin_of(reader, slot), &held->candidates);
        held->set = sinter_merge_tree_acquire(bucket->tree);
        is_known = soak_model_acquire_end(&bucket->model, &held->candidates);
        held->tree_number = bucket->tree_number;
        held->bucket = bucket;
        atomic_fetch_add(&bucket->holders, 1);
    }
    (void)pthread_rwlock_unlock(&bucket->door);
    if (!is_known) {
        release(reader, slot);
    }
}

static void
choose_keys(soak_reader *reader, uint32_t key_count, soak_question *question)
{
    const uint32_t choice = soak_random_below(&reader->random, 40);
    uint32_t width = 1;

    question->begin = soak_random_below(&reader->random, key_count);
    if (choice == 0) {
        question->begin = 0;
        width = key_count;
    } else if (choice < 15) {
        width = 2 + soak_random_below(&reader->random, 60);
    }
    question->end = question->begin + width < key_count ? question->begin + width : key_count;
}

static void
count_read(const soak_question *question, uint32_t key_count)
{
    const uint32_t width = question->end - question->begin;

    soak_count_add(width == 1           ? SOAK_COUNT_POINT_READS
                   : width == key_count ? SOAK_COUNT_WHOLE_READS
                                        : SOAK_COUNT_RANGE_READS,
                   1);
}

/* Failures that the weather explains, or that the set is of a tree that is closed and the next one
 * has removed a file: then false. */
static bool
expect(const soak_held *held, sinter_status st, const sinter_error *err)
{
    if (st == SINTER_E_NOT_FOUND && atomic_load(&held->bucket->removing_tree) > held->tree_number) {
        soak_count_add(SOAK_COUNT_OUTLIVED_SETS, 1);
        return false;
    }
    soak_count_add(SOAK_COUNT_READ_FAILURES, 1);
    if (soak_storm_is_off()) {
        soak_sleep_us(1000);
    }
    if (st == SINTER_E_TOO_LARGE) {
        soak_storm_count(SOAK_FAULT_MEMORY_BUDGET);
    } else if (st != SINTER_E_NOMEM && st != SINTER_E_IO && st != SINTER_E_NO_SPACE) {
        soak_require(st, "a reader", err);
    }
    return true;
}

/* False: the set is of no more use. */
static bool
read_once(soak_reader *reader, soak_held *held)
{
    soak_model *model = &held->bucket->model;
    soak_question question = {.bucket = held->bucket->number, .dir = held->bucket->dir};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    question.files = sinter_file_set_files(held->set, &question.count);
    choose_keys(reader, model->key_count, &question);
    st = soak_read(reader->env, &question, &reader->rows, &err);
    if (st != SINTER_OK) {
        return expect(held, st, &err);
    }
    soak_model_check(model, &held->candidates, &question, &reader->rows, "a reader");
    count_read(&question, model->key_count);
    return true;
}

void
soak_reader_step(soak_reader *reader)
{
    const uint32_t slot = soak_random_below(&reader->random, SOAK_SETS);
    const uint32_t reads = 1 + soak_random_below(&reader->random, 20);
    soak_held *held = &reader->held[slot];

    if (soak_random_one_in(&reader->random, 4)) {
        release(reader, slot);
    }
    if (held->bucket == NULL) {
        acquire(reader, slot);
    }
    for (uint32_t i = 0; i < reads && held->bucket != NULL; i++) {
        if (!read_once(reader, held)) {
            release(reader, slot);
        }
    }
}

void
soak_reader_end(soak_reader *reader)
{
    for (uint32_t slot = 0; slot < SOAK_SETS; slot++) {
        release(reader, slot);
    }
    soak_rows_fini(&reader->rows);
}
