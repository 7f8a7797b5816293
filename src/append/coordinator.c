/*
 * The state is a list of partitions in the order of their names, each with the files that wait. A
 * plan packs these into bins of at least two files, until a bin weighs twice the target size:
 *
 *     sorted by size:  e2 f3 b4 | g4 a5       C = 4 MB, target 10 MB: 6+7+8 = 21, then 8+9 = 17
 *                      emitted    waits, or is emitted when it has enough files
 *
 * What waits for more than COMPACT_AGE fruitless plans is joined as it is; a file that is alone is
 * forgotten after REMOVE_AGE.
 */
#include "append/coordinator.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"

enum { COMPACT_AGE = 5, REMOVE_AGE = 10 };

/* A file with the vector that it has while a plan is made. */
typedef struct packed_file {
    sinter__append_file file;
    sinter__append_vector vector;
    uint64_t group_bytes; /* of all files with a vector in the same index file */
} packed_file;

typedef struct waiting_partition {
    uint8_t *name;
    size_t name_size;
    uint32_t age;
    sinter__append_file *files;
    size_t count;
    size_t capacity;
} waiting_partition;

struct sinter__append_coordinator {
    const sinter_env *env;
    sinter__append_limits limits;
    const sinter__append_source *source;
    waiting_partition *partitions; /* sorted by name */
    size_t count;
    bool is_streaming;
    bool is_open; /* the source gives files */
    bool has_next;
    int64_t next; /* snapshot */
};

/* Where bins go. */
typedef struct bin_sink {
    sinter_status (*each)(void *ctx, const sinter__append_task *task);
    void *ctx;
    sinter_bytes partition;
    size_t emitted;
} bin_sink;

sinter_status
sinter__append_coordinator_create(const sinter_env *env, const sinter__append_limits *limits,
                                  const sinter__append_source *source, bool is_streaming,
                                  sinter__append_coordinator **out, sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(env, *out, 1, err));
    (*out)->env = env;
    (*out)->limits = *limits;
    (*out)->source = source;
    (*out)->is_streaming = is_streaming;
    return SINTER_OK;
}

static void
forget(sinter__append_coordinator *self, size_t index)
{
    sinter__free(self->env, self->partitions[index].name);
    sinter__free(self->env, self->partitions[index].files);
    self->count--;
    memmove(&self->partitions[index], &self->partitions[index + 1],
            (self->count - index) * sizeof *self->partitions);
}

void
sinter__append_coordinator_destroy(sinter__append_coordinator *self)
{
    if (self != NULL) {
        while (self->count > 0) {
            forget(self, self->count - 1);
        }
        sinter__free(self->env, self->partitions);
        sinter__free(self->env, self);
    }
}

/* ---- waiting ---- */

static sinter_bytes
name_of(const waiting_partition *partition)
{
    return (sinter_bytes){partition->name, partition->name_size};
}

