// What stands behind the handles of format/columnar_abi.h.
#ifndef SINTER_COLUMNAR_COLUMNAR_HH
#define SINTER_COLUMNAR_COLUMNAR_HH

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <memory>
#include <string>
#include <vector>

#include "columnar/cast.hh"
#include "columnar/gather.hh"
#include "columnar/session.hh"

namespace columnar
{

/** What becomes of a column that is read. */
struct Wanted {
    std::shared_ptr<arrow::Field> field;
    size_t number = 0; // ORC's, of its type
    bool is_cast = false;
};

} // namespace columnar

struct sinter__columnar_batch {
    std::shared_ptr<arrow::RecordBatch> rows;
    columnar::Columns columns; // of `rows`
};

/** A file of one format. The functions throw and return what Arrow does; api.cc catches. */
struct sinter__columnar_file {
    explicit sinter__columnar_file(std::unique_ptr<columnar::Session> own) : session(std::move(own))
    {
    }
    virtual ~sinter__columnar_file() = default;

    virtual void info(sinter__columnar_info *out) const = 0;
    virtual void group(int index, sinter__columnar_group *out) const = 0;
    /** Begin reading columns of groups [first, end). */
    virtual arrow::Status read(const std::vector<int> &columns, int first, int end,
                               int64_t batch_rows) = 0;
    /** Add up what reading columns of groups [first, end) takes; `batch_rows` of `out` is set. */
    virtual void footprint(const std::vector<int> &columns, int first, int end,
                           sinter__columnar_footprint *out) const = 0;
    /** NULL: the end. */
    virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> next() = 0;

    std::unique_ptr<columnar::Session> session;
    std::shared_ptr<columnar::Source> source;
    std::shared_ptr<arrow::Schema> schema;
    std::string writer;
    std::unique_ptr<columnar::Cast> cast;
    std::vector<columnar::Wanted> wanted; // of a read
    std::vector<size_t> shown;            // of a read: of `wanted`; empty: each of them
    uint64_t rows_left = 0;               // of a read
};

/** A file being written. */
struct sinter__columnar_output {
    explicit sinter__columnar_output(std::unique_ptr<columnar::Session> own)
        : session(std::move(own))
    {
    }
    virtual ~sinter__columnar_output() = default;

    virtual arrow::Status write(const std::shared_ptr<arrow::RecordBatch> &rows) = 0;
    /** Write everything up to the file's end. */
    virtual arrow::Status finish() = 0;
    virtual uint64_t size() const = 0;
    virtual uint32_t group_count() const = 0;

    std::unique_ptr<columnar::Session> session;
    std::shared_ptr<columnar::Sink> sink;
    std::shared_ptr<arrow::Schema> schema;
    std::unique_ptr<columnar::Gather> gather; // rows that are not written yet
    uint64_t row_count = 0;
    bool has_begun = false; // rows were written
    bool has_failed = false;
};

namespace columnar
{

/** Bytes that a value of the type takes in memory, where they follow from the type; 0: they don't,
 *  as of texts. Nested types have none of their own. */
int64_t
width_of(const arrow::DataType &type);

/** Open a file whose first bytes tell its format. Here and below `session` is taken only by what is
 *  in `*out` then, and lives whatever fails: its caller is still in it. */
arrow::Status
open_parquet(std::unique_ptr<Session> &&session, std::shared_ptr<Source> source,
             std::unique_ptr<sinter__columnar_file> *out);
arrow::Status
open_orc(std::unique_ptr<Session> &&session, std::shared_ptr<Source> source,
         std::unique_ptr<sinter__columnar_file> *out);

/** Begin a file with columns of `schema`. */
arrow::Status
make_parquet(std::unique_ptr<Session> &&session, std::shared_ptr<Sink> sink,
             const std::shared_ptr<arrow::Schema> &schema, const sinter__columnar_write &write,
             std::unique_ptr<sinter__columnar_output> *out);
arrow::Status
make_orc(std::unique_ptr<Session> &&session, std::shared_ptr<Sink> sink,
         const std::shared_ptr<arrow::Schema> &schema, const sinter__columnar_write &write,
         std::unique_ptr<sinter__columnar_output> *out);

/** Where the formats keep the ids of fields in Arrow's metadata. */
inline constexpr char kParquetIdKey[] = "PARQUET:field_id";
inline constexpr char kOrcIdKey[] = "paimon.id";

/** The same fields, nested ones too, with ids under `key` and no other metadata. */
std::shared_ptr<arrow::Schema>
with_ids(const arrow::Schema &schema, const char *key);

/** The same fields, nested ones too, but for times, which are numbers in ORC (table-layout.md
 *  9.1). */
std::shared_ptr<arrow::Schema>
without_times(const arrow::Schema &schema);

/** The schema that a caller gives, whose struct stays its own. */
arrow::Result<std::shared_ptr<arrow::Schema>>
schema_of(const struct ArrowSchema &given);

} // namespace columnar

#endif
