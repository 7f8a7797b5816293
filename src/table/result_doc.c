#include "table/result_doc.h"

#include <string.h>

#include "base/fail.h"
#include "doc/files_doc.h"
#include "doc/report.h"
#include "doc/text.h"

/* ---- printing ---- */

static sinter_status
put_after(sinter__doc_writer *writer, json_t *root, const sinter__task_doc *doc,
          const sinter__run_outcome *outcome, sinter_error *err)
{
    const sinter__doc_table table = {doc->table->env, doc->table->latest, &doc->columns};
    const sinter_file_list *list =
        outcome->result == NULL ? NULL : sinter_compact_result_after(outcome->result);
    json_t *after = sinter__doc_put_array(writer, root, "after");
    size_t made = 0;

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const sinter_file_meta *file = &list->files[i];
        json_t *object = sinter__doc_append_object(writer, after);

        if (file->upgraded_from >= 0) {
            sinter__file_identity_put(writer, object, file);
            sinter__doc_put_integer(writer, object, "upgraded_from", file->upgraded_from);
        } else {
            const sinter__file_doc made_file = {
                .entry = &outcome->made[made++], .dir = doc->task.output_dir, .with_stats = true};

            SINTER__CHECK(sinter__file_doc_put(writer, object, &table, &made_file, err));
        }
    }
    return SINTER_OK;
}

static void
put_vector(sinter__doc_writer *writer, json_t *array, const sinter__file_vector *vector)
{
    json_t *object = sinter__doc_append_object(writer, array);

    sinter__doc_put_bytes_text(writer, object, "data_file", vector->range.data_file);
    sinter__doc_put_string(writer, object, "index_file", vector->index_file);
    sinter__doc_put_integer(writer, object, "offset", vector->range.offset);
    if ((vector->range.has & SINTER__VECTOR_HAS_CARDINALITY) != 0) {
        sinter__doc_put_integer(writer, object, "cardinality", vector->range.cardinality);
    }
}

/* Which files lose their vector, and which vectors were read. The commit writes what is left. */
static void
put_index(sinter__doc_writer *writer, json_t *root, const sinter__task_doc *doc)
{
    const sinter__table_task *task = &doc->task;
    json_t *index = NULL;
    json_t *replaced = NULL;
    json_t *read = NULL;

    for (size_t i = 0; i < task->count; i++) {
        if (task->vectors[i].index_file == NULL) {
            continue;
        }
        if (index == NULL) {
            index = sinter__doc_put_object(writer, root, "index");
            replaced = sinter__doc_put_array(writer, index, "replaces_vectors_of");
            (void)sinter__doc_put_array(writer, index, "new_files");
            read = sinter__doc_put_array(writer, index, "vectors_read");
        }
        if (json_array_append_new(replaced,
                                  json_stringn((const char *)task->files[i]->file.file_name.data,
                                               task->files[i]->file.file_name.size)) != 0 &&
            writer->status == SINTER_OK) {
            writer->status = SINTER_E_NOMEM;
        }
        put_vector(writer, read, &task->vectors[i]);
    }
    if (index == NULL) {
        sinter__doc_put_null(writer, root, "index");
    }
}

static bool
has_vector(const sinter__table_task *task, const sinter_file_meta *file)
{
    for (size_t i = 0; i < task->count; i++) {
        if (task->files[i] == file->carried) {
            return task->vectors[i].index_file != NULL;
        }
    }
    return false;
}

static void
put_decisions(sinter__doc_writer *writer, json_t *root, const sinter__table_task *task,
              const sinter_compact_result *result)
{
    json_t *files = sinter__doc_put_array(writer, root, "files");
    size_t count = 0;
    const sinter_file_decision *decisions =
        result == NULL ? NULL : sinter_compact_result_decisions(result, &count);

    for (size_t i = 0; i < count; i++) {
        const sinter_file_decision *decision = &decisions[i];
        const char *code = sinter_reason_code(decision->reason);
        const char *text = sinter_reason_text(decision->reason);

        if (decision->reason == SINTER_REASON_FORCED && !task->force_rewrite_all_files &&
            has_vector(task, decision->file)) {
            code = "vector";
            text = "rows of it are deleted";
        }
        sinter__report_put_decision(writer, files, decision, code, text);
    }
}

