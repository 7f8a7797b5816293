/*
 * Documents that only leave: `sinter.result`, `sinter.plan`, `sinter.inspect`, `sinter.verify`.
 */
#include "doc/report.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/load.h"
#include "base/uuid.h"
#include "doc/files_doc.h"
#include "doc/text.h"

static json_t *
begin_document(sinter__doc_writer *writer, const char *format)
{
    json_t *root = NULL;

    sinter__doc_writer_init(writer);
    root = sinter__doc_new_object(writer);
    sinter__doc_put_string(writer, root, "format", format);
    sinter__doc_put_integer(writer, root, "version", 1);
    return root;
}

static sinter_status
end_document(sinter__doc_writer *writer, json_t *root, uint32_t flags, sinter_text *out,
             sinter_error *err)
{
    SINTER__CHECK(sinter__doc_writer_end(writer, root, flags, out, err));
    return sinter__text_puts(out, "\n", err);
}

void
sinter__report_put_before(sinter__doc_writer *writer, json_t *root,
                          const sinter_compact_result *result)
{
    json_t *before = sinter__doc_put_array(writer, root, "before");
    const sinter_file_list *list = result == NULL ? NULL : sinter_compact_result_before(result);

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        sinter__file_identity_put(writer, sinter__doc_append_object(writer, before),
                                  &list->files[i]);
    }
}

static void
put_after(sinter__doc_writer *writer, json_t *root, const sinter_compact_result *result,
          const sinter_key_codec *codec, const sinter_env *env)
{
    json_t *after = sinter__doc_put_array(writer, root, "after");
    const sinter_file_list *list = result == NULL ? NULL : sinter_compact_result_after(result);

    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const sinter_file_meta *file = &list->files[i];
        json_t *object = sinter__doc_append_object(writer, after);

        if (file->upgraded_from >= 0) {
            sinter__file_identity_put(writer, object, file);
            sinter__doc_put_integer(writer, object, "upgraded_from", file->upgraded_from);
        } else {
            const sinter_status st =
                sinter__file_object_put(writer, object, file, NULL, codec, env);

            if (st != SINTER_OK && writer->status == SINTER_OK) {
                writer->status = st;
            }
        }
    }
}

void
sinter__report_put_decision(sinter__doc_writer *writer, json_t *files,
                            const sinter_file_decision *decision, const char *code,
                            const char *text)
{
    json_t *object = sinter__doc_append_object(writer, files);
    json_t *reason = NULL;

    sinter__doc_put_string(writer, object, "file_name", decision->file->file_name);
    sinter__doc_put_string(writer, object, "action", sinter_file_action_name(decision->action));
    reason = sinter__doc_put_object(writer, object, "reason");
    sinter__doc_put_string(writer, reason, "code", code);
    sinter__doc_put_string(writer, reason, "text", text);
    sinter__doc_put_count(writer, sinter__doc_put_object(writer, reason, "values"), "file_bytes",
                          decision->file->file_size);
}

static void
put_decisions(sinter__doc_writer *writer, json_t *root, const sinter_compact_result *result)
{
    json_t *files = sinter__doc_put_array(writer, root, "files");
    size_t count = 0;
    const sinter_file_decision *decisions =
        result == NULL ? NULL : sinter_compact_result_decisions(result, &count);

    for (size_t i = 0; i < count; i++) {
        sinter__report_put_decision(writer, files, &decisions[i],
                                    sinter_reason_code(decisions[i].reason),
                                    sinter_reason_text(decisions[i].reason));
    }
}

/* Every reason, also those that didn't occur. */
static void
put_reasons(sinter__doc_writer *writer, json_t *parent, const sinter_compact_counters *counters)
{
    json_t *object = sinter__doc_put_object(writer, parent, "files_by_reason");

    for (sinter_reason r = 0; r < SINTER_REASON_COUNT; r++) {
        sinter__doc_put_count(writer, object, sinter_reason_code(r), counters->files_by_reason[r]);
    }
}

/* Of a result that isn't there. */
static const sinter_compact_counters nothing = {.struct_size = (uint32_t)sizeof nothing};

