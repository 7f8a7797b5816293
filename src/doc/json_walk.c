/*
 * The walk is no parser: it follows brackets, quotes and commas of a text, so that limits can be
 * checked before jansson stores anything and a fault can be given its line, column and path.
 * jansson alone decides what is JSON.
 */
#include "doc/json_walk.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/json.h"
#include "doc/number.h"

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

/* Bytes that the escape at `at` stands for, and `*skip_out` its own. */
static size_t
escape_value_size(sinter_bytes text, size_t at, size_t *skip_out)
{
    unsigned code = 0;

    if (at + 5 >= text.size || text.data[at + 1] != 'u') {
        *skip_out = 2;
        return 1;
    }
    *skip_out = 6;
    for (size_t i = at + 2; i < at + 6; i++) {
        const unsigned digit = text.data[i] | 0x20u; /* letters in lower case */

        code = code << 4 | ((digit >= 'a' ? digit - 'a' + 10 : digit - '0') & 15u);
    }
    if (code < 0x80) {
        return 1;
    }
    /* The two halves of a pair make four bytes together. */
    return code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
}

/* Bytes that a string token has once its quotes and escapes are gone. */
static size_t
string_value_size(sinter_bytes text, size_t at, size_t size)
{
    const size_t end = at + size - (size >= 2 ? 1u : 0u);
    size_t value_size = 0;

    for (size_t i = at + 1; i < end;) {
        size_t skip = 1;

        value_size += text.data[i] == '\\' ? escape_value_size(text, i, &skip) : 1;
        i += skip;
    }
    return value_size;
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

void
sinter__json_walk_init(sinter__json_walk *w, sinter_bytes text, uint64_t string_max)
{
    w->text = text;
    w->at = 0;
    w->depth = 0;
    w->depth_max = SINTER__JSON_DEPTH_MAX;
    w->expects_name = false;
    w->string_max = string_max;
    w->string_bytes = 0;
}

/* Step over punctuation; true while `at` was no value. */
static bool
walk_punctuation(sinter__json_walk *w)
{
    const uint8_t byte = w->text.data[w->at];
    sinter__json_frame *frame = w->depth == 0 ? NULL : &w->frames[w->depth - 1];

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

/* Find the next value; `at` is its first byte until sinter__json_walk_enter() steps over it. */
sinter__json_event
sinter__json_walk_next(sinter__json_walk *w)
{
    while (w->at < w->text.size) {
        const uint8_t byte = w->text.data[w->at];

        if (walk_punctuation(w)) {
            continue;
        }
        if (byte == '"') {
            const size_t size = string_token_size(w->text, w->at);
            const size_t value_size = string_value_size(w->text, w->at, size);

            if (value_size > w->string_max) {
                return SINTER__JSON_STRING_TOO_LONG;
            }
            if (w->expects_name && w->depth > 0) {
                w->frames[w->depth - 1].name.data = w->text.data + w->at + 1;
                w->frames[w->depth - 1].name.size = size >= 2 ? size - 2 : 0;
                w->expects_name = false;
                w->string_bytes += value_size;
                w->at += size;
                continue;
            }
        }
        if ((byte == '{' || byte == '[') && w->depth >= w->depth_max) {
            return SINTER__JSON_TOO_DEEP;
        }
        return SINTER__JSON_VALUE;
    }
    return SINTER__JSON_END;
}

/* Step over the value that sinter__json_walk_next() found: into a bracket, past a scalar. */
void
sinter__json_walk_enter(sinter__json_walk *w)
{
    const uint8_t byte = w->text.data[w->at];

    assert(w->at < w->text.size);
    if (byte == '{' || byte == '[') {
        assert(w->depth < SINTER__JSON_DEPTH_MAX);
        w->frames[w->depth] = (sinter__json_frame){.is_object = byte == '{'};
        w->depth++;
        w->expects_name = byte == '{';
        w->at++;
    } else {
        const size_t size = sinter__json_token_size(w->text, w->at);

        w->string_bytes += byte == '"' ? string_value_size(w->text, w->at, size) : 0;
        w->at += size == 0 ? 1 : size;
    }
}

size_t
sinter__json_depth(sinter_bytes text)
{
    sinter__json_walk w;
    size_t deepest = 0;

    sinter__json_walk_init(&w, text, UINT64_MAX);
    while (sinter__json_walk_next(&w) == SINTER__JSON_VALUE) {
        sinter__json_walk_enter(&w);
        deepest = w.depth > deepest ? w.depth : deepest;
    }
    return deepest;
}

/* Write the path of the value at hand; false when it doesn't fit. */
bool
sinter__json_walk_path(const sinter__json_walk *w, char path[SINTER__JSON_PATH_MAX])
{
    size_t size = 0;

    path[0] = '\0';
    for (size_t i = 0; i < w->depth; i++) {
        const sinter__json_frame *frame = &w->frames[i];
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
    sinter__json_walk w;
    char here[SINTER__JSON_PATH_MAX];

    sinter__json_walk_init(&w, text, UINT64_MAX);
    while (sinter__json_walk_next(&w) == SINTER__JSON_VALUE) {
        if (sinter__json_walk_path(&w, here) && strcmp(here, path) == 0) {
            return w.at;
        }
        sinter__json_walk_enter(&w);
    }
    return text.size;
}

void
sinter__json_path_at(sinter_bytes text, size_t offset, char path[SINTER__JSON_PATH_MAX])
{
    sinter__json_walk w;

    sinter__json_walk_init(
        &w, (sinter_bytes){.data = text.data, .size = offset < text.size ? offset : text.size},
        UINT64_MAX);
    path[0] = '\0';
    while (sinter__json_walk_next(&w) == SINTER__JSON_VALUE) {
        sinter__json_walk_enter(&w);
    }
    (void)sinter__json_walk_path(&w, path);
}

/* Line and column (in characters), both from 1. */

/* Append what stands before a number, and the number in quotes. */
static sinter_status
append_quoted(sinter_bytes before, sinter_bytes number, sinter_text *out, sinter_error *err)
{
    SINTER__CHECK(sinter_text_append(out, before.data, before.size, err));
    SINTER__CHECK(sinter_text_append(out, "\"", 1, err));
    SINTER__CHECK(sinter_text_append(out, number.data, number.size, err));
    return sinter_text_append(out, "\"", 1, err);
}

sinter_status
sinter__json_quote_numbers(sinter_bytes text, sinter_text *out, sinter_error *err)
{
    size_t copied = 0;
    sinter__json_walk w;

    sinter__json_walk_init(&w, text, UINT64_MAX);
    for (; sinter__json_walk_next(&w) == SINTER__JSON_VALUE; sinter__json_walk_enter(&w)) {
        const sinter_bytes before = {.data = text.data + copied, .size = w.at - copied};
        const sinter_bytes token = {.data = text.data + w.at,
                                    .size = sinter__json_token_size(text, w.at)};

        if (!sinter__number_is_json(token)) {
            continue;
        }
        SINTER__CHECK(append_quoted(before, token, out, err));
        copied = w.at + token.size;
    }
    return sinter_text_append(out, text.data + copied, text.size - copied, err);
}
