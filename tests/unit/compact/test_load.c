#include "compact/load.h"

#include <criterion/criterion.h>

#include "files.h"

TestSuite(compact_load, .timeout = 20);

Test(compact_load, no_options_are_the_defaults)
{
    sinter_compact_options loaded;
    sinter_compact_options defaults;

    sinter_compact_options_init(&defaults);
    cr_expect_eq(sinter__compact_options_load(NULL, &loaded, NULL), SINTER_OK);
    cr_expect_eq(memcmp(&loaded, &defaults, sizeof loaded), 0);
}

Test(compact_load, file_metadata_is_checked_by_name)
{
    sinter_file_meta file = file_of("good", 0, "a", "a");
    sinter_file_meta empty = file_empty("empty", 0);

    cr_expect_eq(sinter__file_meta_check(&file, NULL), SINTER_OK);
    empty.min_key = text_bytes("z");
    cr_expect_eq(sinter__file_meta_check(&empty, NULL), SINTER_OK, "no rows, no keys");
    file.file_name = NULL;
    cr_expect_eq(sinter__file_meta_check(&file, NULL), SINTER_E_INVALID);
}
