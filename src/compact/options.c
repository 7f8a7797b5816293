/*
 * Options by their Paimon keys. Everything here is made from options.def.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/load.h"
#include "compact/parse.h"
#include "sinter/compact.h"

typedef enum option_type {
    TYPE_BYTES,
    TYPE_BYTES32,
    TYPE_ROWS,
    TYPE_COUNT,
    TYPE_LEVEL,
    TYPE_DURATION,
    TYPE_BOOL,
    TYPE_RATIO,
    TYPE_SORT_ENGINE,
    TYPE_MERGE_ENGINE,
    TYPE_CODEC,
    TYPE_LOOKUP_COMPACT,
    TYPE_LEVEL_CODECS
} option_type;

typedef struct option {
    const char *key;
    size_t offset; /* of the field in sinter_compact_options */
    option_type type;
    const char *default_text;
    int64_t min;
    int64_t max;
    const char *range_text;
    const char *text;
} option;

static_assert(SINTER_BLOCK_OPTION_BYTES_MAX == 1073741824, "options.def has the number");

static const option options_known[] = {
#define SINTER__OPTION(key, field, type, default_text, min, max, text) \
    {key,                                                              \
     offsetof(sinter_compact_options, field),                          \
     TYPE_##type,                                                      \
     default_text,                                                     \
     (int64_t)(min),                                                   \
     (int64_t)(max),                                                   \
     #min ".." #max,                                                   \
     text},
#define SINTER__FOREIGN_OPTION(key, neutral)
#include "compact/options.def"
#undef SINTER__FOREIGN_OPTION
#undef SINTER__OPTION
};

/** A key of Paimon's that this version doesn't implement. */
typedef struct foreign_option {
    const char *key;
    const char *neutral; /* value that asks for nothing; NULL: none does */
} foreign_option;

static const foreign_option options_foreign[] = {
#define SINTER__OPTION(key, field, type, default_text, min, max, text)
#define SINTER__FOREIGN_OPTION(key, neutral) {key, neutral},
#include "compact/options.def"
#undef SINTER__FOREIGN_OPTION
#undef SINTER__OPTION
};

enum {
    KNOWN_COUNT = sizeof options_known / sizeof options_known[0],
    FOREIGN_COUNT = sizeof options_foreign / sizeof options_foreign[0],
    CHOICES_MAX = 4
};

/** Values of a choice: the position is the number. */
typedef struct choice {
    const char *names[CHOICES_MAX];
    const char *names_foreign[CHOICES_MAX]; /* Paimon has them, this version doesn't */
    const char *range_text;
} choice;

static const choice choice_sort_engine = {
    {"loser-tree", "min-heap"}, {NULL}, "loser-tree, min-heap"};
static const choice choice_merge_engine = {
    {"deduplicate", "first-row"}, {"partial-update", "aggregation"}, "deduplicate, first-row"};
static const choice choice_codec = {
    {"none", "lz4", "zstd"}, {"snappy", "gzip", "lzo"}, "none, lz4, zstd"};
static const choice choice_lookup_compact = {{"radical", "gentle"}, {NULL}, "radical, gentle"};

static const choice *
choice_of(option_type type)
{
    switch (type) {
    case TYPE_SORT_ENGINE:
        return &choice_sort_engine;
    case TYPE_MERGE_ENGINE:
        return &choice_merge_engine;
    case TYPE_CODEC:
        return &choice_codec;
    case TYPE_LOOKUP_COMPACT:
        return &choice_lookup_compact;
    default:
        return NULL;
    }
}

static void *
field_of(sinter_compact_options *options, const option *o)
{
    return (uint8_t *)options + o->offset;
}

static bool
names_have(const char *const *names, const char *text, int32_t *position_out)
{
    for (int32_t i = 0; i < CHOICES_MAX && names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *position_out = i;
            return true;
        }
    }
    return false;
}

static sinter_status
set_choice(const option *o, int32_t *field, const char *value, sinter_error *err)
{
    const choice *c = choice_of(o->type);
    int32_t position = 0;

    assert(c != NULL);
    if (names_have(c->names, value, &position)) {
        *field = position;
        return SINTER_OK;
    }
    if (names_have(c->names_foreign, value, &position)) {
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED, "%s: %s is not supported, only %s", o->key,
                           value, c->range_text);
    }
    return SINTER__ERR(err, SINTER_E_INVALID, "%s: \"%.64s\" is none of %s", o->key, value,
                       c->range_text);
}

