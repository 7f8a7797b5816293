#include "cli/gate.h"

#include <criterion/criterion.h>
#include <semaphore.h>

TestSuite(cli_gate, .timeout = 20);

/* A thread of a pool that does what it is told, and a clock that stands. */
typedef struct hand {
    cli_gate *gate;
    pthread_t thread;
    sem_t told;
    sem_t done;
    enum { ASK, LEAVE } what;
    bool may_work;
} hand;

static int64_t now_ns;

static int64_t
now(void *ctx)
{
    (void)ctx;
    return now_ns;
}

static const sinter_clock still = {.struct_size = (uint32_t)sizeof still, .monotonic_ns = now};

static void *
work(void *arg)
{
    hand *self = arg;

    cli_gate_enter(self->gate);
    for (;;) {
        (void)sem_wait(&self->told);
        if (self->what == LEAVE) {
            cli_gate_leave(self->gate);
            (void)sem_post(&self->done);
            return NULL;
        }
        self->may_work = cli_gate_may_work(self->gate);
        (void)sem_post(&self->done);
    }
}

static void
begin(hand *one, cli_gate *gate)
{
    one->gate = gate;
    (void)sem_init(&one->told, 0, 0);
    (void)sem_init(&one->done, 0, 0);
    cr_assert_eq(pthread_create(&one->thread, NULL, work, one), 0);
}

static bool
ask(hand *one)
{
    one->what = ASK;
    (void)sem_post(&one->told);
    (void)sem_wait(&one->done);
    return one->may_work;
}

static void
leave(hand *one)
{
    one->what = LEAVE;
    (void)sem_post(&one->told);
    (void)sem_wait(&one->done);
    (void)pthread_join(one->thread, NULL);
    (void)sem_destroy(&one->told);
    (void)sem_destroy(&one->done);
}

Test(cli_gate, who_is_too_many_stands_still_until_there_is_room)
{
    hand hands[3];
    cli_gate gate;

    cli_gate_init(&gate, 2, &still);
    for (size_t i = 0; i < 3; i++) {
        begin(&hands[i], &gate);
    }
    cr_expect(cli_gate_may_work(&gate));
    cr_expect(ask(&hands[0]));
    cr_expect(ask(&hands[0]), "who works goes on");
    cr_expect_not(ask(&hands[1]));
    leave(&hands[0]);
    cr_expect(ask(&hands[1]));
    cr_expect_not(ask(&hands[2]));
    cli_gate_set(&gate, 3);
    cr_expect(ask(&hands[2]));
    cli_gate_set(&gate, 1);
    cr_expect_not(ask(&hands[1]), "a thread that worked");
    cr_expect_not(ask(&hands[2]));
    cr_expect(cli_gate_may_work(&gate));
    cli_gate_set(&gate, 0);
    cr_expect_not(cli_gate_may_work(&gate));
    cr_expect_not(ask(&hands[1]));
    cli_gate_set(&gate, 1);
    cr_expect(ask(&hands[2]));
    cr_expect_not(cli_gate_may_work(&gate));
    leave(&hands[2]);
    leave(&hands[1]);
    cli_gate_fini(&gate);
}

Test(cli_gate, a_main_thread_that_waits_for_the_others_is_not_waited_for)
{
    hand other;
    cli_gate gate;

    cli_gate_init(&gate, 1, &still);
    begin(&other, &gate);
    cr_expect(cli_gate_may_work(&gate));
    cr_expect_not(ask(&other));
    now_ns += 999999999;
    cr_expect_not(ask(&other));
    now_ns += 1;
    cr_expect(ask(&other));
    cr_expect_not(cli_gate_may_work(&gate), "it came back");
    leave(&other);
    cr_expect(cli_gate_may_work(&gate));
    cli_gate_fini(&gate);
}
