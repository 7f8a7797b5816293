#include "macro/workload.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Tags that keep the uses of the hash apart; per-run tags add 16 * run. */
enum {
    TAG_PLACE = 1,
    TAG_DELETE = 2,
    TAG_VALUE = 3,
    TAG_KEY = 4,
    TAG_KEY_TAIL = 5,
    TAG_ZIPF = 6,
    TAG_SIZE = 7
};

/* Of mixed keys: how ids are spread over the columns, and how long what fills these may be. */
enum {
    MIXED_GROUP_IDS = 1000, /* share the first column */
    MIXED_NUMBER_IDS = 10,  /* and the second */
    MIXED_FIRST_FILL = 120,
    MIXED_LAST_FILL = 71
};

enum { DELETE_ONE_IN = 50, ZIPF_HOT_DIVISOR = 500, GROUPS_PER_WORD = 10, GROUP_BITS = 6 };

static const uint64_t GOLDEN = UINT64_C(0x9E3779B97F4A7C15);

/* What a workload with other numbers may have. */
enum { RUNS_MAX = 1024, IDS_MAX = 1000000000, DUP_MAX = 95, DUP_DEFAULT = 20, ALL_PERCENT = 100 };

/* Fields: name, seed, ids, stride, runs, key, value, placement, deletes, shape; then those of the
 * placement "shared". */
static const bench_workload WORKLOADS[] = {
    {"W1", 1, 5000000, 0, 8, 16, 100, BENCH_PLACEMENT_OVERLAP, true, BENCH_KEYS_SPREAD, 0, 0, 0},
    {"W2", 2, 500000, 0, 8, 16, 1024, BENCH_PLACEMENT_OVERLAP, true, BENCH_KEYS_SPREAD, 0, 0, 0},
    {"W3", 3, 20000000, 0, 8, 8, 16, BENCH_PLACEMENT_OVERLAP, true, BENCH_KEYS_SPREAD, 0, 0, 0},
    {"W4", 4, 6000000, 0, 8, 16, 100, BENCH_PLACEMENT_DISJOINT, false, BENCH_KEYS_SPREAD, 0, 0, 0},
    {"W5", 5, 5000000, 0, 64, 16, 100, BENCH_PLACEMENT_OVERLAP, true, BENCH_KEYS_SPREAD, 0, 0, 0},
    {"W6", 6, 5000000, 0, 8, 16, 100, BENCH_PLACEMENT_ZIPF, true, BENCH_KEYS_SPREAD, 0, 0, 0},
    {"W7", 7, 2000000, 0, 8, 200, 65536, BENCH_PLACEMENT_OVERLAP, true, BENCH_KEYS_MIXED, 0, 0, 0},
    {"W1T", 1, 5000000, 0, 8, 16, 100, BENCH_PLACEMENT_OVERLAP, true, BENCH_KEYS_TIED, 0, 0, 0},
};

size_t
bench_workload_count(void)
{
    return sizeof WORKLOADS / sizeof WORKLOADS[0];
}

const char *
bench_workload_name(size_t index)
{
    return index < bench_workload_count() ? WORKLOADS[index].name : NULL;
}

static const bench_workload *
find_workload(const char *name, size_t size)
{
    for (size_t i = 0; i < bench_workload_count(); i++) {
        if (strlen(WORKLOADS[i].name) == size && memcmp(WORKLOADS[i].name, name, size) == 0) {
            return &WORKLOADS[i];
        }
    }
    return NULL;
}

/* Does `text` begin with `field` and "="? Then its number, and in `rest` what follows it. */
static bool
read_field(const char *text, const char *field, uint64_t *out, const char **rest)
{
    const size_t size = strlen(field);
    char *end = NULL;

    if (strncmp(text, field, size) != 0 || text[size] != '=') {
        return false;
    }
    *out = strtoull(text + size + 1, &end, 10);
    *rest = end;
    return end > text + size + 1;
}

static bool
in_range(uint64_t value, uint64_t least, uint64_t most)
{
    return value >= least && value <= most;
}

