/*
 * A listener that counts, and knows what has to add up.
 */
#ifndef SOAK_TOLD_H
#define SOAK_TOLD_H

#include "soak/common.h"

/** The listener of all environments. Static; any thread. */
const sinter_listener *
soak_told_listener(void);

/** Nothing runs any more: whatever was begun has ended. A wrong answer: it has not. */
void
soak_told_check(void);

/** One line of what was told. */
void
soak_told_print(void);

#endif
