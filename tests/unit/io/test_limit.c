#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "fault_alloc.h"
#include "io/limit.h"

TestSuite(io_limit, .timeout = 60);

#define SECOND INT64_C(1000000000)
enum { THREADS_MAX = 6, EVENTS_MAX = 1 << 18 };

/* ---- a clock that goes on when everybody sleeps ---- */

typedef struct fake_clock {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t now_ns;
    int64_t late_ns; /* sleepers wake up to that much late */
    uint64_t random;
    unsigned awake;
    int64_t wake_ns[THREADS_MAX]; /* of the sleepers, in no order */
    unsigned sleepers;
} fake_clock;

static int64_t
fake_now(void *ctx)
{
    fake_clock *clock = ctx;
    int64_t now_ns = 0;

    (void)pthread_mutex_lock(&clock->mutex);
    now_ns = clock->now_ns;
    (void)pthread_mutex_unlock(&clock->mutex);
    return now_ns;
}

/* Nobody is awake: go to the next waking and wake those whose time has come. Mutex held. */
static void
fake_advance(fake_clock *clock)
{
    int64_t next = INT64_MAX;

    if (clock->awake > 0 || clock->sleepers == 0) {
        return;
    }
    for (unsigned i = 0; i < clock->sleepers; i++) {
        next = clock->wake_ns[i] < next ? clock->wake_ns[i] : next;
    }
    clock->now_ns = next;
    for (unsigned i = 0; i < clock->sleepers;) {
        if (clock->wake_ns[i] <= next) {
            clock->wake_ns[i] = clock->wake_ns[--clock->sleepers];
            clock->awake++;
        } else {
            i++;
        }
    }
    (void)pthread_cond_broadcast(&clock->changed);
}

static void
fake_pause(fake_clock *clock, int64_t ns, int64_t late_ns)
{
    int64_t wake_ns = 0;

    (void)pthread_mutex_lock(&clock->mutex);
    wake_ns = clock->now_ns + ns;
    if (late_ns > 0) {
        wake_ns += (int64_t)(random_next(&clock->random) % (uint64_t)late_ns);
    }
    clock->wake_ns[clock->sleepers++] = wake_ns;
    clock->awake--;
    fake_advance(clock);
    while (clock->now_ns < wake_ns) {
        (void)pthread_cond_wait(&clock->changed, &clock->mutex);
    }
    (void)pthread_mutex_unlock(&clock->mutex);
}

static void
fake_sleep(void *ctx, int64_t ns)
{
    fake_clock *clock = ctx;

    fake_pause(clock, ns, clock->late_ns);
}

static void
fake_leave(fake_clock *clock)
{
    (void)pthread_mutex_lock(&clock->mutex);
    clock->awake--;
    fake_advance(clock);
    (void)pthread_mutex_unlock(&clock->mutex);
}

/* ---- an io that only notes when bytes come ---- */

typedef struct event {
    int64_t at_ns;
    uint64_t bytes;
    bool is_read;
} event;

typedef struct note_io {
    sinter_io io;
    fake_clock clock;
    sinter_env env;
    sinter_io *limit;
    event *events; /* guarded by the clock's mutex, in the order of time */
    size_t event_count;
} note_io;

typedef struct note_file {
    sinter_io_file base;
    note_io *io;
} note_file;

static const sinter_io_ops note_ops;

static sinter_status
note(sinter_io_file *base, uint64_t bytes, bool is_read)
{
    note_io *io = ((note_file *)base)->io;

    (void)pthread_mutex_lock(&io->clock.mutex);
    cr_assert_lt(io->event_count, (size_t)EVENTS_MAX);
    io->events[io->event_count++] = (event){io->clock.now_ns, bytes, is_read};
    (void)pthread_mutex_unlock(&io->clock.mutex);
    return SINTER_OK;
}