static sinter_status
check_range(const option *o, int64_t value, sinter_error *err)
{
    if (value < o->min || value > o->max) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%s: %lld is outside of %lld..%lld", o->key,
                           (long long)value, (long long)o->min, (long long)o->max);
    }
    return SINTER_OK;
}

/* Read a number in the unit of its field, at most 2^63 - 1. */
static sinter_status
parse_number(const option *o, const char *value, int64_t *out, sinter_error *err)
{
    uint64_t bytes = 0;
    sinter_status st = SINTER_OK;

    switch (o->type) {
    case TYPE_BYTES:
    case TYPE_BYTES32:
        st = sinter_parse_bytes(value, &bytes, err);
        *out = (int64_t)bytes;
        break;
    case TYPE_DURATION:
        st = sinter__parse_duration(value, out, err);
        break;
    default:
        st = sinter__parse_int(value, out, err);
        break;
    }
    return st;
}

static bool
is_wide(option_type type)
{
    return type == TYPE_BYTES || type == TYPE_ROWS || type == TYPE_DURATION;
}

static sinter_status
set_number(const option *o, void *field, const char *value, sinter_error *err)
{
    int64_t number = 0;

    if (parse_number(o, value, &number, err) != SINTER_OK) {
        sinter__fail_context(err, "%s", o->key);
        return SINTER_E_INVALID;
    }
    SINTER__CHECK(check_range(o, number, err));
    assert(is_wide(o->type) || o->max <= UINT32_MAX);
    assert(o->type == TYPE_LEVEL || number >= 0);
    if (is_wide(o->type)) {
        *(uint64_t *)field = (uint64_t)number;
    } else if (o->type == TYPE_LEVEL) {
        *(int32_t *)field = (int32_t)number;
    } else {
        *(uint32_t *)field = (uint32_t)number;
    }
    return SINTER_OK;
}

static sinter_status
set_ratio(const option *o, double *field, const char *value, sinter_error *err)
{
    double ratio = 0;

    if (sinter__parse_ratio(value, &ratio, err) != SINTER_OK) {
        sinter__fail_context(err, "%s", o->key);
        return SINTER_E_INVALID;
    }
    if (ratio < (double)o->min || ratio > (double)o->max) {
        return SINTER__ERR(err, SINTER_E_INVALID, "%s: %.64s is outside of %s", o->key, value,
                           o->range_text);
    }
    *field = ratio;
    return SINTER_OK;
}

static sinter_status
set_bool(const option *o, bool *field, const char *value, sinter_error *err)
{
    const sinter_status st = sinter__parse_bool(value, field, err);

    if (st != SINTER_OK) {
        sinter__fail_context(err, "%s", o->key);
    }
    return st;
}

/* A map of levels to codecs; levels that it doesn't name have none of their own. */
static sinter_status
set_level_codecs(const option *o, uint8_t *field, const char *value, sinter_error *err)
{
    uint8_t codecs[SINTER_LEVELS_WITH_CODEC] = {0};
    const option as_codec = {.key = o->key, .type = TYPE_CODEC};
    sinter__map_entry entry;
    sinter_status st = SINTER_OK;

    while ((st = sinter__parse_map_entry(&value, &entry, err)) == SINTER_OK) {
        char name[16] = {0};
        int32_t codec = 0;

        if (entry.key >= SINTER_LEVELS_WITH_CODEC) {
            return check_range(o, entry.key, err);
        }
        memcpy(name, entry.value,
               entry.value_size < sizeof name ? entry.value_size : sizeof name - 1);
        SINTER__CHECK(set_choice(&as_codec, &codec, name, err));
        codecs[entry.key] = (uint8_t)(codec + 1);
    }
    if (st != SINTER_END) {
        sinter__fail_context(err, "%s", o->key);
        return SINTER_E_INVALID;
    }
    memcpy(field, codecs, sizeof codecs);
    return SINTER_OK;
}

static sinter_status
set_option(sinter_compact_options *options, const option *o, const char *value, sinter_error *err)
{
    void *field = field_of(options, o);

    assert(o->offset < sizeof *options);
    switch (o->type) {
    case TYPE_BOOL:
        return set_bool(o, field, value, err);
    case TYPE_RATIO:
        return set_ratio(o, field, value, err);
    case TYPE_SORT_ENGINE:
    case TYPE_MERGE_ENGINE:
    case TYPE_CODEC:
    case TYPE_LOOKUP_COMPACT:
        return set_choice(o, field, value, err);
    case TYPE_LEVEL_CODECS:
        return set_level_codecs(o, field, value, err);
    default:
        return set_number(o, field, value, err);
    }
}

