#include "cli/gate.h"

#include <assert.h>

enum { MAIN_AWAY_NS = 1000000000 };

/* What a gate knows of the calling thread. */
static _Thread_local bool is_of_pool;
static _Thread_local bool is_counted;

void
cli_gate_init(cli_gate *gate, uint32_t allowed, const sinter_clock *clock)
{
    *gate = (cli_gate){.allowed = allowed, .clock = clock};
    (void)pthread_mutex_init(&gate->mutex, NULL);
}

void
cli_gate_fini(cli_gate *gate)
{
    assert(gate->working == 0);
    (void)pthread_mutex_destroy(&gate->mutex);
}

void
cli_gate_set(cli_gate *gate, uint32_t allowed)
{
    (void)pthread_mutex_lock(&gate->mutex);
    gate->allowed = allowed;
    (void)pthread_mutex_unlock(&gate->mutex);
}

/* The mutex is held. */
static bool
may_main_work(cli_gate *gate, int64_t now_ns)
{
    gate->is_main_working = gate->working < gate->allowed;
    gate->main_asked_ns = now_ns;
    return gate->is_main_working;
}

/* The mutex is held. */
static bool
may_pool_work(cli_gate *gate, int64_t now_ns)
{
    const bool is_main_there = gate->is_main_working && now_ns - gate->main_asked_ns < MAIN_AWAY_NS;

    gate->working -= is_counted ? 1 : 0;
    is_counted = gate->working + (is_main_there ? 1 : 0) < gate->allowed;
    gate->working += is_counted ? 1 : 0;
    return is_counted;
}

bool
cli_gate_may_work(cli_gate *gate)
{
    const int64_t now_ns = gate->clock->monotonic_ns(gate->clock->ctx);
    bool may_work;

    (void)pthread_mutex_lock(&gate->mutex);
    may_work = is_of_pool ? may_pool_work(gate, now_ns) : may_main_work(gate, now_ns);
    (void)pthread_mutex_unlock(&gate->mutex);
    return may_work;
}

void
cli_gate_enter(cli_gate *gate)
{
    (void)gate;
    assert(!is_of_pool && !is_counted);
    is_of_pool = true;
}

void
cli_gate_leave(cli_gate *gate)
{
    assert(is_of_pool);
    (void)pthread_mutex_lock(&gate->mutex);
    gate->working -= is_counted ? 1 : 0;
    (void)pthread_mutex_unlock(&gate->mutex);
    is_of_pool = false;
    is_counted = false;
}