static sinter_status
note_create(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out, sinter_error *err)
{
    note_file *file = malloc(sizeof *file);

    (void)dir;
    (void)flags;
    (void)err;
    *file = (note_file){.base.ops = &note_ops, .io = (note_io *)io};
    *out = &file->base;
    return SINTER_OK;
}

static sinter_status
note_append(sinter_io_file *file, const void *data, size_t size, sinter_error *err)
{
    (void)data;
    (void)err;
    return note(file, size, false);
}

static sinter_status
note_read(sinter_io_file *file, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    uint64_t bytes = 0;

    (void)err;
    for (size_t i = 0; i < count; i++) {
        bytes += ranges[i].size;
    }
    return note(file, bytes, true);
}

static sinter_status
note_read_begin(sinter_io_file *file, const sinter_io_range *range, sinter_io_ticket *ticket,
                sinter_error *err)
{
    (void)ticket;
    (void)err;
    return note(file, range->size, true);
}

static sinter_status
note_read_end(sinter_io_file *file, sinter_io_ticket *ticket, sinter_error *err)
{
    (void)file;
    (void)ticket;
    (void)err;
    return SINTER_OK;
}

static void
note_close(sinter_io_file *file)
{
    free(file);
}

static const sinter_io_ops note_ops = {
    .struct_size = (uint32_t)sizeof(sinter_io_ops),
    .name = "note",
    .create = note_create,
    .open = note_create,
    .append = note_append,
    .read = note_read,
    .read_begin = note_read_begin,
    .read_end = note_read_end,
    .close = note_close,
};

static void
note_init(note_io *io, sinter_io_limit_mode mode, uint64_t rate, int64_t late_ns)
{
    const sinter_io_limit_options options = {
        .struct_size = (uint32_t)sizeof options, .mode = mode, .bytes_per_second = rate};

    memset(io, 0, sizeof *io);
    io->io.ops = &note_ops;
    io->events = malloc(EVENTS_MAX * sizeof *io->events);
    (void)pthread_mutex_init(&io->clock.mutex, NULL);
    (void)pthread_cond_init(&io->clock.changed, NULL);
    io->clock.now_ns = 5 * SECOND;
    io->clock.late_ns = late_ns;
    io->clock.random = 1;
    io->clock.awake = 1;
    sinter_env_init(&io->env);
    io->env.clock.ctx = &io->clock;
    io->env.clock.monotonic_ns = fake_now;
    io->env.clock.sleep_ns = fake_sleep;
    cr_assert_eq(sinter_io_limit_create(&io->env, &io->io, &options, &io->limit, NULL), SINTER_OK);
}

static void
note_fini(note_io *io)
{
    sinter_io_destroy(io->limit);
    (void)pthread_cond_destroy(&io->clock.changed);
    (void)pthread_mutex_destroy(&io->clock.mutex);
    free(io->events);
}

/* The most and the fewest bytes of any second that begins or ends with an event. */
typedef struct extremes {
    uint64_t most;
    uint64_t fewest;       /* of seconds that lie within the time of all events */
    uint64_t first_moment; /* bytes that went at the start */
} extremes;

static extremes
seconds_of(const note_io *io)
{
    extremes found = {.fewest = UINT64_MAX};
    uint64_t window = 0;
    size_t first = 0;

    for (size_t i = 0; i < io->event_count; i++) {
        const int64_t at_ns = io->events[i].at_ns;

        if (at_ns == io->events[0].at_ns) {
            found.first_moment += io->events[i].bytes;
        }
        /* [events[first], at): what lies between is less than a second wide */
        while (io->events[first].at_ns + SECOND <= at_ns) {
            /* the second that begins just behind events[first] */
            window -= io->events[first].bytes;
            if (io->events[first + 1].at_ns != io->events[first].at_ns && window < found.fewest) {
                found.fewest = window;
            }
            first++;
        }
        window += io->events[i].bytes;
        found.most = window > found.most ? window : found.most;
    }
    return found;
}

/* ---- workers ---- */

