#include "columnar/orc_mend.hh"

#include <algorithm>

#include "columnar/message.hh"
#include "columnar/orc_column.hh"

namespace columnar
{

namespace
{

enum { STRIPE_STREAMS = 1, STRIPE_ENCODINGS = 2, STRIPE_ZONE = 3 }; // of a stripe's footer
enum { STREAM_KIND = 1, STREAM_COLUMN = 2, STREAM_LENGTH = 3 };     // of a stream
enum { STRIPE_OFFSET = 1, STRIPE_INDEX = 2, STRIPE_DATA = 3, STRIPE_FOOTER = 4 };

arrow::Status
bad_stripe()
{
    return arrow::Status::Invalid("the ORC library wrote another stripe than was expected");
}

arrow::Status
bad_end()
{
    return arrow::Status::Invalid("the ORC library ended the file in another way than expected");
}

/** Decode a message of at most `most` bytes that lies somewhere in `held`. */
arrow::Result<std::string>
read_message(const OrcMendOptions &options, const Pieces &held, uint64_t begin, uint64_t size,
             uint64_t most = kMessageBytesMax)
{
    std::string stored;

    if (size > most) {
        return arrow::Status::Invalid("a footer of ", size, " bytes");
    }
    stored.resize(size);
    ARROW_RETURN_NOT_OK(held.copy(begin, size, stored.data()));
    return decode_chunks(options.chunks, stored, most);
}

/** What a stripe's footer says. */
struct StripeLayout {
    std::vector<OrcStream> streams;
    std::vector<uint64_t> encodings; // of types, by their numbers
    std::string zone;
    uint64_t size = 0; // of all streams
    bool is_whole = false;
};

OrcStream
stream_of(Fields in)
{
    OrcStream stream;

    while (in.next()) {
        stream.kind = in.field() == STREAM_KIND ? in.value() : stream.kind;
        stream.column = in.field() == STREAM_COLUMN ? in.value() : stream.column;
        stream.size = in.field() == STREAM_LENGTH ? in.value() : stream.size;
    }
    return stream;
}

/** `most`: bytes that streams can have. */
StripeLayout
layout_of(const std::string &footer, uint64_t most)
{
    enum { ENCODING_KIND = 1 };
    StripeLayout layout;
    Fields in = fields_of(footer);
    bool is_good = true;

    while (is_good && in.next()) {
        if (in.field() == STRIPE_STREAMS) {
            OrcStream stream = stream_of(in.message());

            stream.begin = layout.size;
            is_good = stream.size <= most - layout.size;
            layout.size += is_good ? stream.size : 0;
            layout.streams.push_back(stream);
        } else if (in.field() == STRIPE_ENCODINGS) {
            uint64_t kind = 0;

            for (Fields encoding = in.message(); encoding.next();) {
                kind = encoding.field() == ENCODING_KIND ? encoding.value() : kind;
            }
            layout.encodings.push_back(kind);
        } else if (in.field() == STRIPE_ZONE && in.bytes() != nullptr) {
            layout.zone.assign(reinterpret_cast<const char *>(in.bytes()), in.value());
        }
    }
    layout.is_whole = is_good && in.is_whole() && !layout.streams.empty();
    return layout;
}

bool
is_in_index(const OrcStream &stream)
{
    return stream.kind >= ORC_ROW_INDEX && stream.kind <= ORC_BLOOM_FILTER_UTF8;
}

/** A stripe on its way into the file. */
class StripeMend
{
  public:
    StripeMend(const OrcMendOptions &options, const Pieces &held) : options_(options), held_(held)
    {
    }

    arrow::Status open(uint64_t footer, uint64_t footer_bytes)
    {
        ARROW_ASSIGN_OR_RAISE(footer_, read_message(options_, held_, footer, footer_bytes));
        layout_ = layout_of(footer_, footer);
        return layout_.is_whole && layout_.size == footer ? arrow::Status::OK() : bad_stripe();
    }

