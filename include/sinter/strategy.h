/*
 * Strategies: which files of a bucket are compacted next, and why (spec/compaction.md 7).
 */
#ifndef SINTER_STRATEGY_H
#define SINTER_STRATEGY_H

#include "sinter/levels.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which rule made a pick. */
#define SINTER_PICK_RULE_MAP(X)                       \
    X(NONE, "none")                                   \
    X(OPTIMIZATION_INTERVAL, "optimization-interval") \
    X(TOTAL_SIZE, "total-size-threshold")             \
    X(INCREMENTAL_SIZE, "incremental-size-threshold") \
    X(SIZE_AMPLIFICATION, "size-amplification")       \
    X(SIZE_RATIO, "size-ratio")                       \
    X(FILE_NUM, "file-num")                           \
    X(FORCE_UP_LEVEL_0, "force-up-level-0")           \
    X(FULL, "full")                                   \
    X(FULL_REWRITE, "full-rewrite")                   \
    X(STALL, "stall")                                 \
    X(CUSTOM, "custom")

typedef enum sinter_pick_rule {
#define SINTER_PICK_RULE_CONSTANT(name, text) SINTER_PICK_##name,
    SINTER_PICK_RULE_MAP(SINTER_PICK_RULE_CONSTANT)
#undef SINTER_PICK_RULE_CONSTANT
        SINTER_PICK_RULE_COUNT
} sinter_pick_rule;

/** "size-ratio", ... Static; "unknown" for other numbers. */
SINTER_API const char *
sinter_pick_rule_code(sinter_pick_rule rule);

/** What a strategy is asked with. Borrowed for the call. */
typedef struct sinter_pick_request {
    uint32_t struct_size;
    uint32_t num_levels;          /* level 0 included; at least 2 */
    const sinter_level_run *runs; /* as sinter_file_set_runs() gives them */
    size_t run_count;
    size_t file_count;  /* of all runs together */
    int64_t now_ms;     /* since the Unix epoch */
    int32_t local_hour; /* of the day, 0..23 */
    int32_t reserved;
} sinter_pick_request;

/** What a strategy answers. */
typedef struct sinter_pick {
    uint32_t struct_size;
    int32_t output_level; /* 1..num_levels - 1 */
    bool file_rewrite;    /* each file by itself (spec 10) */
    int32_t rule;         /* sinter_pick_rule */
    /* Positions of the files to compact, counted through all runs in order; ascending. The asker
     * gives room for file_count positions. */
    size_t *members;
    size_t member_count;
    size_t
        run_count;  /* the members are the files of so many runs from the first; 0: they are not */
    char text[192]; /* the rule with its numbers ("312 % > 200 %"); also why there is no pick */
} sinter_pick;

typedef struct sinter_strategy sinter_strategy;

/**
 * Functions of a strategy; a user may implement one. Confined: a strategy serves one bucket, on the
 * thread of its manager.
 */
typedef struct sinter_strategy_ops {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name; /* "universal", ... */
    /**
     * Choose.
     * @param out  struct_size and members are set, everything else is zero
     * @return     SINTER_OK: `out` is the pick; SINTER_END: nothing to compact (text and rule may
     *             say why); failures. A pick that isn't safe (spec 6) is refused by the manager.
     */
    sinter_status (*pick)(sinter_strategy *strategy, const sinter_pick_request *request,
                          sinter_pick *out, sinter_error *err);
    /** Release. May be NULL for static strategies. */
    void (*destroy)(sinter_strategy *strategy);
} sinter_strategy_ops;

struct sinter_strategy {
    const sinter_strategy_ops *ops;
};

/** What a built-in strategy starts from. Zeroed with struct_size set: a new bucket. */
typedef struct sinter_strategy_origin {
    uint32_t struct_size;
    bool needs_lookup;    /* the table needs lookup (spec 13), also if the options don't say so */
    bool has_last_full;   /* last_full_ms counts */
    int64_t last_full_ms; /* largest creation time of restored files at level num-levels - 1 */
} sinter_strategy_origin;

/**
 * Make the strategy that the options ask for: universal, wrapped in force-up-level-0 where
 * `compaction.force-up-level-0` is set or the table needs lookup
 * (sinter_compact_needs_lookup()).
 *
 * @param env      allocator; borrowed until destroy
 * @param options  copied as far as they matter; NULL: defaults
 * @param origin   copied; NULL: a new bucket
 * @param out      release with sinter_strategy_destroy()
 * @return         SINTER_OK, SINTER_E_INVALID (options), SINTER_E_NOMEM
 * Source: spec/compaction.md 7.1 to 7.4.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_strategy_create(const sinter_env *env, const sinter_compact_options *options,
                       const sinter_strategy_origin *origin, sinter_strategy **out,
                       sinter_error *err);

/** Release; takes NULL and static strategies. */
SINTER_API void
sinter_strategy_destroy(sinter_strategy *strategy);

/**
 * Ask a strategy: as its `pick`, with arguments and answer checked.
 *
 * @param out  struct_size and members are set
 * @return     as `pick`; SINTER_E_INVALID: arguments; an answer whose output level isn't in
 *             1..num_levels - 1, or whose positions don't ascend or aren't there
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_strategy_pick(sinter_strategy *strategy, const sinter_pick_request *request,
                     sinter_pick *out, sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