typedef struct worker {
    note_io *io;
    uint64_t seed;
    int64_t until_ns;
    size_t size_max;  /* of a request */
    int64_t think_ns; /* at most, between requests */
    bool also_reads;
    bool only_reads;
    uint64_t bytes;
} worker;

static void *
work(void *arg)
{
    worker *job = arg;
    sinter_io *limit = job->io->limit;
    uint64_t random = job->seed;
    uint8_t *data = calloc(1, job->size_max);
    sinter_io_file *file = NULL;

    cr_assert_eq(limit->ops->create(limit, "/", 0, &file, NULL), SINTER_OK);
    while (fake_now(&job->io->clock) < job->until_ns) {
        const size_t size = 1 + (size_t)(random_next(&random) % job->size_max);
        const sinter_io_range range = {0, data, size};
        sinter_io_ticket ticket;

        switch (job->only_reads   ? 1 + random_next(&random) % 2
                : job->also_reads ? random_next(&random) % 3
                                  : 0) {
        case 0:
            cr_assert_eq(file->ops->append(file, data, size, NULL), SINTER_OK);
            break;
        case 1:
            cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
            break;
        default:
            cr_assert_eq(file->ops->read_begin(file, &range, &ticket, NULL), SINTER_OK);
            cr_assert_eq(file->ops->read_end(file, &ticket, NULL), SINTER_OK);
        }
        job->bytes += size;
        if (job->think_ns > 0) {
            fake_pause(&job->io->clock, 0, job->think_ns);
        }
    }
    file->ops->close(file);
    free(data);
    fake_leave(&job->io->clock);
    return NULL;
}

/* Let `count` workers run side by side. */
static void
run(note_io *io, worker *workers, unsigned count)
{
    pthread_t threads[THREADS_MAX];

    io->clock.awake = count;
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    io->clock.awake = 1;
}

static void
expect_within(const note_io *io, uint64_t rate, const char *what, uint64_t seed)
{
    const extremes found = seconds_of(io);

    cr_expect_leq(found.most * 10, rate * 11, "%s, seed %llu: %llu bytes in a second of %llu", what,
                  (unsigned long long)seed, (unsigned long long)found.most,
                  (unsigned long long)rate);
    cr_expect_geq(found.fewest * 10, rate * 9, "%s, seed %llu: %llu bytes in a second of %llu",
                  what, (unsigned long long)seed, (unsigned long long)found.fewest,
                  (unsigned long long)rate);
    cr_expect_leq(found.first_moment * 10, rate, "%s, seed %llu: %llu bytes at once", what,
                  (unsigned long long)seed, (unsigned long long)found.first_moment);
}

Test(io_limit, every_second_is_within_a_tenth_of_the_rate)
{
    static const uint64_t rates[] = {1000, 65536, 4000000, UINT64_C(3000000000)};

    for (uint64_t seed = 1; seed <= 24; seed++) {
        const uint64_t rate = rates[seed % 4];
        const unsigned count = 1 + (unsigned)(seed % THREADS_MAX);
        worker workers[THREADS_MAX];
        note_io io;

        note_init(&io, SINTER_IO_LIMIT_ALL, rate, SECOND / 50);
        for (unsigned i = 0; i < count; i++) {
            workers[i] =
                (worker){.io = &io,
                         .seed = seed * 100 + i,
                         .until_ns = io.clock.now_ns + 8 * SECOND,
                         .size_max = (size_t)(rate / ((seed / 6 + i) % 2 == 0 ? 3 : 100) + 1),
                         .think_ns = seed % 3 == 0 && rate < SECOND ? SECOND / 250 : 0,
                         .also_reads = true};
            workers[i].size_max = workers[i].size_max < 10000000 ? workers[i].size_max : 10000000;
        }
        run(&io, workers, count);
        expect_within(&io, rate, "threads", seed);
        note_fini(&io);
    }
}

