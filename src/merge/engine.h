/*
 * What the ways of merging have in common: each fills a sink from a set of inputs.
 *
 *   loser_tree   the fast one, for inputs whose files have ages
 *   min_heap     `sort-engine` = `min-heap`
 *   lone_input   a single input with several versions of a key
 *   record_tree  spec/compaction.md 14.2 to the letter, for bare runs, where ties of sequence fall
 *                as that tree decides
 */
#ifndef SINTER_MERGE_ENGINE_H
#define SINTER_MERGE_ENGINE_H

#include "merge/input.h"
#include "merge/sink.h"

typedef struct sinter__engine sinter__engine;

typedef struct sinter__engine_ops {
    /**
     * Put rows into the sink until it is full, or what was put must be consumed first.
     * Called with an empty sink whose former rows were consumed.
     * @return SINTER_OK with at least one range; SINTER_END when nothing is left; failures
     */
    sinter_status (*fill)(sinter__engine *engine, sinter__sink *sink, sinter_error *err);
    void (*destroy)(sinter__engine *engine);
} sinter__engine_ops;

struct sinter__engine {
    const sinter__engine_ops *ops;
};

/** Asks whether an undecoded block may leave as it is; see sinter_merge_options. */
typedef struct sinter__block_gate {
    bool (*accepts)(void *ctx, const sinter_block_info *info);
    void *ctx;
} sinter__block_gate;

/** All inputs start DRAINED and are borrowed. */
sinter_status
sinter__loser_tree_create(const sinter_env *env, sinter__input *inputs, size_t count,
                          sinter__block_gate gate, sinter__engine **out, sinter_error *err);
sinter_status
sinter__min_heap_create(const sinter_env *env, sinter__input *inputs, size_t count,
                        sinter__engine **out, sinter_error *err);
sinter_status
sinter__record_tree_create(const sinter_env *env, sinter__input *inputs, size_t count,
                           sinter__engine **out, sinter_error *err);
/** For one input, whatever its rows' origins: nothing but versions of a key has to be ordered. */
sinter_status
sinter__lone_input_create(const sinter_env *env, sinter__input *input, sinter__engine **out,
                          sinter_error *err);

#endif
