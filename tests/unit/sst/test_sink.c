#include "sst/sink.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sst_support.h"

TestSuite(sst_sink, .timeout = 120);

Test(sst_sink, bytes_arrive_in_order_whatever_their_pieces)
{
    const size_t sizes[] = {1, 0, 100, 70000, 5, 300000, 64 << 10, 3, 200000, 99};
    sst_world world;
    sinter__sst_sink sink = {.env = &world.env};
    uint8_t *expected = malloc(1 << 20);
    uint8_t *bytes = NULL;
    size_t size = 0;
    size_t total = 0;

    sst_world_init(&world);
    cr_assert_eq(world.io->ops->create(world.io, ".", 0, &sink.handle, NULL), SINTER_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(expected + total, (int)i + 1, sizes[i]);
        if (i % 2 == 0) {
            cr_assert_eq(sinter__sst_sink_write(&sink, expected + total, sizes[i], NULL),
                         SINTER_OK);
        } else {
            uint8_t *place = NULL;

            cr_assert_eq(sinter__sst_sink_reserve(&sink, sizes[i] + 50, &place, NULL), SINTER_OK);
            memcpy(place, expected + total, sizes[i]);
            cr_assert_eq(sinter__sst_sink_reserve(&sink, sizes[i] + 100000, &place, NULL),
                         SINTER_OK, "what was put there is kept");
            cr_assert_eq(sinter__sst_sink_commit(&sink, sizes[i], NULL), SINTER_OK);
        }
        total += sizes[i];
        cr_assert_eq(sinter__sst_sink_offset(&sink), total);
    }
    cr_assert_eq(sinter__sst_sink_flush(&sink, NULL), SINTER_OK);
    cr_assert_eq(sink.handle->ops->publish(sink.handle, "s", NULL), SINTER_OK);
    sink.handle->ops->close(sink.handle);
    sinter__sst_sink_fini(&sink);
    bytes = sst_file_bytes(&world.env, "s", &size);
    cr_assert_eq(size, total);
    cr_expect(memcmp(bytes, expected, total) == 0);
    free(bytes);
    free(expected);
    sst_world_fini(&world);
}
