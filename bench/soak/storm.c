#include "soak/storm.h"

#include <stdatomic.h>
#include <stdlib.h>

/* One in so many calls fails. A compaction makes some hundreds of each. */
enum { ALLOCATIONS = 10000, READS = 4000, WRITES = 500, TEARS = 100, NAMES = 500, SWAPS = 40 };

static uint64_t storm_seed;
static atomic_uint_least64_t thread_count;
static atomic_uint_least64_t hits[SOAK_FAULT_COUNT];
static atomic_bool disk_is_full;
static atomic_bool power_is_off;
static atomic_bool all_fails;
static _Thread_local soak_random thread_random;
static _Thread_local bool thread_is_known;
static _Thread_local unsigned calm_depth;

void
soak_storm_begin(uint64_t seed)
{
    storm_seed = seed;
    atomic_store(&disk_is_full, false);
    soak_storm_power_on();
}

void
soak_calm_begin(void)
{
    calm_depth++;
}

void
soak_calm_end(void)
{
    calm_depth--;
}

static bool
strikes(uint32_t one_in)
{
    if (calm_depth > 0) {
        return false;
    }
    if (!thread_is_known) {
        thread_random.state = soak_mix(storm_seed, atomic_fetch_add(&thread_count, 1));
        thread_is_known = true;
    }
    return soak_random_one_in(&thread_random, one_in);
}

void
soak_storm_count(soak_fault fault)
{
    atomic_fetch_add_explicit(&hits[fault], 1, memory_order_relaxed);
}

uint64_t
soak_storm_hits(soak_fault fault)
{
    return atomic_load_explicit(&hits[fault], memory_order_relaxed);
}

const char *
soak_fault_text(soak_fault fault)
{
    static const char *const texts[] = {
#define SOAK_FAULT_TEXT(name, text) [SOAK_FAULT_##name] = (text),
        SOAK_FAULT_MAP(SOAK_FAULT_TEXT)
#undef SOAK_FAULT_TEXT
    };

    return texts[fault];
}

/* ---- memory ---- */

static bool
refuses(void)
{
    if (!strikes(ALLOCATIONS)) {
        return false;
    }
    soak_storm_count(SOAK_FAULT_ALLOCATION);
    return true;
}

static void *
storm_allocate(void *ctx, size_t size)
{
    (void)ctx;
    return refuses() ? NULL : malloc(size);
}

static void *
storm_resize(void *ctx, void *block, size_t size)
{
    (void)ctx;
    return refuses() ? NULL : realloc(block, size);
}

static void
storm_release(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

sinter_allocator
soak_storm_allocator(void)
{
    return (sinter_allocator){.struct_size = (uint32_t)sizeof(sinter_allocator),
                              .allocate = storm_allocate,
                              .resize = storm_resize,
                              .release = storm_release};
}

/* ---- files ---- */

static soak_verdict
struck(soak_fault fault, soak_verdict verdict)
{
    soak_storm_count(fault);
    return verdict;
}

static soak_verdict
judge(uint32_t rate, bool writes)
{
    if (!strikes(rate)) {
        return SOAK_PASS;
    }
    return writes && soak_random_one_in(&thread_random, 2)
               ? struck(SOAK_FAULT_NO_SPACE, SOAK_FAIL_NO_SPACE)
               : struck(SOAK_FAULT_EIO, SOAK_FAIL_EIO);
}

static soak_verdict
storm_before(void *ctx, soak_op op)
{
    (void)ctx;
    if (atomic_load_explicit(&all_fails, memory_order_relaxed)) {
        return SOAK_FAIL_EIO;
    }
    switch (op) {
    case SOAK_OP_APPEND:
        if (strikes(TEARS)) {
            return struck(SOAK_FAULT_TORN_WRITE, SOAK_FAIL_TORN);
        }
        /* fall through */
    case SOAK_OP_CREATE:
    case SOAK_OP_PUBLISH:
        if (calm_depth == 0 && atomic_load_explicit(&disk_is_full, memory_order_relaxed)) {
            return struck(SOAK_FAULT_NO_SPACE, SOAK_FAIL_NO_SPACE);
        }
        return judge(WRITES, true);
    case SOAK_OP_SYNC:
    case SOAK_OP_SYNC_DIR:
        return judge(NAMES, true);
    case SOAK_OP_REPLACE:
        return judge(SWAPS, true);
    case SOAK_OP_READ:
    case SOAK_OP_READ_BEGIN:
    case SOAK_OP_READ_END:
    case SOAK_OP_SIZE:
        return judge(READS, false);
    default:
        return judge(NAMES, false);
    }
}

sinter_io *
soak_storm_io_create(sinter_io *base)
{
    const soak_hook hook = {.before = storm_before};

    return soak_hook_io_create(base, &hook);
}

void
soak_storm_disk_full(bool is_full)
{
    if (is_full) {
        soak_storm_count(SOAK_FAULT_DISK_FULL);
    }
    atomic_store(&disk_is_full, is_full);
}

void
soak_storm_power_off(bool fails_all)
{
    soak_storm_count(SOAK_FAULT_POWER_LOSS);
    atomic_store(&power_is_off, true);
    atomic_store(&all_fails, fails_all);
}

void
soak_storm_power_on(void)
{
    atomic_store(&all_fails, false);
    atomic_store(&power_is_off, false);
}

bool
soak_storm_is_off(void)
{
    return atomic_load(&power_is_off);
}

bool
soak_calm_ok(sinter_status st, const char *what, const sinter_error *err)
{
    if (st != SINTER_OK && !soak_storm_is_off()) {
        soak_require(st, what, err);
    }
    return st == SINTER_OK;
}
