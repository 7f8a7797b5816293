#include "table/expiry_range.h"

#include <inttypes.h>
#include <strings.h>

#include "base/env.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/text.h"
#include "table/commit_options.h"
#include "table/consumers.h"
#include "table/numbered.h"
#include "table/snapshot.h"

static const sinter_env *
env_of(const sinter__expiry_range *self)
{
    return self->table->env;
}

const char *
sinter__expiry_dir(const sinter__expiry_range *self)
{
    return self->is_of_changelogs ? "changelog" : "snapshot";
}

const char *
sinter__expiry_prefix(const sinter__expiry_range *self)
{
    return self->is_of_changelogs ? "changelog-" : "snapshot-";
}

/* ---- options ---- */

static sinter_status
load_lives(sinter__expiry_range *self, int64_t now_ms, sinter_error *err)
{
    const sinter_schema *schema = sinter_table_schema(self->table);
    const sinter_expire_options *options = &self->options;
    const char *producer = sinter_schema_option(schema, "changelog-producer");
    sinter__changelog_lives *own = &self->lives;
    int64_t ms = now_ms - options->older_than_ms;

    own->retain_min = options->retain_min;
    own->retain_max = options->retain_max;
    SINTER__CHECK(
        sinter__option_count(schema, "changelog.num-retained.min", 1, &own->retain_min, err));
    SINTER__CHECK(
        sinter__option_count(schema, "changelog.num-retained.max", 1, &own->retain_max, err));
    SINTER__CHECK(sinter__option_duration(schema, "changelog.time-retained", &ms, err));
    own->older_than_ms = now_ms - ms;
    own->are_longer = own->retain_min > options->retain_min ||
                      own->retain_max > options->retain_max ||
                      own->older_than_ms < options->older_than_ms;
    self->has_producer = producer != NULL && strcasecmp(producer, "none") != 0;
    if (own->are_longer && own->retain_max < own->retain_min) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "%" PRId64 " changelogs stay at least, but %" PRId64 " at most",
                           own->retain_min, own->retain_max);
    }
    return SINTER_OK;
}

sinter_status
sinter__expiry_range_load(sinter__expiry_range *self, const sinter_expire_options *given,
                          sinter_error *err)
{
    const sinter_schema *schema = sinter_table_schema(self->table);
    const int64_t now_ms = sinter__now_ms(env_of(self));
    sinter_expire_options *options = &self->options;
    int64_t min = 10;
    int64_t max = INT32_MAX;
    int64_t limit = 50;
    int64_t retained_ms = INT64_C(3600) * 1000;

    *options = (sinter_expire_options){.struct_size = (uint32_t)sizeof *options};
    if (given != NULL) {
        SINTER__CHECK(
            sinter__struct_load(options, sizeof *options, given, "sinter_expire_options", err));
    }
    SINTER__REQUIRE(err, (options->flags & ~(uint32_t)SINTER_REMOVE_DRY_RUN) == 0);
    SINTER__REQUIRE(err, options->retain_min >= 0 && options->retain_max >= 0);
    SINTER__REQUIRE(err, options->limit >= 0);
    SINTER__CHECK(sinter__option_count(schema, "snapshot.num-retained.min", 1, &min, err));
    SINTER__CHECK(sinter__option_count(schema, "snapshot.num-retained.max", 1, &max, err));
    SINTER__CHECK(sinter__option_count(schema, "snapshot.expire.limit", 1, &limit, err));
    SINTER__CHECK(sinter__option_duration(schema, "snapshot.time-retained", &retained_ms, err));
    SINTER__CHECK(sinter__option_bool(schema, "snapshot.clean-empty-directories",
                                      &self->clean_directories, err));
    options->retain_min = options->retain_min == 0 ? min : options->retain_min;
    options->retain_max = options->retain_max == 0 ? max : options->retain_max;
    options->limit = options->limit == 0 ? limit : options->limit;
    options->older_than_ms =
        options->older_than_ms == 0 ? now_ms - retained_ms : options->older_than_ms;
    if (options->retain_max < options->retain_min) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "%" PRId64 " snapshots stay at least, but %" PRId64 " at most",
                           options->retain_min, options->retain_max);
    }
    return load_lives(self, now_ms, err);
}

/* ---- numbers ---- */

sinter_status
sinter__expiry_range_get(const sinter__expiry_range *self, int64_t id, sinter_snapshot **out,
                         sinter_error *err)
{
    sinter_text dir;
    sinter_text path;
    sinter_status st = SINTER_OK;

    if (!self->is_of_changelogs) {
        return sinter_table_snapshot_get(self->table, id, out, err);
    }
    sinter_text_init(env_of(self), &dir);
    sinter_text_init(env_of(self), &path);
    SINTER__TRY(sinter__table_dir(self->table, sinter__expiry_dir(self), &dir, err));
    SINTER__TRY(sinter__number_path(
        &(sinter__numbered){env_of(self), dir.data, sinter__expiry_prefix(self)}, id, &path, err));
    st = sinter__snapshot_read(env_of(self), path.data, out, err);
out:
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}

