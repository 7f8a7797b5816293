/*
 * Times before 1970 with fractions of a second in ORC, in columns of every shape: what is written
 * comes back, from the file's beginning and from any row on.
 */
#include <criterion/criterion.h>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <arrow/io/memory.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "columnar/fields.hh"

extern "C" {
#include "columnar_bed.h"
}

TestSuite(format_columnar_early, .timeout = 600);

namespace
{

namespace orc = arrow::adapters::orc;

constexpr int64_t kSecond = 1000000000;
constexpr int64_t kLeastSecond = -9200000000; // in nanoseconds of 64 bits
constexpr int32_t kCodecs = SINTER__COLUMNAR_GZIP + 1;

/** What rows a file has. */
struct Case {
    uint64_t seed = 0;
    int64_t rows = 0;
    int64_t early_from = 0; // these rows have early fractions
    int64_t early_to = INT64_MAX;
    unsigned chance = 50; // of a hundred of their values
    int32_t codec = SINTER__COLUMNAR_ZSTD;
    uint64_t stripe_bytes = 0;
    int64_t step = 5000; // rows that are appended together
};

uint64_t
mixed(uint64_t value)
{
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

/** A time in nanoseconds, a multiple of `unit`. */
int64_t
time_of(const Case &given, uint64_t number, int64_t row, int64_t unit)
{
    const uint64_t random = mixed(mixed(given.seed + number) + static_cast<uint64_t>(row));
    const uint64_t more = mixed(random);
    const bool is_early =
        row >= given.early_from && row < given.early_to && random % 100 < given.chance;
    const auto second = -2 - static_cast<int64_t>(more % (more % 2 == 0 ? 9000000000 : 5));
    const auto nanos = static_cast<int64_t>((more >> 33) % 999000000);
    int64_t time = 0;

    switch (random / 100 % (is_early ? 5 : 4)) {
    case 0: // whole seconds
        time = (is_early ? second : second + 4) * kSecond;
        break;
    case 1: // nearly
        time = (is_early ? second + 1 : -second) * kSecond + nanos % 1000000;
        break;
    case 2: // digits that are 0 at the end
        time = (is_early ? second : -second) * kSecond + nanos / 100000 * 100000;
        break;
    case 4: // far away
        time = kLeastSecond * kSecond + nanos;
        break;
    default:
        time = (is_early ? second : -second) * kSecond + nanos;
        break;
    }
    return time - (time % unit + unit) % unit;
}

/** Makes columns of a case, as they are written or as they are read: in nanoseconds. */
class Maker
{
  public:
    Maker(const Case &given, bool as_read) : given_(given), as_read_(as_read)
    {
    }

    std::shared_ptr<arrow::RecordBatch> rows(int64_t first, int64_t count)
    {
        arrow::FieldVector fields;
        arrow::ArrayVector columns;
        const auto add = [&](const char *name, const std::shared_ptr<arrow::Array> &column) {
            fields.push_back(arrow::field(name, column->type()));
            columns.push_back(column);
        };
        const auto milli = times(1, first, count, arrow::TimeUnit::MILLI, 10);
        const auto nano = times(2, first, count, arrow::TimeUnit::NANO, 0);

        add("id", numbers(first, count));
        add("milli", milli);
        add("nano", nano);
        add("micro", times(3, first, count, arrow::TimeUnit::MICRO, 50));
        add("instant", times(4, first, count, arrow::TimeUnit::MICRO, 10, "UTC"));
        add("none", times(5, first, count, arrow::TimeUnit::NANO, 100));
        add("few", repeats(first, count));
        add("part", part(first, count));
        add("list", list(first, count));
        add("map", map(first, count));
        return arrow::RecordBatch::Make(arrow::schema(fields), count, columns);
    }

  private:
    static std::shared_ptr<arrow::Array> finished(arrow::ArrayBuilder *builder)
    {
        const auto array = builder->Finish();

        cr_assert(array.ok(), "%s", array.status().ToString().c_str());
        return *array;
    }
    static void check(const arrow::Status &status)
    {
        cr_assert(status.ok(), "%s", status.ToString().c_str());
    }

    static std::shared_ptr<arrow::Array> numbers(int64_t first, int64_t count)
    {
        arrow::Int64Builder builder;

        for (int64_t row = first; row < first + count; row++) {
            check(builder.Append(row));
        }
        return finished(&builder);
    }

    static int64_t nanos_of(arrow::TimeUnit::type unit)
    {
        return unit == arrow::TimeUnit::MILLI ? 1000000 : unit == arrow::TimeUnit::MICRO ? 1000 : 1;
    }

    /** A column of times of which `nulls` of a hundred are none. */
    std::shared_ptr<arrow::Array> times(uint64_t number, int64_t first, int64_t count,
                                        arrow::TimeUnit::type unit, unsigned nulls,
                                        const char *zone = "")
    {
        const int64_t by = as_read_ ? 1 : nanos_of(unit);
        arrow::TimestampBuilder builder(
            arrow::timestamp(as_read_ ? arrow::TimeUnit::NANO : unit, zone),
            arrow::default_memory_pool());

        for (int64_t row = first; row < first + count; row++) {
            if (mixed(given_.seed * 31 + number + static_cast<uint64_t>(row) * 7) % 100 < nulls) {
                check(builder.AppendNull());
            } else {
                check(builder.Append(time_of(given_, number, row, nanos_of(unit)) / by));
            }
        }
        return finished(&builder);
    }

    /** Times that are the same for many rows. */
    std::shared_ptr<arrow::Array> repeats(int64_t first, int64_t count)
    {
        arrow::TimestampBuilder builder(
            arrow::timestamp(as_read_ ? arrow::TimeUnit::NANO : arrow::TimeUnit::MICRO),
            arrow::default_memory_pool());

        for (int64_t row = first; row < first + count; row++) {
            const int64_t like = row - row % (3 + row / 1000 % 100 * 10);
            const int64_t time = time_of(
                given_, 6, std::max<int64_t>(like, given_.early_from > row ? 0 : given_.early_from),
                1000);

            check(builder.Append(row < given_.early_to ? time / (as_read_ ? 1 : 1000) : 0));
        }
        return finished(&builder);
    }

    /** A ROW with a time, of which some are NULL though they hold one. */
    std::shared_ptr<arrow::Array> part(int64_t first, int64_t count)
    {
        const auto inside = times(7, first, count, arrow::TimeUnit::MICRO, 20);
        arrow::BooleanBuilder valid;

        for (int64_t row = first; row < first + count; row++) {
            check(valid.Append(row % 5 != 0));
        }
        const auto bits = finished(&valid);

        return std::make_shared<arrow::StructArray>(
            arrow::struct_({arrow::field("at", inside->type())}), count, arrow::ArrayVector{inside},
            bits->data()->buffers[1]);
    }

    /** Offsets of lists with none to three elements. */
    static std::shared_ptr<arrow::Array> offsets(int64_t first, int64_t count, bool has_nulls)
    {
        arrow::Int32Builder builder;
        int32_t end = 0;

        for (int64_t row = first; row <= first + count; row++) {
            if (has_nulls && row % 7 == 0 && row < first + count) {
                check(builder.AppendNull());
            } else {
                check(builder.Append(end));
                end += static_cast<int32_t>(row % 4);
            }
        }
        return finished(&builder);
    }
    static int64_t last_of(const arrow::Array &offsets)
    {
        const auto &numbers = static_cast<const arrow::Int32Array &>(offsets);

        return numbers.Value(offsets.length() - 1);
    }

    /** The elements that lists of rows from `first` on begin with have this number. */
    static int64_t elements_before(int64_t first)
    {
        return first * 4;
    }

    std::shared_ptr<arrow::Array> list(int64_t first, int64_t count)
    {
        const auto ends = offsets(first, count, true);
        const auto inside = nested_times(8, first, last_of(*ends), 15);
        const auto array = arrow::ListArray::FromArrays(*ends, *inside);

        cr_assert(array.ok(), "%s", array.status().ToString().c_str());
        return *array;
    }

    std::shared_ptr<arrow::Array> map(int64_t first, int64_t count)
    {
        const auto ends = offsets(first, count, false);
        const auto keys = nested_times(9, first, last_of(*ends), 0);
        const auto items = nested_times(10, first, last_of(*ends), 30);
        const auto array = arrow::MapArray::FromArrays(ends, keys, items);

        cr_assert(array.ok(), "%s", array.status().ToString().c_str());
        return *array;
    }

    /** Elements of lists: they are of the batch that begins with `first`. */
    std::shared_ptr<arrow::Array> nested_times(uint64_t number, int64_t first, int64_t count,
                                               unsigned nulls)
    {
        Case same = given_;

        if (first >= given_.early_from && first < given_.early_to) {
            same.early_from = 0;
            same.early_to = INT64_MAX;
        } else {
            same.early_to = 0;
        }
        return Maker(same, as_read_)
            .times(number, elements_before(first), count, arrow::TimeUnit::MICRO, nulls);
    }

    const Case given_;
    const bool as_read_;
};

sinter__columnar_output *
open_output(const columnar_bed *bed, const arrow::Schema &columns, int32_t codec,
            uint64_t stripe_bytes)
{
    sinter__columnar_write write = {};
    sinter__columnar_output *output = nullptr;
    sinter_error err = {};
    struct ArrowSchema schema;

    err.struct_size = sizeof err;
    write.struct_size = sizeof write;
    write.kind = SINTER__COLUMNAR_ORC;
    write.codec = codec;
    write.group_bytes = stripe_bytes;
    cr_assert(arrow::ExportSchema(columns, &schema).ok());
    cr_assert_eq(
        bed->columnar.api->output_open(&bed->columnar.host, "m/t", &schema, &write, &output, &err),
        SINTER_OK, "%s", err.text);
    schema.release(&schema);
    return output;
}

/** Append rows in one or two ranges. */
void
append_rows(const columnar_bed *bed, sinter__columnar_output *output,
            const arrow::RecordBatch &rows, int range_count)
{
    const sinter__columnar_api *api = bed->columnar.api;
    const auto count = static_cast<uint64_t>(rows.num_rows());
    sinter__columnar_range range = {};
    sinter__columnar_batch *batch = nullptr;
    sinter_error err = {};
    struct ArrowSchema schema;
    struct ArrowArray array;

    err.struct_size = sizeof err;
    cr_assert(arrow::ExportRecordBatch(rows, &array, &schema).ok());
    cr_assert_eq(api->batch_import(&schema, &array, &batch, &err), SINTER_OK);
    range.batch = batch;
    for (int i = 0; i < range_count; i++) {
        range.first = range.first + range.count;
        range.count = i + 1 < range_count ? count / 2 : count - range.first;
        cr_assert_eq(api->output_append(output, &range, 1, &err), SINTER_OK, "%s", err.text);
    }
    api->batch_release(batch);
}

/** @return the file's bytes; it is removed */
std::shared_ptr<arrow::Buffer>
finish_output(const columnar_bed *bed, sinter__columnar_output *output)
{
    sinter__columnar_written written = {};
    sinter_error err = {};

    err.struct_size = sizeof err;
    written.struct_size = sizeof written;
    cr_assert_eq(bed->columnar.api->output_finish(output, &written, &err), SINTER_OK, "%s",
                 err.text);
    bed->columnar.api->output_close(output);

    auto bytes = *arrow::AllocateBuffer(static_cast<int64_t>(bed_size(bed, "m/t")));
    const sinter_io_range range = {0, bytes->mutable_data(), static_cast<size_t>(bytes->size())};
    sinter_io_file *file = nullptr;

    cr_assert_eq(bed->env.io->ops->open(bed->env.io, "m/t", 0, &file, nullptr), SINTER_OK);
    cr_assert_eq(file->ops->read(file, &range, 1, nullptr), SINTER_OK);
    file->ops->close(file);
    cr_assert_eq(bed->env.io->ops->unlink(bed->env.io, "m/t", nullptr), SINTER_OK);
    return std::shared_ptr<arrow::Buffer>(std::move(bytes));
}

/** Write a file. @return its bytes */
std::shared_ptr<arrow::Buffer>
write_file(const columnar_bed *bed, const Case &given)
{
    sinter__columnar_output *output = open_output(bed, *Maker(given, false).rows(0, 0)->schema(),
                                                  given.codec, given.stripe_bytes);

    for (int64_t first = 0; first < given.rows; first += given.step) {
        const int64_t count = std::min(given.step, given.rows - first);

        append_rows(bed, output, *Maker(given, false).rows(first, count), 2);
    }
    return finish_output(bed, output);
}

/** Write rows one by one, each into a stripe. @return the file's bytes */
std::shared_ptr<arrow::Buffer>
write_rows(const columnar_bed *bed, const std::shared_ptr<arrow::RecordBatch> &rows, int32_t codec)
{
    sinter__columnar_output *output = open_output(bed, *rows->schema(), codec, 1);

    for (int64_t row = 0; row < rows->num_rows(); row++) {
        append_rows(bed, output, *rows->Slice(row, 1), 1);
    }
    return finish_output(bed, output);
}

std::unique_ptr<orc::ORCFileReader>
open_reader(const std::shared_ptr<arrow::Buffer> &bytes)
{
    auto reader = orc::ORCFileReader::Open(std::make_shared<arrow::io::BufferReader>(bytes),
                                           arrow::default_memory_pool());

    cr_assert(reader.ok(), "%s", reader.status().ToString().c_str());
    return std::move(*reader);
}

/** The rows of a case that are read, from `first` on. */
std::shared_ptr<arrow::RecordBatch>
expected_rows(const Case &given, int64_t first, int64_t count)
{
    const int64_t begin = first - first % given.step;
    arrow::RecordBatchVector batches;

    for (int64_t at = begin; at < first + count; at += given.step) {
        batches.push_back(Maker(given, true).rows(at, std::min(given.step, given.rows - at)));
    }
    const auto table = arrow::Table::FromRecordBatches(batches);
    const auto rows = (*table)->Slice(first - begin, count)->CombineChunksToBatch();

    cr_assert(rows.ok(), "%s", rows.status().ToString().c_str());
    return *rows;
}

void
check_rows(const Case &given, const arrow::RecordBatch &rows, int64_t first)
{
    const auto expected = expected_rows(given, first, rows.num_rows());

    for (int i = 0; i < rows.num_columns(); i++) {
        const auto &is = rows.column(i);
        const auto &should = expected->column(i);

        cr_assert_eq(rows.num_columns(), expected->num_columns());
        if (!is->ApproxEquals(should)) {
            cr_assert_fail("seed %" PRIu64 ", codec %d, rows from %" PRId64 " on, column %s:\n%s",
                           given.seed, given.codec, first, expected->column_name(i).c_str(),
                           is->Diff(*should).substr(0, 2000).c_str());
        }
    }
}

/** Read everything, and from some rows on. @return how many stripes there were */
int64_t
check_file(const Case &given, const std::shared_ptr<arrow::Buffer> &bytes)
{
    auto reader = open_reader(bytes);
    int64_t rows = 0;

    cr_assert_eq(reader->NumberOfRows(), given.rows);
    for (int64_t i = 0; i < reader->NumberOfStripes(); i++) {
        const auto stripe = reader->ReadStripe(i);

        cr_assert(stripe.ok(), "%s", stripe.status().ToString().c_str());
        check_rows(given, **stripe, rows);
        rows += (*stripe)->num_rows();
    }
    cr_assert_eq(rows, given.rows);
    for (int i = 0; i < 12; i++) {
        const auto random = static_cast<int64_t>(mixed(given.seed + static_cast<uint64_t>(i)) >> 8);
        const int64_t row = i % 3 == 0 ? random % given.rows / 10000 * 10000 : random % given.rows;

        cr_assert(reader->Seek(row).ok());
        const auto some = reader->NextStripeReader(777);
        std::shared_ptr<arrow::RecordBatch> batch;

        cr_assert(some.ok(), "%s", some.status().ToString().c_str());
        cr_assert((*some)->ReadNext(&batch).ok());
        check_rows(given, *batch, row);
    }
    return reader->NumberOfStripes();
}

/** The least and greatest time of a type, as the file's footer tells them. */
std::vector<int64_t>
told_bounds(const std::string &tail, int type)
{
    enum { FOOTER = 2, STATISTICS = 7, TIMES = 9, MIN = 3, MAX = 4, MIN_NANOS = 5, MAX_NANOS = 6 };
    constexpr int64_t kMs = 1000000;
    std::vector<int64_t> bounds = {0, kMs - 1}; // what is not told
    columnar::Fields parts(reinterpret_cast<const uint8_t *>(tail.data()), tail.size());

    while (parts.next()) {
        columnar::Fields footer = parts.message();
        int number = 0;

        while (parts.field() == FOOTER && footer.next()) {
            columnar::Fields statistics = footer.message();

            number += footer.field() == STATISTICS ? 1 : 0;
            while (footer.field() == STATISTICS && number == type + 1 && statistics.next()) {
                columnar::Fields times = statistics.message();

                while (statistics.field() == TIMES && times.next()) {
                    const auto value = static_cast<int64_t>(times.value());
                    const bool is_min = times.field() == MIN || times.field() == MIN_NANOS;

                    if (times.field() == MIN || times.field() == MAX) {
                        bounds[is_min ? 0 : 1] += columnar::signed_of(times.value()) * kMs;
                    } else {
                        cr_expect(value >= 1 && value <= kMs, "nanoseconds %" PRId64, value - 1);
                        bounds[is_min ? 0 : 1] += value - 1 - (is_min ? 0 : kMs - 1);
                    }
                }
            }
        }
    }
    return bounds;
}

} // namespace

Test(format_columnar_early, statistics_tell_the_least_and_the_greatest_time)
{
    columnar_bed bed;

    bed_init(&bed, 0);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        Case given;

        given.seed = seed;
        given.rows = seed % 2 == 0 ? 3 : 25000;
        given.chance = 60;
        const auto reader = open_reader(write_file(&bed, given));
        const auto rows = expected_rows(given, 0, given.rows);

        for (int column = 1; column < 4; column++) {
            const auto &times = static_cast<const arrow::TimestampArray &>(*rows->column(column));
            std::vector<int64_t> values;

            for (int64_t i = 0; i < times.length(); i++) {
                if (times.IsValid(i)) {
                    values.push_back(times.Value(i));
                }
            }
            if (!values.empty()) {
                const auto told = told_bounds(reader->GetSerializedFileTail(), column + 1);
                const auto bounds = std::minmax_element(values.begin(), values.end());

                cr_expect_eq(told[0], *bounds.first, "seed %" PRIu64 ": %" PRId64, seed, told[0]);
                cr_expect_eq(told[1], *bounds.second, "seed %" PRIu64 ": %" PRId64, seed, told[1]);
            }
        }
    }
    bed_fini(&bed);
}

