#include "cli/control.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "executors.h"

TestSuite(cli_control, .timeout = 20);

#define SECOND INT64_C(1000000000)

Test(cli_control, a_line_sets_one_value)
{
    static const struct {
        const char *line;
        cli_load load;
    } cases[] = {
        {"rate = 50mb", {50 << 20, 2, 3, false}},
        {"rate=50mb/s", {50 << 20, 2, 3, false}},
        {"\tread-rate =  7 kb/s  # of reads\r", {1, 7 << 10, 3, false}},
        {"rate = 0", {0, 2, 3, false}},
        {"threads = 1024", {1, 2, 1024, false}},
        {"pause = true", {1, 2, 3, true}},
        {"pause=false", {1, 2, 3, false}},
        {"", {1, 2, 3, false}},
        {"  # rate = 5", {1, 2, 3, false}},
    };
    char why[CLI_CONTROL_WHY_CHARS];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cli_load load = {1, 2, 3, false};

        cr_expect(cli_control_line(cases[i].line, &load, why), "%s", cases[i].line);
        cr_expect(load.rate == cases[i].load.rate && load.read_rate == cases[i].load.read_rate &&
                      load.threads == cases[i].load.threads &&
                      load.is_paused == cases[i].load.is_paused,
                  "%s", cases[i].line);
    }
}

Test(cli_control, a_bad_line_changes_nothing_and_says_what_is_wrong)
{
    static const char *const cases[][2] = {
        {"rate = fast", "\"fast\" is no size"},
        {"rate = ", "no size"},
        {"rate = -1", "no size"},
        {"read-rate = 5 apples", "the unit of"},
        {"rate = 99999999999 gb", "2^63"},
        {"threads = 0", "from 1 to 1024, not '0'"},
        {"threads = 1025", "from 1 to 1024"},
        {"threads = 2x", "from 1 to 1024"},
        {"pause = yes", "true or false, not 'yes'"},
        {"pause", "is not \"key = value\""},
        {"= 5", "unknown key ''"},
        {"thread = 5", "unknown key 'thread'; there are rate, read-rate, threads, pause"},
    };
    char why[CLI_CONTROL_WHY_CHARS];
    char line[300];
    cli_load load = {1, 2, 3, true};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_not(cli_control_line(cases[i][0], &load, why), "%s", cases[i][0]);
        cr_expect_not_null(strstr(why, cases[i][1]), "%s: %s", cases[i][0], why);
    }
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    cr_expect_not(cli_control_line(line, &load, why));
    cr_expect(load.rate == 1 && load.read_rate == 2 && load.threads == 3 && load.is_paused);
}

/* ---- a file that changes while a clock goes on ---- */

typedef struct bed {
    char path[64];
    int64_t now_ns;
    const char *on_sleep; /* written when somebody sleeps next */
    int64_t written_ns;
    sinter_env env;
    sinter_io *io;
    sinter_io *limited;
    sinter_io_file *file;
    cli_control control;
} bed;

static void
put(bed *b, const char *text)
{
    FILE *file = fopen(b->path, "w");

    cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    b->written_ns = b->now_ns;
}

static int64_t
now(void *ctx)
{
    return ((bed *)ctx)->now_ns;
}

static void
nap(void *ctx, int64_t ns)
{
    bed *b = ctx;

    b->now_ns += ns;
    if (b->on_sleep != NULL) {
        put(b, b->on_sleep);
        b->on_sleep = NULL;
    }
}