void
sinter__report_put_counters(sinter__doc_writer *writer, json_t *root,
                            const sinter_compact_counters *given)
{
    const sinter_compact_counters *counters = given == NULL ? &nothing : given;
    json_t *object = sinter__doc_put_object(writer, root, "counters");
    json_t *group = NULL;
    const sinter_merge_counters *merge = &counters->merge;

    sinter__doc_put_count(writer, object, "records_in", merge->records_in);
    sinter__doc_put_count(writer, object, "records_out", merge->records_out);
    group = sinter__doc_put_object(writer, object, "records_dropped");
    sinter__doc_put_count(writer, group, "superseded", merge->superseded);
    sinter__doc_put_count(writer, group, "deleted", merge->deleted);
    sinter__doc_put_count(writer, group, "expired", merge->expired);
    sinter__doc_put_count(writer, group, "filtered", merge->filtered);
    sinter__doc_put_count(writer, group, "vector", merge->vector);
    sinter__doc_put_count(writer, object, "keys", merge->keys);
    sinter__doc_put_count(writer, object, "bytes_read", counters->bytes_read);
    sinter__doc_put_count(writer, object, "bytes_written", counters->bytes_written);
    sinter__doc_put_count(writer, object, "bytes_upgraded", counters->bytes_upgraded);
    sinter__doc_put_count(writer, object, "bytes_spilled", merge->spilled_bytes);
    sinter__doc_put_count(writer, object, "blocks_read", counters->blocks_read);
    sinter__doc_put_count(writer, object, "blocks_passed", merge->blocks_passed);
    sinter__doc_put_count(writer, object, "spill_runs", merge->spill_runs);
    sinter__doc_put_count(writer, object, "files_opened", counters->files_opened);
    sinter__doc_put_count(writer, object, "memory_peak_bytes", counters->memory_peak_bytes);
    sinter__doc_put_count(writer, object, "bytes_verified", counters->bytes_verified);
    put_reasons(writer, object, counters);
    sinter__doc_put_integer(writer, object, "wall_us", counters->wall_us);
    sinter__doc_put_integer(writer, object, "cpu_us", counters->cpu_us);
    group = sinter__doc_put_object(writer, object, "phases_us");
    sinter__doc_put_integer(writer, group, "plan", counters->plan_us);
    sinter__doc_put_integer(writer, group, "read", counters->read_us);
    sinter__doc_put_integer(writer, group, "merge", counters->merge_us);
    sinter__doc_put_integer(writer, group, "write", counters->write_us);
    sinter__doc_put_integer(writer, group, "sync", counters->sync_us);
}

const char *
sinter__report_status(const sinter_error *error)
{
    if (error == NULL) {
        return "ok";
    }
    return error->status == SINTER_E_CANCELLED ? "cancelled" : "failed";
}

static_assert(SINTER_TASK_ID_CHARS == SINTER__UUID_CHARS, "a task id is a UUID");

sinter_status
sinter_task_id_draw(const sinter_env *env, char out[SINTER_TASK_ID_CHARS + 1], sinter_error *err)
{
    SINTER__REQUIRE(err, env != NULL && out != NULL);
    return sinter__uuid(env, (uint64_t)sinter__now_ns(env), out, err);
}

sinter_status
sinter_result_print(const sinter_result_content *given, sinter_text *out, sinter_error *err)
{
    sinter_result_content known = {.struct_size = (uint32_t)sizeof known};
    const sinter_result_content *content = &known;
    sinter__doc_writer writer;
    json_t *root = NULL;

    SINTER__REQUIRE(err, given != NULL);
    SINTER__CHECK(sinter__struct_load(&known, sizeof known, given, "sinter_result_content", err));
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    root = begin_document(&writer, "sinter.result");
    sinter__doc_put_string(&writer, root, "task_id", content->task_id);
    sinter__doc_put_null(&writer, root, "range");
    sinter__doc_put_null(&writer, root, "table");
    sinter__doc_put_null(&writer, root, "commit");
    sinter__doc_put_string(&writer, root, "base_dir", content->base_dir);
    sinter__doc_put_string(&writer, root, "status", sinter__report_status(content->error));
    sinter__report_put_before(&writer, root, content->result);
    put_after(&writer, root, content->result, content->codec, out->env);
    (void)sinter__doc_put_array(&writer, root, "changelog");
    sinter__doc_put_null(&writer, root, "index");
    put_decisions(&writer, root, content->result);
    sinter__report_put_counters(
        &writer, root,
        content->result == NULL ? NULL : sinter_compact_result_counters(content->result));
    if (content->error == NULL) {
        sinter__doc_put_null(&writer, root, "error");
    } else {
        sinter__doc_put_error(&writer, root, "error", content->error);
    }
    return end_document(&writer, root, content->flags, out, err);
}

