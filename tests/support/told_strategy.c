#include "support/told_strategy.h"

#include <string.h>

static bool
is_told(const told_strategy *told, const char *name)
{
    for (size_t n = 0; n < TOLD_NAMES_MAX && told->names[n] != NULL; n++) {
        if (strcmp(told->names[n], name) == 0) {
            return true;
        }
    }
    return told->takes_all;
}

static sinter_status
told_pick(sinter_strategy *base, const sinter_pick_request *request, sinter_pick *out,
          sinter_error *err)
{
    told_strategy *told = (told_strategy *)base;
    size_t position = 0;

    (void)err;
    told->asked++;
    if (told->answer != SINTER_OK || (!told->takes_all && told->names[0] == NULL)) {
        return told->answer != SINTER_OK ? told->answer : SINTER_END;
    }
    out->output_level = told->output_level;
    out->file_rewrite = told->file_rewrite;
    out->rule = SINTER_PICK_CUSTOM;
    for (size_t r = 0; r < request->run_count; r++) {
        for (size_t f = 0; f < request->runs[r].count; f++, position++) {
            if (is_told(told, request->runs[r].files[f].file_name)) {
                out->members[out->member_count++] = position;
            }
        }
    }
    return SINTER_OK;
}

static const sinter_strategy_ops told_ops = {
    .struct_size = sizeof told_ops, .name = "told", .pick = told_pick};

void
told_init(told_strategy *told)
{
    *told = (told_strategy){.base.ops = &told_ops};
}

void
told_nothing(told_strategy *told)
{
    told_files(told, 0, NULL, NULL, NULL);
}

void
told_all(told_strategy *told, int32_t output_level)
{
    told_nothing(told);
    told->output_level = output_level;
    told->takes_all = true;
}

void
told_files(told_strategy *told, int32_t output_level, const char *one, const char *two,
           const char *three)
{
    told->takes_all = false;
    told->output_level = output_level;
    told->names[0] = one;
    told->names[1] = two;
    told->names[2] = three;
    told->names[3] = NULL;
}
