/*
 * A page is one allocation that rows are copied into one behind the other. The first ones are
 * small, so that a buffer with few rows costs little; a row that would take much of a page gets one
 * of its own size, and the page before it goes on being filled. What sorting takes is reserved
 * along with the rows, so that a full buffer can be sorted.
 */
#include "compact/row_pages.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

enum {
    PAGE_BYTES_FIRST = 4 << 10,
    PAGE_BYTES_MAX = 64 << 10,
    PAGES_MIN = 16, /* into which a limit is cut at least, if it is not tiny */
    OWN_SHARE = 4,  /* rows larger than one part in so many of a page have their own */
    SORTABLE_ROWS_MIN = 16,
    SORTABLE_ROWS_MAX = 4096,
    SLACK_BYTES = 64 /* readable behind the last row */
};

typedef struct sinter__row_page {
    struct sinter__row_page *next;
    uint8_t *used_end; /* behind its last row; NULL: it is the one being filled */
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

static bool
hold(sinter__row_pages *pages, uint64_t bytes)
{
    if (bytes > pages->limit_bytes - pages->held_bytes ||
        sinter_memory_reserve(pages->memory, bytes, NULL) != SINTER_OK) {
        return false;
    }
    pages->held_bytes += bytes;
    return true;
}

static void
let_go(sinter__row_pages *pages, uint64_t bytes)
{
    assert(bytes <= pages->held_bytes);
    pages->held_bytes -= bytes;
    sinter_memory_release(pages->memory, bytes);
}

/* Provide for sorting one more row. */
static bool
hold_sortable(sinter__row_pages *pages)
{
    size_t more = pages->rows / 4;

    if (pages->rows < pages->sortable_rows) {
        return true;
    }
    more = more < SORTABLE_ROWS_MIN ? SORTABLE_ROWS_MIN : more;
    more = more > SORTABLE_ROWS_MAX ? SORTABLE_ROWS_MAX : more;
    if (!hold(pages, more * sizeof(sinter__row_entry))) {
        return false;
    }
    pages->sortable_rows += more;
    return true;
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
    return SINTER_OK;
}

/* Put a page behind another one, or first. */
static void
link_page(sinter__row_pages *pages, row_page *before, row_page *page)
{
    row_page **link = before == NULL ? &pages->pages : &before->next;

    page->next = *link;
    *link = page;
}

/* A page for this row alone; the one being filled stays that. */
static sinter_status
add_own_page(sinter__row_pages *pages, size_t size, uint8_t **out, sinter_error *err)
{
    row_page *page = NULL;

    SINTER__CHECK(add_page(pages, sizeof *page + size + SLACK_BYTES, &page, err));
    *out = page_rows(page);
    page->used_end = *out + size;
    link_page(pages, NULL, page);
    return SINTER_OK;
}

static size_t
next_page_bytes(const sinter__row_pages *pages)
{
    const size_t next = 2 * pages->page_bytes;

    return next <= PAGE_BYTES_MAX && next <= pages->limit_bytes / PAGES_MIN ? next
                                                                            : pages->page_bytes;
}

/* The page being filled has no room for so many bytes. */
static sinter_status
take_elsewhere(sinter__row_pages *pages, size_t size, uint8_t **out, sinter_error *err)
{
    row_page *page = NULL;
    sinter_status st = SINTER_END;

    if (size <= pages->page_bytes / OWN_SHARE) {
        st = add_page(pages, pages->page_bytes, &page, err);
    }
    if (st == SINTER_END) {
        return add_own_page(pages, size, out, err);
    }
    SINTER__CHECK(st);
    if (pages->filling != NULL) {
        pages->filling->used_end = pages->at;
    }
    link_page(pages, pages->filling, page); /* so that rows that came in order stand in order */
    page->used_end = NULL;
    pages->filling = page;
    *out = page_rows(page);
    pages->at = *out + size;
    pages->end = (uint8_t *)page + pages->page_bytes - SLACK_BYTES;
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

    if (pages->rows == 0) {
        pages->first_key = key;
        pages->first_prefix = prefix;
        pages->shared_size = key.size;
        return;
    }
    pages->shared_size = key.size < pages->shared_size ? key.size : pages->shared_size;
    if (same < 8) {
        pages->shared_size = same < pages->shared_size ? same : pages->shared_size;
    } else if (pages->shared_size > 8) {
        pages->shared_size = sinter__shared_start(pages->first_key, key, pages->shared_size);
    }
}

/* Nothing is held for no rows. */
static void
give_back_unused(sinter__row_pages *pages)
{
    if (pages->rows == 0) {
        sinter__row_pages_clear(pages);
    }
}

sinter_status
sinter__row_pages_add(sinter__row_pages *pages, const sinter__new_row *row, sinter_error *err)
{
    const size_t size = row_size(row->key.size, row->value.size);
    sinter__page_row *copy = NULL;
    uint8_t *to = pages->at;

    assert(row->key.size <= SINTER_KEY_BYTES_MAX && row->value.size <= SINTER_VALUE_BYTES_MAX);
    if (!hold_sortable(pages)) {
        return SINTER_END;
    }
    if (size <= (size_t)(pages->end - pages->at)) {
        pages->at += size;
    } else {
        const sinter_status st = take_elsewhere(pages, size, &to, err);

        if (st != SINTER_OK) {
            give_back_unused(pages);
            return st;
        }
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
    pages->rows++;
    return SINTER_OK;
}

uint64_t
sinter__row_pages_least(size_t key_size, size_t value_size)
{
    return sizeof(row_page) + row_size(key_size, value_size) + SLACK_BYTES +
           SORTABLE_ROWS_MIN * sizeof(sinter__row_entry);
}

void
sinter__row_pages_list(const sinter__row_pages *pages, sinter__row_entry *out)
{
    size_t count = 0;

    for (row_page *page = pages->pages; page != NULL; page = page->next) {
        const uint8_t *end = page->used_end != NULL ? page->used_end : pages->at;

        for (uint8_t *at = page_rows(page); at < end;) {
            const sinter__page_row *row = (const sinter__page_row *)(const void *)at;

            assert(count < pages->rows);
            out[count].row = row;
            out[count].prefix = sinter__page_row_prefix(row, pages->shared_size);
            at += row_size(row->key_size, row->value_size);
            count++;
        }
    }
    assert(count == pages->rows);
}

void
sinter__row_pages_clear(sinter__row_pages *pages)
{
    row_page *page = pages->pages;

    while (page != NULL) {
        row_page *next = page->next;

        sinter__free(pages->env, page);
        page = next;
    }
    let_go(pages, pages->held_bytes);
    sinter__row_pages_init(pages, pages->env, pages->memory, pages->limit_bytes);
}
