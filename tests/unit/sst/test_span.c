#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sst_support.h"

TestSuite(sst_span, .timeout = 60);

enum { PAGE = 4096 };

/* The io of the world, but for what a reader calls: that is looked at, and memory is lent. */
static struct {
    sinter_io io;
    sinter_io *under;
    bool lends;
    unsigned lent; /* out now */
    unsigned borrowed;
    uint64_t file_bytes;
    unsigned reads;
    unsigned unaligned;
    unsigned largest;
} watch;

static sinter_io_ops watched_io_ops;
static sinter_io_ops watched_file_ops;

static sinter_status
watched_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out,
             sinter_error *err)
{
    const sinter_status st = watch.under->ops->open(watch.under, path, flags, out, err);

    (void)io;
    if (st == SINTER_OK) {
        (void)(*out)->ops->size(*out, &watch.file_bytes, NULL);
        watched_file_ops.close = (*out)->ops->close;
        (*out)->ops = &watched_file_ops;
    }
    return st;
}

static sinter_status
watched_read_begin(sinter_io_file *file, const sinter_io_range *range, sinter_io_ticket *ticket,
                   sinter_error *err)
{
    const uint64_t end = range->offset + range->size;

    watch.reads++;
    watch.largest = range->size > watch.largest ? (unsigned)range->size : watch.largest;
    if (range->offset % PAGE != 0 || (uintptr_t)range->data % PAGE != 0 ||
        (end % PAGE != 0 && end != watch.file_bytes) || end > watch.file_bytes) {
        watch.unaligned++;
    }
    return watch.under->ops->read_begin(file, range, ticket, err);
}

static void *
watched_borrow(sinter_io_file *file, size_t size)
{
    void *data = watch.lends ? aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE) : NULL;

    (void)file;
    watch.lent += data != NULL ? 1 : 0;
    watch.borrowed += data != NULL ? 1 : 0;
    return data;
}

static void
watched_give_back(sinter_io_file *file, void *data)
{
    (void)file;
    watch.lent--;
    free(data);
}

static void
watch_init(sst_world *world, bool lends)
{
    memset(&watch, 0, sizeof watch);
    watch.under = world->env.io;
    watch.lends = lends;
    watched_io_ops = *watch.under->ops;
    watched_io_ops.open = watched_open;
    watched_file_ops = *watch.under->ops;
    watched_file_ops.read_begin = watched_read_begin;
    watched_file_ops.borrow = watched_borrow;
    watched_file_ops.give_back = watched_give_back;
    watch.io.ops = &watched_io_ops;
}

static void
read_directly(bool lends, uint32_t read_bytes, uint32_t value_max)
{
    const sst_shape shape = {.count = value_max > 16384 ? 150 : 1500,
                             .key_min = 4,
                             .key_max = 20,
                             .value_max = value_max,
                             .noise = true};
    const sst_plan plan = {.options = {.block_bytes = 16384}};
    const sinter_read_options options = {
        .struct_size = (uint32_t)sizeof options, .direct = true, .read_bytes = read_bytes};
    test_rng rng = {.state = read_bytes + value_max};
    sinter_error err = SINTER_ERROR_INIT;
    test_pool pool = {0};
    sst_world world;
    sinter_env env;
    test_run run;

    sst_world_init(&world);
    run = sst_records(&rng, &shape, &pool);
    cr_assert_eq(sst_write(&world.env, "a.sst", &run, &plan, NULL, &err), SINTER_OK, "%s",
                 err.text);
    watch_init(&world, lends);
    env = world.env;
    env.io = &watch.io;
    cr_expect_eq(sst_read_compare(&env, "a.sst", &options, &run, &err), SINTER_OK, "%s", err.text);
    cr_expect_gt(watch.reads, 2u);
    cr_expect_eq(watch.unaligned, 0u, "%u of %u reads need a copy", watch.unaligned, watch.reads);
    cr_expect_eq(watch.lent, 0u, "%u pieces were kept", watch.lent);
    cr_expect_eq(watch.borrowed > 0, lends);
    if (value_max < 16384) {
        cr_expect_leq(watch.largest, read_bytes == 0 ? 1u << 20 : read_bytes);
    }
    test_pool_fini(&pool);
    sst_world_fini(&world);
}

Test(sst_span, direct_reads_are_whole_pages_into_aligned_memory)
{
    read_directly(false, 65536, 1000);
    read_directly(true, 65536, 1000);
    read_directly(true, 0, 2500);
    read_directly(false, 0, 2500);
    read_directly(true, 65536, 60000); /* single blocks are larger than a read */
    read_directly(false, 65536, 60000);
}

Test(sst_span, every_allocation_of_a_direct_reader_may_fail)
{
    const sst_shape shape = {.count = 500, .key_min = 4, .key_max = 20, .value_max = 1000};
    const sinter_read_options options = {
        .struct_size = (uint32_t)sizeof options, .direct = true, .read_bytes = 65536};
    sinter_status st = SINTER_E_NOMEM;
    test_rng rng = {.state = 3};
    test_pool pool = {0};
    sst_world world;
    sinter_env env;
    test_run run;

    sst_world_init(&world);
    run = sst_records(&rng, &shape, &pool);
    cr_assert_eq(sst_write(&world.env, "a.sst", &run, &(sst_plan){0}, NULL, NULL), SINTER_OK);
    watch_init(&world, false);
    env = world.env;
    env.io = &watch.io;
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;
        uint64_t rows = 0;

        watch.lends = n % 2 == 0;
        sst_world_fail_allocation(&world, n);
        st = sst_read_all(&env, "a.sst", &options, &rows, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st), "%s", err.text);
        cr_expect_eq(watch.lent, 0u, "lent memory was kept when allocation %llu failed",
                     (unsigned long long)n);
    }
    sst_world_fail_allocation(&world, UINT64_MAX);
    test_pool_fini(&pool);
    sst_world_fini(&world);
}
