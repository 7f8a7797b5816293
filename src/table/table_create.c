/*
 * A new table: its first schema, checked, numbered and published under a name that nobody else can
 * take as well.
 */
#include "sinter/table_create.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/env.h"
#include "base/fail.h"
#include "base/load.h"
#include "doc/text.h"
#include "doc/type_parts.h"
#include "format/columnar.h"
#include "sinter/io.h"
#include "table/make_dirs.h"
#include "table/numbered.h"
#include "table/schema.h"
#include "table/schema_check.h"
#include "table/table.h"

/* What is written. */
typedef struct creation {
    const sinter_env *env;
    sinter__arena arena;
    sinter_schema schema;
    sinter_row_type *row_type; /* the schema's */
    sinter_text text;
    sinter_text dir; /* of schemas */
    sinter_text path;
    size_t kept; /* of the directory's path: what was there before */
    bool has_dir;
} creation;

/* ---- what is given, as it is kept ---- */

/* A list of names and an option that may stand for it. */
typedef struct key_list {
    const char *option;
    const char *const *names;
    size_t count;
} key_list;

static sinter_status
take_keys(creation *self, const sinter_schema *given, key_list *keys, sinter_error *err)
{
    const char *at = sinter_schema_option(given, keys->option);
    const char **names = NULL;
    size_t count = 1;
    sinter_bytes name;

    if (at == NULL) {
        return SINTER_OK;
    }
    if (keys->count > 0) {
        return SINTER__ERR(err, SINTER_E_INVALID,
                           "option %s: these columns are named outside the options too",
                           keys->option);
    }
    for (const char *comma = strchr(at, ','); comma != NULL; comma = strchr(comma + 1, ',')) {
        count++;
    }
    SINTER__CHECK(sinter__arena_take(&self->arena, count * sizeof *names, (void **)&names, err));
    while (sinter__name_list_next(&at, &name)) {
        char *copy = NULL;

        SINTER__CHECK(sinter__arena_take(&self->arena, name.size + 1, (void **)&copy, err));
        memcpy(copy, name.data, name.size);
        copy[name.size] = '\0';
        names[keys->count++] = copy;
    }
    keys->names = names;
    return SINTER_OK;
}

static bool
is_same_option(const sinter_option *a, const char *key)
{
    return strcmp(a->key, key) == 0;
}

/* Options without those that stand for keys, and with the format if it isn't Paimon's default. */
static sinter_status
take_options(creation *self, const sinter_schema *given, const key_list *keys, sinter_error *err)
{
    sinter__columnar columnar;
    sinter_option *options = NULL;
    size_t count = 0;

    SINTER__CHECK(sinter__arena_take(&self->arena, (given->option_count + 1) * sizeof *options,
                                     (void **)&options, err));
    for (size_t i = 0; i < given->option_count; i++) {
        const sinter_option *option = &given->options[i];

        SINTER__REQUIRE(err, option->key != NULL && option->value != NULL);
        for (size_t k = 0; k < count; k++) {
            if (is_same_option(&options[k], option->key)) {
                return SINTER__ERR(err, SINTER_E_INVALID, "option %.100s is given twice",
                                   option->key);
            }
        }
        if (!is_same_option(option, keys[0].option) && !is_same_option(option, keys[1].option)) {
            options[count++] = *option;
        }
    }
    if (sinter_schema_option(given, "file.format") == NULL &&
        sinter__columnar_load(self->env, &columnar, NULL) != SINTER_OK) {
        options[count++] = (sinter_option){.key = "file.format", .value = "avro"};
    }
    self->schema.options = options;
    self->schema.option_count = count;
    return SINTER_OK;
}

static bool
is_in(const key_list *keys, const char *name)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The row type with its keys, which are NOT NULL. */
static sinter_status
take_columns(creation *self, const sinter_row_type *given, const key_list *primary,
             sinter_error *err)
{
    const size_t count = sinter_row_type_count(given);
    sinter_type_parts parts = {.count = count};
    sinter_type type = {.id = SINTER_TYPE_ROW, .parts = &parts};
    sinter_field *fields = NULL;

    SINTER__CHECK(sinter__arena_take(&self->arena, count * sizeof *fields, (void **)&fields, err));
    for (size_t i = 0; i < count; i++) {
        fields[i] = sinter_row_type_fields(given)[i];
        if (is_in(primary, fields[i].name)) {
            fields[i].type.nullable = false;
        }
    }
    parts.fields = fields;
    SINTER__CHECK(sinter_row_type_of_type(self->env, &type, primary->names, primary->count,
                                          &self->row_type, err));
    self->schema.row_type = self->row_type;
    self->schema.highest_field_id =
        sinter__fields_highest_id(sinter_row_type_fields(self->row_type), count);
    return SINTER_OK;
}

static sinter_status
take_schema(creation *self, const sinter_schema *given, sinter_error *err)
{
    key_list keys[] = {
        {"primary-key", given->primary_keys, given->primary_key_count},
        {"partition", given->partition_keys, given->partition_key_count},
    };

    SINTER__CHECK(take_keys(self, given, &keys[0], err));
    SINTER__CHECK(take_keys(self, given, &keys[1], err));
    SINTER__CHECK(take_options(self, given, keys, err));
    SINTER__CHECK(take_columns(self, given->row_type, &keys[0], err));
    self->schema.primary_keys = keys[0].names;
    self->schema.primary_key_count = keys[0].count;
    self->schema.partition_keys = keys[1].names;
    self->schema.partition_key_count = keys[1].count;
    self->schema.comment = given->comment;
    self->schema.time_ms = sinter__now_ms(self->env);
    return sinter__schema_check(self->env, &self->schema, err);
}

/* ---- the file ---- */

