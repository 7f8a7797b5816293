#include "table/write_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "compact/parse.h"
#include "format/columnar_abi.h"
#include "sinter/compact.h"

enum {
    KEY_ID_BASE = 1073741823,
    SEQUENCE_ID = 2147483646,
    KIND_ID = 2147483645,
    ZSTD_LEVEL_MAX = 22,
    ORC_LEVEL = 1, /* Arrow's only one */
    WORD_BYTES = 32
};

/* ---- texts ---- */

static bool
equal_words(const char *a, const char *b)
{
    size_t at = 0;

    while (b[at] != '\0' && (a[at] >= 'A' && a[at] <= 'Z' ? a[at] | 0x20 : a[at]) == b[at]) {
        at++;
    }
    return a[at] == '\0' && b[at] == '\0';
}

static sinter_status
cannot_honour(const char *key, const char *value, sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_UNSUPPORTED,
                       "option %s: files can't be written with \"%.60s\" by this version", key,
                       value);
}

static sinter_status
refuse(const char *key, const char *value, const char *wanted, sinter_error *err)
{
    return SINTER__ERR(err, SINTER_E_INVALID, "option %s: \"%.60s\" is no %s", key, value, wanted);
}

static sinter_status
load_bool(const sinter_schema *schema, const char *key, bool *out, sinter_error *err)
{
    const char *value = sinter_schema_option(schema, key);

    return value == NULL || sinter__parse_bool(value, out, NULL) == SINTER_OK
               ? SINTER_OK
               : refuse(key, value, "yes or no (true, false)", err);
}

static sinter_status
load_int(const sinter_schema *schema, const char *key, int64_t *out, sinter_error *err)
{
    const char *value = sinter_schema_option(schema, key);

    return value == NULL || sinter__parse_int(value, out, NULL) == SINTER_OK
               ? SINTER_OK
               : refuse(key, value, "whole number", err);
}

static sinter_status
load_bytes(const sinter_schema *schema, const char *key, uint64_t *out, sinter_error *err)
{
    const char *value = sinter_schema_option(schema, key);

    return value == NULL || (sinter_parse_bytes(value, out, NULL) == SINTER_OK && *out > 0)
               ? SINTER_OK
               : refuse(key, value, "number of bytes", err);
}

/* ---- codecs ---- */

/** A codec's name in options, and what it is in a format. */
typedef struct codec_word {
    const char *word;
    int32_t codec;
} codec_word;

static const codec_word avro_codecs[] = {
    {"zstd", SINTER__AVRO_CODEC_ZSTANDARD},    {"zstandard", SINTER__AVRO_CODEC_ZSTANDARD},
    {"deflate", SINTER__AVRO_CODEC_DEFLATE},   {"snappy", SINTER__AVRO_CODEC_SNAPPY},
    {"null", SINTER__AVRO_CODEC_NULL},         {"none", SINTER__AVRO_CODEC_NULL},
    {"uncompressed", SINTER__AVRO_CODEC_NULL}, {NULL, 0}};
static const codec_word parquet_codecs[] = {
    {"zstd", SINTER__COLUMNAR_ZSTD},         {"snappy", SINTER__COLUMNAR_SNAPPY},
    {"lz4", SINTER__COLUMNAR_LZ4},           {"lz4_raw", SINTER__COLUMNAR_LZ4},
    {"gzip", SINTER__COLUMNAR_GZIP},         {"none", SINTER__COLUMNAR_NONE},
    {"uncompressed", SINTER__COLUMNAR_NONE}, {NULL, 0}};
static const codec_word orc_codecs[] = {
    {"zstd", SINTER__COLUMNAR_ZSTD}, {"snappy", SINTER__COLUMNAR_SNAPPY},
    {"lz4", SINTER__COLUMNAR_LZ4},   {"zlib", SINTER__COLUMNAR_GZIP},
    {"none", SINTER__COLUMNAR_NONE}, {NULL, 0}};

static const codec_word sst_codecs[] = {
    {"zstd", SINTER_CODEC_ZSTD}, {"lz4", SINTER_CODEC_LZ4}, {"none", SINTER_CODEC_NONE}, {NULL, 0}};

