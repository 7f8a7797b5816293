/*
 * Files that nobody knows (table-layout.md 14.4).
 *
 * Candidates are listed first, then what is in use: a file that is written or committed in between
 * is either too young or in use.
 */
#include <inttypes.h>
#include <string.h>

#include "base/env.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/text.h"
#include "sinter/io.h"
#include "sinter/table_maintenance.h"
#include "table/external_paths.h"
#include "table/numbered.h"
#include "table/references.h"
#include "table/removal.h"
#include "table/table_options.h"

enum { DAY_MS = 24 * 3600 * 1000 };

/** What the files of a directory are. */
typedef enum place {
    PLACE_PARTITION, /* nothing of the table's own; what is beneath may be */
    PLACE_NAMED,     /* files that snapshots name */
    PLACE_NUMBERED   /* files that have a number, and hints */
} place;

/** A directory to be looked at. */
typedef struct directory {
    const char *path;
    place place;
    size_t depth;       /* PLACE_PARTITION: columns of the partition so far */
    const char *prefix; /* PLACE_NUMBERED: "snapshot-" */
} directory;

/** A file that may be an orphan. */
typedef struct candidate {
    const char *path;
    const char *name; /* in it */
    bool is_numbered; /* its name alone tells that it is one */
} candidate;

/** A cleaning under way. */
typedef struct cleaning {
    sinter_table *table;
    sinter_orphan_options options;
    sinter__arena arena;
    size_t partition_depth;
    directory *dirs;
    size_t dir_count;
    size_t dir_capacity;
    candidate *files;
    size_t file_count;
    size_t file_capacity;
    sinter__references used;
    sinter_orphan_result result;
} cleaning;

static const sinter_env *
env_of(const cleaning *self)
{
    return self->table->env;
}

/* ---- candidates ---- */

static sinter_status
push_dir(cleaning *self, const directory *dir, sinter_error *err)
{
    if (self->dir_count == self->dir_capacity) {
        const size_t capacity = self->dir_capacity == 0 ? 64 : 2 * self->dir_capacity;

        SINTER__CHECK(
            sinter__resize(env_of(self), (void **)&self->dirs, capacity, sizeof *self->dirs, err));
        self->dir_capacity = capacity;
    }
    self->dirs[self->dir_count++] = *dir;
    return SINTER_OK;
}

static sinter_status
push_file(cleaning *self, const candidate *file, sinter_error *err)
{
    if (self->file_count == self->file_capacity) {
        const size_t capacity = self->file_capacity == 0 ? 64 : 2 * self->file_capacity;

        SINTER__CHECK(sinter__resize(env_of(self), (void **)&self->files, capacity,
                                     sizeof *self->files, err));
        self->file_capacity = capacity;
    }
    self->files[self->file_count++] = *file;
    return SINTER_OK;
}

/** Add "PARENT/NAME" to what is looked at. */
static sinter_status
add_dir(cleaning *self, const char *parent, const char *name, directory dir, sinter_error *err)
{
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(env_of(self), &path);
    SINTER__TRY(sinter__text_puts(&path, parent, err));
    SINTER__TRY(sinter__text_puts(&path, "/", err));
    SINTER__TRY(sinter__text_puts(&path, name, err));
    SINTER__TRY(sinter__arena_strdup(&self->arena, path.data, &dir.path, err));
    st = push_dir(self, &dir, err);
out:
    sinter_text_fini(&path);
    return st;
}

/** Names of a directory: they are gathered before anything is asked of them. */
typedef struct names {
    sinter__arena *arena;
    const char **items;
    size_t count;
    size_t capacity;
    sinter_error detail;
} names;

static sinter_status
note_name(void *ctx, const char *name)
{
    names *all = ctx;

    if (all->count == all->capacity) {
        const size_t capacity = all->capacity == 0 ? 64 : 2 * all->capacity;

        SINTER__CHECK(sinter__resize(all->arena->env, (void **)&all->items, capacity,
                                     sizeof *all->items, &all->detail));
        all->capacity = capacity;
    }
    SINTER__CHECK(sinter__arena_strdup(all->arena, name, &all->items[all->count], &all->detail));
    all->count++;
    return SINTER_OK;
}

