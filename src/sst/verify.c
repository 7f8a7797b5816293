/*
 * Verification: a walk over the whole file that accounts for every byte. The parts stand in the
 * order in which the walk over the index leaves them (index_writer.c), so each must begin where
 * the one before it ended, from the header to the footer.
 */
#include "sst/verify.h"

#include <string.h>

#include "base/bytes.h"
#include "base/load.h"
#include "sst/block.h"
#include "sst/filter.h"
#include "sst/index_cursor.h"
#include "sst/properties.h"

typedef struct verifier {
    const sinter_env *env;
    const sinter_verify_options *options;
    sinter__sst_file file;
    sinter__index_cursor cursor;
    sinter__leaf leaf;
    sinter__scratch filters;
    sinter__scratch stored;
    sinter__scratch last_key; /* of the last block */
    size_t last_key_size;
    sinter__sst_decoder decoder;
    uint64_t position; /* end of what is accounted for */
    sinter_sst_properties sums;
} verifier;

static sinter_status
fail_at(const verifier *self, uint64_t offset, const char *what, sinter_error *err)
{
    return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->file.path, offset, "%s", what);
}

/** Account for a part of the file, which must follow the one before it. */
static sinter_status
account(verifier *self, uint64_t offset, uint64_t size, sinter_error *err)
{
    assert(self->position <= self->file.size);
    if (offset != self->position) {
        return fail_at(self, self->position < offset ? self->position : offset,
                       "bytes belong to nothing, or to two things", err);
    }
    assert(size <= self->file.size - self->position);
    self->position += size;
    return SINTER_OK;
}

/** Account for a page of the index. */
static sinter_status
account_page(verifier *self, uint64_t offset, uint64_t size, sinter_error *err)
{
    assert(size <= SINTER__SST_PAGE_BYTES_MAX);
    if (size > self->sums.largest_page) {
        self->sums.largest_page = (uint32_t)size;
    }
    return account(self, offset, size, err);
}

static sinter_status
leave_upper_page(void *ctx, sinter__extent place, sinter_error *err)
{
    return account_page(ctx, place.offset, place.size, err);
}

/** Do the entry's sequences and retracts describe the rows? */
static sinter_status
check_entry_claims(const verifier *self, const sinter__sst_entry *entry, sinter_error *err)
{
    const sinter__sst_decoded *decoded = &self->decoder.out;
    int64_t min = decoded->sequences[0];
    int64_t max = decoded->sequences[0];

    assert(decoded->keys.rows == entry->rows);
    assert(entry->rows > 0);
    for (uint32_t i = 1; i < entry->rows; i++) {
        min = decoded->sequences[i] < min ? decoded->sequences[i] : min;
        max = decoded->sequences[i] > max ? decoded->sequences[i] : max;
    }
    if (min != entry->sequence_min || max != entry->sequence_max) {
        return fail_at(self, entry->offset, "sequences of a block differ from the index", err);
    }
    return SINTER_OK;
}

static sinter_status
check_filter(verifier *self, const sinter__sst_entry *entry, sinter_error *err)
{
    const sinter_bytes filter = {self->filters.data + entry->filter_offset, entry->filter_size};
    const sinter__keys *keys = &self->decoder.out.keys;
    const uint64_t offset = self->leaf.filter_offset + entry->filter_offset;

    assert(entry->filter_offset + (uint64_t)entry->filter_size <= self->leaf.filter_size);
    if ((entry->filter_size > 0) != (self->file.properties.filter_bits_per_key > 0)) {
        return fail_at(self, entry->offset, "a block's filter differs from the properties", err);
    }
    if (entry->filter_size == 0) {
        return SINTER_OK;
    }
    if (!sinter__filter_ok(filter)) {
        return fail_at(self, offset, "a key filter is malformed", err);
    }
    for (uint32_t i = 0; i < keys->rows; i++) {
        if (!sinter__filter_may_hold(filter, sinter__keys_at(keys, i))) {
            return fail_at(self, offset, "a key filter doesn't know a key of its block", err);
        }
    }
    return SINTER_OK;
}

/** Add a block to the sums that the properties must equal. */
static sinter_status
sum_block(verifier *self, const sinter__sst_entry *entry, sinter_error *err)
{
    sinter_sst_properties *sums = &self->sums;
    const bool is_first = sums->block_count == 0;

    if (is_first && (entry->first_key.size != self->file.properties.min_key.size ||
                     sinter__key_compare(entry->first_key, self->file.properties.min_key) != 0)) {
        return fail_at(self, self->file.footer.properties_offset,
                       "the smallest key differs from the properties", err);
    }
    sums->sequence_min = is_first || entry->sequence_min < sums->sequence_min ? entry->sequence_min
                                                                              : sums->sequence_min;
    sums->sequence_max = is_first || entry->sequence_max > sums->sequence_max ? entry->sequence_max
                                                                              : sums->sequence_max;
    sums->block_count++;
    sums->row_count += entry->rows;
    sums->retract_count += entry->retracts;
    sums->raw_key_bytes += entry->key_bytes;
    sums->raw_value_bytes += entry->value_raw;
    sums->stored_bytes += sinter__sst_entry_stored(entry);
    sinter__sst_count_largest(sums, entry);
    SINTER__CHECK(sinter__scratch_fit(self->env, &self->last_key, entry->last_key.size + 1, err));
    memcpy(self->last_key.data, entry->last_key.data, entry->last_key.size);
    self->last_key_size = entry->last_key.size;
    return SINTER_OK;
}

