/* The page cache and one checksum: what passing every block across costs. */
#include "micro/floor.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef SINTER_XXHASH_DISPATCHES
#include <xxh_x86dispatch.h> /* its XXH3_64bits is the widest that the processor has */
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

/* The buffer begins at a page: 16 bytes behind one, where malloc puts it, the kernel's copies take
 * half as long again, because loads and stores then meet at the same low address bits. */
enum { READ_BYTES = 256 * 1024, WRITE_BYTES = 1024 * 1024, PAGE_BYTES = 4096, PATH_ROOM = 4096 };

typedef struct copy_state {
    uint8_t *buffer;
    size_t buffered;
    int out;
    uint64_t left; /* bytes still to be written */
    uint64_t hash; /* keeps the checksums from being left out */
} copy_state;

static void
write_buffer(copy_state *state)
{
    const uint64_t size = state->buffered < state->left ? state->buffered : state->left;
    uint64_t done = 0;

    while (done < size) {
        const ssize_t put = write(state->out, state->buffer + done, size - done);

        if (put <= 0) {
            floor_fail("write failed");
        }
        done += (uint64_t)put;
    }
    state->left -= size;
    state->buffered = 0;
}

static void
copy_file(copy_state *state, const char *path)
{
    const int in = open(path, O_RDONLY | O_CLOEXEC);
    off_t offset = 0;
    ssize_t got = 0;

    if (in < 0) {
        floor_fail("an input can't be opened");
    }
    while ((got = pread(in, state->buffer + state->buffered, READ_BYTES, offset)) > 0) {
        state->hash ^= XXH3_64bits(state->buffer + state->buffered, (size_t)got);
        state->buffered += (size_t)got;
        offset += got;
        if (state->buffered > WRITE_BYTES - READ_BYTES) {
            write_buffer(state);
        }
    }
    if (got < 0) {
        floor_fail("read failed");
    }
    close(in);
}

static void
copy_files(copy_state *state, const char *in)
{
    DIR *listing = opendir(in);
    const struct dirent *entry = NULL;
    char path[PATH_ROOM];

    if (listing == NULL) {
        floor_fail("no input folder");
    }
    while ((entry = readdir(listing)) != NULL) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "%s/%s", in, entry->d_name);
            copy_file(state, path);
        }
    }
    closedir(listing);
    write_buffer(state);
}

double
floor_copy(const char *in, const char *out, uint64_t out_bytes)
{
    copy_state state = {.buffer = aligned_alloc(PAGE_BYTES, WRITE_BYTES), .left = out_bytes};
    char path[PATH_ROOM];
    bench_clock before;
    bench_clock after;

    (void)snprintf(path, sizeof path, "%s/copy", out);
    if (state.buffer == NULL || mkdir(out, 0755) != 0) {
        floor_fail("no output folder");
    }
    bench_clock_read(&before);
    state.out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (state.out < 0) {
        floor_fail("no output file");
    }
    copy_files(&state, in);
    if (fsync(state.out) != 0 || close(state.out) != 0) {
        floor_fail("the output can't be synced");
    }
    bench_clock_read(&after);
    free(state.buffer);
    if (state.left > 0 || state.hash == 0) {
        floor_fail("fewer bytes came in than should go out");
    }
    return after.user_s + after.system_s - before.user_s - before.system_s;
}
