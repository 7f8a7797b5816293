/*
 * A page is one allocation that rows are copied into one behind the other. The first ones are
 * small, so that a buffer with few rows costs little; a row that would take much of a page gets one
 * of its own size, and the page before it goes on being filled.
 *
 * A prefix is taken when its key comes, while that is in the cache. It leaves out what all keys
 * have in common so far; that turns out to be less now and then, at the beginning mostly, and the
 * prefixes so far are taken anew before they are sorted.
 */
#include "compact/row_pages.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

enum {
    PAGE_BYTES_FIRST = 4 << 10,
    PAGE_BYTES_MAX = 4 << 20,
    PAGES_MIN = 16,  /* into which a limit is cut at least, if it is not tiny */
    GROWS_SHARE = 4, /* a page is no more than one part in so many of what is held */
    OWN_SHARE = 4,   /* rows larger than one part in so many of a page have their own */
    ENTRIES_FIRST = 16,
    ENTRIES_MAX = 4096, /* of a page */
    SLACK_BYTES = 64    /* readable behind the last row */
};

typedef struct sinter__row_page {
    struct sinter__row_page *next;
    uint64_t bytes; /* rows behind it are aligned to 8 */
} row_page;

static uint8_t *
page_rows(row_page *page)
{
    return (uint8_t *)(page + 1);
}

static size_t
row_size(size_t key_size, size_t value_size)
{
    return (sizeof(sinter__page_row) + key_size + value_size + 7) & ~(size_t)7;
}

void
sinter__row_pages_init(sinter__row_pages *pages, const sinter_env *env, sinter_memory *memory,
                       uint64_t limit_bytes)
{
    *pages = (sinter__row_pages){
        .env = env, .memory = memory, .limit_bytes = limit_bytes, .page_bytes = PAGE_BYTES_FIRST};
}

static void
let_go(sinter__row_pages *pages, uint64_t bytes)
{
    assert(bytes <= pages->held_bytes);
    pages->held_bytes -= bytes;
    sinter_memory_release(pages->memory, bytes);
}

static void
release_pages(sinter__row_pages *pages, row_page **list)
{
    while (*list != NULL) {
        row_page *page = *list;

        *list = page->next;
        let_go(pages, page->bytes);
        sinter__free(pages->env, page);
    }
}

static bool
try_hold(sinter__row_pages *pages, uint64_t bytes)
{
    if (bytes > pages->limit_bytes - pages->held_bytes ||
        sinter_memory_reserve(pages->memory, bytes, NULL) != SINTER_OK) {
        return false;
    }
    pages->held_bytes += bytes;
    return true;
}

/* Spare pages give way. */
static bool
hold(sinter__row_pages *pages, uint64_t bytes)
{
    if (try_hold(pages, bytes)) {
        return true;
    }
    if (pages->spare == NULL) {
        return false;
    }
    release_pages(pages, &pages->spare);
    return try_hold(pages, bytes);
}

static size_t
entry_page_bytes(size_t capacity)
{
    return sizeof(sinter__entry_page) + capacity * sizeof(sinter__row_entry);
}

/* Room for one more entry. @return as add() */
static sinter_status
add_entry_page(sinter__row_pages *pages, sinter_error *err)
{
    const size_t capacity = pages->rows / 2 < ENTRIES_FIRST ? ENTRIES_FIRST
                            : pages->rows / 2 > ENTRIES_MAX ? ENTRIES_MAX
                                                            : pages->rows / 2;
    const size_t bytes = entry_page_bytes(capacity);
    sinter__entry_page *page = NULL;
    sinter_status st = SINTER_OK;

    if (!hold(pages, bytes)) {
        return SINTER_END;
    }
    st = sinter__resize(pages->env, (void **)&page, bytes, 1, err);
    if (st != SINTER_OK) {
        let_go(pages, bytes);
        return st;
    }
    *page = (sinter__entry_page){.capacity = capacity};
    pages->entry_bytes += bytes;
    if (pages->last_entries == NULL) {
        pages->entry_pages = page;
    } else {
        pages->last_entries->next = page;
    }
    pages->last_entries = page;
    return SINTER_OK;
}

static bool
has_room_for_entry(const sinter__row_pages *pages)
{
    return pages->last_entries != NULL &&
           pages->last_entries->count < pages->last_entries->capacity;
}

/* A page with room for `size` bytes. @return as add() */
static sinter_status
add_page(sinter__row_pages *pages, size_t bytes, row_page **out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    *out = NULL;
    if (!hold(pages, bytes)) {
        return SINTER_END;
    }
    st = sinter__resize(pages->env, (void **)out, bytes, 1, err);
    if (st != SINTER_OK) {
        let_go(pages, bytes);
        return st;
    }
    (*out)->bytes = bytes;
    sinter__prefer_huge_pages(*out, bytes);
    return SINTER_OK;
}

static void
link_page(sinter__row_pages *pages, row_page *page)
{
    page->next = pages->pages;
    pages->pages = page;
}

