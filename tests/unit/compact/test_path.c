#include "compact/path.h"

#include <criterion/criterion.h>

#include "files.h"
#include "support/fault_alloc.h"

TestSuite(compact_path, .timeout = 20);

static void
expect_join(const char *base, const char *dir, const char *name, const char *expected)
{
    char *path = NULL;

    cr_assert_eq(sinter__path_join(sinter_env_default(), base, dir, name, &path, NULL), SINTER_OK);
    cr_expect_str_eq(path, expected);
    sinter__free(sinter_env_default(), path);
}

Test(compact_path, parts_that_are_missing_leave_no_slash)
{
    expect_join("base", "dir", "name", "base/dir/name");
    expect_join("base", NULL, "name", "base/name");
    expect_join("base", "", "name", "base/name");
    expect_join("base", "dir", NULL, "base/dir");
    expect_join("base", NULL, NULL, "base");
    expect_join("/", NULL, "name", "//name");
}

Test(compact_path, an_external_path_replaces_all_parts)
{
    sinter_file_meta file = file_of("name", 0, "a", "b");
    char *path = NULL;

    file.dir = "dir";
    file.external_path = "/elsewhere/x";
    cr_assert_eq(sinter__path_of_file(sinter_env_default(), "base", &file, &path, NULL), SINTER_OK);
    cr_expect_str_eq(path, "/elsewhere/x");
    sinter__free(sinter_env_default(), path);
    file.external_path = NULL;
    cr_assert_eq(sinter__path_of_file(sinter_env_default(), "base", &file, &path, NULL), SINTER_OK);
    cr_expect_str_eq(path, "base/dir/name");
    sinter__free(sinter_env_default(), path);
}

Test(compact_path, the_allocation_may_fail)
{
    char *path = NULL;
    fault_alloc fault;

    fault_alloc_init(&fault, 0);
    cr_expect_eq(sinter__path_join(&fault.env, "a", "b", "c", &path, NULL), SINTER_E_NOMEM);
    cr_expect_null(path);
}