/* Forget what is not of a side, and what came when some threads were done. */
static void
keep(note_io *io, bool has_reads, bool has_writes, int64_t until_ns)
{
    size_t kept = 0;

    for (size_t i = 0; i < io->event_count; i++) {
        const event *one = &io->events[i];

        if (one->at_ns < until_ns && (one->is_read ? has_reads : has_writes)) {
            io->events[kept++] = *one;
        }
    }
    io->event_count = kept;
}

Test(io_limit, a_side_has_a_rate_of_its_own_beside_that_of_both)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        const uint64_t rate = seed % 2 == 0 ? 4000000 : 65536;
        const uint64_t of_reads = rate / (4 + seed % 3);
        worker workers[THREADS_MAX];
        int64_t until_ns = 0;
        note_io io;

        note_init(&io, SINTER_IO_LIMIT_ALL, rate, SECOND / 50);
        until_ns = io.clock.now_ns + 8 * SECOND;
        cr_assert_eq(sinter_io_limit_set_side(io.limit, SINTER_IO_LIMIT_READS, of_reads, NULL),
                     SINTER_OK);
        for (unsigned i = 0; i < THREADS_MAX; i++) {
            workers[i] = (worker){.io = &io,
                                  .seed = seed * 100 + i,
                                  .until_ns = until_ns,
                                  .size_max = (size_t)(rate / (i % 3 == 0 ? 3 : 100) + 1),
                                  .only_reads = i % 2 == 0};
        }
        run(&io, workers, THREADS_MAX);
        keep(&io, true, true, until_ns);
        expect_within(&io, rate, "both sides", seed);
        keep(&io, true, false, until_ns);
        cr_expect_leq(seconds_of(&io).most * 10, of_reads * 11, "seed %llu: %llu bytes of %llu",
                      (unsigned long long)seed, (unsigned long long)seconds_of(&io).most,
                      (unsigned long long)of_reads);
        cr_expect_geq(seconds_of(&io).fewest, of_reads / 2, "writes leave them their share");
        note_fini(&io);
    }
}

Test(io_limit, sides_do_not_wait_for_each_other)
{
    worker workers[2];
    note_io io;

    note_init(&io, SINTER_IO_LIMIT_WRITES, 1000000, 0);
    cr_assert_eq(sinter_io_limit_set_side(io.limit, SINTER_IO_LIMIT_READS, 1000, NULL), SINTER_OK);
    for (unsigned i = 0; i < 2; i++) {
        workers[i] = (worker){.io = &io,
                              .seed = i,
                              .until_ns = io.clock.now_ns + 6 * SECOND,
                              .size_max = i == 0 ? 600 : 50000,
                              .only_reads = i == 0};
    }
    run(&io, workers, 2);
    cr_expect(workers[0].bytes >= 5400 && workers[0].bytes <= 6600 + 600, "%llu bytes read",
              (unsigned long long)workers[0].bytes);
    cr_expect(workers[1].bytes >= 5400000 && workers[1].bytes <= 6600000, "%llu bytes written",
              (unsigned long long)workers[1].bytes);
    note_fini(&io);
}

Test(io_limit, the_rates_of_the_options_are_those_of_the_setter)
{
    static uint8_t data[3000];
    sinter_io_limit_options options = {.struct_size = (uint32_t)sizeof options,
                                       .mode = SINTER_IO_LIMIT_ALL,
                                       .read_bytes_per_second = 1000,
                                       .write_bytes_per_second = 3000};
    const sinter_io_range range = {0, data, sizeof data};
    sinter_io_file *file = NULL;
    sinter_io *limit = NULL;
    int64_t begin_ns = 0;
    note_io io;

    note_init(&io, SINTER_IO_LIMIT_ALL, 0, 0);
    cr_assert_eq(sinter_io_limit_create(&io.env, &io.io, &options, &limit, NULL), SINTER_OK);
    cr_assert_eq(limit->ops->create(limit, ".", 0, &file, NULL), SINTER_OK);
    begin_ns = io.clock.now_ns;
    cr_expect_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_expect_geq(io.clock.now_ns - begin_ns, 27 * SECOND / 10);
    begin_ns = io.clock.now_ns;
    cr_expect_eq(file->ops->append(file, data, sizeof data, NULL), SINTER_OK);
    cr_expect_geq(io.clock.now_ns - begin_ns, 9 * SECOND / 10);
    cr_expect_leq(io.clock.now_ns - begin_ns, 11 * SECOND / 10);
    cr_expect_eq(sinter_io_limit_set_side(limit, SINTER_IO_LIMIT_READS, 0, NULL), SINTER_OK);
    begin_ns = io.clock.now_ns;
    cr_expect_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_expect_eq(io.clock.now_ns, begin_ns);
    cr_expect_eq(sinter_io_limit_set(limit, 300, NULL), SINTER_OK, "of the mode: both");
    cr_expect_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    cr_expect_geq(io.clock.now_ns - begin_ns, 9 * SECOND);
    file->ops->close(file);
    sinter_io_destroy(limit);
    note_fini(&io);
}

