/*
 * The path holds the upper pages from the root down; the deepest one that has entries left gives
 * the next page. Pages and blocks stand in the file in the order in which the walk leaves them, so
 * `floor`, the end of what was seen last, only grows. That is what makes a walk over hostile bytes
 * end.
 */
#include "sst/index_cursor.h"

#include <string.h>

#include "base/bytes.h"
#include "sst/block.h"
#include "sst/codec.h"

/** Where a page stands, as the page above it or the footer says. */
typedef struct page_ref {
    uint64_t offset;
    uint64_t checksum;
    uint32_t size;
    uint32_t level;
    sinter_bytes last_key; /* data NULL: not known (root) */
} page_ref;

static sinter_status
fail_page(const sinter__index_cursor *cursor, uint64_t offset, const char *what, sinter_error *err)
{
    return SINTER__ERR_AT(err, SINTER_E_CORRUPT, cursor->file->path, offset, "index page: %s",
                          what);
}

/** Read a page and check what all pages have. */
static sinter_status
load_page(sinter__index_cursor *cursor, const page_ref *ref, sinter__scratch *bytes,
          sinter_error *err)
{
    sinter__sst_file *file = cursor->file;
    const uint64_t end = file->footer.properties_offset;
    const uint8_t *page = NULL;
    size_t size = ref->size;

    assert(end <= file->size && ref->level < SINTER__SST_LEVEL_COUNT_MAX);
    if (size < SINTER__SST_PAGE_HEADER_BYTES + SINTER__SST_CHECKSUM_BYTES ||
        size > SINTER__SST_PAGE_BYTES_MAX || ref->offset > end || size > end - ref->offset ||
        ref->offset < cursor->floor) {
        return fail_page(cursor, ref->offset, "its place is impossible", err);
    }
    SINTER__CHECK(sinter__scratch_fit(file->env, bytes, size + SINTER__SST_SLACK_BYTES, err));
    SINTER__CHECK(sinter__sst_file_read(file, ref->offset, bytes->data, size, err));
    page = bytes->data;
    size -= SINTER__SST_CHECKSUM_BYTES;
    if (!sinter__sst_checksum_ok(ref->checksum, page, size) ||
        !sinter__sst_checksum_ok(sinter__get_le64(page + size), page, size)) {
        return fail_page(cursor, ref->offset, "its checksum is wrong", err);
    }
    if (page[0] != ref->level || page[1] != 0 || page[2] != 0 || page[3] != 0 ||
        sinter__get_le32(page + 28) != 0) {
        return fail_page(cursor, ref->offset, "its header is wrong", err);
    }
    return SINTER_OK;
}

const char *
sinter__sst_entry_fault(const sinter__sst_entry *entry)
{
    const uint64_t raw = (uint64_t)entry->key_raw + entry->value_raw;
    const uint64_t key_bytes_max =
        entry->keys_front_coded ? (uint64_t)SINTER__SST_FRONT_CODED_KEY_BYTES_MAX : entry->key_raw;

    if (entry->rows == 0 || entry->rows > SINTER__SST_BLOCK_ROWS_MAX ||
        entry->retracts > entry->rows) {
        return "a block has an impossible row count";
    }
    if (raw > SINTER_BLOCK_BYTES_MAX || entry->key_raw < SINTER__SST_KEY_HEADER_BYTES ||
        entry->key_bytes > key_bytes_max || entry->value_stored > entry->value_raw ||
        entry->key_stored > entry->key_raw) {
        return "a block has impossible sizes";
    }
    /* Distinct keys: all but one have a byte at least. */
    if (entry->key_bytes < entry->rows - 1) {
        return "a block has too few bytes for its keys";
    }
    if (!sinter__codec_may_expand(entry->value_codec, entry->value_stored, entry->value_raw) ||
        !sinter__codec_may_expand(entry->key_codec, entry->key_stored, entry->key_raw)) {
        return "a block claims more bytes than its codec can pack";
    }
    if ((entry->value_codec == SINTER_CODEC_NONE && entry->value_stored != entry->value_raw) ||
        (entry->key_codec == SINTER_CODEC_NONE && entry->key_stored != entry->key_raw)) {
        return "a block without codec has another stored size";
    }
    if (entry->streams != 1) {
        return "a block refers to several value parts, which this format version has not";
    }
    return entry->sequence_min > entry->sequence_max ? "a block's sequence range is empty" : NULL;
}

