#include "compact/strategy_force_up.h"

#include <string.h>

#include "compact/strategy_parts.h"

static sinter_status
force_level0(sinter__universal *universal, const sinter_pick_request *request, sinter_pick *out)
{
    size_t count = 0;

    while (count < request->run_count && request->runs[count].level == 0) {
        count++;
    }
    if (count == 0) {
        char why[sizeof out->text];

        memcpy(why, out->text, sizeof why);
        sinter__pick_explain(out, SINTER_PICK_NONE, "level 0 is empty; %.160s", why);
        return SINTER_END;
    }
    return sinter__universal_pick_by_ratio(universal, request, SINTER_PICK_FORCE_UP_LEVEL_0, count,
                                           true, out);
}

sinter_status
sinter__force_up_pick(sinter__force_up *force_up, sinter__universal *universal,
                      const sinter_pick_request *request, sinter_pick *out)
{
    const sinter_status st = sinter__universal_pick(universal, request, out);

    if (st != SINTER_END) {
        return st;
    }
    if (force_up->interval == 0) {
        return force_level0(universal, request, out);
    }
    force_up->counter++;
    if (force_up->counter == force_up->interval) {
        force_up->counter = 0;
        return force_level0(universal, request, out);
    }
    return SINTER_END;
}
