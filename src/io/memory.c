/*
 * Files in memory: for tests, and for spills that needn't reach a disk.
 *
 * It keeps apart what is there and what would be there after power loss. Of a file, the bytes up to
 * `synced_bytes` last. Of a name, what sync_dir of its directory last saw: an entry holds the node
 * that the name means now (`now`) and the one it would mean after a restart (`durable`).
 *
 *   create, append, sync, publish "d/a"      now = A   durable = -   (a crash here: no "d/a")
 *   sync_dir "d"                             now = A   durable = A
 *   unlink "d/a"                             now = -   durable = A   (a crash here: "d/a" is back)
 *   sync_dir "d"                             the entry is gone, A freed
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/env.h"
#include "base/sync.h"
#include "io/io_base.h"

/* A file or directory without its names. Guarded by the io's mutex. */
typedef struct node {
    uint64_t references; /* entries (now and durable) and open files */
    sinter__buffer bytes;
    size_t synced_bytes;
    int64_t mtime_ms;
    bool is_directory;
    bool is_locked;
} node;

typedef struct entry {
    char *path; /* normalised, see normalise() */
    node *now;
    node *durable;
} entry;

typedef struct memory_io {
    sinter__io_base base;
    sinter__mutex mutex; /* guards everything below and every node */
    entry *entries;
    size_t entry_count;
    size_t entry_capacity;
    uint64_t open_files;
} memory_io;

typedef struct memory_file {
    sinter_io_file base;
    memory_io *io;
    node *node;
    char *path;
    bool is_created;
    bool is_published;
    bool holds_lock;
} memory_file;

static memory_io *
memory_of(sinter_io *io)
{
    return (memory_io *)io;
}

static memory_file *
memory_file_of(sinter_io_file *file)
{
    return (memory_file *)file;
}

/* ---- nodes, entries, paths ---- */

static void
node_release(memory_io *io, node *item)
{
    if (item == NULL) {
        return;
    }
    assert(item->references > 0);
    if (--item->references == 0) {
        sinter__buffer_fini(io->base.env, &item->bytes);
        sinter__free(io->base.env, item);
    }
}

static node *
node_hold(node *item)
{
    if (item != NULL) {
        assert(item->references > 0);
        item->references++;
    }
    return item;
}

static sinter_status
node_new(memory_io *io, bool is_directory, node **out, sinter_error *err)
{
    SINTER__CHECK(SINTER__NEW(io->base.env, *out, 1, err));
    (*out)->references = 1;
    (*out)->is_directory = is_directory;
    (*out)->mtime_ms = sinter__now_ms(io->base.env);
    return SINTER_OK;
}

/* One spelling per path: no empty and no "." parts, no slash at the end; "" is "." or "/". */
static sinter_status
normalise(const sinter_env *env, const char *path, char **out, sinter_error *err)
{
    size_t used = 0;

    SINTER__CHECK(sinter__strdup(env, path, out, err));
    while (*path != '\0') {
        const size_t part = strcspn(path, "/");

        if (part > 0 && !(part == 1 && path[0] == '.')) {
            if (used > 0) {
                (*out)[used++] = '/';
            }
            memmove(*out + used, path, part);
            used += part;
        }
        path += part + (path[part] == '/' ? 1 : 0);
    }
    (*out)[used] = '\0';
    return SINTER_OK;
}

static entry *
entry_find(const memory_io *io, const char *name, size_t size)
{
    for (size_t i = 0; i < io->entry_count; i++) {
        const char *path = io->entries[i].path;

        if (strncmp(path, name, size) == 0 && path[size] == '\0') {
            return &io->entries[i];
        }
    }
    return NULL;
}

static node *
node_find(const memory_io *io, const char *name)
{
    const entry *found = entry_find(io, name, strlen(name));

    return found == NULL ? NULL : found->now;
}

static size_t
parent_size(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash == NULL ? 0 : (size_t)(slash - name);
}

static bool
is_directory(const memory_io *io, const char *name, size_t size)
{
    const entry *found = NULL;

    if (size == 0) {
        return true;
    }
    found = entry_find(io, name, size);
    return found != NULL && found->now != NULL && found->now->is_directory;
}

static bool
is_child(const char *path, const char *dir, size_t dir_size)
{
    return strlen(path) > dir_size && parent_size(path) == dir_size &&
           strncmp(path, dir, dir_size) == 0 && (dir_size == 0 || path[dir_size] == '/');
}