/* One field; with it the placement becomes "shared" where the field is about placement. */
static bool
set_field(bench_workload *out, const char *text, const char **rest)
{
    uint64_t value = 0;

    if (read_field(text, "u", &value, rest)) {
        out->id_count = value;
        return in_range(value, 1, IDS_MAX);
    }
    if (read_field(text, "runs", &value, rest)) {
        out->run_count = (uint32_t)value;
        return in_range(value, 2, RUNS_MAX);
    }
    if (read_field(text, "value", &value, rest)) {
        out->value_bytes = (uint32_t)value;
        return value <= BENCH_VALUE_BYTES_MAX && out->shape != BENCH_KEYS_MIXED;
    }
    if (out->placement != BENCH_PLACEMENT_SHARED) {
        out->placement = BENCH_PLACEMENT_SHARED;
        out->dup = DUP_DEFAULT;
        out->overlap = ALL_PERCENT;
    }
    if (read_field(text, "dup", &value, rest)) {
        out->dup = (uint32_t)value;
        return value <= DUP_MAX;
    }
    if (read_field(text, "overlap", &value, rest)) {
        out->overlap = (uint32_t)value;
        return value <= ALL_PERCENT;
    }
    return false;
}

/* What follows the name: ":", then fields with commas between them. */
static bool
set_fields(bench_workload *out, const char *text)
{
    while (*text != '\0') {
        if (!set_field(out, text + 1, &text) || (*text != ',' && *text != '\0')) {
            return false;
        }
    }
    return true;
}

bool
bench_workload_init(bench_workload *out, const char *name, uint64_t div)
{
    const size_t size = strcspn(name, ":");
    const bench_workload *found = find_workload(name, size);

    if (found == NULL || div == 0) {
        return false;
    }
    *out = *found;
    if (!set_fields(out, name + size)) {
        return false;
    }
    out->name = name;
    out->id_count /= div;
    if (out->id_count < out->run_count) {
        return false; /* a segment of "disjoint" would be empty */
    }
    out->key_stride = UINT64_MAX / out->id_count;
    out->more_versions = (out->dup << 16) / (ALL_PERCENT - out->dup);
    return true;
}

static uint64_t
mix(uint64_t x)
{
    uint64_t z = x + GOLDEN;

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t
hash_of(const bench_workload *workload, uint64_t id, uint64_t tag)
{
    return mix(mix(mix(workload->seed) ^ id) ^ tag);
}

static uint64_t
run_tag(uint64_t tag, uint32_t run)
{
    return tag + UINT64_C(16) * run;
}

static void
put_be64(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        out[i] = (uint8_t)(value >> (56 - 8 * i));
    }
}

/* Bits 32 and 33 both 0: one id in four has a second version. */
static bool
has_second_version(uint64_t hash)
{
    return ((hash >> 32) & 3) == 0;
}

static bool
is_member_overlap(const bench_workload *workload, uint64_t id, uint32_t run)
{
    const uint64_t hash = hash_of(workload, id, TAG_PLACE);
    const uint64_t runs = workload->run_count;
    const uint64_t home = hash % runs;

    if (run == home) {
        return true;
    }
    return has_second_version(hash) && run == (home + 1 + (hash >> 40) % (runs - 1)) % runs;
}

static bool
is_member_disjoint(const bench_workload *workload, uint64_t id, uint32_t run)
{
    const uint64_t last = workload->run_count - 1;
    const uint64_t segment_ids = workload->id_count / workload->run_count;
    const uint64_t segment = id / segment_ids < last ? id / segment_ids : last;
    const uint64_t offset = id - segment * segment_ids;
    uint64_t hash = 0;

    if (segment == last || offset < segment_ids - segment_ids / 50) {
        return run == segment;
    }
    hash = hash_of(workload, id, TAG_PLACE);
    if (run == segment + (hash & 1)) {
        return true;
    }
    return run == segment + 1 - (hash & 1) && has_second_version(hash);
}

static bool
is_member_zipf(const bench_workload *workload, uint64_t id, uint32_t run)
{
    uint64_t rank = 0;

    if (run == 0) {
        return true;
    }
    rank = 1 + (id * UINT64_C(2654435761)) % workload->id_count;
    return hash_of(workload, id, run_tag(TAG_ZIPF, run)) % rank <
           workload->id_count / ZIPF_HOT_DIVISOR;
}

