#include "sinter/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

const char *
sinter_status_name(sinter_status status)
{
    switch (status) {
#define STATUS_NAME(value, name, text) \
    case (value):                      \
        return #name;
        SINTER_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
    default:
        return "unknown";
    }
}

const char *
sinter_status_text(sinter_status status)
{
    switch (status) {
#define STATUS_TEXT(value, name, text) \
    case (value):                      \
        return text;
        SINTER_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    default:
        return "unknown status";
    }
}

const char *
sinter_codec_name(int codec)
{
    switch (codec) {
    case SINTER_CODEC_NONE:
        return "none";
    case SINTER_CODEC_LZ4:
        return "lz4";
    case SINTER_CODEC_ZSTD:
        return "zstd";
    default:
        return NULL;
    }
}

/* Long paths keep their end: the file's own name is what helps. */
static void
copy_tail(char *target, size_t size, const char *text)
{
    const size_t length = strlen(text);
    const size_t room = size - 1;

    if (length <= room) {
        memcpy(target, text, length + 1);
    } else {
        memcpy(target, text + (length - room), room + 1);
        for (size_t i = 0; i < 3; i++) {
            target[i] = '.';
        }
    }
}

sinter_status
sinter__fail(sinter_error *err, sinter_status status, const sinter__fail_site *site,
             const char *format, ...)
{
    va_list args;

    if (err == NULL) {
        return status;
    }
    err->status = status;
    err->sys_errno = site->sys_errno;
    err->origin_file = site->origin_file;
    err->origin_line = site->origin_line;
    err->offset = site->offset;
    err->file[0] = '\0';
    if (site->file != NULL) {
        copy_tail(err->file, sizeof err->file, site->file);
    }
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start stands right above */
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

void
sinter__fail_context(sinter_error *err, const char *format, ...)
{
    char joined[sizeof err->text];
    va_list args;
    int length;

    if (err == NULL) {
        return;
    }
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start stands right above */
    length = vsnprintf(joined, sizeof joined, format, args);
    va_end(args);
    if (length < 0 || (size_t)length + 3 > sizeof joined) {
        return;
    }
    (void)snprintf(joined + length, sizeof joined - (size_t)length, ": %.*s",
                   (int)(sizeof joined - (size_t)length - 3), err->text);
    memcpy(err->text, joined, sizeof joined);
}

void
sinter__fail_file(sinter_error *err, const char *file)
{
    if (err != NULL && err->file[0] == '\0' && file != NULL) {
        copy_tail(err->file, sizeof err->file, file);
    }
}