/* The partition's record, made if it is missing. */
static sinter_status
find_partition(sinter__append_coordinator *self, sinter_bytes name, waiting_partition **out,
               sinter_error *err)
{
    uint8_t *copy = NULL;
    size_t at = 0;

    for (size_t end = self->count; at < end;) {
        const size_t middle = at + (end - at) / 2;

        if (sinter__key_compare(name_of(&self->partitions[middle]), name) < 0) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    if (at == self->count || !sinter__key_equal(name_of(&self->partitions[at]), name)) {
        SINTER__CHECK(sinter__resize(self->env, (void **)&self->partitions, self->count + 1,
                                     sizeof *self->partitions, err));
        SINTER__CHECK(sinter__alloc(self->env, name.size, 1, (void **)&copy, err));
        if (name.size > 0) {
            memcpy(copy, name.data, name.size);
        }
        memmove(&self->partitions[at + 1], &self->partitions[at],
                (self->count - at) * sizeof *self->partitions);
        self->partitions[at] = (waiting_partition){.name = copy, .name_size = name.size};
        self->count++;
    }
    *out = &self->partitions[at];
    return SINTER_OK;
}

static sinter_status
find_vector(const sinter__append_coordinator *self, sinter_bytes partition,
            const sinter__append_file *file, sinter__append_vector *out, sinter_error *err)
{
    *out = (sinter__append_vector){.has = false};
    return self->limits.has_vectors && self->source->vector != NULL
               ? self->source->vector(self->source->ctx, partition, file, out, err)
               : SINTER_OK;
}

static sinter_status
is_candidate(const sinter__append_coordinator *self, sinter_bytes partition,
             const sinter__append_file *file, bool *out, sinter_error *err)
{
    sinter__append_vector vector;

    *out = file->bytes < self->limits.small_bytes;
    if (*out) {
        return SINTER_OK;
    }
    SINTER__CHECK(find_vector(self, partition, file, &vector, err));
    *out =
        vector.has && (vector.cardinality < 0 ||
                       (double)vector.cardinality > (double)file->rows * self->limits.delete_ratio);
    return SINTER_OK;
}

/* Room for so many more files. */
static sinter_status
reserve(const sinter_env *env, waiting_partition *partition, size_t extra, sinter_error *err)
{
    size_t capacity = partition->capacity < 8 ? 8 : partition->capacity;

    if (partition->files != NULL && partition->capacity - partition->count >= extra) {
        return SINTER_OK;
    }
    while (capacity - partition->count < extra) {
        capacity *= 2;
    }
    SINTER__CHECK(
        sinter__resize(env, (void **)&partition->files, capacity, sizeof *partition->files, err));
    partition->capacity = capacity;
    return SINTER_OK;
}

sinter_status
sinter__append_coordinator_notify(sinter__append_coordinator *self, sinter_bytes partition,
                                  const sinter__append_file *files, size_t count, sinter_error *err)
{
    waiting_partition *record = NULL;

    SINTER__CHECK(find_partition(self, partition, &record, err));
    record->age = 0;
    SINTER__CHECK(reserve(self->env, record, count, err));
    for (size_t i = 0; i < count; i++) {
        bool is_wanted = false;

        SINTER__CHECK(is_candidate(self, partition, &files[i], &is_wanted, err));
        if (is_wanted) {
            record->files[record->count++] = files[i];
        }
    }
    return SINTER_OK;
}

bool
sinter__append_coordinator_waiting(const sinter__append_coordinator *self, size_t index,
                                   sinter__append_waiting *out)
{
    if (index >= self->count) {
        return false;
    }
    *out = (sinter__append_waiting){.partition = name_of(&self->partitions[index]),
                                    .age = self->partitions[index].age,
                                    .files = self->partitions[index].files,
                                    .count = self->partitions[index].count};
    return true;
}

/* ---- packing ---- */

static int
compare_sizes(const void *a, const void *b)
{
    const packed_file *x = a;
    const packed_file *y = b;
    const int order = (x->file.bytes > y->file.bytes) - (x->file.bytes < y->file.bytes);

    return order != 0 ? order : sinter__key_compare(x->file.name, y->file.name);
}

/* Files with vectors first: index file by index file, the smaller group first. */
static int
compare_groups(const void *a, const void *b)
{
    const packed_file *x = a;
    const packed_file *y = b;
    int order = (int)y->vector.has - (int)x->vector.has;

    if (order == 0 && x->vector.has) {
        order = (x->group_bytes > y->group_bytes) - (x->group_bytes < y->group_bytes);
        order =
            order != 0 ? order : sinter__key_compare(x->vector.index_file, y->vector.index_file);
    }
    return order != 0 ? order : compare_sizes(a, b);
}

static sinter_status
emit(const sinter__append_coordinator *self, bin_sink *sink, const packed_file *files, size_t count,
     bool is_aged)
{
    sinter__append_task task = {.partition = sink->partition, .count = count, .is_aged = is_aged};
    sinter__append_file *list = NULL;
    sinter_status st = sinter__alloc(self->env, count, sizeof *list, (void **)&list, NULL);

    if (st != SINTER_OK) {
        return st;
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = files[i].file;
        task.has_vectors = task.has_vectors || files[i].vector.has;
    }
    task.files = list;
    st = sink->each(sink->ctx, &task);
    sink->emitted++;
    sinter__free(self->env, list);
    return st;
}

/* Add what a file weighs; does the bin have enough? */
static bool
weigh(const sinter__append_coordinator *self, const packed_file *file, size_t count,
      uint64_t *weight)
{
    *weight += file->file.bytes + self->limits.open_file_cost;
    return count > 1 && *weight >= 2 * self->limits.target_bytes;
}

/* Pack files sorted by size; the first `*rest_out` of them on go on waiting. */
static sinter_status
pack(const sinter__append_coordinator *self, bin_sink *sink, packed_file *files, size_t count,
     size_t *rest_out)
{
    size_t first = 0;
    uint64_t weight = 0;

    for (size_t i = 0; i < count; i++) {
        if (weigh(self, &files[i], i - first + 1, &weight)) {
            SINTER__CHECK(emit(self, sink, files + first, i - first + 1, false));
            first = i + 1;
            weight = 0;
        }
    }
    if (count - first >= self->limits.file_num_min && count > first) {
        SINTER__CHECK(emit(self, sink, files + first, count - first, false));
        first = count;
    }
    *rest_out = first;
    return SINTER_OK;
}

static int
compare_index_files(const void *a, const void *b)
{
    const packed_file *x = a;
    const packed_file *y = b;
    const int order = (int)y->vector.has - (int)x->vector.has;

    return order != 0 || !x->vector.has
               ? order
               : sinter__key_compare(x->vector.index_file, y->vector.index_file);
}

/* Bytes of all files whose vector lies in the same index file. */
static void
sum_groups(packed_file *files, size_t count)
{
    size_t first = 0;

    qsort(files, count, sizeof *files, compare_index_files);
    while (first < count && files[first].vector.has) {
        uint64_t bytes = 0;
        size_t end = first;

        while (end < count && compare_index_files(&files[first], &files[end]) == 0) {
            bytes += files[end++].file.bytes;
        }
        for (; first < end; first++) {
            files[first].group_bytes = bytes;
        }
    }
}

/* A scan that begins anew tells of files that wait already: sorted, the same stand side by side. */
static size_t
drop_doubles(packed_file *files, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !sinter__key_equal(files[kept - 1].file.name, files[i].file.name)) {
            files[kept++] = files[i];
        }
    }
    return kept;
}

