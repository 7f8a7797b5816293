#include "table/entry_groups.h"

#include <criterion/criterion.h>
#include <string.h>

#include "manifest_bed.h"
#include "support/fault_alloc.h"

TestSuite(table_entry_groups, .timeout = 60);

enum { PARTITIONS = 300, BUCKETS = 7, GROUPS = PARTITIONS * BUCKETS };

/* The partition of a group that is meant, into `room`. */
static sinter_bytes
partition_of(uint32_t meant, uint8_t room[4])
{
    const uint32_t number = meant / BUCKETS;

    memcpy(room, &number, sizeof number);
    return (sinter_bytes){room, sizeof number};
}

/* Buckets are negative, too. */
static int32_t
bucket_of(uint32_t meant)
{
    return (int32_t)(meant % BUCKETS) - 2;
}

Test(table_entry_groups, a_group_has_one_number_however_often_and_from_wherever_it_comes)
{
    static uint32_t numbers[GROUPS]; /* from 1, by what is meant; 0: not seen yet */
    sinter__entry_groups groups = {.env = sinter_env_default(), .arena.env = sinter_env_default()};
    uint64_t state = 5;
    uint32_t seen = 0;

    for (size_t i = 0; i < 40000; i++) {
        const uint32_t meant = bed_roll(&state, GROUPS);
        const uint32_t last = bed_roll(&state, GROUPS); /* also one that isn't there */
        uint8_t room[4];
        uint32_t number = 0;

        cr_assert_eq(sinter__entry_groups_number(&groups, partition_of(meant, room),
                                                 bucket_of(meant), last, &number, NULL),
                     SINTER_OK);
        if (numbers[meant] == 0) {
            cr_assert_eq(number, seen, "numbers come one after another");
            numbers[meant] = ++seen;
        }
        cr_assert_eq(number + 1, numbers[meant]);
    }
    cr_assert_eq(groups.count, seen);
    cr_expect_eq(groups.partition_count, PARTITIONS);
    for (uint32_t meant = 0; meant < GROUPS; meant++) {
        const sinter__entry_group *group = &groups.items[numbers[meant] - 1];
        uint8_t room[4];
        const sinter_bytes partition = partition_of(meant, room);

        cr_assert_neq(numbers[meant], 0);
        cr_expect_eq(group->bucket, bucket_of(meant));
        cr_expect(bed_is_equal_bytes(group->partition, partition));
        cr_expect(bed_is_equal_bytes(groups.partitions[group->partition_number], partition));
    }
    sinter__entry_groups_fini(&groups);
}

Test(table_entry_groups, every_allocation_may_fail_and_the_budget_is_kept)
{
    sinter_memory *memory = NULL;
    sinter_status st = SINTER_E_NOMEM;

    cr_assert_eq(sinter_memory_create(sinter_env_default(), 60000, &memory, NULL), SINTER_OK);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter__entry_groups groups;
        fault_alloc fault;

        fault_alloc_init(&fault, n);
        fault.env.memory = memory;
        groups = (sinter__entry_groups){.env = &fault.env, .arena.env = &fault.env};
        st = SINTER_OK;
        for (uint32_t i = 0; i < 500; i++) {
            uint8_t room[4];
            uint32_t number = 0;
            const uint32_t partitions = groups.partition_count;
            sinter_status once = sinter__entry_groups_number(&groups, partition_of(i, room),
                                                             bucket_of(i), 0, &number, NULL);

            if (once == SINTER_E_NOMEM) { /* and it can be tried again */
                st = once;
                cr_expect_eq(groups.partition_count, partitions, "nothing has changed");
                once = sinter__entry_groups_number(&groups, partition_of(i, room), bucket_of(i), 0,
                                                   &number, NULL);
            }
            cr_assert_eq(once, SINTER_OK);
            cr_assert_eq(number, i);
        }
        sinter__entry_groups_fini(&groups);
        cr_assert_eq(fault.live, 0);
        cr_assert_eq(sinter_memory_used(memory), 0);
    }
    for (uint32_t i = 0; st == SINTER_OK; i++) { /* more than the budget has */
        static sinter__entry_groups groups;
        static sinter_env env;
        const uint8_t bytes[4] = {(uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16)};
        uint32_t number = 0;

        if (i == 0) {
            env = *sinter_env_default();
            env.memory = memory;
            groups = (sinter__entry_groups){.env = &env, .arena.env = &env};
        }
        st = sinter__entry_groups_number(&groups, (sinter_bytes){bytes, sizeof bytes}, 0, 0,
                                         &number, NULL);
        if (st != SINTER_OK) {
            cr_expect_eq(st, SINTER_E_TOO_LARGE);
            cr_expect_eq(groups.count, i, "nothing has changed");
            cr_expect_eq(groups.partition_count, i);
            sinter__entry_groups_fini(&groups);
        }
    }
    cr_expect_eq(sinter_memory_used(memory), 0);
    sinter_memory_destroy(memory);
}
