#include "doc/doc_write.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/text.h"
#include "doc/type.h"

void
sinter__doc_writer_init(sinter__doc_writer *writer)
{
    writer->status = SINTER_OK;
}

static void
note(sinter__doc_writer *writer, sinter_status status)
{
    if (writer->status == SINTER_OK) {
        writer->status = status;
    }
}

json_t *
sinter__doc_new_object(sinter__doc_writer *writer)
{
    json_t *object = json_object();

    if (object == NULL) {
        note(writer, SINTER_E_NOMEM);
    }
    return object;
}

void
sinter__doc_put(sinter__doc_writer *writer, json_t *object, const char *name, json_t *value)
{
    /* Takes the value in every case; NULL on either side is a failure. */
    if (json_object_set_new(object, name, value) != 0) {
        note(writer, SINTER_E_NOMEM);
    }
}

void
sinter__doc_put_bytes_text(sinter__doc_writer *writer, json_t *object, const char *name,
                           sinter_bytes text)
{
    if (!sinter__utf8_is_valid(text)) {
        note(writer, SINTER_E_INVALID);
        return;
    }
    sinter__doc_put(writer, object, name,
                    json_stringn_nocheck(text.size == 0 ? "" : (const char *)text.data, text.size));
}

void
sinter__doc_put_string(sinter__doc_writer *writer, json_t *object, const char *name,
                       const char *text)
{
    if (text == NULL) {
        sinter__doc_put_null(writer, object, name);
        return;
    }
    sinter__doc_put_bytes_text(writer, object, name,
                               (sinter_bytes){.data = (const uint8_t *)text, .size = strlen(text)});
}

void
sinter__doc_put_message(sinter__doc_writer *writer, json_t *object, const char *name,
                        const char *text)
{
    char copy[sizeof((sinter_error *)0)->text];
    size_t size = 0;

    if (text == NULL) {
        sinter__doc_put_null(writer, object, name);
        return;
    }
    for (; text[size] != '\0' && size + 1 < sizeof copy; size++) {
        copy[size] = text[size];
    }
    copy[size] = '\0';
    if (!sinter__utf8_is_valid((sinter_bytes){.data = (const uint8_t *)copy, .size = size})) {
        for (size_t i = 0; i < size; i++) {
            copy[i] = (char)((uint8_t)copy[i] < 0x80 ? copy[i] : '?');
        }
    }
    sinter__doc_put_string(writer, object, name, copy);
}

void
sinter__doc_put_error(sinter__doc_writer *writer, json_t *object, const char *name,
                      const sinter_error *error)
{
    json_t *put = sinter__doc_put_object(writer, object, name);

    sinter__doc_put_string(writer, put, "status", sinter_status_name(error->status));
    sinter__doc_put_message(writer, put, "message", error->text);
    sinter__doc_put_message(writer, put, "file", error->file[0] == '\0' ? NULL : error->file);
    if (error->offset < 0) {
        sinter__doc_put_null(writer, put, "offset");
    } else {
        sinter__doc_put_integer(writer, put, "offset", error->offset);
    }
    sinter__doc_put_integer(writer, put, "errno", error->sys_errno);
}

void
sinter__doc_put_integer(sinter__doc_writer *writer, json_t *object, const char *name, int64_t value)
{
    sinter__doc_put(writer, object, name, json_integer(value));
}

void
sinter__doc_put_count(sinter__doc_writer *writer, json_t *object, const char *name, uint64_t value)
{
    if (value > INT64_MAX) {
        note(writer, SINTER_E_OVERFLOW);
        return;
    }
    sinter__doc_put(writer, object, name, json_integer((json_int_t)value));
}

void
sinter__doc_put_bool(sinter__doc_writer *writer, json_t *object, const char *name, bool value)
{
    sinter__doc_put(writer, object, name, json_boolean(value));
}

void
sinter__doc_put_null(sinter__doc_writer *writer, json_t *object, const char *name)
{
    sinter__doc_put(writer, object, name, json_null());
}

void
sinter__doc_put_hex(sinter__doc_writer *writer, json_t *object, const char *name,
                    sinter_bytes bytes, const sinter_env *env)
{
    sinter_text text;
    sinter_status st;

    sinter_text_init(env, &text);
    st = sinter_hex_print(bytes, &text, NULL);
    if (st == SINTER_OK) {
        sinter__doc_put_bytes_text(writer, object, name, sinter_text_bytes(&text));
    } else {
        note(writer, st);
    }
    sinter_text_fini(&text);
}

