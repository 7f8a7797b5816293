#include "base/sync.h"

#include "base/fail.h"

static sinter_status
refusal(int rc, const char *what, sinter_error *err)
{
    return SINTER__ERR_SYS(err, SINTER_E_NOMEM, rc, NULL, -1, "the system gave no %s", what);
}

sinter_status
sinter__mutex_init(sinter__mutex *mutex, sinter_error *err)
{
    const int rc = pthread_mutex_init(&mutex->system, NULL);

    return rc == 0 ? SINTER_OK : refusal(rc, "mutex", err);
}

void
sinter__mutex_fini(sinter__mutex *mutex)
{
    (void)pthread_mutex_destroy(&mutex->system);
}

sinter_status
sinter__monitor_init(sinter__monitor *monitor, sinter_error *err)
{
    int rc = pthread_mutex_init(&monitor->system, NULL);

    if (rc != 0) {
        return refusal(rc, "mutex", err);
    }
    rc = pthread_cond_init(&monitor->changed, NULL);
    if (rc != 0) {
        (void)pthread_mutex_destroy(&monitor->system);
        return refusal(rc, "condition", err);
    }
    return SINTER_OK;
}

void
sinter__monitor_fini(sinter__monitor *monitor)
{
    (void)pthread_cond_destroy(&monitor->changed);
    (void)pthread_mutex_destroy(&monitor->system);
}