/* A page for this row alone; the one being filled stays that. */
static sinter_status
add_own_page(sinter__row_pages *pages, size_t size, uint8_t **out, sinter_error *err)
{
    row_page *page = NULL;

    SINTER__CHECK(add_page(pages, sizeof *page + size + SLACK_BYTES, &page, err));
    link_page(pages, page);
    *out = page_rows(page);
    return SINTER_OK;
}

static size_t
next_page_bytes(const sinter__row_pages *pages)
{
    const uint64_t memory = sinter_memory_limit(pages->memory);
    const uint64_t limit = memory < pages->limit_bytes ? memory : pages->limit_bytes;
    const size_t next = 2 * pages->page_bytes;

    return next <= PAGE_BYTES_MAX && next <= limit / PAGES_MIN &&
                   next <= pages->held_bytes / GROWS_SHARE
               ? next
               : pages->page_bytes;
}

/* A page to be filled with more rows than this one. Near the limit it is a smaller one. */
static sinter_status
next_page(sinter__row_pages *pages, size_t size, row_page **out, sinter_error *err)
{
    sinter_status st = SINTER_END;

    *out = pages->spare;
    if (*out != NULL && size <= (*out)->bytes / OWN_SHARE) {
        pages->spare = (*out)->next;
        return SINTER_OK;
    }
    for (size_t bytes = pages->page_bytes;
         st == SINTER_END && bytes >= PAGE_BYTES_FIRST && size <= bytes / OWN_SHARE; bytes /= 2) {
        st = add_page(pages, bytes, out, err);
    }
    return st;
}

/* The page being filled has no room for so many bytes. */
static sinter_status
take_elsewhere(sinter__row_pages *pages, size_t size, uint8_t **out, sinter_error *err)
{
    row_page *page = NULL;
    const sinter_status st = next_page(pages, size, &page, err);

    if (st == SINTER_END) {
        return add_own_page(pages, size, out, err);
    }
    SINTER__CHECK(st);
    link_page(pages, page);
    *out = page_rows(page);
    pages->at = *out + size;
    pages->end = (uint8_t *)page + page->bytes - SLACK_BYTES;
    pages->page_bytes = next_page_bytes(pages);
    return SINTER_OK;
}

/* Keep `shared_size`: what the key has in common with the first one. */
static void
note_key(sinter__row_pages *pages, sinter_bytes key)
{
    const uint64_t prefix = sinter__key_prefix(key.data, key.size);
    const uint64_t differing = prefix ^ pages->first_prefix;
    const size_t same = differing == 0 ? 8 : (size_t)__builtin_clzll(differing) / 8;
    size_t shared = pages->shared_size;

    if (pages->rows == 0) {
        pages->first_key = key;
        pages->first_prefix = prefix;
        pages->shared_size = key.size;
        return;
    }
    shared = key.size < shared ? key.size : shared;
    if (same < 8) {
        shared = same < shared ? same : shared;
    } else if (shared > 8) {
        shared = sinter__shared_start(pages->first_key, key, shared);
    }
    if (shared < pages->shared_size) {
        pages->shared_size = shared;
        pages->stale_rows = pages->rows;
    }
}

static sinter_status
take_room(sinter__row_pages *pages, size_t size, uint8_t **out, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (!has_room_for_entry(pages)) {
        st = add_entry_page(pages, err);
    }
    if (st == SINTER_OK && size <= (size_t)(pages->end - pages->at)) {
        *out = pages->at;
        pages->at += size;
    } else if (st == SINTER_OK) {
        st = take_elsewhere(pages, size, out, err);
    }
    return st;
}

/* There is no room for an entry, or none for so many bytes. Nothing is held for no rows: what was
 * kept may be just what a large row needs. */
static sinter_status
make_room(sinter__row_pages *pages, size_t size, uint8_t **out, sinter_error *err)
{
    sinter_status st = take_room(pages, size, out, err);

    if (st == SINTER_END && pages->rows == 0) {
        sinter__row_pages_clear(pages);
        st = take_room(pages, size, out, err);
    }
    if (st != SINTER_OK && pages->rows == 0) {
        sinter__row_pages_clear(pages);
    }
    return st;
}