static sinter_status
entry_new(memory_io *io, const char *name, entry **out, sinter_error *err)
{
    const sinter_env *env = io->base.env;
    char *copy = NULL;

    if (io->entry_count == io->entry_capacity) {
        const size_t wanted = io->entry_capacity == 0 ? 16 : io->entry_capacity * 2;

        SINTER__CHECK(sinter__resize(env, (void **)&io->entries, wanted, sizeof *io->entries, err));
        io->entry_capacity = wanted;
    }
    SINTER__CHECK(sinter__strdup(env, name, &copy, err));
    *out = &io->entries[io->entry_count++];
    **out = (entry){.path = copy};
    return SINTER_OK;
}

/* Let `name` mean `item`, which must not be taken unless `replaces`. Holds the node itself. */
static sinter_status
entry_set(memory_io *io, const char *name, node *item, bool replaces, sinter_error *err)
{
    entry *found = entry_find(io, name, strlen(name));

    if (name[0] == '\0' || (found != NULL && found->now != NULL && !replaces)) {
        return SINTER__IO_ERR(err, EEXIST, name, -1, "the name is taken");
    }
    if (!is_directory(io, name, parent_size(name))) {
        return SINTER__IO_ERR(err, ENOENT, name, -1, "no such directory");
    }
    if (found != NULL && found->now != NULL && found->now->is_directory) {
        return SINTER__IO_ERR(err, EISDIR, name, -1, "a directory has the name");
    }
    if (found == NULL) {
        SINTER__CHECK(entry_new(io, name, &found, err));
    }
    node_release(io, found->now);
    found->now = node_hold(item);
    return SINTER_OK;
}

/* Forget names that mean nothing, neither now nor after a restart. */
static void
entries_sweep(memory_io *io)
{
    size_t kept = 0;

    for (size_t i = 0; i < io->entry_count; i++) {
        if (io->entries[i].now == NULL && io->entries[i].durable == NULL) {
            sinter__free(io->base.env, io->entries[i].path);
        } else {
            io->entries[kept++] = io->entries[i];
        }
    }
    assert(kept <= io->entry_count);
    io->entry_count = kept;
}

/* ---- files ---- */

static sinter_status
file_new(memory_io *io, const char *path, memory_file **out, sinter_error *err)
{
    memory_file *file = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(io->base.env, file, 1, err));
    file->base.ops = &sinter__memory_ops;
    file->io = io;
    st = normalise(io->base.env, path, &file->path, err);
    if (st != SINTER_OK) {
        sinter__free(io->base.env, file);
        return st;
    }
    *out = file;
    return SINTER_OK;
}

/* Also for files that are not yet counted as open: they have no node. */
static void
memory_close(sinter_io_file *base)
{
    memory_file *file = memory_file_of(base);
    memory_io *io = file->io;

    sinter__mutex_lock(&io->mutex);
    if (file->node != NULL) {
        assert(io->open_files > 0);
        io->open_files--;
        if (file->holds_lock) {
            assert(file->node->is_locked);
            file->node->is_locked = false;
        }
        node_release(io, file->node);
    }
    sinter__mutex_unlock(&io->mutex);
    sinter__free(io->base.env, file->path);
    sinter__free(io->base.env, file);
}

/* Tie an open file to its node and hand it out. */
static void
file_finish(memory_file *file, node *item, sinter_io_file **out)
{
    assert(file->node == NULL && item != NULL);
    file->node = node_hold(item);
    file->io->open_files++;
    *out = &file->base;
}

static sinter_status
memory_open(sinter_io *io, const char *path, uint32_t flags, sinter_io_file **out,
            sinter_error *err)
{
    memory_io *memory = memory_of(io);
    memory_file *file = NULL;
    sinter_status st = SINTER_OK;
    node *item = NULL;

    (void)flags; /* nothing to advise */
    *out = NULL;
    SINTER__CHECK(file_new(memory, path, &file, err));
    sinter__mutex_lock(&memory->mutex);
    item = node_find(memory, file->path);
    if (item == NULL || item->is_directory) {
        st = SINTER__IO_ERR(err, item == NULL && file->path[0] != '\0' ? ENOENT : EISDIR, path, -1,
                            "can't open the file");
    } else {
        file_finish(file, item, out);
    }
    sinter__mutex_unlock(&memory->mutex);
    if (st != SINTER_OK) {
        memory_close(&file->base);
    }
    return st;
}

