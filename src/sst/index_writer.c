/*
 * Page: header (level, entry count, place of the filter section), entries, checksum. A full page is
 * written at once and gets an entry in the page above, which may then be full, and so on:
 *
 *   blocks.. filters leaf | blocks.. filters leaf upper | blocks.. filters leaf upper root
 *
 * so the parts of a file stand in the order in which a walk from the root leaves them.
 */
#include "sst/index_writer.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

/** Where a page came to stand. */
typedef struct page_place {
    uint64_t offset;
    uint64_t checksum;
    uint32_t size;
} page_place;

static sinter_status
begin_page(sinter__index_writer *index, uint32_t level, sinter_error *err)
{
    static const uint8_t zeros[SINTER__SST_PAGE_HEADER_BYTES] = {0};
    sinter__open_page *page = &index->levels[level];

    assert(page->bytes.size == 0 && page->entry_count == 0);
    return sinter__pile_append(index->sink->env, &page->bytes, zeros, sizeof zeros, err);
}

/** Put the filter section in front of a leaf page and name it in the page. */
static sinter_status
write_filters(sinter__index_writer *index, uint8_t *header, sinter_error *err)
{
    sinter__pile *filters = &index->filters;

    assert(filters->size <= SINTER__SST_FILTER_BYTES_MAX);
    sinter__put_le64(header + 8, sinter__sst_sink_offset(index->sink));
    sinter__put_le64(header + 16, sinter__hash(filters->memory.data, filters->size));
    sinter__put_le32(header + 24, (uint32_t)filters->size);
    if (filters->size > 0) {
        SINTER__CHECK(
            sinter__sst_sink_write(index->sink, filters->memory.data, filters->size, err));
        filters->size = 0;
    }
    return SINTER_OK;
}

/** Write the open page of a level and empty it, but for its counts. */
static sinter_status
write_page(sinter__index_writer *index, uint32_t level, page_place *out, sinter_error *err)
{
    sinter__open_page *page = &index->levels[level];
    uint8_t checksum[SINTER__SST_CHECKSUM_BYTES];

    assert(page->bytes.size >= SINTER__SST_PAGE_HEADER_BYTES);
    assert(page->bytes.size < SINTER__SST_PAGE_BYTES_MAX);
    page->bytes.memory.data[0] = (uint8_t)level;
    sinter__put_le32(page->bytes.memory.data + 4, page->entry_count);
    if (level == 0) {
        SINTER__CHECK(write_filters(index, page->bytes.memory.data, err));
    }
    out->checksum = sinter__hash(page->bytes.memory.data, page->bytes.size);
    out->offset = sinter__sst_sink_offset(index->sink);
    out->size = (uint32_t)(page->bytes.size + sizeof checksum);
    sinter__put_le64(checksum, out->checksum);
    SINTER__CHECK(
        sinter__sst_sink_write(index->sink, page->bytes.memory.data, page->bytes.size, err));
    SINTER__CHECK(sinter__sst_sink_write(index->sink, checksum, sizeof checksum, err));
    page->written_count++;
    index->largest_page = out->size > index->largest_page ? out->size : index->largest_page;
    return SINTER_OK;
}

/** Add the entry of a written page to the page above it. */
static sinter_status
add_child(sinter__index_writer *index, uint32_t level, const page_place *place, sinter_error *err)
{
    const sinter__open_page *child = &index->levels[level - 1];
    sinter__open_page *page = &index->levels[level];
    const sinter_env *env = index->sink->env;
    uint8_t fixed[SINTER__SST_CHILD_BYTES];

    assert(child->entry_count > 0 && child->bytes.size > 0);
    assert(child->last_key_begin + child->last_key_size == child->bytes.size);
    if (page->bytes.size == 0) {
        SINTER__CHECK(begin_page(index, level, err));
    }
    sinter__put_le64(fixed, place->offset);
    sinter__put_le64(fixed + 8, place->checksum);
    sinter__put_le32(fixed + 16, place->size);
    sinter__put_le32(fixed + 20, (uint32_t)child->last_key_size);
    sinter__put_le64(fixed + 24, child->rows);
    sinter__put_le64(fixed + 32, child->blocks);
    SINTER__CHECK(sinter__pile_append(env, &page->bytes, fixed, sizeof fixed, err));
    page->last_key_begin = page->bytes.size;
    page->last_key_size = child->last_key_size;
    SINTER__CHECK(sinter__pile_append(env, &page->bytes,
                                      child->bytes.memory.data + child->last_key_begin,
                                      child->last_key_size, err));
    page->entry_count++;
    page->rows += child->rows;
    page->blocks += child->blocks;
    return SINTER_OK;
}

static void
empty_page(sinter__open_page *page)
{
    page->bytes.size = 0;
    page->entry_count = 0;
    page->rows = 0;
    page->blocks = 0;
}