/** What options say of the files of a format. */
typedef struct kind_words {
    const char *name;
    const codec_word *codecs;
    int32_t zstd;          /* among them */
    const char *codec_key; /* goes before file.compression */
    const char *level_key; /* goes before file.compression.zstd-level; NULL: there is none */
    const char *prefix;    /* of its options */
    /* Those that are honoured, or that change no file. */
    const char *keys[8];
} kind_words;

static const kind_words kinds[] = {
    [SINTER__FILE_AVRO] = {.name = "avro",
                           .codecs = avro_codecs,
                           .zstd = SINTER__AVRO_CODEC_ZSTANDARD,
                           .codec_key = "avro.codec",
                           .prefix = "avro.",
                           .keys = {"avro.codec"}},
    [SINTER__FILE_PARQUET] = {.name = "parquet",
                              .codecs = parquet_codecs,
                              .zstd = SINTER__COLUMNAR_ZSTD,
                              .codec_key = "parquet.compression",
                              .level_key = "parquet.compression.codec.zstd.level",
                              .prefix = "parquet.",
                              .keys = {"parquet.compression",
                                       "parquet.compression.codec.zstd.level", "parquet.block.size",
                                       "parquet.page.size", "parquet.enable.dictionary",
                                       "parquet.writer.version"}},
    [SINTER__FILE_ORC] = {.name = "orc",
                          .codecs = orc_codecs,
                          .zstd = SINTER__COLUMNAR_ZSTD,
                          .codec_key = "orc.compress",
                          .level_key = "orc.compression.zstd.level",
                          .prefix = "orc.",
                          .keys = {"orc.compress", "orc.compression.zstd.level", "orc.stripe.size",
                                   "orc.timestamp-ltz.legacy.type", "orc.write.batch-size"}},
    [SINTER__FILE_SST] = {.name = "sst",
                          .codecs = sst_codecs,
                          .zstd = SINTER_CODEC_ZSTD,
                          .codec_key = "sst.codec",
                          .prefix = "sst.",
                          .keys = {"sst.codec"}}};

static sinter_status
find_kind(const char *key, const char *value, sinter__file_kind *out, sinter_error *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (equal_words(value, kinds[i].name)) {
            *out = (sinter__file_kind)i;
            return SINTER_OK;
        }
    }
    return cannot_honour(key, value, err);
}

static sinter_status
find_codec(const char *key, const char *value, sinter__file_form *form, sinter_error *err)
{
    const codec_word *word = kinds[form->kind].codecs;

    while (word->word != NULL && !equal_words(value, word->word)) {
        word++;
    }
    if (word->word == NULL) {
        return cannot_honour(key, value, err);
    }
    form->codec = word->codec;
    return SINTER_OK;
}

static sinter_status
load_level(const sinter_schema *schema, sinter__file_form *form, sinter_error *err)
{
    const kind_words *words = &kinds[form->kind];
    const char *key = "file.compression.zstd-level";
    const char *value = NULL;
    int64_t level = 1;

    if (words->level_key != NULL && sinter_schema_option(schema, words->level_key) != NULL) {
        key = words->level_key;
    }
    if (form->codec != words->zstd) {
        return SINTER_OK;
    }
    value = sinter_schema_option(schema, key);
    SINTER__CHECK(load_int(schema, key, &level, err));
    if (level < 1 || level > ZSTD_LEVEL_MAX) {
        return refuse(key, value, "level of zstd (1 to 22)", err);
    }
    if (form->kind == SINTER__FILE_ORC && level != ORC_LEVEL) {
        return cannot_honour(key, value, err);
    }
    form->codec_level = (int32_t)level;
    return SINTER_OK;
}

/* ---- forms ---- */

/** Format and codec of some files as texts. */
typedef struct form_words {
    const char *format_key;
    const char *format;
    const char *codec_key;
    const char *codec;
} form_words;

