#include "table/file_index_plan.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "compact/parse.h"
#include "sinter/compact.h"
#include "table/file_index_order.h"
#include "table/java_order.h"

enum {
    EMBED_BYTES = 500,
    BLOOM_ITEMS = 1000000,
    STRETCH_BYTES = 16 << 10,
    BITMAP_VERSION = 2,
    RANGE_DECIMAL_MAX = 18,  /* digits */
    RANGE_TIMESTAMP_MAX = 6, /* decimals of a second */
    PARTS = 3                /* of an option's key: kind, column, what is set */
};

static const char prefix[] = "file-index.";
static const char suffix[] = ".columns";
static const double bloom_fpp = 0.1;
static const char *const kind_names[] = {[SINTER__FILE_INDEX_BLOOM] = "bloom-filter",
                                         [SINTER__FILE_INDEX_BITMAP] = "bitmap",
                                         [SINTER__FILE_INDEX_BSI] = "bsi",
                                         [SINTER__FILE_INDEX_RANGE] = "range-bitmap"};

enum { KINDS = sizeof kind_names / sizeof kind_names[0] };

const char *
sinter__file_index_kind_name(sinter__file_index_kind kind)
{
    return kind_names[kind];
}

/** A stretch of an option's text. */
typedef struct stretch {
    const char *text;
    size_t size;
} stretch;

/** A plan that is being made. */
typedef struct loader {
    sinter__arena *arena;
    const sinter_schema *schema;
    sinter__file_index *items;
    size_t count;
    size_t capacity;
} loader;

static bool
is_text(stretch part, const char *text)
{
    return part.size == strlen(text) && memcmp(part.text, text, part.size) == 0;
}

static sinter_status
keep(loader *self, stretch part, const char **out, sinter_error *err)
{
    sinter_bytes bytes = {(const uint8_t *)part.text, part.size};
    char *text = NULL;

    SINTER__CHECK(sinter__arena_take(self->arena, bytes.size + 1, (void **)&text, err));
    memcpy(text, bytes.data, bytes.size);
    text[bytes.size] = '\0';
    *out = text;
    return SINTER_OK;
}

/* ---- what is indexed ---- */

/* The kind that `file-index.KIND.columns` names; false: it's no such option. */
static bool
find_kind(const char *key, stretch *out)
{
    const size_t around = sizeof prefix + sizeof suffix - 2;
    const size_t size = strlen(key);

    if (size < around || strncmp(key, prefix, sizeof prefix - 1) != 0 ||
        strcmp(key + size - (sizeof suffix - 1), suffix) != 0) {
        return false;
    }
    *out = (stretch){key + sizeof prefix - 1, size - around};
    return true;
}

static sinter_status
parse_kind(const sinter_option *option, stretch name, sinter__file_index_kind *out,
           sinter_error *err)
{
    for (int i = 0; i < KINDS; i++) {
        if (is_text(name, kind_names[i])) {
            *out = (sinter__file_index_kind)i;
            return SINTER_OK;
        }
    }
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                       "option %s = \"%.60s\": no file index of this kind can be written",
                       option->key, option->value);
}

/* Can values of the type be indexed? */
static bool
is_taken(sinter__file_index_kind kind, const sinter_type *type)
{
    const bool is_range = kind == SINTER__FILE_INDEX_RANGE;

    switch (type->id) {
    case SINTER_TYPE_TINYINT:
    case SINTER_TYPE_SMALLINT:
    case SINTER_TYPE_INT:
    case SINTER_TYPE_BIGINT:
    case SINTER_TYPE_DATE:
    case SINTER_TYPE_TIME:
        return true;
    case SINTER_TYPE_TIMESTAMP:
    case SINTER_TYPE_TIMESTAMP_LTZ:
        return !is_range || type->precision <= RANGE_TIMESTAMP_MAX;
    case SINTER_TYPE_BOOLEAN:
        return is_range || kind == SINTER__FILE_INDEX_BITMAP;
    case SINTER_TYPE_FLOAT:
    case SINTER_TYPE_DOUBLE:
    case SINTER_TYPE_CHAR:
    case SINTER_TYPE_VARCHAR:
        return kind != SINTER__FILE_INDEX_BSI;
    case SINTER_TYPE_BINARY:
    case SINTER_TYPE_VARBINARY:
        return kind == SINTER__FILE_INDEX_BLOOM;
    case SINTER_TYPE_DECIMAL:
        return kind == SINTER__FILE_INDEX_BSI || (is_range && type->precision <= RANGE_DECIMAL_MAX);
    default:
        return false;
    }
}