    arrow::Status mend(uint64_t type)
    {
        enum { DIRECT_V2 = 2 };
        OrcColumn column(options_.chunks, held_, options_.pool);
        const size_t data = find(type, ORC_DATA);
        const size_t second = find(type, ORC_SECONDARY);
        const size_t index = find(type, ORC_ROW_INDEX);
        const size_t none = layout_.streams.size();

        if (type >= layout_.encodings.size() || layout_.encodings[type] != DIRECT_V2 ||
            data == none || second == none || find(type, ORC_BLOOM_FILTER) != none ||
            find(type, ORC_BLOOM_FILTER_UTF8) != none ||
            (layout_.zone != "GMT" && layout_.zone != "UTC")) {
            return bad_stripe();
        }
        ARROW_RETURN_NOT_OK(column.mend(layout_.streams[data], layout_.streams[second],
                                        index == none ? OrcStream() : layout_.streams[index]));
        columns_.push_back({data, second, index, column.take()});
        return arrow::Status::OK();
    }

    arrow::Status write(arrow::io::OutputStream *to, OrcMended *out) const
    {
        std::vector<uint64_t> sizes;

        for (size_t i = 0; i < layout_.streams.size(); i++) {
            const OrcStream &stream = layout_.streams[i];
            uint64_t size = 0;

            ARROW_RETURN_NOT_OK(write_stream(i, to, &size));
            (is_in_index(stream) ? out->before.index : out->before.data) += stream.size;
            (is_in_index(stream) ? out->after.index : out->after.data) += size;
            sizes.push_back(size);
        }
        ARROW_ASSIGN_OR_RAISE(const std::string stored,
                              encode_chunks(options_.chunks, footer_with(sizes)));
        out->after.footer = stored.size();
        return to->Write(stored.data(), static_cast<int64_t>(stored.size()));
    }

  private:
    struct Mended {
        size_t data; // numbers of streams
        size_t second;
        size_t index;
        OrcColumnStreams streams;
    };

    size_t find(uint64_t type, uint64_t kind) const
    {
        const auto found =
            std::find_if(layout_.streams.begin(), layout_.streams.end(), [&](const auto &stream) {
                return stream.column == type && stream.kind == kind;
            });

        return static_cast<size_t>(found - layout_.streams.begin());
    }

    arrow::Status write_stream(size_t number, arrow::io::OutputStream *to, uint64_t *size) const
    {
        const OrcStream &stream = layout_.streams[number];

        for (const Mended &mended : columns_) {
            if (number == mended.index) {
                *size = mended.streams.index.size();
                return to->Write(mended.streams.index.data(), static_cast<int64_t>(*size));
            }
            if (number == mended.data || number == mended.second) {
                const Pieces &stored =
                    number == mended.data ? mended.streams.data : mended.streams.second;

                *size = stored.size();
                return stored.write(0, *size, to);
            }
        }
        *size = stream.size;
        return held_.write(stream.begin, stream.size, to);
    }

    std::string footer_with(const std::vector<uint64_t> &sizes) const
    {
        Message out;
        size_t number = 0;

        for (Fields in = fields_of(footer_); in.next();) {
            if (in.field() != STRIPE_STREAMS) {
                out.copy(in);
                continue;
            }
            Message stream;

            for (Fields fields = in.message(); fields.next();) {
                if (fields.field() == STREAM_LENGTH) {
                    stream.number(STREAM_LENGTH, sizes[number]);
                } else {
                    stream.copy(fields);
                }
            }
            out.message(STRIPE_STREAMS, stream);
            number++;
        }
        return out.data();
    }

    const OrcMendOptions &options_;
    const Pieces &held_;
    std::string footer_; // decoded
    StripeLayout layout_;
    std::vector<Mended> columns_;
};

void
read_stripe(Fields in, uint64_t *offset, OrcLengths *out)
{
    while (in.next()) {
        *offset = in.field() == STRIPE_OFFSET ? in.value() : *offset;
        out->index = in.field() == STRIPE_INDEX ? in.value() : out->index;
        out->data = in.field() == STRIPE_DATA ? in.value() : out->data;
        out->footer = in.field() == STRIPE_FOOTER ? in.value() : out->footer;
    }
}

/** Where a stripe is, and how long, when those before it are `shift` bytes longer (modulo 2^64). */
Message
stripe_with(Fields in, uint64_t shift, const OrcLengths &lengths)
{
    Message out;

    while (in.next()) {
        switch (in.field()) {
        case STRIPE_OFFSET:
            out.number(in.field(), in.value() + shift);
            break;
        case STRIPE_INDEX:
            out.number(in.field(), lengths.index);
            break;
        case STRIPE_DATA:
            out.number(in.field(), lengths.data);
            break;
        case STRIPE_FOOTER:
            out.number(in.field(), lengths.footer);
            break;
        default:
            out.copy(in);
            break;
        }
    }
    return out;
}

/** Stripes of the file's footer, one after another, as they are now. */
class StripeList
{
  public:
    explicit StripeList(const std::vector<OrcMended> &mended) : mended_(mended)
    {
    }

