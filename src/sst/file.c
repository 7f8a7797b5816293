#include "sst/file.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "sst/codec.h"
#include "sst/filter.h"
#include "sst/properties.h"

enum { TAIL_BYTES = 12 << 10 };

uint32_t
sinter_sst_format_version(void)
{
    return SINTER__SST_VERSION;
}

uint32_t
sinter__sst_format_tag(const sinter_sst_properties *properties)
{
    const char *key_types = properties->key_types == NULL ? "" : properties->key_types;
    const char *row_type = properties->row_type == NULL ? "" : properties->row_type;
    uint8_t words[16];
    uint64_t tag = 0;

    sinter__put_le32(words, SINTER__SST_BLOCK_VERSION);
    sinter__put_le32(words + 4, (uint32_t)properties->codec);
    sinter__put_le32(words + 8, properties->filter_bits_per_key);
    sinter__put_le32(words + 12, properties->schema_id);
    tag = sinter__hash(words, sizeof words);
    tag = sinter__hash_seeded(key_types, strlen(key_types), tag);
    tag = sinter__hash_seeded(row_type, strlen(row_type), tag);
    return (uint32_t)(tag ^ (tag >> 32));
}

sinter_status
sinter__sst_file_read(sinter__sst_file *file, uint64_t offset, void *data, size_t size,
                      sinter_error *err)
{
    const sinter_io_range range = {.offset = offset, .data = data, .size = size};

    assert(offset <= file->size && size <= file->size - offset);
    if (size == 0) {
        return SINTER_OK;
    }
    if (offset >= file->tail_offset) {
        memcpy(data, file->tail.data + (offset - file->tail_offset), size);
        return SINTER_OK;
    }
    return file->handle->ops->read(file->handle, &range, 1, err);
}

sinter_status
sinter__sst_file_fault(const sinter__sst_file *file, uint64_t offset, sinter_status st,
                       sinter_error *err)
{
    sinter__fail_file(err, file->path);
    if (err != NULL && err->offset < 0) {
        err->offset = (int64_t)offset;
    }
    return st;
}

/** Does [offset, offset + size) lie between the header and `end`? */
static bool
lies_inside(uint64_t offset, uint64_t size, uint64_t end)
{
    return offset >= SINTER__SST_HEADER_BYTES && offset <= end && size <= end - offset;
}

/** Refuse a version or an incompatible feature that this build doesn't know. */
static sinter_status
check_features(const sinter__sst_file *file, uint32_t version, sinter_error *err)
{
    const uint64_t unknown = file->footer.features_incompatible & ~SINTER__SST_INCOMPATIBLE_KNOWN;

    if (version > SINTER__SST_VERSION) {
        return SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, file->path, 8,
                              "format version %u is newer than %d, the newest that is known",
                              version, SINTER__SST_VERSION);
    }
    if (unknown != 0) {
        const int bit = __builtin_ctzll(unknown);

        return SINTER__ERR_AT(
            err, SINTER_E_UNSUPPORTED, file->path, file->size - SINTER__SST_FOOTER_BYTES + 64,
            "the file uses incompatible feature %d (%s), which is not known", bit,
            ((uint64_t)1 << bit) == SINTER__SST_INCOMPATIBLE_STREAMS ? "value streams"
                                                                     : "of a later version");
    }
    return SINTER_OK;
}

static sinter_status
check_header(sinter__sst_file *file, sinter_error *err)
{
    uint8_t header[SINTER__SST_HEADER_BYTES];
    uint32_t version = 0;

    SINTER__CHECK(sinter__sst_file_read(file, 0, header, sizeof header, err));
    version = sinter__get_le32(header + 8);
    if (memcmp(header, SINTER__SST_MAGIC, SINTER__SST_MAGIC_BYTES) != 0) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, file->path, 0, "this is no sst file");
    }
    if (version > SINTER__SST_VERSION) {
        return check_features(file, version, err);
    }
    if (version != SINTER__SST_VERSION || sinter__get_le32(header + 12) != 0) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, file->path, 8, "the file's header is damaged");
    }
    return SINTER_OK;
}

/** Check that the footer's claims fit the file. NULL, or what doesn't. */
static const char *
footer_fault(const sinter__sst_file *file)
{
    const sinter__sst_footer *footer = &file->footer;
    const uint64_t end = file->size - SINTER__SST_FOOTER_BYTES;

    assert(file->size >= SINTER__SST_FOOTER_BYTES + SINTER__SST_HEADER_BYTES);
    if (footer->file_size != file->size) {
        return "the file has another size than its footer says";
    }
    if (footer->version != SINTER__SST_VERSION) {
        return "header and footer disagree about the format version";
    }
    if (!lies_inside(footer->properties_offset, footer->properties_size, end) ||
        footer->properties_offset + footer->properties_size != end) {
        return "the footer places the properties wrongly";
    }
    if (!lies_inside(footer->root_offset, footer->root_size, footer->properties_offset) ||
        footer->root_offset + footer->root_size != footer->properties_offset) {
        return "the footer places the index wrongly";
    }
    if (footer->level_count < 1 || footer->level_count > SINTER__SST_LEVEL_COUNT_MAX) {
        return "the index has an impossible number of levels";
    }
    return NULL;
}

