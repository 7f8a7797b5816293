/*
 * Two spans and two leaf pages take turns. The span ahead is cut from the same leaf page as the
 * current one or from the next page, which is loaded into the leaf that nobody refers to then.
 * If the memory budget can't hold the span ahead beside the current one, it is read when its turn
 * comes.
 */
#include "sst/span.h"

#include <string.h>

#include "base/bytes.h"
#include "io/io_base.h"

enum { VECTOR_MAX = 16, ALIGN = SINTER__SST_DIRECT_ALIGN };

static sinter__span *
current_span(sinter__span_reader *reader)
{
    return &reader->spans[reader->current];
}

static sinter__span *
ahead_span(sinter__span_reader *reader)
{
    return &reader->spans[1 - reader->current];
}

/** Bytes of a block that are read. */
static uint64_t
block_bytes(const sinter__span_reader *reader, const sinter__sst_entry *entry)
{
    return sinter__sst_entry_stored(entry) - (reader->keys_only ? entry->value_stored : 0);
}

static bool
is_behind_end(const sinter__span_reader *reader, const sinter__sst_entry *entry)
{
    return reader->has_end_key && sinter__key_compare(entry->first_key, reader->end_key) >= 0;
}

/** Have a leaf with blocks left to plan; SINTER_END if there is none. */
static sinter_status
next_leaf(sinter__span_reader *reader, sinter_error *err)
{
    sinter__leaf *spare =
        reader->planned_leaf == &reader->leaves[0] ? &reader->leaves[1] : &reader->leaves[0];

    if (reader->planned_leaf != NULL && reader->planned_block < reader->planned_leaf->count) {
        return SINTER_OK;
    }
    SINTER__CHECK(sinter__index_cursor_next(&reader->cursor, spare, err));
    reader->planned_leaf = spare;
    reader->planned_block = 0;
    return SINTER_OK;
}

/** Cut the next span: whole blocks up to the size of a read, one block at least. */
static sinter_status
plan_span(sinter__span_reader *reader, sinter__span *span, sinter_error *err)
{
    const sinter__leaf *leaf = NULL;
    uint32_t end = 0;
    uint64_t size = 0;
    sinter_status st = SINTER_OK;

    assert(span->state == SINTER__SPAN_EMPTY);
    if (reader->is_at_end) {
        return SINTER_END;
    }
    SINTER__TRY(next_leaf(reader, err));
    leaf = reader->planned_leaf;
    end = reader->planned_block;
    while (end < leaf->count && !is_behind_end(reader, &leaf->entries[end])) {
        const uint64_t more = block_bytes(reader, &leaf->entries[end]);

        if (size > 0 && (size + more > reader->read_bytes ||
                         (reader->keys_only && end - reader->planned_block >= VECTOR_MAX))) {
            break;
        }
        size += more;
        end++;
    }
    if (end == reader->planned_block) {
        st = SINTER_END;
        goto out;
    }
    assert(end <= leaf->count && size > 0);
    span->leaf = reader->planned_leaf;
    span->begin = reader->planned_block;
    span->next = span->begin;
    span->end = end;
    span->offset = leaf->entries[span->begin].offset;
    span->size = size;
    span->state = SINTER__SPAN_PLANNED;
    reader->planned_block = end;
out:
    reader->is_at_end = st == SINTER_END;
    return st;
}

/** Read the key parts of a span, one behind the other. */
static sinter_status
read_key_parts(sinter__span_reader *reader, sinter__span *span, sinter_error *err)
{
    sinter_io_file *handle = reader->file->handle;
    sinter_io_range ranges[VECTOR_MAX];
    uint8_t *data = span->bytes.data;
    size_t count = 0;

    assert(span->state == SINTER__SPAN_PLANNED && span->begin < span->end);
    span->data = data;
    for (uint32_t i = span->begin; i < span->end; i++) {
        const sinter__sst_entry *entry = &span->leaf->entries[i];
        const size_t size = (size_t)block_bytes(reader, entry);

        assert(count < VECTOR_MAX);
        ranges[count++] = (sinter_io_range){
            .offset = entry->offset + entry->value_stored, .data = data, .size = size};
        data += size;
    }
    span->state = SINTER__SPAN_READ;
    return handle->ops->read(handle, ranges, count, err);
}

/** Give memory that was lent back. */
static void
give_back(const sinter__span_reader *reader, sinter__span *span)
{
    if (span->lent != NULL) {
        sinter__io_give_back(reader->file->handle, span->lent);
        span->lent = NULL;
    }
}

