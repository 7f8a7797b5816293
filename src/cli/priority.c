#include "cli/priority.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/report.h"

/* The kernel's numbers; no header of the C library has them. */
enum {
    IOPRIO_WHO_PROCESS = 1,
    IOPRIO_CLASS_SHIFT = 13,
    IOPRIO_CLASS_BEST_EFFORT = 2,
    IOPRIO_CLASS_IDLE = 3,
    IOPRIO_LEVEL_USUAL = 4 /* of best-effort; 0 is served first, 7 last */
};

enum { NICE_MAX = 19 };

static int
set_nice(uint64_t nice)
{
    if (nice > NICE_MAX) {
        return cli_fail(CLI_EXIT_USAGE, "option '--nice' must be from 0 to %d", NICE_MAX);
    }
    if (setpriority(PRIO_PROCESS, 0, (int)nice) != 0) {
        return cli_fail(CLI_EXIT_FAILURE,
                        "option '--nice': from %d to %d: %s; without privileges it only goes up",
                        getpriority(PRIO_PROCESS, 0), (int)nice, strerror(errno));
    }
    return CLI_EXIT_OK;
}

static int
set_io_priority(const char *text)
{
    static const char best_effort[] = "best-effort";
    const size_t size = sizeof best_effort - 1;
    int class = IOPRIO_CLASS_BEST_EFFORT;
    int level = IOPRIO_LEVEL_USUAL;

    if (strcmp(text, "idle") == 0) {
        class = IOPRIO_CLASS_IDLE;
        level = 0;
    } else if (strncmp(text, best_effort, size) == 0 && text[size] == ':' &&
               text[size + 1] >= '0' && text[size + 1] <= '7' && text[size + 2] == '\0') {
        level = text[size + 1] - '0';
    } else if (strcmp(text, best_effort) != 0) {
        return cli_fail(CLI_EXIT_USAGE,
                        "option '--io-priority' is idle, best-effort, or best-effort:0 (first) to "
                        "best-effort:7 (last), not '%s'",
                        text);
    }
    if (syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, class << IOPRIO_CLASS_SHIFT | level) != 0) {
        return cli_fail(CLI_EXIT_FAILURE, "option '--io-priority': %s", strerror(errno));
    }
    return CLI_EXIT_OK;
}

int
cli_priority_apply(const cli_common *common)
{
    int code = CLI_EXIT_OK;

    if (common->nice.is_set) {
        code = set_nice(common->nice.value);
    }
    if (code == CLI_EXIT_OK && common->io_priority != NULL) {
        code = set_io_priority(common->io_priority);
    }
    return code;
}