Test(io_limit, an_idle_time_is_followed_by_no_burst)
{
    const uint64_t rate = 100000;
    const uint8_t data[50000] = {0};
    sinter_io_file *file = NULL;
    note_io io;

    note_init(&io, SINTER_IO_LIMIT_WRITES, rate, 0);
    cr_assert_eq(io.limit->ops->create(io.limit, "/", 0, &file, NULL), SINTER_OK);
    for (int i = 0; i < 4; i++) {
        fake_pause(&io.clock, 10 * SECOND, 0);
        for (int k = 0; k < 3; k++) {
            const size_t before = io.event_count;
            const int64_t begin_ns = io.clock.now_ns;
            uint64_t at_once = 0;

            cr_assert_eq(file->ops->append(file, data, sizeof data, NULL), SINTER_OK);
            for (size_t e = before; e < io.event_count; e++) {
                at_once += io.events[e].at_ns == begin_ns ? io.events[e].bytes : 0;
            }
            cr_expect_leq(at_once, rate / 10);
        }
    }
    cr_expect_leq(seconds_of(&io).most, rate * 11 / 10);
    file->ops->close(file);
    note_fini(&io);
}

Test(io_limit, threads_that_share_a_limit_take_turns)
{
    const uint64_t rate = 1000000;
    worker workers[4];
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    note_io io;

    note_init(&io, SINTER_IO_LIMIT_WRITES, rate, 0);
    for (unsigned i = 0; i < 4; i++) {
        workers[i] = (worker){.io = &io,
                              .seed = i,
                              .until_ns = io.clock.now_ns + 10 * SECOND,
                              .size_max = i == 0 ? 5000000 : 60000};
    }
    run(&io, workers, 4);
    for (unsigned i = 1; i < 4; i++) {
        least = workers[i].bytes < least ? workers[i].bytes : least;
        most = workers[i].bytes > most ? workers[i].bytes : most;
    }
    cr_expect_leq(most, least * 5 / 4, "%llu and %llu bytes", (unsigned long long)least,
                  (unsigned long long)most);
    cr_expect_geq(least, 10 * rate / 8, "one greedy thread leaves the others %llu bytes",
                  (unsigned long long)least);
    note_fini(&io);
}

