/*
 * A read shows the same before and after any compaction.
 *
 * Each case makes a bucket of random files (kinds, sequences, ages, sizes, format, backend) and
 * compacts units of it as a strategy might pick them, with random options. After each step the
 * merged view must still be what the naive model says of the first files, new files must be what
 * their metadata says, and nothing else may lie in the directory.
 *
 *     test_compaction_property [--seed N] [--cases N]
 *
 * A failure prints its seed; --seed runs that case alone.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/bucket.h"

enum { LEVEL_MAX = 5, CASES = 2000, STEPS_MAX = 3, BUDGET_TRIES = 12 };

/* Backends and the directory for files on disk, shared by all cases. */
typedef struct property_world {
    sinter_io *uring; /* NULL: the kernel refuses it */
    char dir[256];
} property_world;

/* What the cases were, so that a run which tried nothing can't pass. */
typedef struct tally {
    uint64_t cases, compactions, spilled, passes, passed_blocks, upgrades, rewrites, dropped;
    uint64_t retract_errors, cancelled, too_large, columnar, posix, uring, large, cut;
} tally;

typedef struct property_case {
    uint64_t seed;
    test_rng rng;
    bucket bucket;
    sinter_io *memory_io; /* NULL: on disk */
    model_rules rules;
    sinter_compact_options options;
    model_result first; /* what a read returns */
    test_runs first_runs;
    test_pool pool;
    tally *tally;
    char text[BUCKET_TEXT_BYTES];
} property_case;

static uint64_t running_seed;