/* The values that are indexed: the column's, or those of a key of the MAP that it is. */
static sinter_status
find_type(const sinter_option *option, const sinter_type *column, sinter__file_index *index,
          sinter_error *err)
{
    char text[SINTER_TYPE_TEXT_MAX];

    index->type = *column;
    if (index->key != NULL) {
        if (column->id != SINTER_TYPE_MAP || column->parts == NULL ||
            (column->parts->fields[0].type.id != SINTER_TYPE_CHAR &&
             column->parts->fields[0].type.id != SINTER_TYPE_VARCHAR)) {
            return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                               "option %s: column %.60s is no MAP with keys of text", option->key,
                               index->name);
        }
        index->type = column->parts->fields[1].type;
    }
    if (is_taken(index->kind, &index->type)) {
        return SINTER_OK;
    }
    sinter_type_print(&index->type, text);
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                       "option %s: values of %.60s, which are %s, can't have such an index",
                       option->key, index->name, text);
}

static bool
is_there(const loader *self, const sinter__file_index *index)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->items[i].kind == index->kind && strcmp(self->items[i].name, index->name) == 0) {
            return true;
        }
    }
    return false;
}

/* Take "column" or "column[key]". */
static sinter_status
add_index(loader *self, const sinter_option *option, sinter__file_index_kind kind, stretch name,
          sinter_error *err)
{
    const char *bracket = memchr(name.text, '[', name.size);
    sinter__file_index index = {.kind = kind,
                                .items = BLOOM_ITEMS,
                                .fpp = bloom_fpp,
                                .version = BITMAP_VERSION,
                                .stretch_bytes = STRETCH_BYTES};

    SINTER__CHECK(keep(self, name, &index.name, err));
    index.column_name = index.name;
    if (bracket != NULL && name.text[name.size - 1] == ']') {
        const size_t before = (size_t)(bracket - name.text);

        SINTER__CHECK(keep(self, (stretch){name.text, before}, &index.column_name, err));
        SINTER__CHECK(keep(self, (stretch){bracket + 1, name.size - before - 2}, &index.key, err));
    }
    index.column = sinter_row_type_find(self->schema->row_type, index.column_name);
    if (index.column == SIZE_MAX) {
        return SINTER__ERR(err, SINTER_E_INVALID, "option %s: there is no column \"%.60s\"",
                           option->key, index.column_name);
    }
    if (is_there(self, &index)) {
        return SINTER_OK;
    }
    SINTER__CHECK(find_type(
        option, sinter_row_type_column_type(self->schema->row_type, index.column), &index, err));
    assert(self->count < self->capacity);
    self->items[self->count++] = index;
    return SINTER_OK;
}

/* Without what Java counts as white space. */
static stretch
trim(stretch part)
{
    while (part.size > 0 && (uint8_t)part.text[0] <= ' ') {
        part.text++;
        part.size--;
    }
    while (part.size > 0 && (uint8_t)part.text[part.size - 1] <= ' ') {
        part.size--;
    }
    return part;
}

static sinter_status
add_columns(loader *self, const sinter_option *option, stretch kind_name, sinter_error *err)
{
    const char *at = option->value;
    size_t left = strlen(at);
    sinter__file_index_kind kind = SINTER__FILE_INDEX_BLOOM;

    SINTER__CHECK(parse_kind(option, kind_name, &kind, err));
    while (left > 1 && at[left - 1] == ',') { /* names that are missing at the end don't count */
        left--;
    }
    for (bool is_last = false; !is_last;) {
        const char *comma = memchr(at, ',', left);
        const size_t size = comma == NULL ? left : (size_t)(comma - at);
        const stretch name = trim((stretch){at, size});

        if (name.size == 0) {
            return SINTER__ERR(err, SINTER_E_INVALID, "option %s: \"%.60s\" has an empty name",
                               option->key, option->value);
        }
        SINTER__CHECK(add_index(self, option, kind, name, err));
        is_last = comma == NULL;
        at += is_last ? size : size + 1;
        left -= is_last ? size : size + 1;
    }
    return SINTER_OK;
}

