#include "table/carried.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest_bed.h"
#include "support/fault_alloc.h"

TestSuite(table_carried, .timeout = 60);

#define FILE_FIELD ",{\"name\":\"_NEW\",\"type\":[\"null\",\"long\"],\"default\":null}"
#define ROOT_FIELD                                                                                \
    ",{\"name\":\"_MORE\",\"type\":[{\"type\":\"record\",\"name\":\"record__MORE\",\"fields\":[{" \
    "\"name\":\"x\",\"type\":\"string\"}]},\"null\"]}"

enum { ENTRIES = 3, TEXT_BYTES = 8000 };

/* A schema of a newer version: fields behind those of _FILE, and behind those of the root. */
static void
newer_schema(const avro_bed *bed, const char *file_field, const char *root_field, char *out)
{
    static const char end[] = "]}}]}";
    bed_content content;
    size_t size = 0;

    bed_put_sample(bed, "manifest-0");
    content = bed_content_of(&bed->env, "manifest-0");
    size = strlen(content.schema) - strlen(end);
    cr_assert_str_eq(content.schema + size, end);
    (void)snprintf(out, TEXT_BYTES, "%.*s%s]}}%s]}", (int)size, content.schema, file_field,
                   root_field);
    bed_content_fini(&content);
}

/* Write entries with `tail` behind each, which are the values of the new fields. */
static void
write_newer(const avro_bed *bed, const char *path, const char *schema,
            const sinter__manifest_entry *const *entries, sinter_bytes tail)
{
    const sinter__avro_writer_options options = {.schema = schema};
    const sinter__carried_union nothing = {0};
    sinter__avro_writer *writer = NULL;
    uint64_t bytes = 0;

    cr_assert_eq(sinter__avro_writer_open(&bed->env, path, &options, &writer, NULL), SINTER_OK);
    for (size_t i = 0; i < ENTRIES; i++) {
        uint8_t *to = NULL;
        uint8_t *end = NULL;

        cr_assert_eq(
            sinter__avro_writer_reserve(
                writer, sinter__manifest_entry_room(entries[i], &nothing) + tail.size, &to, NULL),
            SINTER_OK);
        end = sinter__manifest_entry_put(to, entries[i], &nothing);
        if (tail.size > 0) {
            memcpy(end, tail.data, tail.size);
        }
        cr_assert_eq(sinter__avro_writer_commit(writer, (size_t)(end - to) + tail.size, NULL),
                     SINTER_OK);
    }
    cr_assert_eq(sinter__avro_writer_finish(writer, &bytes, NULL), SINTER_OK);
    sinter__avro_writer_close(writer);
}

/* Three random entries in a file of a newer version, read with what is unknown. */
typedef struct newer {
    avro_bed bed;
    sinter__arena arena;
    const sinter__manifest_entry *plain[ENTRIES]; /* as this version writes them */
    const sinter__manifest_entry *entries[ENTRIES];
    char schema[TEXT_BYTES];
} newer;

static void
newer_init(newer *n, const char *file_field, const char *root_field, sinter_bytes tail)
{
    uint64_t state = 3;
    size_t count = 0;

    avro_bed_init(&n->bed, NULL);
    n->arena = (sinter__arena){.env = sinter_env_default()};
    for (size_t i = 0; i < ENTRIES; i++) {
        n->plain[i] = bed_entry(&n->arena, &state, NULL);
    }
    newer_schema(&n->bed, file_field, root_field, n->schema);
    write_newer(&n->bed, "new", n->schema, n->plain, tail);
    cr_assert_eq(bed_read(&n->bed.env, "new", NULL, &n->arena, n->entries, ENTRIES, &count, NULL),
                 SINTER_OK);
    cr_assert_eq(count, ENTRIES);
}

static void
newer_fini(newer *n)
{
    sinter__arena_fini(&n->arena);
    avro_bed_fini(&n->bed);
}

static sinter_status
write_all(newer *n, const sinter__manifest_entry *const *entries, size_t count, sinter_error *err)
{
    const sinter__meta_write how = {.path = "out"};
    sinter__manifest_meta meta;

    return sinter__manifest_write(&n->bed.env, &how, entries, count, &meta, err);
}

/* _NEW is 7, _MORE is {"ab"}. */
static const sinter_bytes both = {(const uint8_t *)"\2\16\0\4ab", 6};

