#include "columnar/dictionary.hh"

#include <arrow/array/data.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

namespace columnar
{

namespace
{

constexpr int64_t kLookedAtMax = 20000; // rows; as many as a page of Paimon's has
constexpr int64_t kLengthBytes = 4;     // in front of a text

/** What the values of a leaf come to. */
struct Tally {
    int64_t values = 0;
    int64_t plain_bytes = 0;
    int64_t distinct = 0;
    int64_t distinct_bytes = 0;
};

uint64_t
mixed(uint64_t hash)
{
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t
hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = size;
    uint64_t word = 0;

    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        std::memcpy(&word, bytes, sizeof word);
        hash = mixed(hash ^ word);
    }
    if (size > 0) {
        word = 0;
        std::memcpy(&word, bytes, size);
        hash = mixed(hash ^ word);
    }
    return hash;
}

/** Hashes, each once. Values that share one count once, which is as good for an estimate. */
class HashSet
{
  public:
    explicit HashSet(int64_t count)
        : slots_(static_cast<size_t>(arrow::bit_util::NextPower2(2 * count + 1)))
    {
    }
    /** Was it not there? */
    bool add(uint64_t hash)
    {
        const size_t mask = slots_.size() - 1;
        size_t at = 0;

        hash = std::max<uint64_t>(hash, 1); // 0: free
        for (at = hash & mask; slots_[at] != 0; at = (at + 1) & mask) {
            if (slots_[at] == hash) {
                return false;
            }
        }
        slots_[at] = hash;
        return true;
    }

  private:
    std::vector<uint64_t> slots_;
};

/** Bytes of a value of fixed width in a page. */
int64_t
plain_width(const parquet::ColumnDescriptor &column)
{
    switch (column.physical_type()) {
    case parquet::Type::INT32:
    case parquet::Type::FLOAT:
        return 4;
    case parquet::Type::INT96:
        return 12;
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
        return column.type_length();
    default:
        return 8;
    }
}

Tally
count(const arrow::ArrayData &data, const parquet::ColumnDescriptor &column)
{
    const bool is_text = column.physical_type() == parquet::Type::BYTE_ARRAY;
    const uint8_t *valid = data.buffers[0] == nullptr ? nullptr : data.buffers[0]->data();
    const int64_t rows = std::min(data.length, kLookedAtMax);
    const auto *offsets = is_text ? data.GetValues<int32_t>(1) : nullptr;
    const int64_t width =
        is_text ? 0 : static_cast<const arrow::FixedWidthType &>(*data.type).bit_width() / 8;
    const uint8_t *bytes = data.buffers[is_text ? 2 : 1] == nullptr
                               ? nullptr
                               : data.buffers[is_text ? 2 : 1]->data() + data.offset * width;
    HashSet seen(rows);
    Tally tally;

    for (int64_t i = 0; i < rows; i++) {
        if (valid != nullptr &&
            !arrow::bit_util::GetBit(valid, static_cast<uint64_t>(data.offset + i))) {
            continue;
        }
        const int64_t size = is_text ? offsets[i + 1] - offsets[i] : width;
        const uint8_t *value = bytes + (is_text ? offsets[i] : i * width);
        const int64_t plain = is_text ? kLengthBytes + size : plain_width(column);

        tally.values++;
        tally.plain_bytes += plain;
        if (seen.add(hash_of(value, static_cast<size_t>(size)))) {
            tally.distinct++;
            tally.distinct_bytes += plain;
        }
    }
    return tally;
}

bool
is_worth_it(const Tally &tally)
{
    const int bits = arrow::bit_util::Log2(static_cast<uint64_t>(tally.distinct));

    return tally.values == 0 || // nothing is known
           tally.distinct_bytes + (tally.values * bits + 7) / 8 < tally.plain_bytes;
}

void
look(const arrow::ArrayData &data, const parquet::SchemaDescriptor &words, int *leaf,
     std::vector<std::string> *paths)
{
    if (!data.child_data.empty()) {
        for (const auto &child : data.child_data) {
            look(*child, words, leaf, paths);
        }
        return;
    }
    const parquet::ColumnDescriptor &column = *words.Column((*leaf)++);

    // Booleans never have one.
    if (column.physical_type() != parquet::Type::BOOLEAN && !is_worth_it(count(data, column))) {
        paths->push_back(column.path()->ToDotString());
    }
}

} // namespace

std::vector<std::string>
columns_without_dictionary(const arrow::RecordBatch &rows, const parquet::SchemaDescriptor &words)
{
    std::vector<std::string> paths;
    int leaf = 0;

    for (int i = 0; i < rows.num_columns(); i++) {
        look(*rows.column_data(i), words, &leaf, &paths);
    }
    return paths;
}

} // namespace columnar