static sinter_status
verify_block(verifier *self, const sinter__sst_entry *entry, sinter_error *err)
{
    const uint64_t size = sinter__sst_entry_stored(entry);

    SINTER__CHECK(account(self, entry->offset, size, err));
    SINTER__CHECK(
        sinter__scratch_fit(self->env, &self->stored, (size_t)size + SINTER__SST_SLACK_BYTES, err));
    SINTER__CHECK(
        sinter__sst_file_read(&self->file, entry->offset, self->stored.data, (size_t)size, err));
    SINTER__CHECK(sinter__sst_check_stored(self->file.path, entry, self->stored.data, err));
    SINTER__CHECK(sinter__sst_decode_keys(&self->decoder, entry,
                                          self->stored.data + entry->value_stored, err));
    SINTER__CHECK(sinter__sst_decode_values(&self->decoder, entry, self->stored.data, err));
    SINTER__CHECK(check_entry_claims(self, entry, err));
    SINTER__CHECK(check_filter(self, entry, err));
    return sum_block(self, entry, err);
}

/** Filters stand in the section in the order of their blocks, without gaps. */
static sinter_status
verify_filter_section(verifier *self, sinter_error *err)
{
    const sinter__leaf *leaf = &self->leaf;
    uint64_t end = 0;

    SINTER__CHECK(sinter__leaf_load_filters(&self->file, leaf, &self->filters, err));
    for (uint32_t i = 0; i < leaf->count; i++) {
        if (leaf->entries[i].filter_size > 0 && leaf->entries[i].filter_offset != end) {
            return fail_at(self, leaf->filter_offset + end, "bytes between key filters", err);
        }
        end += leaf->entries[i].filter_size;
    }
    if (end != leaf->filter_size) {
        return fail_at(self, leaf->filter_offset + end, "bytes behind the key filters", err);
    }
    return SINTER_OK;
}

static sinter_status
check_cancelled(const verifier *self, sinter_error *err)
{
    const sinter_verify_options *options = self->options;

    if (options->is_cancelled != NULL && options->is_cancelled(options->cancel_ctx)) {
        return SINTER__ERR(err, SINTER_E_CANCELLED, "cancelled while a file was verified");
    }
    return SINTER_OK;
}

static sinter_status
verify_leaf(verifier *self, sinter_error *err)
{
    const sinter__leaf *leaf = &self->leaf;

    SINTER__CHECK(verify_filter_section(self, err));
    for (uint32_t i = 0; i < leaf->count; i++) {
        SINTER__CHECK(check_cancelled(self, err));
        SINTER__CHECK(verify_block(self, &leaf->entries[i], err));
    }
    SINTER__CHECK(account(self, leaf->filter_offset, leaf->filter_size, err));
    return account_page(self, leaf->offset, leaf->size, err);
}

/** Are the properties that name the largest of a kind right, where the file has them? */
static bool
names_largest(const sinter_sst_properties *said, const sinter_sst_properties *sums)
{
    return (said->largest_block == 0 || said->largest_block == sums->largest_block) &&
           (said->largest_key_part == 0 || said->largest_key_part == sums->largest_key_part) &&
           (said->largest_value_part == 0 ||
            said->largest_value_part == sums->largest_value_part) &&
           (said->largest_block_rows == 0 ||
            said->largest_block_rows == sums->largest_block_rows) &&
           (said->largest_page == 0 || said->largest_page == sums->largest_page);
}

/** Do the properties equal what the blocks add up to? */
static sinter_status
check_sums(const verifier *self, sinter_error *err)
{
    const sinter_sst_properties *sums = &self->sums;
    const sinter_sst_properties *said = &self->file.properties;
    const sinter_bytes last = {self->last_key.data, self->last_key_size};

    if (sums->block_count != said->block_count || sums->row_count != said->row_count ||
        sums->retract_count != said->retract_count || sums->raw_key_bytes != said->raw_key_bytes ||
        sums->raw_value_bytes != said->raw_value_bytes ||
        sums->stored_bytes != said->stored_bytes || sums->sequence_min != said->sequence_min ||
        sums->sequence_max != said->sequence_max) {
        return fail_at(self, self->file.footer.properties_offset,
                       "the properties differ from what the blocks hold", err);
    }
    if (!names_largest(said, sums)) {
        return fail_at(self, self->file.footer.properties_offset,
                       "the properties name another largest block or page than there is", err);
    }
    if (sinter__key_compare(last, said->max_key) != 0) {
        return fail_at(self, self->file.footer.properties_offset,
                       "the largest key differs from the properties", err);
    }
    return SINTER_OK;
}

