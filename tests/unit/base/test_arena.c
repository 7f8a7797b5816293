#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "fault_alloc.h"

TestSuite(base_arena, .timeout = 20);

Test(base_arena, stretches_are_aligned_and_apart)
{
    enum { COUNT = 400 };
    sinter__arena arena = {.env = sinter_env_default()};
    uint8_t *taken[COUNT];
    size_t sizes[COUNT];
    uint64_t state = 3;

    for (size_t i = 0; i < COUNT; i++) {
        void *place = NULL;

        sizes[i] = (size_t)((state = state * 6364136223846793005u + 1) >> 33) %
                   (i % 50 == 0 ? 60000 : 300);
        cr_assert_eq(sinter__arena_take(&arena, sizes[i], &place, NULL), SINTER_OK);
        cr_assert_eq((uintptr_t)place % 16, 0);
        taken[i] = place;
        memset(place, (int)(i & 0xff), sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t n = 0; n < sizes[i]; n++) {
            cr_assert_eq(taken[i][n], i & 0xff, "stretch %zu was written over", i);
        }
    }
    sinter__arena_fini(&arena);
    sinter__arena_fini(&arena); /* empty again */
}

Test(base_arena, copies_hold_the_bytes)
{
    sinter__arena arena = {.env = sinter_env_default()};
    char text[] = "key";
    sinter_bytes copy = {0};
    const char *name = NULL;

    cr_assert_eq(sinter__arena_copy(&arena, (sinter_bytes){(const uint8_t *)text, 3}, &copy, NULL),
                 SINTER_OK);
    text[0] = 'x';
    cr_expect(copy.size == 3 && memcmp(copy.data, "key", 3) == 0);
    cr_assert_eq(sinter__arena_copy(&arena, (sinter_bytes){NULL, 0}, &copy, NULL), SINTER_OK);
    cr_expect(copy.size == 0 && copy.data != NULL);
    cr_assert_eq(sinter__arena_strdup(&arena, "name", &name, NULL), SINTER_OK);
    cr_expect(strcmp(name, "name") == 0);
    cr_assert_eq(sinter__arena_strdup(&arena, NULL, &name, NULL), SINTER_OK);
    cr_expect(name == NULL);
    sinter__arena_fini(&arena);
}

Test(base_arena, what_no_memory_can_hold_is_refused)
{
    fault_alloc fault;
    sinter__arena arena = {.env = &fault.env};
    void *place = &arena;

    for (size_t less = 0; less < 64; less++) { /* some overflow, the others are refused */
        fault_alloc_init(&fault, 0);
        cr_assert_eq(sinter__arena_take(&arena, SIZE_MAX - less, &place, NULL), SINTER_E_NOMEM);
        cr_assert(place == NULL);
    }
    sinter__arena_fini(&arena);
}

Test(base_arena, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;
        sinter__arena arena = {.env = &fault.env};
        void *place = NULL;

        fault_alloc_init(&fault, n);
        st = SINTER_OK;
        for (size_t i = 0; i < 20 && st == SINTER_OK; i++) {
            st = sinter__arena_take(&arena, i * 1000, &place, NULL);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && place == NULL));
        sinter__arena_fini(&arena);
        cr_assert_eq(fault.live, 0);
    }
}

Test(base_arena, what_is_expected_comes_in_one_piece_and_may_be_refused)
{
    enum { STRETCHES = 1000, STRETCH_BYTES = 1008 };
    const size_t ahead = STRETCHES * STRETCH_BYTES;

    for (int refused = 0; refused < 2; refused++) {
        fault_alloc fault;
        sinter__arena arena = {.env = &fault.env};
        void *first = NULL;
        void *place = NULL;

        fault_alloc_init(&fault, refused != 0 ? 0 : UINT64_MAX);
        sinter__arena_expect(&arena, ahead);
        cr_expect_eq(arena.chunks == NULL, refused != 0);
        fault_alloc_init(&fault, UINT64_MAX);
        fault.live = refused != 0 ? 0 : 1;
        cr_assert_eq(sinter__arena_take(&arena, STRETCH_BYTES, &first, NULL), SINTER_OK);
        for (size_t i = 1; i < STRETCHES; i++) {
            cr_assert_eq(sinter__arena_take(&arena, STRETCH_BYTES, &place, NULL), SINTER_OK);
        }
        cr_expect_eq((uint8_t *)place - (uint8_t *)first == (ptrdiff_t)(ahead - STRETCH_BYTES),
                     refused == 0, "one behind the other");
        sinter__arena_fini(&arena);
        cr_assert_eq(fault.live, 0);
    }
}
