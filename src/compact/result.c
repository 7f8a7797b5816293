#include "compact/result.h"

#include <assert.h>
#include <string.h>

const char *
sinter_reason_code(sinter_reason reason)
{
    switch (reason) {
#define REASON_CODE(name, code) \
    case SINTER_REASON_##name:  \
        return code;
        SINTER_REASON_MAP(REASON_CODE)
#undef REASON_CODE
    default:
        return "unknown";
    }
}

const char *
sinter_reason_text(sinter_reason reason)
{
    switch (reason) {
    case SINTER_REASON_OVERLAP:
        return "Its keys overlap those of another file of the unit.";
    case SINTER_REASON_SMALL_NEIGHBOURS:
        return "It is small and so is what lies beside it; together they make a larger file.";
    case SINTER_REASON_TOP_DELETES:
        return "It holds deletes, and none may lie in the highest level.";
    case SINTER_REASON_TOP_DELETES_UNKNOWN:
        return "It may hold deletes (their number is unknown), and none may lie in the highest "
               "level.";
    case SINTER_REASON_FORCED:
        return "compaction.force-rewrite-all-files is set.";
    case SINTER_REASON_EXPIRED:
        return "It holds expired records.";
    case SINTER_REASON_LARGE_ALONE:
        return "It is large and overlaps nothing; only its level changes.";
    case SINTER_REASON_SMALL_ALONE:
        return "It is small, but nothing beside it needs a rewrite; only its level changes.";
    case SINTER_REASON_AT_LEVEL:
        return "It lies in the output level already and needs no rewrite.";
    case SINTER_REASON_EMPTY:
        return "It holds no rows; nothing is written for it.";
    default:
        return "unknown";
    }
}

const char *
sinter_file_action_name(sinter_file_action action)
{
    switch (action) {
    case SINTER_ACTION_KEPT:
        return "kept";
    case SINTER_ACTION_UPGRADED:
        return "upgraded";
    case SINTER_ACTION_REWRITTEN:
        return "rewritten";
    default:
        return "unknown";
    }
}

sinter_status
sinter__result_create(const sinter_env *env, const sinter_file_meta *files, size_t count,
                      sinter_compact_result **out, sinter_error *err)
{
    sinter_compact_result *result = NULL;
    sinter_status st = SINTER_OK;

    assert(files != NULL || count == 0);
    *out = NULL;
    SINTER__TRY(SINTER__NEW(env, result, 1, err));
    result->env = *env;
    result->env.memory = NULL; /* what lives on after a task is not part of its budget */
    result->arena.env = &result->env;
    result->counters.struct_size = (uint32_t)sizeof result->counters;
    result->counters.merge.struct_size = (uint32_t)sizeof result->counters.merge;
    SINTER__TRY(SINTER__NEW(env, result->decisions, count, err));
    for (size_t i = 0; i < count; i++) {
        result->decisions[i] = (sinter_file_decision){
            .file = &files[i], .action = SINTER_ACTION_KEPT, .reason = SINTER_REASON_AT_LEVEL};
    }
    result->decision_count = count;
    *out = result;
    result = NULL;
out:
    sinter_compact_result_destroy(result);
    return st;
}

static sinter_status
list_append(const sinter_env *env, sinter__file_list *files, const sinter_file_meta *file,
            sinter_error *err)
{
    if (files->list.count == files->capacity) {
        const size_t capacity = files->capacity < 8 ? 8 : files->capacity * 2;

        SINTER__CHECK(sinter__resize(env, (void **)&files->list.files, capacity,
                                     sizeof *files->list.files, err));
        files->capacity = capacity;
    }
    assert(files->list.count < files->capacity);
    assert(file->file_name != NULL);
    files->list.files[files->list.count] = *file;
    files->list.files[files->list.count].struct_size = (uint32_t)sizeof *file;
    files->list.count++;
    return SINTER_OK;
}

sinter_status
sinter__result_add_before(sinter_compact_result *result, const sinter_file_meta *file,
                          sinter_error *err)
{
    return list_append(&result->env, &result->before, file, err);
}

sinter_status
sinter__result_add_upgraded(sinter_compact_result *result, const sinter_file_meta *file,
                            int32_t level, sinter_error *err)
{
    sinter_file_meta upgraded = *file;

    assert(file->level < level);
    upgraded.level = level;
    upgraded.upgraded_from = file->level;
    return list_append(&result->env, &result->after, &upgraded, err);
}

static sinter_status
copy_extra_files(sinter__arena *arena, sinter_file_meta *file, sinter_error *err)
{
    const char **names = NULL;

    if (file->extra_file_count == 0) {
        file->extra_files = NULL;
        return SINTER_OK;
    }
    if (file->extra_file_count > SIZE_MAX / sizeof *names) {
        return SINTER__ERR(err, SINTER_E_NOMEM, "%zu extra files", file->extra_file_count);
    }
    SINTER__CHECK(
        sinter__arena_take(arena, file->extra_file_count * sizeof *names, (void **)&names, err));
    for (size_t i = 0; i < file->extra_file_count; i++) {
        SINTER__CHECK(sinter__arena_strdup(arena, file->extra_files[i], &names[i], err));
    }
    file->extra_files = names;
    return SINTER_OK;
}

sinter_status
sinter_compact_result_add_after(sinter_compact_result *result, const sinter_file_meta *file,
                                sinter_error *err)
{
    sinter_file_meta copy = {0};
    sinter__arena *arena = NULL;

    SINTER__REQUIRE(err, result != NULL && file != NULL);
    SINTER__REQUIRE(err, file->file_name != NULL);
    copy = *file;
    copy.upgraded_from = -1;
    arena = &result->arena;
    SINTER__CHECK(sinter__arena_strdup(arena, file->file_name, &copy.file_name, err));
    SINTER__CHECK(sinter__arena_strdup(arena, file->dir, &copy.dir, err));
    SINTER__CHECK(sinter__arena_strdup(arena, file->external_path, &copy.external_path, err));
    SINTER__CHECK(sinter__arena_copy(arena, file->min_key, &copy.min_key, err));
    SINTER__CHECK(sinter__arena_copy(arena, file->max_key, &copy.max_key, err));
    SINTER__CHECK(copy_extra_files(arena, &copy, err));
    return list_append(&result->env, &result->after, &copy, err);
}

const sinter_file_list *
sinter_compact_result_before(const sinter_compact_result *result)
{
    return &result->before.list;
}

const sinter_file_list *
sinter_compact_result_after(const sinter_compact_result *result)
{
    return &result->after.list;
}

const sinter_file_decision *
sinter_compact_result_decisions(const sinter_compact_result *result, size_t *count_out)
{
    *count_out = result->decision_count;
    return result->decisions;
}

const sinter_compact_counters *
sinter_compact_result_counters(const sinter_compact_result *result)
{
    return &result->counters;
}

void
sinter_compact_result_destroy(sinter_compact_result *result)
{
    if (result != NULL) {
        const sinter_env env = result->env;

        sinter__arena_fini(&result->arena);
        sinter__free(&env, result->after.list.files);
        sinter__free(&env, result->before.list.files);
        sinter__free(&env, result->decisions);
        sinter__free(&env, result);
    }
}
