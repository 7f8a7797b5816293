/*
 * Damage: every byte of small files flipped, every length cut, and claims that contradict each
 * other under right checksums.
 */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "sst/layout.h"
#include "sst_support.h"

TestSuite(sst_verify, .timeout = 240);

/** A small file with several blocks, filters and index levels. */
static uint8_t *
small_file(sst_world *world, int codec, size_t *size_out)
{
    const sst_shape shape = {.count = 40,
                             .key_min = 3,
                             .key_max = 9,
                             .value_max = 60,
                             .delete_percent = 20,
                             .sequence_space = 100000};
    const sst_plan plan = {.options = {.block_bytes = 300,
                                       .codec = codec,
                                       .filter_bits_per_key = 8,
                                       .key_types = "BYTES"},
                           .page_bytes = 300,
                           .property = "me"};
    test_rng rng = {.state = 4711};
    test_pool pool = {0};
    sinter_error err = SINTER_ERROR_INIT;
    const test_run run = sst_records(&rng, &shape, &pool);
    uint8_t *bytes = NULL;

    cr_assert_eq(sst_write(&world->env, "small.sst", &run, &plan, NULL, &err), SINTER_OK, "%s",
                 err.text);
    cr_assert_eq(sinter_sst_verify(&world->env, "small.sst", NULL, &err), SINTER_OK, "%s",
                 err.text);
    bytes = sst_file_bytes(&world->env, "small.sst", size_out);
    sst_unlink(&world->env, "small.sst");
    test_pool_fini(&pool);
    return bytes;
}

/** Read a damaged file in every way; nothing may crash. Returns what verify says. */
static sinter_status
use_everything(const sst_world *world, const char *path, sinter_error *err)
{
    const sinter_env *env = &world->env;
    sinter_sst *sst = NULL;
    sinter_row row;
    uint64_t rows = 0;
    sinter_status st = sst_read_all(env, path, NULL, &rows, err);

    cr_assert(st == SINTER_OK || (err->status == st && strcmp(err->file, path) == 0),
              "reading: %s (%s)", err->text, err->file);
    if (sinter_sst_open(env, path, &sst, NULL) == SINTER_OK) {
        st = sinter_sst_get(sst, SST_BYTES("mmm"), &row, NULL);
        cr_assert(st <= SINTER_END);
        sinter_sst_close(sst);
    }
    *err = (sinter_error)SINTER_ERROR_INIT;
    return sinter_sst_verify(env, path, NULL, err);
}

static void
check_damaged(const sst_world *world, const uint8_t *bytes, size_t size, const char *what,
              size_t where)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    sst_put_file(&world->env, "bad.sst", bytes, size);
    st = use_everything(world, "bad.sst", &err);
    cr_assert(st == SINTER_E_CORRUPT || st == SINTER_E_UNSUPPORTED, "%s %zu: %s (%s)", what, where,
              sinter_status_name(st), err.text);
    cr_assert_str_eq(err.file, "bad.sst", "%s %zu: %s", what, where, err.text);
    cr_assert_geq(err.offset, 0, "%s %zu: %s", what, where, err.text);
    cr_assert_leq(err.offset, (int64_t)size + (int64_t)where + 1);
    sst_unlink(&world->env, "bad.sst");
}

static void
flip_and_cut(int codec)
{
    sst_world world;
    size_t size = 0;
    uint8_t *bytes = NULL;

    sst_world_init(&world);
    bytes = small_file(&world, codec, &size);
    for (size_t i = 0; i < size; i++) {
        const uint8_t before = bytes[i];

        bytes[i] ^= (uint8_t)(1u << (i % 8));
        check_damaged(&world, bytes, size, "flipped", i);
        bytes[i] = before;
    }
    for (size_t cut = 0; cut < size; cut++) {
        check_damaged(&world, bytes, cut, "cut to", size - cut);
    }
    bytes[size] = 0;
    check_damaged(&world, bytes, size + 1, "lengthened", 1);
    free(bytes);
    sst_world_fini(&world);
}

Test(sst_verify, every_flipped_byte_and_every_cut_is_noticed_without_codec)
{
    flip_and_cut(SINTER_CODEC_NONE);
}

Test(sst_verify, every_flipped_byte_and_every_cut_is_noticed_with_zstd)
{
    flip_and_cut(SINTER_CODEC_ZSTD);
}

