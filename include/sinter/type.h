/*
 * Types, values, keys and rows: how typed columns become the bytes that the engine sorts and
 * stores.
 *
 * A type is written as in Paimon's schema files ("DECIMAL(10, 2) NOT NULL"). A datum is one value.
 * A key codec turns datums into bytes whose memcmp order is the order of the values
 * (docs/key-encoding.md); a row type turns the datums of a whole row into a BinaryRow and back.
 */
#ifndef SINTER_TYPE_H
#define SINTER_TYPE_H

#include "sinter/base.h"
#include "sinter/env.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A growing text or byte buffer of the caller. `data[size]` is a zero byte once anything was
 * appended; `data` is NULL before. Confined.
 */
typedef struct sinter_text {
    const sinter_env *env;
    char *data;
    size_t size;
    size_t capacity;
} sinter_text;

/** Make an empty buffer; allocates nothing. `env` is borrowed until fini. */
SINTER_API void
sinter_text_init(const sinter_env *env, sinter_text *text);

/** Release the memory; the buffer is empty again and may be used. */
SINTER_API void
sinter_text_fini(sinter_text *text);

/** Forget the content, keep the memory. */
SINTER_API void
sinter_text_reset(sinter_text *text);

/** Append bytes. @return SINTER_OK, SINTER_E_NOMEM (content unchanged) */
SINTER_API SINTER_NODISCARD sinter_status
sinter_text_append(sinter_text *text, const void *data, size_t size, sinter_error *err);

/** The content as bytes; valid until the buffer changes. */
static inline sinter_bytes
sinter_text_bytes(const sinter_text *text)
{
    sinter_bytes bytes;

    bytes.data = (const uint8_t *)text->data;
    bytes.size = text->size;
    return bytes;
}

/** Kinds of types. The names are Paimon's. */
#define SINTER_TYPE_MAP(X)                             \
    X(BOOLEAN, "BOOLEAN")                              \
    X(TINYINT, "TINYINT")                              \
    X(SMALLINT, "SMALLINT")                            \
    X(INT, "INT")                                      \
    X(BIGINT, "BIGINT")                                \
    X(FLOAT, "FLOAT")                                  \
    X(DOUBLE, "DOUBLE")                                \
    X(DECIMAL, "DECIMAL")                              \
    X(DATE, "DATE")                                    \
    X(TIME, "TIME")                                    \
    X(TIMESTAMP, "TIMESTAMP")                          \
    X(TIMESTAMP_LTZ, "TIMESTAMP WITH LOCAL TIME ZONE") \
    X(CHAR, "CHAR")                                    \
    X(VARCHAR, "VARCHAR")                              \
    X(BINARY, "BINARY")                                \
    X(VARBINARY, "VARBINARY")                          \
    X(ARRAY, "ARRAY")                                  \
    X(MAP, "MAP")                                      \
    X(MULTISET, "MULTISET")                            \
    X(ROW, "ROW")                                      \
    X(VARIANT, "VARIANT")                              \
    X(BLOB, "BLOB")

typedef enum sinter_type_id {
#define SINTER_TYPE_CONSTANT(name, text) SINTER_TYPE_##name,
    SINTER_TYPE_MAP(SINTER_TYPE_CONSTANT)
#undef SINTER_TYPE_CONSTANT
} sinter_type_id;

/** Length of STRING and BYTES, which are VARCHAR and VARBINARY without a limit. */
#define SINTER_TYPE_LENGTH_MAX 2147483647u

/** Types in types at most: an ARRAY of INT is one deep. More is refused. */
#define SINTER_TYPE_DEPTH_MAX 32

/** What a nested type is made of. */
typedef struct sinter_type_parts sinter_type_parts;

