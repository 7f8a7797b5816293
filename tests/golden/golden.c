#include "golden.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SINTER_GOLDEN_SHARED
#error "the build names the folder beside the tree"
#endif

static const char *
golden_dir(void)
{
    const char *named = getenv("SINTER_GOLDEN_DIR");

    if (named != NULL && named[0] != '\0') {
        return named;
    }
    return access(SINTER_GOLDEN_SHARED, R_OK) == 0 ? SINTER_GOLDEN_SHARED : SINTER_GOLDEN_SAMPLE;
}

void
golden_run(const char *file_name, golden_case run)
{
    char path[4096];
    char *line = NULL;
    size_t capacity = 0;
    size_t cases = 0;
    FILE *file = NULL;

    (void)snprintf(path, sizeof path, "%s/%s", golden_dir(), file_name);
    file = fopen(path, "r");
    if (file == NULL) { /* vectors of this tree alone */
        (void)snprintf(path, sizeof path, "%s/%s", SINTER_GOLDEN_SAMPLE, file_name);
        file = fopen(path, "r");
    }
    cr_assert_not_null(file, "%s can't be read", path);
    while (getline(&line, &capacity, file) > 0) {
        json_error_t error;
        json_t *json = NULL;

        if (line[strspn(line, " \t\r\n")] == '\0') {
            continue;
        }
        json = json_loads(line, JSON_REJECT_DUPLICATES, &error);
        cr_assert_not_null(json, "%s: case %zu: %s", path, cases + 1, error.text);
        run(json_object_get(json, "id") == NULL ? "no id" : golden_text(json, "id"), json);
        json_decref(json);
        cases++;
    }
    cr_assert_eq(ferror(file), 0, "%s can't be read to its end", path);
    (void)fclose(file);
    free(line);
    cr_assert_gt(cases, 0, "%s holds no case", path);
    printf("golden: %s: %zu cases\n", path, cases);
    (void)fflush(stdout);
}

const json_t *
golden_get(const json_t *object, const char *name)
{
    const json_t *member = json_object_get(object, name);

    cr_assert_not_null(member, "member %s is missing", name);
    return member;
}

int64_t
golden_int(const json_t *object, const char *name)
{
    const json_t *member = golden_get(object, name);

    cr_assert(json_is_integer(member), "member %s is no integer", name);
    return json_integer_value(member);
}

bool
golden_bool(const json_t *object, const char *name)
{
    const json_t *member = golden_get(object, name);

    cr_assert(json_is_boolean(member), "member %s is no boolean", name);
    return json_is_true(member);
}

const char *
golden_text(const json_t *object, const char *name)
{
    const json_t *member = golden_get(object, name);

    cr_assert(json_is_string(member), "member %s is no string", name);
    return json_string_value(member);
}

sinter_bytes
golden_hex(const json_t *object, const char *name, uint8_t buffer[8])
{
    const char *text = golden_text(object, name);
    const size_t size = strlen(text) / 2;

    cr_assert_leq(size, 8, "member %s is longer than 8 bytes", name);
    for (size_t i = 0; i < size; i++) {
        unsigned byte = 0;

        cr_assert_eq(sscanf(text + 2 * i, "%2x", &byte), 1, "member %s is no hex", name);
        buffer[i] = (uint8_t)byte;
    }
    return (sinter_bytes){buffer, size};
}

void
golden_expect(const char *id, const char *what, const json_t *expected, json_t *found)
{
    if (json_equal(expected, found) == 0) {
        char *a = json_dumps(expected, JSON_COMPACT | JSON_ENCODE_ANY);
        char *b = json_dumps(found, JSON_COMPACT | JSON_ENCODE_ANY);

        cr_assert_fail("%s: %s\n  expected %s\n  found    %s", id, what, a, b);
        free(a);
        free(b);
    }
    json_decref(found);
}