/* Options of the format that this version doesn't know can't be honoured. */
static sinter_status
check_keys(const sinter_schema *schema, const kind_words *words, sinter_error *err)
{
    for (size_t i = 0; i < schema->option_count; i++) {
        const sinter_option *option = &schema->options[i];
        bool is_known = strncmp(option->key, words->prefix, strlen(words->prefix)) != 0;

        for (size_t k = 0; !is_known && words->keys[k] != NULL; k++) {
            is_known = strcmp(option->key, words->keys[k]) == 0;
        }
        if (!is_known) {
            return cannot_honour(option->key, option->value, err);
        }
    }
    return SINTER_OK;
}

static sinter_status
load_parquet(const sinter_schema *schema, sinter__file_form *form, sinter_error *err)
{
    const char *version = sinter_schema_option(schema, "parquet.writer.version");
    uint64_t page_bytes = 0;
    bool has_dictionary = true;

    SINTER__CHECK(load_bytes(schema, "parquet.block.size", &form->group_bytes, err));
    SINTER__CHECK(load_bytes(schema, "parquet.page.size", &page_bytes, err));
    SINTER__CHECK(load_bool(schema, "parquet.enable.dictionary", &has_dictionary, err));
    if (page_bytes > INT32_MAX) {
        return cannot_honour("parquet.page.size", sinter_schema_option(schema, "parquet.page.size"),
                             err);
    }
    if (version != NULL && !equal_words(version, "parquet_1_0") && !equal_words(version, "v1")) {
        return cannot_honour("parquet.writer.version", version, err);
    }
    form->page_bytes = (uint32_t)page_bytes;
    form->no_dictionary = !has_dictionary;
    return SINTER_OK;
}

static sinter_status
load_extension(sinter__write_plan *self, const char *codec, sinter__file_form *form,
               sinter_error *err)
{
    char text[WORD_BYTES];
    bool has_codec = false;

    SINTER__CHECK(load_bool(self->schema, "file.suffix.include.compression", &has_codec, err));
    (void)snprintf(text, sizeof text, "%s%.12s.%s", has_codec ? "." : "", has_codec ? codec : "",
                   form->name);
    return sinter__arena_strdup(&self->arena, text, &form->extension, err);
}

static sinter_status
load_form(sinter__write_plan *self, const form_words *words, sinter__file_form *out,
          sinter_error *err)
{
    const sinter_schema *schema = self->schema;
    const char *own_codec = NULL;

    *out = (sinter__file_form){.kind = SINTER__FILE_AVRO};
    SINTER__CHECK(find_kind(words->format_key, words->format, &out->kind, err));
    out->name = kinds[out->kind].name;
    SINTER__CHECK(check_keys(schema, &kinds[out->kind], err));
    own_codec = sinter_schema_option(schema, kinds[out->kind].codec_key);
    SINTER__CHECK(own_codec != NULL ? find_codec(kinds[out->kind].codec_key, own_codec, out, err)
                                    : find_codec(words->codec_key, words->codec, out, err));
    SINTER__CHECK(load_level(schema, out, err));
    if (out->kind == SINTER__FILE_PARQUET) {
        SINTER__CHECK(load_parquet(schema, out, err));
    }
    if (out->kind == SINTER__FILE_ORC) {
        SINTER__CHECK(load_bytes(schema, "orc.stripe.size", &out->group_bytes, err));
    }
    SINTER__CHECK(load_bytes(schema, "file.block-size", &out->group_bytes, err));
    return load_extension(self, words->codec, out, err);
}

/* ---- levels ---- */

static const char format_map[] = "file.format.per.level";
static const char codec_map[] = "file.compression.per.level";
static const char mode_map[] = "metadata.stats-mode.per.level";

/* The word that a map has for a level, copied; `*out` stays what it was without one. */
static sinter_status
find_in_map(sinter__write_plan *self, const char *key, int64_t level, const char **out,
            sinter_error *err)
{
    const char *text = sinter_schema_option(self->schema, key);
    sinter__map_entry entry;

    while (text != NULL && sinter__parse_map_entry(&text, &entry, NULL) == SINTER_OK) {
        if (entry.key == level) {
            char *word = NULL;

            SINTER__CHECK(
                sinter__arena_take(&self->arena, entry.value_size + 1, (void **)&word, err));
            memcpy(word, entry.value, entry.value_size);
            word[entry.value_size] = '\0';
            *out = word;
        }
    }
    return SINTER_OK;
}

