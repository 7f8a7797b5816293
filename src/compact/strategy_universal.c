/*
 * A unit is a prefix of the runs: the newest data, down to where the next run is much larger. It
 * goes to the level above that run, so nothing that is left out lies between.
 */
#include "compact/strategy_universal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compact/off_peak.h"
#include "compact/strategy_parts.h"

/* a * b, at most INT64_MAX. */
static uint64_t
multiply(uint64_t a, uint64_t b)
{
    uint64_t product = 0;

    if (__builtin_mul_overflow(a, b, &product) || product > (uint64_t)INT64_MAX) {
        return (uint64_t)INT64_MAX;
    }
    return product;
}

static int32_t
max_level_of(const sinter_pick_request *request)
{
    return (int32_t)(request->num_levels - 1);
}

/* Extend `*count` runs until the output level isn't 0, which no unit has. */
static int32_t
choose_level(const sinter_pick_request *request, size_t *count)
{
    const sinter_level_run *runs = request->runs;
    int32_t level = *count == request->run_count ? max_level_of(request) : runs[*count].level - 1;

    while (level <= 0 && *count < request->run_count) {
        level = runs[*count].level; /* the first above 0 ends it */
        (*count)++;
    }
    return *count == request->run_count ? max_level_of(request) : level;
}

/** Runs that a size rule gathers. */
typedef struct gathering {
    uint64_t bytes;
    size_t count;
    double percent; /* of the bytes; a run that is larger stops it */
} gathering;

static void
gather(gathering *taken, const sinter_pick_request *request, bool is_triggered)
{
    while (taken->count < request->run_count) {
        const sinter_level_run *run = &request->runs[taken->count];
        const uint64_t bytes = sinter__run_bytes(run);

        if ((double)taken->bytes * taken->percent / 100.0 < (double)bytes &&
            (!is_triggered || run->level > 1)) {
            break;
        }
        taken->bytes = sinter__add_bytes(taken->bytes, bytes);
        taken->count++;
        is_triggered = true;
    }
}

enum { CAUSE_CHARS = 48 };

/* What asks for a pick, in front of where it ends. */
static void
print_cause(const sinter__universal *universal, const sinter_pick_request *request,
            const sinter_pick *pick, size_t asked, char out[CAUSE_CHARS])
{
    if (pick->rule == SINTER_PICK_FILE_NUM) {
        (void)snprintf(out, CAUSE_CHARS, "%zu runs > trigger %u: ", request->run_count,
                       universal->options->num_sorted_run_trigger);
    } else if (pick->rule == SINTER_PICK_FORCE_UP_LEVEL_0) {
        (void)snprintf(out, CAUSE_CHARS, "%zu runs in level 0: ", asked);
    } else {
        (void)snprintf(out, CAUSE_CHARS, "runs of like size: ");
    }
}

/* Why a pick ends where it does. `asked` is where it began. */
static void
explain_unit(const sinter__universal *universal, const sinter_pick_request *request,
             const gathering *taken, size_t asked, sinter_pick *out)
{
    const sinter_pick_rule rule = (sinter_pick_rule)out->rule;
    char cause[CAUSE_CHARS];

    print_cause(universal, request, out, asked, cause);
    if (out->run_count == request->run_count) {
        sinter__pick_explain(out, rule, "%sall %zu runs to level %d", cause, out->run_count,
                             out->output_level);
    } else if (out->run_count > taken->count) {
        sinter__pick_explain(out, rule, "%s%zu of %zu runs to level %d, as level 0 is no output",
                             cause, out->run_count, request->run_count, out->output_level);
    } else {
        sinter__pick_explain(out, rule,
                             "%s%zu of %zu runs to level %d, as the next has %" PRIu64
                             " bytes > %.0f %% of %" PRIu64,
                             cause, out->run_count, request->run_count, out->output_level,
                             sinter__run_bytes(&request->runs[out->run_count]), taken->percent,
                             taken->bytes);
    }
}

