#include "avro_compare.h"

#include <criterion/criterion.h>
#include <string.h>

bool
avro_compare_unwrap(avro_value_t *value)
{
    avro_value_t branch = {0};

    if (avro_value_get_type(value) == AVRO_UNION) {
        avro_value_get_current_branch(value, &branch);
        *value = branch;
    }
    return avro_value_get_type(value) != AVRO_NULL;
}

static void
compare_bytes(avro_value_t *value, sinter_bytes ours)
{
    const void *data = NULL;
    const char *text = NULL;
    size_t size = 0;

    if (avro_value_get_type(value) == AVRO_STRING) {
        avro_value_get_string(value, &text, &size);
        data = text;
        size--;
    } else {
        avro_value_get_bytes(value, &data, &size);
    }
    cr_assert(ours.size == size && (size == 0 || memcmp(ours.data, data, size) == 0));
}

static int64_t
number_of(avro_value_t *value)
{
    int32_t small = 0;
    int64_t number = 0;

    if (avro_value_get_type(value) == AVRO_INT32) {
        avro_value_get_int(value, &small);
        return small;
    }
    avro_value_get_long(value, &number);
    return number;
}

static void
compare_list(avro_value_t *theirs, const sinter__avro_want *want, const sinter__avro_list *list)
{
    size_t count = 0;

    avro_value_get_size(theirs, &count);
    cr_assert_eq(list->count, count);
    for (size_t i = 0; i < count; i++) {
        avro_value_t item;

        avro_value_get_by_index(theirs, i, &item, NULL);
        if (!avro_compare_unwrap(&item)) {
            cr_assert_eq(((const int64_t *)list->items)[i], INT64_MIN);
        } else if (want->form == SINTER__AVRO_FORM_INT64_LIST) {
            cr_assert_eq(((const int64_t *)list->items)[i], number_of(&item));
        } else if (want->form == SINTER__AVRO_FORM_BYTES_LIST) {
            compare_bytes(&item, ((const sinter_bytes *)list->items)[i]);
        } else {
            avro_compare(&item, want->shape, (const uint8_t *)list->items + i * want->shape->size);
        }
    }
}

void
avro_compare(avro_value_t *theirs, const sinter__avro_shape *shape, const uint8_t *ours)
{
    uint32_t has = 0;

    memcpy(&has, ours + shape->has_offset, sizeof has);
    for (uint32_t i = 0; i < shape->count; i++) {
        const sinter__avro_want *want = &shape->wants[i];
        const void *member = ours + want->offset;
        avro_value_t value;
        const bool is_there = avro_value_get_by_name(theirs, want->name, &value, NULL) == 0 &&
                              avro_compare_unwrap(&value);

        cr_assert(want->has_bit == 0 || ((has & want->has_bit) != 0) == is_there);
        if (!is_there) {
            continue;
        }
        switch (want->form) {
        case SINTER__AVRO_FORM_INT32:
            cr_assert_eq(*(const int32_t *)member, number_of(&value));
            break;
        case SINTER__AVRO_FORM_INT64:
            cr_assert_eq(*(const int64_t *)member, number_of(&value));
            break;
        case SINTER__AVRO_FORM_BYTES:
            compare_bytes(&value, *(const sinter_bytes *)member);
            break;
        case SINTER__AVRO_FORM_RECORD:
            avro_compare(&value, want->shape, member);
            break;
        default:
            compare_list(&value, want, member);
            break;
        }
    }
}
