#include "table/avro_row_schema.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/text.h"
#include "doc/type.h"

enum { MILLI_DIGITS = 3, MICRO_DIGITS = 6, WORDS_BYTES = 96, DEPTH_MAX = 32 };

/** What is being printed. */
typedef struct printer {
    sinter_text *out;
    sinter_text name;   /* of the record at hand: "record_r" */
    const char *column; /* for errors */
    uint32_t depth;
} printer;

static sinter_status
refuse(const printer *self, const sinter_type *type, sinter_error *err)
{
    char text[SINTER_TYPE_TEXT_MAX];

    sinter_type_print(type, text);
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "column %.100s: %s can't be written to Avro",
                       self->column, text);
}

static sinter_status
put_string(printer *self, const char *text, sinter_error *err)
{
    return sinter__json_string_print((sinter_bytes){(const uint8_t *)text, strlen(text)}, self->out,
                                     err);
}

/* The words of an atomic type; false: Avro has none for it. */
static bool
find_words(const sinter_type *type, char out[WORDS_BYTES])
{
    static const char *const plain[] = {
        [SINTER_TYPE_BOOLEAN] = "\"boolean\"",
        [SINTER_TYPE_TINYINT] = "\"int\"",
        [SINTER_TYPE_SMALLINT] = "\"int\"",
        [SINTER_TYPE_INT] = "\"int\"",
        [SINTER_TYPE_BIGINT] = "\"long\"",
        [SINTER_TYPE_FLOAT] = "\"float\"",
        [SINTER_TYPE_DOUBLE] = "\"double\"",
        [SINTER_TYPE_CHAR] = "\"string\"",
        [SINTER_TYPE_VARCHAR] = "\"string\"",
        [SINTER_TYPE_BINARY] = "\"bytes\"",
        [SINTER_TYPE_VARBINARY] = "\"bytes\"",
        [SINTER_TYPE_DATE] = "{\"type\":\"int\",\"logicalType\":\"date\"}",
        [SINTER_TYPE_TIME] = "{\"type\":\"int\",\"logicalType\":\"time-millis\"}"};

    if (type->id == SINTER_TYPE_DECIMAL) {
        (void)snprintf(out, WORDS_BYTES,
                       "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":%u,"
                       "\"scale\":%u}",
                       type->precision, type->scale);
        return true;
    }
    if (sinter__type_is_timestamp(type)) { /* the zoned one is called local: that is Paimon's way */
        (void)snprintf(out, WORDS_BYTES, "{\"type\":\"long\",\"logicalType\":\"%stimestamp-%s\"}",
                       type->id == SINTER_TYPE_TIMESTAMP_LTZ ? "local-" : "",
                       type->precision <= MILLI_DIGITS ? "millis" : "micros");
        return type->precision <= MICRO_DIGITS;
    }
    if (type->id < 0 || type->id >= (int32_t)(sizeof plain / sizeof plain[0]) ||
        plain[type->id] == NULL ||
        (type->id == SINTER_TYPE_TIME && type->precision > MILLI_DIGITS)) {
        return false;
    }
    (void)snprintf(out, WORDS_BYTES, "%s", plain[type->id]);
    return true;
}

static sinter_status
print_type(printer *self, const sinter_type *type, sinter_error *err);

static sinter_status
print_field(printer *self, const char *name, const sinter_type *type, sinter_error *err)
{
    SINTER__CHECK(sinter__text_puts(self->out, "{\"name\":", err));
    SINTER__CHECK(put_string(self, name, err));
    SINTER__CHECK(sinter__text_puts(self->out, ",\"type\":", err));
    SINTER__CHECK(print_type(self, type, err));
    return sinter__text_puts(self->out, type->nullable ? ",\"default\":null}" : "}", err);
}

static sinter_status
begin_record(printer *self, sinter_error *err)
{
    SINTER__CHECK(sinter__text_puts(self->out, "{\"type\":\"record\",\"name\":", err));
    SINTER__CHECK(put_string(self, self->name.data, err));
    return sinter__text_puts(self->out, ",\"fields\":[", err);
}

