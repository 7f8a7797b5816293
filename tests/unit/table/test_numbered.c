#include "table/numbered.h"

#include <criterion/criterion.h>
#include <string.h>

#include "place.h"
#include "support/fault_alloc.h"

static void
expect_found(place *p, sinter__number_end end, int64_t expected)
{
    int64_t found = 0;
    const sinter_status st =
        sinter__number_find(&(sinter__numbered){&p->env, "d", "snapshot-"}, end, &found, NULL);

    if (expected == 0) {
        cr_expect_eq(st, SINTER_END);
    } else {
        cr_assert_eq(st, SINTER_OK);
        cr_expect_eq(found, expected);
    }
}

Test(table_numbered, only_the_exact_prefix_and_digits_count)
{
    place p;
    sinter__numbers numbers = {0};

    place_init(&p, NULL);
    place_write(&p, "d/snapshot-12", "");
    place_write(&p, "d/snapshot-3", "");
    place_write(&p, "d/snapshot-03", "");
    place_write(&p, "d/snapshot-", "");
    place_write(&p, "d/snapshot-1x", "");
    place_write(&p, "d/snapshot-+1", "");
    place_write(&p, "d/snapshot-9223372036854775808", "");
    place_write(&p, "d/.snapshot-4.0f.tmp", "");
    place_write(&p, "d/LATEST", "12");
    cr_assert_eq(
        sinter__numbers_list(&(sinter__numbered){&p.env, "d", "snapshot-"}, &numbers, NULL),
        SINTER_OK);
    cr_assert_eq(numbers.count, 2);
    cr_expect(numbers.items[0] == 3 && numbers.items[1] == 12);
    sinter__numbers_fini(&p.env, &numbers);
    place_fini(&p);
}

Test(table_numbered, a_directory_that_is_not_there_has_none)
{
    place p;

    place_init(&p, NULL);
    expect_found(&p, SINTER__NUMBER_LATEST, 0);
    place_write(&p, "d/other", "");
    expect_found(&p, SINTER__NUMBER_LATEST, 0);
    expect_found(&p, SINTER__NUMBER_EARLIEST, 0);
    place_fini(&p);
}

Test(table_numbered, hints_are_never_trusted)
{
    static const char *const hints[] = {
        "", "2", "7", "x", "-1", "0", "3 ", "3\n", "1000", "99999999999999999999999999999999999"};

    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        place p;

        place_init(&p, NULL);
        place_write(&p, "d/snapshot-2", "");
        place_write(&p, "d/snapshot-3", "");
        place_write(&p, "d/snapshot-4", "");
        place_write(&p, "d/LATEST", hints[i]);
        place_write(&p, "d/EARLIEST", hints[i][0] == '2' ? "1" : hints[i]);
        expect_found(&p, SINTER__NUMBER_LATEST, 4);
        expect_found(&p, SINTER__NUMBER_EARLIEST, 2);
        place_fini(&p);
    }
}

Test(table_numbered, a_right_hint_saves_the_listing)
{
    place p;

    place_init(&p, NULL);
    place_write(&p, "d/snapshot-2", "");
    place_write(&p, "d/snapshot-3", "");
    place_write(&p, "d/snapshot-9", ""); /* a listing would find this one */
    place_write(&p, "d/snapshot-1", "");
    place_write(&p, "d/LATEST", "3");
    place_write(&p, "d/EARLIEST", "2");
    expect_found(&p, SINTER__NUMBER_LATEST, 3);
    expect_found(&p, SINTER__NUMBER_EARLIEST, 2);
    place_fini(&p);
}

Test(table_numbered, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;
        place p;
        int64_t found = 0;

        fault_alloc_init(&fault, n);
        place_init(&p, &fault.env);
        place_write(&p, "d/snapshot-2", "");
        st = sinter__number_find(&(sinter__numbered){&p.env, "d", "snapshot-"},
                                 SINTER__NUMBER_LATEST, &found, NULL);
        cr_assert(st == SINTER_E_NOMEM || found == 2);
        cr_assert_eq(fault.live, 0);
        place_fini(&p);
        cr_assert_lt(n, 20);
    }
}