static bool
begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool
ends_with(const char *text, const char *suffix)
{
    const size_t size = strlen(text);
    const size_t tail = strlen(suffix);

    return size >= tail && strcmp(text + size - tail, suffix) == 0;
}

/** A directory within one of partitions: of the next column, or of a bucket. */
static sinter_status
look_at_dir(cleaning *self, const directory *parent, const char *name, sinter_error *err)
{
    if (parent->place != PLACE_PARTITION) {
        return SINTER_OK;
    }
    if (parent->depth < self->partition_depth) {
        return strchr(name, '=') == NULL
                   ? SINTER_OK
                   : add_dir(self, parent->path, name,
                             (directory){.place = PLACE_PARTITION, .depth = parent->depth + 1},
                             err);
    }
    return begins_with(name, "bucket-")
               ? add_dir(self, parent->path, name, (directory){.place = PLACE_NAMED}, err)
               : SINTER_OK;
}

/** Temporary files are the io's to clean, which knows who writes them. */
static bool
is_candidate(const directory *dir, const char *name)
{
    if (dir->place == PLACE_PARTITION || ends_with(name, ".sinter-tmp")) {
        return false;
    }
    return dir->place == PLACE_NAMED ||
           (!begins_with(name, dir->prefix) && strcmp(name, "EARLIEST") != 0 &&
            strcmp(name, "LATEST") != 0);
}

static sinter_status
look_at(cleaning *self, const directory *dir, const char *name, sinter_error *err)
{
    sinter_io *io = env_of(self)->io;
    candidate file = {.is_numbered = dir->place == PLACE_NUMBERED};
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_io_stat info = {0};
    sinter_text path;
    sinter_status st = SINTER_OK;

    sinter_text_init(env_of(self), &path);
    SINTER__TRY(sinter__text_puts(&path, dir->path, err));
    SINTER__TRY(sinter__text_puts(&path, "/", err));
    SINTER__TRY(sinter__text_puts(&path, name, err));
    st = io->ops->stat(io, path.data, &info, &detail);
    if (st == SINTER_E_NOT_FOUND) { /* gone by now */
        st = SINTER_OK;
        goto out;
    }
    if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    SINTER__TRY(st);
    if (info.is_directory) {
        st = look_at_dir(self, dir, name, err);
    } else if (info.mtime_ms < self->options.older_than_ms && is_candidate(dir, name)) {
        SINTER__TRY(sinter__arena_strdup(&self->arena, path.data, &file.path, err));
        file.name = strrchr(file.path, '/') + 1;
        st = push_file(self, &file, err);
    }
out:
    sinter_text_fini(&path);
    return st;
}

static sinter_status
look_into(cleaning *self, const directory *dir, sinter_error *err)
{
    sinter_io *io = env_of(self)->io;
    sinter__arena arena = {.env = env_of(self)};
    names all = {.arena = &arena, .detail = SINTER_ERROR_INIT};
    sinter_status st = io->ops->list(io, dir->path, note_name, &all, &all.detail);

    if (st == SINTER_E_NOT_FOUND) {
        st = SINTER_OK;
    } else if (st != SINTER_OK && err != NULL) {
        *err = all.detail;
    }
    for (size_t i = 0; i < all.count && st == SINTER_OK; i++) {
        st = look_at(self, dir, all.items[i], err);
    }
    sinter__free(env_of(self), all.items);
    sinter__arena_fini(&arena);
    return st;
}

/** The numbered files of a branch. */
static sinter_status
add_home(cleaning *self, const sinter_table *branch, sinter_error *err)
{
    SINTER__CHECK(add_dir(self, branch->home, "snapshot",
                          (directory){.place = PLACE_NUMBERED, .prefix = "snapshot-"}, err));
    return add_dir(self, branch->home, "changelog",
                   (directory){.place = PLACE_NUMBERED, .prefix = "changelog-"}, err);
}