Test(io_limit, only_the_bytes_of_the_mode_are_counted)
{
    static const sinter_io_limit_mode modes[] = {SINTER_IO_LIMIT_WRITES, SINTER_IO_LIMIT_READS,
                                                 SINTER_IO_LIMIT_ALL};

    for (size_t m = 0; m < 3; m++) {
        static uint8_t data[200000];
        const sinter_io_range range = {0, data, sizeof data};
        sinter_io_ticket ticket;
        sinter_io_file *file = NULL;
        int64_t times_ns[4];
        note_io io;

        note_init(&io, modes[m], 100000, 0);
        cr_assert_eq(io.limit->ops->create(io.limit, "/", 0, &file, NULL), SINTER_OK);
        times_ns[0] = io.clock.now_ns;
        cr_assert_eq(file->ops->append(file, data, sizeof data, NULL), SINTER_OK);
        times_ns[1] = io.clock.now_ns;
        cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
        times_ns[2] = io.clock.now_ns;
        cr_assert_eq(file->ops->read_begin(file, &range, &ticket, NULL), SINTER_OK);
        cr_assert_eq(file->ops->read_end(file, &ticket, NULL), SINTER_OK);
        times_ns[3] = io.clock.now_ns;
        cr_expect_eq(times_ns[1] - times_ns[0] > SECOND, modes[m] != SINTER_IO_LIMIT_READS);
        cr_expect_eq(times_ns[2] - times_ns[1] > SECOND, modes[m] != SINTER_IO_LIMIT_WRITES);
        cr_expect_eq(times_ns[3] - times_ns[2] > SECOND, modes[m] != SINTER_IO_LIMIT_WRITES);
        file->ops->close(file);
        note_fini(&io);
    }
}

/* Changes the rate in the middle of what the workers do. */
static void *
change(void *arg)
{
    note_io *io = arg;

    fake_pause(&io->clock, 11 * SECOND / 2, 0);
    cr_assert_eq(sinter_io_limit_set(io->limit, 1000000, NULL), SINTER_OK);
    fake_pause(&io->clock, 9 * SECOND / 2, 0);
    cr_assert_eq(sinter_io_limit_set(io->limit, 0, NULL), SINTER_OK);
    fake_leave(&io->clock);
    return NULL;
}

/* What went in the time from..to after the first moment of the test. */
static uint64_t
bytes_between(const note_io *io, int64_t from_ns, int64_t to_ns)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < io->event_count; i++) {
        const int64_t at_ns = io->events[i].at_ns - 5 * SECOND;

        sum += at_ns >= from_ns && at_ns < to_ns ? io->events[i].bytes : 0;
    }
    return sum;
}

Test(io_limit, the_rate_changes_while_threads_wait)
{
    worker jobs[2];
    pthread_t threads[3];
    note_io io;

    note_init(&io, SINTER_IO_LIMIT_WRITES, 1, 0); /* a byte takes a second */
    io.clock.awake = 3;
    for (unsigned i = 0; i < 2; i++) {
        jobs[i] = (worker){
            .io = &io, .seed = i, .until_ns = io.clock.now_ns + 9 * SECOND, .size_max = 8000000};
        cr_assert_eq(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    cr_assert_eq(pthread_create(&threads[2], NULL, change, &io), 0);
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    cr_expect_leq(bytes_between(&io, 0, 11 * SECOND / 2), 7);
    cr_expect_geq(bytes_between(&io, 11 * SECOND / 2, 13 * SECOND / 2), 900000 - 100000,
                  "a tenth of a second later at the latest");
    cr_expect_leq(bytes_between(&io, 11 * SECOND / 2, 13 * SECOND / 2), 1100000);
    cr_expect_geq(bytes_between(&io, 9 * SECOND, 10 * SECOND), 900000);
    cr_expect_eq(bytes_between(&io, 10 * SECOND + SECOND / 10, 100 * SECOND), 0,
                 "unlimited: what was left went at once");
    cr_expect_eq(bytes_between(&io, 0, 100 * SECOND), jobs[0].bytes + jobs[1].bytes);
    note_fini(&io);
}

static bool
is_late(void *ctx)
{
    note_io *io = ctx;

    return fake_now(&io->clock) >= 8 * SECOND;
}

static bool
always(void *ctx)
{
    (void)ctx;
    return true;
}

/* Stands still, as a paused task does, for six seconds. */
static bool
stand_still(void *ctx)
{
    note_io *io = ctx;

    if (fake_now(&io->clock) < 6 * SECOND) {
        fake_pause(&io->clock, 6 * SECOND, 0);
    }
    return false;
}

static void *
append_and_stand_still(void *arg)
{
    static const uint8_t bytes[50000];
    note_io *io = arg;
    sinter__limit_io shared;
    sinter_io *limit = sinter__limit_share(io->limit, &io->io, &shared, stand_still, io);
    sinter_io_file *file = NULL;

    cr_assert_eq(limit->ops->create(limit, ".", 0, &file, NULL), SINTER_OK);
    cr_expect_eq(file->ops->append(file, bytes, sizeof bytes, NULL), SINTER_OK);
    file->ops->close(file);
    fake_leave(&io->clock);
    return NULL;
}

Test(io_limit, who_stands_still_keeps_nobody_from_the_rate)
{
    pthread_t threads[THREADS_MAX];
    worker job;
    note_io io;

    note_init(&io, SINTER_IO_LIMIT_WRITES, 100000, 0);
    job =
        (worker){.io = &io, .seed = 1, .until_ns = io.clock.now_ns + 5 * SECOND, .size_max = 1000};
    io.clock.awake = THREADS_MAX;
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, i == 0 ? work : append_and_stand_still,
                                    i == 0 ? (void *)&job : &io),
                     0);
    }
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    cr_expect_geq(bytes_between(&io, SECOND, 5 * SECOND), 4 * 90000, "all that is left");
    cr_expect_leq(seconds_of(&io).most, 110000);
    note_fini(&io);
}

