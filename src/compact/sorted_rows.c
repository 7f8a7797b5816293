/*
 * Sorting by the bytes of the keys. Entries are distributed in place by one byte of their prefixes
 * after the other, which needs no comparison and no second array; few of them are put in order by
 * insertion. Where prefixes are equal the keys go on: the next 8 bytes behind what all keys of the
 * tie share take the place of the prefixes for a while. A tie that can't be broken in a few such
 * rounds is sorted by comparing keys.
 */
#include "compact/sorted_rows.h"

#include <assert.h>

enum {
    DIGIT_BITS = 8,
    DIGITS = SINTER__ROW_DIGITS,
    PREFIX_BITS = 64,
    FEW_ROWS = 48,      /* are sorted by insertion */
    FEW_TIED_ROWS = 12, /* the same, where whole keys are compared */
    ROUNDS_MAX = 8,
    AHEAD_ROWS = 16 /* rows of a tie are fetched into the cache so many entries before */
};

size_t
sinter__shared_start(sinter_bytes a, sinter_bytes b, size_t most)
{
    size_t size = 0;

    assert(most <= a.size && most <= b.size);
    while (most - size >= 8) {
        const uint64_t differing =
            sinter__get_be64(a.data + size) ^ sinter__get_be64(b.data + size);

        if (differing != 0) {
            return size + (size_t)__builtin_clzll(differing) / 8;
        }
        size += 8;
    }
    while (size < most && a.data[size] == b.data[size]) {
        size++;
    }
    return size;
}

static void
sort_few(sinter__row_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const sinter__row_entry entry = entries[i];
        size_t at = i;

        while (at > 0 && entries[at - 1].prefix > entry.prefix) {
            entries[at] = entries[at - 1];
            at--;
        }
        entries[at] = entry;
    }
}

static size_t
digit_of(const sinter__row_entry *entry, unsigned shift)
{
    return (size_t)(entry->prefix >> shift) & (DIGITS - 1);
}

/* Put each entry into the part of its digit; parts begin at `begins` and end at `ends`. */
static void
distribute(sinter__row_entry *entries, size_t *begins, const size_t *ends, unsigned shift)
{
    for (size_t digit = 0; digit < DIGITS; digit++) {
        while (begins[digit] < ends[digit]) {
            sinter__row_entry entry = entries[begins[digit]];
            size_t target = digit_of(&entry, shift);

            while (target != digit) {
                const sinter__row_entry other = entries[begins[target]];

                entries[begins[target]++] = entry;
                entry = other;
                target = digit_of(&entry, shift);
            }
            entries[begins[digit]++] = entry;
        }
    }
}

/* Sort by the prefixes, whose bits from `shift + 8` on are equal. */
/* NOLINTNEXTLINE(misc-no-recursion): once for each byte of a prefix at most */
static void
sort_by_prefix(sinter__row_entry *entries, size_t count, unsigned shift)
{
    size_t begins[DIGITS];
    size_t ends[DIGITS] = {0};
    size_t sum = 0;

    if (count <= FEW_ROWS) {
        sort_few(entries, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        ends[digit_of(&entries[i], shift)]++;
    }
    if (ends[digit_of(&entries[0], shift)] == count) {
        if (shift > 0) {
            sort_by_prefix(entries, count, shift - DIGIT_BITS);
        }
        return;
    }
    for (size_t digit = 0; digit < DIGITS; digit++) {
        begins[digit] = sum;
        sum += ends[digit];
        ends[digit] = sum;
    }
    distribute(entries, begins, ends, shift);
    for (size_t digit = 0, begin = 0; shift > 0 && digit < DIGITS; digit++) {
        if (ends[digit] - begin > 1) {
            sort_by_prefix(entries + begin, ends[digit] - begin, shift - DIGIT_BITS);
        }
        begin = ends[digit];
    }
}

static int
compare_keys(const sinter__row_entry *a, const sinter__row_entry *b)
{
    return sinter__key_compare(sinter__page_row_key(a->row), sinter__page_row_key(b->row));
}

static void
sift_down(sinter__row_entry *entries, size_t count, size_t at)
{
    const sinter__row_entry entry = entries[at];

    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && compare_keys(&entries[child], &entries[child + 1]) < 0) {
            child++;
        }
        if (compare_keys(&entries[child], &entry) <= 0) {
            break;
        }
        entries[at] = entries[child];
        at = child;
    }
    entries[at] = entry;
}

/* Sort by whole keys. Whatever these are, the time is that of so many rows (a heap sort). */
static void
sort_by_comparing(sinter__row_entry *entries, size_t count)
{
    for (size_t i = count / 2; i > 0; i--) {
        sift_down(entries, count, i - 1);
    }
    for (size_t i = count; i > 1; i--) {
        const sinter__row_entry largest = entries[0];

        entries[0] = entries[i - 1];
        entries[i - 1] = largest;
        sift_down(entries, i - 1, 0);
    }
}