static void
bed_begin(bed *b, const char *text, uint64_t rate)
{
    const cli_load load = {.rate = rate, .threads = 1};
    sinter_io_limit_options options = {.struct_size = (uint32_t)sizeof options,
                                       .bytes_per_second = rate,
                                       .is_cancelled = cli_control_poll};

    memset(b, 0, sizeof *b);
    (void)snprintf(b->path, sizeof b->path, "/tmp/sinter-control-%ld", (long)getpid());
    (void)remove(b->path);
    if (text != NULL) {
        put(b, text);
    }
    sinter_env_init(&b->env);
    b->env.clock.ctx = b;
    b->env.clock.monotonic_ns = now;
    b->env.clock.sleep_ns = nap;
    options.cancel_ctx = &b->control;
    cr_assert_eq(sinter_io_create(&b->env, SINTER_IO_MEMORY, NULL, &b->io, NULL), SINTER_OK);
    cr_assert_eq(sinter_io_limit_create(&b->env, b->io, &options, &b->limited, NULL), SINTER_OK);
    cr_assert_eq(b->limited->ops->create(b->limited, "/", 0, &b->file, NULL), SINTER_OK);
    cli_control_begin(&b->control, b->path, &load, b->limited, &b->env.clock);
}

static void
bed_end(bed *b)
{
    cli_control_end(&b->control);
    cli_control_fini(&b->control);
    b->file->ops->close(b->file);
    sinter_io_destroy(b->limited);
    sinter_io_destroy(b->io);
    (void)remove(b->path);
}

/* Wish 2: within a second, also for who waits for tokens that would take a day. */
Test(cli_control, a_rate_changes_within_a_second_while_tokens_are_waited_for)
{
    static const uint8_t data[100000];
    bed b;

    bed_begin(&b, NULL, 1);
    b.on_sleep = "rate = 10000000\n";
    cr_expect_eq(b.file->ops->append(b.file, data, sizeof data, NULL), SINTER_OK);
    cr_expect_gt(b.written_ns, 0);
    cr_expect_leq(b.now_ns - b.written_ns, SECOND);
    cr_expect_eq(b.control.load.rate, 10000000);
    put(&b, "read-rate = 100000\n");
    b.now_ns += SECOND / 2;
    cr_expect_not(cli_control_poll(&b.control));
    cr_expect_eq(b.control.load.read_rate, 100000);
    cr_expect_eq(b.control.load.rate, 10000000, "what is not there stays");
    bed_end(&b);
}

Test(cli_control, a_pause_lasts_until_the_file_ends_it)
{
    bed b;

    bed_begin(&b, "pause = true\nthreads = 3\n", 0);
    b.on_sleep = "pause = false\n";
    cr_expect_not(cli_control_poll(&b.control));
    cr_expect(b.now_ns >= SECOND / 2 && b.now_ns <= SECOND, "%lld", (long long)b.now_ns);
    cr_expect_eq(b.control.load.threads, 3);
    b.now_ns += SECOND;
    (void)remove(b.path);
    cr_expect_not(cli_control_poll(&b.control), "a file that goes changes nothing");
    cr_expect(b.control.load.threads == 3 && !b.control.load.is_paused);
    bed_end(&b);
}

static void
count_run(void *arg)
{
    ++*(int *)arg;
}

Test(cli_control, tasks_wait_at_the_gate_and_all_run_when_it_is_over)
{
    test_executor executor = {.kind = TEST_EXECUTOR_INLINE};
    sinter_env env = {.struct_size = (uint32_t)sizeof env};
    sinter_executor gated;
    int runs = 0;
    bed b;

    bed_begin(&b, "pause = true\n", 0);
    test_executor_use(&executor, &env);
    gated = cli_control_executor(&b.control, &env.executor);
    b.on_sleep = "pause = false\n";
    cr_expect_eq(gated.submit(gated.ctx, count_run, &runs), SINTER_OK);
    cr_expect(runs == 1 && b.now_ns >= SECOND / 2);
    put(&b, "pause = true\n");
    b.now_ns += SECOND;
    cli_control_end(&b.control);
    cr_expect_eq(gated.submit(gated.ctx, count_run, &runs), SINTER_OK);
    cr_expect_eq(runs, 2, "nobody stands still any more");
    executor.kind = TEST_EXECUTOR_REFUSES;
    cr_expect_neq(gated.submit(gated.ctx, count_run, &runs), SINTER_OK);
    cr_expect_eq(runs, 2);
    bed_end(&b);
}