sinter_status
sinter__row_pages_add(sinter__row_pages *pages, const sinter__new_row *row, sinter_error *err)
{
    const size_t size = row_size(row->key.size, row->value.size);
    sinter__page_row *copy = NULL;
    uint8_t *to = pages->at;

    assert(row->key.size <= SINTER_KEY_BYTES_MAX && row->value.size <= SINTER_VALUE_BYTES_MAX);
    if (!has_room_for_entry(pages) || size > (size_t)(pages->end - pages->at)) {
        const sinter_status st = make_room(pages, size, &to, err);

        if (st != SINTER_OK) {
            return st;
        }
    } else {
        pages->at += size;
    }
    copy = (sinter__page_row *)(void *)to;
    copy->sequence = row->sequence;
    copy->value_size = (uint32_t)row->value.size;
    copy->key_size = (uint32_t)row->key.size & SINTER__PAGE_ROW_KEY_MASK;
    copy->kind = row->kind;
    to += sizeof *copy;
    if (row->key.size > 0) {
        memcpy(to, row->key.data, row->key.size);
    }
    if (row->value.size > 0) {
        memcpy(to + row->key.size, row->value.data, row->value.size);
    }
    note_key(pages, (sinter_bytes){to, row->key.size});
    pages->last_entries->entries[pages->last_entries->count++] =
        (sinter__row_entry){sinter__page_row_prefix(copy, pages->shared_size), copy};
    pages->rows++;
    return SINTER_OK;
}

uint64_t
sinter__row_pages_least(size_t key_size, size_t value_size)
{
    return sizeof(row_page) + row_size(key_size, value_size) + SLACK_BYTES +
           entry_page_bytes(ENTRIES_FIRST);
}

/* Take the prefixes of the first rows anew. */
static void
refresh_prefixes(sinter__row_pages *pages)
{
    size_t left = pages->stale_rows;

    for (sinter__entry_page *page = pages->entry_pages; left > 0; page = page->next) {
        const size_t count = page->count < left ? page->count : left;

        for (size_t i = 0; i < count; i++) {
            page->entries[i].prefix =
                sinter__page_row_prefix(page->entries[i].row, pages->shared_size);
        }
        left -= count;
    }
    pages->stale_rows = 0;
}

/* All entries into one page. What is held stays the same: each page of entries goes when it has
 * been copied, so the memory that is in use does too, but for one page. */
static sinter_status
sort_into_one(sinter__row_pages *pages, sinter_error *err)
{
    sinter__entry_page *sorted = NULL;
    sinter__row_sorter sorter;

    SINTER__CHECK(
        sinter__resize(pages->env, (void **)&sorted, entry_page_bytes(pages->rows), 1, err));
    sinter__prefer_huge_pages(sorted, entry_page_bytes(pages->rows));
    sinter__row_sorter_init(&sorter);
    for (const sinter__entry_page *page = pages->entry_pages; page != NULL; page = page->next) {
        sinter__row_sorter_count(&sorter, page->entries, page->count);
    }
    sinter__row_sorter_begin(&sorter, sorted->entries);
    while (pages->entry_pages != NULL) {
        sinter__entry_page *page = pages->entry_pages;

        sinter__row_sorter_put(&sorter, page->entries, page->count);
        pages->entry_pages = page->next;
        sinter__free(pages->env, page);
    }
    sinter__row_sorter_end(&sorter);
    *sorted = (sinter__entry_page){.count = pages->rows, .capacity = pages->rows};
    let_go(pages, pages->entry_bytes - entry_page_bytes(pages->rows));
    pages->entry_bytes = entry_page_bytes(pages->rows);
    pages->entry_pages = sorted;
    pages->last_entries = sorted;
    return SINTER_OK;
}

sinter_status
sinter__row_pages_sort(sinter__row_pages *pages, const sinter__row_entry **out, sinter_error *err)
{
    assert(pages->rows > 0);
    refresh_prefixes(pages);
    if (pages->entry_pages->next == NULL) {
        sinter__rows_sort(pages->entry_pages->entries, pages->rows);
    } else {
        SINTER__CHECK(sort_into_one(pages, err));
    }
    *out = pages->entry_pages->entries;
    return SINTER_OK;
}

static void
release_entries(sinter__row_pages *pages)
{
    while (pages->entry_pages != NULL) {
        sinter__entry_page *page = pages->entry_pages;

        pages->entry_pages = page->next;
        sinter__free(pages->env, page);
    }
    let_go(pages, pages->entry_bytes);
    pages->entry_bytes = 0;
}

void
sinter__row_pages_clear(sinter__row_pages *pages)
{
    release_pages(pages, &pages->pages);
    release_pages(pages, &pages->spare);
    release_entries(pages);
    assert(pages->held_bytes == 0);
    sinter__row_pages_init(pages, pages->env, pages->memory, pages->limit_bytes);
}

void
sinter__row_pages_reuse(sinter__row_pages *pages)
{
    sinter__row_pages next = *pages;
    row_page *page = pages->pages;

    if (pages->entry_pages == NULL || pages->entry_pages->next != NULL) {
        sinter__row_pages_clear(pages);
        return;
    }
    next.rows = 0;
    next.stale_rows = 0;
    next.entry_pages->count = 0;
    next.at = NULL;
    next.end = NULL;
    next.pages = NULL;
    *pages = next;
    while (page != NULL) {
        row_page *after = page->next;

        if (page->bytes == pages->page_bytes) {
            page->next = pages->spare;
            pages->spare = page;
        } else {
            let_go(pages, page->bytes);
            sinter__free(pages->env, page);
        }
        page = after;
    }
}
