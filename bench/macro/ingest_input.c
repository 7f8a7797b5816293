/*
 * Makes the records of the ingest benchmark: run after run of a workload, the records of each run
 * in random order. Whoever takes them in this order ends up with what the workload's full
 * compaction leaves.
 */
#include "macro/ingest.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PATH_ROOM = 4096 };

/* xorshift64*: the same order everywhere. */
static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static void
shuffle(uint32_t *ids, size_t count, uint64_t seed)
{
    uint64_t state = seed + 1;

    for (size_t i = count; i > 1; i--) {
        const size_t j = next_random(&state) % i;
        const uint32_t held = ids[j];

        ids[j] = ids[i - 1];
        ids[i - 1] = held;
    }
}

/* Ids of a run's records, ascending; room for all ids. */
static size_t
list_ids(const bench_workload *workload, uint32_t run, bench_cursor *cursor, uint32_t *ids)
{
    bench_record record;
    size_t count = 0;

    bench_cursor_init(cursor, workload, run);
    while (bench_cursor_next(cursor, &record)) {
        ids[count++] = (uint32_t)(cursor->next_id - 1);
    }
    return count;
}

static void
put_run(const bench_workload *workload, uint32_t run, uint32_t *ids, ingest_stream *stream)
{
    bench_cursor *cursor = malloc(sizeof *cursor);
    bench_record record;
    size_t count = 0;

    if (cursor == NULL) {
        perror("ingest_input");
        exit(1);
    }
    count = list_ids(workload, run, cursor, ids);
    shuffle(ids, count, run);
    for (size_t i = 0; i < count; i++) {
        cursor->next_id = ids[i];
        if (!bench_cursor_next(cursor, &record)) {
            fprintf(stderr, "ingest_input: a record is not there again\n");
            exit(1);
        }
        ingest_stream_put(stream, &record);
    }
    free(cursor);
}

int
main(int argc, char **argv)
{
    bench_options options;
    bench_workload workload;
    ingest_stream stream;
    char path[PATH_ROOM];
    uint32_t *ids = NULL;

    if (!bench_options_parse(argc, argv, "build", &options)) {
        return 2;
    }
    if (!bench_workload_init(&workload, options.workload, options.div)) {
        fprintf(stderr, "ingest_input: no workload %s\n", options.workload);
        return 2;
    }
    if (snprintf(path, sizeof path, "%s/records", options.dir) >= PATH_ROOM) {
        fprintf(stderr, "ingest_input: too long a name\n");
        return 1;
    }
    ids = malloc(workload.id_count * sizeof *ids);
    if (ids == NULL) {
        perror("ingest_input");
        return 1;
    }
    ingest_stream_create(&stream, path);
    for (uint32_t run = 0; run < workload.run_count; run++) {
        put_run(&workload, run, ids, &stream);
    }
    printf("{\"records\":%" PRIu64 "}\n", stream.records);
    ingest_stream_close(&stream);
    free(ids);
    return 0;
}
