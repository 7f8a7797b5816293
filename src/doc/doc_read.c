#include "doc/doc_read.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/number.h"

static void
member_path(const sinter__doc_object *object, const char *name, char path[SINTER__JSON_PATH_MAX])
{
    const char *dot = object->path[0] == '\0' || name == NULL ? "" : ".";
    const int length = snprintf(path, SINTER__JSON_PATH_MAX, "%.120s%s%.30s", object->path, dot,
                                name == NULL ? "" : name);

    assert(length >= 0 && length < SINTER__JSON_PATH_MAX);
    (void)length;
}

sinter_status
sinter__doc_fail(const sinter__doc_object *object, sinter_status status, const char *name,
                 const char *what, sinter_error *err)
{
    char path[SINTER__JSON_PATH_MAX];

    member_path(object, name, path);
    return sinter__json_fail(object->source, status, path, what, err);
}

static sinter_status
fail_type(const sinter__doc_object *object, const char *name, const char *expected,
          const json_t *found, sinter_error *err)
{
    char what[96];

    (void)snprintf(what, sizeof what, "%s expected, %s found", expected,
                   sinter__json_type_name(found));
    return sinter__doc_fail(object, SINTER_E_INVALID, name, what, err);
}

sinter_status
sinter__doc_room(sinter__arena *arena, size_t count, size_t size, void **out, sinter_error *err)
{
    size_t bytes = 0;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu items don't fit in memory", count);
    }
    SINTER__CHECK(sinter__arena_take(arena, bytes == 0 ? 1 : bytes, out, err));
    memset(*out, 0, bytes == 0 ? 1 : bytes);
    return SINTER_OK;
}

sinter_status
sinter__doc_member(const sinter__doc_object *object, const char *name, sinter__doc_need need,
                   const json_t **out, sinter_error *err)
{
    const json_t *value = json_object_get(object->json, name);

    *out = NULL;
    if (value != NULL && !json_is_null(value)) {
        *out = value;
        return SINTER_OK;
    }
    if (need == SINTER__DOC_NEEDED) {
        char what[96];

        (void)snprintf(what, sizeof what, "member \"%s\" is missing", name);
        return sinter__doc_fail(object, SINTER_E_INVALID, NULL, what, err);
    }
    return SINTER_OK;
}

sinter_status
sinter__doc_text(const sinter__doc_object *object, const char *name, const json_t *value,
                 const char **out, sinter_error *err)
{
    *out = json_string_value(value);
    if (*out == NULL) {
        return fail_type(object, name, "a string", value, err);
    }
    if (strlen(*out) != json_string_length(value)) {
        return sinter__doc_fail(object, SINTER_E_INVALID, name, "a text with a zero byte", err);
    }
    return SINTER_OK;
}

sinter_status
sinter__doc_string(const sinter__doc_object *object, const char *name, sinter__doc_need need,
                   const char **out, sinter_error *err)
{
    const json_t *value = NULL;
    const char *text = NULL;

    *out = NULL;
    SINTER__CHECK(sinter__doc_member(object, name, need, &value, err));
    if (value == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__doc_text(object, name, value, &text, err));
    return sinter__arena_strdup(object->arena, text, out, err);
}

sinter_status
sinter__doc_integer(const sinter__doc_object *object, const char *name, sinter__doc_range range,
                    bool *has_out, int64_t *out, sinter_error *err)
{
    const json_t *value = NULL;
    int64_t number = 0;
    bool overflow = false;

    assert(range.min <= range.max);
    *has_out = false;
    SINTER__CHECK(sinter__doc_member(object, name, SINTER__DOC_OPTIONAL, &value, err));
    if (value == NULL) {
        return SINTER_OK;
    }
    if (json_is_integer(value)) {
        number = json_integer_value(value);
    } else if (!json_is_string(value)) {
        return fail_type(object, name, "an integer", value, err);
    } else {
        const sinter_bytes text = {.data = (const uint8_t *)json_string_value(value),
                                   .size = json_string_length(value)};

        if (!sinter__integer_parse(text, &number, &overflow) && !overflow) {
            return sinter__doc_fail(object, SINTER_E_INVALID, name,
                                    "an integer expected, other text found", err);
        }
    }
    if (overflow || number < range.min || number > range.max) {
        char what[128];

        (void)snprintf(what, sizeof what, "the integer is outside %lld..%lld", (long long)range.min,
                       (long long)range.max);
        return sinter__doc_fail(object, SINTER_E_INVALID, name, what, err);
    }
    *has_out = true;
    *out = number;
    return SINTER_OK;
}