/** A type, by value. */
typedef struct sinter_type {
    int32_t id;         /* sinter_type_id */
    bool nullable;      /* not NOT NULL */
    uint32_t precision; /* digits of DECIMAL; decimals of a second of TIME and TIMESTAMP; length of
                           CHAR, VARCHAR (characters), BINARY, VARBINARY (bytes); else 0 */
    uint32_t scale;     /* DECIMAL */
    const sinter_type_parts *parts; /* ARRAY, MAP, MULTISET, ROW: borrowed from what made the type;
                                       NULL where only the kind is known, and for all others */
} sinter_type;

/** A column of a row, a field of a ROW, or another part of a nested type. */
typedef struct sinter_field {
    const char *name; /* of parts that have no name: "element", "key", "value", "count" */
    int64_t id;       /* of a column or field; -1: it has none */
    sinter_type type;
    const char *description;   /* NULL: none */
    const char *default_value; /* NULL: none */
    uint64_t reserved;
} sinter_field;

/** ARRAY has its element; MAP key and value; MULTISET its element and INT NOT NULL, the count; ROW
 *  its fields, possibly none. Immutable. */
struct sinter_type_parts {
    const sinter_field *fields;
    size_t count;
};

/** Name of a kind of type, "TIMESTAMP WITH LOCAL TIME ZONE"; "unknown" for other numbers. */
SINTER_API const char *
sinter_type_name(int32_t id);

/** Is it ARRAY, MAP, MULTISET or ROW? */
SINTER_API bool
sinter_type_is_nested(const sinter_type *type);

/** Are they the same: kind, nullability, numbers, parts and names of fields? Ids, descriptions and
 *  default values don't count. */
SINTER_API bool
sinter_type_equal(const sinter_type *a, const sinter_type *b);

/**
 * Parse a type text: "INT NOT NULL", "DECIMAL(10, 2)", "STRING", "TIMESTAMP(6) WITH LOCAL TIME
 * ZONE". Case doesn't matter, blanks are free. "ARRAY<INT>" and other nested texts are checked and
 * give their kind, without parts: sinter_type_create() has those.
 *
 * @return SINTER_OK, SINTER_E_INVALID (text with position and what was expected)
 * Thread-safe. Source: table-layout.md, types.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_type_parse(const char *text, sinter_type *out, sinter_error *err);

/**
 * Make a type of a text as above, with its parts: "ARRAY<INT NOT NULL>", "MAP<STRING, INT>",
 * "MULTISET<STRING>", "ROW<a INT, `b c` STRING COMMENT 'text'>". Fields have no id.
 *
 * @param out  the type, NULL after a failure; release with sinter_type_destroy()
 * @return     SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (as sinter_type_parse(); also deeper than
 *             SINTER_TYPE_DEPTH_MAX, a field name twice)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_type_create(const sinter_env *env, const char *text, sinter_type **out, sinter_error *err);

/** Release a type of sinter_type_create(); takes NULL. */
SINTER_API void
sinter_type_destroy(sinter_type *type);

/** Room for any atomic type's text and the closing zero. */
#define SINTER_TYPE_TEXT_MAX 64

/** Print the canonical text of a type into `out`. Nested types print their kind only. */
SINTER_API void
sinter_type_print(const sinter_type *type, char out[SINTER_TYPE_TEXT_MAX]);

/** Append the canonical text of a type with all its parts, as sinter_type_create() takes it.
 *  @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (deeper than SINTER_TYPE_DEPTH_MAX) */
SINTER_API SINTER_NODISCARD sinter_status
sinter_type_print_full(const sinter_type *type, sinter_text *out, sinter_error *err);

/**
 * One value. Which member counts follows from the type. Bytes are borrowed.
 */
