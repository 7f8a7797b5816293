/*
 * Records of Avro files into structs, by the writer's schema.
 *
 * A *shape* says which fields a struct wants and where they go. A *decoder* is compiled from the
 * writer's schema and a shape once a file: per field of the writer a step, in the writer's order.
 * Fields are matched by name; what nobody wants is stepped over. A field of type T and a union of
 * null and T, in either order, are the same to a shape, also for the record itself.
 *
 * Strings stay where they are in the block; lists lie in the decoder's memory until its next
 * record. So nothing is allocated per field. Source: spec/table-layout.md 4.
 */
#ifndef SINTER_FORMAT_AVRO_CODEC_H
#define SINTER_FORMAT_AVRO_CODEC_H

#include "format/avro_binary.h"
#include "format/avro_schema.h"

/** Forms of a member. */
typedef enum sinter__avro_form {
    SINTER__AVRO_FORM_INT32 = 0,      /* int32_t, of an int or a long that fits */
    SINTER__AVRO_FORM_INT64 = 1,      /* int64_t, of an int or a long */
    SINTER__AVRO_FORM_BYTES = 2,      /* sinter_bytes, of bytes or a string */
    SINTER__AVRO_FORM_RECORD = 3,     /* a struct inside */
    SINTER__AVRO_FORM_BYTES_LIST = 4, /* sinter__avro_list of sinter_bytes */
    SINTER__AVRO_FORM_INT64_LIST = 5, /* sinter__avro_list of int64_t, null as INT64_MIN */
    SINTER__AVRO_FORM_RECORD_LIST = 6 /* sinter__avro_list of structs */
} sinter__avro_form;

/** How a list lies in a struct; a list type of its own may have the items as what they are. */
typedef struct sinter__avro_list {
    const void *items;
    size_t count;
} sinter__avro_list;

typedef struct sinter__avro_shape sinter__avro_shape;

/** A field that is wanted. */
typedef struct sinter__avro_want {
    const char *name;
    sinter__avro_form form;
    uint32_t offset;                 /* of the member */
    uint32_t has_bit;                /* set in the `has` word when there is a value; 0: the field
                                        must be there and not null */
    const sinter__avro_shape *shape; /* of RECORD and RECORD_LIST */
} sinter__avro_want;

/** A struct and the fields it wants. Immutable. */
struct sinter__avro_shape {
    const sinter__avro_want *wants;
    uint32_t count;
    uint32_t size;       /* of the struct; an array of them is aligned as int64_t at most */
    uint32_t has_offset; /* of its uint32_t `has`, where a want has a bit */
};

/** A field of the writer that the shape doesn't want: kept as it stands, see below. */
typedef struct sinter__avro_spare {
    const char *outer; /* field of the root that holds it; NULL: it is in the root */
    const char *name;
    const sinter__avro_node *type;
} sinter__avro_spare;

/** A decoder. Confined; the schema and the shape must outlive it. */
typedef struct sinter__avro_decoder sinter__avro_decoder;

/**
 * Compile a decoder.
 *
 * @param out  release with sinter__avro_decoder_destroy()
 * @return     SINTER_OK; SINTER_E_CORRUPT: a field that must be there isn't (its name is told);
 *             SINTER_E_UNSUPPORTED: it has a type that doesn't fit; SINTER_E_NOMEM
 */
sinter_status
sinter__avro_decoder_create(const sinter_env *env, const sinter__avro_schema *schema,
                            const sinter__avro_shape *shape, sinter__avro_decoder **out,
                            sinter_error *err);

/** Release; takes NULL. */
void
sinter__avro_decoder_destroy(sinter__avro_decoder *decoder);

/**
 * Fields of the root record, and of the records that it holds as such, that the shape doesn't
 * want, in the writer's order.
 * @param count_out  how many
 */
const sinter__avro_spare *
sinter__avro_decoder_spares(const sinter__avro_decoder *decoder, size_t *count_out);

/** The first unwanted field of a record deeper inside, which is stepped over; NULL: there is none.
 */
const char *
sinter__avro_decoder_lost(const sinter__avro_decoder *decoder);

/**
 * Decode one record.
 *
 * @param cursor  moved behind the record
 * @param record  the struct; zeroed first, so what is absent is zero and has no bit
 * @return        SINTER_OK; SINTER_E_CORRUPT with the field's name; SINTER_E_NOMEM,
 *                SINTER_E_TOO_LARGE (the budget: lists)
 */
sinter_status
sinter__avro_decoder_next(sinter__avro_decoder *decoder, sinter__avro_cursor *cursor, void *record,
                          sinter_error *err);

/** The bytes of the spare fields of the last record, as they stand in the block; a field whose
 *  outer record was null has none. As many as there are spares. */
const sinter_bytes *
sinter__avro_decoder_spare_values(const sinter__avro_decoder *decoder);

/**
 * Step over a value.
 * @return false: it is damaged, or values lie in more than SINTER__AVRO_DEPTH_MAX values
 */
bool
sinter__avro_skip(sinter__avro_cursor *cursor, const sinter__avro_node *node);

#endif