/* Note the levels of a map, each once. */
static sinter_status
add_levels(sinter__write_plan *self, const char *key, sinter_error *err)
{
    const char *text = sinter_schema_option(self->schema, key);
    const char *at = text;
    sinter__map_entry entry;
    sinter_status st = SINTER_END;

    while (at != NULL && (st = sinter__parse_map_entry(&at, &entry, NULL)) == SINTER_OK) {
        size_t i = 0;

        while (i < self->level_count && self->levels[i].level != entry.key) {
            i++;
        }
        if (i == self->level_count) {
            self->levels[self->level_count++].level = entry.key;
        }
    }
    return st == SINTER_END ? SINTER_OK
                            : refuse(key, text, "map of levels (\"0:lz4, 5:zstd\")", err);
}

/* How many entries a map can have at most. */
static size_t
entries_max(const char *text)
{
    size_t count = text == NULL ? 0 : 1;

    for (; text != NULL && *text != '\0'; text++) {
        count += *text == ',' ? 1 : 0;
    }
    return count;
}

static sinter_status
load_forms(sinter__write_plan *self, sinter_error *err)
{
    const sinter_schema *schema = self->schema;
    const char *format = sinter_schema_option(schema, "file.format");
    const char *codec = sinter_schema_option(schema, "file.compression");
    const size_t most = entries_max(sinter_schema_option(schema, format_map)) +
                        entries_max(sinter_schema_option(schema, codec_map)) +
                        entries_max(sinter_schema_option(schema, mode_map));
    form_words words = {.format_key = "file.format",
                        .format = schema->version < 3 ? "orc" : "parquet",
                        .codec_key = "file.compression",
                        .codec = codec == NULL ? "zstd" : codec};

    words.format = format == NULL ? words.format : format;
    SINTER__CHECK(load_form(self, &words, &self->form, err));
    SINTER__CHECK(sinter__arena_take(&self->arena, (most + 1) * sizeof *self->levels,
                                     (void **)&self->levels, err));
    if (schema->primary_key_count > 0) { /* files without keys have no levels, Paimon says */
        SINTER__CHECK(add_levels(self, format_map, err));
        SINTER__CHECK(add_levels(self, codec_map, err));
        SINTER__CHECK(add_levels(self, mode_map, err));
    }
    for (size_t i = 0; i < self->level_count; i++) {
        form_words own = words;

        SINTER__CHECK(find_in_map(self, format_map, self->levels[i].level, &own.format, err));
        SINTER__CHECK(find_in_map(self, codec_map, self->levels[i].level, &own.codec, err));
        own.format_key = own.format == words.format ? words.format_key : format_map;
        own.codec_key = own.codec == words.codec ? words.codec_key : codec_map;
        SINTER__CHECK(load_form(self, &own, &self->levels[i].form, err));
    }
    return SINTER_OK;
}

/* ---- fields ---- */