sinter_status
sinter__universal_pick_by_ratio(sinter__universal *universal, const sinter_pick_request *request,
                                sinter_pick_rule rule, size_t count, bool forced, sinter_pick *out)
{
    const uint32_t off_peak = sinter__off_peak_ratio(universal->options, request->local_hour);
    gathering taken = {.percent =
                           100.0 + (double)universal->options->size_ratio + (double)off_peak};
    size_t run_count = 0;
    int32_t level = 0;

    assert(count >= 1 && count <= request->run_count);
    while (taken.count < count) {
        taken.bytes =
            sinter__add_bytes(taken.bytes, sinter__run_bytes(&request->runs[taken.count]));
        taken.count++;
    }
    gather(&taken, request, forced || count > 1);
    if (taken.count == 1 && !forced) {
        sinter__pick_explain(out, SINTER_PICK_NONE,
                             "run 1 has %" PRIu64 " bytes > %.0f %% of %" PRIu64,
                             request->run_count < 2 ? 0 : sinter__run_bytes(&request->runs[1]),
                             taken.percent, taken.bytes);
        return SINTER_END;
    }
    run_count = taken.count;
    level = choose_level(request, &run_count);
    if (run_count == request->run_count) {
        sinter__early_full_note(&universal->early, request->now_ms);
    }
    sinter__pick_runs(out, request, run_count, level);
    out->rule = (int32_t)rule;
    explain_unit(universal, request, &taken, count, out);
    return SINTER_OK;
}

/* Do the younger runs together outweigh the oldest? Either way `out` has the numbers. */
static bool
try_size_amplification(const sinter__universal *universal, const sinter_pick_request *request,
                       sinter_pick *out)
{
    const size_t last = request->run_count - 1;
    const uint64_t limit = universal->options->max_size_amplification_percent;
    const uint64_t oldest = sinter__run_bytes(&request->runs[last]);
    uint64_t others = 0;
    bool is_above = false;

    for (size_t i = 0; i < last; i++) {
        others = sinter__add_bytes(others, sinter__run_bytes(&request->runs[i]));
    }
    others = multiply(others, 100);
    is_above = others > multiply(limit, oldest);
    if (oldest == 0) {
        sinter__pick_explain(out, is_above ? SINTER_PICK_SIZE_AMPLIFICATION : SINTER_PICK_NONE,
                             "the oldest run is empty, the others have %" PRIu64 " bytes",
                             others / 100);
    } else {
        /* Rounded away from the limit. */
        sinter__pick_explain(out, is_above ? SINTER_PICK_SIZE_AMPLIFICATION : SINTER_PICK_NONE,
                             "size amplification %" PRIu64 " %% %s %" PRIu64 " %%",
                             others / oldest + (is_above && others % oldest != 0 ? 1 : 0),
                             is_above ? ">" : "<=", limit);
    }
    return is_above;
}

static sinter_status
pick_all(const sinter_pick_request *request, sinter_pick *out)
{
    sinter__pick_runs(out, request, request->run_count, max_level_of(request));
    return out->member_count == 0 ? SINTER_END : SINTER_OK;
}

sinter_status
sinter__universal_pick(sinter__universal *universal, const sinter_pick_request *request,
                       sinter_pick *out)
{
    const size_t trigger = universal->options->num_sorted_run_trigger;
    const size_t count = request->run_count;
    char no_amplification[sizeof out->text];
    sinter_status st = SINTER_END;

    if (sinter__early_full_try(&universal->early, request, out)) {
        return pick_all(request, out);
    }
    if (count < trigger) {
        sinter__pick_explain(out, SINTER_PICK_NONE, "%zu runs, trigger %zu", count, trigger);
        return SINTER_END;
    }
    if (try_size_amplification(universal, request, out)) {
        sinter__early_full_note(&universal->early, request->now_ms);
        return pick_all(request, out);
    }
    memcpy(no_amplification, out->text, sizeof no_amplification);
    st = sinter__universal_pick_by_ratio(universal, request, SINTER_PICK_SIZE_RATIO, 1, false, out);
    if (st == SINTER_END && count > trigger) {
        return sinter__universal_pick_by_ratio(universal, request, SINTER_PICK_FILE_NUM,
                                               count - trigger + 1, false, out);
    }
    if (st == SINTER_END) {
        char size_ratio[sizeof out->text];

        memcpy(size_ratio, out->text, sizeof size_ratio);
        sinter__pick_explain(out, SINTER_PICK_NONE, "%zu runs, trigger %zu; %.70s; %.70s", count,
                             trigger, no_amplification, size_ratio);
    }
    return st;
}