/** Refuse a block whose codec this build has not. */
static sinter_status
check_codecs(const sinter__index_cursor *cursor, const sinter__leaf *leaf,
             const sinter__sst_entry *entry, sinter_error *err)
{
    sinter_status st = sinter__codec_check(entry->value_codec, err);

    if (st == SINTER_OK) {
        st = sinter__codec_check(entry->key_codec, err);
    }
    return st == SINTER_OK ? st : sinter__sst_file_fault(cursor->file, leaf->offset, st, err);
}

/** Take entry `i` off the page; `*position` goes behind it. */
static sinter_status
take_entry(const sinter__index_cursor *cursor, sinter__leaf *leaf, uint32_t i, size_t *position,
           sinter_error *err)
{
    const uint8_t *page = leaf->bytes.data;
    const size_t end = leaf->size - SINTER__SST_CHECKSUM_BYTES;
    sinter__sst_entry *entry = &leaf->entries[i];
    const char *fault = NULL;
    size_t keys_size = 0;

    assert(i < leaf->count && *position <= end);
    if (end - *position < SINTER__SST_ENTRY_BYTES) {
        return fail_page(cursor, leaf->offset, "it ends in the middle of an entry", err);
    }
    sinter__sst_get_entry(page + *position, entry);
    if (sinter__get_le64(page + *position + 88) != 0) {
        return fail_page(cursor, leaf->offset, "reserved bytes are set", err);
    }
    *position += SINTER__SST_ENTRY_BYTES;
    if (entry->first_key.size > SINTER_KEY_BYTES_MAX ||
        entry->last_key.size > SINTER_KEY_BYTES_MAX) {
        return fail_page(cursor, leaf->offset, "a key is longer than allowed", err);
    }
    keys_size = entry->first_key.size + entry->last_key.size;
    if (end - *position < keys_size) {
        return fail_page(cursor, leaf->offset, "it ends in the middle of a key", err);
    }
    entry->first_key.data = page + *position;
    entry->last_key.data = page + *position + entry->first_key.size;
    *position += keys_size;
    fault = sinter__sst_entry_fault(entry);
    if (fault == NULL && (entry->filter_offset > leaf->filter_size ||
                          entry->filter_size > leaf->filter_size - entry->filter_offset)) {
        fault = "a block's filter stands outside the filter section";
    }
    if (fault == NULL && entry->keys_front_coded &&
        (cursor->file->footer.features_incompatible & SINTER__SST_INCOMPATIBLE_FRONT_CODING) == 0) {
        fault = "a block has front-coded keys, which the footer doesn't announce";
    }
    if (fault != NULL) {
        return fail_page(cursor, leaf->offset, fault, err);
    }
    return check_codecs(cursor, leaf, entry, err);
}

/** Check that an entry follows the one before it, in place and in keys. */
static sinter_status
check_entry_order(const sinter__index_cursor *cursor, const sinter__leaf *leaf, uint32_t i,
                  sinter_error *err)
{
    const sinter__sst_entry *entry = &leaf->entries[i];
    const sinter_bytes before = {cursor->last_key.data, cursor->last_key_size};
    const bool has_before = i > 0 || cursor->has_last_key;
    const int order = sinter__key_compare(entry->first_key, entry->last_key);

    if (i == 0 ? entry->offset < cursor->floor
               : entry->offset != leaf->entries[i - 1].offset +
                                      sinter__sst_entry_stored(&leaf->entries[i - 1])) {
        return fail_page(cursor, leaf->offset, "a block doesn't follow the block before it", err);
    }
    if (sinter__sst_entry_stored(entry) > leaf->filter_offset ||
        entry->offset > leaf->filter_offset - sinter__sst_entry_stored(entry)) {
        return fail_page(cursor, leaf->offset, "a block reaches into the index", err);
    }
    if (has_before && sinter__key_compare(i > 0 ? leaf->entries[i - 1].last_key : before,
                                          entry->first_key) >= 0) {
        return fail_page(cursor, leaf->offset, "keys of its blocks don't ascend", err);
    }
    if (entry->rows == 1 ? order != 0 : order >= 0) {
        return fail_page(cursor, leaf->offset, "first and last key of a block don't fit", err);
    }
    return SINTER_OK;
}

