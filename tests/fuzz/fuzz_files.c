/*
 * Any text as a `sinter.files` document and as a row type: what is taken prints to a text that is
 * taken and prints the same.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sinter/sinter.h"

static void
print(const sinter_files_doc *doc, sinter_text *out)
{
    if (sinter_files_print(sinter_files_doc_get(doc), NULL, 0, out, NULL) != SINTER_OK) {
        abort();
    }
}

static void
try_document(sinter_bytes text)
{
    const sinter_env *env = sinter_env_default();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_files_doc *doc = NULL;
    sinter_files_doc *again = NULL;
    sinter_compact_options options;
    sinter_text first;
    sinter_text second;

    sinter_text_init(env, &first);
    sinter_text_init(env, &second);
    if (sinter_files_doc_parse(env, "fuzz", text, &doc, &err) == SINTER_OK) {
        sinter_compact_options_init(&options);
        (void)(sinter_files_doc_options(doc, &options, &err) == SINTER_OK);
        print(doc, &first);
        if (sinter_files_doc_parse(env, "fuzz", sinter_text_bytes(&first), &again, &err) !=
            SINTER_OK) {
            abort();
        }
        print(again, &second);
        if (first.size != second.size || memcmp(first.data, second.data, first.size) != 0) {
            abort();
        }
        sinter_text_reset(&first);
        if (sinter_files_print(sinter_files_doc_get(doc), sinter_files_doc_key_codec(doc),
                               SINTER_PRINT_PRETTY, &first, NULL) != SINTER_OK) {
            abort();
        }
    }
    sinter_files_doc_destroy(again);
    sinter_files_doc_destroy(doc);
    sinter_text_fini(&second);
    sinter_text_fini(&first);
}

static void
try_row_type(sinter_bytes text)
{
    const sinter_env *env = sinter_env_default();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_row_type *row_type = NULL;
    sinter_row_type *again = NULL;

    if (sinter_row_type_parse(env, (const char *)text.data, text.size, &row_type, &err) ==
        SINTER_OK) {
        const char *json = sinter_row_type_json(row_type);

        if (sinter_row_type_parse(env, json, strlen(json), &again, &err) != SINTER_OK ||
            strcmp(json, sinter_row_type_json(again)) != 0) {
            abort();
        }
    }
    sinter_row_type_destroy(again);
    sinter_row_type_destroy(row_type);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_document((sinter_bytes){data, size});
    try_row_type((sinter_bytes){data, size});
    return 0;
}
