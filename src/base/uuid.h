/*
 * Names for new files: random UUIDs, from the system or from the environment's seed.
 */
#ifndef SINTER_BASE_UUID_H
#define SINTER_BASE_UUID_H

#include "sinter/env.h"

enum { SINTER__UUID_CHARS = 36 };

/**
 * Write a random (version 4) UUID and a closing zero.
 * With env->random_seed != 0 the sequence follows from the seed and `nonce` only.
 */
sinter_status
sinter__uuid(const sinter_env *env, uint64_t nonce, char out[SINTER__UUID_CHARS + 1],
             sinter_error *err);

#endif