Test(io_limit, wrappers_that_share_a_rate_are_cancelled_one_by_one)
{
    static const uint8_t bytes[3000];
    sinter__limit_io shared[2];
    sinter_io *ios[2];
    sinter_io_file *files[3];
    note_io io;

    note_init(&io, SINTER_IO_LIMIT_WRITES, 1000, 0);
    ios[0] = sinter__limit_share(io.limit, &io.io, &shared[0], NULL, NULL);
    ios[1] = sinter__limit_share(io.limit, &io.io, &shared[1], always, NULL);
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(ios[i]->ops->create(ios[i], ".", 0, &files[i], NULL), SINTER_OK);
    }
    cr_assert_eq(io.limit->ops->create(io.limit, ".", 0, &files[2], NULL), SINTER_OK);
    cr_expect_eq(files[0]->ops->append(files[0], bytes, sizeof bytes, NULL), SINTER_OK);
    cr_expect_eq(files[1]->ops->append(files[1], bytes, sizeof bytes, NULL), SINTER_E_CANCELLED);
    cr_expect_eq(files[2]->ops->append(files[2], bytes, sizeof bytes, NULL), SINTER_OK);
    cr_expect_leq(seconds_of(&io).most, 1100, "together");
    cr_expect_geq(io.clock.now_ns, 5 * SECOND + 11 * SECOND / 2);
    cr_expect_eq(sinter_io_limit_set(ios[1], 0, NULL), SINTER_OK, "one rate for all");
    cr_expect_eq(files[1]->ops->append(files[1], bytes, sizeof bytes, NULL), SINTER_OK);
    for (size_t i = 0; i < 3; i++) {
        files[i]->ops->close(files[i]);
    }
    note_fini(&io);
}

Test(io_limit, a_request_that_waits_ends_when_it_is_cancelled)
{
    static uint8_t bytes[1 << 20];
    sinter_io_limit_options options = {.struct_size = (uint32_t)sizeof options,
                                       .mode = SINTER_IO_LIMIT_ALL,
                                       .bytes_per_second = 1000,
                                       .is_cancelled = is_late};
    const sinter_io_range range = {.offset = 0, .data = bytes, .size = sizeof bytes};
    sinter_io_file *file = NULL;
    sinter_io *limit = NULL;
    note_io io;

    note_init(&io, SINTER_IO_LIMIT_ALL, 0, 0);
    options.cancel_ctx = &io;
    cr_assert_eq(sinter_io_limit_create(&io.env, &io.io, &options, &limit, NULL), SINTER_OK);
    cr_assert_eq(limit->ops->create(limit, ".", 0, &file, NULL), SINTER_OK);
    cr_expect_eq(file->ops->append(file, bytes, sizeof bytes, NULL), SINTER_E_CANCELLED);
    cr_expect_leq(io.clock.now_ns, 8 * SECOND + SECOND / 10, "a tenth of a second later");
    cr_expect_geq(bytes_between(&io, 0, 100 * SECOND), 2700u);
    cr_expect_eq(file->ops->read(file, &range, 1, NULL), SINTER_E_CANCELLED);
    file->ops->close(file);
    sinter_io_destroy(limit);
    note_fini(&io);
}