/** What partitions and buckets lie in. */
static sinter_status
add_data_root(cleaning *self, const char *root, const char *data_dir, sinter_error *err)
{
    return data_dir == NULL
               ? push_dir(self, &(const directory){.path = root, .place = PLACE_PARTITION}, err)
               : add_dir(self, root, data_dir, (directory){.place = PLACE_PARTITION}, err);
}

static sinter_status
add_root(cleaning *self, const char *data_dir, sinter_error *err)
{
    static const char *const named[] = {"manifest", "index", "statistics"};
    const char *root = self->table->root;

    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        SINTER__CHECK(add_dir(self, root, named[i], (directory){.place = PLACE_NAMED}, err));
    }
    return add_data_root(self, root, data_dir, err);
}

/** The places outside of the table that its files were put into, as its newest schema names them:
 *  nobody else's files may lie there. */
static sinter_status
add_external(cleaning *self, const sinter_schema *schema, const char *data_dir, sinter_error *err)
{
    sinter__external_paths external;

    SINTER__CHECK(sinter__external_paths_all(schema, &self->arena, &external, err));
    for (size_t i = 0; i < external.count; i++) {
        SINTER__CHECK(add_data_root(self, external.dirs[i], data_dir, err));
    }
    return SINTER_OK;
}

/* ---- branches ---- */

/** Call `each` with every branch, main first. */
typedef struct branch_walk {
    cleaning *cleaning;
    sinter_status (*each)(cleaning *self, sinter_table *branch, sinter_error *err);
    sinter_error *err;
} branch_walk;

static sinter_status
walk_branch(void *ctx, const char *name)
{
    const branch_walk *walk = ctx;
    const sinter_table_config config = {.struct_size = (uint32_t)sizeof config,
                                        .path = walk->cleaning->table->root,
                                        .branch = name};
    sinter_table *branch = NULL;
    sinter_status st = sinter_table_open(env_of(walk->cleaning), &config, &branch, walk->err);

    if (st == SINTER_OK) {
        st = walk->each(walk->cleaning, branch, walk->err);
    }
    sinter_table_close(branch);
    return st;
}

static sinter_status
each_branch(cleaning *self,
            sinter_status (*each)(cleaning *self, sinter_table *branch, sinter_error *err),
            sinter_error *err)
{
    branch_walk walk = {self, each, err};

    SINTER__CHECK(walk_branch(&walk, NULL));
    return sinter_table_each_branch(self->table, walk_branch, &walk, err);
}

static sinter_status
list_branch(cleaning *self, sinter_table *branch, sinter_error *err)
{
    sinter__table_options options;

    SINTER__CHECK(add_home(self, branch, err));
    if (branch->branch != NULL) {
        return SINTER_OK;
    }
    self->partition_depth = sinter_table_schema(branch)->partition_key_count;
    SINTER__CHECK(sinter__table_options_load(sinter_table_schema(branch), &options, err));
    SINTER__CHECK(add_external(self, sinter_table_schema(branch), options.data_dir, err));
    return add_root(self, options.data_dir, err);
}

static sinter_status
use_branch(cleaning *self, sinter_table *branch, sinter_error *err)
{
    return sinter__references_add_table(&self->used, branch,
                                        SINTER__REFERENCES_SNAPSHOTS | SINTER__REFERENCES_TAGS |
                                            SINTER__REFERENCES_CHANGELOGS,
                                        err);
}

/* ---- the difference ---- */