static sinter_status
check_footer(sinter__sst_file *file, sinter_error *err)
{
    const uint64_t offset = file->size - SINTER__SST_FOOTER_BYTES;
    const char *fault = NULL;
    uint8_t bytes[SINTER__SST_FOOTER_BYTES];

    SINTER__CHECK(sinter__sst_file_read(file, offset, bytes, sizeof bytes, err));
    if (!sinter__sst_get_footer(bytes, &file->footer)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, file->path, offset,
                              "the file's footer is damaged or missing");
    }
    SINTER__CHECK(check_features(file, file->footer.version, err));
    fault = footer_fault(file);
    if (fault != NULL) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, file->path, offset, "%s", fault);
    }
    return SINTER_OK;
}

/** Check what the properties claim. NULL, or what is impossible. */
static const char *
claims_fault(const sinter__sst_file *file)
{
    const sinter_sst_properties *properties = &file->properties;

    if (properties->filter_bits_per_key > SINTER__FILTER_BITS_MAX) {
        return "a filter of more than 64 bits per key is impossible";
    }
    if (properties->largest_block > file->size ||
        properties->largest_block_rows > SINTER__SST_BLOCK_ROWS_MAX ||
        properties->largest_page > SINTER__SST_PAGE_BYTES_MAX ||
        properties->largest_key_part > SINTER_BLOCK_BYTES_MAX ||
        properties->largest_value_part > SINTER_BLOCK_BYTES_MAX) {
        return "a block or page as large as they say is impossible";
    }
    return NULL;
}

static sinter_status
load_properties(sinter__sst_file *file, sinter_error *err)
{
    const sinter__sst_footer *footer = &file->footer;
    const size_t size = (size_t)footer->properties_size;
    sinter_sst_properties *properties = &file->properties;
    const char *fault = NULL;

    assert(footer->properties_offset + size == file->size - SINTER__SST_FOOTER_BYTES);
    SINTER__CHECK(sinter__scratch_fit(file->env, &file->section, size, err));
    SINTER__CHECK(
        sinter__sst_file_read(file, footer->properties_offset, file->section.data, size, err));
    if (!sinter__sst_checksum_ok(footer->properties_checksum, file->section.data, size)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, file->path, footer->properties_offset,
                              "checksum of the properties is wrong");
    }
    fault = sinter__sst_get_properties((sinter_bytes){file->section.data, size}, properties);
    fault = fault == NULL ? claims_fault(file) : fault;
    if (fault != NULL) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, file->path, footer->properties_offset,
                              "properties: %s", fault);
    }
    properties->struct_size = (uint32_t)sizeof *properties;
    properties->format_version = footer->version;
    properties->features_compatible = footer->features_compatible;
    properties->features_incompatible = footer->features_incompatible;
    properties->file_size = file->size;
    properties->block_count = footer->block_count;
    if (!sinter_codec_is_built_in(properties->codec)) {
        return sinter__sst_file_fault(file, footer->properties_offset,
                                      sinter__codec_check(properties->codec, err), err);
    }
    return SINTER_OK;
}

/** Read the last bytes, which hold the footer and, mostly, properties and root. */
static sinter_status
load_tail(sinter__sst_file *file, sinter_error *err)
{
    const size_t size = file->size < TAIL_BYTES ? (size_t)file->size : TAIL_BYTES;
    sinter_io_range range = {.offset = file->size - size, .size = size};

    assert(size >= SINTER__SST_HEADER_BYTES + SINTER__SST_FOOTER_BYTES);
    SINTER__CHECK(sinter__scratch_fit(file->env, &file->tail, size, err));
    range.data = file->tail.data;
    SINTER__CHECK(file->handle->ops->read(file->handle, &range, 1, err));
    file->tail_offset = range.offset;
    return SINTER_OK;
}

sinter_status
sinter__sst_file_open(const sinter_env *env, const char *path,
                      const sinter__sst_open_options *options, sinter__sst_file *file,
                      sinter_error *err)
{
    sinter_status st = SINTER_OK;

    assert(env->io != NULL && file->handle == NULL);
    file->env = env;
    SINTER__TRY(sinter__strdup(env, path, &file->path, err));
    SINTER__TRY(env->io->ops->open(env->io, path, options->flags, &file->handle, err));
    SINTER__TRY(file->handle->ops->size(file->handle, &file->size, err));
    if (options->expected_bytes != 0 && options->expected_bytes != file->size) {
        SINTER__FAIL_AT(err, SINTER_E_CORRUPT, path, file->size,
                        "the file has %llu bytes, not the %llu that are recorded for it",
                        (unsigned long long)file->size,
                        (unsigned long long)options->expected_bytes);
    }
    if (file->size < SINTER__SST_HEADER_BYTES + SINTER__SST_FOOTER_BYTES ||
        file->size > INT64_MAX) {
        SINTER__FAIL_AT(err, SINTER_E_CORRUPT, path, file->size, "the file is too short");
    }
    SINTER__TRY(load_tail(file, err));
    if (!options->ignores_header) {
        SINTER__TRY(check_header(file, err));
    }
    SINTER__TRY(check_footer(file, err));
    SINTER__TRY(load_properties(file, err));
    file->format_tag = sinter__sst_format_tag(&file->properties);
out:
    if (st != SINTER_OK) {
        sinter__fail_file(err, path);
    }
    return st;
}

void
sinter__sst_file_close(sinter__sst_file *file)
{
    if (file->env == NULL) {
        return;
    }
    if (file->handle != NULL) {
        file->handle->ops->close(file->handle);
    }
    sinter__scratch_fini(file->env, &file->tail);
    sinter__scratch_fini(file->env, &file->section);
    sinter__free(file->env, file->path);
    memset(file, 0, sizeof *file);
}