Test(io_limit, a_clock_that_cannot_sleep_is_refused)
{
    sinter_env env = *sinter_env_default();
    sinter_io *io = NULL;

    env.clock.sleep_ns = NULL;
    cr_expect_eq(sinter_io_limit_create(&env, sinter_io_posix(), NULL, &io, NULL),
                 SINTER_E_INVALID);
}

Test(io_limit, wrong_calls_are_refused)
{
    const sinter_env *env = sinter_env_default();
    const sinter_io_limit_options bad = {.struct_size = (uint32_t)sizeof bad, .mode = 3};
    sinter_io *io = NULL;

    cr_expect_eq(sinter_io_limit_create(env, NULL, NULL, &io, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_io_limit_create(env, sinter_io_posix(), &bad, &io, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_io_limit_set(sinter_io_posix(), 1, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_io_limit_set_side(sinter_io_posix(), SINTER_IO_LIMIT_READS, 1, NULL),
                 SINTER_E_INVALID);
    cr_assert_eq(sinter_io_limit_create(env, sinter_io_posix(), NULL, &io, NULL), SINTER_OK);
    cr_expect_str_eq(sinter_io_name(io), "posix", "of what it wraps");
    cr_expect_eq(sinter_io_limit_set_side(io, (sinter_io_limit_mode)3, 1, NULL), SINTER_E_INVALID);
    sinter_io_destroy(io);
}

Test(io_limit, one_rate_given_twice_is_refused_with_both_names)
{
    sinter_io_limit_options twice = {.struct_size = (uint32_t)sizeof twice,
                                     .mode = SINTER_IO_LIMIT_READS,
                                     .bytes_per_second = 1,
                                     .read_bytes_per_second = 1};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *io = NULL;

    cr_expect_eq(sinter_io_limit_create(sinter_env_default(), sinter_io_posix(), &twice, &io, &err),
                 SINTER_E_INVALID);
    cr_expect(strstr(err.text, "bytes_per_second of SINTER_IO_LIMIT_READS") != NULL &&
              strstr(err.text, "read_bytes_per_second") != NULL);
    twice.mode = SINTER_IO_LIMIT_WRITES;
    twice.write_bytes_per_second = 1;
    cr_expect_eq(sinter_io_limit_create(sinter_env_default(), sinter_io_posix(), &twice, &io, &err),
                 SINTER_E_INVALID);
    cr_expect(strstr(err.text, "write_bytes_per_second") != NULL, "%s", err.text);
    twice.bytes_per_second = 0;
    cr_assert_eq(sinter_io_limit_create(sinter_env_default(), sinter_io_posix(), &twice, &io, NULL),
                 SINTER_OK);
    sinter_io_destroy(io);
}

Test(io_limit, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (size_t n = 0; st != SINTER_OK; n++) {
        sinter_io *base = NULL;
        sinter_io *io = NULL;
        sinter_io_file *file = NULL;
        sinter_error err = SINTER_ERROR_INIT;
        fault_alloc fault;

        cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &base, NULL),
                     SINTER_OK);
        fault_alloc_init(&fault, n);
        st = sinter_io_limit_create(&fault.env, base, NULL, &io, &err);
        if (st == SINTER_OK) {
            st = io->ops->create(io, "/", 0, &file, &err);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st && file == NULL));
        if (file != NULL) {
            file->ops->close(file);
        }
        sinter_io_destroy(io);
        cr_expect_eq(fault.live, 0, "leak when allocation %zu fails", n);
        sinter_io_destroy(base);
    }
}