static void
put_run_file(sinter__doc_writer *writer, json_t *run, const sinter_file_meta *file,
             const sinter_key_codec *codec, const sinter_env *env)
{
    json_t *object = sinter__doc_append_object(writer, run);

    sinter__file_identity_put(writer, object, file);
    sinter__doc_put_count(writer, object, "file_size", file->file_size);
    sinter__doc_put_count(writer, object, "row_count", file->row_count);
    sinter__doc_put_key(writer, object, "min_key", file->min_key, codec, env);
    sinter__doc_put_key(writer, object, "max_key", file->max_key, codec, env);
}

static void
put_sections(sinter__doc_writer *writer, json_t *root, const sinter_plan_content *content,
             const sinter_env *env)
{
    const sinter_partition *partition = content->partition;
    json_t *sections = sinter__doc_put_array(writer, root, "sections");
    const size_t count = partition == NULL ? 0 : sinter_partition_section_count(partition);

    for (size_t i = 0; i < count; i++) {
        json_t *section = sinter__doc_append_object(writer, sections);
        json_t *runs = sinter__doc_put_array(writer, section, "runs");

        for (size_t k = 0; k < sinter_partition_run_count(partition, i); k++) {
            size_t file_count = 0;
            const sinter_file_meta *const *files =
                sinter_partition_run(partition, i, k, &file_count);
            json_t *run = sinter__doc_append_array(writer, runs);

            for (size_t f = 0; f < file_count; f++) {
                put_run_file(writer, run, files[f], content->codec, env);
            }
        }
    }
}

/* What the decisions will read, write at most, and move without reading. */
static void
put_estimate(sinter__doc_writer *writer, json_t *root, const sinter_compact_result *result)
{
    json_t *estimate = sinter__doc_put_object(writer, root, "estimate");
    size_t count = 0;
    const sinter_file_decision *decisions =
        result == NULL ? NULL : sinter_compact_result_decisions(result, &count);
    uint64_t rewritten = 0;
    uint64_t upgraded = 0;

    for (size_t i = 0; i < count; i++) {
        rewritten +=
            decisions[i].action == SINTER_ACTION_REWRITTEN ? decisions[i].file->file_size : 0;
        upgraded +=
            decisions[i].action == SINTER_ACTION_UPGRADED ? decisions[i].file->file_size : 0;
    }
    sinter__doc_put_count(writer, estimate, "read_bytes", rewritten);
    sinter__doc_put_count(writer, estimate, "write_bytes", rewritten);
    sinter__doc_put_count(writer, estimate, "upgrade_bytes", upgraded);
    sinter__doc_put_count(writer, estimate, "temporary_bytes", rewritten);
}

sinter_status
sinter_plan_print(const sinter_plan_content *given, sinter_text *out, sinter_error *err)
{
    sinter_plan_content known = {.struct_size = (uint32_t)sizeof known};
    const sinter_plan_content *content = &known;
    sinter__doc_writer writer;
    json_t *root = NULL;
    json_t *reason = NULL;

    SINTER__REQUIRE(err, given != NULL);
    SINTER__CHECK(sinter__struct_load(&known, sizeof known, given, "sinter_plan_content", err));
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    root = begin_document(&writer, "sinter.plan");
    sinter__doc_put_string(&writer, root, "base_dir", content->base_dir);
    sinter__doc_put_integer(&writer, root, "output_level", content->output_level);
    sinter__doc_put_integer(&writer, root, "max_level", content->max_level);
    sinter__doc_put_bool(&writer, root, "drop_delete", content->drop_delete);
    sinter__doc_put_count(&writer, root, "small_file_bytes", content->small_file_bytes);
    sinter__doc_put_count(&writer, root, "target_file_bytes", content->target_file_bytes);
    reason = sinter__doc_put_object(&writer, root, "reason");
    sinter__doc_put_string(&writer, reason, "code", content->reason_code);
    put_sections(&writer, root, content, out->env);
    put_decisions(&writer, root, content->result);
    put_reasons(&writer, root,
                content->result == NULL ? &nothing
                                        : sinter_compact_result_counters(content->result));
    put_estimate(&writer, root, content->result);
    return end_document(&writer, root, content->flags, out, err);
}