static sinter_status
memory_create_file(sinter_io *io, const char *dir, uint32_t flags, sinter_io_file **out,
                   sinter_error *err)
{
    memory_io *memory = memory_of(io);
    memory_file *file = NULL;
    sinter_status st = SINTER_OK;
    node *item = NULL;

    (void)flags;
    *out = NULL;
    SINTER__CHECK(file_new(memory, dir, &file, err));
    file->is_created = true;
    sinter__mutex_lock(&memory->mutex);
    if (!is_directory(memory, file->path, strlen(file->path))) {
        st = SINTER__IO_ERR(err, ENOENT, dir, -1, "no such directory");
    } else {
        st = node_new(memory, false, &item, err);
    }
    if (st == SINTER_OK) {
        file_finish(file, item, out);
        node_release(memory, item);
    }
    sinter__mutex_unlock(&memory->mutex);
    if (st != SINTER_OK) {
        memory_close(&file->base);
    }
    return st;
}

static sinter_status
memory_size(sinter_io_file *base, uint64_t *size_out, sinter_error *err)
{
    const memory_file *file = memory_file_of(base);

    (void)err;
    sinter__mutex_lock(&file->io->mutex);
    *size_out = file->node->bytes.size;
    sinter__mutex_unlock(&file->io->mutex);
    return SINTER_OK;
}

static sinter_status
read_range(const memory_file *file, const sinter_io_range *range, sinter_error *err)
{
    const sinter__buffer *bytes = &file->node->bytes;
    const uint64_t there = range->offset < bytes->size ? bytes->size - range->offset : 0;
    const size_t got = range->size < there ? range->size : (size_t)there;

    SINTER__CHECK(sinter__io_check_range(file->path, range, err));
    if (got > 0) {
        memcpy(range->data, bytes->data + range->offset, got);
    }
    sinter__io_count(&file->io->base.reads, 1);
    sinter__io_count(&file->io->base.read_bytes, got);
    if (got < range->size) {
        return SINTER__IO_ERR_END(err, file->path, range->offset + got, range->size - got);
    }
    return SINTER_OK;
}

static sinter_status
memory_read(sinter_io_file *base, const sinter_io_range *ranges, size_t count, sinter_error *err)
{
    const memory_file *file = memory_file_of(base);
    sinter_status st = SINTER_OK;

    sinter__mutex_lock(&file->io->mutex);
    for (size_t i = 0; i < count && st == SINTER_OK; i++) {
        st = read_range(file, &ranges[i], err);
    }
    sinter__mutex_unlock(&file->io->mutex);
    return st;
}

enum { TICKET_BEGUN = 0, TICKET_OFFSET = 1, TICKET_DATA = 2, TICKET_SIZE = 3 };

static sinter_status
memory_read_begin(sinter_io_file *base, const sinter_io_range *range, sinter_io_ticket *ticket,
                  sinter_error *err)
{
    memset(ticket, 0, sizeof *ticket);
    SINTER__CHECK(sinter__io_check_range(memory_file_of(base)->path, range, err));
    ticket->words[TICKET_BEGUN] = 1;
    ticket->words[TICKET_OFFSET] = range->offset;
    sinter__ticket_put(ticket, TICKET_DATA, range->data);
    ticket->words[TICKET_SIZE] = range->size;
    return SINTER_OK;
}

static sinter_status
memory_read_end(sinter_io_file *base, sinter_io_ticket *ticket, sinter_error *err)
{
    const sinter_io_range range = {.offset = ticket->words[TICKET_OFFSET],
                                   .data = sinter__ticket_get(ticket, TICKET_DATA),
                                   .size = (size_t)ticket->words[TICKET_SIZE]};

    SINTER__REQUIRE(err, ticket->words[TICKET_BEGUN] == 1);
    ticket->words[TICKET_BEGUN] = 0;
    return memory_read(base, &range, 1, err);
}

static sinter_status
check_writable(const memory_file *file, sinter_error *err)
{
    if (!file->is_created || file->is_published) {
        return SINTER__ERR_AT(err, SINTER_E_INVALID, file->path, -1,
                              "only a created file that has no name yet can be written");
    }
    return SINTER_OK;
}

