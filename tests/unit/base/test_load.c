#include "base/load.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(base_load, .timeout = 20);

typedef struct version2 {
    uint32_t struct_size;
    uint32_t a;
    uint64_t b;
} version2;

Test(base_load, a_shorter_struct_leaves_the_defaults_of_the_rest)
{
    const version2 older = {.struct_size = 8, .a = 5, .b = 99};
    version2 target = {.struct_size = sizeof target, .a = 1, .b = 2};

    cr_assert_eq(sinter__struct_load(&target, sizeof target, &older, "v", NULL), SINTER_OK);
    cr_expect_eq(target.struct_size, sizeof target);
    cr_expect_eq(target.a, 5);
    cr_expect_eq(target.b, 2);
}

Test(base_load, a_longer_struct_has_to_be_zero_beyond)
{
    struct {
        version2 known;
        uint8_t beyond[3];
    } newer = {.known = {.struct_size = sizeof newer.known + 3, .a = 5, .b = 6}};
    version2 target = {.struct_size = sizeof target};
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(sinter__struct_load(&target, sizeof target, &newer, "v", NULL), SINTER_OK);
    cr_expect_eq(target.b, 6);
    newer.beyond[2] = 1;
    cr_expect_eq(sinter__struct_load(&target, sizeof target, &newer, "the_name", &err),
                 SINTER_E_INVALID);
    cr_expect_not_null(strstr(err.text, "the_name"));
}

Test(base_load, a_size_that_is_not_set_is_refused)
{
    const version2 unset = {.struct_size = 0, .a = 5};
    version2 target = {.struct_size = sizeof target, .a = 1};

    cr_expect_eq(sinter__struct_load(&target, sizeof target, &unset, "v", NULL), SINTER_E_INVALID);
    cr_expect_eq(target.a, 1);
}

Test(base_load, no_more_is_stored_than_the_caller_has_room_for)
{
    const version2 source = {.struct_size = sizeof source, .a = 5, .b = 6};
    version2 older = {.struct_size = 8, .a = 1, .b = 2};
    struct {
        version2 known;
        uint8_t beyond[4];
        uint8_t behind;
    } newer = {
        .known = {.struct_size = sizeof newer.known + 4}, .beyond = {1, 2, 3, 4}, .behind = 7};

    version2 unset = {.struct_size = 0};

    sinter__struct_store(&older, &source, sizeof source);
    cr_expect_eq(older.struct_size, 8);
    cr_expect_eq(older.a, 5);
    cr_expect_eq(older.b, 2, "behind what the caller knows");
    sinter__struct_store(&newer, &source, sizeof source);
    cr_expect_eq(newer.known.struct_size, sizeof newer.known + 4);
    cr_expect_eq(newer.known.b, 6);
    cr_expect(newer.beyond[0] == 0 && newer.beyond[3] == 0, "unknown fields are zero");
    cr_expect_eq(newer.behind, 7);
    sinter__struct_store(&unset, &source, sizeof source);
    cr_expect_eq(unset.struct_size, sizeof unset, "none counts as this version");
    cr_expect_eq(unset.b, 6);
}