sinter_status
sinter__result_doc_print(const sinter__task_doc *doc, const sinter__run_outcome *outcome,
                         sinter_text *out, sinter_error *err)
{
    const sinter__doc_table table = {doc->table->env, doc->table->latest, &doc->columns};
    sinter__doc_writer writer;
    json_t *root = NULL;
    sinter_status st = SINTER_OK;

    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_string(&writer, root, "format", "sinter.result");
    sinter__doc_put_integer(&writer, root, "version", 1);
    (void)sinter__doc_put_array(&writer, root, "must_understand");
    sinter__doc_put_string(&writer, root, "task_id", doc->task.place.task_id);
    sinter__range_doc_put(&writer, root, &table, &doc->task.place.range);
    sinter__place_doc_put(&writer, root, &table, &doc->task.place);
    sinter__doc_put_string(&writer, root, "base_dir", doc->task.place.base_dir);
    sinter__doc_put_string(&writer, root, "status", sinter__report_status(outcome->error));
    sinter__report_put_before(&writer, root, outcome->result);
    st = put_after(&writer, root, doc, outcome, err);
    (void)sinter__doc_put_array(&writer, root, "changelog");
    put_index(&writer, root, doc);
    put_decisions(&writer, root, &doc->task, outcome->result);
    sinter__report_put_counters(
        &writer, root,
        outcome->result == NULL ? NULL : sinter_compact_result_counters(outcome->result));
    if (outcome->error == NULL) {
        sinter__doc_put_null(&writer, root, "error");
    } else {
        sinter__doc_put_error(&writer, root, "error", outcome->error);
    }
    if (st != SINTER_OK) {
        json_decref(root);
        return st;
    }
    SINTER__CHECK(sinter__doc_writer_end(&writer, root, 0, out, err));
    return sinter__text_puts(out, "\n", err);
}

/* ---- reading ---- */

static const char *const statuses[] = {"ok", "failed", "cancelled", NULL};

static const char *const known_names[] = {
    "format",   "version", "must_understand", "task_id", "range",     "table",
    "commit",   "status",  "before",          "after",   "changelog", "index",
    "base_dir", "files",   "counters",        "error",   NULL};

static const sinter__doc_kind kind = {"sinter.result", 1, known_names};

static sinter_bytes
bytes_of(const char *text)
{
    return (sinter_bytes){(const uint8_t *)text, strlen(text)};
}

static sinter_status
parse_level(const sinter__doc_object *object, const char *name, int32_t *out, bool *has,
            sinter_error *err)
{
    int64_t number = 0;

    SINTER__CHECK(
        sinter__doc_integer(object, name, (sinter__doc_range){0, INT32_MAX}, has, &number, err));
    *out = (int32_t)number;
    return SINTER_OK;
}

static sinter_status
parse_identity(const sinter__doc_object *object, sinter__file_identity *out, sinter_error *err)
{
    const char *name = NULL;
    bool has = false;

    SINTER__CHECK(sinter__doc_string(object, "file_name", SINTER__DOC_NEEDED, &name, err));
    out->file_name = bytes_of(name);
    SINTER__CHECK(parse_level(object, "level", &out->level, &has, err));
    if (!has) {
        return sinter__doc_fail(object, SINTER_E_INVALID, NULL, "member \"level\" is missing", err);
    }
    return parse_level(object, "upgraded_from", &out->upgraded_from, &has, err);
}

static sinter_status
load_before(const sinter__doc_object *root, sinter__result_doc *doc, sinter_error *err)
{
    const json_t *array = NULL;

    SINTER__CHECK(sinter__doc_array(root, "before", SINTER__DOC_NEEDED, &array, err));
    SINTER__CHECK(sinter__doc_room(&doc->arena, json_array_size(array), sizeof *doc->before,
                                   (void **)&doc->before, err));
    for (size_t i = 0; i < json_array_size(array); i++) {
        sinter__doc_object object;

        SINTER__CHECK(sinter__doc_element(root, "before", array, i, &object, err));
        SINTER__CHECK(parse_identity(&object, &doc->before[doc->before_count++], err));
    }
    return SINTER_OK;
}

static sinter_status
load_after(const sinter__doc_object *root, const sinter__doc_table *table, sinter__result_doc *doc,
           sinter_error *err)
{
    const json_t *array = NULL;
    sinter__file_vector vector;
    size_t count = 0;

    SINTER__CHECK(sinter__doc_array(root, "after", SINTER__DOC_NEEDED, &array, err));
    count = json_array_size(array);
    SINTER__CHECK(
        sinter__doc_room(&doc->arena, count, sizeof *doc->upgraded, (void **)&doc->upgraded, err));
    SINTER__CHECK(
        sinter__doc_room(&doc->arena, count, sizeof *doc->made, (void **)&doc->made, err));
    for (size_t i = 0; i < count; i++) {
        const json_t *from = NULL;
        sinter__doc_object object;

        SINTER__CHECK(sinter__doc_element(root, "after", array, i, &object, err));
        SINTER__CHECK(
            sinter__doc_member(&object, "upgraded_from", SINTER__DOC_OPTIONAL, &from, err));
        if (from != NULL) {
            SINTER__CHECK(parse_identity(&object, &doc->upgraded[doc->upgraded_count++], err));
        } else {
            SINTER__CHECK(sinter__file_doc_parse(&object, table, &doc->place,
                                                 &doc->made[doc->made_count++], &vector, err));
        }
    }
    return SINTER_OK;
}