static sinter_status
memory_append(sinter_io_file *base, const void *data, size_t size, sinter_error *err)
{
    memory_file *file = memory_file_of(base);
    memory_io *io = file->io;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(check_writable(file, err));
    sinter__mutex_lock(&io->mutex);
    st = sinter__buffer_append(io->base.env, &file->node->bytes, data, size, err);
    if (st == SINTER_OK) {
        file->node->mtime_ms = sinter__now_ms(io->base.env);
    }
    sinter__mutex_unlock(&io->mutex);
    sinter__io_count(&io->base.writes, 1);
    sinter__io_count(&io->base.written_bytes, size);
    return st;
}

static sinter_status
memory_sync(sinter_io_file *base, sinter_error *err)
{
    memory_file *file = memory_file_of(base);

    SINTER__CHECK(check_writable(file, err));
    sinter__mutex_lock(&file->io->mutex);
    assert(file->node->synced_bytes <= file->node->bytes.size);
    file->node->synced_bytes = file->node->bytes.size;
    sinter__mutex_unlock(&file->io->mutex);
    sinter__io_count(&file->io->base.syncs, 1);
    return SINTER_OK;
}

static sinter_status
memory_publish(sinter_io_file *base, const char *path, sinter_error *err)
{
    memory_file *file = memory_file_of(base);
    memory_io *io = file->io;
    sinter_status st = SINTER_OK;
    char *name = NULL;

    SINTER__CHECK(check_writable(file, err));
    SINTER__CHECK(normalise(io->base.env, path, &name, err));
    sinter__mutex_lock(&io->mutex);
    st = entry_set(io, name, file->node, false, err);
    sinter__mutex_unlock(&io->mutex);
    if (st == SINTER_OK) {
        sinter__free(io->base.env, file->path);
        file->path = name;
        file->is_published = true;
    } else {
        sinter__free(io->base.env, name);
    }
    return st;
}

/* ---- names ---- */

static sinter_status
memory_stat(sinter_io *io, const char *path, sinter_io_stat *out, sinter_error *err)
{
    memory_io *memory = memory_of(io);
    const node *item = NULL;
    char *name = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(normalise(memory->base.env, path, &name, err));
    sinter__mutex_lock(&memory->mutex);
    item = node_find(memory, name);
    if (name[0] == '\0') {
        *out = (sinter_io_stat){.is_directory = true};
    } else if (item == NULL) {
        st = SINTER__IO_ERR(err, ENOENT, path, -1, "can't ask about a file");
    } else {
        *out = (sinter_io_stat){.size_bytes = item->bytes.size,
                                .mtime_ms = item->mtime_ms,
                                .is_directory = item->is_directory};
    }
    sinter__mutex_unlock(&memory->mutex);
    sinter__free(memory->base.env, name);
    return st;
}

static void
make_durable(memory_io *io, entry *item)
{
    node *before = item->durable;

    assert(item->path != NULL);
    item->durable = node_hold(item->now);
    node_release(io, before);
}

static sinter_status
memory_sync_dir(sinter_io *io, const char *path, sinter_error *err)
{
    memory_io *memory = memory_of(io);
    sinter_status st = SINTER_OK;
    char *name = NULL;

    SINTER__CHECK(normalise(memory->base.env, path, &name, err));
    sinter__mutex_lock(&memory->mutex);
    if (!is_directory(memory, name, strlen(name))) {
        st = SINTER__IO_ERR(err, ENOENT, path, -1, "no such directory");
    } else {
        for (size_t i = 0; i < memory->entry_count; i++) {
            if (is_child(memory->entries[i].path, name, strlen(name))) {
                make_durable(memory, &memory->entries[i]);
            }
        }
        entries_sweep(memory);
    }
    sinter__mutex_unlock(&memory->mutex);
    sinter__io_count(&memory->base.syncs, 1);
    sinter__free(memory->base.env, name);
    return st;
}

static sinter_status
memory_mkdir(sinter_io *io, const char *path, sinter_error *err)
{
    memory_io *memory = memory_of(io);
    sinter_status st = SINTER_OK;
    node *item = NULL;
    char *name = NULL;

    SINTER__CHECK(normalise(memory->base.env, path, &name, err));
    sinter__mutex_lock(&memory->mutex);
    st = node_new(memory, true, &item, err);
    if (st == SINTER_OK) {
        st = entry_set(memory, name, item, false, err);
        node_release(memory, item);
    }
    sinter__mutex_unlock(&memory->mutex);
    sinter__free(memory->base.env, name);
    return st;
}

