#include "table/json_file.h"

#include "base/fail.h"

sinter_status
sinter__json_file_status(sinter_status st, const char *path, sinter_error *err)
{
    if (st == SINTER_OK) {
        return st;
    }
    sinter__fail_file(err, path);
    if (st != SINTER_E_INVALID && st != SINTER_E_OVERFLOW) {
        return st;
    }
    if (err != NULL) {
        err->status = SINTER_E_CORRUPT;
    }
    return SINTER_E_CORRUPT;
}

sinter_status
sinter__json_file_open(const char *path, sinter_bytes text, sinter__arena *arena,
                       sinter__json_file *out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    *out = (sinter__json_file){.source = {.name = path, .text = text}};
    st = sinter__json_load(&out->source, SINTER__JSON_TYPES, &out->json, err);
    if (st != SINTER_OK) {
        return sinter__json_file_status(st, path, err);
    }
    out->root = (sinter__doc_object){.source = &out->source, .arena = arena, .json = out->json};
    if (!json_is_object(out->json)) {
        st = sinter__doc_fail(&out->root, SINTER_E_CORRUPT, NULL, "an object expected", err);
        sinter__json_file_close(out);
    }
    return st;
}

void
sinter__json_file_close(sinter__json_file *file)
{
    json_decref(file->json);
    file->json = NULL;
}