static void
print_seed(int number)
{
    char line[96];
    const int size = snprintf(line, sizeof line, "signal %d in case --seed %llu\n", number,
                              (unsigned long long)running_seed);

    if (write(STDERR_FILENO, line, (size_t)size) != size) {
        _exit(3);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static bool
fail(property_case *c, const char *what)
{
    fprintf(stderr, "case failed: --seed %llu: %s: %s\n", (unsigned long long)c->seed, what,
            c->text);
    return false;
}

/* ---- making a case ---- */

static void
shape_of_case(property_case *c, test_shape *shape)
{
    test_rng *rng = &c->rng;

    test_shape_random(rng, shape);
    shape->run_count = 1 + (size_t)test_rng_below(rng, 12);
    shape->files_per_run = 1;
    shape->dropped_percent = 0;
    shape->orders = c->bucket.is_columnar && !c->bucket.has_order_callback;
    if (c->rules.engine == MODEL_FIRST_ROW && !c->rules.ignore_delete) {
        shape->retract_percent = test_rng_chance(rng, 80) ? 0 : 3;
    }
    if (test_rng_below(rng, 100) == 0) {
        c->tally->large++;
        shape->run_count = 1 + shape->run_count % 4;
        shape->keys = test_rng_chance(rng, 50) ? TEST_KEYS_LONG : shape->keys;
        shape->rows_max = 10;
        shape->key_space = 24;
        shape->value_max = (uint64_t)1 << (10 + test_rng_below(rng, 13));
    } else if (test_rng_below(rng, 20) == 0) {
        shape->rows_max = 3000;
        shape->key_space = 6000;
        shape->run_count = 1 + shape->run_count % 5;
    } else if (test_rng_below(rng, 30) == 0) {
        shape->run_count = 20 + (size_t)test_rng_below(rng, 40);
        shape->rows_max = 30;
    }
}

/* Put a run into the bucket as files of a level, cut at random above level 0. */
static void
add_run(property_case *c, test_run *run, int32_t level)
{
    size_t first = 0;

    for (size_t i = 0; c->bucket.has_order_callback && i < run->count; i++) {
        run->records[i].order = bucket_order_of(run->records[i].value);
    }
    while (first < run->count) {
        size_t count = run->count - first;

        if (level > 0 && test_rng_chance(&c->rng, 60)) {
            count = 1 + (size_t)test_rng_below(&c->rng, count);
        }
        bucket_add(&c->bucket, run->records + first, count, level);
        c->bucket.clock_ms += (int64_t)test_rng_below(&c->rng, 2); /* often at the same time */
        first += count;
    }
}

static void
write_options_random(property_case *c)
{
    static const uint32_t blocks[] = {64, 200, 1000, 4096, 65536};
    sinter_write_options *write = &c->bucket.write;

    write->codec = (int32_t)test_rng_below(&c->rng, 3);
    write->block_bytes = blocks[test_rng_below(&c->rng, 5)];
    write->filter_bits_per_key = test_rng_chance(&c->rng, 50) ? 0 : 10;
    c->bucket.columnar.block_rows = 1 + (uint32_t)test_rng_below(&c->rng, 80);
    c->bucket.columnar.batch_rows = (uint32_t)test_rng_below(&c->rng, 30);
}

static void
fill_bucket(property_case *c)
{
    test_runs runs;
    test_shape shape;
    size_t used = 0;

    shape_of_case(c, &shape);
    test_runs_random(&c->rng, &shape, &runs);
    write_options_random(c);
    for (int32_t level = LEVEL_MAX; level > 0; level--) {
        if (used < runs.count && test_rng_chance(&c->rng, 40)) {
            add_run(c, &runs.items[used++], level);
        }
    }
    while (used < runs.count) {
        if (test_rng_chance(&c->rng, 20)) {
            write_options_random(c);
        }
        add_run(c, &runs.items[used++], 0);
    }
    test_runs_fini(&runs);
}

static void
options_random(property_case *c)
{
    static const uint64_t targets[] = {1, 500, 5000, 50000, (uint64_t)128 << 20};
    static const uint64_t budgets[] = {256, 1024, 4096, 65536, 65536};
    static const double ratios[] = {0, 0.1, 0.7, 1};
    test_rng *rng = &c->rng;
    sinter_compact_options *options = &c->options;

    sinter_compact_options_init(options);
    options->sort_engine = (int32_t)test_rng_below(rng, 2);
    options->merge_engine = c->rules.engine == MODEL_FIRST_ROW ? SINTER_MERGE_ENGINE_FIRST_ROW
                                                               : SINTER_MERGE_ENGINE_DEDUPLICATE;
    options->ignore_delete = c->rules.ignore_delete;
    options->target_file_bytes = targets[test_rng_below(rng, 5)];
    options->small_file_ratio = ratios[test_rng_below(rng, 4)];
    options->force_rewrite_all_files = test_rng_chance(rng, 15);
    options->block_passthrough = test_rng_chance(rng, 70);
    options->direct = test_rng_chance(rng, 10);
    options->sort_spill_threshold =
        test_rng_chance(rng, 40) ? 0 : 2 + (uint32_t)test_rng_below(rng, 8);
    options->spill_codec = (int32_t)test_rng_below(rng, 3);
    options->codec =
        test_rng_chance(rng, 50) ? c->bucket.write.codec : (int32_t)test_rng_below(rng, 3);
    options->block_bytes = test_rng_chance(rng, 60) ? c->bucket.write.block_bytes : 2000;
    options->filter_bits_per_key = c->bucket.write.filter_bits_per_key;
    options->memory_bytes = budgets[test_rng_below(rng, 5)] << 10;
    if (test_rng_chance(rng, 25)) { /* parts need more memory than these budgets have */
        options->sub_compactions = 2 + (uint32_t)test_rng_below(rng, 5);
        options->memory_bytes = (uint64_t)1 << 30;
    }
}

static void
case_begin(property_case *c, uint64_t seed, const property_world *world, tally *t)
{
    const uint64_t where = seed % 8; /* backends in turn, whatever the seed draws */
    sinter_io *backend = sinter_io_posix();
    const char *dir = world->dir;
    sinter_error err = SINTER_ERROR_INIT;

    *c = (property_case){.seed = seed, .rng = {seed * 0x9e3779b97f4a7c15u}, .tally = t};
    if (where < 4) {
        dir = "/bucket";
        if (sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &c->memory_io, &err) !=
                SINTER_OK ||
            c->memory_io->ops->mkdir(c->memory_io, dir, &err) != SINTER_OK) {
            abort();
        }
        backend = c->memory_io;
    } else if (where >= 6 && world->uring != NULL) {
        backend = world->uring;
        t->uring++;
    } else {
        t->posix++;
    }
    bucket_init(&c->bucket, backend, dir, test_rng_chance(&c->rng, 25));
    t->columnar += c->bucket.is_columnar ? 1 : 0;
    c->bucket.has_order_callback = test_rng_chance(&c->rng, 20);
    c->rules =
        (model_rules){.engine = test_rng_chance(&c->rng, 25) ? MODEL_FIRST_ROW : MODEL_DEDUPLICATE,
                      .ignore_delete = test_rng_chance(&c->rng, 25),
                      .drop_delete = true,
                      .has_ages = true};
    fill_bucket(c);
    bucket_runs(&c->bucket, NULL, 0, &c->first_runs);
    model_merge(&c->first_runs, &c->rules, &c->first);
}

static void
case_end(property_case *c)
{
    model_result_fini(&c->first);
    test_runs_fini(&c->first_runs);
    bucket_remove_files(&c->bucket);
    bucket_fini(&c->bucket);
    sinter_io_destroy(c->memory_io);
    test_pool_fini(&c->pool);
}

/* ---- reading ---- */

/* The whole view, as the first files had it. */
static bool
check_view(property_case *c, const char *when)
{
    sinter_compact_options options = c->options;

    options.memory_bytes = (uint64_t)256 << 20;
    return bucket_view_matches(&c->bucket, &options, &c->first, NULL, c->text) || fail(c, when);
}

/* A part of the view, or the view with deletes, as the files of now have it. */
static bool
check_part(property_case *c)
{
    sinter_compact_options options = c->options;
    sinter_view_options part = {.struct_size = sizeof part};
    model_rules rules = c->rules;
    model_result model;
    test_runs runs;
    bool is_good = true;

    options.memory_bytes = (uint64_t)256 << 20;
    options.sort_engine = 1 - options.sort_engine;
    part.keep_deletes = test_rng_chance(&c->rng, 50);
    part.keys_only = !c->bucket.has_order_callback && test_rng_chance(&c->rng, 30);
    if (c->first_runs.count > 0 && c->first.status == SINTER_OK) {
        const test_run *a = &c->first_runs.items[test_rng_below(&c->rng, c->first_runs.count)];
        const test_run *b = &c->first_runs.items[test_rng_below(&c->rng, c->first_runs.count)];

        part.has_begin_key = test_rng_chance(&c->rng, 60);
        part.has_end_key = test_rng_chance(&c->rng, 60);
        part.begin_key = a->records[test_rng_below(&c->rng, a->count)].key;
        part.end_key = b->records[test_rng_below(&c->rng, b->count)].key;
    }
    rules.drop_delete = !part.keep_deletes;
    bucket_runs(&c->bucket, NULL, 0, &runs);
    model_merge(&runs, &rules, &model);
    is_good = bucket_view_matches(&c->bucket, &options, &model, &part, c->text);
    model_result_fini(&model);
    test_runs_fini(&runs);
    return is_good || fail(c, "part of the view");
}

/* ---- compacting ---- */

/* A unit as strategies pick them: everything from the newest file down to some level. */
typedef struct unit {
    size_t *positions;
    sinter_file_meta *files;
    sinter_file_meta *all;
    size_t count;
    int32_t output_level;
    bool drop_delete;
} unit;

/* The order of a task's files means nothing. */
static void
shuffle_unit(property_case *c, unit *u)
{
    for (size_t i = 1; i < u->count; i++) {
        const size_t j = (size_t)test_rng_below(&c->rng, i + 1);
        const size_t position = u->positions[i];
        const sinter_file_meta file = u->files[i];

        u->positions[i] = u->positions[j];
        u->files[i] = u->files[j];
        u->positions[j] = position;
        u->files[j] = file;
    }
}

static void
pick_unit(property_case *c, unit *out)
{
    const bucket *b = &c->bucket;
    int32_t deepest = (int32_t)test_rng_below(&c->rng, LEVEL_MAX + 1);
    int32_t next = LEVEL_MAX + 1; /* first level below the unit that holds a file */

    *out = (unit){.positions = test_pool_take(&c->pool, (b->count + 1) * sizeof(size_t)),
                  .files = test_pool_take(&c->pool, (b->count + 1) * sizeof *out->files),
                  .all = test_pool_take(&c->pool, (b->count + 1) * sizeof *out->all)};
    deepest = test_rng_chance(&c->rng, 30) ? LEVEL_MAX : deepest;
    for (size_t i = 0; i < b->count; i++) {
        const int32_t level = b->files[i].meta.level;

        out->all[i] = b->files[i].meta;
        if (level > deepest) {
            next = level < next ? level : next;
        }
    }
    if (next == 1) {
        deepest = 1; /* nothing fits between level 0 and level 1 */
        next = LEVEL_MAX + 1;
        for (size_t i = 0; i < b->count; i++) {
            const int32_t level = b->files[i].meta.level;

            next = level > 1 && level < next ? level : next;
        }
    }
    deepest = deepest < 1 ? 1 : deepest;
    for (size_t i = 0; i < b->count; i++) {
        if (b->files[i].meta.level <= deepest) {
            out->positions[out->count] = i;
            out->files[out->count++] = b->files[i].meta;
        }
    }
    shuffle_unit(c, out);
    deepest = deepest < next ? deepest : next - 1;
    out->output_level = deepest + (int32_t)test_rng_below(&c->rng, (uint64_t)(next - deepest));
    out->drop_delete =
        sinter_unit_drops_deletes(out->all, b->count, out->output_level, false, false);
}

static bool
cancel_at(void *ctx)
{
    uint64_t *left = ctx;

    return *left > 0 && --*left == 0;
}

static bool
check_result(property_case *c, const unit *u, const sinter_compact_result *result)
{
    const sinter_compact_counters *counters = sinter_compact_result_counters(result);
    const sinter_merge_counters *m = &counters->merge;
    const sinter_file_list *after = sinter_compact_result_after(result);
    uint64_t rewritten_rows = 0;
    uint64_t new_rows = 0;
    uint64_t new_bytes = 0;
    size_t decided = 0;
    const sinter_file_decision *decisions = sinter_compact_result_decisions(result, &decided);

    snprintf(c->text, sizeof c->text, "counters or decisions don't fit");
    if (decided != u->count) {
        return fail(c, "decisions");
    }
    for (size_t i = 0; i < decided; i++) {
        rewritten_rows +=
            decisions[i].action == SINTER_ACTION_REWRITTEN ? decisions[i].file->row_count : 0;
    }
    for (size_t i = 0; i < after->count; i++) {
        const sinter_file_meta *meta = &after->files[i];

        if (meta->upgraded_from < 0) {
            new_rows += meta->row_count;
            new_bytes += meta->file_size;
            if (u->drop_delete && meta->delete_row_count != 0) {
                return fail(c, "a new file has deletes that were to be dropped");
            }
        }
        if (meta->level != u->output_level ||
            (u->output_level == LEVEL_MAX && meta->delete_row_count != 0)) {
            return fail(c, "level of a new file, or deletes at the highest level");
        }
    }
    if (m->records_in != rewritten_rows || m->records_out != new_rows ||
        counters->bytes_written != new_bytes ||
        m->records_in !=
            m->records_out + m->superseded + m->deleted + m->expired + m->filtered + m->vector) {
        return fail(c, "counters");
    }
    c->tally->cut += c->options.sub_compactions > 1 && counters->files_rewritten > 0 &&
                     new_bytes > c->options.target_file_bytes;
    c->tally->spilled += m->spill_runs;
    c->tally->passes += m->spill_passes;
    c->tally->passed_blocks += m->blocks_passed;
    c->tally->upgrades += counters->files_upgraded;
    c->tally->rewrites += counters->files_rewritten;
    c->tally->dropped += m->deleted;
    return true;
}

/* Does the model say that merging the unit meets a retract that first-row refuses? */
static sinter_status
wanted_status(property_case *c, const unit *u)
{
    test_runs runs;
    model_result model;
    sinter_status st = SINTER_OK;

    bucket_runs(&c->bucket, u->positions, u->count, &runs);
    model_merge(&runs, &c->rules, &model);
    st = model.status;
    model_result_fini(&model);
    test_runs_fini(&runs);
    return st;
}

static sinter_status
run_task(property_case *c, const unit *u, sinter_compact_result **out, sinter_error *err)
{
    uint64_t asks_left = test_rng_chance(&c->rng, 5) ? 1 + test_rng_below(&c->rng, 6) : 0;
    sinter_compact_options options = c->options;
    sinter_compact_task task;
    sinter_status st = SINTER_E_TOO_LARGE;

    sinter_compact_task_init(&task);
    task.output_level = u->output_level;
    task.max_level = LEVEL_MAX;
    task.drop_delete = u->drop_delete;
    task.files = u->files;
    task.count = u->count;
    task.base_dir = c->bucket.dir;
    task.format = &c->bucket.format;
    task.options = &options;
    task.order = c->bucket.has_order_callback ? &bucket_order : NULL;
    task.is_cancelled = asks_left > 0 ? cancel_at : NULL;
    task.cancel_ctx = &asks_left;
    for (int tries = 0; st == SINTER_E_TOO_LARGE && tries < BUDGET_TRIES; tries++) {
        *err = (sinter_error)SINTER_ERROR_INIT;
        st = sinter_compact_task_run(&c->bucket.env, &task, out, err);
        if (st == SINTER_E_TOO_LARGE) {
            c->tally->too_large++;
            options.memory_bytes *= 2;
            if (!bucket_is_intact(&c->bucket, c->text)) {
                break;
            }
        }
    }
    if (st == SINTER_E_CANCELLED && asks_left == 0) {
        c->tally->cancelled++;
    }
    return st;
}

static sinter_status
check_unit(property_case *c, const unit *u, sinter_error *err)
{
    const sinter_unit picked = {.struct_size = sizeof picked,
                                .output_level = u->output_level,
                                .max_level = LEVEL_MAX,
                                .drop_delete = u->drop_delete,
                                .files = u->all,
                                .count = c->bucket.count,
                                .members = u->positions,
                                .member_count = u->count};

    return sinter_unit_check(&c->bucket.env, &picked, err);
}

static bool
compact_once(property_case *c, bool *can_go_on)
{
    sinter_compact_result *result = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status wanted = SINTER_OK;
    sinter_status st = SINTER_OK;
    bool is_good = true;
    unit u;

    options_random(c);
    pick_unit(c, &u);
    if (u.count == 0) {
        return true;
    }
    st = check_unit(c, &u, &err);
    snprintf(c->text, sizeof c->text, "%.400s", err.text);
    if (st != SINTER_OK) {
        return fail(c, "a unit that is right was refused");
    }
    wanted = wanted_status(c, &u);
    st = run_task(c, &u, &result, &err);
    c->tally->compactions++;
    if (st != wanted && st != SINTER_E_CANCELLED) {
        snprintf(c->text, sizeof c->text, "%s (%.300s; file %.100s) instead of %s",
                 sinter_status_name(st), err.text, err.file, sinter_status_name(wanted));
        is_good = fail(c, "task");
    } else if (st != SINTER_OK) {
        c->tally->retract_errors += st == SINTER_E_RETRACT ? 1 : 0;
        *can_go_on = st == SINTER_E_CANCELLED;
    } else {
        is_good = check_result(c, &u, result) &&
                  (bucket_apply(&c->bucket, result, c->text) || fail(c, "result"));
    }
    sinter_compact_result_destroy(result);
    if (is_good && c->bucket.io.open_files != 0) {
        snprintf(c->text, sizeof c->text, "%lld", (long long)c->bucket.io.open_files);
        return fail(c, "files left open");
    }
    return is_good && (bucket_is_intact(&c->bucket, c->text) || fail(c, "directory"));
}

static bool
run_case(uint64_t seed, const property_world *world, tally *t)
{
    property_case c;
    bool is_good = true;
    bool can_go_on = true;
    uint64_t steps = 0;

    running_seed = seed;
    case_begin(&c, seed, world, t);
    t->cases++;
    options_random(&c);
    is_good = check_view(&c, "view before");
    steps = 1 + test_rng_below(&c.rng, STEPS_MAX);
    for (uint64_t step = 0; is_good && can_go_on && step < steps; step++) {
        is_good = compact_once(&c, &can_go_on);
        c.bucket.clock_ms += 1000000;
        is_good = is_good && check_view(&c, "view after") && check_part(&c);
    }
    case_end(&c);
    return is_good;
}

/* ---- the program ---- */

static uint64_t
number_of(const char *text)
{
    char *end = NULL;
    const unsigned long long number = strtoull(text, &end, 10);

    if (end == text || *end != '\0') {
        fprintf(stderr, "not a number: %s\n", text);
        exit(2);
    }
    return number;
}

static void
world_begin(property_world *world)
{
    const char *parent = getenv("SINTER_TEST_DIR");
    sinter_error err = SINTER_ERROR_INIT;

    if (parent == NULL) {
        parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    snprintf(world->dir, sizeof world->dir, "%s/sinter-property-XXXXXX", parent);
    if (mkdtemp(world->dir) == NULL) {
        perror(world->dir);
        exit(2);
    }
    if (sinter_io_create(sinter_env_default(), SINTER_IO_URING, NULL, &world->uring, &err) !=
        SINTER_OK) {
        printf("no io_uring here (%s): posix takes its cases\n", err.text);
    }
}

static void
world_end(property_world *world)
{
    sinter_io_destroy(world->uring);
    rmdir(world->dir);
}

static void
print_tally(const tally *t)
{
    printf(
        "%llu cases, %llu compactions: %llu files rewritten, %llu upgraded, %llu runs spilled, "
        "%llu passes beforehand, %llu blocks passed, %llu records deleted, %llu cut into parts\n",
        (unsigned long long)t->cases, (unsigned long long)t->compactions,
        (unsigned long long)t->rewrites, (unsigned long long)t->upgrades,
        (unsigned long long)t->spilled, (unsigned long long)t->passes,
        (unsigned long long)t->passed_blocks, (unsigned long long)t->dropped,
        (unsigned long long)t->cut);
    printf("%llu on posix, %llu on io_uring, %llu columnar, %llu with large records, %llu refused "
           "retracts, %llu cancelled, %llu budgets too small\n",
           (unsigned long long)t->posix, (unsigned long long)t->uring,
           (unsigned long long)t->columnar, (unsigned long long)t->large,
           (unsigned long long)t->retract_errors, (unsigned long long)t->cancelled,
           (unsigned long long)t->too_large);
}

int
main(int argc, char **argv)
{
    const char *scale = getenv("SINTER_TEST_SCALE");
    uint64_t cases = CASES * (scale == NULL ? 1 : number_of(scale));
    uint64_t first = 1;
    property_world world = {0};
    tally t = {0};
    bool is_good = true;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) {
            first = number_of(argv[i + 1]);
            cases = 1;
        } else if (strcmp(argv[i], "--cases") == 0) {
            cases = number_of(argv[i + 1]);
        } else {
            fprintf(stderr, "usage: %s [--seed N] [--cases N]\n", argv[0]);
            return 2;
        }
    }
    signal(SIGABRT, print_seed);
    signal(SIGSEGV, print_seed);
    world_begin(&world);
    for (uint64_t i = 0; is_good && i < cases; i++) {
        is_good = run_case(first + i, &world, &t);
    }
    world_end(&world);
    print_tally(&t);
    if (is_good && cases >= CASES &&
        (t.spilled == 0 || t.passed_blocks == 0 || t.upgrades == 0 || t.dropped == 0 ||
         t.columnar == 0 || t.cancelled == 0 || t.cut == 0)) {
        fputs("something was never tried\n", stderr);
        return 1;
    }
    return is_good ? 0 : 1;
}