/* Where blocks are put while the index is walked. */
typedef struct block_target {
    sinter__doc_writer *writer;
    json_t *array;
    const sinter_key_codec *codec;
    const sinter_env *env;
} block_target;

static sinter_status
put_block(void *ctx, const sinter_sst_block *block)
{
    const block_target *target = ctx;
    sinter__doc_writer *writer = target->writer;
    json_t *object = sinter__doc_append_object(writer, target->array);

    sinter__doc_put_count(writer, object, "offset", block->offset);
    sinter__doc_put_count(writer, object, "row_count", block->row_count);
    sinter__doc_put_count(writer, object, "delete_row_count", block->retract_count);
    sinter__doc_put_key(writer, object, "first_key", block->first_key, target->codec, target->env);
    sinter__doc_put_key(writer, object, "last_key", block->last_key, target->codec, target->env);
    sinter__doc_put_integer(writer, object, "min_sequence_number", block->sequence_min);
    sinter__doc_put_integer(writer, object, "max_sequence_number", block->sequence_max);
    sinter__doc_put_count(writer, object, "key_raw_bytes", block->key_raw_bytes);
    sinter__doc_put_count(writer, object, "key_stored_bytes", block->key_stored_bytes);
    sinter__doc_put_string(writer, object, "key_compression", sinter_codec_name(block->key_codec));
    sinter__doc_put_bool(writer, object, "keys_front_coded", block->keys_front_coded);
    sinter__doc_put_count(writer, object, "value_raw_bytes", block->value_raw_bytes);
    sinter__doc_put_count(writer, object, "value_stored_bytes", block->value_stored_bytes);
    sinter__doc_put_string(writer, object, "value_compression",
                           sinter_codec_name(block->value_codec));
    sinter__doc_put_count(writer, object, "filter_bytes", block->filter_bytes);
    return SINTER_OK;
}

static void
put_types(sinter__doc_writer *writer, json_t *root, const sinter_sst_properties *found)
{
    json_t *types = sinter__doc_put_array(writer, root, "key_types");
    const char *line = found->key_types == NULL ? "" : found->key_types;
    json_t *row_type = NULL;

    while (line[0] != '\0') {
        const char *end = strchr(line, '\n');
        const size_t size = end == NULL ? strlen(line) : (size_t)(end - line);
        char text[SINTER_TYPE_TEXT_MAX];

        (void)snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text),
                       line);
        sinter__doc_append_string(writer, types, text);
        line += size + (end == NULL ? 0 : 1);
    }
    if (found->row_type != NULL && found->row_type[0] != '\0') {
        const sinter__json_source source = {
            .text = {(const uint8_t *)found->row_type, strlen(found->row_type)}};

        if (sinter__json_load(&source, SINTER__JSON_TYPES, &row_type, NULL) == SINTER_E_NOMEM) {
            writer->status = SINTER_E_NOMEM;
        }
    }
    sinter__doc_put(writer, root, "row_type", row_type == NULL ? json_null() : row_type);
}