Test(sst_verify, every_flipped_byte_and_every_cut_is_noticed_with_lz4)
{
    flip_and_cut(SINTER_CODEC_LZ4);
}

/** Put a footer that says `change` has happened, with a right checksum. */
static void
reseal_footer(uint8_t *bytes, size_t size)
{
    uint8_t *footer = bytes + size - SINTER__SST_FOOTER_BYTES;

    sinter__put_le64(footer + 88, sinter__hash(footer, 88));
}

Test(sst_verify, a_newer_version_is_refused_by_its_number)
{
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    size_t size = 0;
    uint8_t *bytes = NULL;
    uint64_t rows = 0;

    sst_world_init(&world);
    bytes = small_file(&world, SINTER_CODEC_NONE, &size);
    sinter__put_le32(bytes + 8, 7);
    sst_put_file(&world.env, "new.sst", bytes, size);
    cr_assert_eq(sst_read_all(&world.env, "new.sst", NULL, &rows, &err), SINTER_E_UNSUPPORTED);
    cr_expect_not_null(strstr(err.text, "version 7"), "%s", err.text);
    free(bytes);
    sst_world_fini(&world);
}

Test(sst_verify, an_unknown_incompatible_feature_is_refused_by_name)
{
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    size_t size = 0;
    uint8_t *bytes = NULL;
    sinter_sst *sst = NULL;

    sst_world_init(&world);
    bytes = small_file(&world, SINTER_CODEC_NONE, &size);
    sinter__put_le64(bytes + size - SINTER__SST_FOOTER_BYTES + 64, 1);
    reseal_footer(bytes, size);
    sst_put_file(&world.env, "new.sst", bytes, size);
    cr_assert_eq(sinter_sst_open(&world.env, "new.sst", &sst, &err), SINTER_E_UNSUPPORTED);
    cr_expect_null(sst);
    cr_expect_not_null(strstr(err.text, "value streams"), "%s", err.text);
    free(bytes);
    sst_world_fini(&world);
}

Test(sst_verify, unknown_compatible_features_are_no_obstacle)
{
    sst_world world;
    sinter_error err = SINTER_ERROR_INIT;
    size_t size = 0;
    uint8_t *bytes = NULL;

    sst_world_init(&world);
    bytes = small_file(&world, SINTER_CODEC_NONE, &size);
    sinter__put_le64(bytes + size - SINTER__SST_FOOTER_BYTES + 56, UINT64_MAX);
    reseal_footer(bytes, size);
    sst_put_file(&world.env, "new.sst", bytes, size);
    cr_assert_eq(sinter_sst_verify(&world.env, "new.sst", NULL, &err), SINTER_OK, "%s", err.text);
    free(bytes);
    sst_world_fini(&world);
}

/** A file of one block and one leaf page, taken apart. */
typedef struct simple_file {
    uint8_t *bytes;
    size_t size;
    uint8_t *footer;
    uint8_t *page;
    size_t page_size;
    uint8_t *entry;
} simple_file;

static void
simple_file_make(sst_world *world, simple_file *out)
{
    const sst_shape shape = {
        .count = 20, .key_min = 4, .key_max = 4, .value_max = 9, .sequence_space = 50};
    const sst_plan plan = {.options = {.block_bytes = 100000}};
    test_rng rng = {.state = 99};
    test_pool pool = {0};
    const test_run run = sst_records(&rng, &shape, &pool);

    cr_assert_eq(sst_write(&world->env, "one.sst", &run, &plan, NULL, NULL), SINTER_OK);
    out->bytes = sst_file_bytes(&world->env, "one.sst", &out->size);
    sst_unlink(&world->env, "one.sst");
    out->footer = out->bytes + out->size - SINTER__SST_FOOTER_BYTES;
    out->page = out->bytes + sinter__get_le64(out->footer + 24);
    out->page_size = sinter__get_le32(out->footer + 40);
    out->entry = out->page + SINTER__SST_PAGE_HEADER_BYTES;
    test_pool_fini(&pool);
}

