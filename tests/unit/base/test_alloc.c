#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "fault_alloc.h"

TestSuite(base_alloc, .timeout = 20);

Test(base_alloc, what_is_allocated_is_zero)
{
    const sinter_env *env = sinter_env_default();
    uint64_t *words = NULL;

    for (size_t count = 0; count < 300; count += 37) {
        cr_assert_eq(SINTER__NEW(env, words, count, NULL), SINTER_OK);
        cr_assert(words != NULL, "even nothing has a place");
        for (size_t i = 0; i < count; i++) {
            cr_assert_eq(words[i], 0);
            words[i] = UINT64_MAX;
        }
        sinter__free(env, words);
    }
    sinter__free(env, NULL);
}

Test(base_alloc, sizes_that_overflow_are_refused_before_the_allocator_sees_them)
{
    sinter_error err = SINTER_ERROR_INIT;
    fault_alloc fault;
    void *block = &fault;

    fault_alloc_init(&fault, UINT64_MAX);
    cr_expect_eq(sinter__alloc(&fault.env, SIZE_MAX / 8 + 1, 8, &block, &err), SINTER_E_NOMEM);
    cr_expect(block == NULL && err.status == SINTER_E_NOMEM);
    cr_expect_eq(sinter__resize(&fault.env, &block, SIZE_MAX, 2, &err), SINTER_E_NOMEM);
    cr_expect_eq(fault.calls, 0);
}

Test(base_alloc, a_refused_resize_keeps_the_old_block)
{
    fault_alloc fault;
    char *text = NULL;

    fault_alloc_init(&fault, 1);
    cr_assert_eq(sinter__resize(&fault.env, (void **)&text, 4, 1, NULL), SINTER_OK);
    memcpy(text, "abc", 4);
    cr_expect_eq(sinter__resize(&fault.env, (void **)&text, 4000, 1, NULL), SINTER_E_NOMEM);
    cr_expect(strcmp(text, "abc") == 0);
    cr_assert_eq(sinter__resize(&fault.env, (void **)&text, 4000, 1, NULL), SINTER_OK);
    cr_expect(strcmp(text, "abc") == 0);
    sinter__free(&fault.env, text);
    cr_expect_eq(fault.live, 0);
}

Test(base_alloc, strings_are_copied_and_none_stays_none)
{
    const sinter_env *env = sinter_env_default();
    const char *text = "a name";
    char *copy = NULL;

    cr_assert_eq(sinter__strdup(env, text, &copy, NULL), SINTER_OK);
    cr_expect(copy != text && strcmp(copy, text) == 0);
    sinter__free(env, copy);
    cr_assert_eq(sinter__strdup(env, NULL, &copy, NULL), SINTER_OK);
    cr_expect(copy == NULL);
}

Test(base_alloc, a_buffer_holds_all_that_was_appended)
{
    const sinter_env *env = sinter_env_default();
    sinter__buffer buffer = {0};
    uint64_t state = 11;
    size_t size = 0;
    uint8_t piece[700];

    cr_assert_eq(sinter__buffer_append(env, &buffer, NULL, 0, NULL), SINTER_OK);
    for (int i = 0; i < 200; i++) {
        const size_t count = (size_t)((state = state * 6364136223846793005u + 1) >> 40) % 700;

        for (size_t n = 0; n < count; n++) {
            piece[n] = (uint8_t)((size + n) * 7);
        }
        cr_assert_eq(sinter__buffer_append(env, &buffer, piece, count, NULL), SINTER_OK);
        size += count;
    }
    cr_assert_eq(buffer.size, size);
    for (size_t i = 0; i < size; i++) {
        cr_assert_eq(buffer.data[i], (uint8_t)(i * 7));
    }
    cr_expect(buffer.capacity < 2 * size + 256, "it doubles, no more");
    cr_expect_eq(sinter__buffer_reserve(env, &buffer, SIZE_MAX, NULL), SINTER_E_NOMEM);
    cr_expect_eq(buffer.size, size);
    sinter__buffer_fini(env, &buffer);
    cr_expect(buffer.data == NULL && buffer.capacity == 0);
}

Test(base_alloc, every_allocation_of_a_buffer_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__buffer buffer = {0};
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        st = SINTER_OK;
        for (int i = 0; i < 100 && st == SINTER_OK; i++) {
            st = sinter__buffer_append(&fault.env, &buffer, "0123456789012345678901234567", 28,
                                       NULL);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && buffer.size % 28 == 0));
        sinter__buffer_fini(&fault.env, &buffer);
        cr_assert_eq(fault.live, 0);
    }
}

Test(base_alloc, a_hint_for_huge_pages_takes_blocks_of_any_size_and_place)
{
    const sinter_env *env = sinter_env_default();
    const size_t sizes[] = {1, 5000, (size_t)2 << 20, ((size_t)9 << 20) + 77};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t *block = NULL;

        cr_assert_eq(sinter__alloc(env, sizes[i], 1, (void **)&block, NULL), SINTER_OK);
        block[0] = 1;
        block[sizes[i] - 1] = 7;
        sinter__prefer_huge_pages(block, sizes[i]);
        cr_expect_eq(block[sizes[i] - 1], 7, "what is in it stays");
        sinter__free(env, block);
    }
}