sinter_status
sinter__doc_hex(const sinter__doc_object *object, const char *name, bool *has_out,
                sinter_bytes *out, sinter_error *err)
{
    const json_t *value = NULL;
    sinter_text decoded;
    sinter_status st = SINTER_OK;

    *has_out = false;
    *out = (sinter_bytes){0};
    SINTER__CHECK(sinter__doc_member(object, name, SINTER__DOC_OPTIONAL, &value, err));
    if (value == NULL) {
        return SINTER_OK;
    }
    if (!json_is_string(value)) {
        return fail_type(object, name, "hex text", value, err);
    }
    sinter_text_init(object->arena->env, &decoded);
    st = sinter_hex_parse((sinter_bytes){.data = (const uint8_t *)json_string_value(value),
                                         .size = json_string_length(value)},
                          &decoded, NULL);
    if (st == SINTER_E_INVALID) {
        st = sinter__doc_fail(object, SINTER_E_INVALID, name, "no hex text", err);
    } else if (st != SINTER_OK) {
        st = SINTER__ERR(err, st, "no memory for a member's bytes");
    } else {
        st = sinter__arena_copy(object->arena, sinter_text_bytes(&decoded), out, err);
    }
    sinter_text_fini(&decoded);
    *has_out = st == SINTER_OK;
    return st;
}

sinter_status
sinter__doc_enum(const sinter__doc_object *object, const char *name, const char *const *names,
                 int *out, sinter_error *err)
{
    const json_t *value = NULL;
    const char *text = NULL;
    char what[160];

    *out = -1;
    SINTER__CHECK(sinter__doc_member(object, name, SINTER__DOC_OPTIONAL, &value, err));
    if (value == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__doc_text(object, name, value, &text, err));
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return SINTER_OK;
        }
    }
    (void)snprintf(what, sizeof what, "unknown value \"%.60s\"", text);
    return sinter__doc_fail(object, SINTER_E_INVALID, name, what, err);
}

sinter_status
sinter__doc_bool(const sinter__doc_object *object, const char *name, bool *out, sinter_error *err)
{
    const json_t *value = NULL;

    SINTER__CHECK(sinter__doc_member(object, name, SINTER__DOC_OPTIONAL, &value, err));
    if (value != NULL && !json_is_boolean(value)) {
        return fail_type(object, name, "true or false", value, err);
    }
    *out = value == NULL ? *out : json_is_true(value);
    return SINTER_OK;
}

sinter_status
sinter__doc_child(const sinter__doc_object *object, const char *name, sinter__doc_need need,
                  sinter__doc_object *out, sinter_error *err)
{
    const json_t *value = NULL;

    *out = *object;
    out->json = NULL;
    SINTER__CHECK(sinter__doc_member(object, name, need, &value, err));
    if (value != NULL && !json_is_object(value)) {
        return fail_type(object, name, "an object", value, err);
    }
    out->json = value;
    member_path(object, name, out->path);
    return SINTER_OK;
}

sinter_status
sinter__doc_array(const sinter__doc_object *object, const char *name, sinter__doc_need need,
                  const json_t **out, sinter_error *err)
{
    SINTER__CHECK(sinter__doc_member(object, name, need, out, err));
    if (*out != NULL && !json_is_array(*out)) {
        return fail_type(object, name, "an array", *out, err);
    }
    return SINTER_OK;
}

sinter_status
sinter__doc_element(const sinter__doc_object *object, const char *name, const json_t *array,
                    size_t index, sinter__doc_object *out, sinter_error *err)
{
    char path[SINTER__JSON_PATH_MAX];

    member_path(object, name, path);
    *out = *object;
    if (snprintf(out->path, sizeof out->path, "%.130s[%zu]", path, index) < 0) {
        out->path[0] = '\0';
    }
    out->json = json_array_get(array, index);
    assert(out->json != NULL);
    if (!json_is_object(out->json)) {
        return fail_type(out, NULL, "an object", out->json, err);
    }
    return SINTER_OK;
}