void
sinter_compact_options_init(sinter_compact_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = (uint32_t)sizeof *options;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        const option *o = &options_known[i];

        if (o->default_text[0] != '\0') {
            const sinter_status st = set_option(options, o, o->default_text, NULL);

            assert(st == SINTER_OK);
            (void)st;
        }
    }
}

enum { KEY_CHARS_MAX = 80 };

static unsigned
smallest(unsigned a, unsigned b, unsigned c)
{
    const unsigned ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Edit distance of two keys of at most KEY_CHARS_MAX characters. */
static unsigned
key_distance(const char *a, const char *b)
{
    const size_t width = strlen(b);
    unsigned row[KEY_CHARS_MAX + 1];

    assert(width <= KEY_CHARS_MAX);
    assert(strlen(a) <= KEY_CHARS_MAX);
    for (size_t j = 0; j <= width; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= width; j++) {
            const unsigned above = row[j];

            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[width];
}

static const char *
nearest_key(const char *key)
{
    const char *nearest = options_known[0].key;
    unsigned best = UINT32_MAX;

    for (size_t i = 0; i < KNOWN_COUNT + FOREIGN_COUNT; i++) {
        const char *known =
            i < KNOWN_COUNT ? options_known[i].key : options_foreign[i - KNOWN_COUNT].key;
        const unsigned distance = key_distance(known, key);

        if (distance < best) {
            best = distance;
            nearest = known;
        }
    }
    return nearest;
}

static sinter_status
refuse_key(const char *key, const char *value, sinter_error *err)
{
    for (size_t i = 0; i < FOREIGN_COUNT; i++) {
        const foreign_option *o = &options_foreign[i];

        if (strcmp(o->key, key) != 0) {
            continue;
        }
        if (o->neutral != NULL && strcmp(o->neutral, value) == 0) {
            return SINTER_OK;
        }
        return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                           "option \"%s\" = \"%.64s\" is not supported by this version", key,
                           value);
    }
    if (strlen(key) > KEY_CHARS_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "unknown option \"%.80s...\"", key);
    }
    return SINTER__ERR(err, SINTER_E_INVALID, "unknown option \"%s\"; did you mean \"%s\"?", key,
                       nearest_key(key));
}

sinter_status
sinter_compact_options_set(sinter_compact_options *options, const char *key, const char *value,
                           sinter_error *err)
{
    SINTER__REQUIRE(err, options != NULL && key != NULL && value != NULL);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (strcmp(options_known[i].key, key) == 0) {
            return set_option(options, &options_known[i], value, err);
        }
    }
    return refuse_key(key, value, err);
}

static const char *
type_name(option_type type)
{
    switch (type) {
    case TYPE_BYTES:
    case TYPE_BYTES32:
        return "bytes";
    case TYPE_ROWS:
    case TYPE_COUNT:
    case TYPE_LEVEL:
        return "int";
    case TYPE_DURATION:
        return "duration";
    case TYPE_BOOL:
        return "bool";
    case TYPE_RATIO:
        return "double";
    case TYPE_LEVEL_CODECS:
        return "map";
    default:
        return "enum";
    }
}

static const char *
range_text(const option *o)
{
    const choice *c = choice_of(o->type);

    if (c != NULL) {
        return c->range_text;
    }
    if (o->type == TYPE_BOOL) {
        return "true, false";
    }
    if (o->type == TYPE_DURATION) {
        return "1 ms..";
    }
    if (o->type == TYPE_LEVEL_CODECS) {
        return "levels 0..31: none, lz4, zstd";
    }
    return o->range_text;
}

bool
sinter_compact_option_info(size_t index, sinter_option_info *out)
{
    sinter_option_info info;

    if (index >= KNOWN_COUNT) {
        return false;
    }
    info = (sinter_option_info){
        .struct_size = (uint32_t)sizeof info,
        .key = options_known[index].key,
        .type = type_name(options_known[index].type),
        .default_text = options_known[index].default_text,
        .range_text = range_text(&options_known[index]),
        .text = options_known[index].text,
    };
    sinter__struct_store(out, &info, sizeof info);
    return true;
}

static sinter_status
check_level_codecs(const option *o, const uint8_t *codecs, sinter_error *err)
{
    for (int level = 0; level < SINTER_LEVELS_WITH_CODEC; level++) {
        if (codecs[level] > SINTER_CODEC_ZSTD + 1) {
            return SINTER__ERR(err, SINTER_E_INVALID, "%s: level %d has the unknown codec %d",
                               o->key, level, codecs[level] - 1);
        }
    }
    return SINTER_OK;
}

