/*
 * Files that earlier builds wrote are read back as they were written.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "fixture_cases.h"

TestSuite(sst_fixtures, .timeout = 120);

static void
check_fixture(const fixture_case *fixture)
{
    const sinter_env *env = sinter_env_default();
    test_rng rng = {.state = fixture->seed};
    test_pool pool = {0};
    const test_run run = sst_records(&rng, &fixture->shape, &pool);
    sinter_error err = SINTER_ERROR_INIT;
    char path[512];

    (void)snprintf(path, sizeof path, "%s/%s.sst", SST_FIXTURES, fixture->name);
    if (!sinter_codec_is_built_in(fixture->plan.options.codec)) {
        uint64_t rows = 0;

        cr_expect_eq(sst_read_all(env, path, NULL, &rows, &err), SINTER_E_UNSUPPORTED);
        cr_expect_not_null(strstr(err.text, "lz4"), "%s", err.text);
    } else {
        cr_expect_eq(sst_read_compare(env, path, NULL, &run, &err), SINTER_OK, "%s: %s", path,
                     err.text);
        cr_expect_eq(sinter_sst_verify(env, path, NULL, &err), SINTER_OK, "%s: %s", path, err.text);
    }
    test_pool_fini(&pool);
}

Test(sst_fixtures, files_of_every_released_version_read_back)
{
    for (int i = 0; i < FIXTURE_COUNT; i++) {
        check_fixture(&fixture_cases[i]);
    }
}

Test(sst_fixtures, properties_of_version_1_are_understood)
{
    sinter_sst_properties properties = {.struct_size = sizeof properties};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_sst *sst = NULL;

    cr_assert_eq(
        sinter_sst_open(sinter_env_default(), SST_FIXTURES "/v1-properties.sst", &sst, &err),
        SINTER_OK, "%s", err.text);
    sinter_sst_properties_get(sst, &properties);
    cr_expect_eq(properties.format_version, 1);
    cr_expect_eq(properties.level, 5);
    cr_expect_eq(properties.schema_id, 3);
    cr_expect_str_eq(properties.key_types, "BIGINT");
    cr_expect_str_eq(properties.row_type, "{\"fields\":[]}");
    cr_expect_eq(properties.creation_time_ms, 1700000000000);
    cr_expect_str_eq(sinter_sst_user_property(sst, "who"), "fixture");
    cr_expect_null(sinter_sst_user_property(sst, "whom"));
    sinter_sst_close(sst);
}
