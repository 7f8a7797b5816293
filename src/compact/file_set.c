/*
 * Counting is done under one mutex per bucket: it is held for as long as it takes to count the
 * files of a set, and never while memory is released or a file removed.
 */
#include "compact/file_set.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/listener.h"
#include "base/sync.h"
#include "compact/remove.h"

struct sinter__file_home {
    const sinter_env *env;
    const char *base_dir;
    sinter__mutex mutex;         /* guards what follows, the counts of blocks and sets, and which
                                    set is current */
    size_t uses;                 /* the levels, and sets */
    sinter__file_block **chains; /* `chain_count`, a power of two or 0: roots by hash of the name */
    size_t chain_count;
    size_t root_count;
};

/** The part of a set that changes. */
typedef struct set_state {
    sinter__file_home *home;
    size_t uses;
} set_state;

struct sinter_file_set {
    set_state *state;
    const sinter_file_meta *files;
    sinter__file_block *const *blocks; /* of the files */
    size_t count;
    const sinter_level_run *runs;
    size_t run_count;
    uint64_t bytes;
    uint32_t num_levels;
};

/** A set and its state are one piece of memory, with the arrays behind. */
typedef struct set_memory {
    set_state state;
    sinter_file_set set;
} set_memory;

sinter_status
sinter__file_home_create(const sinter_env *env, const char *base_dir, sinter__file_home **out,
                         sinter_error *err)
{
    const size_t size = base_dir == NULL ? 0 : strlen(base_dir) + 1;
    sinter__file_home *home = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(sinter__alloc(env, sizeof *home + size, 1, (void **)&home, err));
    st = sinter__mutex_init(&home->mutex, err);
    if (st != SINTER_OK) {
        sinter__free(env, home);
        return st;
    }
    home->env = env;
    home->uses = 1;
    if (base_dir != NULL) {
        home->base_dir = memcpy(home + 1, base_dir, size);
    }
    *out = home;
    return SINTER_OK;
}

void
sinter__file_home_release(sinter__file_home *home)
{
    bool is_last = false;

    if (home == NULL) {
        return;
    }
    sinter__mutex_lock(&home->mutex);
    is_last = --home->uses == 0;
    sinter__mutex_unlock(&home->mutex);
    if (is_last) {
        assert(home->root_count == 0);
        sinter__free(home->env, home->chains);
        sinter__mutex_fini(&home->mutex);
        sinter__free(home->env, home);
    }
}

const char *
sinter__file_home_base_dir(const sinter__file_home *home)
{
    return home->base_dir;
}

/* Where the chain for a hash begins. */
static sinter__file_block **
chain_of(const sinter__file_home *home, uint64_t hash)
{
    return &home->chains[hash & (home->chain_count - 1)];
}

/* The mutex is held. */
static void
enter(sinter__file_home *home, sinter__file_block *root)
{
    sinter__file_block **chain = chain_of(home, root->hash);

    root->next = *chain;
    *chain = root;
}

/* Let a root be found by its name. The mutex is held. */
static void
give_name(sinter__file_home *home, sinter__file_block *root, uint64_t hash)
{
    assert(home->root_count < home->chain_count);
    root->is_named = true;
    root->hash = hash;
    enter(home, root);
    home->root_count++;
}

/* The mutex is held. */
static void
take_name(sinter__file_home *home, sinter__file_block *root)
{
    sinter__file_block **place = chain_of(home, root->hash);

    while (*place != root) {
        place = &(*place)->next;
    }
    *place = root->next;
    root->is_named = false;
    home->root_count--;
}

/* The root of this name, or NULL. The mutex is held. */
static sinter__file_block *
find_root(const sinter__file_home *home, const char *file_name, uint64_t hash)
{
    sinter__file_block *root = home->chain_count == 0 ? NULL : *chain_of(home, hash);

    while (root != NULL && (root->hash != hash || strcmp(root->meta.file_name, file_name) != 0)) {
        root = root->next;
    }
    return root;
}

static uint64_t
hash_name(const char *file_name)
{
    return sinter__hash(file_name, strlen(file_name));
}

/* More chains take the place of those that are there, which are the caller's then. */
static void
exchange_chains(sinter__file_home *home, sinter__file_block ***chains, size_t count)
{
    sinter__file_block **old = home->chains;
    const size_t old_count = home->chain_count;

    home->chains = *chains;
    home->chain_count = count;
    for (size_t i = 0; i < old_count; i++) {
        for (sinter__file_block *root = old[i]; root != NULL;) {
            sinter__file_block *next = root->next;

            enter(home, root);
            root = next;
        }
    }
    *chains = old;
}