static sinter_status
take_entries(sinter__index_cursor *cursor, sinter__leaf *leaf, sinter_error *err)
{
    size_t position = SINTER__SST_PAGE_HEADER_BYTES;

    if (leaf->count > (leaf->size - position) / SINTER__SST_ENTRY_BYTES) {
        return fail_page(cursor, leaf->offset, "it has more entries than fit", err);
    }
    SINTER__CHECK(sinter__scratch_fit(cursor->file->env, &leaf->entry_memory,
                                      (leaf->count + 1) * sizeof *leaf->entries, err));
    leaf->entries = (sinter__sst_entry *)(void *)leaf->entry_memory.data;
    for (uint32_t i = 0; i < leaf->count; i++) {
        SINTER__CHECK(take_entry(cursor, leaf, i, &position, err));
        SINTER__CHECK(check_entry_order(cursor, leaf, i, err));
    }
    if (position != leaf->size - SINTER__SST_CHECKSUM_BYTES) {
        return fail_page(cursor, leaf->offset, "bytes are left over behind its entries", err);
    }
    return SINTER_OK;
}

/** Keep the last key that was seen, to compare it with what follows. */
static sinter_status
keep_last_key(sinter__index_cursor *cursor, sinter_bytes key, sinter_error *err)
{
    SINTER__CHECK(sinter__scratch_fit(cursor->file->env, &cursor->last_key, key.size + 1, err));
    memcpy(cursor->last_key.data, key.data, key.size);
    cursor->last_key_size = key.size;
    cursor->has_last_key = true;
    return SINTER_OK;
}

static bool
has_more(const sinter__index_cursor *cursor)
{
    for (uint32_t i = 0; i < cursor->depth; i++) {
        if (cursor->path[i].left > 0) {
            return true;
        }
    }
    return false;
}

static sinter_status
load_leaf(sinter__index_cursor *cursor, const page_ref *ref, sinter__leaf *leaf, sinter_error *err)
{
    const bool is_root = ref->last_key.data == NULL;
    const sinter__sst_entry *last = NULL;
    uint64_t blocks_end = 0;

    assert(ref->level == 0);
    SINTER__CHECK(load_page(cursor, ref, &leaf->bytes, err));
    leaf->offset = ref->offset;
    leaf->size = ref->size;
    leaf->count = sinter__get_le32(leaf->bytes.data + 4);
    leaf->filter_offset = sinter__get_le64(leaf->bytes.data + 8);
    leaf->filter_checksum = sinter__get_le64(leaf->bytes.data + 16);
    leaf->filter_size = sinter__get_le32(leaf->bytes.data + 24);
    leaf->is_last = !has_more(cursor);
    if (leaf->filter_offset > leaf->offset ||
        leaf->offset - leaf->filter_offset != leaf->filter_size ||
        leaf->filter_size > SINTER__SST_FILTER_BYTES_MAX) {
        return fail_page(cursor, leaf->offset, "its filter section isn't in front of it", err);
    }
    if (leaf->count == 0 && !is_root) {
        return fail_page(cursor, leaf->offset, "it has no entries", err);
    }
    SINTER__CHECK(take_entries(cursor, leaf, err));
    last = leaf->count > 0 ? &leaf->entries[leaf->count - 1] : NULL;
    blocks_end =
        last == NULL ? SINTER__SST_HEADER_BYTES : last->offset + sinter__sst_entry_stored(last);
    if (blocks_end != leaf->filter_offset) {
        return fail_page(cursor, leaf->offset, "it doesn't follow its blocks", err);
    }
    if (last != NULL) {
        if (!is_root && sinter__key_compare(last->last_key, ref->last_key) != 0) {
            return fail_page(cursor, leaf->offset, "its last key isn't what is said above it", err);
        }
        SINTER__CHECK(keep_last_key(cursor, last->last_key, err));
    }
    cursor->floor = leaf->offset + leaf->size;
    return SINTER_OK;
}

