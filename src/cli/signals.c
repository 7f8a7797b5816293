#include "cli/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "cli/cli.h"

static atomic_int signal_seen; /* written by the handler, read by every thread that works */

static void
on_signal(int number)
{
    signal_seen = number;
}

void
cli_signals_install(void)
{
    struct sigaction action;
    struct sigaction before;
    const int numbers[] = {SIGINT, SIGTERM};

    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);

    /* Without SA_RESTART a read from a terminal or a pipe ends too; with SA_RESETHAND the second
     * signal kills. What it leaves behind is cleaned by the next start. */
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        /* nohup and background jobs of a plain shell ignore INT on purpose */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}

bool
cli_is_cancelled(void *ctx)
{
    (void)ctx;
    return signal_seen != 0;
}

bool
cli_wait_readable(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    sigset_t held;
    sigset_t before;
    int ready = -1;

    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &held, &before);
    while (signal_seen == 0 && ready < 0) {
        ready = ppoll(&wanted, 1, NULL, &before); /* lets signals in while it waits */
        if (ready < 0 && errno != EINTR) {
            break; /* the read will tell what is wrong */
        }
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return signal_seen == 0;
}

int
cli_signal_exit(void)
{
    switch (atomic_load(&signal_seen)) {
    case SIGINT:
        return CLI_EXIT_INTERRUPTED;
    case SIGTERM:
        return CLI_EXIT_TERMINATED;
    default:
        return CLI_EXIT_OK;
    }
}

const char *
cli_signal_name(void)
{
    return signal_seen == SIGTERM ? "SIGTERM" : "SIGINT";
}
