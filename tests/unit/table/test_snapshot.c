#include "table/snapshot.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "place.h"
#include "support/fault_alloc.h"

static const char *const full =
    "{\"version\":3,\"id\":3,\"schemaId\":1,\"baseManifestList\":\"manifest-list-u-2\","
    "\"baseManifestListSize\":1037,\"deltaManifestList\":\"manifest-list-u-3\","
    "\"deltaManifestListSize\":1006,\"changelogManifestList\":\"manifest-list-u-4\","
    "\"changelogManifestListSize\":7,\"indexManifest\":\"index-manifest-u-0\","
    "\"commitUser\":\"me \xc3\xa9\",\"commitIdentifier\":9223372036854775807,"
    "\"commitKind\":\"COMPACT\",\"timeMillis\":1795980851756,\"logOffsets\":{},"
    "\"totalRecordCount\":4,\"deltaRecordCount\":-1,\"changelogRecordCount\":2,"
    "\"watermark\":-5,\"statistics\":\"stat-u-0\",\"properties\":{\"a\":\"b\",\"c\":\"\"},"
    "\"nextRowId\":11,\"uuid\":\"later\",\"operation\":null}";

static sinter_status
parse(const sinter_env *env, const char *text, sinter_snapshot **out, sinter_error *err)
{
    return sinter__snapshot_parse(env, "snapshot-3",
                                  (sinter_bytes){(const uint8_t *)text, strlen(text)}, out, err);
}

static void
expect_full(const sinter_snapshot *s)
{
    cr_expect(s->version == 3 && s->id == 3 && s->schema_id == 1);
    cr_expect_str_eq(s->base.name, "manifest-list-u-2");
    cr_expect_eq(s->base.size_bytes, 1037);
    cr_expect_str_eq(s->delta.name, "manifest-list-u-3");
    cr_expect_eq(s->delta.size_bytes, 1006);
    cr_expect_str_eq(s->changelog.name, "manifest-list-u-4");
    cr_expect_eq(s->changelog.size_bytes, 7);
    cr_expect_str_eq(s->index_manifest, "index-manifest-u-0");
    cr_expect_str_eq(s->commit_user, "me \xc3\xa9");
    cr_expect_eq(s->commit_identifier, INT64_MAX);
    cr_expect_eq(s->commit_kind, SINTER_COMMIT_COMPACT);
    cr_expect_eq(s->time_ms, 1795980851756);
    cr_expect(s->total_record_count == 4 && s->delta_record_count == -1 &&
              s->changelog_record_count == 2);
    cr_expect_eq(s->watermark, -5);
    cr_expect_str_eq(s->statistics, "stat-u-0");
    cr_assert_eq(s->property_count, 2);
    cr_expect_str_eq(s->properties[0].key, "a");
    cr_expect_str_eq(s->properties[1].value, "");
    cr_expect_eq(s->next_row_id, 11);
}

Test(table_snapshot, every_member_is_read_and_later_ones_are_passed_over)
{
    sinter_snapshot *snapshot = NULL;

    cr_assert_eq(parse(sinter_env_default(), full, &snapshot, NULL), SINTER_OK);
    expect_full(snapshot);
    sinter_snapshot_destroy(snapshot);
}

Test(table_snapshot, what_is_printed_is_read_back)
{
    sinter_snapshot *snapshot = NULL;
    sinter_snapshot *again = NULL;
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(parse(sinter_env_default(), full, &snapshot, NULL), SINTER_OK);
    cr_assert_eq(sinter__snapshot_print(snapshot, &text, NULL), SINTER_OK);
    cr_assert_eq(parse(sinter_env_default(), text.data, &again, NULL), SINTER_OK);
    expect_full(again);
    sinter_snapshot_destroy(again);
    sinter_snapshot_destroy(snapshot);
    sinter_text_fini(&text);
}