static sinter_status
verify_file(verifier *self, sinter_error *err)
{
    const sinter__sst_footer *footer = &self->file.footer;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(account(self, 0, SINTER__SST_HEADER_BYTES, err));
    for (;;) {
        st = sinter__index_cursor_next(&self->cursor, &self->leaf, err);
        if (st != SINTER_OK) {
            break;
        }
        SINTER__CHECK(verify_leaf(self, err));
    }
    if (st != SINTER_END) {
        return st;
    }
    if (self->leaf.count == 0 && self->sums.block_count == 0) {
        SINTER__CHECK(account_page(self, self->leaf.offset, self->leaf.size, err));
    }
    SINTER__CHECK(account(self, footer->properties_offset, footer->properties_size, err));
    SINTER__CHECK(
        account(self, self->file.size - SINTER__SST_FOOTER_BYTES, SINTER__SST_FOOTER_BYTES, err));
    return check_sums(self, err);
}

static void
verifier_fini(verifier *self)
{
    sinter__sst_decoder_fini(&self->decoder);
    sinter__scratch_fini(self->env, &self->stored);
    sinter__scratch_fini(self->env, &self->filters);
    sinter__scratch_fini(self->env, &self->last_key);
    sinter__leaf_fini(self->env, &self->leaf);
    sinter__index_cursor_fini(&self->cursor);
    sinter__sst_file_close(&self->file);
}

/** Fail unless a number of the file is the one that was said. */
static sinter_status
check_number(const verifier *self, const char *what, int64_t found, int64_t said, sinter_error *err)
{
    if (found != said) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->file.path, -1,
                              "%s of the file is %lld, its writer said %lld", what,
                              (long long)found, (long long)said);
    }
    return SINTER_OK;
}

static sinter_status
check_key(const verifier *self, const char *what, sinter_bytes found, sinter_bytes said,
          sinter_error *err)
{
    if (found.size != said.size || sinter__key_compare(found, said) != 0) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, self->file.path, -1,
                              "the %s key of the file is not the one its writer said", what);
    }
    return SINTER_OK;
}

/** Is the file, which is in order by itself, the one that was written? */
static sinter_status
check_said(const verifier *self, const sinter_file_stats *said, sinter_error *err)
{
    const sinter_sst_properties *found = &self->file.properties;

    SINTER__CHECK(
        check_number(self, "size", (int64_t)self->file.size, (int64_t)said->file_size, err));
    SINTER__CHECK(check_number(self, "number of rows", (int64_t)found->row_count,
                               (int64_t)said->row_count, err));
    SINTER__CHECK(check_number(self, "number of retracts", (int64_t)found->retract_count,
                               (int64_t)said->retract_count, err));
    SINTER__CHECK(
        check_number(self, "smallest sequence", found->sequence_min, said->sequence_min, err));
    SINTER__CHECK(
        check_number(self, "largest sequence", found->sequence_max, said->sequence_max, err));
    SINTER__CHECK(check_key(self, "smallest", found->min_key, said->min_key, err));
    return check_key(self, "largest", found->max_key, said->max_key, err);
}

sinter_status
sinter__sst_verify(const sinter_env *env, const char *path, const sinter_verify_options *options,
                   sinter_sst_verify_result *out, sinter_error *err)
{
    const sinter__sst_open_options opening = {
        .flags = SINTER_IO_SEQUENTIAL | (options->direct ? (uint32_t)SINTER_IO_DIRECT : 0)};
    verifier *self = NULL;
    sinter_status st = SINTER_OK;

    SINTER__CHECK(SINTER__NEW(env, self, 1, err));
    self->env = env;
    self->options = options;
    SINTER__TRY(sinter__sst_file_open(env, path, &opening, &self->file, err));
    self->cursor.file = &self->file;
    self->cursor.leave = leave_upper_page;
    self->cursor.leave_ctx = self;
    self->decoder.env = env;
    self->decoder.codec.env = env;
    self->decoder.path = self->file.path;
    SINTER__TRY(verify_file(self, err));
    assert(self->position == self->file.size);
    if (options->said != NULL) {
        SINTER__TRY(check_said(self, options->said, err));
    }
    if (out != NULL) {
        const sinter_sst_verify_result result = {.struct_size = (uint32_t)sizeof result,
                                                 .blocks = self->sums.block_count,
                                                 .rows = self->sums.row_count,
                                                 .bytes = self->position};

        sinter__struct_store(out, &result, sizeof result);
    }
out:
    if (st != SINTER_OK) {
        sinter__fail_file(err, path);
    }
    verifier_fini(self);
    sinter__free(env, self);
    return st;
}

sinter_status
sinter_sst_verify(const sinter_env *env, const char *path, sinter_sst_verify_result *out,
                  sinter_error *err)
{
    static const sinter_verify_options by_itself = {.struct_size = (uint32_t)sizeof by_itself};

    SINTER__REQUIRE(err, env != NULL && path != NULL);
    return sinter__sst_verify(env, path, &by_itself, out, err);
}
