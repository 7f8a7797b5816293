/*
 * The crash test: a child writes and commits, is killed with signal 9, and the next child has to
 * find every commit that was acknowledged, all of its rows, and nothing that no catalog names.
 *
 *   crash --kills 500 --seed 7 [--dir DIR] [--least 50] [--keep yes]
 *
 * Kills are aimed at phases in turn: the child says on a board in shared memory which calls of
 * the io are under way, and what stands there after the kill is what counts. Each fifth kill
 * comes at any time, the opening included.
 */
#include "soak/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 120, COMMAND_ROOM = 512, DIR_ROOM = 300, TEXT_ROOM = 32 };

typedef struct options {
    uint64_t kills;
    uint64_t seed;
    uint64_t least; /* kills in each phase */
    const char *dir;
    bool keep;
} options;

typedef struct parent {
    options options;
    soak_random random;
    crash_board *board;
    int board_fd;
    uint64_t acknowledged[CRASH_BUCKETS]; /* moment of the last commit that was told of */
    uint64_t kills[CRASH_PHASE_COUNT];
    uint64_t commits;
    uint64_t compactions;
    uint64_t garbage;
    uint64_t reopened; /* buckets found whole */
    bool is_ready;     /* the child has told so */
} parent;

static const char *
phase_text(int phase)
{
    static const char *const texts[] = {
#define CRASH_PHASE_TEXT(name, text) [CRASH_##name] = (text),
        CRASH_PHASE_MAP(CRASH_PHASE_TEXT)
#undef CRASH_PHASE_TEXT
    };

    return texts[phase];
}

/* ---- the child ---- */

typedef struct running {
    pid_t pid;
    int pipe;
} running;

static _Noreturn void
become_child(const parent *self, uint64_t round, int pipe_fd, bool only_checks)
{
    char seed[TEXT_ROOM];
    char number[TEXT_ROOM];
    char pipe_text[TEXT_ROOM];
    char board_text[TEXT_ROOM];

    (void)snprintf(seed, sizeof seed, "%" PRIu64, self->options.seed);
    (void)snprintf(number, sizeof number, "%" PRIu64, round);
    (void)snprintf(pipe_text, sizeof pipe_text, "%d", pipe_fd);
    (void)snprintf(board_text, sizeof board_text, "%d", self->board_fd);
    (void)execl("/proc/self/exe", "crash", "child", self->options.dir, seed, number, pipe_text,
                board_text, only_checks ? "check" : "write", (char *)NULL);
    _exit(127);
}

static running
child_start(parent *self, uint64_t round, crash_phase target, bool only_checks)
{
    running child = {0, -1};
    int ends[2];

    for (int i = 0; i < CRASH_PHASE_COUNT; i++) {
        atomic_store(&self->board->active[i], 0);
        atomic_store(&self->board->entered[i], 0);
    }
    atomic_store(&self->board->target, (int)target);
    self->is_ready = false;
    if (pipe(ends) != 0) {
        soak_wrong("no pipe: %s", strerror(errno));
    }
    child.pid = fork();
    if (child.pid == 0) {
        (void)close(ends[0]);
        become_child(self, round, ends[1], only_checks);
    }
    (void)close(ends[1]);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    child.pipe = ends[0];
    if (child.pid < 0) {
        soak_wrong("no process: %s", strerror(errno));
    }
    return child;
}

static void
hear(parent *self, const crash_message *message)
{
    uint64_t *acknowledged = &self->acknowledged[message->bucket % CRASH_BUCKETS];

    switch ((crash_word)message->word) {
    case CRASH_OPENED:
        if (message->number < *acknowledged) {
            soak_wrong("bucket %" PRIu32 " is at moment %" PRIu64 "; %" PRIu64 " was acknowledged",
                       message->bucket, message->number, *acknowledged);
        }
        *acknowledged = message->number;
        self->reopened++;
        break;
    case CRASH_COMMITTED:
        *acknowledged = message->number;
        self->commits++;
        break;
    case CRASH_COMPACTED:
        self->compactions += message->number;
        break;
    case CRASH_GARBAGE:
        self->garbage += message->number;
        break;
    case CRASH_READY:
        self->is_ready = true;
        break;
    }
}