sinter_status
sinter__file_home_reserve(sinter__file_home *home, size_t extra, sinter_error *err)
{
    sinter__file_block **chains = NULL;
    size_t wanted = 8;
    size_t least = 0;

    sinter__mutex_lock(&home->mutex);
    least = home->root_count > SIZE_MAX / 4 - extra ? SIZE_MAX : home->root_count + extra;
    sinter__mutex_unlock(&home->mutex);
    if (least <= home->chain_count) { /* nobody else changes that */
        return SINTER_OK;
    }
    if (least > SIZE_MAX / 4) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu new files", extra);
    }
    while (wanted < least) {
        wanted *= 2;
    }
    SINTER__CHECK(SINTER__NEW(home->env, chains, wanted, err));
    sinter__mutex_lock(&home->mutex);
    exchange_chains(home, &chains, wanted);
    sinter__mutex_unlock(&home->mutex);
    sinter__free(home->env, chains);
    return SINTER_OK;
}

sinter_status
sinter__file_block_join(sinter__file_home *home, sinter__file_block *block, bool is_back,
                        sinter_error *err)
{
    const char *name = block->meta.file_name;
    const uint64_t hash = hash_name(name);
    sinter__file_block *root = NULL;
    bool is_doomed = false;

    assert(block->root == block && block->uses == 1);
    sinter__mutex_lock(&home->mutex);
    root = find_root(home, name, hash);
    if (root != NULL && !is_back && !root->is_retired) {
        root = NULL; /* a name that is there already, as its caller is going to find out */
    }
    is_doomed = root != NULL && root->is_doomed;
    if (root == NULL) {
        give_name(home, block, hash);
    } else if (!is_doomed) {
        root->uses++;
        block->root = root;
    }
    sinter__mutex_unlock(&home->mutex);
    if (is_doomed) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, name, -1, "the file %s waits for its removal",
                              name);
    }
    return SINTER_OK;
}

sinter__file_use
sinter__file_home_doom(sinter__file_home *home, const char *file_name)
{
    const uint64_t hash = hash_name(file_name);
    sinter__file_use use = SINTER__FILE_UNUSED;
    sinter__file_block *root = NULL;

    assert(home->base_dir != NULL);
    sinter__mutex_lock(&home->mutex);
    root = find_root(home, file_name, hash);
    if (root != NULL) {
        use = root->listed > 0 ? SINTER__FILE_LISTED : SINTER__FILE_HELD;
        root->is_doomed = root->is_doomed || root->listed == 0;
    }
    sinter__mutex_unlock(&home->mutex);
    return use;
}

/* One use less; those that nobody uses any more go in front of `dead`. The mutex is held. */
static sinter__file_block *
drop(sinter__file_home *home, sinter__file_block *block, sinter__file_block *dead)
{
    while (block != NULL) {
        sinter__file_block *root = block->root == block ? NULL : block->root;

        assert(block->uses > 0);
        if (--block->uses > 0) {
            return dead;
        }
        if (block->is_named) {
            take_name(home, block);
        }
        block->next = dead;
        dead = block;
        block = root;
    }
    return dead;
}

static void
tell_failure(const sinter_env *env, const sinter_error *err, sinter_status st, const char *name)
{
    const sinter_event event = {.struct_size = (uint32_t)sizeof event,
                                .file = err->file[0] == '\0' ? name : err->file,
                                .text = err->text,
                                .status = st};

    SINTER__TELL(env->listener, background_error, &event);
}

/* Release dead blocks, and remove the files that waited for that. No mutex is held; a use of the
 * home is. */
static void
bury(const sinter__file_home *home, sinter__file_block *dead)
{
    while (dead != NULL) {
        sinter__file_block *next = dead->next;

        if (dead->is_doomed) {
            sinter_error err = SINTER_ERROR_INIT;
            const sinter_status st =
                sinter__file_remove(home->env, home->base_dir, &dead->meta, &err);

            if (st != SINTER_OK) {
                tell_failure(home->env, &err, st, dead->meta.file_name);
            }
        }
        sinter__free(home->env, dead);
        dead = next;
    }
}

void
sinter__file_blocks_release(sinter__file_home *home, sinter__file_block *const *blocks,
                            size_t count)
{
    sinter__file_block *dead = NULL;

    sinter__mutex_lock(&home->mutex);
    for (size_t i = 0; i < count; i++) {
        dead = drop(home, blocks[i], dead);
    }
    sinter__mutex_unlock(&home->mutex);
    bury(home, dead);
}

static uint64_t
add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Fill in runs: a file of level 0 is one by itself, those of a level above are one. */
static size_t
make_runs(const sinter_file_meta *files, size_t count, sinter_level_run *runs)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        const int32_t level = files[i].level;

        if (i == 0 || level == 0 || level != files[i - 1].level) {
            assert(i == 0 || level >= files[i - 1].level);
            runs[used++] = (sinter_level_run){.level = level, .files = &files[i]};
        }
        runs[used - 1].count++;
        runs[used - 1].bytes = add_saturated(runs[used - 1].bytes, files[i].file_size);
    }
    return used;
}