Test(format_columnar_early, stripes_without_them_are_written_as_they_always_were)
{
    Case without;
    columnar_bed bed;

    bed_init(&bed, 0);
    without.seed = 3;
    without.rows = 60000;
    without.stripe_bytes = 100000;
    without.early_from = without.rows;
    Case with = without;

    with.early_from = 40000;
    const auto plain = write_file(&bed, without);
    const auto mended = write_file(&bed, with);
    auto reader = open_reader(mended);
    int64_t stripe = 0;

    while (reader->GetStripeInformation(stripe).first_row_id +
               reader->GetStripeInformation(stripe).num_rows <=
           with.early_from) {
        stripe++;
    }
    cr_expect_geq(stripe, 1);
    cr_expect_eq(std::memcmp(plain->data(), mended->data(),
                             static_cast<size_t>(reader->GetStripeInformation(stripe).offset)),
                 0);
    bed_fini(&bed);
}

Test(format_columnar_early, times_come_back_with_every_codec_from_any_row_on)
{
    columnar_bed bed;

    bed_init(&bed, 0);
    for (int32_t codec = 0; codec < kCodecs; codec++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            Case given;

            given.seed = seed;
            given.codec = codec;
            given.rows = static_cast<int64_t>(mixed(seed) % 30000) + 1;
            given.step = seed == 2 ? 700 : 10000;
            cr_expect_eq(check_file(given, write_file(&bed, given)), 1);
        }
    }
    bed_fini(&bed);
}

