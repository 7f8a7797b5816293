/*
 * Inside of sinter_text: room ahead of writing, and short ways to append.
 */
#ifndef SINTER_DOC_TEXT_H
#define SINTER_DOC_TEXT_H

#include "base/fail.h"
#include "sinter/type.h"

/** Make room for `extra` more bytes and the closing zero. SINTER_E_NOMEM leaves it unchanged. */
sinter_status
sinter__text_reserve(sinter_text *text, size_t extra, sinter_error *err);

/** Append a string. */
sinter_status
sinter__text_puts(sinter_text *text, const char *string, sinter_error *err);

/** Append the same byte `count` times. */
sinter_status
sinter__text_fill(sinter_text *text, char byte, size_t count, sinter_error *err);

#endif
