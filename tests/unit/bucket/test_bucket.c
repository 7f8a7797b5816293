#include <criterion/criterion.h>
#include <limits.h>

#include "sinter/sinter.h"

TestSuite(bucket_bucket, .timeout = 20);

Test(bucket_bucket, rows_of_one_int_have_the_hashes_of_the_layout_page)
{
    static const int32_t hashes[] = {-300363099, 1465514398, 1340390384,
                                     -771300025, 1447522506, 260196596};

    for (uint8_t k = 0; k < 6; k++) {
        const uint8_t row[16] = {[8] = k};

        cr_expect_eq(sinter_row_hash((sinter_bytes){row, sizeof row}), hashes[k], "%u", k);
    }
}

Test(bucket_bucket, a_bucket_is_never_negative)
{
    cr_expect_eq(sinter_bucket_of_hash(-7, 5), 2);
    cr_expect_eq(sinter_bucket_of_hash(7, 5), 2);
    cr_expect_eq(sinter_bucket_of_hash(INT32_MIN, INT32_MAX), 1);
    cr_expect_eq(sinter_bucket_of_hash(INT32_MIN, 1), 0);
    cr_expect_eq(sinter_bucket_of_number(-7, 5), 3);
    cr_expect_eq(sinter_bucket_of_number(7, 5), 2);
    cr_expect_eq(sinter_bucket_of_number(INT64_MIN, INT32_MAX), 2147483645);
    cr_expect_eq(sinter_bucket_of_number(-5, 5), 0);
}