void
sinter__doc_put_key(sinter__doc_writer *writer, json_t *object, const char *name, sinter_bytes key,
                    const sinter_key_codec *codec, const sinter_env *env)
{
    char text_name[64];
    sinter_text text;
    sinter_status st;

    sinter__doc_put_hex(writer, object, name, key, env);
    if (codec == NULL) {
        return;
    }
    (void)snprintf(text_name, sizeof text_name, "%.58s_text", name);
    sinter_text_init(env, &text);
    st = sinter_key_print(codec, key, &text, NULL);
    if (st == SINTER_OK) {
        sinter__doc_put_bytes_text(writer, object, text_name, sinter_text_bytes(&text));
    } else if (st == SINTER_E_NOMEM) {
        note(writer, st);
    }
    /* A key that the codec refuses has its hex form, and the text is for people only. */
    sinter_text_fini(&text);
}

json_t *
sinter__doc_put_object(sinter__doc_writer *writer, json_t *object, const char *name)
{
    sinter__doc_put(writer, object, name, json_object());
    return json_object_get(object, name);
}

json_t *
sinter__doc_put_array(sinter__doc_writer *writer, json_t *object, const char *name)
{
    sinter__doc_put(writer, object, name, json_array());
    return json_object_get(object, name);
}

static void
append(sinter__doc_writer *writer, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0) {
        note(writer, SINTER_E_NOMEM);
    }
}

json_t *
sinter__doc_append_object(sinter__doc_writer *writer, json_t *array)
{
    append(writer, array, json_object());
    return json_array_size(array) == 0 ? NULL : json_array_get(array, json_array_size(array) - 1);
}

json_t *
sinter__doc_append_array(sinter__doc_writer *writer, json_t *array)
{
    append(writer, array, json_array());
    return json_array_size(array) == 0 ? NULL : json_array_get(array, json_array_size(array) - 1);
}

void
sinter__doc_append_string(sinter__doc_writer *writer, json_t *array, const char *text)
{
    const sinter_bytes bytes = {.data = (const uint8_t *)text, .size = strlen(text)};

    if (!sinter__utf8_is_valid(bytes)) {
        note(writer, SINTER_E_INVALID);
        return;
    }
    append(writer, array, json_stringn_nocheck(text, bytes.size));
}

/* Where jansson's output goes, with room for a failure it can't carry. */
typedef struct dump_target {
    sinter_text *out;
    sinter_error *err;
    sinter_status status;
} dump_target;

static int
dump_piece(const char *data, size_t size, void *ctx)
{
    dump_target *target = ctx;

    /* jansson goes on after a failed member name, so the failure has to stay. */
    if (target->status != SINTER_OK) {
        return -1;
    }
    target->status = sinter_text_append(target->out, data, size, target->err);
    return target->status == SINTER_OK ? 0 : -1;
}

sinter_status
sinter__doc_writer_end(sinter__doc_writer *writer, json_t *root, uint32_t flags, sinter_text *out,
                       sinter_error *err)
{
    const size_t dump_flags =
        JSON_ENCODE_ANY |
        ((flags & SINTER_PRINT_PRETTY) != 0 ? (size_t)JSON_INDENT(2) : (size_t)JSON_COMPACT);
    const size_t before = out->size;
    dump_target target = {.out = out, .err = err};

    if (writer->status == SINTER_OK &&
        (json_dump_callback(root, dump_piece, &target, dump_flags) != 0 ||
         target.status != SINTER_OK)) {
        writer->status = SINTER_E_NOMEM;
    }
    json_decref(root);
    if (writer->status == SINTER_OK) {
        return SINTER_OK;
    }
    out->size = before;
    if (out->data != NULL) {
        out->data[before] = '\0';
    }
    if (target.status != SINTER_OK) {
        return target.status;
    }
    switch (writer->status) {
    case SINTER_E_INVALID:
        return SINTER__ERR(err, SINTER_E_INVALID, "a name or text is not valid UTF-8");
    case SINTER_E_OVERFLOW:
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "a count is above 2^63 - 1");
    default:
        return SINTER__ERR(err, writer->status, "no memory to print JSON");
    }
}
