#include "table/partition_path.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "doc/text.h"
#include "doc/type.h"
#include "table/java_text.h"

enum { BUCKET_POSTPONE = -2 };

static bool
must_escape(uint8_t byte)
{
    return byte < 0x20 || byte == 0x7f || (byte != 0 && strchr("\"#%'*/:=?\\{}[]^", byte) != NULL);
}

sinter_status
sinter__partition_escape(sinter_bytes text, sinter_text *out, sinter_error *err)
{
    size_t begin = 0;
    char code[4];

    for (size_t i = 0; i < text.size; i++) {
        if (must_escape(text.data[i])) {
            SINTER__CHECK(sinter_text_append(out, text.data + begin, i - begin, err));
            (void)snprintf(code, sizeof code, "%%%02X", text.data[i]);
            SINTER__CHECK(sinter__text_puts(out, code, err));
            begin = i + 1;
        }
    }
    return sinter_text_append(out, text.size == 0 ? NULL : text.data + begin, text.size - begin,
                              err);
}

static int
hex_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    byte |= 0x20u;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

sinter_status
sinter__partition_unescape(sinter_bytes text, sinter_text *out, sinter_error *err)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];

        if (byte == '%' && i + 2 < text.size && hex_digit(text.data[i + 1]) >= 0 &&
            hex_digit(text.data[i + 2]) >= 0) {
            byte = (uint8_t)(hex_digit(text.data[i + 1]) * 16 + hex_digit(text.data[i + 2]));
            i += 2;
        }
        SINTER__CHECK(sinter_text_append(out, &byte, 1, err));
    }
    return SINTER_OK;
}

/* Append a value's part of the directory. */
static sinter_status
append_value(const sinter__partition_names *names, const sinter_type *type,
             const sinter_datum *value, sinter_text *scratch, sinter_text *out, sinter_error *err)
{
    sinter_text_reset(scratch);
    if (!value->is_null) {
        SINTER__CHECK(names->legacy ? sinter__java_internal_text(type, value, scratch, err)
                                    : sinter__java_cast_text(type, value, scratch, err));
    }
    if (sinter__java_is_blank(sinter_text_bytes(scratch))) {
        sinter_text_reset(scratch);
        SINTER__CHECK(sinter__text_puts(scratch, names->default_name, err));
    }
    return sinter__partition_escape(sinter_text_bytes(scratch), out, err);
}

sinter_status
sinter__partition_path(const sinter__partition_names *names, const sinter_column *columns,
                       size_t count, const sinter_datum *values, sinter_text *out,
                       sinter_error *err)
{
    sinter_text scratch;
    sinter_status st = SINTER_OK;

    sinter_text_init(out->env, &scratch);
    for (size_t i = 0; i < count; i++) {
        const sinter_bytes name = {(const uint8_t *)columns[i].name, strlen(columns[i].name)};

        if (!values[i].is_null) {
            SINTER__TRY(sinter_datum_check(&columns[i].type, columns[i].name, &values[i], err));
        }
        if (i > 0) {
            SINTER__TRY(sinter__text_puts(out, "/", err));
        }
        SINTER__TRY(sinter__partition_escape(name, out, err));
        SINTER__TRY(sinter__text_puts(out, "=", err));
        st = append_value(names, &columns[i].type, &values[i], &scratch, out, err);
        if (st == SINTER_E_UNSUPPORTED) {
            sinter__fail_context(err, "partition column %.60s", columns[i].name);
        }
        if (st != SINTER_OK) {
            goto out;
        }
    }
out:
    sinter_text_fini(&scratch);
    return st;
}

sinter_status
sinter__bucket_path(int32_t bucket, sinter_text *out, sinter_error *err)
{
    char name[32];

    if (bucket == BUCKET_POSTPONE) {
        return sinter__text_puts(out, "bucket-postpone", err);
    }
    (void)snprintf(name, sizeof name, "bucket-%d", (int)bucket);
    return sinter__text_puts(out, name, err);
}