static sinter_status
load_vector(const sinter__doc_object *object, sinter__file_vector *out, sinter_error *err)
{
    const char *name = NULL;
    int64_t offset = 0;
    bool has = false;

    SINTER__CHECK(sinter__doc_string(object, "data_file", SINTER__DOC_NEEDED, &name, err));
    SINTER__CHECK(
        sinter__doc_string(object, "index_file", SINTER__DOC_NEEDED, &out->index_file, err));
    SINTER__CHECK(sinter__doc_integer(object, "offset", (sinter__doc_range){0, INT32_MAX}, &has,
                                      &offset, err));
    out->range.data_file = bytes_of(name);
    out->range.offset = (int32_t)offset;
    SINTER__CHECK(sinter__doc_integer(object, "cardinality", (sinter__doc_range){0, INT64_MAX},
                                      &has, &out->range.cardinality, err));
    out->range.has = has ? SINTER__VECTOR_HAS_CARDINALITY : 0;
    return SINTER_OK;
}

static sinter_status
load_index(const sinter__doc_object *root, sinter__result_doc *doc, sinter_error *err)
{
    const json_t *array = NULL;
    sinter__doc_object index;

    SINTER__CHECK(sinter__doc_child(root, "index", SINTER__DOC_OPTIONAL, &index, err));
    if (index.json == NULL) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__doc_array(&index, "new_files", SINTER__DOC_OPTIONAL, &array, err));
    if (json_array_size(array) > 0) {
        return sinter__doc_fail(&index, SINTER_E_UNSUPPORTED, "new_files",
                                "index files that a run made can't be committed", err);
    }
    SINTER__CHECK(sinter__doc_array(&index, "vectors_read", SINTER__DOC_OPTIONAL, &array, err));
    SINTER__CHECK(sinter__doc_room(&doc->arena, json_array_size(array), sizeof *doc->vectors,
                                   (void **)&doc->vectors, err));
    for (size_t i = 0; i < json_array_size(array); i++) {
        sinter__doc_object object;

        SINTER__CHECK(sinter__doc_element(&index, "vectors_read", array, i, &object, err));
        SINTER__CHECK(load_vector(&object, &doc->vectors[doc->vector_count++], err));
    }
    return SINTER_OK;
}

static sinter_status
load_result(const sinter__doc_object *root, const sinter__doc_table *table, sinter__result_doc *doc,
            sinter_error *err)
{
    const json_t *member = NULL;
    int status = -1;

    SINTER__CHECK(sinter__doc_check(root, &kind, err));
    SINTER__CHECK(
        sinter__doc_string(root, "task_id", SINTER__DOC_NEEDED, &doc->place.task_id, err));
    SINTER__CHECK(sinter__range_doc_parse(root, &doc->place.range, err));
    SINTER__CHECK(sinter__doc_enum(root, "status", statuses, &status, err));
    if (status != 0) {
        return sinter__doc_fail(root, SINTER_E_INVALID, "status",
                                "only results with status \"ok\" can be committed", err);
    }
    SINTER__CHECK(sinter__doc_array(root, "changelog", SINTER__DOC_OPTIONAL, &member, err));
    if (json_array_size(member) > 0) {
        return sinter__doc_fail(root, SINTER_E_UNSUPPORTED, "changelog",
                                "changelog files can't be committed", err);
    }
    SINTER__CHECK(
        sinter__doc_string(root, "base_dir", SINTER__DOC_OPTIONAL, &doc->place.base_dir, err));
    SINTER__CHECK(sinter__place_doc_parse(root, &doc->place, err));
    SINTER__CHECK(load_before(root, doc, err));
    SINTER__CHECK(load_after(root, table, doc, err));
    return load_index(root, doc, err);
}

sinter_status
sinter__result_doc_load(const sinter__doc_table *table, const sinter__json_source *text,
                        sinter__result_doc *out, sinter_error *err)
{
    sinter__doc_object root = {.source = &out->source, .arena = &out->arena};

    out->arena.env = table->env;
    out->source = *text;
    SINTER__CHECK(sinter__json_load(text, SINTER__JSON_TYPES, &out->json, err));
    root.json = out->json;
    return load_result(&root, table, out, err);
}

void
sinter__result_doc_fini(sinter__result_doc *doc)
{
    json_decref(doc->json);
    if (doc->arena.env != NULL) {
        sinter__arena_fini(&doc->arena);
    }
}
