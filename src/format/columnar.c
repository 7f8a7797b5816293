#include "format/columnar.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"

#define LIBRARY_NAME "libsinter_columnar.so"
#define ADVICE                                                                           \
    "Parquet and ORC files need libsinter_columnar, which comes with Apache Arrow (pip " \
    "install pyarrow==19.0.1, then build sinter with it: docs/columnar.md); it was not " \
    "found"

enum { PATH_BYTES_MAX = 4352 };

/** The path to load, in `buffer` if need be; NULL: leave the looking to the system's loader. */
static const char *
find_library(const sinter_env *env, char *buffer, size_t size)
{
    static const char *const folders[] = {".", "../lib"};

    if (env->struct_size >= sizeof *env && env->columnar_library != NULL) {
        return env->columnar_library;
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (sinter__library_beside(folders[i], LIBRARY_NAME, buffer, size)) {
            return buffer;
        }
    }
    return NULL;
}

sinter_status
sinter__columnar_load(const sinter_env *env, sinter__columnar *out, sinter_error *err)
{
    char buffer[PATH_BYTES_MAX];
    const char *path = find_library(env, buffer, sizeof buffer);
    sinter__columnar_api_function function = NULL;
    const sinter__columnar_api *api = NULL;
    void *symbol = NULL;

    memset(out, 0, sizeof *out);
    if (path == NULL) {
        if (sinter__library_load(LIBRARY_NAME, SINTER__COLUMNAR_SYMBOL, &symbol, NULL) !=
            SINTER_OK) {
            return SINTER__ERR(err, SINTER_E_UNSUPPORTED, ADVICE);
        }
    } else {
        SINTER__CHECK(sinter__library_load(path, SINTER__COLUMNAR_SYMBOL, &symbol, err));
    }
    static_assert(sizeof function == sizeof symbol, "a function's address is an address");
    memcpy(&function, &symbol, sizeof function);
    api = function();
    if (api->abi != SINTER__COLUMNAR_ABI || api->struct_size != sizeof *api) {
        return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, path, -1,
                              "is of another build of sinter: interface %u, this build has %u",
                              (unsigned)api->abi, SINTER__COLUMNAR_ABI);
    }
    *out = (sinter__columnar){
        .api = api,
        .host = {.struct_size = (uint32_t)sizeof out->host,
                 .env = env,
                 .reserve = sinter_memory_reserve,
                 .release = sinter_memory_release},
    };
    return SINTER_OK;
}

/** A 32-bit number of Arrow's metadata: in the byte order of the machine. */
static const char *
take_size(const char *at, size_t *out)
{
    int32_t size = 0;

    memcpy(&size, at, sizeof size);
    assert(size >= 0);
    *out = (size_t)size;
    return at + sizeof size;
}

static int64_t
parse_id(const char *text, size_t size)
{
    int64_t value = 0;

    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || value > INT32_MAX) {
            return -1;
        }
        value = value * 10 + (text[i] - '0');
    }
    return size > 0 && value <= INT32_MAX ? value : -1;
}

int64_t
sinter__arrow_field_id(const struct ArrowSchema *field)
{
    static const char key[] = "paimon.id";
    const char *at = field->metadata;
    size_t count = 0;
    size_t size = 0;

    if (at == NULL) {
        return -1;
    }
    at = take_size(at, &count);
    for (size_t i = 0; i < count; i++) {
        bool is_id = false;

        at = take_size(at, &size);
        is_id = size == sizeof key - 1 && memcmp(at, key, size) == 0;
        at += size;
        at = take_size(at, &size);
        if (is_id) {
            return parse_id(at, size);
        }
        at += size;
    }
    return -1;
}
