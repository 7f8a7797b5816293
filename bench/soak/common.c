#include "soak/common.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char *repeat_command = "";

uint64_t
soak_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a + (b + 1) * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t
soak_random_next(soak_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    return soak_mix(random->state, 0);
}

uint32_t
soak_random_below(soak_random *random, uint32_t limit)
{
    return (uint32_t)(soak_random_next(random) % limit);
}

bool
soak_random_one_in(soak_random *random, uint32_t n)
{
    return soak_random_below(random, n) == 0;
}

void
soak_command_set(const char *command)
{
    repeat_command = command;
}

void
soak_wrong(const char *format, ...)
{
    va_list arguments;

    fflush(stdout);
    va_start(arguments, format);
    flockfile(stderr);
    fprintf(stderr, "WRONG: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nrepeat with: %s\n", repeat_command);
    funlockfile(stderr);
    va_end(arguments);
    _exit(1); /* other threads are at work still: nothing can be taken down */
}

void
soak_require(sinter_status st, const char *what, const sinter_error *err)
{
    if (st != SINTER_OK) {
        soak_wrong("%s: %s: %s (%s; %s:%d)", what, sinter_status_name(st), err->text, err->file,
                   err->origin_file == NULL ? "" : err->origin_file, (int)err->origin_line);
    }
}

void *
soak_allocate(size_t size)
{
    void *block = calloc(1, size == 0 ? 1 : size);

    if (block == NULL) {
        soak_wrong("the program itself is out of memory");
    }
    return block;
}

void *
soak_resize(void *block, size_t count, size_t size)
{
    void *grown = reallocarray(block, count == 0 ? 1 : count, size);

    if (grown == NULL) {
        soak_wrong("the program itself is out of memory");
    }
    return grown;
}

double
soak_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void
soak_sleep_us(uint32_t us)
{
    const struct timespec pause = {us / 1000000, (long)(us % 1000000) * 1000};

    (void)nanosleep(&pause, NULL);
}

static int
remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

bool
soak_remove_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0;
}

bool
soak_parse_number(const char *text, uint64_t max, uint64_t *out)
{
    char *end = NULL;
    const unsigned long long value = strtoull(text, &end, 10);

    *out = value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value <= max;
}