static sinter_status
load_upper(sinter__index_cursor *cursor, const page_ref *ref, sinter_error *err)
{
    sinter__upper_page *page = &cursor->path[cursor->depth];

    assert(cursor->depth < SINTER__SST_LEVEL_COUNT_MAX);
    assert(ref->level > 0);
    SINTER__CHECK(load_page(cursor, ref, &page->bytes, err));
    page->place = (sinter__extent){ref->offset, ref->size};
    page->position = SINTER__SST_PAGE_HEADER_BYTES;
    page->end = ref->size - SINTER__SST_CHECKSUM_BYTES;
    page->last_key = ref->last_key;
    page->left = sinter__get_le32(page->bytes.data + 4);
    if (page->left == 0 || page->left > (page->end - page->position) / SINTER__SST_CHILD_BYTES) {
        return fail_page(cursor, ref->offset, "it has an impossible number of entries", err);
    }
    cursor->depth++;
    return SINTER_OK;
}

/** Take the next entry off the deepest page, which has one. */
static sinter_status
take_child(sinter__index_cursor *cursor, page_ref *out, sinter_error *err)
{
    sinter__upper_page *page = &cursor->path[cursor->depth - 1];
    const uint8_t *fixed = page->bytes.data + page->position;

    assert(cursor->depth > 0 && cursor->depth < cursor->file->footer.level_count);
    assert(page->left > 0);
    if (page->end - page->position < SINTER__SST_CHILD_BYTES) {
        return fail_page(cursor, page->place.offset, "it ends in the middle of an entry", err);
    }
    out->offset = sinter__get_le64(fixed);
    out->checksum = sinter__get_le64(fixed + 8);
    out->size = sinter__get_le32(fixed + 16);
    out->level = cursor->file->footer.level_count - 1 - cursor->depth;
    out->last_key.size = sinter__get_le32(fixed + 20);
    out->last_key.data = fixed + SINTER__SST_CHILD_BYTES;
    page->position += SINTER__SST_CHILD_BYTES;
    if (out->last_key.size > page->end - page->position) {
        return fail_page(cursor, page->place.offset, "it ends in the middle of a key", err);
    }
    page->position += out->last_key.size;
    page->left--;
    if (page->left == 0 && page->position != page->end) {
        return fail_page(cursor, page->place.offset, "bytes are left over behind its entries", err);
    }
    if (page->left == 0 && page->last_key.data != NULL &&
        sinter__key_compare(page->last_key, out->last_key) != 0) {
        return fail_page(cursor, page->place.offset, "its last key isn't what is said above it",
                         err);
    }
    if (out->offset >= page->place.offset || out->size > page->place.offset - out->offset) {
        return fail_page(cursor, page->place.offset, "a page below it stands behind it", err);
    }
    return SINTER_OK;
}

/** Go up until a page has entries left. */
static sinter_status
leave_exhausted(sinter__index_cursor *cursor, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    while (st == SINTER_OK && cursor->depth > 0 && cursor->path[cursor->depth - 1].left == 0) {
        const sinter__extent place = cursor->path[cursor->depth - 1].place;

        if (place.offset < cursor->floor) {
            return fail_page(cursor, place.offset, "it stands in front of what it describes", err);
        }
        cursor->floor = place.offset + place.size;
        cursor->depth--;
        if (cursor->leave != NULL) {
            st = cursor->leave(cursor->leave_ctx, place, err);
        }
    }
    return st;
}

static page_ref
root_ref(const sinter__index_cursor *cursor)
{
    const sinter__sst_footer *footer = &cursor->file->footer;

    return (page_ref){.offset = footer->root_offset,
                      .checksum = footer->root_checksum,
                      .size = footer->root_size,
                      .level = footer->level_count - 1};
}

/** Load the root; a root that is a leaf goes into `leaf`. */
static sinter_status
load_root(sinter__index_cursor *cursor, sinter__leaf *leaf, sinter_error *err)
{
    const page_ref root = root_ref(cursor);

    assert(cursor->file->footer.level_count >= 1);
    cursor->is_placed = true;
    cursor->depth = 0;
    cursor->floor = SINTER__SST_HEADER_BYTES;
    cursor->has_last_key = false;
    return root.level == 0 ? load_leaf(cursor, &root, leaf, err) : load_upper(cursor, &root, err);
}