sinter_status
sinter__doc_strings(const sinter__doc_object *object, const char *name, const char *const **out,
                    size_t *count_out, sinter_error *err)
{
    const json_t *array = NULL;
    const char **strings = NULL;
    size_t count = 0;

    *out = NULL;
    *count_out = 0;
    SINTER__CHECK(sinter__doc_array(object, name, SINTER__DOC_OPTIONAL, &array, err));
    if (array == NULL) {
        return SINTER_OK;
    }
    count = json_array_size(array);
    SINTER__CHECK(sinter__doc_room(object->arena, count, sizeof *strings, (void **)&strings, err));
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        const char *text = NULL;
        char element[96];

        (void)snprintf(element, sizeof element, "%.60s[%zu]", name, i);
        SINTER__CHECK(sinter__doc_text(object, element, value, &text, err));
        SINTER__CHECK(sinter__arena_strdup(object->arena, text, &strings[i], err));
    }
    *out = strings;
    *count_out = count;
    return SINTER_OK;
}

static bool
knows(const sinter__doc_kind *kind, const char *name)
{
    for (const char *const *known = kind->names; *known != NULL; known++) {
        if (strcmp(*known, name) == 0) {
            return true;
        }
    }
    return false;
}

static sinter_status
check_must_understand(const sinter__doc_object *root, const sinter__doc_kind *kind,
                      sinter_error *err)
{
    const char *const *names = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__doc_strings(root, "must_understand", &names, &count, err));
    for (size_t i = 0; names != NULL && i < count; i++) {
        if (!knows(kind, names[i])) {
            char what[160];

            (void)snprintf(what, sizeof what,
                           "member \"%.80s\" must be understood and is not known here", names[i]);
            return sinter__doc_fail(root, SINTER_E_UNSUPPORTED, "must_understand", what, err);
        }
    }
    return SINTER_OK;
}

sinter_status
sinter__doc_check(const sinter__doc_object *root, const sinter__doc_kind *kind, sinter_error *err)
{
    const char *format = NULL;
    int64_t version = 0;
    bool has_version = false;
    char what[192];

    if (!json_is_object(root->json)) {
        return fail_type(root, NULL, "an object", root->json, err);
    }
    SINTER__CHECK(sinter__doc_string(root, "format", SINTER__DOC_NEEDED, &format, err));
    if (format == NULL || strcmp(format, kind->format) != 0) {
        (void)snprintf(what, sizeof what, "format \"%.60s\" found, \"%s\" expected",
                       format == NULL ? "" : format, kind->format);
        return sinter__doc_fail(root, SINTER_E_UNSUPPORTED, "format", what, err);
    }
    SINTER__CHECK(
        sinter__doc_integer(root, "version", SINTER__DOC_ANY_INTEGER, &has_version, &version, err));
    if (!has_version) {
        return sinter__doc_fail(root, SINTER_E_INVALID, NULL, "member \"version\" is missing", err);
    }
    if (version < 1 || version > kind->version) {
        (void)snprintf(what, sizeof what, "version %lld found, versions 1 to %lld are understood",
                       (long long)version, (long long)kind->version);
        return sinter__doc_fail(root, SINTER_E_UNSUPPORTED, "version", what, err);
    }
    return check_must_understand(root, kind, err);
}

sinter_status
sinter__doc_string_map(const sinter__doc_object *object, const char *name,
                       const sinter_option **out, size_t *count_out, sinter_error *err)
{
    json_t *map = json_object_get(object->json, name);
    sinter__doc_object member = *object;
    sinter_option *list = NULL;
    size_t count = 0;

    *out = NULL;
    *count_out = 0;
    if (map == NULL || json_is_null(map)) {
        return SINTER_OK;
    }
    if (!json_is_object(map)) {
        return sinter__doc_fail(object, SINTER_E_INVALID, name, "an object expected", err);
    }
    member_path(object, name, member.path);
    member.json = map;
    SINTER__CHECK(
        sinter__doc_room(object->arena, json_object_size(map), sizeof *list, (void **)&list, err));
    assert(list != NULL);
    for (void *at = json_object_iter(map); at != NULL; at = json_object_iter_next(map, at)) {
        const char *key = json_object_iter_key(at);

        SINTER__CHECK(sinter__arena_strdup(object->arena, key, &list[count].key, err));
        SINTER__CHECK(
            sinter__doc_string(&member, key, SINTER__DOC_NEEDED, &list[count].value, err));
        count++;
    }
    *out = list;
    *count_out = count;
    return SINTER_OK;
}
