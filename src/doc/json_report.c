/*
 * Reports as JSON for callers, who don't see jansson: one value after another, front to back.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "doc/doc_write.h"
#include "doc/text.h"
#include "doc/type.h"
#include "sinter/doc.h"

struct sinter_json {
    const sinter_env *env;
    sinter__doc_writer writer; /* remembers the first failure */
    json_t *root;
    json_t *open[SINTER_DOC_NESTING_MAX]; /* borrowed; NULL where there was no memory */
    size_t depth;
};

sinter_status
sinter_json_create(const sinter_env *env, sinter_json **out, sinter_error *err)
{
    sinter_json *made = NULL;

    SINTER__REQUIRE(err, env != NULL && out != NULL);
    *out = NULL;
    SINTER__CHECK(SINTER__NEW(env, made, 1, err));
    made->env = env;
    sinter__doc_writer_init(&made->writer);
    made->root = sinter__doc_new_object(&made->writer);
    made->open[0] = made->root;
    made->depth = 1;
    *out = made;
    return SINTER_OK;
}

void
sinter_json_destroy(sinter_json *json)
{
    if (json != NULL) {
        json_decref(json->root);
        sinter__free(json->env, json);
    }
}

/* What is filled at present; NULL after a failure. */
static json_t *
top_of(const sinter_json *json)
{
    assert(json->depth > 0);
    return json->depth <= SINTER_DOC_NESTING_MAX ? json->open[json->depth - 1] : NULL;
}

static void
note(sinter_json *json, sinter_status status)
{
    if (json->writer.status == SINTER_OK) {
        json->writer.status = status;
    }
}

/* Add a value (taken) to what is open, under its name in an object. */
static void
add(sinter_json *json, const char *name, json_t *value)
{
    json_t *top = top_of(json);

    if (json_is_object(top) &&
        (name == NULL || !sinter__utf8_is_valid((sinter_bytes){.data = (const uint8_t *)name,
                                                               .size = strlen(name)}))) {
        note(json, SINTER_E_INVALID);
        json_decref(value);
        return;
    }
    if ((json_is_array(top) ? json_array_append_new(top, value)
                            : json_object_set_new_nocheck(top, name, value)) != 0) {
        note(json, SINTER_E_NOMEM); /* of no value too */
    }
}

static void
begin(sinter_json *json, const char *name, json_t *value)
{
    add(json, name, value);
    if (json->depth == SINTER_DOC_NESTING_MAX) {
        note(json, SINTER_E_TOO_LARGE);
    } else if (json->depth < SINTER_DOC_NESTING_MAX) {
        /* What was not added is gone; everything below it then fails too. */
        json->open[json->depth] = json->writer.status == SINTER_OK ? value : NULL;
    }
    json->depth++;
}

void
sinter_json_begin_object(sinter_json *json, const char *name)
{
    begin(json, name, json_object());
}

void
sinter_json_begin_array(sinter_json *json, const char *name)
{
    begin(json, name, json_array());
}

void
sinter_json_end(sinter_json *json)
{
    assert(json->depth > 1);
    json->depth--;
}

/* A text whose bytes that are no UTF-8 become '?'. */
static json_t *
make_text(sinter_json *json, const char *text)
{
    const sinter_bytes bytes = {.data = (const uint8_t *)text, .size = strlen(text)};
    json_t *value = NULL;
    char *copy = NULL;

    if (sinter__utf8_is_valid(bytes)) {
        return json_stringn_nocheck(text, bytes.size);
    }
    if (sinter__strdup(json->env, text, &copy, NULL) != SINTER_OK) {
        return NULL;
    }
    for (size_t i = 0; i < bytes.size; i++) {
        copy[i] = (char)(bytes.data[i] < 0x80 ? copy[i] : '?');
    }
    value = json_stringn_nocheck(copy, bytes.size);
    sinter__free(json->env, copy);
    return value;
}

void
sinter_json_put_text(sinter_json *json, const char *name, const char *text)
{
    add(json, name, text == NULL ? json_null() : make_text(json, text));
}

void
sinter_json_put_integer(sinter_json *json, const char *name, int64_t value)
{
    add(json, name, json_integer(value));
}

void
sinter_json_put_count(sinter_json *json, const char *name, uint64_t value)
{
    if (value > INT64_MAX) {
        note(json, SINTER_E_OVERFLOW);
        return;
    }
    add(json, name, json_integer((json_int_t)value));
}

void
sinter_json_put_bool(sinter_json *json, const char *name, bool value)
{
    add(json, name, json_boolean(value));
}

sinter_status
sinter_json_print(const sinter_json *json, uint32_t flags, sinter_text *out, sinter_error *err)
{
    sinter__doc_writer writer;

    SINTER__REQUIRE(err, json != NULL);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    SINTER__REQUIRE(err, json->depth == 1);
    if (json->writer.status == SINTER_E_TOO_LARGE) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "a report nests deeper than %d",
                           SINTER_DOC_NESTING_MAX);
    }
    writer = json->writer;
    SINTER__CHECK(sinter__doc_writer_end(&writer, json_incref(json->root), flags, out, err));
    return sinter__text_puts(out, "\n", err);
}