sinter_status
sinter__file_set_create(sinter__file_home *home, sinter__file_block *const *blocks, size_t count,
                        uint32_t num_levels, const sinter_file_set **out, sinter_error *err)
{
    enum { FILE_BYTES = sizeof(sinter_file_meta) + sizeof(sinter_level_run) + sizeof(void *) };
    set_memory *memory = NULL;
    sinter_file_meta *files = NULL;
    sinter_level_run *runs = NULL;
    sinter__file_block **own_blocks = NULL;

    if (count > (SIZE_MAX - sizeof *memory) / FILE_BYTES) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "a set of %zu files", count);
    }
    SINTER__CHECK(
        sinter__alloc(home->env, sizeof *memory + count * FILE_BYTES, 1, (void **)&memory, err));
    files = (sinter_file_meta *)(void *)(memory + 1);
    runs = (sinter_level_run *)(void *)(files + count);
    own_blocks = (sinter__file_block **)(void *)(runs + count);
    memory->state = (set_state){.home = home, .uses = 1};
    memory->set = (sinter_file_set){.state = &memory->state,
                                    .files = files,
                                    .blocks = own_blocks,
                                    .count = count,
                                    .runs = runs,
                                    .num_levels = num_levels};
    for (size_t i = 0; i < count; i++) {
        files[i] = blocks[i]->meta;
        own_blocks[i] = blocks[i];
        memory->set.bytes = add_saturated(memory->set.bytes, files[i].file_size);
    }
    memory->set.run_count = make_runs(files, count, runs);
    sinter__mutex_lock(&home->mutex);
    home->uses++;
    for (size_t i = 0; i < count; i++) {
        blocks[i]->uses++;
    }
    sinter__mutex_unlock(&home->mutex);
    *out = &memory->set;
    return SINTER_OK;
}

sinter__file_block *const *
sinter__file_set_blocks(const sinter_file_set *set)
{
    return set->blocks;
}

const sinter_file_set *
sinter__file_set_swap(sinter__file_home *home, const sinter_file_set **current,
                      const sinter_file_set *next)
{
    const sinter_file_set *old = NULL;

    sinter__mutex_lock(&home->mutex);
    for (size_t i = 0; next != NULL && i < next->count; i++) {
        sinter__file_block *root = next->blocks[i]->root;

        root->listed++;
        root->is_retired = false;
    }
    old = *current;
    for (size_t i = 0; old != NULL && i < old->count; i++) {
        sinter__file_block *root = old->blocks[i]->root;

        if (--root->listed == 0) {
            root->is_retired = true;
        }
    }
    *current = next;
    sinter__mutex_unlock(&home->mutex);
    return old;
}

const sinter_file_set *
sinter__file_set_acquire_current(sinter__file_home *home, const sinter_file_set *const *current)
{
    const sinter_file_set *set = NULL;

    sinter__mutex_lock(&home->mutex);
    set = *current;
    set->state->uses++;
    sinter__mutex_unlock(&home->mutex);
    return set;
}

const sinter_file_set *
sinter_file_set_acquire(const sinter_file_set *set)
{
    sinter__file_home *home = set->state->home;

    sinter__mutex_lock(&home->mutex);
    assert(set->state->uses > 0);
    set->state->uses++;
    sinter__mutex_unlock(&home->mutex);
    return set;
}

void
sinter_file_set_release(const sinter_file_set *set)
{
    sinter__file_home *home = NULL;
    bool is_last = false;

    if (set == NULL) {
        return;
    }
    home = set->state->home;
    sinter__mutex_lock(&home->mutex);
    assert(set->state->uses > 0);
    is_last = --set->state->uses == 0;
    sinter__mutex_unlock(&home->mutex);
    if (is_last) {
        sinter__file_blocks_release(home, set->blocks, set->count);
        sinter__free(home->env, set->state); /* the memory begins with it */
        sinter__file_home_release(home);
    }
}

const sinter_file_meta *
sinter_file_set_files(const sinter_file_set *set, size_t *count_out)
{
    *count_out = set->count;
    return set->files;
}

const sinter_level_run *
sinter_file_set_runs(const sinter_file_set *set, size_t *count_out)
{
    *count_out = set->run_count;
    return set->runs;
}

uint32_t
sinter_file_set_num_levels(const sinter_file_set *set)
{
    return set->num_levels;
}

int32_t
sinter_file_set_highest_level(const sinter_file_set *set)
{
    return set->count == 0 ? -1 : set->files[set->count - 1].level;
}

uint64_t
sinter_file_set_bytes(const sinter_file_set *set)
{
    return set->bytes;
}