/** Aim a span at whole pages that hold it, in aligned memory: what the io lends, or its own. */
static sinter_status
aim_direct(sinter__span_reader *reader, sinter__span *span, sinter_error *err)
{
    const uint64_t begin = span->offset / ALIGN * ALIGN;
    const uint64_t end = (span->offset + span->size + ALIGN - 1) / ALIGN * ALIGN;
    const size_t size = (size_t)((end < reader->file->size ? end : reader->file->size) - begin);
    const size_t room = (size_t)(end - begin) + SINTER__SST_SLACK_BYTES;
    uint8_t *data = NULL;

    if (span->lent == NULL || room > span->lent_bytes) {
        give_back(reader, span);
        span->lent = sinter__io_borrow(reader->file->handle, room);
        span->lent_bytes = room;
    }
    data = span->lent;
    if (data != NULL) {
        sinter__scratch_fini(reader->file->env, &span->bytes);
    } else {
        SINTER__CHECK(sinter__scratch_fit(reader->file->env, &span->bytes, room + ALIGN - 1, err));
        data = span->bytes.data + (ALIGN - (uintptr_t)span->bytes.data % ALIGN) % ALIGN;
    }
    span->data = data + (span->offset - begin);
    span->range = (sinter_io_range){.offset = begin, .data = data, .size = size};
    return SINTER_OK;
}

/** Aim a span at its own memory. */
static sinter_status
aim_plain(sinter__span_reader *reader, sinter__span *span, sinter_error *err)
{
    SINTER__CHECK(sinter__scratch_fit(reader->file->env, &span->bytes,
                                      (size_t)span->size + SINTER__SST_SLACK_BYTES, err));
    span->data = span->bytes.data;
    span->range = (sinter_io_range){
        .offset = span->offset, .data = span->bytes.data, .size = (size_t)span->size};
    return SINTER_OK;
}

/** Start reading a planned span; key parts alone are read at once. */
static sinter_status
begin_span(sinter__span_reader *reader, sinter__span *span, sinter_error *err)
{
    sinter_io_file *handle = reader->file->handle;

    assert(span->state == SINTER__SPAN_PLANNED);
    if (reader->keys_only) {
        SINTER__CHECK(aim_plain(reader, span, err));
        return read_key_parts(reader, span, err);
    }
    SINTER__CHECK(reader->is_direct ? aim_direct(reader, span, err) : aim_plain(reader, span, err));
    SINTER__CHECK(handle->ops->read_begin(handle, &span->range, &span->ticket, err));
    span->state = SINTER__SPAN_BEGUN;
    return SINTER_OK;
}

/** Have the bytes of a planned span. */
static sinter_status
finish_span(sinter__span_reader *reader, sinter__span *span, sinter_error *err)
{
    sinter_io_file *handle = reader->file->handle;

    if (span->state == SINTER__SPAN_PLANNED) {
        SINTER__CHECK(begin_span(reader, span, err));
    }
    if (span->state == SINTER__SPAN_BEGUN) {
        span->state = SINTER__SPAN_EMPTY;
        SINTER__CHECK(handle->ops->read_end(handle, &span->ticket, err));
        span->state = SINTER__SPAN_READ;
    }
    return SINTER_OK;
}

/** Plan the span ahead and start reading it, if there is room. */
static sinter_status
read_ahead(sinter__span_reader *reader, sinter_error *err)
{
    sinter__span *span = ahead_span(reader);
    sinter_error refusal = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    if (span->state == SINTER__SPAN_EMPTY) {
        st = plan_span(reader, span, err);
        if (st != SINTER_OK) {
            return st == SINTER_END ? SINTER_OK : st;
        }
    }
    if (span->state != SINTER__SPAN_PLANNED || reader->keys_only) {
        return SINTER_OK;
    }
    st = begin_span(reader, span, &refusal);
    if (st == SINTER_E_TOO_LARGE) {
        return SINTER_OK; /* no room beside the current span: later */
    }
    if (st != SINTER_OK && err != NULL) {
        *err = refusal;
    }
    return st;
}

sinter_status
sinter__span_begin(sinter__span_reader *reader, sinter_error *err)
{
    return read_ahead(reader, err);
}

bool
sinter__span_has_begun_all(const sinter__span_reader *reader)
{
    return reader->is_at_end && reader->spans[0].state != SINTER__SPAN_PLANNED &&
           reader->spans[1].state != SINTER__SPAN_PLANNED;
}

