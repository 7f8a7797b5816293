#include "cli/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/opts.h"

char *
cli_bytes_text(uint64_t bytes, char out[CLI_NUMBER_CHARS])
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;
    uint64_t scale = 1;
    double value;

    while (unit + 1 < sizeof units / sizeof units[0] && bytes / scale >= 1024) {
        scale *= 1024;
        unit++;
    }
    value = (double)bytes / (double)scale;
    if (unit == 0 || bytes % scale == 0 || value >= 99.95) {
        (void)snprintf(out, CLI_NUMBER_CHARS, "%.0f%s", value, units[unit]);
    } else {
        (void)snprintf(out, CLI_NUMBER_CHARS, "%.1f%s", value, units[unit]);
    }
    return out;
}

char *
cli_count_text(uint64_t count, char out[CLI_NUMBER_CHARS])
{
    char digits[CLI_NUMBER_CHARS];
    const size_t length =
        (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    size_t at = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            out[at++] = ',';
        }
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

char *
cli_seconds_text(double seconds, char out[CLI_NUMBER_CHARS])
{
    const uint64_t whole = seconds < 0 ? 0 : seconds > 1e9 ? 1000000000 : (uint64_t)seconds;

    if (whole >= 3600) {
        (void)snprintf(out, CLI_NUMBER_CHARS, "%lluh%02llum", (unsigned long long)(whole / 3600),
                       (unsigned long long)(whole / 60 % 60));
    } else if (whole >= 60) {
        (void)snprintf(out, CLI_NUMBER_CHARS, "%llum%02llus", (unsigned long long)(whole / 60),
                       (unsigned long long)(whole % 60));
    } else if (seconds > 0 && seconds < 1) {
        (void)snprintf(out, CLI_NUMBER_CHARS, "%.0fms", seconds * 1000);
    } else if (whole >= 10) {
        (void)snprintf(out, CLI_NUMBER_CHARS, "%llus", (unsigned long long)whole);
    } else {
        (void)snprintf(out, CLI_NUMBER_CHARS, "%.1fs", seconds < 0 ? 0 : seconds);
    }
    return out;
}

char *
cli_time_text(int64_t ms, char out[CLI_NUMBER_CHARS])
{
    const time_t seconds = (time_t)(ms >= 0 ? ms / 1000 : (ms - 999) / 1000);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(out, CLI_NUMBER_CHARS, "%Y-%m-%d %H:%M:%S", &parts) == 0) {
        (void)snprintf(out, CLI_NUMBER_CHARS, "%lld ms", (long long)ms);
    }
    return out;
}

enum { WORD_MAX = 63 };

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t
cli_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1]; /* of the matrix: two above, above, this one */
    const size_t a_size = strlen(a);
    const size_t b_size = strlen(b);

    if (a_size > WORD_MAX || b_size > WORD_MAX) {
        return a_size > b_size ? a_size : b_size;
    }
    for (size_t j = 0; j <= b_size; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_size; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[a_size % 3][b_size];
}

bool
cli_is_near(const char *word, size_t distance)
{
    const size_t length = strlen(word);

    return distance <= (length < 4 ? 1 : length < 9 ? 2 : length / 3);
}

char *
cli_hex(sinter_bytes bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *text = cli_alloc(bytes.size * 2 + 1, 1);

    for (size_t i = 0; i < bytes.size; i++) {
        text[i * 2] = digits[bytes.data[i] >> 4];
        text[i * 2 + 1] = digits[bytes.data[i] & 15];
    }
    return text;
}

/* Length of the UTF-8 sequence at `at`, 0 if there is none that may be shown. */
static size_t
utf8_length(sinter_bytes bytes, size_t at)
{
    const uint8_t lead = bytes.data[at];
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

    if (lead < 0x20 || lead == 0x7f || (lead >= 0x80 && lead < 0xc2) || lead > 0xf4 ||
        length > bytes.size - at) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((bytes.data[at + i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if (lead == 0xc2 && bytes.data[at + 1] < 0xa0) {
        return 0; /* C1 controls */
    }
    if ((lead == 0xe0 && bytes.data[at + 1] < 0xa0) ||
        (lead == 0xed && bytes.data[at + 1] >= 0xa0) ||
        (lead == 0xf0 && bytes.data[at + 1] < 0x90) ||
        (lead == 0xf4 && bytes.data[at + 1] >= 0x90)) {
        return 0; /* overlong, surrogate, above U+10FFFF */
    }
    return length;
}

static bool
is_printable(sinter_bytes bytes)
{
    size_t length;

    for (size_t at = 0; at < bytes.size; at += length) {
        length = utf8_length(bytes, at);
        if (length == 0) {
            return false;
        }
    }
    return true;
}

static char *
printable_hex(sinter_bytes bytes, size_t limit)
{
    const size_t room = limit > 5 ? (limit - 5) / 2 : 1;
    const bool is_cut = bytes.size * 2 + 2 > limit;
    const sinter_bytes shown = {.data = bytes.data, .size = is_cut ? room : bytes.size};
    char *hex = cli_hex(shown);
    char *text = cli_alloc(strlen(hex) + 6, 1);

    (void)snprintf(text, strlen(hex) + 6, "0x%s%s", hex, is_cut ? "..." : "");
    free(hex);
    return text;
}

char *
cli_printable(sinter_bytes bytes, size_t limit)
{
    char *text;
    size_t at = 0;
    size_t columns = 0;

    if (!is_printable(bytes)) {
        return printable_hex(bytes, limit);
    }
    while (at < bytes.size && columns + 3 < limit) {
        at += utf8_length(bytes, at);
        columns++;
    }
    if (bytes.size - at <= 3) {
        at = bytes.size; /* what "..." would replace fits itself */
    }
    text = cli_alloc(at + 4, 1);
    if (at > 0) {
        memcpy(text, bytes.data, at);
    }
    if (at < bytes.size) {
        memcpy(text + at, "...", 4);
    }
    return text;
}

size_t
cli_width(const char *text)
{
    size_t columns = 0;

    for (; *text != '\0'; text++) {
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return columns;
}