static void
remove_orphan(cleaning *self, const candidate *file)
{
    const bool is_dry = (self->options.flags & SINTER_REMOVE_DRY_RUN) != 0;
    sinter_io *io = env_of(self)->io;
    sinter_io_stat info = {0};
    sinter_removed_file told = {.struct_size = (uint32_t)sizeof told, .path = file->path};
    sinter_status st = io->ops->stat(io, file->path, &info, NULL);

    if (st == SINTER_OK && !is_dry) {
        st = io->ops->unlink(io, file->path, NULL);
    }
    if (st != SINTER_OK) {
        self->result.left_files += st != SINTER_E_NOT_FOUND;
        return;
    }
    told.bytes = info.size_bytes;
    self->result.files++;
    self->result.bytes += info.size_bytes;
    if (self->options.each != NULL) {
        self->options.each(self->options.ctx, &told);
    }
}

/** What dead processes left without a name, in the directories that were looked at. */
static void
clean_temporary(cleaning *self)
{
    sinter_io *io = env_of(self)->io;

    for (size_t i = 0; i < self->dir_count && io->ops->clean != NULL; i++) {
        uint64_t removed = 0;

        if (io->ops->clean(io, self->dirs[i].path, &removed, NULL) == SINTER_OK) {
            self->result.temporary_files += removed;
        }
    }
}

static sinter_status
clean(cleaning *self, sinter_error *err)
{
    size_t used = SIZE_MAX;

    SINTER__CHECK(each_branch(self, list_branch, err));
    for (size_t i = 0; i < self->dir_count; i++) { /* goes up meanwhile */
        const directory dir = self->dirs[i];

        SINTER__CHECK(look_into(self, &dir, err));
    }
    while (self->file_count > 0 && used != self->used.names.count) {
        used = self->used.names.count; /* what was committed while this went on is in use, too */
        SINTER__CHECK(each_branch(self, use_branch, err));
    }
    for (size_t i = 0; i < self->file_count; i++) {
        const candidate *file = &self->files[i];
        const sinter_bytes name = {(const uint8_t *)file->name, strlen(file->name)};

        if (file->is_numbered || !sinter__name_set_has(&self->used.names, name)) {
            remove_orphan(self, file);
        }
    }
    if ((self->options.flags & SINTER_REMOVE_DRY_RUN) == 0) {
        clean_temporary(self);
    }
    return SINTER_OK;
}

static sinter_status
load_options(cleaning *self, const sinter_orphan_options *given, sinter_error *err)
{
    const int64_t now_ms = sinter__now_ms(env_of(self));

    self->options = (sinter_orphan_options){.struct_size = (uint32_t)sizeof self->options};
    if (given != NULL) {
        SINTER__CHECK(sinter__struct_load(&self->options, sizeof self->options, given,
                                          "sinter_orphan_options", err));
    }
    SINTER__REQUIRE(err, (self->options.flags & ~(uint32_t)SINTER_REMOVE_DRY_RUN) == 0);
    if (self->options.older_than_ms == 0) {
        self->options.older_than_ms = now_ms - DAY_MS;
    }
    return self->options.older_than_ms <= now_ms
               ? SINTER_OK
               : SINTER__ERR(err, SINTER_E_INVALID,
                             "the limit lies in the future: files that are being written would go");
}

sinter_status
sinter_table_remove_orphans(sinter_table *table, const sinter_orphan_options *options,
                            sinter_orphan_result *out, sinter_error *err)
{
    cleaning self = {.table = table};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, table != NULL);
    SINTER__REQUIRE(err, out == NULL || out->struct_size >= sizeof out->struct_size);
    self.arena.env = table->env;
    self.used.names.arena.env = table->env;
    self.used.with_data = true;
    self.result.struct_size = (uint32_t)sizeof self.result;
    st = load_options(&self, options, err);
    if (st == SINTER_OK) {
        st = clean(&self, err);
    }
    if (out != NULL) {
        sinter__struct_store(out, &self.result, sizeof self.result);
    }
    sinter__name_set_fini(&self.used.names);
    sinter__free(table->env, self.dirs);
    sinter__free(table->env, self.files);
    sinter__arena_fini(&self.arena);
    return st;
}
