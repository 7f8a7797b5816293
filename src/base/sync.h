/*
 * Locks, as small as the library needs them: a mutex, and a mutex with something to wait for.
 *
 * None is held while another is taken or while a callback runs (ARCHITECTURE.md, "Threads and
 * locks"); calls on one that was set up can't fail.
 */
#ifndef SINTER_BASE_SYNC_H
#define SINTER_BASE_SYNC_H

#include <pthread.h>

#include "sinter/base.h"

/** A mutex. Not recursive; must not move while in use. */
typedef struct sinter__mutex {
    pthread_mutex_t system;
} sinter__mutex;

/** Set up. @return SINTER_OK; SINTER_E_NOMEM (err has errno): the system gave none */
sinter_status
sinter__mutex_init(sinter__mutex *mutex, sinter_error *err);

/** Nobody holds it. */
void
sinter__mutex_fini(sinter__mutex *mutex);

static inline void
sinter__mutex_lock(sinter__mutex *mutex)
{
    (void)pthread_mutex_lock(&mutex->system);
}

static inline void
sinter__mutex_unlock(sinter__mutex *mutex)
{
    (void)pthread_mutex_unlock(&mutex->system);
}

/** A mutex and the news of a change of what it guards. Must not move while in use. */
typedef struct sinter__monitor {
    pthread_mutex_t system;
    pthread_cond_t changed;
} sinter__monitor;

/** Set up. @return SINTER_OK; SINTER_E_NOMEM (err has errno): the system gave none */
sinter_status
sinter__monitor_init(sinter__monitor *monitor, sinter_error *err);

/** Nobody holds it or waits. */
void
sinter__monitor_fini(sinter__monitor *monitor);

static inline void
sinter__monitor_lock(sinter__monitor *monitor)
{
    (void)pthread_mutex_lock(&monitor->system);
}

static inline void
sinter__monitor_unlock(sinter__monitor *monitor)
{
    (void)pthread_mutex_unlock(&monitor->system);
}

/** Let go of it until there is news, or for no reason: ask again what was waited for. */
static inline void
sinter__monitor_wait(sinter__monitor *monitor)
{
    (void)pthread_cond_wait(&monitor->changed, &monitor->system);
}

/** News for one who waits. It is held. */
static inline void
sinter__monitor_tell_one(sinter__monitor *monitor)
{
    (void)pthread_cond_signal(&monitor->changed);
}

/** News for all who wait. It is held. */
static inline void
sinter__monitor_tell_all(sinter__monitor *monitor)
{
    (void)pthread_cond_broadcast(&monitor->changed);
}

#endif