/* Hear all that has come; false: the other end is closed. */
static bool
hear_all(parent *self, const running *child)
{
    crash_message message;
    ssize_t got = 0;

    while ((got = read(child->pipe, &message, sizeof message)) == (ssize_t)sizeof message) {
        hear(self, &message);
    }
    return got != 0;
}

/* Wait a moment for the child to go on; it ends only by being killed. */
static void
await(parent *self, const running *child, double *deadline, uint32_t us)
{
    if (!hear_all(self, child)) {
        soak_wrong("the child ended by itself");
    }
    if (soak_seconds() > *deadline) {
        (void)kill(child->pid, SIGKILL);
        soak_wrong("the child does nothing for %d s", PATIENCE_S);
    }
    if (us > 0) {
        soak_sleep_us(us);
    }
}

/* ---- kills ---- */

static void
aim(parent *self, const running *child, crash_phase target)
{
    double deadline = soak_seconds() + PATIENCE_S;
    const uint32_t calls = 1 + soak_random_below(&self->random, target == CRASH_SWAP ? 8 : 60);
    unsigned base = 0;

    while (!self->is_ready) {
        await(self, child, &deadline, 200);
    }
    base = atomic_load(&self->board->entered[target]);
    while (atomic_load(&self->board->entered[target]) - base < calls) {
        await(self, child, &deadline, 50);
    }
    while (atomic_load(&self->board->active[target]) == 0) {
        await(self, child, &deadline, 0);
    }
    if (soak_random_one_in(&self->random, 2)) {
        soak_sleep_us(soak_random_below(&self->random, 100));
    }
}

/* At any time: half of these while the child opens what the last one left. */
static void
wait_somehow(parent *self, const running *child)
{
    double deadline = soak_seconds() + PATIENCE_S;

    if (soak_random_one_in(&self->random, 2)) {
        while (atomic_load(&self->board->active[CRASH_RECOVERY]) == 0 && !self->is_ready) {
            await(self, child, &deadline, 50);
        }
        soak_sleep_us(soak_random_below(&self->random, 5000));
    } else {
        soak_sleep_us(soak_random_below(&self->random, 200000));
    }
}

static crash_phase
phase_of_death(const crash_board *board, crash_phase target)
{
    static const crash_phase order[] = {CRASH_RECOVERY, CRASH_SWAP, CRASH_PUBLISH, CRASH_FLUSH,
                                        CRASH_MERGE};

    if (target != CRASH_BETWEEN && atomic_load(&board->active[target]) > 0) {
        return target;
    }
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (atomic_load(&board->active[order[i]]) > 0) {
            return order[i];
        }
    }
    return CRASH_BETWEEN;
}

static void
kill_one(parent *self, uint64_t round)
{
    const bool is_aimed = round % 5 != 4;
    const crash_phase target = is_aimed ? (crash_phase)(round % 5) : CRASH_BETWEEN;
    const running child = child_start(self, round, target, false);
    int status = 0;

    if (is_aimed) {
        aim(self, &child, target);
    } else {
        wait_somehow(self, &child);
    }
    (void)kill(child.pid, SIGKILL);
    if (waitpid(child.pid, &status, 0) != child.pid || !WIFSIGNALED(status)) {
        soak_wrong("the child ended by itself, with %d", WEXITSTATUS(status));
    }
    self->kills[phase_of_death(self->board, target)]++;
    (void)hear_all(self, &child);
    (void)close(child.pipe);
}

static void
check_only(parent *self, uint64_t round)
{
    const running child = child_start(self, round, CRASH_BETWEEN, true);
    double deadline = soak_seconds() + PATIENCE_S;
    int status = 0;

    while (hear_all(self, &child) && soak_seconds() < deadline) {
        soak_sleep_us(1000);
    }
    if (waitpid(child.pid, &status, 0) != child.pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0 || !self->is_ready) {
        soak_wrong("the last check failed");
    }
    (void)close(child.pipe);
}

