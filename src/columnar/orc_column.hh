// The streams of a column of timestamps, written anew.
#ifndef SINTER_COLUMNAR_ORC_COLUMN_HH
#define SINTER_COLUMNAR_ORC_COLUMN_HH

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "columnar/orc_chunks.hh"
#include "columnar/orc_rle.hh"
#include "columnar/orc_times.hh"

namespace columnar
{

/** Kinds of streams, by the format's numbers. */
enum OrcStreamKind : uint64_t {
    ORC_DATA = 1,
    ORC_SECONDARY = 5,
    ORC_ROW_INDEX = 6,
    ORC_BLOOM_FILTER = 7,
    ORC_BLOOM_FILTER_UTF8 = 8
};

/** A stream of a stripe. */
struct OrcStream {
    uint64_t kind = 0;
    uint64_t column = 0; // the type's number
    uint64_t begin = 0;  // in the stripe
    uint64_t size = 0;
};

/** Where in a stream the index has a reader begin, but for a count of values within its run. */
struct OrcPlace {
    uint64_t chunk = 0;
    uint64_t offset = 0;
};

/** The runs of one stream, which become runs of another with the same values. */
class OrcRuns
{
  public:
    OrcRuns(const OrcChunks &chunks, const Pieces &held, bool is_signed, arrow::MemoryPool *pool)
        : reader_(chunks, held, pool), writer_(chunks, pool), is_signed_(is_signed)
    {
    }
    /** `places`: those of the index, in order; they become places in the new stream. */
    arrow::Status open(const OrcStream &stream, std::vector<OrcPlace> *places);
    /** Decode the next run. false: that was all, and the new stream is whole. */
    arrow::Result<bool> next();
    OrcRun &run()
    {
        return run_;
    }
    /** Write the run as it is now; as it was where nothing in it changed. */
    arrow::Status put(bool has_changed);
    Pieces take()
    {
        return writer_.take();
    }

  private:
    arrow::Status move_places();

    OrcChunkReader reader_;
    OrcChunkWriter writer_;
    const bool is_signed_;
    OrcRun run_;
    std::vector<OrcPlace> *places_ = nullptr;
    size_t moved_ = 0; // of the places
};

/** Streams of a column as they are written. */
struct OrcColumnStreams {
    Pieces data;
    Pieces second;
    std::string index;
};

/** What becomes of a column of timestamps with early fractions (orc_times.hh). */
class OrcColumn
{
  public:
    /** `held`: the stripe. It must outlive the column. */
    OrcColumn(const OrcChunks &chunks, const Pieces &held, arrow::MemoryPool *pool)
        : chunks_(chunks), held_(held), data_(chunks, held, true, pool),
          second_(chunks, held, false, pool)
    {
    }
    /** `index`: of size 0 where there is none. */
    arrow::Status mend(const OrcStream &data, const OrcStream &second, const OrcStream &index);

    OrcColumnStreams take()
    {
        return {data_.take(), second_.take(), std::move(index_)};
    }

  private:
    /** An entry of the index has places of PRESENT, if there is one, of DATA and of SECONDARY. */
    arrow::Status read_entry(const Fields &entry);
    arrow::Status read_index(const OrcStream &index);
    arrow::Result<Message> mend_entry(Fields entry, size_t number) const;
    arrow::Status mend_index();
    arrow::Status mend_values();
    arrow::Status mend_nanos_run();
    size_t place_numbers() const
    {
        return chunks_.codec == 0 ? 1 : 2;
    }

    const OrcChunks chunks_;
    const Pieces &held_;
    OrcRuns data_;
    OrcRuns second_;
    std::vector<OrcTime> times_; // of a run of SECONDARY
    std::string raw_index_;
    std::vector<std::vector<uint64_t>> positions_; // of each entry
    std::vector<OrcPlace> data_places_;
    std::vector<OrcPlace> second_places_;
    std::string index_; // new
};

} // namespace columnar

#endif