typedef struct sinter_datum {
    bool is_null;
    int32_t nanos; /* TIMESTAMP*: nanoseconds of the millisecond, 0..999999 */
    union {
        int64_t integer;      /* BOOLEAN 0 or 1; TINYINT..BIGINT; DATE days and TIMESTAMP* ms since
                                 1970-01-01; TIME ms of the day */
        uint32_t float_bits;  /* FLOAT */
        uint64_t double_bits; /* DOUBLE */
        struct {
            uint64_t low;
            int64_t high;
        } decimal;          /* DECIMAL: unscaled, 128-bit two's complement */
        sinter_bytes bytes; /* CHAR, VARCHAR (UTF-8), BINARY, VARBINARY; ARRAY, MAP, MULTISET, ROW:
                               binary form, see nested.h */
    } as;
} sinter_datum;

/** Name and type of a column, given by a caller; the name is borrowed. */
typedef struct sinter_column {
    const char *name;
    sinter_type type;
} sinter_column;

/** Behaviour of parsing and printing. */
enum {
    SINTER_PRINT_PRETTY = 1u << 0,      /* documents: indented, for people */
    SINTER_PRINT_HEX_STRINGS = 1u << 1, /* strings as hex, so that invalid UTF-8 passes */
    SINTER_PRINT_BLOCKS = 1u << 2       /* `sinter.inspect`: one object per block too */
};

/**
 * Parse a value from text: a CSV cell, a JSON scalar without its quotes, a command line word.
 * Independent of the locale.
 *
 * @param column   its type, and a name for error texts (NULL: none)
 * @param text     borrowed; strings of `out` point into it
 * @param flags    SINTER_PRINT_HEX_STRINGS or 0
 * @param scratch  gets the bytes of hex text and of nested values, whose text is JSON; `out` points
 *                 there until it changes. Borrowed
 * @param out      the value, never null
 * @return         SINTER_OK, SINTER_E_NOMEM,
 *                 SINTER_E_INVALID      no such value, or outside the type; text names the column
 *                 SINTER_E_UNSUPPORTED  VARIANT, BLOB or a nested type without parts, named
 * Source: interchange.md 6.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_datum_parse(const sinter_column *column, sinter_bytes text, uint32_t flags,
                   sinter_text *scratch, sinter_datum *out, sinter_error *err);

/**
 * Check that a value lies within its type: digits, lengths, ranges, UTF-8 isn't looked at.
 * A null passes only for a nullable type. Of a nested value everything in it is checked.
 * @return SINTER_OK, SINTER_E_INVALID,
 *         SINTER_E_UNSUPPORTED (VARIANT, BLOB, or a nested type without parts)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_datum_check(const sinter_type *type, const char *column, const sinter_datum *datum,
                   sinter_error *err);

/** Append the canonical text without quotes; "null" for null. Failures as below. */
SINTER_API SINTER_NODISCARD sinter_status
sinter_datum_print_text(const sinter_type *type, const sinter_datum *datum, uint32_t flags,
                        sinter_text *out, sinter_error *err);

/**
 * Append the canonical JSON of a value.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (invalid UTF-8 without
 *         SINTER_PRINT_HEX_STRINGS), SINTER_E_CORRUPT (a nested value), SINTER_E_UNSUPPORTED (as
 *         sinter_datum_check()). Source: interchange.md 6.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_datum_print_json(const sinter_type *type, const sinter_datum *datum, uint32_t flags,
                        sinter_text *out, sinter_error *err);

/** What a row type is made of. Borrowed for the call. */
typedef struct sinter_row_layout {
    uint32_t struct_size;
    uint32_t reserved;
    const sinter_column *columns; /* `count` of them, at least 1 */
    size_t count;
    const char *const *keys; /* names of the key columns in key order; NULL with 0 */
    size_t key_count;
} sinter_row_layout;

/** Names and types of a row's columns, and which of them are the key. Immutable. */
typedef struct sinter_row_type sinter_row_type;