static void
put_properties(sinter__doc_writer *writer, json_t *root, const sinter_sst_properties *found,
               const sinter_key_codec *codec, const sinter_env *env)
{
    sinter__doc_put_count(writer, root, "format_version", found->format_version);
    sinter__doc_put_count(writer, root, "features_compatible", found->features_compatible);
    sinter__doc_put_count(writer, root, "features_incompatible", found->features_incompatible);
    sinter__doc_put_message(writer, root, "writer_version", found->writer_version);
    sinter__doc_put_integer(writer, root, "level_at_writing", found->level);
    sinter__doc_put_count(writer, root, "file_size", found->file_size);
    sinter__doc_put_count(writer, root, "row_count", found->row_count);
    sinter__doc_put_count(writer, root, "delete_row_count", found->retract_count);
    if (found->row_count > 0) {
        sinter__doc_put_key(writer, root, "min_key", found->min_key, codec, env);
        sinter__doc_put_key(writer, root, "max_key", found->max_key, codec, env);
    }
    sinter__doc_put_integer(writer, root, "min_sequence_number", found->sequence_min);
    sinter__doc_put_integer(writer, root, "max_sequence_number", found->sequence_max);
    sinter__doc_put_integer(writer, root, "creation_time_ms", found->creation_time_ms);
    sinter__doc_put_integer(writer, root, "schema_id", found->schema_id);
    put_types(writer, root, found);
    sinter__doc_put_string(writer, root, "compression", sinter_codec_name(found->codec));
    sinter__doc_put_count(writer, root, "filter_bits_per_key", found->filter_bits_per_key);
    sinter__doc_put_count(writer, root, "block_count", found->block_count);
    sinter__doc_put_count(writer, root, "raw_key_bytes", found->raw_key_bytes);
    sinter__doc_put_count(writer, root, "raw_value_bytes", found->raw_value_bytes);
    sinter__doc_put_count(writer, root, "stored_bytes", found->stored_bytes);
    if (found->largest_block > 0) {
        sinter__doc_put_count(writer, root, "largest_block_bytes", found->largest_block);
        sinter__doc_put_count(writer, root, "largest_block_rows", found->largest_block_rows);
    }
}

sinter_status
sinter_inspect_print(sinter_sst *sst, const char *name, const sinter_key_codec *codec,
                     uint32_t flags, sinter_text *out, sinter_error *err)
{
    sinter_sst_properties found = {.struct_size = (uint32_t)sizeof found};
    sinter__doc_writer writer;
    block_target target = {.writer = &writer, .codec = codec};
    json_t *root = NULL;
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, sst != NULL && name != NULL);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    sinter_sst_properties_get(sst, &found);
    root = begin_document(&writer, "sinter.inspect");
    sinter__doc_put_string(&writer, root, "file_name", name);
    put_properties(&writer, root, &found, codec, out->env);
    if ((flags & SINTER_PRINT_BLOCKS) != 0) {
        target.array = sinter__doc_put_array(&writer, root, "blocks");
        target.env = out->env;
        st = sinter_sst_each_block(sst, put_block, &target, err);
    }
    if (st != SINTER_OK) {
        json_decref(root);
        return st;
    }
    return end_document(&writer, root, flags, out, err);
}

sinter_status
sinter_verify_print(const char *name, const sinter_sst_verify_result *result,
                    const sinter_error *error, uint32_t flags, sinter_text *out, sinter_error *err)
{
    sinter__doc_writer writer;
    json_t *root = NULL;

    SINTER__REQUIRE(err, name != NULL && (result != NULL || error != NULL));
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    root = begin_document(&writer, "sinter.verify");
    sinter__doc_put_string(&writer, root, "file_name", name);
    sinter__doc_put_bool(&writer, root, "ok", error == NULL);
    if (result != NULL) {
        sinter__doc_put_count(&writer, root, "block_count", result->blocks);
        sinter__doc_put_count(&writer, root, "row_count", result->rows);
        sinter__doc_put_count(&writer, root, "bytes", result->bytes);
    }
    if (error == NULL) {
        sinter__doc_put_null(&writer, root, "error");
    } else {
        sinter__doc_put_error(&writer, root, "error", error);
    }
    return end_document(&writer, root, flags, out, err);
}

sinter_status
sinter_error_print(const sinter_error *error, sinter_text *out, sinter_error *err)
{
    sinter__doc_writer writer;
    json_t *root = NULL;

    SINTER__REQUIRE(err, error != NULL);
    SINTER__REQUIRE(err, out != NULL && out->env != NULL);
    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_error(&writer, root, "error", error);
    return end_document(&writer, root, 0, out, err);
}