/* A record in a field is named after it. */
static sinter_status
print_row(printer *self, const sinter_type *type, sinter_error *err)
{
    const size_t name_size = self->name.size;

    SINTER__CHECK(begin_record(self, err));
    for (size_t i = 0; i < type->parts->count; i++) {
        const sinter_field *field = &type->parts->fields[i];

        SINTER__CHECK(sinter__text_puts(&self->name, "_", err));
        SINTER__CHECK(sinter__text_puts(&self->name, field->name, err));
        SINTER__CHECK(i == 0 ? SINTER_OK : sinter__text_puts(self->out, ",", err));
        SINTER__CHECK(print_field(self, field->name, &field->type, err));
        self->name.size = name_size;
        self->name.data[name_size] = '\0';
    }
    return sinter__text_puts(self->out, "]}", err);
}

/* Maps of strings are Avro's, others arrays of entries. */
static sinter_status
print_map(printer *self, const sinter_type *type, sinter_error *err)
{
    sinter_type key = type->parts->fields[0].type;
    sinter_type value = type->parts->fields[1].type;

    value.nullable = value.nullable || type->id == SINTER_TYPE_MULTISET;
    if (sinter__type_is_string(&key)) {
        SINTER__CHECK(sinter__text_puts(self->out, "{\"type\":\"map\",\"values\":", err));
        SINTER__CHECK(print_type(self, &value, err));
        return sinter__text_puts(self->out, "}", err);
    }
    key.nullable = false;
    SINTER__CHECK(sinter__text_puts(self->out, "{\"type\":\"array\",\"items\":", err));
    SINTER__CHECK(begin_record(self, err));
    SINTER__CHECK(print_field(self, "key", &key, err));
    SINTER__CHECK(sinter__text_puts(self->out, ",", err));
    SINTER__CHECK(print_field(self, "value", &value, err));
    return sinter__text_puts(self->out, "]},\"logicalType\":\"map\"}", err);
}

static sinter_status
print_nested(printer *self, const sinter_type *type, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (type->parts == NULL || self->depth >= DEPTH_MAX) {
        return refuse(self, type, err);
    }
    self->depth++;
    switch (type->id) {
    case SINTER_TYPE_ROW:
        st = print_row(self, type, err);
        break;
    case SINTER_TYPE_ARRAY:
        st = sinter__text_puts(self->out, "{\"type\":\"array\",\"items\":", err);
        st = st == SINTER_OK ? print_type(self, &type->parts->fields[0].type, err) : st;
        st = st == SINTER_OK ? sinter__text_puts(self->out, "}", err) : st;
        break;
    default:
        st = print_map(self, type, err);
        break;
    }
    self->depth--;
    return st;
}

static sinter_status
print_type(printer *self, const sinter_type *type, sinter_error *err)
{
    char words[WORDS_BYTES];

    SINTER__CHECK(type->nullable ? sinter__text_puts(self->out, "[\"null\",", err) : SINTER_OK);
    if (sinter_type_is_nested(type)) {
        SINTER__CHECK(print_nested(self, type, err));
    } else if (find_words(type, words)) {
        SINTER__CHECK(sinter__text_puts(self->out, words, err));
    } else {
        return refuse(self, type, err);
    }
    return type->nullable ? sinter__text_puts(self->out, "]", err) : SINTER_OK;
}

sinter_status
sinter__avro_row_schema(const sinter_field *fields, size_t count, sinter_text *out,
                        sinter_error *err)
{
    static const char head[] = "{\"type\":\"record\",\"name\":\"record\",\"namespace\":"
                               "\"org.apache.paimon.avro.generated\",\"fields\":[";
    printer self = {.out = out};
    sinter_status st = SINTER_OK;

    sinter_text_init(out->env, &self.name);
    SINTER__TRY(sinter__text_puts(out, head, err));
    for (size_t i = 0; i < count; i++) {
        self.column = fields[i].name;
        sinter_text_reset(&self.name);
        SINTER__TRY(sinter__text_puts(&self.name, "record_", err));
        SINTER__TRY(sinter__text_puts(&self.name, fields[i].name, err));
        SINTER__TRY(i == 0 ? SINTER_OK : sinter__text_puts(out, ",", err));
        SINTER__TRY(print_field(&self, fields[i].name, &fields[i].type, err));
    }
    SINTER__TRY(sinter__text_puts(out, "]}", err));
out:
    sinter_text_fini(&self.name);
    return st;
}