/* A field as a number; of a bool and a ratio nothing but its own check makes sense. */
static sinter_status
check_field(const sinter_compact_options *options, const option *o, sinter_error *err)
{
    const void *field = (const uint8_t *)options + o->offset;
    int64_t value = 0;

    switch (o->type) {
    case TYPE_BOOL:
        return SINTER_OK;
    case TYPE_LEVEL_CODECS:
        return check_level_codecs(o, field, err);
    case TYPE_RATIO:
        if (!(*(const double *)field >= (double)o->min &&
              *(const double *)field <= (double)o->max)) {
            return SINTER__ERR(err, SINTER_E_INVALID, "%s: %g is outside of %s", o->key,
                               *(const double *)field, o->range_text);
        }
        return SINTER_OK;
    case TYPE_BYTES:
    case TYPE_ROWS:
    case TYPE_DURATION:
        if (*(const uint64_t *)field > (uint64_t)INT64_MAX) {
            return SINTER__ERR(err, SINTER_E_INVALID, "%s: more than 2^63 - 1", o->key);
        }
        value = (int64_t) * (const uint64_t *)field;
        break;
    case TYPE_BYTES32:
    case TYPE_COUNT:
        value = *(const uint32_t *)field;
        break;
    default:
        value = *(const int32_t *)field;
        break;
    }
    if (value == 0 && o->default_text[0] == '\0') {
        return SINTER_OK; /* unset */
    }
    return check_range(o, value, err);
}

/* Values that are fine by themselves and can't both be meant. */
static sinter_status
check_contradictions(const sinter_compact_options *options, sinter_error *err)
{
    if ((options->offpeak_start_hour == -1) != (options->offpeak_end_hour == -1)) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "compaction.offpeak.start.hour is %d and compaction.offpeak.end.hour is "
                           "%d: set both or none",
                           options->offpeak_start_hour, options->offpeak_end_hour);
    }
    if (options->write_only && options->commit_force_compact) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "write-only never compacts and commit.force-compact waits for a "
                           "compaction: set one of them");
    }
    if (options->write_only && options->full_delta_commits > 0) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "write-only never compacts and full-compaction.delta-commits asks for a "
                           "full compaction: set one of them");
    }
    return SINTER_OK;
}

sinter_status
sinter_compact_options_check(const sinter_compact_options *options, sinter_error *err)
{
    SINTER__REQUIRE(err, options != NULL);
    SINTER__REQUIRE(err, options->struct_size == sizeof *options);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        SINTER__CHECK(check_field(options, &options_known[i], err));
    }
    return check_contradictions(options, err);
}

int32_t
sinter_compact_codec_of_level(const sinter_compact_options *options, int32_t level)
{
    assert(level >= 0);
    if (level >= SINTER_LEVELS_WITH_CODEC || options->codec_of_level[level] == 0) {
        return options->codec;
    }
    return options->codec_of_level[level] - 1;
}

static uint32_t
add_saturated(uint32_t a, uint32_t b)
{
    return a > (uint32_t)INT32_MAX - b ? (uint32_t)INT32_MAX : a + b;
}

uint64_t
sinter_compact_small_file_bytes(const sinter_compact_options *options)
{
    return (uint64_t)((double)options->target_file_bytes * options->small_file_ratio);
}

uint32_t
sinter_compact_stop_trigger(const sinter_compact_options *options)
{
    const uint32_t trigger = options->num_sorted_run_trigger;
    const uint32_t stop = options->num_sorted_run_stop == 0 ? add_saturated(trigger, 3)
                                                            : options->num_sorted_run_stop;

    return stop < trigger ? trigger : stop;
}

uint32_t
sinter_compact_num_levels(const sinter_compact_options *options)
{
    return options->num_levels == 0 ? add_saturated(options->num_sorted_run_trigger, 1)
                                    : options->num_levels;
}

uint32_t
sinter_compact_spill_threshold(const sinter_compact_options *options)
{
    return options->sort_spill_threshold == 0
               ? add_saturated(sinter_compact_stop_trigger(options), 1)
               : options->sort_spill_threshold;
}

uint32_t
sinter_compact_lookup_max_interval(const sinter_compact_options *options)
{
    const uint32_t trigger = options->num_sorted_run_trigger;
    const uint32_t interval = options->lookup_max_interval == 0 ? add_saturated(trigger, trigger)
                                                                : options->lookup_max_interval;

    return interval < trigger ? trigger : interval;
}

bool
sinter_compact_needs_lookup(const sinter_compact_options *options)
{
    return options->force_lookup || options->merge_engine == SINTER_MERGE_ENGINE_FIRST_ROW;
}
