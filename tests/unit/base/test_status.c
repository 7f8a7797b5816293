#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

TestSuite(base_status, .timeout = 20);

Test(base_status, every_status_has_a_name_and_a_text_of_its_own)
{
    for (sinter_status a = SINTER_E_RETRACT; a <= SINTER_END; a++) {
        cr_assert(strcmp(sinter_status_name(a), "unknown") != 0, "%d", a);
        for (sinter_status b = SINTER_E_RETRACT; b < a; b++) {
            cr_assert(strcmp(sinter_status_name(a), sinter_status_name(b)) != 0, "%d, %d", a, b);
            cr_assert(strcmp(sinter_status_text(a), sinter_status_text(b)) != 0, "%d, %d", a, b);
        }
    }
    cr_expect(strcmp(sinter_status_name(SINTER_E_CORRUPT), "E_CORRUPT") == 0);
    cr_expect(strcmp(sinter_status_name(2), "unknown") == 0);
    cr_expect(strcmp(sinter_status_name(-16), "unknown") == 0);
    cr_expect(sinter_status_text(INT32_MIN) != NULL);
}

Test(base_status, codecs_have_names)
{
    cr_expect(strcmp(sinter_codec_name(SINTER_CODEC_NONE), "none") == 0);
    cr_expect(strcmp(sinter_codec_name(SINTER_CODEC_LZ4), "lz4") == 0);
    cr_expect(strcmp(sinter_codec_name(SINTER_CODEC_ZSTD), "zstd") == 0);
    cr_expect(sinter_codec_name(3) == NULL && sinter_codec_name(-1) == NULL);
}

Test(base_status, a_failure_tells_what_where_and_why)
{
    sinter_error err = SINTER_ERROR_INIT;

    cr_expect_eq(SINTER__ERR_SYS(&err, SINTER_E_IO, EIO, "dir/file", 77, "%d bytes", 5),
                 SINTER_E_IO);
    cr_expect_eq(err.status, SINTER_E_IO);
    cr_expect_eq(err.sys_errno, EIO);
    cr_expect_eq(err.offset, 77);
    cr_expect(strcmp(err.file, "dir/file") == 0 && strcmp(err.text, "5 bytes") == 0);
    cr_expect(strstr(err.origin_file, "test_status.c") != NULL && err.origin_line > 0);
    cr_expect_eq(SINTER__ERR(&err, SINTER_E_BUSY, "later"), SINTER_E_BUSY);
    cr_expect(err.file[0] == '\0' && err.offset == -1 && err.sys_errno == 0,
              "nothing of the earlier one stays");
    cr_expect_eq(SINTER__ERR(NULL, SINTER_E_BUSY, "nobody asks"), SINTER_E_BUSY);
}

Test(base_status, long_names_keep_their_end_and_long_texts_their_start)
{
    sinter_error err = SINTER_ERROR_INIT;
    char path[1000];
    char text[2000];

    for (size_t size = 250; size < 300; size++) {
        memset(path, 'd', size);
        memcpy(path + size - 4, "/end", 5);
        (void)SINTER__ERR_AT(&err, SINTER_E_IO, path, 0, "x");
        cr_assert(strlen(err.file) < sizeof err.file);
        cr_assert(strcmp(err.file + strlen(err.file) - 4, "/end") == 0, "%zu", size);
        cr_assert((strncmp(err.file, "...", 3) == 0) == (size >= sizeof err.file), "%zu", size);
    }
    memset(text, 't', sizeof text);
    text[sizeof text - 1] = '\0';
    (void)SINTER__ERR(&err, SINTER_E_IO, "%s", text);
    cr_expect_eq(strlen(err.text), sizeof err.text - 1);
    sinter__fail_context(&err, "context %d", 1);
    cr_expect(strncmp(err.text, "context 1: ttt", 14) == 0);
    cr_expect_eq(strlen(err.text), sizeof err.text - 1);
    sinter__fail_context(&err, "%s", text); /* no room for it: the text stays */
    cr_expect(strncmp(err.text, "context 1: ttt", 14) == 0);
    sinter__fail_context(NULL, "nobody asks");
}

Test(base_status, the_first_to_name_the_file_is_kept)
{
    sinter_error err = SINTER_ERROR_INIT;

    (void)SINTER__ERR(&err, SINTER_E_CORRUPT, "x");
    sinter__fail_file(&err, NULL);
    cr_expect(err.file[0] == '\0');
    sinter__fail_file(&err, "first");
    sinter__fail_file(&err, "second");
    cr_expect(strcmp(err.file, "first") == 0);
    sinter__fail_file(NULL, "nobody");
}

static sinter_status
pass_on(sinter_status what, int *steps)
{
    sinter_status st = SINTER_OK;

    SINTER__TRY(what);
    (*steps)++;
out:
    *steps += 10;
    return st;
}

Test(base_status, what_fails_is_passed_on_and_cleaned_up)
{
    int steps = 0;

    cr_expect_eq(pass_on(SINTER_OK, &steps), SINTER_OK);
    cr_expect_eq(steps, 11);
    cr_expect_eq(pass_on(SINTER_E_NOMEM, &steps), SINTER_E_NOMEM);
    cr_expect_eq(steps, 21);
    cr_expect_eq(pass_on(SINTER_END, &steps), SINTER_END, "the end is no success either");
}
