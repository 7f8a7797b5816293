/* A program of somebody else: asks for versions and cuts two files into sections. */
#include <sinter/sinter.h>

#include <stdio.h>
#include <string.h>

static sinter_bytes
bytes(const char *text)
{
    return (sinter_bytes){.data = (const uint8_t *)text, .size = strlen(text)};
}

static int
failed(const char *what, const sinter_error *err)
{
    fprintf(stderr, "%s: %s: %s\n", what, sinter_status_text(err->status), err->text);
    return 1;
}

int
main(void)
{
    const sinter_file_meta files[] = {
        {.struct_size = sizeof files[0],
         .file_name = "a",
         .row_count = 1,
         .min_key = bytes("a"),
         .max_key = bytes("c")},
        {.struct_size = sizeof files[0],
         .file_name = "b",
         .row_count = 1,
         .min_key = bytes("b"),
         .max_key = bytes("d")},
    };
    sinter_partition *partition = NULL;
    sinter_error err = SINTER_ERROR_INIT;

    if (strcmp(sinter_version(), SINTER_VERSION_TEXT) != 0) {
        fprintf(stderr, "header %s, library %s\n", SINTER_VERSION_TEXT, sinter_version());
        return 1;
    }
    if (sinter_library_version(0) == NULL || sinter_codec_name(SINTER_CODEC_ZSTD) == NULL) {
        fprintf(stderr, "the library knows neither what it was built with nor its codecs\n");
        return 1;
    }
    if (sinter_partition_create(sinter_env_default(), files, 2, &partition, &err) != SINTER_OK) {
        return failed("partition", &err);
    }
    if (sinter_partition_section_count(partition) != 1 ||
        sinter_partition_run_count(partition, 0) != 2) {
        fprintf(stderr, "two files that overlap are one section of two runs\n");
        return 1;
    }
    sinter_partition_destroy(partition);
    return 0;
}