static uint64_t
version_count(const bench_workload *workload, uint64_t hash)
{
    const uint64_t more = workload->more_versions;
    const uint64_t count = 1 + (more >> 16) + ((hash >> 48) < (more & 0xFFFF) ? 1 : 0);

    return count < workload->run_count ? count : workload->run_count;
}

/* Is the id in that part of its segment which belongs to one run? Then that run. */
static bool
find_owner(const bench_workload *workload, uint64_t id, uint64_t *run_out)
{
    const uint64_t last = workload->run_count - 1;
    const uint64_t segment_ids = workload->id_count / workload->run_count;
    const uint64_t segment = id / segment_ids < last ? id / segment_ids : last;

    *run_out = segment;
    return id - segment * segment_ids <
           segment_ids * (ALL_PERCENT - workload->overlap) / ALL_PERCENT;
}

static bool
is_member_shared(const bench_workload *workload, uint64_t id, uint32_t run)
{
    const uint64_t runs = workload->run_count;
    uint64_t hash = 0;
    uint64_t home = 0;

    if (workload->overlap < ALL_PERCENT && find_owner(workload, id, &home)) {
        return run == home;
    }
    hash = hash_of(workload, id, TAG_PLACE);
    home = (hash & UINT32_MAX) * runs >> 32;
    return (run >= home ? run - home : run + runs - home) < version_count(workload, hash);
}

static bool
is_member(const bench_workload *workload, uint64_t id, uint32_t run)
{
    switch (workload->placement) {
    case BENCH_PLACEMENT_DISJOINT:
        return is_member_disjoint(workload, id, run);
    case BENCH_PLACEMENT_ZIPF:
        return is_member_zipf(workload, id, run);
    case BENCH_PLACEMENT_SHARED:
        return is_member_shared(workload, id, run);
    case BENCH_PLACEMENT_OVERLAP:
        break;
    }
    return is_member_overlap(workload, id, run);
}

static bool
is_delete(const bench_workload *workload, uint64_t id, uint32_t run)
{
    return workload->has_deletes &&
           hash_of(workload, id, run_tag(TAG_DELETE, run)) % DELETE_ONE_IN == 0;
}

/* Printable bytes that follow from `state`. */
static void
fill(uint64_t state, uint8_t *out, uint32_t size)
{
    uint32_t done = 0;

    while (done < size) {
        uint64_t word = mix(state);

        state += GOLDEN;
        for (int i = 0; i < GROUPS_PER_WORD && done < size; i++) {
            out[done++] = (uint8_t)(0x20 + (word & 63));
            word >>= GROUP_BITS;
        }
    }
}

/* 0..most, short ones more often: the third power of a uniform number. */
static uint32_t
skewed(uint64_t hash, uint32_t most)
{
    const uint64_t u = hash & 0xFFFF;

    return (uint32_t)((most + 1) * (u * u * u) >> 48);
}

/* (STRING, INT, STRING) as sinter encodes it: 8 to 200 bytes. Two digits of the first string and
 * one of the last order the ids, what fills the strings doesn't. */
static uint32_t
make_mixed_key(const bench_workload *workload, uint64_t id, uint8_t *out)
{
    const uint64_t group = id / MIXED_GROUP_IDS;
    const uint32_t number = (uint32_t)(id % MIXED_GROUP_IDS / MIXED_NUMBER_IDS);
    const uint32_t digit = (uint32_t)(id % MIXED_NUMBER_IDS);
    const uint64_t first = hash_of(workload, group, TAG_KEY);
    const uint64_t last = hash_of(workload, id, TAG_KEY_TAIL);
    const uint32_t first_size = skewed(first, MIXED_FIRST_FILL);
    const uint32_t last_size = digit == 0 ? 0 : skewed(last, MIXED_LAST_FILL);
    uint32_t size = 0;

    assert(group < 64 * 64);
    out[size++] = (uint8_t)(0x20 + group / 64);
    out[size++] = (uint8_t)(0x20 + group % 64);
    fill(first, out + size, first_size);
    size += first_size;
    out[size++] = 0; /* the end of a string that is not the last column */
    out[size++] = 1;
    out[size++] = number < 50 ? 0x7F : 0x80; /* number - 50, its sign flipped, big-endian */
    out[size++] = number < 50 ? 0xFF : 0;
    out[size++] = number < 50 ? 0xFF : 0;
    out[size++] = (uint8_t)(number - 50);
    if (digit > 0) {
        out[size++] = (uint8_t)('0' + digit);
        fill(last, out + size, last_size);
        size += last_size;
    }
    assert(size <= workload->key_bytes);
    return size;
}