/** Write a page and enter it into the one above. */
static sinter_status
push_up(sinter__index_writer *index, uint32_t level, sinter_error *err)
{
    page_place place;

    assert(index->levels[level].entry_count > 0);
    if (level + 1 >= SINTER__SST_LEVEL_COUNT_MAX) {
        return SINTER__ERR(err, SINTER_E_TOO_LARGE, "the index needs more than %d levels",
                           SINTER__SST_LEVEL_COUNT_MAX);
    }
    SINTER__CHECK(write_page(index, level, &place, err));
    SINTER__CHECK(add_child(index, level + 1, &place, err));
    empty_page(&index->levels[level]);
    return SINTER_OK;
}

/** Write the pages that have reached their size, from the leaf upwards. */
static sinter_status
push_full_pages(sinter__index_writer *index, sinter_error *err)
{
    for (uint32_t level = 0; level < SINTER__SST_LEVEL_COUNT_MAX; level++) {
        const sinter__open_page *page = &index->levels[level];
        /* An upper page has two entries at least, else levels could be piled up without end. */
        const uint32_t entries_min = level == 0 ? 1 : 2;
        const bool is_full = page->bytes.size >= index->page_bytes ||
                             (level == 0 && index->filters.size >= SINTER__SST_FILTER_TARGET_BYTES);

        if (!is_full || page->entry_count < entries_min) {
            break;
        }
        SINTER__CHECK(push_up(index, level, err));
    }
    return SINTER_OK;
}

sinter_status
sinter__index_writer_add(sinter__index_writer *index, const sinter__sst_entry *entry,
                         sinter_bytes filter, sinter_error *err)
{
    sinter__open_page *page = &index->levels[0];
    const sinter_env *env = index->sink->env;
    sinter__sst_entry placed = *entry;
    uint8_t fixed[SINTER__SST_ENTRY_BYTES];

    assert(entry->rows > 0 && entry->retracts <= entry->rows);
    assert(entry->offset + sinter__sst_entry_stored(entry) == sinter__sst_sink_offset(index->sink));
    if (page->bytes.size == 0) {
        SINTER__CHECK(begin_page(index, 0, err));
    }
    placed.filter_offset = filter.size == 0 ? 0 : (uint32_t)index->filters.size;
    placed.filter_size = (uint32_t)filter.size;
    SINTER__CHECK(sinter__pile_append(env, &index->filters, filter.data, filter.size, err));
    sinter__sst_put_entry(fixed, &placed);
    SINTER__CHECK(sinter__pile_append(env, &page->bytes, fixed, sizeof fixed, err));
    SINTER__CHECK(
        sinter__pile_append(env, &page->bytes, entry->first_key.data, entry->first_key.size, err));
    page->last_key_begin = page->bytes.size;
    page->last_key_size = entry->last_key.size;
    SINTER__CHECK(
        sinter__pile_append(env, &page->bytes, entry->last_key.data, entry->last_key.size, err));
    page->entry_count++;
    page->rows += entry->rows;
    page->blocks++;
    return push_full_pages(index, err);
}

uint64_t
sinter__index_writer_pending(const sinter__index_writer *index)
{
    uint64_t bytes = index->filters.size;

    for (uint32_t level = 0; level < SINTER__SST_LEVEL_COUNT_MAX; level++) {
        const size_t size = index->levels[level].bytes.size;

        bytes += size == 0 ? 0 : size + SINTER__SST_CHECKSUM_BYTES;
    }
    return bytes;
}

/** Push up what is left in a level below the top one. */
static sinter_status
push_rest(sinter__index_writer *index, uint32_t level, sinter_error *err)
{
    return index->levels[level].entry_count == 0 ? SINTER_OK : push_up(index, level, err);
}

sinter_status
sinter__index_writer_finish(sinter__index_writer *index, sinter__sst_footer *footer,
                            sinter_error *err)
{
    uint32_t top = 0;
    page_place root;

    assert(index->page_bytes > 0);
    for (uint32_t level = 0; level < SINTER__SST_LEVEL_COUNT_MAX; level++) {
        top = index->levels[level].bytes.size > 0 ? level : top;
    }
    if (index->levels[0].bytes.size == 0 && top == 0) {
        SINTER__CHECK(begin_page(index, 0, err)); /* a file without rows has an empty leaf */
    }
    for (uint32_t level = 0; level < top; level++) {
        SINTER__CHECK(push_rest(index, level, err));
    }
    /* A level that was pushed into the top one may have begun a page above it only if it was the
     * top itself; pushing stops below it. So the top page is the root, and the only one. */
    assert(index->levels[top].written_count == 0);
    SINTER__CHECK(write_page(index, top, &root, err));
    footer->root_offset = root.offset;
    footer->root_checksum = root.checksum;
    footer->root_size = root.size;
    footer->level_count = top + 1;
    return SINTER_OK;
}

void
sinter__index_writer_fini(sinter__index_writer *index)
{
    if (index->sink == NULL) {
        return;
    }
    sinter__pile_fini(index->sink->env, &index->filters);
    for (uint32_t level = 0; level < SINTER__SST_LEVEL_COUNT_MAX; level++) {
        sinter__pile_fini(index->sink->env, &index->levels[level].bytes);
    }
}