    arrow::Result<Message> next(const Fields &stripe)
    {
        const uint64_t shift = shift_;
        uint64_t offset = 0;
        OrcLengths lengths;

        read_stripe(stripe, &offset, &lengths);
        if (at_ < mended_.size() && mended_[at_].offset == offset) {
            const OrcMended &mended = mended_[at_++];

            if (mended.before.index != lengths.index || mended.before.data != lengths.data ||
                mended.before.footer != lengths.footer) {
                return bad_end();
            }
            lengths = mended.after;
            shift_ += mended.after.sum() - mended.before.sum();
        }
        return stripe_with(stripe, shift, lengths);
    }
    /** Bytes that all of them have more, modulo 2^64. */
    uint64_t shift() const
    {
        return shift_;
    }
    bool is_complete() const
    {
        return at_ == mended_.size();
    }

  private:
    const std::vector<OrcMended> &mended_;
    size_t at_ = 0;
    uint64_t shift_ = 0;
};

/** Statistics of stripes. */
arrow::Result<Message>
mend_metadata(Fields in)
{
    enum { METADATA_STRIPES = 1, METADATA_COLUMNS = 1 };
    Message out;

    while (in.next()) {
        if (in.field() != METADATA_STRIPES || in.bytes() == nullptr) {
            out.copy(in);
            continue;
        }
        Fields stripe = in.message();
        Message columns;

        while (stripe.next()) {
            if (stripe.field() == METADATA_COLUMNS && stripe.bytes() != nullptr) {
                ARROW_ASSIGN_OR_RAISE(const Message column, mend_statistics(stripe.message()));

                columns.message(METADATA_COLUMNS, column);
            } else {
                columns.copy(stripe);
            }
        }
        out.message(METADATA_STRIPES, columns);
    }
    return in.is_whole() ? arrow::Result<Message>(out) : bad_end();
}

enum { FILE_CONTENT = 2, FILE_STRIPES = 3, FILE_STATISTICS = 7 }; // of the file's footer

arrow::Result<Message>
mend_footer(const std::string &footer, const std::vector<OrcMended> &mended)
{
    StripeList stripes(mended);
    Fields in = fields_of(footer);
    Message out;
    uint64_t more = 0;

    for (const OrcMended &one : mended) {
        more += one.after.sum() - one.before.sum();
    }
    while (in.next()) {
        if (in.field() == FILE_CONTENT) {
            out.number(FILE_CONTENT, in.value() + more);
        } else if (in.field() == FILE_STRIPES && in.bytes() != nullptr) {
            ARROW_ASSIGN_OR_RAISE(const Message stripe, stripes.next(in.message()));

            out.message(FILE_STRIPES, stripe);
        } else if (in.field() == FILE_STATISTICS && in.bytes() != nullptr) {
            ARROW_ASSIGN_OR_RAISE(const Message statistics, mend_statistics(in.message()));

            out.message(FILE_STATISTICS, statistics);
        } else {
            out.copy(in);
        }
    }
    return in.is_whole() && stripes.is_complete() ? arrow::Result<Message>(out) : bad_end();
}

// of the postscript
enum { SCRIPT_FOOTER = 1, SCRIPT_CODEC = 2, SCRIPT_CHUNK_BYTES = 3, SCRIPT_METADATA = 5 };

} // namespace

arrow::Result<uint64_t>
find_stripe_footer(const OrcMendOptions &options, const Pieces &held,
                   const std::vector<uint64_t> &marks)
{
    for (auto mark = marks.rbegin(); mark != marks.rend(); mark++) {
        if (held.size() - *mark > kMessageBytesMax) {
            break;
        }
        const auto footer = read_message(options, held, *mark, held.size() - *mark);

        if (footer.ok()) {
            const StripeLayout layout = layout_of(*footer, *mark);

            if (layout.is_whole && layout.size == *mark) {
                return *mark;
            }
        }
    }
    return bad_stripe();
}

arrow::Status
mend_stripe(const OrcMendOptions &options, const Pieces &held, uint64_t footer,
            uint64_t footer_bytes, const std::vector<bool> &types, arrow::io::OutputStream *to,
            OrcMended *out)
{
    StripeMend stripe(options, held);

    ARROW_RETURN_NOT_OK(stripe.open(footer, footer_bytes));
    for (size_t type = 0; type < types.size(); type++) {
        if (types[type]) {
            ARROW_RETURN_NOT_OK(stripe.mend(type));
        }
    }
    out->before.footer = footer_bytes;
    return stripe.write(to, out);
}

arrow::Status
OrcEnd::read_postscript(const std::string &bytes, uint64_t room)
{
    uint64_t codec = 0;
    uint64_t chunk_bytes = 0;
    Fields in = fields_of(bytes);

    while (in.next()) {
        footer_bytes_ = in.field() == SCRIPT_FOOTER ? in.value() : footer_bytes_;
        metadata_bytes_ = in.field() == SCRIPT_METADATA ? in.value() : metadata_bytes_;
        codec = in.field() == SCRIPT_CODEC ? in.value() : codec;
        chunk_bytes = in.field() == SCRIPT_CHUNK_BYTES ? in.value() : chunk_bytes;
    }
    if (!in.is_whole() || codec != options_.chunks.codec ||
        (codec != 0 && chunk_bytes != options_.chunks.chunk_bytes) || footer_bytes_ > room ||
        metadata_bytes_ > room - footer_bytes_) {
        return bad_end();
    }
    return arrow::Status::OK();
}

arrow::Status
OrcEnd::open(const Pieces &held)
{
    uint8_t script_size = 0;
    uint64_t at = held.size();

    if (at == 0) {
        return bad_end();
    }
    ARROW_RETURN_NOT_OK(held.copy(--at, 1, &script_size));
    if (script_size > at) {
        return bad_end();
    }
    at -= script_size;
    postscript_.resize(script_size);
    ARROW_RETURN_NOT_OK(held.copy(at, script_size, postscript_.data()));
    ARROW_RETURN_NOT_OK(read_postscript(postscript_, at));
    at -= footer_bytes_;
    ARROW_ASSIGN_OR_RAISE(footer_, read_message(options_, held, at, footer_bytes_, kEndBytesMax));
    at -= metadata_bytes_;
    ARROW_ASSIGN_OR_RAISE(metadata_,
                          read_message(options_, held, at, metadata_bytes_, kEndBytesMax));
    begin_ = at;
    return arrow::Status::OK();
}

arrow::Status
OrcEnd::last_stripe(uint64_t *offset, OrcLengths *out) const
{
    bool has_any = false;

    for (Fields in = fields_of(footer_); in.next();) {
        if (in.field() == FILE_STRIPES && in.bytes() != nullptr) {
            *out = OrcLengths();
            read_stripe(in.message(), offset, out);
            has_any = true;
        }
    }
    return has_any ? arrow::Status::OK() : bad_end();
}

arrow::Status
OrcEnd::write(const std::vector<OrcMended> &mended, arrow::io::OutputStream *to) const
{
    ARROW_ASSIGN_OR_RAISE(const Message new_metadata, mend_metadata(fields_of(metadata_)));
    ARROW_ASSIGN_OR_RAISE(const Message new_footer, mend_footer(footer_, mended));
    ARROW_ASSIGN_OR_RAISE(const std::string metadata,
                          encode_chunks(options_.chunks, new_metadata.data()));
    ARROW_ASSIGN_OR_RAISE(const std::string footer,
                          encode_chunks(options_.chunks, new_footer.data()));
    Message script;

    for (Fields in = fields_of(postscript_); in.next();) {
        if (in.field() == SCRIPT_FOOTER || in.field() == SCRIPT_METADATA) {
            script.number(in.field(),
                          in.field() == SCRIPT_FOOTER ? footer.size() : metadata.size());
        } else {
            script.copy(in);
        }
    }
    if (script.data().size() > UINT8_MAX) {
        return bad_end();
    }
    const auto script_size = static_cast<char>(script.data().size());
    const std::string end = metadata + footer + script.data() + script_size;

    return to->Write(end.data(), static_cast<int64_t>(end.size()));
}

} // namespace columnar
