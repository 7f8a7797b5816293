/*
 * Any bytes as a manifest, a manifest list and an index manifest: what is taken can be written
 * again, or is refused by name, and reads the same then. The bytes of the file are the input but
 * for its first byte, whose low two bits choose the kind.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sinter/sinter.h"
#include "table/index_manifest.h"
#include "table/manifest.h"

enum { ENTRIES_MAX = 256, MEMORY_BYTES = 64 << 20 };

static const sinter__meta_write how = {.path = "out"};

static size_t
read_manifest(const sinter_env *env, const char *path, sinter__arena *arena,
              const sinter__manifest_entry **entries, sinter_status *st)
{
    sinter__manifest_reader *reader = NULL;
    const sinter__manifest_entry *entry = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    size_t count = 0;

    *st = sinter__manifest_open(env, path, NULL, arena, &reader, &err);
    while (*st == SINTER_OK && count < ENTRIES_MAX &&
           (*st = sinter__manifest_next(reader, &entry, &err)) == SINTER_OK) {
        *st = sinter__manifest_entry_copy(arena, entry, &entries[count], &err);
        count += *st == SINTER_OK;
    }
    sinter__manifest_close(reader);
    return count;
}

static void
try_manifest(const sinter_env *env)
{
    sinter__arena arena = {.env = env};
    const sinter__manifest_entry *entries[ENTRIES_MAX];
    const sinter__manifest_entry *back[ENTRIES_MAX];
    sinter__manifest_meta meta;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;
    const size_t count = read_manifest(env, "in", &arena, entries, &st);

    if ((st == SINTER_OK || st == SINTER_END) && count > 0) {
        st = sinter__manifest_write(env, &how, entries, count, &meta, &err);
        if (st == SINTER_OK) {
            if (read_manifest(env, "out", &arena, back, &st) != count) {
                abort();
            }
        } else if (st != SINTER_E_UNSUPPORTED && st != SINTER_E_TOO_LARGE) {
            abort();
        }
    }
    sinter__arena_fini(&arena);
}

static void
try_list(const sinter_env *env)
{
    sinter__manifest_list list = {0};
    sinter__manifest_list back = {0};
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t bytes = 0;

    if (sinter__manifest_list_read(env, "in", 0, &list, &err) == SINTER_OK &&
        sinter__manifest_list_write(env, &how, list.items, list.count, &bytes, &err) == SINTER_OK &&
        (sinter__manifest_list_read(env, "out", bytes, &back, &err) != SINTER_OK ||
         back.count != list.count)) {
        abort();
    }
    sinter__manifest_list_fini(&back);
    sinter__manifest_list_fini(&list);
}

static void
try_index(const sinter_env *env)
{
    sinter__index_manifest manifest = {0};
    sinter__index_manifest back = {0};
    const sinter__index_entry *entries[ENTRIES_MAX];
    sinter_error err = SINTER_ERROR_INIT;
    uint64_t bytes = 0;

    if (sinter__index_manifest_read(env, "in", &manifest, &err) == SINTER_OK &&
        manifest.count <= ENTRIES_MAX) {
        for (size_t i = 0; i < manifest.count; i++) {
            entries[i] = &manifest.items[i];
        }
        if (sinter__index_manifest_write(env, &how, entries, manifest.count, &bytes, &err) ==
                SINTER_OK &&
            (sinter__index_manifest_read(env, "out", &back, &err) != SINTER_OK ||
             back.count != manifest.count)) {
            abort();
        }
    }
    sinter__index_manifest_fini(&back);
    sinter__index_manifest_fini(&manifest);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sinter_env env = *sinter_env_default();
    sinter_io *memory_io = NULL;

    if (size == 0) {
        return 0;
    }
    if (sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &memory_io, NULL) !=
            SINTER_OK ||
        sinter_memory_create(sinter_env_default(), MEMORY_BYTES, &env.memory, NULL) != SINTER_OK ||
        memory_io->ops->replace(memory_io, "in", data + 1, size - 1, NULL) != SINTER_OK) {
        abort();
    }
    env.io = memory_io;
    switch (data[0] & 3) {
    case 0:
        try_manifest(&env);
        break;
    case 1:
        try_list(&env);
        break;
    default:
        try_index(&env);
        break;
    }
    if (sinter_memory_used(env.memory) != 0) {
        abort();
    }
    sinter_memory_destroy(env.memory);
    sinter_io_destroy(memory_io);
    return 0;
}
