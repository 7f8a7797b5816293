/*
 * A strategy of one's own: two tiers. Three fresh files go down to level 1, together with what lies
 * there; when level 1 has grown to half the rows of level 2, it goes down to level 2.
 *
 * Everything runs on the calling thread here, and the files lie in memory. What is picked is
 * checked by the manager: a pick that would let old rows come back is refused, with the file in the
 * way.
 */
#include <stdio.h>

#include <sinter/sinter.h>

enum { FRESH_FILES_MAX = 3 };

static uint64_t
rows_of(const sinter_level_run *run)
{
    uint64_t rows = 0;

    for (size_t i = 0; i < run->count; i++) {
        rows += run->files[i].row_count;
    }
    return rows;
}

/* Take the files of so many runs from the first: their positions are the first ones. */
static void
take_runs(const sinter_pick_request *request, size_t first_run, size_t run_count, sinter_pick *out)
{
    size_t position = 0;

    for (size_t r = 0; r < first_run + run_count; r++) {
        for (size_t i = 0; i < request->runs[r].count; i++, position++) {
            if (r >= first_run) {
                out->members[out->member_count++] = position;
            }
        }
    }
}

/* The runs are those of level 0, newest first, then level 1 and level 2, where they aren't empty.
 */
static sinter_status
two_tier_pick(sinter_strategy *strategy, const sinter_pick_request *request, sinter_pick *out,
              sinter_error *err)
{
    const sinter_level_run *runs = request->runs;
    size_t fresh = 0;
    size_t middle;

    (void)strategy;
    (void)err;
    out->rule = SINTER_PICK_CUSTOM;
    while (fresh < request->run_count && runs[fresh].level == 0) {
        fresh++;
    }
    middle = fresh < request->run_count && runs[fresh].level == 1 ? 1 : 0;
    if (fresh >= FRESH_FILES_MAX) {
        take_runs(request, 0, fresh + middle, out);
        out->output_level = 1;
        (void)snprintf(out->text, sizeof out->text, "%zu fresh files >= %d", fresh,
                       FRESH_FILES_MAX);
        return SINTER_OK;
    }
    if (middle == 1) {
        const bool has_bottom = fresh + 1 < request->run_count;
        const uint64_t rows = rows_of(&runs[fresh]);
        const uint64_t bottom_rows = has_bottom ? rows_of(&runs[fresh + 1]) : 0;

        if (rows * 2 >= bottom_rows) {
            take_runs(request, fresh, has_bottom ? 2 : 1, out);
            out->output_level = 2;
            (void)snprintf(out->text, sizeof out->text, "%d rows at level 1, %d below", (int)rows,
                           (int)bottom_rows);
            return SINTER_OK;
        }
    }
    (void)snprintf(out->text, sizeof out->text, "%zu fresh files < %d", fresh, FRESH_FILES_MAX);
    return SINTER_END;
}

static const sinter_strategy_ops two_tier_ops = {
    .struct_size = (uint32_t)sizeof two_tier_ops,
    .name = "two-tier",
    .pick = two_tier_pick,
};

/* Without a state of its own it can serve any number of buckets. */
static sinter_strategy two_tier = {.ops = &two_tier_ops};

/* A file of `count` new rows, and what the strategy made of it. */
static sinter_status
write_file(sinter_merge_tree *tree, uint32_t round, sinter_error *err)
{
    const sinter_pick *pick;
    sinter_status st = SINTER_OK;
    char key[16];

    for (int i = 0; st == SINTER_OK && i < 100; i++) {
        const int size = snprintf(key, sizeof key, "%04d-%02u", i, round);

        st = sinter_merge_tree_write(tree, (sinter_bytes){(const uint8_t *)key, (size_t)size},
                                     SINTER_KIND_INSERT,
                                     (sinter_bytes){(const uint8_t *)"value", 5}, err);
    }
    if (st == SINTER_OK) {
        st = sinter_merge_tree_flush(tree, err);
    }
    /* While there is something to pick: what was done, then what is next. */
    while (st == SINTER_OK) {
        pick = sinter_manager_last_pick(sinter_merge_tree_manager(tree));
        if (pick->member_count == 0) {
            break;
        }
        printf("file %u: %s, to level %d\n", round, pick->text, (int)pick->output_level);
        st = sinter_merge_tree_flush(tree, err);
    }
    return st;
}

static void
print_levels(sinter_merge_tree *tree)
{
    const sinter_file_set *set = sinter_merge_tree_acquire(tree);
    size_t count = 0;
    const sinter_level_run *runs = sinter_file_set_runs(set, &count);

    for (size_t r = 0; r < count; r++) {
        printf("level %d: %d rows\n", (int)runs[r].level, (int)rows_of(&runs[r]));
    }
    sinter_file_set_release(set);
}

int
main(void)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_merge_tree_config config = {.struct_size = (uint32_t)sizeof config, .max_sequence = -1};
    sinter_merge_tree *tree = NULL;
    sinter_compact_options options;
    sinter_compact_task task;
    sinter_io *memory = NULL;
    sinter_env env;
    sinter_status st;

    sinter_env_init(&env);
    st = sinter_io_create(&env, SINTER_IO_MEMORY, NULL, &memory, &err);
    env.io = memory;
    sinter_compact_options_init(&options);
    options.num_levels = 3;
    sinter_compact_task_init(&task);
    task.base_dir = "/";
    task.options = &options;
    config.task = &task;
    config.strategy = &two_tier;
    if (st == SINTER_OK) {
        st = sinter_merge_tree_open(&env, &config, &tree, &err);
    }
    for (uint32_t round = 1; st == SINTER_OK && round <= 13; round++) {
        st = write_file(tree, round, &err);
    }
    if (st == SINTER_OK) {
        print_levels(tree);
    } else {
        fprintf(stderr, "%s: %s: %s\n", sinter_status_text(st), err.file, err.text);
    }
    sinter_merge_tree_close(tree);
    sinter_io_destroy(memory);
    return st == SINTER_OK ? 0 : 1;
}