/* Room for all indexes that options name. */
static sinter_status
make_room(loader *self, sinter_error *err)
{
    stretch kind;

    for (size_t i = 0; i < self->schema->option_count; i++) {
        const sinter_option *option = &self->schema->options[i];

        if (find_kind(option->key, &kind)) {
            self->capacity++;
            for (const char *at = option->value; (at = strchr(at, ',')) != NULL; at++) {
                self->capacity++;
            }
        }
    }
    return sinter__arena_take(self->arena, (self->capacity + 1) * sizeof *self->items,
                              (void **)&self->items, err);
}

static uint32_t
slot_of(const loader *self, const sinter_option *option)
{
    /* The reference adds the table's path. */
    return sinter__java_slot(sinter__java_string_hash(option->key), self->schema->option_count + 1);
}

/* The option whose slot comes next behind `before`, which NULL begins; of those of one slot in
 * their order. NULL: there are no more. */
static const sinter_option *
next_option(const loader *self, const sinter_option *before)
{
    const sinter_option *found = NULL;
    stretch kind;

    for (size_t i = 0; i < self->schema->option_count; i++) {
        const sinter_option *option = &self->schema->options[i];
        const bool is_behind = before == NULL || slot_of(self, option) > slot_of(self, before) ||
                               (slot_of(self, option) == slot_of(self, before) && option > before);

        if (is_behind && find_kind(option->key, &kind) &&
            (found == NULL || slot_of(self, option) < slot_of(self, found))) {
            found = option;
        }
    }
    return found;
}

/* Options in the order in which the reference finds them. */
static sinter_status
load_columns(loader *self, sinter_error *err)
{
    const sinter_option *option = NULL;
    stretch kind = {NULL, 0};

    SINTER__CHECK(make_room(self, err));
    while ((option = next_option(self, option)) != NULL) {
        (void)find_kind(option->key, &kind);
        SINTER__CHECK(add_columns(self, option, kind, err));
    }
    return SINTER_OK;
}

/* ---- how ---- */

/* Cut "KIND.COLUMN.SETTING"; false: it isn't one. */
static bool
cut_key(const char *key, stretch out[PARTS])
{
    size_t count = 0;
    size_t size = strlen(key);

    if (strncmp(key, prefix, sizeof prefix - 1) != 0) {
        return false;
    }
    key += sizeof prefix - 1;
    size -= sizeof prefix - 1;
    while (size > 0 && key[size - 1] == '.') {
        size--;
    }
    while (count < PARTS) {
        const char *dot = memchr(key, '.', size);
        const size_t part = dot == NULL ? size : (size_t)(dot - key);

        out[count++] = (stretch){key, part};
        if (dot == NULL) {
            return count == PARTS;
        }
        key += part + 1;
        size -= part + 1;
    }
    return false;
}

static sinter_status
refuse_value(const sinter_option *option, const char *wanted, sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_INVALID, "option %s: \"%.60s\" is no %s", option->key,
                       option->value, wanted);
}

static sinter_status
set_bytes(const sinter_option *option, uint32_t *out, sinter_error *err)
{
    uint64_t bytes = 0;

    if (sinter_parse_bytes(option->value, &bytes, NULL) != SINTER_OK || bytes > INT32_MAX) {
        return refuse_value(option, "number of bytes below 2 GiB", err);
    }
    *out = (uint32_t)bytes;
    return SINTER_OK;
}

static sinter_status
set_whole(const sinter_option *option, int64_t max, int64_t *out, sinter_error *err)
{
    return sinter__parse_int(option->value, out, NULL) == SINTER_OK && *out >= 1 && *out <= max
               ? SINTER_OK
               : refuse_value(option, "whole number that goes here", err);
}

