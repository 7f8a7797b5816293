/*
 * Loading libsinter_columnar where it is missing or no such library.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "format/columnar.h"

TestSuite(format_columnar_load, .timeout = 60);

static sinter_status
load(const char *path, sinter_error *err)
{
    sinter_env env;
    sinter__columnar columnar;

    sinter_env_init(&env);
    env.columnar_library = path;
    return sinter__columnar_load(&env, &columnar, err);
}

Test(format_columnar_load, a_missing_library_says_what_to_install)
{
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(load(NULL, &err), SINTER_E_UNSUPPORTED);
    cr_expect(strstr(err.text, "pip install pyarrow") != NULL, "%s", err.text);
    cr_expect(strstr(err.text, "docs/columnar.md") != NULL, "%s", err.text);
}

Test(format_columnar_load, a_library_that_is_no_such_is_named)
{
    sinter_error err = SINTER_ERROR_INIT;

    cr_assert_eq(load("/nowhere/libsinter_columnar.so", &err), SINTER_E_UNSUPPORTED);
    cr_expect_str_eq(err.file, "/nowhere/libsinter_columnar.so");
    err = (sinter_error)SINTER_ERROR_INIT;
    cr_assert_eq(load("libm.so.6", &err), SINTER_E_UNSUPPORTED);
    cr_expect_str_eq(err.file, "libm.so.6");
    cr_expect(strstr(err.text, "sinter_columnar_api") != NULL, "%s", err.text);
}

Test(format_columnar_load, an_environment_of_an_older_header_has_no_path)
{
    sinter_env env;
    sinter__columnar columnar;

    sinter_env_init(&env);
    env.struct_size -= (uint32_t)sizeof env.columnar_library;
    env.columnar_library = "/nowhere/at/all";
    cr_assert_eq(sinter__columnar_load(&env, &columnar, NULL), SINTER_E_UNSUPPORTED);
}