/** Is a block of this span left to be used? */
static bool
has_block(const sinter__span *span)
{
    return span->state != SINTER__SPAN_EMPTY && span->next < span->end;
}

sinter_status
sinter__span_peek(sinter__span_reader *reader, const sinter__sst_entry **out,
                  const sinter__leaf **leaf_out, sinter_error *err)
{
    sinter__span *span = current_span(reader);

    if (!has_block(span)) {
        span = ahead_span(reader);
    }
    if (span->state == SINTER__SPAN_EMPTY) {
        SINTER__CHECK(plan_span(reader, span, err));
    }
    assert(has_block(span));
    *out = &span->leaf->entries[span->next];
    if (leaf_out != NULL) {
        *leaf_out = span->leaf;
    }
    return SINTER_OK;
}

/** Make the span ahead the current one and start the next. */
static sinter_status
switch_spans(sinter__span_reader *reader, sinter_error *err)
{
    sinter__span *used = current_span(reader);

    assert(!has_block(used));
    used->state = SINTER__SPAN_EMPTY;
    if (ahead_span(reader)->state == SINTER__SPAN_EMPTY) {
        SINTER__CHECK(plan_span(reader, ahead_span(reader), err));
    }
    reader->current = 1 - reader->current;
    if (current_span(reader)->state == SINTER__SPAN_PLANNED) { /* for lack of room: here is some */
        give_back(reader, used);
        if (used->bytes.capacity > reader->read_bytes) {
            sinter__scratch_fini(reader->file->env, &used->bytes);
        }
    }
    SINTER__CHECK(finish_span(reader, current_span(reader), err));
    return read_ahead(reader, err);
}

sinter_status
sinter__span_next(sinter__span_reader *reader, const sinter__sst_entry **out,
                  const uint8_t **stored_out, sinter_error *err)
{
    sinter__span *span = current_span(reader);
    uint64_t begin = 0;

    if (!has_block(span)) {
        SINTER__CHECK(switch_spans(reader, err));
        span = current_span(reader);
    }
    assert(has_block(span) && span->state == SINTER__SPAN_READ);
    for (uint32_t i = span->begin; reader->keys_only && i < span->next; i++) {
        begin += block_bytes(reader, &span->leaf->entries[i]);
    }
    *out = &span->leaf->entries[span->next++];
    if (!reader->keys_only) {
        begin = (*out)->offset - span->offset;
    }
    assert(begin + block_bytes(reader, *out) <= span->size);
    *stored_out = span->data + begin;
    return SINTER_OK;
}

/** Wait for reads under way and forget both spans. */
static void
drop_spans(sinter__span_reader *reader)
{
    sinter_io_file *handle = reader->file->handle;

    for (int i = 0; i < 2; i++) {
        sinter__span *span = &reader->spans[i];

        if (span->state == SINTER__SPAN_BEGUN) {
            const sinter_status ignored = handle->ops->read_end(handle, &span->ticket, NULL);

            (void)ignored; /* the bytes are not wanted any more */
        }
        span->state = SINTER__SPAN_EMPTY;
    }
}

sinter_status
sinter__span_seek(sinter__span_reader *reader, sinter_bytes key, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    drop_spans(reader);
    reader->planned_leaf = NULL;
    reader->planned_block = 0;
    reader->is_at_end = false;
    if (key.data == NULL) {
        reader->cursor.is_placed = false;
        return SINTER_OK;
    }
    st = sinter__index_cursor_seek(&reader->cursor, key, &reader->leaves[0], err);
    if (st == SINTER_OK) {
        reader->planned_leaf = &reader->leaves[0];
        reader->planned_block = sinter__leaf_find(reader->planned_leaf, key);
    }
    reader->is_at_end = st == SINTER_END;
    return st == SINTER_END ? SINTER_OK : st;
}

void
sinter__span_reader_fini(sinter__span_reader *reader)
{
    if (reader->file == NULL || reader->file->env == NULL) {
        return;
    }
    drop_spans(reader);
    for (int i = 0; i < 2; i++) {
        give_back(reader, &reader->spans[i]);
        sinter__scratch_fini(reader->file->env, &reader->spans[i].bytes);
        sinter__leaf_fini(reader->file->env, &reader->leaves[i]);
    }
    sinter__index_cursor_fini(&reader->cursor);
}
