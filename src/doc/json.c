/*
 * The walk below is no parser: it follows brackets, quotes and commas of a text, so that limits can
 * be checked before jansson stores anything and a fault can be given its line, column and path.
 * jansson alone decides what is JSON.
 */
#include "doc/json.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/number.h"
#include "doc/text.h"
#include "sinter/doc.h"

enum { DEPTH_MAX = SINTER_DOC_NESTING_MAX + 1 };

/* An open bracket: for an object the member last named, for an array the position. */
typedef struct walk_frame {
    bool is_object;
    size_t index;
    sinter_bytes name; /* raw, between its quotes */
} walk_frame;

/* What the walk met. */
typedef enum walk_event { WALK_END, WALK_VALUE, WALK_TOO_DEEP, WALK_STRING_TOO_LONG } walk_event;

typedef struct walk {
    sinter_bytes text;
    size_t at;
    size_t depth;
    bool expects_name; /* the next string names a member */
    uint64_t string_max;
    walk_frame frames[DEPTH_MAX];
} walk;

static bool
is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static size_t
string_token_size(sinter_bytes text, size_t at)
{
    size_t end = at + 1;

    assert(at < text.size && text.data[at] == '"');
    while (end < text.size && text.data[end] != '"') {
        end += text.data[end] == '\\' ? 2u : 1u;
    }
    return (end < text.size ? end + 1 : text.size) - at;
}

/* Bytes that a string will have once its escapes are gone; never more than the raw ones. */
static size_t
string_value_size(sinter_bytes text, size_t at, size_t size)
{
    size_t removed = 2; /* quotes */

    for (size_t i = at + 1; i + 1 < at + size; i++) {
        if (text.data[i] == '\\') {
            /* The shortest thing that an escape can stand for. */
            removed += text.data[i + 1] == 'u' ? 5u : 1u;
            i++;
        }
    }
    return size > removed ? size - removed : 0;
}

size_t
sinter__json_token_size(sinter_bytes text, size_t offset)
{
    size_t end = offset;

    if (offset >= text.size) {
        return 0;
    }
    if (text.data[offset] == '"') {
        return string_token_size(text, offset);
    }
    while (end < text.size && !is_blank(text.data[end]) &&
           strchr(",:[]{}\"", text.data[end]) == NULL) {
        end++;
    }
    return end - offset;
}

static void
walk_init(walk *w, sinter_bytes text, uint64_t string_max)
{
    memset(w, 0, sizeof *w);
    w->text = text;
    w->string_max = string_max;
}

/* Step over punctuation; true while `at` was no value. */
static bool
walk_punctuation(walk *w)
{
    const uint8_t byte = w->text.data[w->at];
    walk_frame *frame = w->depth == 0 ? NULL : &w->frames[w->depth - 1];

    switch (byte) {
    case ',':
        if (frame != NULL) {
            frame->index++;
            w->expects_name = frame->is_object;
        }
        break;
    case ':':
        w->expects_name = false;
        break;
    case ']':
    case '}':
        w->depth -= w->depth > 0 ? 1u : 0u;
        w->expects_name = false;
        break;
    default:
        if (!is_blank(byte)) {
            return false;
        }
        break;
    }
    w->at++;
    return true;
}

/* Find the next value; `at` is its first byte until walk_enter() steps over it. */
static walk_event
walk_next(walk *w)
{
    while (w->at < w->text.size) {
        const uint8_t byte = w->text.data[w->at];

        if (walk_punctuation(w)) {
            continue;
        }
        if (byte == '"') {
            const size_t size = string_token_size(w->text, w->at);

            if (size > w->string_max && string_value_size(w->text, w->at, size) > w->string_max) {
                return WALK_STRING_TOO_LONG;
            }
            if (w->expects_name && w->depth > 0) {
                w->frames[w->depth - 1].name.data = w->text.data + w->at + 1;
                w->frames[w->depth - 1].name.size = size >= 2 ? size - 2 : 0;
                w->expects_name = false;
                w->at += size;
                continue;
            }
        }
        if ((byte == '{' || byte == '[') && w->depth >= SINTER_DOC_NESTING_MAX) {
            return WALK_TOO_DEEP;
        }
        return WALK_VALUE;
    }
    return WALK_END;
}