/**
 * Parse a row type in Paimon's schema form: `[{"id":0,"name":"k","type":"INT NOT NULL"},...]` or
 * `{"type":"ROW","fields":[...],"primaryKeys":["k"]}`. Nested types are objects or texts. Where
 * `id` is left out, ids go on from the highest one given, as Paimon numbers them.
 *
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (JSON, a type, a name twice or empty, an
 *         unknown key column), SINTER_E_TOO_LARGE (limits of interchange.md 1)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_type_parse(const sinter_env *env, const char *json, size_t size, sinter_row_type **out,
                      sinter_error *err);

/**
 * Make a row type of columns. Columns and fields that have no id are numbered as Paimon does it,
 * from the highest id given on.
 *
 * @param layout  names, types with their parts, and key columns, copied
 * @return        as sinter_row_type_parse()
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_type_create(const sinter_env *env, const sinter_row_layout *layout,
                       sinter_row_type **out, sinter_error *err);

/**
 * Make a row type of the fields of a ROW, with their ids, descriptions and default values.
 *
 * @param type  a ROW with its parts, at least one; copied
 * @param keys  names of `key_count` key columns, in key order
 * @return      as sinter_row_type_parse()
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_type_of_type(const sinter_env *env, const sinter_type *type, const char *const *keys,
                        size_t key_count, sinter_row_type **out, sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_row_type_destroy(sinter_row_type *row_type);

/** The canonical JSON, `{"type":"ROW","fields":[...]}`; lives as long as the row type. What the
 *  JSON that was parsed had besides in fields and types is kept. */
SINTER_API const char *
sinter_row_type_json(const sinter_row_type *row_type);

/** The columns, as many as sinter_row_type_count() says; they live as long as the row type. */
SINTER_API const sinter_field *
sinter_row_type_fields(const sinter_row_type *row_type);

/** Columns: number, name, type, field id. `index` < count. */
SINTER_API size_t
sinter_row_type_count(const sinter_row_type *row_type);
SINTER_API const char *
sinter_row_type_column_name(const sinter_row_type *row_type, size_t index);
SINTER_API const sinter_type *
sinter_row_type_column_type(const sinter_row_type *row_type, size_t index);
SINTER_API int64_t
sinter_row_type_column_id(const sinter_row_type *row_type, size_t index);

/** Position of a column by name; SIZE_MAX: none. */
SINTER_API size_t
sinter_row_type_find(const sinter_row_type *row_type, const char *name);

/** Positions of the key columns in key order, `*count_out` of them (0: not known). */
SINTER_API const size_t *
sinter_row_type_keys(const sinter_row_type *row_type, size_t *count_out);

/**
 * Encode a row as BinaryRow, appended to `out`.
 *
 * @param values  one per column, checked against the types; nulls in NOT NULL columns are refused
 *                unless `kind` retracts and the column is no key column
 * @param kind    kind of the record, for that rule only; the row's header byte is always 0
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (a value, its column named),
 *                SINTER_E_UNSUPPORTED (VARIANT or BLOB, column and type named),
 *                SINTER_E_TOO_LARGE (more than SINTER_VALUE_BYTES_MAX)
 * Source: table-layout.md 5.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_encode(const sinter_row_type *row_type, const sinter_datum *values, uint8_t kind,
                  sinter_text *out, sinter_error *err);

/**
 * Decode a BinaryRow. Any bytes are safe.
 *
 * @param row     borrowed; strings and nested values of `values` point into it. What lies in nested
 *                values is looked at when they are walked
 * @param values  room for one per column
 * @return        SINTER_OK, SINTER_E_CORRUPT (column named), SINTER_E_UNSUPPORTED (VARIANT, BLOB)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_row_decode(const sinter_row_type *row_type, sinter_bytes row, sinter_datum *values,
                  sinter_error *err);

/**
 * Encode a bucket key as BinaryRow, appended to `out`: what sinter_row_hash() takes. Every NaN is
 * the canonical one, so that rows of one key are in one bucket.
 *
 * @param key_type  the bucket-key columns, in their order
 * @param values    one per column, as for sinter_row_encode()
 * @return          as sinter_row_encode(); SINTER_E_UNSUPPORTED for a nested column, which can't
 *                  be part of a bucket key: column and type named
 * Source: table-layout.md 5.2, key-encoding.md 1.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_bucket_key_encode(const sinter_row_type *key_type, const sinter_datum *values,
                         sinter_text *out, sinter_error *err);

/** Encodes and decodes keys of fixed column types. Immutable. */
typedef struct sinter_key_codec sinter_key_codec;

