#include "cli/progress.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(cli_progress, .timeout = 20);

static const char *
text_of(const cli_progress *progress, int64_t elapsed_ns)
{
    static char line[256];

    cli_progress_text(progress, elapsed_ns, line, sizeof line);
    return line;
}

Test(cli_progress, rate_and_time_left_follow_from_what_was_done)
{
    const cli_progress progress = {
        .what = "compacting",
        .total_bytes = (uint64_t)400 << 20,
        .bytes = (uint64_t)100 << 20,
        .records = 1234567,
    };

    cr_expect_str_eq(text_of(&progress, 2000000000),
                     "compacting  25% [#####---------------] 100MB of 400MB, 50MB/s, "
                     "1,234,567 records, ETA 6.0s");
}

Test(cli_progress, a_total_that_is_unknown_gives_no_percent)
{
    const cli_progress progress = {.what = "ingesting", .bytes = 2048, .records = 7};

    cr_expect_str_eq(text_of(&progress, 1000000000), "ingesting: 2KB, 2KB/s, 7 records");
}

Test(cli_progress, more_than_the_total_is_a_hundred_percent)
{
    const cli_progress progress = {.what = "x", .total_bytes = 10, .bytes = 20};

    cr_expect(strstr(text_of(&progress, 1), "100% [####################]") != NULL);
}

Test(cli_progress, nothing_done_yet_knows_no_end)
{
    const cli_progress progress = {.what = "x", .total_bytes = 10};

    cr_expect(strstr(text_of(&progress, 1000000000), "ETA unknown") != NULL);
    cr_expect(strstr(text_of(&progress, 0), "ETA unknown") != NULL);
}
