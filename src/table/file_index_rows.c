#include "table/file_index_rows.h"

#include "base/bitmap.h"

/* Append a bitmap's bytes. */
static sinter_status
put_bitmap(const sinter_env *env, sinter__bitmap *bitmap, sinter__pile *out, sinter_error *err)
{
    const uint64_t bytes = sinter__bitmap_encoded_bytes(bitmap);
    uint8_t *to = NULL;

    SINTER__CHECK(sinter__index_room(env, out, (size_t)bytes, &to, err));
    (void)sinter__bitmap_encode(bitmap, to);
    return SINTER_OK;
}

sinter_status
sinter__index_row_list_put(const sinter_env *env, const uint32_t *rows, uint32_t count,
                           sinter__pile *out, sinter_error *err)
{
    sinter__bitmap bitmap = {.env = env};
    bool is_new = false;
    sinter_status st = SINTER_OK;

    for (uint32_t i = 0; i < count; i++) {
        SINTER__TRY(sinter__bitmap_add(&bitmap, rows[i], &is_new, err));
    }
    SINTER__TRY(put_bitmap(env, &bitmap, out, err));
out:
    sinter__bitmap_fini(&bitmap);
    return st;
}

/** Which rows: all that have a number, or those whose number has a bit. */
typedef struct choice {
    const sinter__index_slices *slices;
    uint64_t mask; /* 0: all */
} choice;

static sinter_status
put_chosen(const sinter_env *env, const choice *chosen, sinter__pile *out, sinter_error *err)
{
    const sinter__index_slices *slices = chosen->slices;
    sinter__bitmap bitmap = {.env = env};
    uint64_t number = 0;
    bool is_new = false;
    sinter_status st = SINTER_OK;

    for (uint32_t row = 0; row < slices->rows; row++) {
        if (slices->number_of(slices->ctx, row, &number) &&
            (chosen->mask == 0 || (number & chosen->mask) != 0)) {
            SINTER__TRY(sinter__bitmap_add(&bitmap, row, &is_new, err));
        }
    }
    SINTER__TRY(put_bitmap(env, &bitmap, out, err));
out:
    sinter__bitmap_fini(&bitmap);
    return st;
}

sinter_status
sinter__index_slices_put_all(const sinter_env *env, const sinter__index_slices *slices,
                             sinter__pile *out, sinter_error *err)
{
    return put_chosen(env, &(choice){slices, 0}, out, err);
}

sinter_status
sinter__index_slices_put(const sinter_env *env, const sinter__index_slices *slices, unsigned bit,
                         sinter__pile *out, sinter_error *err)
{
    return put_chosen(env, &(choice){slices, (uint64_t)1 << bit}, out, err);
}

unsigned
sinter__index_bits(uint64_t number)
{
    return number == 0 ? 0 : 64 - (unsigned)__builtin_clzll(number);
}