static uint32_t
make_key(const bench_workload *workload, uint64_t id, uint8_t *out)
{
    const uint64_t stride = workload->key_stride;
    const uint64_t tail = hash_of(workload, id, TAG_KEY_TAIL);

    if (workload->shape == BENCH_KEYS_MIXED) {
        return make_mixed_key(workload, id, out);
    }
    assert(workload->key_bytes == 8 || workload->key_bytes == 16);
    if (workload->shape == BENCH_KEYS_TIED) {
        put_be64(out, (id >> 6) * (stride << 6));
        put_be64(out + 8, (id & 63) << 58 | tail >> 6);
        return workload->key_bytes;
    }
    put_be64(out, id * stride + hash_of(workload, id, TAG_KEY) % stride);
    if (workload->key_bytes == 16) {
        put_be64(out + 8, tail);
    }
    return workload->key_bytes;
}

/* Most mixed values have at most 64 bytes, one in a thousand more than 8 KiB. */
static uint32_t
value_size(const bench_workload *workload, uint64_t id, uint32_t run)
{
    static const struct {
        uint32_t permille, least, span;
    } classes[] = {
        {600, 0, 65}, {900, 64, 193}, {990, 256, 769}, {999, 1024, 7169}, {1000, 8192, 57345}};
    const uint64_t hash = hash_of(workload, id, run_tag(TAG_SIZE, run));
    size_t i = 0;

    if (workload->shape != BENCH_KEYS_MIXED) {
        return workload->value_bytes;
    }
    while (hash % 1000 >= classes[i].permille) {
        i++;
    }
    return classes[i].least + (uint32_t)((hash >> 32) % classes[i].span);
}

/* The second half repeats the first, so that every codec finds something. */
static uint32_t
make_value(const bench_workload *workload, uint64_t id, uint32_t run, uint8_t *out)
{
    const uint32_t size = value_size(workload, id, run);
    const uint32_t half = size - size / 2;

    assert(size <= BENCH_VALUE_BYTES_MAX);
    fill(hash_of(workload, id, run_tag(TAG_VALUE, run)), out, half);
    memcpy(out + half, out, size - half);
    return size;
}

void
bench_cursor_init(bench_cursor *cursor, const bench_workload *workload, uint32_t run)
{
    assert(run < workload->run_count || run == BENCH_LIVE);
    memset(cursor, 0, sizeof *cursor);
    cursor->workload = workload;
    cursor->run = run;
}

/* The newest run that holds the id; every id has one. */
static uint32_t
newest_run(const bench_workload *workload, uint64_t id)
{
    uint32_t run = workload->run_count - 1;

    while (!is_member(workload, id, run)) {
        assert(run > 0);
        run--;
    }
    return run;
}

bool
bench_cursor_next(bench_cursor *cursor, bench_record *out)
{
    const bench_workload *workload = cursor->workload;

    for (; cursor->next_id < workload->id_count; cursor->next_id++) {
        const uint64_t id = cursor->next_id;
        const bool live = cursor->run == BENCH_LIVE;
        const uint32_t run = live ? newest_run(workload, id) : cursor->run;
        bool dead = false;

        if (!live && !is_member(workload, id, run)) {
            continue;
        }
        dead = is_delete(workload, id, run);
        if (live && dead) {
            continue;
        }
        out->key = cursor->key;
        out->key_bytes = make_key(workload, id, cursor->key);
        out->value = cursor->value;
        out->value_bytes = dead ? 0 : make_value(workload, id, run, cursor->value);
        out->is_delete = dead;
        cursor->next_id++;
        return true;
    }
    return false;
}

uint64_t
bench_fnv(uint64_t hash, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * UINT64_C(0x100000001B3);
    }
    return hash;
}