Test(table_carried, fields_of_newer_writers_are_written_again_as_they_stand)
{
    newer n;
    bed_content before;
    bed_content after;

    newer_init(&n, FILE_FIELD, ROOT_FIELD, both);
    cr_assert_eq(write_all(&n, n.entries, ENTRIES, NULL), SINTER_OK);
    before = bed_content_of(&n.bed.env, "new");
    after = bed_content_of(&n.bed.env, "out");
    cr_expect_str_eq(after.schema, before.schema);
    cr_expect(after.size == before.size && memcmp(after.records, before.records, after.size) == 0);
    bed_content_fini(&before);
    bed_content_fini(&after);
    newer_fini(&n);
}

Test(table_carried, records_without_such_a_field_get_null)
{
    newer n;
    const sinter__manifest_entry *mixed[4];
    const sinter__manifest_entry *back[4];
    size_t count = 0;

    newer_init(&n, FILE_FIELD, ROOT_FIELD, both);
    for (size_t way = 0; way < 2; way++) { /* the plain ones first, and last */
        for (size_t i = 0; i < 4; i++) {
            mixed[i] = (i < 2) == (way == 0) ? n.plain[i % 2] : n.entries[i % 2];
        }
        cr_assert_eq(write_all(&n, mixed, 4, NULL), SINTER_OK);
        cr_assert_eq(bed_read(&n.bed.env, "out", NULL, &n.arena, back, 4, &count, NULL), SINTER_OK);
        cr_assert_eq(count, 4);
        for (size_t i = 0; i < 4; i++) {
            const sinter_bytes *values = back[i]->cargo.values;
            const bool is_plain = mixed[i]->cargo.carried == NULL;

            cr_assert_eq(back[i]->cargo.carried->count, 2);
            cr_expect(bed_is_equal_bytes(
                values[0], is_plain ? (sinter_bytes){(const uint8_t *)"", 1} : bed_text("\2\16")));
            cr_expect(bed_is_equal_bytes(values[1], is_plain ? bed_text("\2")
                                                             : (sinter_bytes){both.data + 2, 4}));
        }
        cr_assert_eq(n.bed.memory->ops->unlink(n.bed.memory, "out", NULL), SINTER_OK);
    }
    newer_fini(&n);
}

static void
refused(newer *n, const sinter__manifest_entry *const *entries, size_t count, const char *text)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_stat stat = {0};

    cr_expect_eq(write_all(n, entries, count, &err), SINTER_E_UNSUPPORTED, "%s", text);
    cr_expect_str_eq(err.text, text);
    cr_expect_str_eq(err.file, "out");
    cr_expect_eq(n->bed.memory->ops->stat(n->bed.memory, "out", &stat, NULL), SINTER_E_NOT_FOUND);
}

Test(table_carried, what_was_read_without_keeping_it_is_not_written_without_it)
{
    sinter__manifest_reader *reader = NULL;
    const sinter__manifest_entry *entry = NULL;
    newer n;

    newer_init(&n, FILE_FIELD, ROOT_FIELD, both);
    cr_assert_eq(sinter__manifest_open(&n.bed.env, "new", NULL, NULL, &reader, NULL), SINTER_OK);
    cr_assert_eq(sinter__manifest_next(reader, &entry, NULL), SINTER_OK);
    refused(&n, &entry, 1,
            "the unknown field ? can't be carried over: it was not kept when its file was read");
    sinter__manifest_close(reader);
    newer_fini(&n);
}

Test(table_carried, what_can_not_be_kept_is_refused_by_name)
{
    const sinter__manifest_entry *mixed[2];
    size_t count = 0;
    newer n;

    newer_init(&n, ",{\"name\":\"_MUST\",\"type\":\"int\"}", "", bed_text("\6"));
    cr_expect_eq(write_all(&n, n.entries, ENTRIES, NULL), SINTER_OK, "all have it");
    cr_assert_eq(n.bed.memory->ops->unlink(n.bed.memory, "out", NULL), SINTER_OK);
    for (size_t way = 0; way < 2; way++) {
        mixed[way] = n.plain[0];
        mixed[1 - way] = n.entries[0];
        refused(&n, mixed, 2,
                "the unknown field _MUST can't be carried over: not all records have it, and it "
                "can't be null");
    }
    newer_fini(&n);

    newer_init(&n, ",{\"name\":\"_A\",\"type\":\"record__FILE__KEY_STATS\"}", "",
               (sinter_bytes){(const uint8_t *)"\2a\2b\2\2\2\2\0", 9});
    refused(&n, n.entries, 1,
            "the unknown field _A can't be carried over: its type is defined outside of it");
    newer_fini(&n);

    newer_init(&n, FILE_FIELD, "", bed_text("\2\2"));
    newer_schema(&n.bed, ",{\"name\":\"_NEW\",\"type\":[\"null\",\"int\"]}", "", n.schema);
    write_newer(&n.bed, "other", n.schema, n.plain, bed_text("\2\2"));
    mixed[0] = n.entries[0];
    cr_assert_eq(bed_read(&n.bed.env, "other", NULL, &n.arena, n.entries, ENTRIES, &count, NULL),
                 SINTER_OK);
    mixed[1] = n.entries[0];
    refused(&n, mixed, 2,
            "the unknown field _NEW can't be carried over: two files define it differently");
    newer_fini(&n);
}

