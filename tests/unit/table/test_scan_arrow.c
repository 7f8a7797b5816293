#include <criterion/criterion.h>
#include <string.h>

#include "sinter/io.h"
#include "sinter/table_scan.h"

TestSuite(table_scan_arrow, .timeout = 60);

/* Takes bytes until there are too many. */
typedef struct taker {
    uint8_t first[8];
    uint8_t last[8];
    size_t size;
    size_t most;
} taker;

static sinter_status
take(void *ctx, const void *data, size_t size, sinter_error *err)
{
    taker *t = ctx;
    const uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++) {
        if (t->size + i < sizeof t->first) {
            t->first[t->size + i] = bytes[i];
        }
        memmove(t->last, t->last + 1, sizeof t->last - 1);
        t->last[sizeof t->last - 1] = bytes[i];
    }
    t->size += size;
    if (t->size > t->most && err != NULL) {
        err->status = SINTER_E_NO_SPACE;
    }
    return t->size > t->most ? SINTER_E_NO_SPACE : SINTER_OK;
}

static sinter_status
stream(const char *library, taker *t, sinter_error *err)
{
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config,
                                        .path = SINTER_TABLE};
    sinter_table *table = NULL;
    sinter_table_scan *scan = NULL;
    sinter_io *io = NULL;
    sinter_env env;
    sinter_status st = SINTER_OK;

    sinter_env_init(&env);
    cr_assert_eq(sinter_io_create(&env, SINTER_IO_POSIX, NULL, &io, NULL), SINTER_OK);
    env.io = io;
    env.columnar_library = library;
    cr_assert_eq(sinter_table_open(&env, &config, &table, NULL), SINTER_OK);
    cr_assert_eq(sinter_table_scan_open(table, NULL, &scan, NULL), SINTER_OK);
    st = sinter_table_scan_arrow(scan, take, t, err);
    sinter_table_scan_close(scan);
    sinter_table_close(table);
    sinter_io_destroy(io);
    return st;
}

Test(table_scan_arrow, a_stream_begins_with_its_schema_and_ends_with_its_mark)
{
    static const uint8_t mark[] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    sinter_error err = SINTER_ERROR_INIT;
    taker t = {.most = SIZE_MAX};

    cr_assert_eq(stream(COLUMNAR_LIBRARY, &t, &err), SINTER_OK, "%s", err.text);
    cr_expect_arr_eq(t.first, mark, 4);
    cr_expect_arr_eq(t.last, mark, 8);
    cr_expect_gt(t.size, 1000);
}

Test(table_scan_arrow, a_failure_of_who_takes_the_bytes_is_passed_on)
{
    taker whole = {.most = SIZE_MAX};
    size_t most = 0;

    cr_assert_eq(stream(COLUMNAR_LIBRARY, &whole, NULL), SINTER_OK);
    for (most = 0; most < whole.size; most += whole.size / 7) {
        sinter_error err = SINTER_ERROR_INIT;
        taker t = {.most = most};

        cr_expect_eq(stream(COLUMNAR_LIBRARY, &t, &err), SINTER_E_NO_SPACE, "%zu bytes", most);
        cr_expect_eq(err.status, SINTER_E_NO_SPACE);
    }
}

Test(table_scan_arrow, without_the_library_the_text_says_what_is_missing)
{
    sinter_error err = SINTER_ERROR_INIT;
    taker t = {.most = SIZE_MAX};

    cr_expect_eq(stream("/nowhere/libsinter_columnar.so", &t, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "can't be loaded"), "%s", err.text);
    cr_expect_eq(t.size, 0);
}
