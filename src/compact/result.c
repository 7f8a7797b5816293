#include "compact/result.h"

#include <assert.h>

#include "compact/meta_list.h"

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

sinter_file_action
sinter_reason_action(sinter_reason reason)
{
    switch (reason) {
    case SINTER_REASON_AT_LEVEL:
        return SINTER_ACTION_KEPT;
    case SINTER_REASON_LARGE_ALONE:
    case SINTER_REASON_SMALL_ALONE:
        return SINTER_ACTION_UPGRADED;
    default:
        return SINTER_ACTION_REWRITTEN;
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

sinter_status
sinter_compact_result_add_after(sinter_compact_result *result, const sinter_file_meta *file,
                                sinter_error *err)
{
    sinter_file_meta copy = {0};

    SINTER__REQUIRE(err, result != NULL && file != NULL);
    SINTER__REQUIRE(err, file->file_name != NULL);
    SINTER__CHECK(sinter__file_meta_copy(&result->arena, file, &copy, err));
    copy.upgraded_from = -1;
    return list_append(&result->env, &result->after, &copy, err);
}

void
sinter__result_hold(sinter_compact_result *result, void (*release)(void *ctx), void *ctx)
{
    assert(result->release == NULL);
    result->release = release;
    result->release_ctx = ctx;
}

void
sinter__result_cut_after(sinter_compact_result *result, size_t count)
{
    assert(count <= result->after.list.count);
    result->after.list.count = count;
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
        if (result->release != NULL) {
            result->release(result->release_ctx);
        }
        sinter__free(&env, result);
    }
}