/* Files whose vectors share an index file stay together: rewriting them rewrites that file. */
static sinter_status
pack_groups(const sinter__append_coordinator *self, bin_sink *sink, packed_file *files,
            size_t count, size_t *rest_out)
{
    size_t first = 0;
    size_t at = 0;
    uint64_t weight = 0;
    bool is_full = false;

    while (at < count && files[at].vector.has) {
        is_full = weigh(self, &files[at], at - first + 1, &weight) || is_full;
        at++;
        if (is_full &&
            (at == count || !files[at].vector.has ||
             !sinter__key_equal(files[at].vector.index_file, files[at - 1].vector.index_file))) {
            SINTER__CHECK(emit(self, sink, files + first, at - first, false));
            first = at;
            weight = 0;
            is_full = false;
        }
    }
    if (at > first) {
        SINTER__CHECK(emit(self, sink, files + first, at - first, false));
    }
    *rest_out = 0;
    if (count - at > 1) {
        SINTER__CHECK(pack(self, sink, files + at, count - at, rest_out));
    }
    *rest_out += at;
    return SINTER_OK;
}

static sinter_status
pick(sinter__append_coordinator *self, waiting_partition *partition, bin_sink *sink,
     sinter_error *err)
{
    packed_file *files = NULL;
    const size_t before = sink->emitted;
    size_t count = 0;
    size_t rest = 0;
    sinter_status st = SINTER_OK;

    SINTER__TRY(SINTER__NEW(self->env, files, partition->count + 1, err));
    for (size_t i = 0; i < partition->count; i++) {
        files[i].file = partition->files[i];
        SINTER__TRY(find_vector(self, name_of(partition), &files[i].file, &files[i].vector, err));
    }
    if (self->limits.has_vectors) {
        sum_groups(files, partition->count);
    }
    qsort(files, partition->count, sizeof *files,
          self->limits.has_vectors ? compare_groups : compare_sizes);
    count = drop_doubles(files, partition->count);
    SINTER__TRY(self->limits.has_vectors ? pack_groups(self, sink, files, count, &rest)
                                         : pack(self, sink, files, count, &rest));
    if (sink->emitted == before) {
        partition->age++;
        if (partition->age > COMPACT_AGE && count > 1) {
            SINTER__TRY(emit(self, sink, files, count, true));
            rest = count;
        }
    }
    partition->count = count - rest;
    for (size_t i = 0; i < partition->count; i++) {
        partition->files[i] = files[rest + i].file;
    }
out:
    sinter__free(self->env, files);
    return st;
}