sinter_status
sinter__index_cursor_next(sinter__index_cursor *cursor, sinter__leaf *leaf, sinter_error *err)
{
    page_ref child = {0};

    if (!cursor->is_placed) {
        SINTER__CHECK(load_root(cursor, leaf, err));
        if (cursor->depth == 0) {
            return leaf->count > 0 ? SINTER_OK : SINTER_END;
        }
    }
    SINTER__CHECK(leave_exhausted(cursor, err));
    if (cursor->depth == 0) {
        return SINTER_END;
    }
    for (;;) {
        SINTER__CHECK(take_child(cursor, &child, err));
        if (child.level == 0) {
            return load_leaf(cursor, &child, leaf, err);
        }
        SINTER__CHECK(load_upper(cursor, &child, err));
    }
}

uint32_t
sinter__leaf_find(const sinter__leaf *leaf, sinter_bytes key)
{
    uint32_t begin = 0;
    uint32_t end = leaf->count;

    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;

        if (sinter__key_compare(leaf->entries[middle].last_key, key) < 0) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

/** Take the first entry off the deepest page whose last key is >= `key`. SINTER_END: none. */
static sinter_status
take_child_for(sinter__index_cursor *cursor, sinter_bytes key, page_ref *out, sinter_error *err)
{
    assert(cursor->depth > 0);
    while (cursor->path[cursor->depth - 1].left > 0) {
        SINTER__CHECK(take_child(cursor, out, err));
        if (sinter__key_compare(out->last_key, key) >= 0) {
            return SINTER_OK;
        }
    }
    return SINTER_END;
}

/** Go from the root, which is loaded, to the leaf that the key belongs to. */
static sinter_status
descend_to(sinter__index_cursor *cursor, sinter_bytes key, sinter__leaf *leaf, sinter_error *err)
{
    page_ref child = {.level = 0};

    SINTER__CHECK(take_child_for(cursor, key, &child, err));
    while (child.level > 0) {
        SINTER__CHECK(load_upper(cursor, &child, err));
        SINTER__CHECK(take_child_for(cursor, key, &child, err));
    }
    return load_leaf(cursor, &child, leaf, err);
}

sinter_status
sinter__index_cursor_seek(sinter__index_cursor *cursor, sinter_bytes key, sinter__leaf *leaf,
                          sinter_error *err)
{
    SINTER__CHECK(load_root(cursor, leaf, err));
    if (cursor->depth > 0) {
        SINTER__CHECK(descend_to(cursor, key, leaf, err));
    }
    return sinter__leaf_find(leaf, key) < leaf->count ? SINTER_OK : SINTER_END;
}

sinter_status
sinter__leaf_load_filters(sinter__sst_file *file, const sinter__leaf *leaf, sinter__scratch *out,
                          sinter_error *err)
{
    assert(leaf->filter_size <= SINTER__SST_FILTER_BYTES_MAX);
    SINTER__CHECK(sinter__scratch_fit(file->env, out, leaf->filter_size, err));
    SINTER__CHECK(
        sinter__sst_file_read(file, leaf->filter_offset, out->data, leaf->filter_size, err));
    if (!sinter__sst_checksum_ok(leaf->filter_checksum, out->data, leaf->filter_size)) {
        return SINTER__ERR_AT(err, SINTER_E_CORRUPT, file->path, leaf->filter_offset,
                              "checksum of the key filters is wrong");
    }
    return SINTER_OK;
}

void
sinter__leaf_fini(const sinter_env *env, sinter__leaf *leaf)
{
    sinter__scratch_fini(env, &leaf->bytes);
    sinter__scratch_fini(env, &leaf->entry_memory);
    memset(leaf, 0, sizeof *leaf);
}

void
sinter__index_cursor_fini(sinter__index_cursor *cursor)
{
    if (cursor->file == NULL) {
        return;
    }
    sinter__scratch_fini(cursor->file->env, &cursor->last_key);
    for (uint32_t i = 0; i < SINTER__SST_LEVEL_COUNT_MAX; i++) {
        sinter__scratch_fini(cursor->file->env, &cursor->path[i].bytes);
    }
}