static bool
has_children(const memory_io *io, const char *name)
{
    const size_t size = strlen(name);

    for (size_t i = 0; i < io->entry_count; i++) {
        if (io->entries[i].now != NULL && is_child(io->entries[i].path, name, size)) {
            return true;
        }
    }
    return false;
}

static sinter_status
memory_unlink(sinter_io *io, const char *path, sinter_error *err)
{
    memory_io *memory = memory_of(io);
    sinter_status st = SINTER_OK;
    entry *found = NULL;
    char *name = NULL;

    SINTER__CHECK(normalise(memory->base.env, path, &name, err));
    sinter__mutex_lock(&memory->mutex);
    found = entry_find(memory, name, strlen(name));
    if (found == NULL || found->now == NULL) {
        st = SINTER__IO_ERR(err, ENOENT, path, -1, "can't remove");
    } else if (found->now->is_directory && has_children(memory, name)) {
        st = SINTER__IO_ERR(err, ENOTEMPTY, path, -1, "can't remove");
    } else {
        node_release(memory, found->now);
        found->now = NULL;
        entries_sweep(memory);
    }
    sinter__mutex_unlock(&memory->mutex);
    sinter__free(memory->base.env, name);
    return st;
}

/* Names of a directory, one after another, each closed by a zero. Called with the mutex held. */
static sinter_status
collect_names(const memory_io *io, const char *dir, sinter__buffer *names, sinter_error *err)
{
    const size_t dir_size = strlen(dir);
    const size_t skip = dir_size == 0 ? 0 : dir_size + 1; /* the slash */

    for (size_t i = 0; i < io->entry_count; i++) {
        const char *path = io->entries[i].path;

        if (io->entries[i].now == NULL || !is_child(path, dir, dir_size)) {
            continue;
        }
        SINTER__CHECK(
            sinter__buffer_append(io->base.env, names, path + skip, strlen(path + skip) + 1, err));
    }
    return SINTER_OK;
}

static sinter_status
memory_list(sinter_io *io, const char *path, sinter_status (*each)(void *ctx, const char *name),
            void *ctx, sinter_error *err)
{
    memory_io *memory = memory_of(io);
    sinter__buffer names = {0};
    sinter_status st = SINTER_OK;
    char *dir = NULL;

    SINTER__CHECK(normalise(memory->base.env, path, &dir, err));
    sinter__mutex_lock(&memory->mutex);
    if (is_directory(memory, dir, strlen(dir))) {
        st = collect_names(memory, dir, &names, err);
    } else {
        st = SINTER__IO_ERR(err, ENOENT, path, -1, "no such directory");
    }
    sinter__mutex_unlock(&memory->mutex);
    for (size_t i = 0; st == SINTER_OK && i < names.size;) {
        const char *name = (const char *)names.data + i;

        i += strlen(name) + 1;
        st = each(ctx, name);
    }
    sinter__buffer_fini(memory->base.env, &names);
    sinter__free(memory->base.env, dir);
    return st;
}

static sinter_status
memory_replace(sinter_io *io, const char *path, const void *data, size_t size, sinter_error *err)
{
    memory_io *memory = memory_of(io);
    sinter_status st = SINTER_OK;
    node *item = NULL;
    char *name = NULL;

    SINTER__CHECK(normalise(memory->base.env, path, &name, err));
    sinter__mutex_lock(&memory->mutex);
    SINTER__TRY(node_new(memory, false, &item, err));
    SINTER__TRY(sinter__buffer_append(memory->base.env, &item->bytes, data, size, err));
    item->synced_bytes = size;
    SINTER__TRY(entry_set(memory, name, item, true, err));
    assert(node_find(memory, name) == item);
    make_durable(memory, entry_find(memory, name, strlen(name)));
out:
    node_release(memory, item);
    sinter__mutex_unlock(&memory->mutex);
    sinter__free(memory->base.env, name);
    return st;
}

