#include "base/sync.h"

#include <criterion/criterion.h>

TestSuite(base_sync, .timeout = 60);

enum { THREADS = 4, STEPS = 2000 };

typedef struct shared {
    sinter__mutex mutex;
    sinter__monitor monitor;
    uint64_t count;
    unsigned turn;
} shared;

typedef struct walker {
    shared *all;
    unsigned number;
} walker;

static void *
count_up(void *arg)
{
    shared *all = arg;

    for (unsigned i = 0; i < STEPS; i++) {
        sinter__mutex_lock(&all->mutex);
        all->count++;
        sinter__mutex_unlock(&all->mutex);
    }
    return NULL;
}

Test(base_sync, a_mutex_lets_one_in_at_a_time)
{
    shared all = {.count = 0};
    pthread_t threads[THREADS];

    cr_assert_eq(sinter__mutex_init(&all.mutex, NULL), SINTER_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, count_up, &all), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    cr_expect_eq(all.count, THREADS * STEPS);
    sinter__mutex_fini(&all.mutex);
}

/* Go on when it is our turn, and give it to the next. */
static void *
take_turns(void *arg)
{
    walker *self = arg;
    shared *all = self->all;

    for (unsigned i = 0; i < STEPS / 10; i++) {
        sinter__monitor_lock(&all->monitor);
        while (all->turn != self->number) {
            sinter__monitor_wait(&all->monitor);
        }
        all->turn = (all->turn + 1) % THREADS;
        all->count++;
        sinter__monitor_tell_all(&all->monitor);
        sinter__monitor_unlock(&all->monitor);
    }
    return NULL;
}

Test(base_sync, news_wakes_those_who_wait)
{
    shared all = {.count = 0};
    walker walkers[THREADS];
    pthread_t threads[THREADS];

    cr_assert_eq(sinter__monitor_init(&all.monitor, NULL), SINTER_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        walkers[i] = (walker){.all = &all, .number = i};
        cr_assert_eq(pthread_create(&threads[i], NULL, take_turns, &walkers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    cr_expect_eq(all.count, THREADS * (STEPS / 10));
    sinter__monitor_fini(&all.monitor);
}