Test(table_snapshot, members_that_are_not_known_are_left_out_when_printed)
{
    static const char *const least =
        "{\"id\":1,\"schemaId\":0,\"baseManifestList\":\"a\",\"deltaManifestList\":\"b\","
        "\"commitUser\":\"u\",\"commitIdentifier\":1,\"commitKind\":\"APPEND\",\"timeMillis\":0}";
    sinter_snapshot *snapshot = NULL;
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    cr_assert_eq(parse(sinter_env_default(), least, &snapshot, NULL), SINTER_OK);
    cr_expect_eq(snapshot->version, 1);
    cr_expect_eq(snapshot->base.size_bytes, -1);
    cr_expect_null(snapshot->changelog.name);
    cr_expect_eq(snapshot->watermark, INT64_MIN);
    cr_expect_eq(snapshot->next_row_id, -1);
    cr_assert_eq(sinter__snapshot_print(snapshot, &text, NULL), SINTER_OK);
    cr_expect_null(strstr(text.data, "watermark"));
    cr_expect_null(strstr(text.data, "ListSize"));
    cr_expect_null(strstr(text.data, "properties"));
    cr_expect_null(strstr(text.data, "nextRowId"));
    cr_expect_not_null(strstr(text.data, "\"changelogManifestList\": null"));
    sinter_snapshot_destroy(snapshot);
    sinter_text_fini(&text);
}

Test(table_snapshot, what_makes_no_sense_is_corrupt_and_named)
{
    static const struct {
        const char *find;
        const char *put;
        sinter_status status;
        const char *named;
    } cases[] = {
        {"\"id\":3,", "", SINTER_E_CORRUPT, "id"},
        {"\"id\":3", "\"id\":0", SINTER_E_CORRUPT, "id"},
        {"\"id\":3", "\"id\":\"x\"", SINTER_E_CORRUPT, "id"},
        {"\"version\":3", "\"version\":4", SINTER_E_UNSUPPORTED, "version 4"},
        {"manifest-list-u-2", "../manifest", SINTER_E_CORRUPT, "baseManifestList"},
        {"manifest-list-u-3", "", SINTER_E_CORRUPT, "deltaManifestList"},
        {"index-manifest-u-0", "a/b", SINTER_E_CORRUPT, "indexManifest"},
        {"stat-u-0", "..", SINTER_E_CORRUPT, "statistics"},
        {"COMPACT", "compact", SINTER_E_CORRUPT, "commitKind"},
        {"\"COMPACT\"", "null", SINTER_E_CORRUPT, "commitKind"},
        {"9223372036854775807", "9223372036854775808", SINTER_E_CORRUPT, "commitIdentifier"},
        {"1037", "-1", SINTER_E_CORRUPT, "baseManifestListSize"},
        {"{\"a\":\"b\"", "{\"a\":1", SINTER_E_CORRUPT, "properties"},
        {"\"watermark\":-5", "\"id\":3", SINTER_E_CORRUPT, "id"},
        {"\"operation\":null}", "", SINTER_E_CORRUPT, "line 1"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *at = strstr(full, cases[i].find);
        sinter_error err = SINTER_ERROR_INIT;
        sinter_snapshot *snapshot = NULL;
        char text[2048];

        cr_assert_not_null(at, "%zu", i);
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - full), full, cases[i].put,
                       at + strlen(cases[i].find));
        cr_expect_eq(parse(sinter_env_default(), text, &snapshot, &err), cases[i].status, "%zu", i);
        cr_expect_eq(err.status, cases[i].status);
        cr_expect_null(snapshot);
        cr_expect_str_eq(err.file, "snapshot-3");
        cr_expect_not_null(strstr(err.text, cases[i].named), "%zu: %s", i, err.text);
    }
}

Test(table_snapshot, a_text_that_ends_anywhere_is_corrupt)
{
    for (size_t size = 0; size < strlen(full); size++) {
        sinter_snapshot *snapshot = NULL;

        cr_assert_eq(sinter__snapshot_parse(sinter_env_default(), "x",
                                            (sinter_bytes){(const uint8_t *)full, size}, &snapshot,
                                            NULL),
                     SINTER_E_CORRUPT, "%zu", size);
    }
}

Test(table_snapshot, every_allocation_may_fail)
{
    sinter_status st = SINTER_E_NOMEM;

    for (uint64_t n = 0; st != SINTER_OK; n++) {
        fault_alloc fault;
        sinter_snapshot *snapshot = NULL;

        fault_alloc_init(&fault, n);
        st = parse(&fault.env, full, &snapshot, NULL);
        cr_assert(st == SINTER_OK || st == SINTER_E_NOMEM);
        sinter_snapshot_destroy(snapshot);
        cr_assert_eq(fault.live, 0);
        cr_assert_lt(n, 100);
    }
}
