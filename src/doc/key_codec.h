/*
 * Keys that need no encoding.
 */
#ifndef SINTER_DOC_KEY_CODEC_H
#define SINTER_DOC_KEY_CODEC_H

#include "sinter/type.h"

/**
 * Are the bytes of the only value its key as they are: is it a text or bytes, within its type, in a
 * column that is NOT NULL?
 *
 * @param values  one per column of the codec
 * @param out     then the key, which lies in the value
 * @return        false: sinter_key_encode() encodes it or says what is wrong
 */
bool
sinter__key_codec_is_value(const sinter_key_codec *codec, const sinter_datum *values,
                           sinter_bytes *out);

#endif