/** Make all checksums right again: block, its trailer and entry, page, footer. */
static void
reseal(simple_file *file)
{
    const uint64_t offset = sinter__get_le64(file->entry);
    const uint32_t value_size = sinter__get_le32(file->entry + 24);
    const uint32_t key_size = sinter__get_le32(file->entry + 32);
    uint8_t *block = file->bytes + offset;
    const size_t body = file->page_size - SINTER__SST_CHECKSUM_BYTES;

    if (offset + value_size + key_size + SINTER__SST_TRAILER_BYTES <= file->size) {
        sinter__put_le64(file->entry + 8, sinter__hash(block, value_size));
        sinter__put_le64(file->entry + 16, sinter__hash(block + value_size, key_size));
        memcpy(block + value_size + key_size, file->entry + 8, SINTER__SST_TRAILER_BYTES);
    }
    sinter__put_le64(file->page + body, sinter__hash(file->page, body));
    sinter__put_le64(file->footer + 32, sinter__hash(file->page, body));
    reseal_footer(file->bytes, file->size);
}

/** A change to a file that keeps its checksums right; NULL text: only verify notices. */
typedef struct forgery {
    const char *what;
    void (*change)(simple_file *file);
    bool reader_notices;
} forgery;

static uint8_t *
key_part(simple_file *file)
{
    return file->bytes + sinter__get_le64(file->entry) + sinter__get_le32(file->entry + 24);
}

static void
swap_keys(simple_file *file)
{
    const uint32_t key_size = sinter__get_le32(file->entry + 32);
    uint8_t *keys = key_part(file) + key_size - 20 * 4;
    uint8_t spare[4];

    memcpy(spare, keys + 4, 4);
    memcpy(keys + 4, keys + 8, 4);
    memcpy(keys + 8, spare, 4);
}

static void
repeat_key(simple_file *file)
{
    const uint32_t key_size = sinter__get_le32(file->entry + 32);
    uint8_t *keys = key_part(file) + key_size - 20 * 4;

    memcpy(keys + 4, keys + 8, 4);
}

static void
change_first_key(simple_file *file)
{
    file->entry[SINTER__SST_ENTRY_BYTES] = 0;
    file->entry[SINTER__SST_ENTRY_BYTES + 1] ^= 1;
}

static void
set_row_count(simple_file *file)
{
    sinter__put_le32(file->entry + 40, 19);
}

static void
set_huge_raw_size(simple_file *file)
{
    sinter__put_le32(file->entry + 28, 0x3fffffff);
    file->entry[44] = SINTER_CODEC_ZSTD;
}

static void
set_stream_column(simple_file *file)
{
    key_part(file)[8] = 1;
}

static void
set_stream_count(simple_file *file)
{
    sinter__put_le16(file->entry + 46, 2);
}

static void
set_unknown_codec(simple_file *file)
{
    file->entry[44] = 9;
}

static void
set_front_coded(simple_file *file)
{
    file->entry[45] |= SINTER__SST_FRONT_CODED_BIT;
}

static void
claim_many_key_bytes(simple_file *file)
{
    sinter__put_le64(file->footer + 64, SINTER__SST_INCOMPATIBLE_FRONT_CODING);
    set_front_coded(file);
    sinter__put_le32(file->entry + 84, SINTER__SST_FRONT_CODED_KEY_BYTES_MAX + 1);
}

static void
set_retracts(simple_file *file)
{
    sinter__put_le32(file->entry + 48, sinter__get_le32(file->entry + 48) ^ 1u);
}

static void
set_sequences(simple_file *file)
{
    sinter__put_le64(file->entry + 64, 1000);
}

static void
set_column_width(simple_file *file)
{
    key_part(file)[5] = 60;
}

static void
set_kinds(simple_file *file)
{
    key_part(file)[6] = 3;
}

static void
set_entry_count(simple_file *file)
{
    sinter__put_le32(file->page + 4, 2);
}

static void
set_block_offset(simple_file *file)
{
    sinter__put_le64(file->entry, 17);
}

static void
set_level_count(simple_file *file)
{
    sinter__put_le32(file->footer + 44, 3);
}

static void
set_value_lengths(simple_file *file)
{
    sinter__put_le64(key_part(file) + 40, 1);
}

