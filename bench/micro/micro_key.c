/* Typed columns into key bytes and back. */
#include "micro/micro.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 3, KEYS = 4096, REPEATS = 64, WORD_BYTES = 24 };

typedef struct key_state {
    sinter_key_codec *codec;
    size_t column_count;
    sinter_datum datums[KEYS][COLUMNS_MAX];
    char words[KEYS][WORD_BYTES];
    sinter_text key;
    sinter_text scratch;
    sinter_text encoded[KEYS];
} key_state;

/* xorshift, so that the keys are the same everywhere. */
static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void
fill_datums(key_state *state)
{
    uint64_t random = 88172645463325252u;

    for (size_t i = 0; i < KEYS; i++) {
        const size_t size = 4 + next_random(&random) % (WORD_BYTES - 4);

        for (size_t j = 0; j < size; j++) {
            state->words[i][j] = (char)('a' + next_random(&random) % 26);
        }
        for (size_t column = 0; column < state->column_count; column++) {
            sinter_datum *datum = &state->datums[i][column];

            if (sinter_key_codec_type(state->codec, column)->id == SINTER_TYPE_VARCHAR) {
                datum->as.bytes = (sinter_bytes){(const uint8_t *)state->words[i], size};
            } else {
                datum->as.integer = (int32_t)next_random(&random);
            }
        }
    }
}

static void *
setup(const micro_case *self)
{
    key_state *state = micro_allocate(sizeof *state);
    sinter_error err = SINTER_ERROR_INIT;

    memset(state, 0, sizeof *state);
    micro_require(sinter_key_codec_parse(sinter_env_default(), self->text, &state->codec, &err),
                  self->text, &err);
    state->column_count = sinter_key_codec_count(state->codec);
    sinter_text_init(sinter_env_default(), &state->key);
    sinter_text_init(sinter_env_default(), &state->scratch);
    fill_datums(state);
    for (size_t i = 0; i < KEYS; i++) {
        sinter_text_init(sinter_env_default(), &state->encoded[i]);
        micro_require(sinter_key_encode(state->codec, state->datums[i], &state->encoded[i], &err),
                      "encode", &err);
    }
    return state;
}

static void
teardown(void *pointer)
{
    key_state *state = pointer;

    for (size_t i = 0; i < KEYS; i++) {
        sinter_text_fini(&state->encoded[i]);
    }
    sinter_text_fini(&state->scratch);
    sinter_text_fini(&state->key);
    sinter_key_codec_destroy(state->codec);
    free(state);
}

static uint64_t
encode(const micro_case *self, void *pointer)
{
    key_state *state = pointer;
    sinter_error err = SINTER_ERROR_INIT;

    (void)self;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        for (size_t i = 0; i < KEYS; i++) {
            sinter_text_reset(&state->key);
            micro_require(sinter_key_encode(state->codec, state->datums[i], &state->key, &err),
                          "encode", &err);
        }
    }
    return (uint64_t)KEYS * REPEATS;
}

static uint64_t
decode(const micro_case *self, void *pointer)
{
    key_state *state = pointer;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_datum datums[COLUMNS_MAX];

    (void)self;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        for (size_t i = 0; i < KEYS; i++) {
            sinter_text_reset(&state->scratch);
            micro_require(sinter_key_decode(state->codec, sinter_text_bytes(&state->encoded[i]),
                                            &state->scratch, datums, &err),
                          "decode", &err);
        }
    }
    return (uint64_t)KEYS * REPEATS;
}

static const char BIGINT_KEY[] = "BIGINT NOT NULL";
static const char MIXED_KEY[] = "STRING NOT NULL\nINT NOT NULL\nSTRING NOT NULL";

const micro_case MICRO_KEY_CASES[] = {
    {"key-encode-bigint", "key", setup, encode, teardown, BIGINT_KEY, 0},
    {"key-encode-string-int-string", "key", setup, encode, teardown, MIXED_KEY, 0},
    {"key-decode-bigint", "key", setup, decode, teardown, BIGINT_KEY, 0},
    {"key-decode-string-int-string", "key", setup, decode, teardown, MIXED_KEY, 0},
    {0},
};