static void
sort_few_by_comparing(sinter__row_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const sinter__row_entry entry = entries[i];
        size_t at = i;

        while (at > 0 && compare_keys(&entries[at - 1], &entry) > 0) {
            entries[at] = entries[at - 1];
            at--;
        }
        entries[at] = entry;
    }
}

/* What all keys begin with. */
static size_t
shared_by_all(const sinter__row_entry *entries, size_t count, bool *are_equal_out)
{
    const sinter_bytes first = sinter__page_row_key(entries[0].row);
    size_t shared = first.size;
    size_t longest = first.size;

    for (size_t i = 1; i < count; i++) {
        const sinter_bytes key = sinter__page_row_key(entries[i].row);

        if (i + AHEAD_ROWS < count) {
            __builtin_prefetch(entries[i + AHEAD_ROWS].row);
        }
        shared = sinter__shared_start(first, key, key.size < shared ? key.size : shared);
        longest = key.size > longest ? key.size : longest;
    }
    *are_equal_out = shared == longest;
    return shared;
}

static void
sort_ties(sinter__row_entry *entries, size_t count, unsigned round);

/* Sort rows whose prefixes are equal, and leave these as they are. */
/* NOLINTNEXTLINE(misc-no-recursion): ROUNDS_MAX times at most */
static void
sort_tie(sinter__row_entry *entries, size_t count, unsigned round)
{
    const uint64_t prefix = entries[0].prefix;
    bool are_equal = false;
    size_t shared = 0;

    if (count <= FEW_TIED_ROWS) {
        sort_few_by_comparing(entries, count);
        return;
    }
    if (round == ROUNDS_MAX) {
        sort_by_comparing(entries, count);
        return;
    }
    shared = shared_by_all(entries, count, &are_equal);
    if (are_equal) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        entries[i].prefix = sinter__page_row_prefix(entries[i].row, shared);
    }
    sort_by_prefix(entries, count, PREFIX_BITS - DIGIT_BITS);
    sort_ties(entries, count, round + 1);
    for (size_t i = 0; i < count; i++) {
        entries[i].prefix = prefix;
    }
}

static void
fetch_tie(const sinter__row_entry *entries, size_t count, size_t at)
{
    if (at + 1 < count && entries[at].prefix == entries[at + 1].prefix) {
        __builtin_prefetch(entries[at].row);
        __builtin_prefetch(entries[at + 1].row);
    }
}

/* Sort the rows that have the same prefix. */
/* NOLINTNEXTLINE(misc-no-recursion): as above */
static void
sort_ties(sinter__row_entry *entries, size_t count, unsigned round)
{
    size_t end = 0;

    for (size_t begin = 0; begin < count; begin = end) {
        end = begin + 1;
        fetch_tie(entries, count, end + AHEAD_ROWS);
        while (end < count && entries[end].prefix == entries[begin].prefix) {
            end++;
        }
        if (end - begin > 1) {
            sort_tie(entries + begin, end - begin, round);
        }
    }
}

/* Did the rows come in the order of their prefixes? */
static bool
is_in_order(const sinter__row_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (entries[i - 1].prefix > entries[i].prefix) {
            return false;
        }
    }
    return true;
}

void
sinter__rows_sort(sinter__row_entry *entries, size_t count)
{
    if (!is_in_order(entries, count)) {
        sort_by_prefix(entries, count, PREFIX_BITS - DIGIT_BITS);
    }
    sort_ties(entries, count, 0);
}

void
sinter__row_sorter_init(sinter__row_sorter *sorter)
{
    *sorter = (sinter__row_sorter){.is_in_order = true};
}

void
sinter__row_sorter_count(sinter__row_sorter *sorter, const sinter__row_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sorter->is_in_order = sorter->is_in_order && entries[i].prefix >= sorter->last_prefix;
        sorter->last_prefix = entries[i].prefix;
        sorter->ends[digit_of(&entries[i], PREFIX_BITS - DIGIT_BITS)]++;
    }
    sorter->count += count;
}

void
sinter__row_sorter_begin(sinter__row_sorter *sorter, sinter__row_entry *out)
{
    size_t sum = 0;

    for (size_t digit = 0; digit < DIGITS; digit++) {
        const size_t count = sorter->ends[digit];

        sorter->ends[digit] = sum;
        sum += count;
    }
    assert(sum == sorter->count);
    sorter->out = out;
}

void
sinter__row_sorter_put(sinter__row_sorter *sorter, const sinter__row_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sorter->out[sorter->ends[digit_of(&entries[i], PREFIX_BITS - DIGIT_BITS)]++] = entries[i];
    }
}

void
sinter__row_sorter_end(sinter__row_sorter *sorter)
{
    size_t begin = 0;

    for (size_t digit = 0; !sorter->is_in_order && digit < DIGITS; digit++) {
        sort_by_prefix(sorter->out + begin, sorter->ends[digit] - begin,
                       PREFIX_BITS - 2 * DIGIT_BITS);
        begin = sorter->ends[digit];
    }
    sort_ties(sorter->out, sorter->count, 0);
}
