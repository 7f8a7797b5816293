/*
 * Loading JSON through jansson, with limits, places of faults, and a check that nothing was lost.
 */
#include "doc/json.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/json_walk.h"
#include "doc/number.h"

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

/*
 * What a text holds, summed so that a loss shows. jansson drops a byte of a string or a number when
 * it has no memory to make its buffer larger, and goes on.
 */
typedef struct json_sums {
    uint64_t string_bytes; /* of names and strings */
    uint64_t integers;     /* wrapped sum of all */
    uint64_t reals;        /* wrapped sum of their bits */
} json_sums;

static void
sum_token(sinter_bytes text, size_t at, json_sums *sums)
{
    const sinter_bytes token = {.data = text.data + at, .size = sinter__json_token_size(text, at)};
    int64_t integer = 0;
    uint64_t bits = 0;
    bool overflow = false;

    if (!sinter__number_is_json(token)) {
        return;
    }
    if (sinter__integer_parse(token, &integer, &overflow)) {
        sums->integers += (uint64_t)integer;
    } else if (sinter__double_parse(token, &bits)) {
        sums->reals += bits;
    }
}

static void
sum_scalar(const json_t *value, json_sums *sums)
{
    const double real = json_real_value(value);
    uint64_t bits;

    if (json_is_string(value)) {
        sums->string_bytes += json_string_length(value);
    } else if (json_is_integer(value)) {
        sums->integers += (uint64_t)json_integer_value(value);
    } else if (json_is_real(value)) {
        memcpy(&bits, &real, sizeof bits);
        sums->reals += bits;
    }
}

/* A bracket of a loaded value and where the summing stands in it. */
typedef struct sum_frame {
    json_t *value;
    void *member; /* of an object */
    size_t index; /* of an array */
} sum_frame;

/* The next value in a bracket; NULL when there is none. Adds the member's name. */
static json_t *
sum_step(sum_frame *frame, json_sums *sums)
{
    json_t *value = NULL;

    if (json_is_array(frame->value)) {
        return json_array_get(frame->value, frame->index++);
    }
    if (frame->member != NULL) {
        sums->string_bytes += json_object_iter_key_len(frame->member);
        value = json_object_iter_value(frame->member);
        frame->member = json_object_iter_next(frame->value, frame->member);
    }
    return value;
}

static void
sum_loaded(json_t *root, json_sums *sums)
{
    sum_frame frames[SINTER__JSON_DEPTH_MAX + 1];
    size_t depth = 0;
    json_t *value = root;

    for (;;) {
        if (value != NULL && (json_is_object(value) || json_is_array(value))) {
            assert(depth <= SINTER__JSON_DEPTH_MAX);
            frames[depth++] = (sum_frame){.value = value, .member = json_object_iter(value)};
        } else if (value != NULL) {
            sum_scalar(value, sums);
        } else {
            depth--;
        }
        if (depth == 0) {
            return;
        }
        value = sum_step(&frames[depth - 1], sums);
    }
}

/* No number that anybody wrote is longer. */
enum { NUMBER_TEXT_MAX = 1000 };

static sinter_status
check_limits(const sinter__json_source *source, uint32_t flags, json_sums *sums,
             size_t *number_max_out, sinter_error *err)
{
    char path[SINTER__JSON_PATH_MAX];
    char what[48];
    sinter__json_walk w;
    sinter__json_event event;

    if (source->text.size > SINTER_DOC_BYTES_MAX) {
        return SINTER__ERR_AT(err, SINTER_E_TOO_LARGE, source->name, -1,
                              "%zu bytes of JSON, at most %llu are read", source->text.size,
                              (unsigned long long)SINTER_DOC_BYTES_MAX);
    }
    sinter__json_walk_init(&w, source->text,
                           (flags & SINTER__JSON_ROW) != 0 ? SINTER_DOC_BYTES_MAX
                                                           : SINTER_DOC_STRING_BYTES_MAX);
    if ((flags & (SINTER__JSON_ROW | SINTER__JSON_TYPES)) == 0) {
        w.depth_max = SINTER_DOC_NESTING_MAX;
    }
    for (event = sinter__json_walk_next(&w); event == SINTER__JSON_VALUE;
         event = sinter__json_walk_next(&w)) {
        if (w.text.data[w.at] != '"') {
            const size_t size = sinter__json_token_size(w.text, w.at);

            if (size > NUMBER_TEXT_MAX) {
                (void)sinter__json_walk_path(&w, path);
                return fail_at(source, SINTER_E_TOO_LARGE, w.at, path, "a number above 1000 digits",
                               err);
            }
            *number_max_out = size > *number_max_out ? size : *number_max_out;
        }
        sum_token(w.text, w.at, sums);
        sinter__json_walk_enter(&w);
    }
    sums->string_bytes = w.string_bytes;
    if (event == SINTER__JSON_END) {
        return SINTER_OK;
    }
    (void)sinter__json_walk_path(&w, path);
    (void)snprintf(what, sizeof what, "nested deeper than %zu", w.depth_max);
    return fail_at(source, SINTER_E_TOO_LARGE, w.at, path,
                   event == SINTER__JSON_TOO_DEEP ? what : "a string above 16 MiB", err);
}