sinter_status
sinter__append_coordinator_plan(sinter__append_coordinator *self,
                                sinter_status (*each)(void *ctx, const sinter__append_task *task),
                                void *ctx, sinter_error *err)
{
    bin_sink sink = {.each = each, .ctx = ctx};
    size_t i = 0;

    for (size_t k = 0; k < self->count; k++) {
        sink.partition = name_of(&self->partitions[k]);
        SINTER__CHECK(pick(self, &self->partitions[k], &sink, err));
    }
    while (i < self->count) {
        if (self->partitions[i].count == 0 || self->partitions[i].age > REMOVE_AGE) {
            forget(self, i);
        } else {
            i++;
        }
    }
    return SINTER_OK;
}

/* ---- scanning ---- */

/* The next snapshot, or SINTER_END: nothing to read now. One that has expired before it was read
 * means to begin anew with the newest. */
static sinter_status
open_next(sinter__append_coordinator *self, bool *ends_out, sinter_error *err)
{
    const sinter__append_source *source = self->source;
    int64_t earliest = 0;
    bool is_delta = self->has_next;
    sinter_status st = SINTER_OK;

    *ends_out = !self->is_streaming;
    if (self->has_next && !self->is_streaming) {
        return SINTER_END;
    }
    if (self->has_next) {
        st = source->earliest(source->ctx, &earliest, err);
        is_delta = st != SINTER_OK || earliest <= self->next;
    }
    if (!is_delta) {
        SINTER__CHECK(source->latest(source->ctx, &self->next, err));
    }
    SINTER__CHECK(source->open(source->ctx, self->next, is_delta, err));
    self->has_next = true;
    self->next++;
    self->is_open = true;
    return SINTER_OK;
}

/* The next candidate; SINTER_END: there is none now. */
static sinter_status
next_candidate(sinter__append_coordinator *self, sinter_bytes *partition, sinter__append_file *file,
               bool *ends_out, sinter_error *err)
{
    bool is_wanted = false;
    sinter_status st = SINTER_OK;

    while (!is_wanted) {
        if (!self->is_open) {
            SINTER__CHECK(open_next(self, ends_out, err));
        }
        st = self->source->next(self->source->ctx, partition, file, err);
        if (st == SINTER_END) {
            self->is_open = false;
            continue;
        }
        SINTER__CHECK(st);
        SINTER__CHECK(is_candidate(self, *partition, file, &is_wanted, err));
    }
    return SINTER_OK;
}

sinter_status
sinter__append_coordinator_run(sinter__append_coordinator *self,
                               sinter_status (*each)(void *ctx, const sinter__append_task *task),
                               void *ctx, sinter_error *err)
{
    sinter__append_file file;
    sinter_bytes partition;
    uint64_t collected = 0;
    bool ends = false;
    sinter_status st = SINTER_OK;

    while (collected < self->limits.file_num_limit) {
        st = next_candidate(self, &partition, &file, &ends, err);
        if (st != SINTER_OK) {
            break;
        }
        SINTER__CHECK(sinter__append_coordinator_notify(self, partition, &file, 1, err));
        collected++;
    }
    if (st != SINTER_OK && st != SINTER_END) {
        return st;
    }
    if (collected == 0) {
        return ends ? SINTER_END : SINTER_OK;
    }
    return sinter__append_coordinator_plan(self, each, ctx, err);
}
