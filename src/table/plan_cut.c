/*
 * One large unit of a bucket as several tasks that cover the keys between them (interchange.md 4).
 *
 *     files      A ------------        C -----
 *                      B -----------------
 *     parts      [..        )[        )[     ..]     cut where files begin or end
 *
 * Only metadata is looked at: half of a file's bytes count where it begins, half where it ends. A
 * file that reaches into several parts is read by each of them, and retired once.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/uuid.h"
#include "table/plan_priv.h"

/* Bytes that count at a key. */
typedef struct sample {
    sinter_bytes key;
    uint64_t bytes;
} sample;

/* A unit that is cut. */
typedef struct cut_unit {
    sinter__planner *planner;
    const sinter__task_draft *whole;
    const sinter_file_meta *const *metas; /* of its files */
    sample *samples;
    sinter_bytes *cuts; /* ascending; part i begins with cut i - 1 and ends before cut i */
    size_t count;
    const sinter__manifest_entry **files; /* of a part */
    char id[SINTER__UUID_CHARS + 1];
} cut_unit;

static int
compare_samples(const void *a, const void *b)
{
    return sinter__key_compare(((const sample *)a)->key, ((const sample *)b)->key);
}

static uint64_t
total_bytes(const sinter__task_draft *draft)
{
    uint64_t total = 0;

    for (size_t i = 0; i < draft->count; i++) {
        total += (uint64_t)draft->files[i]->file.file_size;
    }
    return total;
}

static sinter_status
choose_cuts(cut_unit *unit, uint64_t total, size_t parts, sinter_error *err)
{
    const sinter_env *env = unit->planner->table->env;
    const size_t count = 2 * unit->whole->count;
    const uint64_t step = total / parts;
    sinter_bytes last;
    uint64_t behind = 0;

    SINTER__CHECK(SINTER__NEW(env, unit->samples, count, err));
    SINTER__CHECK(SINTER__NEW(env, unit->cuts, count, err));
    for (size_t i = 0; i < unit->whole->count; i++) {
        const sinter_file_meta *meta = unit->metas[i];

        unit->samples[2 * i] = (sample){meta->min_key, meta->file_size / 2};
        unit->samples[2 * i + 1] = (sample){meta->max_key, meta->file_size - meta->file_size / 2};
    }
    qsort(unit->samples, count, sizeof *unit->samples, compare_samples);
    last = unit->samples[0].key;
    for (size_t i = 0; i < count && unit->count < parts - 1; i++) {
        if (behind >= step * (unit->count + 1) &&
            sinter__key_compare(unit->samples[i].key, last) > 0) {
            unit->cuts[unit->count++] = last = unit->samples[i].key;
        }
        behind += unit->samples[i].bytes;
    }
    return SINTER_OK;
}

static bool
is_in_range(const sinter__key_range *range, const sinter_file_meta *meta)
{
    return !(range->has_begin && sinter__key_compare(meta->max_key, range->begin) < 0) &&
           !(range->has_end && sinter__key_compare(meta->min_key, range->end) >= 0);
}

static sinter_status
add_part(cut_unit *unit, size_t index, int64_t identifier, sinter_error *err)
{
    sinter__task_draft part = *unit->whole;

    part.unit_id = unit->id;
    part.identifier = identifier;
    part.files = unit->files;
    part.count = 0;
    if (index > 0) {
        part.range.has_begin = true;
        part.range.begin = unit->cuts[index - 1];
    }
    if (index < unit->count) {
        part.range.has_end = true;
        part.range.end = unit->cuts[index];
    }
    for (size_t i = 0; i < unit->whole->count; i++) {
        if (is_in_range(&part.range, unit->metas[i])) {
            unit->files[part.count++] = unit->whole->files[i];
        }
    }
    return sinter__planner_add(unit->planner, &part, err);
}

static sinter_status
add_parts(cut_unit *unit, sinter_error *err)
{
    sinter__planner *planner = unit->planner;
    const sinter_env *env = planner->table->env;
    const int64_t identifier = planner->identifier++;

    SINTER__CHECK(
        sinter__uuid(env, (uint64_t)sinter__now_ns(env) ^ (uint64_t)identifier, unit->id, err));
    SINTER__CHECK(SINTER__NEW(env, unit->files, unit->whole->count, err));
    for (size_t i = 0; i <= unit->count; i++) {
        SINTER__CHECK(add_part(unit, i, identifier, err));
    }
    return sinter__planner_is_full(planner) ? SINTER_END : SINTER_OK;
}

sinter_status
sinter__planner_add_cut(sinter__planner *self, const sinter__task_draft *draft,
                        const sinter_file_meta *const *metas, sinter_error *err)
{
    const sinter_env *env = self->table->env;
    const uint64_t most = self->options.task_bytes_max;
    const uint64_t total = total_bytes(draft);
    cut_unit unit = {.planner = self, .whole = draft, .metas = metas};
    sinter_status st = SINTER_OK;

    if (draft->type == SINTER__TASK_COMPACT && most > 0 && total > most) {
        const uint64_t parts = total / most + (total % most > 0 ? 1 : 0);

        SINTER__TRY(choose_cuts(&unit, total,
                                parts < 2 * draft->count ? (size_t)parts : 2 * draft->count, err));
    }
    st = unit.count > 0 ? add_parts(&unit, err) : sinter__planner_add(self, draft, err);
out:
    sinter__free(env, unit.files);
    sinter__free(env, unit.cuts);
    sinter__free(env, unit.samples);
    return st;
}