/**
 * Make a codec.
 * @param types  `count` types, copied; 1..1024
 * @return       SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID (no column),
 *               SINTER_E_UNSUPPORTED (a type that can't be a key, named)
 * Source: key-encoding.md.
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_key_codec_create(const sinter_env *env, const sinter_type *types, size_t count,
                        sinter_key_codec **out, sinter_error *err);

/** The same from texts, one per line, as `sst` footers hold them.
 *  @return as sinter_key_codec_create() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_key_codec_parse(const sinter_env *env, const char *key_types, sinter_key_codec **out,
                       sinter_error *err);

/** The same for the key columns of a row type, which must have some.
 *  @return as sinter_key_codec_create() */
SINTER_API SINTER_NODISCARD sinter_status
sinter_key_codec_of_row_type(const sinter_env *env, const sinter_row_type *row_type,
                             sinter_key_codec **out, sinter_error *err);

/** Release; takes NULL. */
SINTER_API void
sinter_key_codec_destroy(sinter_key_codec *codec);

/** Columns of the key. */
SINTER_API size_t
sinter_key_codec_count(const sinter_key_codec *codec);
SINTER_API const sinter_type *
sinter_key_codec_type(const sinter_key_codec *codec, size_t index);

/** Canonical type texts, one per line without a final newline; lives as long as the codec. */
SINTER_API const char *
sinter_key_codec_types(const sinter_key_codec *codec);

/**
 * Encode a key, appended to `out`.
 * @param values  one per column, checked against the types
 * @return        SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID,
 *                SINTER_E_TOO_LARGE (more than SINTER_KEY_BYTES_MAX)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_key_encode(const sinter_key_codec *codec, const sinter_datum *values, sinter_text *out,
                  sinter_error *err);

/**
 * Decode a key. Any bytes are safe; only bytes that encode gives are accepted.
 *
 * @param values   room for one per column; strings point into `key` or `scratch`
 * @param scratch  gets unescaped strings; borrowed as long as the values
 * @return         SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT (text has column and byte)
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_key_decode(const sinter_key_codec *codec, sinter_bytes key, sinter_text *scratch,
                  sinter_datum *values, sinter_error *err);

/**
 * Encode a key given as texts, appended to `out`: what a command line has.
 * @param texts  `count` words, one per column; NULL: null
 * @return       as sinter_datum_parse() and sinter_key_encode(); SINTER_E_INVALID also when
 *               `count` isn't the number of columns
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_key_encode_texts(const sinter_key_codec *codec, const char *const *texts, size_t count,
                        sinter_text *out, sinter_error *err);

/**
 * Append a key for people: its values joined by ", "; strings that are not UTF-8 as hex.
 * @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_CORRUPT
 */
SINTER_API SINTER_NODISCARD sinter_status
sinter_key_print(const sinter_key_codec *codec, sinter_bytes key, sinter_text *out,
                 sinter_error *err);

/** Append bytes as lower-case hex. @return SINTER_OK, SINTER_E_NOMEM */
SINTER_API SINTER_NODISCARD sinter_status
sinter_hex_print(sinter_bytes bytes, sinter_text *out, sinter_error *err);

/** Append the bytes of a hex text. @return SINTER_OK, SINTER_E_NOMEM, SINTER_E_INVALID */
SINTER_API SINTER_NODISCARD sinter_status
sinter_hex_parse(sinter_bytes text, sinter_text *out, sinter_error *err);

#ifdef __cplusplus
}
#endif
#endif