/** Is this snapshot too young to go? One that isn't there is not. */
static sinter_status
is_young(const sinter__expiry_range *self, int64_t id, bool *out, sinter_error *err)
{
    const int64_t older_than_ms =
        self->is_of_changelogs ? self->lives.older_than_ms : self->options.older_than_ms;
    sinter_error detail = SINTER_ERROR_INIT;
    sinter_snapshot *snapshot = NULL;
    sinter_status st = sinter__expiry_range_get(self, id, &snapshot, &detail);

    *out = st == SINTER_OK && snapshot->time_ms >= older_than_ms;
    sinter_snapshot_destroy(snapshot);
    if (st == SINTER_E_NOT_FOUND || st == SINTER_E_EXPIRED) {
        return SINTER_OK;
    }
    if (st != SINTER_OK && err != NULL) {
        *err = detail;
    }
    return st;
}

static int64_t
smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/** The first that there is, and the one that none may go from on. */
static sinter_status
find_ends(sinter__expiry_range *self, int64_t latest, int64_t *newest, sinter_error *err)
{
    sinter_text dir;
    sinter__numbered files = {.env = env_of(self), .prefix = "changelog-"};
    sinter_status st = SINTER_OK;

    *newest = latest;
    if (!self->is_of_changelogs) {
        return sinter_table_earliest_id(self->table, &self->begin, err);
    }
    sinter_text_init(files.env, &dir);
    SINTER__TRY(sinter__table_dir(self->table, "changelog", &dir, err));
    files.dir = dir.data;
    SINTER__TRY(sinter__number_find(&files, SINTER__NUMBER_EARLIEST, &self->begin, err));
    st = sinter__number_find(&files, SINTER__NUMBER_LATEST, newest, err);
out:
    sinter_text_fini(&dir);
    return st;
}

/** Numbers may lack where changelogs were kept, then not, and then again. What lies before a gap
 * goes by itself; the first behind it stays. */
static sinter_status
end_at_gap(sinter__expiry_range *self, sinter_error *err)
{
    sinter_text dir;
    sinter__numbered files = {.env = env_of(self), .prefix = sinter__expiry_prefix(self)};
    sinter__numbers numbers = {.count = 0};
    size_t first = 0;
    size_t i = 0;
    sinter_status st = SINTER_OK;

    sinter_text_init(files.env, &dir);
    SINTER__TRY(sinter__table_dir(self->table, sinter__expiry_dir(self), &dir, err));
    files.dir = dir.data;
    SINTER__TRY(sinter__numbers_list(&files, &numbers, err));
    while (i < numbers.count && numbers.items[i] < self->begin) {
        i++;
    }
    first = i;
    while (i < numbers.count && numbers.items[i] < self->end &&
           numbers.items[i] == self->begin + (int64_t)(i - first)) {
        i++;
    }
    self->end = smaller(self->end, self->begin + (int64_t)(i - first));
    self->first_kept = i < numbers.count ? numbers.items[i] : self->end;
    st = self->begin < self->end && i < numbers.count ? SINTER_OK : SINTER_END;
out:
    sinter__numbers_fini(files.env, &numbers);
    sinter_text_fini(&dir);
    return st;
}

sinter_status
sinter__expiry_range_find(sinter__expiry_range *self, sinter_error *err)
{
    const int64_t retain_min =
        self->is_of_changelogs ? self->lives.retain_min : self->options.retain_min;
    const int64_t retain_max =
        self->is_of_changelogs ? self->lives.retain_max : self->options.retain_max;
    int64_t latest = 0;
    int64_t newest = 0;
    int64_t next = INT64_MAX;
    int64_t id = 0;
    bool young = false;

    SINTER__CHECK(sinter_table_latest_id(self->table, &latest, err));
    SINTER__CHECK(find_ends(self, latest, &newest, err));
    SINTER__CHECK(sinter__consumers_next(self->table, &next, err));
    self->end = latest - smaller(retain_min, latest) + 1;
    self->end = smaller(self->end, next);
    self->end = smaller(self->end, self->begin + smaller(self->options.limit, latest));
    self->end = smaller(self->end, self->is_of_changelogs ? newest : INT64_MAX);
    id = latest - smaller(retain_max, latest) + 1;
    for (id = id < self->begin ? self->begin : id; id < self->end; id++) {
        SINTER__CHECK(is_young(self, id, &young, err));
        if (young) {
            self->end = id;
        }
    }
    self->first_kept = self->end;
    if (self->begin < self->end && self->is_of_changelogs) {
        return end_at_gap(self, err);
    }
    return self->begin < self->end ? SINTER_OK : SINTER_END;
}

sinter_status
sinter__expiry_range_skip_gap(sinter__expiry_range *self, sinter_error *err)
{
    sinter_text dir;
    sinter_text path;
    bool is_there = true;
    sinter_status st = SINTER_OK;

    sinter_text_init(env_of(self), &dir);
    sinter_text_init(env_of(self), &path);
    SINTER__TRY(sinter__table_dir(self->table, sinter__expiry_dir(self), &dir, err));
    for (int64_t id = self->end - 1; id >= self->begin; id--) {
        SINTER__TRY(sinter__number_path(
            &(sinter__numbered){env_of(self), dir.data, sinter__expiry_prefix(self)}, id, &path,
            err));
        SINTER__TRY(sinter__path_exists(env_of(self), path.data, &is_there, err));
        if (!is_there) {
            self->begin = id + 1;
        }
    }
out:
    sinter_text_fini(&path);
    sinter_text_fini(&dir);
    return st;
}