static bool
is_partition_key(const sinter_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->partition_key_count; i++) {
        if (strcmp(schema->partition_keys[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static sinter_status
find_keys(sinter__write_plan *self, sinter_error *err)
{
    const sinter_schema *schema = self->schema;

    SINTER__CHECK(sinter__arena_take(&self->arena,
                                     (schema->primary_key_count + 1) * sizeof *self->keys,
                                     (void **)&self->keys, err));
    for (size_t i = 0; i < schema->primary_key_count; i++) {
        const size_t at = sinter_row_type_find(schema->row_type, schema->primary_keys[i]);

        if (at == SIZE_MAX) {
            return SINTER__ERR(err, SINTER_E_INVALID, "the table has no column \"%.100s\"",
                               schema->primary_keys[i]);
        }
        if (!is_partition_key(schema, schema->primary_keys[i])) {
            self->keys[self->key_count++] = at;
        }
    }
    return SINTER_OK;
}

static sinter_status
add_key_field(sinter__write_plan *self, size_t column, sinter_error *err)
{
    static const char prefix[] = "_KEY_";
    const sinter_row_type *type = self->schema->row_type;
    const char *name = sinter_row_type_column_name(type, column);
    sinter_field *field = &self->fields[self->field_count++];
    const size_t size = sizeof prefix + strlen(name);
    char *text = NULL;

    SINTER__CHECK(sinter__arena_take(&self->arena, size, (void **)&text, err));
    (void)snprintf(text, size, "%s%s", prefix, name);
    *field = (sinter_field){.name = text,
                            .id = KEY_ID_BASE + sinter_row_type_column_id(type, column),
                            .type = *sinter_row_type_column_type(type, column)};
    field->type.nullable = false;
    return SINTER_OK;
}

static sinter_status
make_fields(sinter__write_plan *self, sinter_error *err)
{
    static const sinter_field system[] = {
        {.name = "_SEQUENCE_NUMBER", .id = SEQUENCE_ID, .type = {.id = SINTER_TYPE_BIGINT}},
        {.name = "_VALUE_KIND", .id = KIND_ID, .type = {.id = SINTER_TYPE_TINYINT}}};
    const sinter_row_type *type = self->schema->row_type;
    const size_t columns = sinter_row_type_count(type);
    const size_t most = self->key_count + sizeof system / sizeof system[0] + columns;

    SINTER__CHECK(
        sinter__arena_take(&self->arena, most * sizeof *self->fields, (void **)&self->fields, err));
    for (size_t i = 0; self->has_key_fields && i < self->key_count; i++) {
        SINTER__CHECK(add_key_field(self, self->keys[i], err));
    }
    if (self->key_count > 0) {
        memcpy(&self->fields[self->field_count], system, sizeof system);
        self->field_count += sizeof system / sizeof system[0];
    }
    self->system_count = self->field_count;
    for (size_t i = 0; i < columns; i++) {
        self->fields[self->field_count++] =
            (sinter_field){.name = sinter_row_type_column_name(type, i),
                           .id = sinter_row_type_column_id(type, i),
                           .type = *sinter_row_type_column_type(type, i)};
    }
    return SINTER_OK;
}

/* ---- statistics ---- */

static bool
is_key(const sinter__write_plan *self, size_t column)
{
    for (size_t i = 0; i < self->key_count; i++) {
        if (self->keys[i] == column) {
            return true;
        }
    }
    return false;
}

/* A mode by its word, the value of an option; without one `*out` stays what it was. */
static sinter_status
load_mode(const char *key, const char *value, sinter__stats_mode *out, sinter_error *err)
{
    return value == NULL || sinter__stats_mode_parse(value, out, NULL) == SINTER_OK
               ? SINTER_OK
               : refuse(key, value, "mode of statistics (none, counts, truncate(LENGTH), full)",
                        err);
}

/* Whether a field of a file of this form is kept as those of keys are, whatever the table asks for:
 * Paimon counts itself what it writes to Avro, and makes no exception there. */
static bool
is_kept_as_key(const sinter__write_plan *self, const sinter__file_form *form, size_t index)
{
    if (form->kind == SINTER__FILE_AVRO || form->kind == SINTER__FILE_SST) {
        return false;
    }
    return index < self->system_count ||
           (!self->has_key_fields && is_key(self, index - self->system_count));
}

/* The mode of a field; `*mode` is that of most fields before. `*left`: of how many fields something
 * is still kept, those not counted that are kept as keys are; -1: of all. Source: table-layout.md
 * 7, and the order of these rules as Paimon 1.3.1 was seen to have it. */
static sinter_status
choose_mode(sinter__write_plan *self, const sinter__file_form *form, size_t index, int64_t *left,
            sinter__stats_mode *mode, sinter_error *err)
{
    static const sinter__stats_mode of_keys = {SINTER__STATS_TRUNCATE, SINTER__STATS_KEY_CHARS};
    const char *name = self->fields[index].name;
    const size_t size = strlen(name) + sizeof "fields..stats-mode";
    const char *own = NULL;
    char *key = NULL;

    SINTER__CHECK(sinter__arena_take(&self->arena, size, (void **)&key, err));
    (void)snprintf(key, size, "fields.%s.stats-mode", name);
    own = sinter_schema_option(self->schema, key);
    if (own == NULL && is_kept_as_key(self, form, index)) {
        *mode = of_keys;
        return SINTER_OK;
    }
    if (own == NULL && *left == 0) {
        *mode = (sinter__stats_mode){.kind = SINTER__STATS_NONE};
    }
    *left -= *left > 0 ? 1 : 0;
    return load_mode(key, own, mode, err);
}

/* The modes of the fields in files of a form; `usual` is that of other fields. */
static sinter_status
load_form_modes(sinter__write_plan *self, sinter__stats_mode usual, int64_t kept,
                sinter__file_form *form, sinter_error *err)
{
    sinter__stats_mode *modes = NULL;
    int64_t left = kept < 0 ? -1 : kept;

    SINTER__CHECK(sinter__arena_take(&self->arena, (self->field_count + 1) * sizeof *modes,
                                     (void **)&modes, err));
    for (size_t i = 0; i < self->field_count; i++) {
        modes[i] = usual;
        SINTER__CHECK(choose_mode(self, form, i, &left, &modes[i], err));
    }
    form->modes = modes;
    return SINTER_OK;
}

static sinter_status
load_modes(sinter__write_plan *self, sinter_error *err)
{
    static const char key[] = "metadata.stats-mode";
    sinter__stats_mode usual = {SINTER__STATS_TRUNCATE, 16};
    int64_t kept = -1;

    SINTER__CHECK(load_mode(key, sinter_schema_option(self->schema, key), &usual, err));
    SINTER__CHECK(load_int(self->schema, "metadata.stats-keep-first-n-columns", &kept, err));
    SINTER__CHECK(load_form_modes(self, usual, kept, &self->form, err));
    for (size_t i = 0; i < self->level_count; i++) {
        sinter__stats_mode own = usual;
        const char *word = NULL;

        SINTER__CHECK(find_in_map(self, mode_map, self->levels[i].level, &word, err));
        SINTER__CHECK(load_mode(mode_map, word, &own, err));
        SINTER__CHECK(load_form_modes(self, own, kept, &self->levels[i].form, err));
    }
    self->stats_dense = true;
    return load_bool(self->schema, "metadata.stats-dense-store", &self->stats_dense, err);
}

/* ---- plans ---- */

sinter_status
sinter__write_plan_init(sinter__write_plan *out, const sinter_schema *schema,
                        const sinter__table_options *options, sinter_error *err)
{
    const char *prefix = sinter_schema_option(schema, "data-file.prefix");
    bool is_thin = false;

    out->schema = schema;
    if (options->data_evolution) {
        return cannot_honour("data-evolution.enabled", "true", err);
    }
    if (options->row_tracking && (schema->primary_key_count > 0 || options->bucket != -1)) {
        return cannot_honour("row-tracking.enabled", "true", err); /* as Paimon */
    }
    SINTER__CHECK(sinter__external_paths_load(schema, &out->arena, &out->external, err));
    SINTER__CHECK(load_bool(schema, "data-file.thin-mode", &is_thin, err));
    SINTER__CHECK(load_forms(out, err));
    SINTER__CHECK(find_keys(out, err));
    out->has_key_fields = !is_thin && out->key_count > 0;
    SINTER__CHECK(make_fields(out, err));
    SINTER__CHECK(load_modes(out, err));
    SINTER__CHECK(sinter__file_index_plan_load(&out->arena, schema, &out->indexes, err));
    return sinter__arena_strdup(&out->arena, prefix == NULL ? "data-" : prefix, &out->file_prefix,
                                err);
}

void
sinter__write_plan_fini(sinter__write_plan *self)
{
    sinter__arena_fini(&self->arena);
}

const sinter__file_form *
sinter__write_plan_form(const sinter__write_plan *self, int32_t level)
{
    for (size_t i = 0; i < self->level_count; i++) {
        if (self->levels[i].level == level) {
            return &self->levels[i].form;
        }
    }
    return &self->form;
}