static void
put_names(sinter__doc_writer *writer, json_t *root, const char *member, const char *const *names,
          size_t count)
{
    json_t *array = sinter__doc_put_array(writer, root, member);

    for (size_t i = 0; i < count; i++) {
        sinter__doc_append_string(writer, array, names[i]);
    }
}

static sinter_status
print_schema(creation *self, sinter_error *err)
{
    const sinter_schema *schema = &self->schema;
    const sinter_field *fields = sinter_row_type_fields(schema->row_type);
    sinter__doc_writer writer;
    json_t *root = NULL;
    json_t *child = NULL;

    sinter__doc_writer_init(&writer);
    root = sinter__doc_new_object(&writer);
    sinter__doc_put_integer(&writer, root, "version", schema->version);
    sinter__doc_put_integer(&writer, root, "id", schema->id);
    child = sinter__doc_put_array(&writer, root, "fields");
    for (size_t i = 0; i < sinter_row_type_count(schema->row_type); i++) {
        sinter__field_put_json(&writer, sinter__doc_append_object(&writer, child), &fields[i],
                               NULL);
    }
    sinter__doc_put_integer(&writer, root, "highestFieldId", schema->highest_field_id);
    put_names(&writer, root, "partitionKeys", schema->partition_keys, schema->partition_key_count);
    put_names(&writer, root, "primaryKeys", schema->primary_keys, schema->primary_key_count);
    child = sinter__doc_put_object(&writer, root, "options");
    for (size_t i = 0; i < schema->option_count; i++) {
        sinter__doc_put_string(&writer, child, schema->options[i].key, schema->options[i].value);
    }
    if (schema->comment != NULL) {
        sinter__doc_put_string(&writer, root, "comment", schema->comment);
    }
    sinter__doc_put_integer(&writer, root, "timeMillis", schema->time_ms);
    return sinter__doc_writer_end(&writer, root, SINTER_PRINT_PRETTY, &self->text, err);
}

/* Give the schema its name; once that is done, a failure takes it back. */
static sinter_status
publish(creation *self, sinter_io_file *file, sinter_error *err)
{
    sinter_io *io = self->env->io;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(file->ops->append(file, self->text.data, self->text.size, err));
    SINTER__CHECK(file->ops->sync(file, err));
    st = file->ops->publish(file, self->path.data, err);
    if (st != SINTER_OK) {
        return st;
    }
    st = io->ops->sync_dir(io, self->dir.data, err);
    if (st != SINTER_OK) {
        (void)io->ops->unlink(io, self->path.data, NULL);
    }
    return st;
}

static sinter_status
write_schema(creation *self, sinter_error *err)
{
    const sinter__numbered schemas = {self->env, self->dir.data, "schema-"};
    sinter__numbers ids = {0};
    sinter_io_file *file = NULL;
    sinter_status st = SINTER_OK;

    SINTER__TRY(sinter__numbers_list(&schemas, &ids, err));
    SINTER__TRY(sinter__number_path(&schemas, self->schema.id, &self->path, err));
    if (ids.count > 0) {
        SINTER__FAIL_AT(err, SINTER_E_EXISTS, self->dir.data, -1, "there is a table already");
    }
    SINTER__TRY(sinter__dirs_make(self->env, self->dir.data, &self->kept, err));
    self->has_dir = true;
    SINTER__TRY(self->env->io->ops->create(self->env->io, self->dir.data, 0, &file, err));
    SINTER__TRY(publish(self, file, err));
out:
    if (file != NULL) {
        file->ops->close(file);
    }
    sinter__numbers_fini(self->env, &ids);
    return st;
}

static sinter_status
find_dir(creation *self, const char *uri, sinter_error *err)
{
    const char *path = NULL;
    size_t size = 0;

    SINTER__CHECK(sinter__local_path(uri, &path, err));
    size = strlen(path);
    while (size > 1 && path[size - 1] == '/') {
        size--;
    }
    SINTER__CHECK(sinter_text_append(&self->dir, path, size, err));
    return sinter__text_puts(&self->dir, path[0] == '/' && size == 1 ? "schema" : "/schema", err);
}

sinter_status
sinter_table_create(const sinter_env *env, const sinter_table_config *given,
                    const sinter_schema *schema, sinter_error *err)
{
    sinter_table_config config = {.struct_size = (uint32_t)sizeof config};
    creation self = {
        .env = env,
        .schema = {.struct_size = (uint32_t)sizeof self.schema, .version = SINTER__SCHEMA_VERSION}};
    sinter_status st = SINTER_OK;

    SINTER__REQUIRE(err, env != NULL && env->io != NULL && given != NULL && schema != NULL);
    SINTER__CHECK(sinter__struct_load(&config, sizeof config, given, "sinter_table_config", err));
    SINTER__REQUIRE(err, config.path != NULL && config.path[0] != '\0');
    SINTER__REQUIRE(err, config.branch == NULL && schema->row_type != NULL);
    self.arena.env = env;
    sinter_text_init(env, &self.text);
    sinter_text_init(env, &self.dir);
    sinter_text_init(env, &self.path);
    SINTER__TRY(find_dir(&self, config.path, err));
    SINTER__TRY(take_schema(&self, schema, err));
    SINTER__TRY(print_schema(&self, err));
    SINTER__TRY(write_schema(&self, err));
out:
    if (st != SINTER_OK && self.has_dir) {
        (void)sinter__dirs_undo(env, self.dir.data, self.kept);
    }
    sinter_row_type_destroy(self.row_type);
    sinter_text_fini(&self.path);
    sinter_text_fini(&self.dir);
    sinter_text_fini(&self.text);
    sinter__arena_fini(&self.arena);
    return st;
}