/* What isn't known changes nothing in the reference either. */
static sinter_status
set(sinter__file_index *index, stretch setting, const sinter_option *option, sinter_error *err)
{
    const sinter__file_index_kind kind = index->kind;
    int64_t number = 0;

    if (kind == SINTER__FILE_INDEX_BLOOM && is_text(setting, "items")) {
        SINTER__CHECK(set_whole(option, INT32_MAX, &number, err));
        index->items = (uint32_t)number;
    } else if (kind == SINTER__FILE_INDEX_BLOOM && is_text(setting, "fpp")) {
        if (sinter__parse_ratio(option->value, &index->fpp, NULL) != SINTER_OK || index->fpp <= 0 ||
            index->fpp >= 1) {
            return refuse_value(option, "ratio between 0 and 1", err);
        }
    } else if (kind == SINTER__FILE_INDEX_BITMAP && is_text(setting, "version")) {
        SINTER__CHECK(set_whole(option, BITMAP_VERSION, &number, err));
        index->version = (int32_t)number;
    } else if ((kind == SINTER__FILE_INDEX_BITMAP && is_text(setting, "index-block-size")) ||
               (kind == SINTER__FILE_INDEX_RANGE && is_text(setting, "chunk-size"))) {
        return set_bytes(option, &index->stretch_bytes, err);
    }
    return SINTER_OK;
}

/* Does an option for this kind and column mean the index? */
static bool
is_meant(const sinter__file_index *index, const stretch parts[PARTS])
{
    return is_text(parts[0], kind_names[index->kind]) &&
           (is_text(parts[1], index->name) || is_text(parts[1], index->column_name));
}

/* Set what an option says of the indexes that it names: those of the whole MAP for all of its keys
 * first, then those of one. */
static sinter_status
apply(loader *self, const sinter_option *option, bool is_whole, sinter_error *err)
{
    stretch parts[PARTS];
    bool is_found = false;

    if (find_kind(option->key, &parts[0]) || !cut_key(option->key, parts)) {
        return SINTER_OK;
    }
    for (size_t i = 0; i < self->count; i++) {
        sinter__file_index *index = &self->items[i];

        if (!is_meant(index, parts)) {
            continue;
        }
        is_found = true;
        if (is_text(parts[1], index->name) != is_whole) {
            SINTER__CHECK(set(index, parts[2], option, err));
        }
    }
    return is_found
               ? SINTER_OK
               : SINTER__ERR(err, SINTER_E_INVALID, "option %s = \"%.60s\": there is no such index",
                             option->key, option->value);
}

/* Chunks of short values have no room unless somebody asks for it. */
static void
set_defaults(loader *self)
{
    for (size_t i = 0; i < self->count; i++) {
        const int32_t type = self->items[i].type.id;

        if (self->items[i].kind == SINTER__FILE_INDEX_RANGE &&
            (type == SINTER_TYPE_BOOLEAN || type == SINTER_TYPE_TINYINT ||
             type == SINTER_TYPE_SMALLINT)) {
            self->items[i].stretch_bytes = 0;
        }
    }
}

sinter_status
sinter__file_index_plan_load(sinter__arena *arena, const sinter_schema *schema,
                             sinter__file_index_plan *out, sinter_error *err)
{
    static const char threshold[] = "file-index.in-manifest-threshold";
    const char *bytes = sinter_schema_option(schema, threshold);
    loader self = {.arena = arena, .schema = schema};

    *out = (sinter__file_index_plan){.embed_bytes = EMBED_BYTES};
    if (bytes != NULL && sinter_parse_bytes(bytes, &out->embed_bytes, NULL) != SINTER_OK) {
        return refuse_value(&(sinter_option){threshold, bytes}, "number of bytes", err);
    }
    SINTER__CHECK(load_columns(&self, err));
    set_defaults(&self);
    for (size_t i = 0; i < schema->option_count; i++) {
        SINTER__CHECK(apply(&self, &schema->options[i], true, err));
    }
    for (size_t i = 0; i < schema->option_count; i++) {
        SINTER__CHECK(apply(&self, &schema->options[i], false, err));
    }
    SINTER__CHECK(sinter__file_index_order(arena->env, self.items, self.count, err));
    out->items = self.items;
    out->count = self.count;
    return SINTER_OK;
}