Test(format_columnar_early, a_file_may_have_them_in_some_of_its_stripes)
{
    columnar_bed bed;

    bed_init(&bed, 0);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Case given;

        given.seed = seed;
        given.codec = static_cast<int32_t>(seed % kCodecs);
        given.rows = 60000;
        given.stripe_bytes = 400000;
        given.step = seed % 2 == 0 ? 20000 : 900;
        given.early_from = seed % 3 * 20000;
        given.early_to = given.early_from + 20000;
        given.chance = seed == 1 ? 1 : 50;
        cr_expect_geq(check_file(given, write_file(&bed, given)), 3);
    }
    bed_fini(&bed);
}

/* The bounds of texts stand whole in the end, for each stripe. */
Test(format_columnar_early, the_end_of_a_file_may_have_the_bounds_of_long_texts)
{
    constexpr int64_t kRows = 8;
    constexpr int64_t kTextBytes = 3 << 20;
    columnar_bed bed;

    bed_init(&bed, 0);
    for (const int32_t codec : {SINTER__COLUMNAR_ZSTD, SINTER__COLUMNAR_NONE}) {
        arrow::StringBuilder texts;
        arrow::TimestampBuilder times(arrow::timestamp(arrow::TimeUnit::MICRO),
                                      arrow::default_memory_pool());

        for (int64_t row = 0; row < kRows; row++) {
            cr_assert(texts.Append(std::string(kTextBytes, static_cast<char>('a' + row))).ok());
            cr_assert(times.Append(-5500000 - row).ok());
        }
        const auto rows = arrow::RecordBatch::Make(
            arrow::schema({arrow::field("text", arrow::utf8()), arrow::field("at", times.type())}),
            kRows, arrow::ArrayVector{*texts.Finish(), *times.Finish()});
        const auto reader = open_reader(write_rows(&bed, rows, codec));
        const auto read = reader->Read();

        cr_assert(read.ok(), "%s", read.status().ToString().c_str());
        cr_expect_gt(reader->NumberOfStripes() * 2 * kTextBytes, 16 << 20);
        for (int64_t row = 0; row < kRows; row++) {
            const auto value = *(*read)->column(1)->GetScalar(row);

            cr_expect_eq(static_cast<const arrow::TimestampScalar &>(*value).value,
                         (-5500000 - row) * 1000);
        }
    }
    bed_fini(&bed);
}