static bool
begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/*
 * Was there no memory, whatever jansson calls it? It often says nothing at all. A whole string for
 * which it has no room is an invalid token, or no name, to it; of a string that could not grow the
 * rest of an escape may be missing, which it had checked before.
 */
static bool
is_memory_fault(const sinter__json_source *source, const json_error_t *fault)
{
    const size_t end = fault->position < 0 ? 0 : (size_t)fault->position;

    if (fault->text[0] == '\0' || json_error_code(fault) == json_error_out_of_memory ||
        begins_with(fault->text, "invalid Unicode escape")) {
        return true;
    }
    return end > 0 && end <= source->text.size && source->text.data[end - 1] == '"' &&
           (begins_with(fault->text, "invalid token") ||
            begins_with(fault->text, "string or '}' expected"));
}

/* A text in an array behind a string, piece by piece. */
typedef struct guarded_text {
    sinter_bytes pieces[3];
    size_t piece;
} guarded_text;

static size_t
feed_guarded(void *buffer, size_t size, void *ctx)
{
    guarded_text *text = ctx;
    sinter_bytes *rest = NULL;
    size_t taken = 0;

    while (text->piece < 3 && text->pieces[text->piece].size == 0) {
        text->piece++;
    }
    if (text->piece == 3) {
        return 0;
    }
    rest = &text->pieces[text->piece];
    taken = size < rest->size ? size : rest->size;
    memcpy(buffer, rest->data, taken);
    rest->data += taken;
    rest->size -= taken;
    return taken;
}

/*
 * Load with `["xx...x",` in front and `]` behind. jansson ends the process when it has no memory to
 * make its buffer larger for a number. The string is as long as the longest number, so the buffer
 * is large enough when numbers come, or the loss shows in the string.
 */
static json_t *
load_guarded(const sinter__json_source *source, size_t load_flags, size_t number_max,
             json_error_t *fault)
{
    char front[NUMBER_TEXT_MAX + 16];
    const size_t size = number_max + 2; /* a number is read with the byte behind it */
    guarded_text text = {
        .pieces = {{(const uint8_t *)front, size + 4}, source->text, {(const uint8_t *)"]", 1}}};
    json_t *array = NULL;
    json_t *value = NULL;

    assert(number_max <= NUMBER_TEXT_MAX);
    memset(front, 'x', sizeof front);
    front[0] = '[';
    front[1] = '"';
    front[size + 2] = '"';
    front[size + 3] = ',';
    array = json_load_callback(feed_guarded, &text, load_flags, fault);
    fault->position = fault->position < (int)(size + 4) ? 0 : fault->position - (int)(size + 4);
    if (array != NULL && json_string_length(json_array_get(array, 0)) != size) {
        fault->text[0] = '\0'; /* no memory: is_memory_fault() */
    } else if (json_array_size(array) == 2) {
        value = json_incref(json_array_get(array, 1));
    } else if (array != NULL) {
        (void)snprintf(fault->text, sizeof fault->text, "not one value");
    }
    json_decref(array);
    return value;
}

/* The shortest number for which jansson's buffer has to grow. */
enum { NUMBER_GROWS = 14 };

static json_t *
load_text(const sinter__json_source *source, size_t load_flags, size_t number_max,
          json_error_t *fault)
{
    json_t *value = NULL;

    if (number_max >= NUMBER_GROWS) {
        value = load_guarded(source, load_flags, number_max, fault);
        if (value != NULL || is_memory_fault(source, fault)) {
            return value;
        }
        memset(fault, 0, sizeof *fault); /* a fault of the text, told by its own places */
    }
    return json_loadb(source->text.size == 0 ? "" : (const char *)source->text.data,
                      source->text.size, load_flags, fault);
}

sinter_status
sinter__json_load(const sinter__json_source *source, uint32_t flags, json_t **out,
                  sinter_error *err)
{
    const size_t load_flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL;
    json_error_t fault;
    char path[SINTER__JSON_PATH_MAX];
    json_sums written = {0};
    json_sums loaded = {0};
    size_t number_max = 0;

    assert(source != NULL);
    *out = NULL;
    SINTER__CHECK(check_limits(source, flags, &written, &number_max, err));
    memset(&fault, 0, sizeof fault);
    *out = load_text(source, load_flags, number_max, &fault);
    if (*out != NULL) {
        sum_loaded(*out, &loaded);
        if (memcmp(&written, &loaded, sizeof written) == 0) {
            return SINTER_OK;
        }
        json_decref(*out);
        *out = NULL;
        return SINTER__ERR_AT(err, SINTER_E_NOMEM, source->name, -1, "no memory to read JSON");
    }
    if (is_memory_fault(source, &fault)) {
        return SINTER__ERR_AT(err, SINTER_E_NOMEM, source->name, -1, "no memory to read JSON");
    }
    if (fault.position < 0) {
        fault.position = 0;
    }
    sinter__json_path_at(source->text, (size_t)fault.position, path);
    return fail_at(source,
                   json_error_code(&fault) == json_error_numeric_overflow ? SINTER_E_OVERFLOW
                                                                          : SINTER_E_INVALID,
                   (size_t)fault.position, path, fault.text, err);
}
