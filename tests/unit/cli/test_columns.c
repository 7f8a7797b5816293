#include "cli/columns.h"

#include <criterion/criterion.h>

TestSuite(cli_columns, .timeout = 20);

Test(cli_columns, commas_inside_parentheses_belong_to_the_type)
{
    cli_columns columns = {.items = NULL};

    cr_assert_eq(cli_columns_parse("types", "id:BIGINT,price:DECIMAL(10, 2),name", &columns),
                 CLI_EXIT_OK);
    cr_assert_eq(columns.count, 3);
    cr_expect_str_eq(columns.items[0].name, "id");
    cr_expect_str_eq(columns.items[0].type, "BIGINT");
    cr_expect_str_eq(columns.items[1].name, "price");
    cr_expect_str_eq(columns.items[1].type, "DECIMAL(10, 2)");
    cr_expect_str_eq(columns.items[2].name, "name");
    cr_expect_null(columns.items[2].type);
    cr_expect_eq(cli_columns_find(&columns, "price"), &columns.items[1]);
    cr_expect_null(cli_columns_find(&columns, "pric"));
    cli_columns_fini(&columns);
}

Test(cli_columns, a_name_twice_and_a_missing_part_are_refused)
{
    static const char *const bad[] = {"a,a", ":INT", "a:", "a,,b", "a:INT,a:INT"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cli_columns columns = {.items = NULL};

        cr_expect_eq(cli_columns_parse("types", bad[i], &columns), CLI_EXIT_USAGE, "%s", bad[i]);
        cli_columns_fini(&columns);
    }
}

Test(cli_columns, brackets_that_do_not_match_end_somewhere)
{
    static const char *const odd[] = {"a:X((1,b", "a:X)),b", "(", ")"};

    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        cli_columns columns = {.items = NULL};

        cr_expect_eq(cli_columns_parse("types", odd[i], &columns), CLI_EXIT_OK, "%s", odd[i]);
        cr_expect_geq(columns.count, 1);
        cli_columns_fini(&columns);
    }
}