/* Step over the value that walk_next() found: into a bracket, past a scalar. */
static void
walk_enter(walk *w)
{
    const uint8_t byte = w->text.data[w->at];

    assert(w->at < w->text.size);
    if (byte == '{' || byte == '[') {
        assert(w->depth < DEPTH_MAX);
        w->frames[w->depth] = (walk_frame){.is_object = byte == '{'};
        w->depth++;
        w->expects_name = byte == '{';
        w->at++;
    } else {
        const size_t size = sinter__json_token_size(w->text, w->at);

        w->at += size == 0 ? 1 : size;
    }
}

/* Write the path of the value at hand; false when it doesn't fit. */
static bool
walk_path(const walk *w, char path[SINTER__JSON_PATH_MAX])
{
    size_t size = 0;

    path[0] = '\0';
    for (size_t i = 0; i < w->depth; i++) {
        const walk_frame *frame = &w->frames[i];
        const size_t room = SINTER__JSON_PATH_MAX - size;
        const int added =
            frame->is_object ? snprintf(path + size, room, "%s%.*s", size == 0 ? "" : ".",
                                        (int)(frame->name.size < room ? frame->name.size : room),
                                        frame->name.size == 0 ? "" : (const char *)frame->name.data)
                             : snprintf(path + size, room, "[%zu]", frame->index);

        if (added < 0 || (size_t)added >= room) {
            return false;
        }
        size += (size_t)added;
    }
    return true;
}

size_t
sinter__json_locate(sinter_bytes text, const char *path)
{
    walk w;
    char here[SINTER__JSON_PATH_MAX];

    walk_init(&w, text, UINT64_MAX);
    while (walk_next(&w) == WALK_VALUE) {
        if (walk_path(&w, here) && strcmp(here, path) == 0) {
            return w.at;
        }
        walk_enter(&w);
    }
    return text.size;
}

size_t
sinter__json_member_value(sinter_bytes text, size_t index)
{
    walk w;

    walk_init(&w, text, UINT64_MAX);
    while (walk_next(&w) == WALK_VALUE) {
        if (w.depth == 1 && w.frames[0].is_object && w.frames[0].index == index) {
            return w.at;
        }
        walk_enter(&w);
    }
    return text.size;
}

void
sinter__json_path_at(sinter_bytes text, size_t offset, char path[SINTER__JSON_PATH_MAX])
{
    walk w;

    walk_init(&w,
              (sinter_bytes){.data = text.data, .size = offset < text.size ? offset : text.size},
              UINT64_MAX);
    path[0] = '\0';
    while (walk_next(&w) == WALK_VALUE) {
        walk_enter(&w);
    }
    (void)walk_path(&w, path);
}

/* Line and column (in characters), both from 1. */
static void
text_position(const sinter__json_source *source, size_t offset, uint64_t *line, uint64_t *column)
{
    size_t line_begin = 0;

    *line = source->first_line == 0 ? 1 : source->first_line;
    for (size_t i = 0; i < offset && i < source->text.size; i++) {
        if (source->text.data[i] == '\n') {
            (*line)++;
            line_begin = i + 1;
        }
    }
    *column = 1;
    for (size_t i = line_begin; i < offset && i < source->text.size; i++) {
        *column += (source->text.data[i] & 0xc0u) != 0x80u ? 1u : 0u;
    }
}

static sinter_status
fail_at(const sinter__json_source *source, sinter_status status, size_t offset, const char *path,
        const char *what, sinter_error *err)
{
    uint64_t line = 0;
    uint64_t column = 0;

    text_position(source, offset, &line, &column);
    return SINTER__ERR_AT(err, status, source->name, offset, "line %llu, column %llu%s%s: %s",
                          (unsigned long long)line, (unsigned long long)column,
                          path[0] == '\0' ? "" : ", member ", path, what);
}