/** Add one to a number among the properties, and make their checksum right again. */
static void
raise_property(simple_file *file, const char *name)
{
    uint8_t *begin = file->bytes + sinter__get_le64(file->footer);
    const size_t size = (size_t)sinter__get_le64(file->footer + 8);
    const size_t name_size = strlen(name) + 1;
    uint8_t *place = NULL;

    for (size_t i = 0; i + name_size + 8 <= size; i++) {
        if (memcmp(begin + i, name, name_size) == 0) {
            place = begin + i + name_size;
        }
    }
    cr_assert_not_null(place);
    cr_assert_gt(sinter__get_le64(place), 0);
    sinter__put_le64(place, sinter__get_le64(place) + 1);
    sinter__put_le64(file->footer + 16, sinter__hash(begin, size));
}

static void
raise_largest_block(simple_file *file)
{
    raise_property(file, "sinter.largest_block");
}

static void
raise_largest_key_part(simple_file *file)
{
    raise_property(file, "sinter.largest_key_part");
}

static void
raise_largest_value_part(simple_file *file)
{
    raise_property(file, "sinter.largest_value_part");
}

static void
raise_largest_block_rows(simple_file *file)
{
    raise_property(file, "sinter.largest_block_rows");
}

static void
raise_largest_page(simple_file *file)
{
    raise_property(file, "sinter.largest_page");
}

static const forgery forgeries[] = {
    {"keys swapped", swap_keys, true},
    {"a key twice", repeat_key, true},
    {"another first key in the index", change_first_key, true},
    {"another row count", set_row_count, true},
    {"a huge raw size", set_huge_raw_size, true},
    {"a stream column", set_stream_column, true},
    {"two streams", set_stream_count, true},
    {"an unknown codec", set_unknown_codec, true},
    {"front-coded keys that the footer doesn't announce", set_front_coded, true},
    {"front-coded keys without end", claim_many_key_bytes, true},
    {"another retract count", set_retracts, true},
    {"other sequences in the index", set_sequences, false},
    {"an impossible column width", set_column_width, true},
    {"impossible kinds", set_kinds, true},
    {"more entries than there are", set_entry_count, true},
    {"a block elsewhere", set_block_offset, true},
    {"more index levels", set_level_count, true},
    {"other value lengths", set_value_lengths, true},
    {"another largest block", raise_largest_block, false},
    {"another largest key part", raise_largest_key_part, false},
    {"another largest value part", raise_largest_value_part, false},
    {"another largest row count", raise_largest_block_rows, false},
    {"another largest page", raise_largest_page, false},
};

Test(sst_verify, claims_under_right_checksums_are_checked_too)
{
    for (size_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        sst_world world;
        sinter_error err = SINTER_ERROR_INIT;
        simple_file file;
        uint64_t rows = 0;
        sinter_status st = SINTER_OK;

        sst_world_init(&world);
        simple_file_make(&world, &file);
        forgeries[i].change(&file);
        reseal(&file);
        sst_put_file(&world.env, "forged.sst", file.bytes, file.size);
        st = sst_read_all(&world.env, "forged.sst", NULL, &rows, &err);
        cr_expect_eq(st < 0, forgeries[i].reader_notices, "%s: %s", forgeries[i].what, err.text);
        st = use_everything(&world, "forged.sst", &err);
        cr_expect(st == SINTER_E_CORRUPT || st == SINTER_E_UNSUPPORTED, "%s: %s %s",
                  forgeries[i].what, sinter_status_name(st), err.text);
        free(file.bytes);
        sst_world_fini(&world);
    }
}

Test(sst_verify, every_allocation_may_fail)
{
    sst_world world;
    size_t size = 0;
    uint8_t *bytes = NULL;
    sinter_status st = SINTER_E_NOMEM;

    sst_world_init(&world);
    bytes = small_file(&world, SINTER_CODEC_LZ4, &size);
    sst_put_file(&world.env, "a.sst", bytes, size);
    for (uint64_t n = 0; st != SINTER_OK; n++) {
        sinter_error err = SINTER_ERROR_INIT;

        sst_world_fail_allocation(&world, n);
        st = sinter_sst_verify(&world.env, "a.sst", NULL, &err);
        cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st));
        cr_assert_eq(world.fault.live, 0, "leak when allocation %llu fails", (unsigned long long)n);
    }
    free(bytes);
    sst_world_fini(&world);
}

