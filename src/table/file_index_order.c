/*
 * The reference keeps indexes in HashMaps, from which it makes others until they are written:
 *
 *   by column and key, then kind     as options are read
 *   by kind, then column, then key   while a file is written
 *   by name, then kind               what the file holds
 *
 * Each is walked slot after slot to make the next one, so the order of the last depends on all.
 */
#include "table/file_index_order.h"

#include <string.h>

#include "base/alloc.h"
#include "table/java_order.h"

/* What a map's items have in common. */
typedef enum map_key {
    KEY_PLACE, /* column and key of a MAP */
    KEY_KIND,
    KEY_COLUMN,
    KEY_KEY,
    KEY_NAME
} map_key;

/* An index, and where the map that is being made has it. */
typedef struct ranked {
    sinter__file_index index;
    uint32_t slot;
    size_t group; /* the first of those with its key */
} ranked;

static uint32_t
hash_of(const sinter__file_index *index, map_key key)
{
    enum { FIRST = 31, TRUE = 1231, FALSE = 1237 };

    switch (key) {
    case KEY_PLACE: {
        const uint32_t hash = (FIRST + sinter__java_string_hash(index->column_name)) * 31 +
                              (index->key == NULL ? 0 : sinter__java_string_hash(index->key));

        return hash * 31 + (index->key == NULL ? FALSE : TRUE);
    }
    case KEY_KIND:
        return sinter__java_string_hash(sinter__file_index_kind_name(index->kind));
    case KEY_COLUMN:
        return sinter__java_string_hash(index->column_name);
    case KEY_KEY:
        return index->key == NULL ? 0 : sinter__java_string_hash(index->key);
    default:
        return sinter__java_string_hash(index->name);
    }
}

static bool
is_same(const sinter__file_index *a, const sinter__file_index *b, map_key key)
{
    switch (key) {
    case KEY_KIND:
        return a->kind == b->kind;
    case KEY_COLUMN:
        return a->column == b->column;
    case KEY_KEY:
        return a->key == b->key ||
               (a->key != NULL && b->key != NULL && strcmp(a->key, b->key) == 0);
    default:
        return strcmp(a->name, b->name) == 0;
    }
}

/** A map: what its keys are, and how they came into it. */
typedef struct map_level {
    map_key key;
    bool computes; /* computeIfAbsent(), else put() */
} map_level;

/* Does an item stand before another one in the map? */
static bool
is_before(const ranked *a, const ranked *b, const map_level *level)
{
    if (a->slot != b->slot || a->group == b->group) {
        return a->slot < b->slot;
    }
    return (a->group < b->group) != level->computes;
}

/* Bring items into the order of a map. */
static void
order_map(ranked *items, size_t count, const map_level *level)
{
    const map_key key = level->key;
    size_t groups = 0;

    for (size_t i = 0; i < count; i++) {
        items[i].group = 0;
        while (!is_same(&items[items[i].group].index, &items[i].index, key)) {
            items[i].group++;
        }
        groups += items[i].group == i ? 1u : 0u;
    }
    groups -= level->computes && items[count - 1].group == count - 1 ? 1u : 0u;
    for (size_t i = 0; i < count; i++) {
        items[i].slot = sinter__java_slot(hash_of(&items[i].index, key), groups);
    }
    for (size_t i = 1; i < count; i++) {
        const ranked moved = items[i];
        size_t at = i;

        while (at > 0 && is_before(&moved, &items[at - 1], level)) {
            items[at] = items[at - 1];
            at--;
        }
        items[at] = moved;
    }
}

/* How many items from the first on are in one map, with the same keys of the maps around it. */
static size_t
count_inside(const ranked *items, size_t count, const map_level *around, size_t depth)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < depth; k++) {
            if (!is_same(&items[0].index, &items[i].index, around[k].key)) {
                return i;
            }
        }
    }
    return count;
}

/* Bring items into the order of maps in maps. */
static void
order_maps(ranked *items, size_t count, const map_level *levels, size_t level_count)
{
    for (size_t depth = 0; depth < level_count; depth++) {
        size_t inside = 0;

        for (size_t first = 0; first < count; first += inside) {
            inside = count_inside(items + first, count - first, levels, depth);
            order_map(items + first, inside, &levels[depth]);
        }
    }
}

sinter_status
sinter__file_index_order(const sinter_env *env, sinter__file_index *items, size_t count,
                         sinter_error *err)
{
    static const map_level read[] = {{KEY_PLACE, true}, {KEY_KIND, true}};
    static const map_level written[] = {
        {KEY_KIND, true}, {KEY_COLUMN, false}, {KEY_KEY, false}, {KEY_NAME, false}};
    static const map_level filed[] = {{KEY_NAME, true}, {KEY_KIND, false}};
    ranked *ranks = NULL;

    SINTER__CHECK(SINTER__NEW(env, ranks, count, err));
    for (size_t i = 0; i < count; i++) {
        ranks[i].index = items[i];
    }
    order_maps(ranks, count, read, sizeof read / sizeof read[0]);
    order_maps(ranks, count, written, sizeof written / sizeof written[0]);
    order_maps(ranks, count, filed, sizeof filed / sizeof filed[0]);
    for (size_t i = 0; i < count; i++) {
        items[i] = ranks[i].index;
    }
    sinter__free(env, ranks);
    return SINTER_OK;
}