sinter_status
sinter__json_fail(const sinter__json_source *source, sinter_status status, const char *path,
                  const char *what, sinter_error *err)
{
    const size_t found = sinter__json_locate(source->text, path);

    return fail_at(source, status, found < source->text.size ? found : 0, path, what, err);
}

const char *
sinter__json_type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with fraction or exponent";
    case JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

static sinter_status
check_limits(const sinter__json_source *source, uint32_t flags, sinter_error *err)
{
    char path[SINTER__JSON_PATH_MAX];
    walk w;
    walk_event event;

    if (source->text.size > SINTER_DOC_BYTES_MAX) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, source->name, -1,
                              "%zu bytes of JSON, at most %llu are read", source->text.size,
                              (unsigned long long)SINTER_DOC_BYTES_MAX);
    }
    walk_init(&w, source->text,
              (flags & SINTER__JSON_LIMIT_64M) != 0 ? SINTER_DOC_BYTES_MAX
                                                    : SINTER_DOC_STRING_BYTES_MAX);
    for (event = walk_next(&w); event == WALK_VALUE; event = walk_next(&w)) {
        walk_enter(&w);
    }
    if (event == WALK_END) {
        return SINTER_OK;
    }
    (void)walk_path(&w, path);
    return fail_at(source, SINTER_E_TOO_LARGE, w.at, path,
                   event == WALK_TOO_DEEP ? "nested deeper than 32" : "a string above 16 MiB", err);
}

sinter_status
sinter__json_load(const sinter__json_source *source, uint32_t flags, json_t **out,
                  sinter_error *err)
{
    const size_t load_flags =
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY |
        ((flags & SINTER__JSON_ALLOW_NUL) != 0 ? (size_t)JSON_ALLOW_NUL : (size_t)0);
    json_error_t fault;
    char path[SINTER__JSON_PATH_MAX];

    assert(source != NULL);
    *out = NULL;
    SINTER__CHECK(check_limits(source, flags, err));
    memset(&fault, 0, sizeof fault);
    *out = json_loadb(source->text.size == 0 ? "" : (const char *)source->text.data,
                      source->text.size, load_flags, &fault);
    if (*out != NULL) {
        return SINTER_OK;
    }
    /* Without memory jansson often says nothing at all. */
    switch (fault.text[0] == '\0' ? json_error_out_of_memory : json_error_code(&fault)) {
    case json_error_out_of_memory:
        return SINTER__ERR_AT(err, SINTER_E_NOMEM, source->name, -1, "no memory to read JSON");
    case json_error_numeric_overflow:
        sinter__json_path_at(source->text, (size_t)fault.position, path);
        return fail_at(source, SINTER_E_OVERFLOW, (size_t)fault.position, path, fault.text, err);
    default:
        break;
    }
    if (fault.position < 0) {
        fault.position = 0;
    }
    sinter__json_path_at(source->text, (size_t)fault.position, path);
    return fail_at(source, SINTER_E_INVALID, (size_t)fault.position, path, fault.text, err);
}

sinter_status
sinter__json_quote_numbers(sinter_bytes text, sinter_text *out, sinter_error *err)
{
    size_t copied = 0;
    walk w;

    walk_init(&w, text, UINT64_MAX);
    while (walk_next(&w) == WALK_VALUE) {
        const sinter_bytes token = {.data = text.data + w.at,
                                    .size = sinter__json_token_size(text, w.at)};

        if (token.size > 0 && sinter__number_is_json(token)) {
            SINTER__CHECK(sinter_text_append(out, text.data + copied, w.at - copied, err));
            SINTER__CHECK(sinter_text_append(out, "\"", 1, err));
            SINTER__CHECK(sinter_text_append(out, token.data, token.size, err));
            SINTER__CHECK(sinter_text_append(out, "\"", 1, err));
            copied = w.at + token.size;
        }
        walk_enter(&w);
    }
    return sinter_text_append(out, text.data + copied, text.size - copied, err);
}