static sinter_status
memory_lock(sinter_io *io, const char *path, sinter_io_file **out, sinter_error *err)
{
    memory_io *memory = memory_of(io);
    memory_file *file = NULL;
    sinter_status st = SINTER_OK;
    node *item = NULL;

    *out = NULL;
    SINTER__CHECK(file_new(memory, path, &file, err));
    sinter__mutex_lock(&memory->mutex);
    item = node_hold(node_find(memory, file->path));
    if (item == NULL) {
        SINTER__TRY(node_new(memory, false, &item, err));
        SINTER__TRY(entry_set(memory, file->path, item, false, err));
    }
    if (item->is_locked) {
        st = SINTER__ERR_SYS(err, SINTER_E_BUSY, EWOULDBLOCK, path, -1,
                             "another process or handle holds the lock");
        goto out;
    }
    item->is_locked = true;
    file->holds_lock = true;
    file_finish(file, item, out);
out:
    node_release(memory, item);
    sinter__mutex_unlock(&memory->mutex);
    if (st != SINTER_OK) {
        memory_close(&file->base);
    }
    return st;
}

/* ---- the whole ---- */

static void
memory_destroy(sinter_io *io)
{
    memory_io *memory = memory_of(io);
    const sinter_env *env = memory->base.env;

    assert(memory->open_files == 0);
    for (size_t i = 0; i < memory->entry_count; i++) {
        node_release(memory, memory->entries[i].now);
        node_release(memory, memory->entries[i].durable);
        sinter__free(env, memory->entries[i].path);
    }
    sinter__free(env, memory->entries);
    sinter__mutex_fini(&memory->mutex);
    sinter__free(env, memory);
}

const sinter_io_ops sinter__memory_ops = {
    .struct_size = (uint32_t)sizeof(sinter_io_ops),
    .name = "memory",
    .open = memory_open,
    .create = memory_create_file,
    .size = memory_size,
    .read = memory_read,
    .read_begin = memory_read_begin,
    .read_end = memory_read_end,
    .append = memory_append,
    .sync = memory_sync,
    .publish = memory_publish,
    .close = memory_close,
    .stat = memory_stat,
    .sync_dir = memory_sync_dir,
    .mkdir = memory_mkdir,
    .unlink = memory_unlink,
    .list = memory_list,
    .replace = memory_replace,
    .lock = memory_lock,
    .destroy = memory_destroy,
};

sinter_status
sinter__memory_create(const sinter_env *env, sinter_io **out, sinter_error *err)
{
    memory_io *memory = NULL;
    sinter_status st = SINTER_OK;

    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, memory, 1, err));
    memory->base.io.ops = &sinter__memory_ops;
    memory->base.env = env;
    st = sinter__mutex_init(&memory->mutex, err);
    if (st != SINTER_OK) {
        sinter__free(env, memory);
        return st;
    }
    *out = &memory->base.io;
    return SINTER_OK;
}

/* A name lasts when its own directory and all above it do. */
static bool
is_reachable(const memory_io *io, const char *name)
{
    size_t size = parent_size(name);

    while (size > 0) {
        const entry *parent = entry_find(io, name, size);

        if (parent == NULL || parent->durable == NULL) {
            return false;
        }
        size = parent_size(parent->path);
    }
    return true;
}

sinter_status
sinter__memory_restart(sinter_io *io, sinter_error *err)
{
    memory_io *memory = memory_of(io);
    sinter_status st = SINTER_OK;

    assert(io->ops == &sinter__memory_ops);
    sinter__mutex_lock(&memory->mutex);
    if (memory->open_files > 0) {
        st = SINTER__ERR(err, SINTER_E_BUSY, "%llu files are still open",
                         (unsigned long long)memory->open_files);
    }
    for (size_t i = 0; i < memory->entry_count && st == SINTER_OK; i++) {
        entry *item = &memory->entries[i];

        node_release(memory, item->now);
        item->now = is_reachable(memory, item->path) ? node_hold(item->durable) : NULL;
        if (item->now != NULL) {
            assert(item->now->synced_bytes <= item->now->bytes.size);
            item->now->bytes.size = item->now->synced_bytes;
        }
    }
    for (size_t i = 0; i < memory->entry_count && st == SINTER_OK; i++) {
        make_durable(memory, &memory->entries[i]);
    }
    entries_sweep(memory);
    sinter__mutex_unlock(&memory->mutex);
    return st;
}
