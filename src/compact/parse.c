#include "compact/parse.h"

#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "sinter/compact.h"

static const char *
skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t') {
        text++;
    }
    return text;
}

/* Length of a text without the blanks at its end. */
static size_t
trimmed_size(const char *text)
{
    size_t size = strlen(text);

    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t')) {
        size--;
    }
    return size;
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read digits into `*out`; false when the number leaves int64. At least one digit must stand. */
static bool
take_digits(const char **text, int64_t *out)
{
    int64_t value = 0;

    for (; is_digit(**text); (*text)++) {
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(**text - '0'), &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

sinter_status
sinter__parse_int(const char *text, int64_t *out, sinter_error *err)
{
    const char *p = skip_blanks(text);
    const bool is_negative = *p == '-';
    int64_t value = 0;

    p += is_negative ? 1 : 0;
    if (!is_digit(*p)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.64s\" is no whole number", text);
    }
    if (!take_digits(&p, &value)) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "\"%.64s\" is out of range", text);
    }
    if (*skip_blanks(p) != '\0') {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.64s\" is no whole number", text);
    }
    *out = is_negative ? -value : value;
    return SINTER_OK;
}

sinter_status
sinter__parse_map_entry(const char **text, sinter__map_entry *out, sinter_error *err)
{
    const char *p = skip_blanks(*text);
    size_t size = 0;

    if (*p == '\0') {
        return SINTER_END;
    }
    if (!is_digit(*p)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.64s\" doesn't begin with a level", p);
    }
    if (!take_digits(&p, &out->key)) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "\"%.64s\" is out of range", *text);
    }
    p = skip_blanks(p);
    if (*p != ':') {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.64s\" has no colon behind its level", *text);
    }
    out->value = skip_blanks(p + 1);
    size = strcspn(out->value, ",");
    *text = out->value + size + (out->value[size] == ',' ? 1 : 0);
    while (size > 0 && (out->value[size - 1] == ' ' || out->value[size - 1] == '\t')) {
        size--;
    }
    out->value_size = size;
    return SINTER_OK;
}

sinter_status
sinter__parse_ratio(const char *text, double *out, sinter_error *err)
{
    enum { DIGITS_MAX = 15 };
    const char *p = skip_blanks(text);
    int64_t digits = 0;
    int64_t scale = 1;
    unsigned count = 0;
    bool has_dot = false;

    for (; is_digit(*p) || (*p == '.' && !has_dot); p++) {
        if (*p == '.') {
            has_dot = true;
            continue;
        }
        count++;
        if (count > DIGITS_MAX) {
            return SINTER__ERR(err, SINTER_E_INVALID, "\"%.64s\" has more than %d digits", text,
                               DIGITS_MAX);
        }
        digits = digits * 10 + (*p - '0');
        scale = has_dot ? scale * 10 : scale;
    }
    if (count == 0 || *skip_blanks(p) != '\0') {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.64s\" is no decimal number", text);
    }
    /* Both are exact as doubles, so the quotient is the number nearest to the text. */
    *out = (double)digits / (double)scale;
    return SINTER_OK;
}

sinter_status
sinter__parse_bool(const char *text, bool *out, sinter_error *err)
{
    const char *p = skip_blanks(text);
    const size_t size = trimmed_size(p);

    if (size == 4 && strncasecmp(p, "true", 4) == 0) {
        *out = true;
        return SINTER_OK;
    }
    if (size == 5 && strncasecmp(p, "false", 5) == 0) {
        *out = false;
        return SINTER_OK;
    }
    return SINTER__ERR(err, SINTER_E_INVALID, "\"%.64s\" is neither true nor false", text);
}

/** A unit of time by its names, in lower case. */
typedef struct time_unit {
    const char *names[7];
    int64_t ms;     /* one unit has so many milliseconds, */
    int64_t per_ms; /* or so many units make one */
} time_unit;

