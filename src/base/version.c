#include "sinter/version.h"

#ifdef SINTER_HAVE_LZ4
#include <lz4.h>
#endif
#include <zlib.h>
#include <zstd.h>

/* The libraries without a version in their headers are told by the build (src/base/CMakeLists). */
static const char *const library_versions[] = {
    "zstd " ZSTD_VERSION_STRING,         "zlib " ZLIB_VERSION,
#ifdef SINTER_HAVE_LZ4
    "lz4 " LZ4_VERSION_STRING,
#endif
#ifdef SINTER_HAVE_SNAPPY
    "snappy " SINTER_SNAPPY_VERSION,
#endif
#ifdef SINTER_HAVE_URING
    "liburing " SINTER_LIBURING_VERSION,
#endif
    "xxhash " SINTER_XXHASH_VERSION,     "jansson " SINTER_JANSSON_VERSION,
};

const char *
sinter_version(void)
{
    return SINTER_VERSION_TEXT;
}

const char *
sinter_library_version(size_t index)
{
    if (index >= sizeof library_versions / sizeof library_versions[0]) {
        return NULL;
    }
    return library_versions[index];
}
