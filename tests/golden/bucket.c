#include "bucket.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

sinter_file_meta *
golden_files_add(golden_files *files, const json_t *json)
{
    sinter_file_meta *file = &files->files[files->count];

    cr_assert_lt(files->count, GOLDEN_FILES_MAX);
    *file = (sinter_file_meta){.struct_size = sizeof *file,
                               .file_name = golden_text(json, "id"),
                               .file_size = (uint64_t)golden_int(json, "size"),
                               .row_count = 1,
                               .upgraded_from = -1};
    files->count++;
    return file;
}

/* An INT as its key bytes (spec/key-encoding.md). */
static sinter_bytes
int_key(int64_t value, uint8_t out[4])
{
    const uint32_t bits = (uint32_t)(int32_t)value ^ 0x80000000u;

    for (size_t i = 0; i < 4; i++) {
        out[i] = (uint8_t)(bits >> (24 - 8 * i));
    }
    return (sinter_bytes){out, 4};
}

void
golden_files_add_whole(golden_files *files, const json_t *json)
{
    const size_t place = files->count;
    sinter_file_meta *file = golden_files_add(files, json);
    const json_t *deletes = json_object_get(json, "delete_row_count");

    file->level = (int32_t)golden_int(json, "level");
    file->min_sequence_number = golden_int(json, "min_seq");
    file->max_sequence_number = golden_int(json, "max_seq");
    file->creation_time_ms = golden_int(json, "created_ms");
    file->min_key = int_key(golden_int(json, "min"), files->keys[place][0]);
    file->max_key = int_key(golden_int(json, "max"), files->keys[place][1]);
    if (deletes != NULL) {
        file->delete_row_count = json_is_null(deletes) ? -1 : json_integer_value(deletes);
    }
}

void
golden_files_load(golden_files *files, const json_t *list)
{
    files->count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        golden_files_add_whole(files, json_array_get(list, i));
    }
}

json_t *
golden_names(const sinter_file_meta *files, size_t count)
{
    json_t *names = json_array();

    for (size_t i = 0; i < count; i++) {
        json_array_append_new(names, json_string(files[i].file_name));
    }
    return names;
}

json_t *
golden_names_and_levels(const sinter_file_list *files)
{
    json_t *list = json_array();

    for (size_t i = 0; i < files->count; i++) {
        json_array_append_new(
            list, json_pack("[s,i]", files->files[i].file_name, (int)files->files[i].level));
    }
    return list;
}

json_t *
golden_state(const sinter_file_set *set)
{
    const uint32_t num_levels = sinter_file_set_num_levels(set);
    json_t *level0 = json_array();
    json_t *above = json_array();
    size_t run_count = 0;
    const sinter_level_run *runs = sinter_file_set_runs(set, &run_count);
    size_t count = 0;
    const sinter_file_meta *files = sinter_file_set_files(set, &count);

    for (uint32_t i = 1; i < num_levels; i++) {
        json_array_append_new(above, json_array());
    }
    for (size_t r = 0; r < run_count; r++) {
        json_t *names = golden_names(runs[r].files, runs[r].count);

        if (runs[r].level == 0) {
            json_array_extend(level0, names);
            json_decref(names);
        } else {
            json_array_set_new(above, (size_t)runs[r].level - 1, names);
        }
    }
    return json_pack("{s:i,s:o,s:o,s:i,s:i,s:I,s:o}", "number_of_levels", (int)num_levels, "level0",
                     level0, "levels_from_1", above, "number_of_sorted_runs", (int)run_count,
                     "non_empty_highest_level", (int)sinter_file_set_highest_level(set),
                     "total_file_size", (json_int_t)sinter_file_set_bytes(set), "all_files",
                     golden_names(files, count));
}

void
golden_recorder_upgrades(golden_recorder *recorder, const sinter_compact_result *result)
{
    const sinter_file_list *after = sinter_compact_result_after(result);

    for (; recorder->seen_after < after->count; recorder->seen_after++) {
        const sinter_file_meta *file = &after->files[recorder->seen_after];

        if (file->upgraded_from >= 0) {
            json_array_append_new(recorder->actions,
                                  json_pack("{s:s,s:i,s:s}", "op", "upgrade", "output_level",
                                            (int)file->level, "file", file->file_name));
        }
    }
}

/* Widen a made-up file by one of its inputs. */
static void
cover(sinter_file_meta *made, const sinter_file_meta *file)
{
    if (made->row_count == 0) {
        made->min_key = file->min_key;
        made->max_key = file->max_key;
        made->min_sequence_number = file->min_sequence_number;
        made->max_sequence_number = file->max_sequence_number;
    }
    if (memcmp(file->min_key.data, made->min_key.data, 4) < 0) {
        made->min_key = file->min_key;
    }
    if (memcmp(file->max_key.data, made->max_key.data, 4) > 0) {
        made->max_key = file->max_key;
    }
    if (file->min_sequence_number < made->min_sequence_number) {
        made->min_sequence_number = file->min_sequence_number;
    }
    if (file->max_sequence_number > made->max_sequence_number) {
        made->max_sequence_number = file->max_sequence_number;
    }
    made->file_size += file->file_size;
    made->row_count = 1;
}

static json_t *
record_run(const sinter_rewrite_run *run, sinter_file_meta *made)
{
    json_t *names = json_array();

    for (size_t i = 0; i < run->count; i++) {
        json_array_append_new(names, json_string(run->files[i]->file_name));
        cover(made, run->files[i]);
    }
    return names;
}

static sinter_status
record_rewrite(void *ctx, const sinter_rewrite_request *request, sinter_compact_result *result,
               sinter_error *err)
{
    golden_recorder *recorder = ctx;
    json_t *sections = json_array();
    char name[32] = "";
    sinter_file_meta made = {.struct_size = sizeof made,
                             .level = request->output_level,
                             .file_name = name,
                             .creation_time_ms = 9000,
                             .file_source = SINTER_FILE_SOURCE_COMPACT,
                             .upgraded_from = -1};

    golden_recorder_upgrades(recorder, result);
    for (size_t s = 0; s < request->section_count; s++) {
        json_t *runs = json_array();

        for (size_t i = 0; i < request->sections[s].count; i++) {
            json_array_append_new(runs, record_run(&request->sections[s].runs[i], &made));
        }
        json_array_append_new(sections, runs);
    }
    (void)snprintf(name, sizeof name, "%s%u", recorder->prefix, recorder->outputs++);
    json_array_append_new(recorder->actions, json_pack("{s:s,s:i,s:b,s:o,s:s}", "op", "rewrite",
                                                       "output_level", (int)request->output_level,
                                                       "drop_delete", (int)request->drop_delete,
                                                       "sections", sections, "output", name));
    recorder->seen_after++;
    return sinter_compact_result_add_after(result, &made, err);
}

sinter_rewriter
golden_recorder_rewriter(golden_recorder *recorder)
{
    return (sinter_rewriter){
        .struct_size = sizeof(sinter_rewriter), .ctx = recorder, .rewrite = record_rewrite};
}