Test(table_carried, so_many_fields_that_reading_them_would_take_long_are_read_and_not_written)
{
    char fields[TEXT_BYTES / 2] = "";
    newer n;

    for (int i = 0; i < 65; i++) {
        char one[64];

        (void)snprintf(one, sizeof one, ",{\"name\":\"_N%d\",\"type\":\"null\"}", i);
        (void)strcat(fields, one);
    }
    newer_init(&n, "", fields, (sinter_bytes){0});
    refused(&n, n.entries, 1,
            "the unknown field _N64 can't be carried over: there are too many of them");
    newer_fini(&n);
}

Test(table_carried, a_field_too_deep_inside_is_refused_by_name)
{
    static const char place[] = "\"default\":null}]}},{\"name\":\"_VALUE_STATS\"";
    sinter__arena arena = {.env = sinter_env_default()};
    newer n;
    char *at = NULL;
    char tail[TEXT_BYTES];
    size_t count = 0;

    newer_init(&n, "", "", (sinter_bytes){0});
    at = strstr(n.schema, place);
    cr_assert_not_null(at);
    (void)snprintf(tail, sizeof tail, "%s", at + 14);
    (void)snprintf(at + 14, TEXT_BYTES - (size_t)(at + 14 - n.schema), "%s%s",
                   "},{\"name\":\"_DEEP\",\"type\":\"null\"", tail);
    write_newer(&n.bed, "deep", n.schema, n.plain, (sinter_bytes){0});
    cr_assert_eq(bed_read(&n.bed.env, "deep", NULL, &arena, n.entries, ENTRIES, &count, NULL),
                 SINTER_OK);
    refused(&n, n.entries, 1,
            "the unknown field _DEEP can't be carried over: it lies too deep inside");
    sinter__arena_fini(&arena);
    newer_fini(&n);
}

Test(table_carried, two_fields_that_define_a_type_of_one_name_do_not_go_together)
{
#define SAME(name) \
    ",{\"name\":\"" name "\",\"type\":[\"null\",{\"type\":\"fixed\",\"name\":\"F\",\"size\":1}]}"
    const sinter__manifest_entry *mixed[2];
    size_t count = 0;
    newer n;

    newer_init(&n, SAME("_A"), "", (sinter_bytes){(const uint8_t *)"\2x", 2});
    newer_schema(&n.bed, SAME("_B"), "", n.schema);
    write_newer(&n.bed, "other", n.schema, n.plain, bed_text("\2x"));
    mixed[0] = n.entries[0];
    cr_assert_eq(bed_read(&n.bed.env, "other", NULL, &n.arena, n.entries, ENTRIES, &count, NULL),
                 SINTER_OK);
    mixed[1] = n.entries[0];
    refused(&n, mixed, 2, "the unknown fields of a manifest can't be carried over together");
    newer_fini(&n);
}

Test(table_carried, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;
    newer n;

    newer_init(&n, FILE_FIELD, ROOT_FIELD, both);
    for (uint64_t i = 0; st != SINTER_OK; i++) {
        const sinter__meta_write how = {.path = "out"};
        const sinter__manifest_entry *back[ENTRIES];
        sinter__manifest_meta meta;
        sinter_error err = SINTER_ERROR_INIT;
        sinter__arena kept = {0};
        size_t count = 0;
        fault_alloc fault;

        fault_alloc_init(&fault, i);
        fault.env.io = n.bed.memory;
        kept.env = &fault.env;
        st = bed_read(&fault.env, "new", NULL, &kept, back, ENTRIES, &count, &err);
        if (st == SINTER_OK) {
            st = sinter__manifest_write(&fault.env, &how, back, count, &meta, &err);
        }
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        sinter__arena_fini(&kept);
        cr_assert_eq(fault.live, 0);
    }
    newer_fini(&n);
}