Test(sst_verify, an_older_caller_gets_the_counts_it_knows)
{
    sinter_sst_verify_result older;
    sst_world world;
    size_t size = 0;
    uint8_t *bytes = NULL;

    sst_world_init(&world);
    bytes = small_file(&world, SINTER_CODEC_NONE, &size);
    sst_put_file(&world.env, "f.sst", bytes, size);
    memset(&older, 0xab, sizeof older);
    older.struct_size = offsetof(sinter_sst_verify_result, rows);
    cr_assert_eq(sinter_sst_verify(&world.env, "f.sst", &older, NULL), SINTER_OK);
    cr_expect_eq(older.struct_size, offsetof(sinter_sst_verify_result, rows));
    cr_expect(older.blocks > 1 && older.blocks < 40);
    cr_expect_eq(older.rows, UINT64_C(0xabababababababab));
    cr_expect_eq(older.bytes, UINT64_C(0xabababababababab));
    free(bytes);
    sst_world_fini(&world);
}

/* What the writer said of small_file(), with one number or key wrong. */
static void
expect_other(const sst_world *world, const sinter_file_stats *said, const char *what)
{
    const sinter_verify_options options = {.struct_size = sizeof options, .said = said};
    sinter_error err = SINTER_ERROR_INIT;
    const sinter_format *format = sinter_format_sst();

    cr_expect_eq(format->verify(format->self, &world->env, "small.sst", &options, &err),
                 SINTER_E_CORRUPT, "%s", what);
    cr_expect_not_null(strstr(err.text, what), "%s: %s", what, err.text);
    cr_expect_str_eq(err.file, "small.sst");
}

static bool
at_once(void *ctx)
{
    (void)ctx;
    return true;
}

Test(sst_verify, a_file_that_is_not_what_its_writer_said_is_damaged)
{
    const sst_shape shape = {.count = 40,
                             .key_min = 3,
                             .key_max = 9,
                             .value_max = 60,
                             .delete_percent = 20,
                             .sequence_space = 100000};
    const sst_plan plan = {.options = {.block_bytes = 300}};
    sinter_verify_options options = {.struct_size = sizeof options};
    const sinter_format *format = sinter_format_sst();
    sinter_error err = SINTER_ERROR_INIT;
    test_rng rng = {.state = 12};
    test_pool pool = {0};
    const test_run run = sst_records(&rng, &shape, &pool);
    sinter_sst_properties found = {.struct_size = sizeof found};
    sinter_file_stats said = {.struct_size = sizeof said};
    sinter_file_stats other;
    sinter_sst *sst = NULL;
    sst_world world;

    sst_world_init(&world);
    cr_assert_eq(sst_write(&world.env, "small.sst", &run, &plan, NULL, &err), SINTER_OK);
    cr_assert_eq(sinter_sst_open(&world.env, "small.sst", &sst, &err), SINTER_OK);
    sinter_sst_properties_get(sst, &found);
    said = (sinter_file_stats){.struct_size = sizeof said,
                               .file_size = found.file_size,
                               .row_count = found.row_count,
                               .retract_count = found.retract_count,
                               .sequence_min = found.sequence_min,
                               .sequence_max = found.sequence_max,
                               .min_key = found.min_key,
                               .max_key = found.max_key};
    options.said = &said;
    cr_expect_eq(format->verify(format->self, &world.env, "small.sst", &options, &err), SINTER_OK,
                 "%s", err.text);
    options.is_cancelled = at_once;
    cr_expect_eq(format->verify(format->self, &world.env, "small.sst", &options, &err),
                 SINTER_E_CANCELLED);

    other = said;
    other.file_size--;
    expect_other(&world, &other, "size");
    other = said;
    other.row_count++;
    expect_other(&world, &other, "number of rows");
    other = said;
    other.retract_count++;
    expect_other(&world, &other, "number of retracts");
    other = said;
    other.sequence_min--;
    expect_other(&world, &other, "smallest sequence");
    other = said;
    other.sequence_max++;
    expect_other(&world, &other, "largest sequence");
    other = said;
    other.min_key.size--;
    expect_other(&world, &other, "smallest key");
    other = said;
    other.max_key = other.min_key;
    expect_other(&world, &other, "largest key");
    sinter_sst_close(sst);
    sst_unlink(&world.env, "small.sst");
    test_pool_fini(&pool);
    sst_world_fini(&world);
}
