#include "compact/strategy.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "compact/load.h"
#include "compact/strategy_parts.h"

/** The built-in strategy: universal, perhaps with level 0 forced up. */
typedef struct built_in {
    sinter_strategy base;
    const sinter_env *env;
    sinter_compact_options options;
    sinter__universal universal;
    sinter__force_up force_up;
} built_in;

const char *
sinter_pick_rule_code(sinter_pick_rule rule)
{
    switch (rule) {
#define RULE_CODE(name, code) \
    case SINTER_PICK_##name:  \
        return code;
        SINTER_PICK_RULE_MAP(RULE_CODE)
#undef RULE_CODE
    default:
        return "unknown";
    }
}

void
sinter__pick_explain(sinter_pick *out, sinter_pick_rule rule, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(out->text, sizeof out->text, format, args);
    va_end(args);
    out->rule = (int32_t)rule;
}

void
sinter__pick_runs(sinter_pick *out, const sinter_pick_request *request, size_t run_count,
                  int32_t output_level)
{
    assert(run_count <= request->run_count);
    out->output_level = output_level;
    out->run_count = run_count;
    out->member_count = 0;
    for (size_t i = 0; i < run_count; i++) {
        for (size_t f = 0; f < request->runs[i].count; f++) {
            out->members[out->member_count] = out->member_count;
            out->member_count++;
        }
    }
}

static sinter_status
universal_pick(sinter_strategy *strategy, const sinter_pick_request *request, sinter_pick *out,
               sinter_error *err)
{
    built_in *own = (built_in *)strategy;

    (void)err;
    return sinter__universal_pick(&own->universal, request, out);
}

static sinter_status
force_up_pick(sinter_strategy *strategy, const sinter_pick_request *request, sinter_pick *out,
              sinter_error *err)
{
    built_in *own = (built_in *)strategy;

    (void)err;
    return sinter__force_up_pick(&own->force_up, &own->universal, request, out);
}

static void
built_in_destroy(sinter_strategy *strategy)
{
    built_in *own = (built_in *)strategy;

    sinter__free(own->env, own);
}

static const sinter_strategy_ops universal_ops = {.struct_size = (uint32_t)sizeof universal_ops,
                                                  .name = "universal",
                                                  .pick = universal_pick,
                                                  .destroy = built_in_destroy};
static const sinter_strategy_ops force_up_ops = {.struct_size = (uint32_t)sizeof force_up_ops,
                                                 .name = "force-up-level-0",
                                                 .pick = force_up_pick,
                                                 .destroy = built_in_destroy};

sinter_status
sinter__strategy_create(const sinter_env *env, const sinter__strategy_config *config,
                        sinter_strategy **out, sinter_error *err)
{
    built_in *own = NULL;

    SINTER__CHECK(SINTER__NEW(env, own, 1, err));
    own->base.ops = config->forces_up ? &force_up_ops : &universal_ops;
    own->env = env;
    own->options = *config->options;
    own->universal.options = &own->options;
    sinter__early_full_init(&own->universal.early, &own->options, config->origin);
    own->force_up.interval = config->force_up_interval;
    *out = &own->base;
    return SINTER_OK;
}

/* Spec 7.4, "Which one". */
static uint32_t
force_up_interval(const sinter_compact_options *options, bool needs_lookup)
{
    if (!needs_lookup || options->lookup_compact == SINTER_LOOKUP_COMPACT_RADICAL) {
        return 0;
    }
    return sinter_compact_lookup_max_interval(options);
}

sinter_status
sinter_strategy_create(const sinter_env *env, const sinter_compact_options *given,
                       const sinter_strategy_origin *given_origin, sinter_strategy **out,
                       sinter_error *err)
{
    sinter_strategy_origin origin = {.struct_size = (uint32_t)sizeof origin};
    sinter_compact_options options;
    sinter__strategy_config config = {.options = &options, .origin = &origin};
    bool needs_lookup = false;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(sinter__compact_options_load(given, &options, err));
    if (given_origin != NULL) {
        SINTER__CHECK(sinter__struct_load(&origin, sizeof origin, given_origin,
                                          "sinter_strategy_origin", err));
    }
    needs_lookup = origin.needs_lookup || sinter_compact_needs_lookup(&options);
    config.forces_up = needs_lookup || options.force_up_level_0;
    config.force_up_interval = force_up_interval(&options, needs_lookup);
    return sinter__strategy_create(env, &config, out, err);
}

