#include "table/numbered.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "doc/text.h"
#include "sinter/io.h"

enum { HINT_BYTES_MAX = 32 };

void
sinter__numbers_fini(const sinter_env *env, sinter__numbers *numbers)
{
    sinter__free(env, numbers->items);
    *numbers = (sinter__numbers){0};
}

bool
sinter__number_parse(sinter_bytes text, int64_t *out)
{
    int64_t value = 0;

    if (text.size == 0 || (text.size > 1 && text.data[0] == '0')) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text.data[i] - '0', &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

sinter_status
sinter__number_path(const sinter__numbered *files, int64_t number, sinter_text *out,
                    sinter_error *err)
{
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%" PRId64, number);
    sinter_text_reset(out);
    SINTER__CHECK(sinter__text_puts(out, files->dir, err));
    SINTER__CHECK(sinter__text_puts(out, "/", err));
    SINTER__CHECK(sinter__text_puts(out, files->prefix, err));
    return sinter__text_puts(out, digits, err);
}

/* ---- listing ---- */

typedef struct listing {
    const sinter__numbered *files;
    sinter__numbers *numbers;
    sinter_error *err;
} listing;

static sinter_status
note_name(void *ctx, const char *name)
{
    const listing *l = ctx;
    const size_t prefix_size = strlen(l->files->prefix);
    sinter__numbers *numbers = l->numbers;
    sinter_bytes digits;
    int64_t number = 0;

    if (strncmp(name, l->files->prefix, prefix_size) != 0) {
        return SINTER_OK;
    }
    digits.data = (const uint8_t *)name + prefix_size;
    digits.size = strlen(name + prefix_size);
    if (!sinter__number_parse(digits, &number)) {
        return SINTER_OK;
    }
    if (numbers->count == numbers->capacity) {
        const size_t wanted = numbers->capacity == 0 ? 64 : numbers->capacity * 2;

        SINTER__CHECK(sinter__resize(l->files->env, (void **)&numbers->items, wanted,
                                     sizeof *numbers->items, l->err));
        numbers->capacity = wanted;
    }
    numbers->items[numbers->count++] = number;
    return SINTER_OK;
}

static int
compare_numbers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

sinter_status
sinter__numbers_list(const sinter__numbered *files, sinter__numbers *out, sinter_error *err)
{
    const sinter_env *env = files->env;
    sinter_error detail = SINTER_ERROR_INIT;
    listing l = {.files = files, .numbers = out, .err = &detail};
    sinter_status st = SINTER_OK;

    assert(out->count == 0);
    st = env->io->ops->list(env->io, files->dir, note_name, &l, &detail);
    if (st == SINTER_E_NOT_FOUND) {
        return SINTER_OK;
    }
    if (st != SINTER_OK) {
        if (err != NULL) {
            *err = detail;
        }
        sinter__numbers_fini(env, out);
        return st;
    }
    if (out->count > 1) {
        qsort(out->items, out->count, sizeof *out->items, compare_numbers);
    }
    return SINTER_OK;
}

/* ---- hints ---- */

sinter_status
sinter__path_exists(const sinter_env *env, const char *path, bool *out, sinter_error *err)
{
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_io_stat stat;
    const sinter_status st = env->io->ops->stat(env->io, path, &stat, &detail);

    *out = st == SINTER_OK;
    if (st == SINTER_OK || st == SINTER_E_NOT_FOUND) {
        return SINTER_OK;
    }
    if (err != NULL) {
        *err = detail;
    }
    return st;
}

/* What the hint says; 0 when there is none that makes sense. Whatever goes wrong, the directory is
 * the truth. */
static int64_t
read_hint(const sinter_env *env, const char *path)
{
    sinter_io_file *file = NULL;
    uint8_t text[HINT_BYTES_MAX];
    sinter_io_range range = {.data = text};
    uint64_t size = 0;
    int64_t number = 0;

    if (env->io->ops->open(env->io, path, 0, &file, NULL) != SINTER_OK) {
        return 0;
    }
    if (file->ops->size(file, &size, NULL) == SINTER_OK && size > 0 && size <= sizeof text) {
        range.size = (size_t)size;
        if (file->ops->read(file, &range, 1, NULL) != SINTER_OK ||
            !sinter__number_parse((sinter_bytes){text, (size_t)size}, &number)) {
            number = 0;
        }
    }
    file->ops->close(file);
    return number;
}

/* Is the hinted number what the hint says it is? */
static sinter_status
check_hint(const sinter__numbered *files, sinter__number_end end, int64_t hint, sinter_text *path,
           bool *out, sinter_error *err)
{
    bool has_next = false;

    SINTER__CHECK(sinter__number_path(files, hint, path, err));
    SINTER__CHECK(sinter__path_exists(files->env, path->data, out, err));
    if (*out && end == SINTER__NUMBER_LATEST && hint < INT64_MAX) {
        SINTER__CHECK(sinter__number_path(files, hint + 1, path, err));
        SINTER__CHECK(sinter__path_exists(files->env, path->data, &has_next, err));
        *out = !has_next;
    }
    return SINTER_OK;
}

sinter_status
sinter__number_find(const sinter__numbered *files, sinter__number_end end, int64_t *out,
                    sinter_error *err)
{
    sinter__numbers numbers = {0};
    sinter_text path;
    sinter_status st = SINTER_OK;
    bool is_right = false;

    sinter_text_init(files->env, &path);
    SINTER__TRY(sinter__text_puts(&path, files->dir, err));
    SINTER__TRY(
        sinter__text_puts(&path, end == SINTER__NUMBER_LATEST ? "/LATEST" : "/EARLIEST", err));
    *out = read_hint(files->env, path.data);
    if (*out > 0) {
        SINTER__TRY(check_hint(files, end, *out, &path, &is_right, err));
    }
    if (!is_right) {
        SINTER__TRY(sinter__numbers_list(files, &numbers, err));
        if (numbers.count > 0) {
            *out = numbers.items[end == SINTER__NUMBER_LATEST ? numbers.count - 1 : 0];
        } else {
            st = SINTER_END;
        }
    }
out:
    sinter__numbers_fini(files->env, &numbers);
    sinter_text_fini(&path);
    return st;
}