static int
run(const options *asked)
{
    parent self = {.options = *asked, .random = {asked->seed}};
    const double began = soak_seconds();
    bool is_enough = true;

    self.board_fd = memfd_create("board", 0);
    if (self.board_fd < 0 || ftruncate(self.board_fd, sizeof *self.board) != 0) {
        soak_wrong("no shared memory: %s", strerror(errno));
    }
    self.board =
        mmap(NULL, sizeof *self.board, PROT_READ | PROT_WRITE, MAP_SHARED, self.board_fd, 0);
    if (self.board == MAP_FAILED) {
        soak_wrong("no shared memory: %s", strerror(errno));
    }
    for (uint64_t round = 0; round < asked->kills; round++) {
        kill_one(&self, round);
        if ((round + 1) % 50 == 0) {
            printf("%" PRIu64 " kills, %" PRIu64 " commits, %.0f s\n", round + 1, self.commits,
                   soak_seconds() - began);
        }
    }
    check_only(&self, asked->kills);
    for (int i = 0; i < CRASH_PHASE_COUNT; i++) {
        printf("  %8" PRIu64 "  kills in %s\n", self.kills[i], phase_text(i));
        is_enough &= i >= CRASH_RECOVERY || self.kills[i] >= asked->least;
    }
    printf("  %8" PRIu64 "  acknowledged commits, all found again\n"
           "  %8" PRIu64 "  of them with compactions\n"
           "  %8" PRIu64 "  buckets reopened and found whole\n"
           "  %8" PRIu64 "  files of dead processes removed, nothing left of them\n",
           self.commits, self.compactions, self.reopened, self.garbage);
    (void)munmap(self.board, sizeof *self.board);
    (void)close(self.board_fd);
    if (!is_enough || self.commits == 0 || self.compactions == 0 || self.garbage == 0) {
        fprintf(stderr, "a phase was not hit %" PRIu64 " times, or something never happened\n",
                asked->least);
        return 1;
    }
    return 0;
}

/* ---- the command line ---- */

static int
run_child(char **argv)
{
    const int board_fd = (int)strtol(argv[6], NULL, 10);
    crash_call call = {.dir = argv[2],
                       .pipe = (int)strtol(argv[5], NULL, 10),
                       .only_checks = strcmp(argv[7], "check") == 0};

    if (!soak_parse_number(argv[3], UINT64_MAX, &call.seed) ||
        !soak_parse_number(argv[4], UINT64_MAX, &call.round)) {
        return 2;
    }
    soak_command_set("as the parent says");
    call.board = mmap(NULL, sizeof *call.board, PROT_READ | PROT_WRITE, MAP_SHARED, board_fd, 0);
    return call.board == MAP_FAILED ? 2 : crash_child_run(&call);
}

static bool
parse_one(const char *name, const char *value, options *out)
{
    if (strcmp(name, "--kills") == 0) {
        return soak_parse_number(value, 1000000, &out->kills) && out->kills > 0;
    }
    if (strcmp(name, "--seed") == 0) {
        return soak_parse_number(value, UINT64_MAX, &out->seed);
    }
    if (strcmp(name, "--least") == 0) {
        return soak_parse_number(value, 1000000, &out->least);
    }
    if (strcmp(name, "--dir") == 0) {
        out->dir = value;
        return true;
    }
    out->keep = strcmp(value, "yes") == 0;
    return strcmp(name, "--keep") == 0;
}

int
main(int argc, char **argv)
{
    options asked = {.kills = 500, .seed = 1, .least = UINT64_MAX, .dir = getenv("TMPDIR")};
    char dir[DIR_ROOM];
    char command[COMMAND_ROOM];
    int result = 0;

    if (argc == 8 && strcmp(argv[1], "child") == 0) {
        return run_child(argv);
    }
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 >= argc || !parse_one(argv[i], argv[i + 1], &asked)) {
            fprintf(stderr, "%s: bad argument %s\n", argv[0], argv[i]);
            return 2;
        }
    }
    asked.least = asked.least == UINT64_MAX ? asked.kills / 10 : asked.least;
    (void)snprintf(command, sizeof command, "%s --kills %" PRIu64 " --seed %" PRIu64, argv[0],
                   asked.kills, asked.seed);
    soak_command_set(command);
    (void)snprintf(dir, sizeof dir, "%s/sinter-crash-XXXXXX",
                   asked.dir == NULL ? "/tmp" : asked.dir);
    if (mkdtemp(dir) == NULL) {
        perror(dir);
        return 2;
    }
    asked.dir = dir;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s (in %s)\n", command, dir);
    result = run(&asked);
    if (result == 0 && !asked.keep && !soak_remove_tree(dir)) {
        fprintf(stderr, "%s could not be removed\n", dir);
        return 1;
    }
    return result;
}