static const time_unit time_units[] = {
    {{"", "ms", "milli", "millis", "millisecond", "milliseconds"}, 1, 1},
    {{"s", "sec", "secs", "second", "seconds"}, 1000, 1},
    {{"m", "min", "minute", "minutes"}, 60000, 1},
    {{"h", "hour", "hours"}, 3600000, 1},
    {{"d", "day", "days"}, 86400000, 1},
    {{"\xc2\xb5s", "micro", "micros", "microsecond", "microseconds"}, 1, 1000},
    {{"ns", "nano", "nanos", "nanosecond", "nanoseconds"}, 1, 1000000},
};

static const time_unit *
find_time_unit(const char *text, size_t size)
{
    for (size_t u = 0; u < sizeof time_units / sizeof time_units[0]; u++) {
        for (size_t n = 0; time_units[u].names[n] != NULL; n++) {
            const char *name = time_units[u].names[n];

            if (strlen(name) == size && strncasecmp(name, text, size) == 0) {
                return &time_units[u];
            }
        }
    }
    return NULL;
}

sinter_status
sinter__parse_duration(const char *text, int64_t *ms_out, sinter_error *err)
{
    const char *p = skip_blanks(text);
    const time_unit *unit = NULL;
    int64_t value = 0;

    if (!is_digit(*p)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.64s\" is no duration such as \"30 min\"",
                           text);
    }
    if (!take_digits(&p, &value)) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "\"%.64s\" is out of range", text);
    }
    p = skip_blanks(p);
    unit = find_time_unit(p, trimmed_size(p));
    if (unit == NULL) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "the unit of \"%.64s\" is none of d, h, min, s, ms", text);
    }
    if (value > INT64_MAX / unit->ms) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "\"%.64s\" is more than 2^63 - 1 ms", text);
    }
    *ms_out = value * unit->ms / unit->per_ms;
    return SINTER_OK;
}

/** Names of a unit, all in lower case, and its size as a power of two. */
typedef struct byte_unit {
    const char *names[3];
    unsigned shift;
} byte_unit;

static const byte_unit byte_units[] = {
    {{"b", "bytes", ""}, 0},        {{"k", "kb", "kibibytes"}, 10}, {{"m", "mb", "mebibytes"}, 20},
    {{"g", "gb", "gibibytes"}, 30}, {{"t", "tb", "tebibytes"}, 40},
};

static bool
find_unit(const char *text, size_t size, unsigned *shift_out)
{
    for (size_t u = 0; u < sizeof byte_units / sizeof byte_units[0]; u++) {
        for (size_t n = 0; n < 3; n++) {
            const char *name = byte_units[u].names[n];

            if (strlen(name) == size && strncasecmp(name, text, size) == 0) {
                *shift_out = byte_units[u].shift;
                return true;
            }
        }
    }
    return false;
}

sinter_status
sinter_parse_bytes(const char *text, uint64_t *out, sinter_error *err)
{
    const char *p = NULL;
    int64_t value = 0;
    unsigned shift = 0;

    SINTER__REQUIRE(err, text != NULL && out != NULL);
    p = skip_blanks(text);
    if (!is_digit(*p)) {
        return SINTER__ERR(err, SINTER_E_INVALID, "\"%.64s\" is no size such as \"128 mb\"", text);
    }
    if (!take_digits(&p, &value)) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "\"%.64s\" is more than 2^63 - 1 bytes", text);
    }
    p = skip_blanks(p);
    if (!find_unit(p, trimmed_size(p), &shift)) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "the unit of \"%.64s\" is none of b, kb, mb, gb, tb", text);
    }
    if (value > (INT64_MAX >> shift)) {
        return SINTER__ERR(err, SINTER_E_OVERFLOW, "\"%.64s\" is more than 2^63 - 1 bytes", text);
    }
    *out = (uint64_t)value << shift;
    return SINTER_OK;
}
