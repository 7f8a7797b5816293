/*
 * Avro schemas: the JSON text of a file, checked and made into a tree that decoders walk.
 *
 * The text is read with jansson, not with avro-c, which tests compare with: avro-c refuses names
 * that are not ASCII, which Paimon writes for columns, loses memory on schemas that define a name
 * twice or refer to themselves, ends the process when memory is refused within a parse, and keeps
 * its error text in a place that all threads share. Nothing here outlives a call but what the
 * caller releases, so any number of threads may parse.
 */
#ifndef SINTER_FORMAT_AVRO_SCHEMA_H
#define SINTER_FORMAT_AVRO_SCHEMA_H

#include "base/arena.h"

enum {
    SINTER__AVRO_DEPTH_MAX = 64,   /* types inside types, and values inside values */
    SINTER__AVRO_NAMES_MAX = 4096, /* named types of a schema */
    SINTER__AVRO_NAME_CHARS_MAX = 1024
};

/** Types. A reference by name is resolved: the node is that of the definition. */
typedef enum sinter__avro_type {
    SINTER__AVRO_NULL = 0,
    SINTER__AVRO_BOOLEAN = 1,
    SINTER__AVRO_INT = 2,
    SINTER__AVRO_LONG = 3,
    SINTER__AVRO_FLOAT = 4,
    SINTER__AVRO_DOUBLE = 5,
    SINTER__AVRO_BYTES = 6,
    SINTER__AVRO_STRING = 7,
    SINTER__AVRO_FIXED = 8,
    SINTER__AVRO_ENUM = 9,
    SINTER__AVRO_ARRAY = 10,
    SINTER__AVRO_MAP = 11,
    SINTER__AVRO_UNION = 12,
    SINTER__AVRO_RECORD = 13
} sinter__avro_type;

typedef struct sinter__avro_node sinter__avro_node;

/** A field of a record; a branch of a union, or what an array or map holds, without a name. */
typedef struct sinter__avro_field {
    const char *name;
    const sinter__avro_node *type;
} sinter__avro_field;

/** A type. Immutable. */
struct sinter__avro_node {
    sinter__avro_type type;
    uint32_t field_count;             /* fields, branches; 1 of ARRAY and MAP */
    const sinter__avro_field *fields; /* of RECORD, UNION, ARRAY, MAP */
    const char *name;                 /* full name of RECORD, FIXED, ENUM; else NULL */
    const char *logical_type;         /* as written, of any type but UNION; NULL: none */
    uint64_t size;                    /* FIXED: bytes. ENUM: symbols */
    bool is_empty;                    /* its values have no bytes */
};

/** A schema. Immutable. */
typedef struct sinter__avro_schema sinter__avro_schema;

/**
 * Read a schema's text.
 *
 * @param text  JSON, up to SINTER__AVRO_SCHEMA_BYTES_MAX bytes (callers checked that)
 * @param out   release with sinter__avro_schema_destroy()
 * @return      SINTER_OK; SINTER_E_CORRUPT: no JSON, or no schema, with the reason;
 *              SINTER_E_TOO_LARGE: a limit above, or the budget has no room for the JSON while it
 *              is read; SINTER_E_NOMEM
 */
sinter_status
sinter__avro_schema_parse(const sinter_env *env, sinter_bytes text, sinter__avro_schema **out,
                          sinter_error *err);

/** Release; takes NULL. */
void
sinter__avro_schema_destroy(sinter__avro_schema *schema);

/** The type of a file's records, until destroy. */
const sinter__avro_node *
sinter__avro_schema_root(const sinter__avro_schema *schema);

/** Name of a type, "long"; of a record its word, not its name. */
const char *
sinter__avro_type_name(sinter__avro_type type);

/** The other branch of a union of null and something, and the branch's number; any other type is
 *  its own, with number -1. NULL: another union. */
const sinter__avro_node *
sinter__avro_node_unwrap(const sinter__avro_node *node, int32_t *branch_out);

/** Position of a field of a record by its name; -1: there is none. */
int32_t
sinter__avro_node_find(const sinter__avro_node *record, const char *name);

/**
 * Print a field of a record as the schema's text has it: name, type, default and whatever else.
 *
 * @param text   the schema's text, which was parsed before
 * @param outer  the field of the root record that holds the record; NULL: the root itself
 * @param name   the field
 * @param out    JSON, in the arena
 * @return       SINTER_OK; SINTER_E_UNSUPPORTED: the field's type refers to one that is defined
 *               outside of it; SINTER_E_NOMEM, SINTER_E_TOO_LARGE (the budget)
 */
sinter_status
sinter__avro_schema_print_field(sinter__arena *arena, sinter_bytes text, const char *outer,
                                const char *name, const char **out, sinter_error *err);

#endif