void
sinter_strategy_destroy(sinter_strategy *strategy)
{
    if (strategy != NULL && strategy->ops->destroy != NULL) {
        strategy->ops->destroy(strategy);
    }
}

static sinter_status
check_request(const sinter_pick_request *request, sinter_error *err)
{
    size_t files = 0;

    SINTER__REQUIRE(err, request->runs != NULL || request->run_count == 0);
    SINTER__REQUIRE(err,
                    request->num_levels >= 2 && request->num_levels <= (uint32_t)INT32_MAX + 1);
    SINTER__REQUIRE(err, request->local_hour >= 0 && request->local_hour <= 23);
    for (size_t i = 0; i < request->run_count; i++) {
        const sinter_level_run *run = &request->runs[i];

        if (run->count > request->file_count - files) {
            return SINTER__ERR(err, SINTER_E_INVALID, "the runs hold more than %zu files",
                               request->file_count);
        }
        if (run->level < 0 || (i > 0 && run->level < request->runs[i - 1].level)) {
            return SINTER__ERR(err, SINTER_E_INVALID, "run %zu, of level %d, is out of order", i,
                               run->level);
        }
        files += run->count;
    }
    SINTER__REQUIRE(err, files == request->file_count);
    return SINTER_OK;
}

/* Are the members the files of so many runs from the first? */
static bool
is_prefix(const sinter_pick_request *request, const sinter_pick *pick)
{
    size_t files = 0;

    if (pick->run_count > request->run_count) {
        return false;
    }
    for (size_t i = 0; i < pick->run_count; i++) {
        files += request->runs[i].count;
    }
    /* As positions ascend, the last one tells of all. */
    return files == pick->member_count && (files == 0 || pick->members[files - 1] == files - 1);
}

static sinter_status
check_answer(const sinter_strategy_ops *ops, const sinter_pick_request *request,
             const sinter_pick *pick, sinter_error *err)
{
    const char *name = ops->name == NULL ? "" : ops->name;

    if (pick->output_level < 1 || (uint32_t)pick->output_level > request->num_levels - 1) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "strategy %s: the output level %d is outside of 1..%u", name,
                           pick->output_level, request->num_levels - 1);
    }
    if (pick->member_count > request->file_count) {
        return SINTER__ERR(err, SINTER_E_INVALID, "strategy %s: %zu of %zu files are picked", name,
                           pick->member_count, request->file_count);
    }
    for (size_t i = 0; i < pick->member_count; i++) {
        if (pick->members[i] >= request->file_count ||
            (i > 0 && pick->members[i] <= pick->members[i - 1])) {
            return SINTER__ERR(err, SINTER_E_INVALID,
                               "strategy %s: position %zu is out of order or outside of %zu files",
                               name, pick->members[i], request->file_count);
        }
    }
    if (pick->run_count > 0 && !is_prefix(request, pick)) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "strategy %s: the files picked aren't those of the first %zu runs", name,
                           pick->run_count);
    }
    return SINTER_OK;
}

sinter_status
sinter_strategy_pick(sinter_strategy *strategy, const sinter_pick_request *given, sinter_pick *out,
                     sinter_error *err)
{
    sinter_pick_request request = {.struct_size = (uint32_t)sizeof request};
    sinter_strategy_ops ops = {.struct_size = (uint32_t)sizeof ops};
    sinter_pick pick = {.struct_size = (uint32_t)sizeof pick};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, strategy != NULL && strategy->ops != NULL);
    SINTER__REQUIRE(err, given != NULL && out != NULL);
    SINTER__CHECK(sinter__struct_load(&ops, sizeof ops, strategy->ops, "sinter_strategy_ops", err));
    SINTER__CHECK(sinter__struct_load(&request, sizeof request, given, "sinter_pick_request", err));
    SINTER__REQUIRE(err, ops.pick != NULL);
    SINTER__CHECK(check_request(&request, err));
    SINTER__REQUIRE(err, out->members != NULL || request.file_count == 0);
    pick.members = out->members;
    st = ops.pick(strategy, &request, &pick, err);
    if (st == SINTER_OK) {
        st = check_answer(&ops, &request, &pick, err);
    }
    if (st != SINTER_OK && st != SINTER_END) {
        return st;
    }
    if (st == SINTER_END || pick.member_count == 0) {
        st = SINTER_END;
        pick.member_count = 0;
        pick.run_count = 0;
    }
    pick.members = out->members;
    pick.text[sizeof pick.text - 1] = '\0';
    sinter__struct_store(out, &pick, sizeof pick);
    return st;
}
