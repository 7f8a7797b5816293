// The functions of format/columnar_abi.h.
#include <arrow/c/bridge.h>
#include <arrow/util/config.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "columnar/columnar.hh"
#include "columnar/gather.hh"
#include "columnar/stream.hh"

namespace
{

using columnar::Session;
using columnar::Sink;
using columnar::Source;

constexpr int64_t kBatchRows = 4096;
constexpr int64_t kSliceRows = 4096;      // ranges as long as this are written uncopied
constexpr int64_t kGatherRows = 20000;    // rows that are copied together before they are written
constexpr int64_t kGatherBytes = 4 << 20; // the same, bytes

constexpr int64_t kFirstBytes = 1 << 20; // the same, where nothing was written yet

/** Run what may throw outside of a session. */
template <typename Work>
sinter_status
guarded(const char *path, sinter_error *err, Work &&work)
{
    try {
        return work();
    } catch (const std::exception &) {
        return columnar::fail(SINTER_E_NOMEM, path, "out of memory", err);
    }
}

sinter_status
refuse(const char *path, const char *text, sinter_error *err)
{
    return columnar::fail(SINTER_E_INVALID, path, text, err);
}

/** The format, by the file's first bytes. */
sinter_status
sniff(const Session &session, Source &source, int32_t *kind_out, sinter_error *err)
{
    char magic[4] = {0};
    const auto got = source.ReadAt(0, sizeof magic, magic);

    if (got.ok() && std::memcmp(magic, "PAR1", 4) == 0) {
        *kind_out = SINTER__COLUMNAR_PARQUET;
    } else if (got.ok() && std::memcmp(magic, "ORC", 3) == 0) {
        *kind_out = SINTER__COLUMNAR_ORC;
    } else if (got.ok()) {
        return session.fail(SINTER_E_CORRUPT, "neither a Parquet nor an ORC file", err);
    }
    return SINTER_OK;
}

sinter_status
open_file(const sinter__columnar_host *host, const char *path, uint32_t io_flags,
          uint64_t expected_bytes, sinter__columnar_file **out, sinter_error *err)
{
    auto own = std::make_unique<Session>(*host, path);
    Session &session = *own; // handed on below, and alive as long as `file`
    std::unique_ptr<sinter__columnar_file> file;
    std::shared_ptr<Source> source;
    int32_t kind = 0;
    sinter_status status = Source::open(session, io_flags, &source, err);

    if (status == SINTER_OK && expected_bytes != 0 && source->size() != expected_bytes) {
        status = session.fail(SINTER_E_CORRUPT, "the file has another size than expected", err);
    }
    if (status == SINTER_OK) {
        status = sniff(session, *source, &kind, err);
    }
    if (status == SINTER_OK) {
        status = session.run(err, [&] {
            return kind == SINTER__COLUMNAR_ORC
                       ? columnar::open_orc(std::move(own), std::move(source), &file)
                       : columnar::open_parquet(std::move(own), std::move(source), &file);
        });
    }
    if (status == SINTER_OK) {
        *out = file.release();
    }
    return status;
}

sinter_status
file_open(const sinter__columnar_host *host, const char *path, uint32_t io_flags,
          uint64_t expected_bytes, sinter__columnar_file **out, sinter_error *err)
{
    *out = nullptr;
    return guarded(path, err,
                   [&] { return open_file(host, path, io_flags, expected_bytes, out, err); });
}

sinter_status
file_info(const sinter__columnar_file *file, sinter__columnar_info *out, sinter_error *err)
{
    return file->session->run(err, [&] {
        file->info(out);
        out->file_bytes = file->source->size();
        out->column_count = static_cast<uint32_t>(file->schema->num_fields());
        out->writer = file->writer.c_str();
        return arrow::Status::OK();
    });
}

sinter_status
file_group(const sinter__columnar_file *file, uint32_t index, sinter__columnar_group *out,
           sinter_error *err)
{
    return file->session->run(err, [&] {
        file->group(static_cast<int>(index), out);
        return arrow::Status::OK();
    });
}

sinter_status
file_schema(const sinter__columnar_file *file, struct ArrowSchema *out, sinter_error *err)
{
    out->release = nullptr;
    return file->session->run(err, [&] {
        return arrow::ExportSchema(*columnar::with_ids(*file->schema, columnar::kOrcIdKey), out);
    });
}

/** Check what is asked for, and give it in Arrow's numbers. */
sinter_status
choose(const sinter__columnar_file &file, const sinter__columnar_read &read, uint32_t group_count,
       std::vector<int> *columns, sinter_error *err)
{
    const auto column_count = static_cast<uint32_t>(file.schema->num_fields());

    if (read.group_first > group_count || read.group_count > group_count - read.group_first) {
        return refuse(file.session->path().c_str(), "there are no such row groups", err);
    }
    if (read.columns == nullptr) {
        for (uint32_t i = 0; i < column_count; i++) {
            columns->push_back(static_cast<int>(i));
        }
        return SINTER_OK;
    }
    for (uint32_t i = 0; i < read.column_count; i++) {
        if (read.columns[i] >= column_count || (i > 0 && read.columns[i] <= read.columns[i - 1])) {
            return refuse(file.session->path().c_str(), "columns are chosen by ascending positions",
                          err);
        }
        columns->push_back(static_cast<int>(read.columns[i]));
    }
    return read.column_count > 0 ? SINTER_OK
                                 : refuse(file.session->path().c_str(), "no column is chosen", err);
}

/** Decide what becomes of each column. */
arrow::Status
want(sinter__columnar_file *file, const std::vector<int> &columns, const struct ArrowSchema *as)
{
    std::shared_ptr<arrow::Schema> target;
    std::vector<columnar::Wanted> wanted;

    if (as != nullptr) {
        ARROW_ASSIGN_OR_RAISE(target, columnar::schema_of(*as));
        if (static_cast<size_t>(target->num_fields()) != columns.size()) {
            return arrow::Status::NotImplemented("columns are wanted as another number of types");
        }
    }
    for (size_t i = 0; i < columns.size(); i++) {
        columnar::Wanted column;
        const auto &field = file->schema->field(columns[i]);
        size_t number = 1; // the root has 0

        column.field = target == nullptr ? field : target->field(static_cast<int>(i));
        for (int k = 0; k < columns[i]; k++) {
            number = columnar::number_behind(*file->schema->field(k)->type(), number);
        }
        column.number = number;
        if (!columnar::can_cast(*field->type(), *column.field->type())) {
            return arrow::Status::NotImplemented("column ", field->name(), " is ",
                                                 field->type()->ToString(), ", not ",
                                                 column.field->type()->ToString());
        }
        column.is_cast = !columnar::is_compatible(*field->type(), *column.field->type()) ||
                         file->cast->is_corrected(*field->type()) ||
                         file->cast->is_wide(*field->type(), &number);
        wanted.push_back(std::move(column));
    }
    file->wanted = std::move(wanted);
    return arrow::Status::OK();
}

/** The columns of a batch as they are wanted. */
arrow::Result<std::shared_ptr<arrow::RecordBatch>>
as_wanted(const sinter__columnar_file &file, std::shared_ptr<arrow::RecordBatch> rows)
{
    std::vector<std::shared_ptr<arrow::ArrayData>> columns;
    arrow::FieldVector fields;
    bool is_cast = false;

    for (size_t i = 0; i < file.wanted.size(); i++) {
        const columnar::Wanted &wanted = file.wanted[i];
        size_t number = wanted.number;

        fields.push_back(wanted.field);
        columns.push_back(rows->column_data(static_cast<int>(i)));
        if (wanted.is_cast) {
            is_cast = true;
            ARROW_ASSIGN_OR_RAISE(columns.back(),
                                  file.cast->column(columns.back(), wanted.field->type(), &number));
        }
    }
    if (!file.shown.empty()) {
        std::vector<std::shared_ptr<arrow::ArrayData>> shown;
        arrow::FieldVector shown_fields;

        for (const size_t at : file.shown) {
            shown.push_back(columns[at]);
            shown_fields.push_back(fields[at]);
        }
        return arrow::RecordBatch::Make(arrow::schema(shown_fields), rows->num_rows(),
                                        std::move(shown));
    }
    if (is_cast) {
        rows =
            arrow::RecordBatch::Make(arrow::schema(fields), rows->num_rows(), std::move(columns));
    }
    return rows;
}

/** A part, in Arrow's numbers. */
struct Part {
    std::vector<int> columns;
    int first = 0;
    int end = 0;
    int64_t batch_rows = 0;
};

sinter_status
find_part(const sinter__columnar_file &file, const sinter__columnar_read &read, Part *out,
          sinter_error *err)
{
    sinter__columnar_info info = {};
    sinter_status status = file_info(&file, &info, err);

    if (status == SINTER_OK) {
        status = choose(file, read, info.group_count, &out->columns, err);
    }
    out->first = static_cast<int>(read.group_first);
    out->end = read.group_count > 0 ? out->first + static_cast<int>(read.group_count)
                                    : static_cast<int>(info.group_count);
    out->batch_rows = read.batch_rows > 0 ? read.batch_rows : kBatchRows;
    return status;
}

sinter_status
begin_read(sinter__columnar_file *file, const sinter__columnar_read *read, sinter_error *err)
{
    Part part;
    const sinter_status status = find_part(*file, *read, &part, err);

    if (status != SINTER_OK) {
        return status;
    }
    for (uint32_t i = 0; read->shown != nullptr && i < read->shown_count; i++) {
        if (read->shown[i] >= part.columns.size()) {
            return refuse(file->session->path().c_str(), "a column is shown that isn't chosen",
                          err);
        }
    }
    return file->session->run(err, [&]() -> arrow::Status {
        ARROW_RETURN_NOT_OK(want(file, part.columns, read->as));
        file->shown.clear();
        if (read->shown != nullptr) {
            file->shown.assign(read->shown, read->shown + read->shown_count);
        }
        file->rows_left = 0;
        for (int i = part.first; i < part.end; i++) {
            sinter__columnar_group group = {};

            file->group(i, &group);
            file->rows_left += group.row_count;
        }
        return file->read(part.columns, part.first, part.end, part.batch_rows);
    });
}

sinter_status
file_read(sinter__columnar_file *file, const sinter__columnar_read *read, sinter_error *err)
{
    return guarded(file->session->path().c_str(), err, [&] { return begin_read(file, read, err); });
}

sinter_status
file_footprint(const sinter__columnar_file *file, const sinter__columnar_read *read,
               sinter__columnar_footprint *out, sinter_error *err)
{
    return guarded(file->session->path().c_str(), err, [&] {
        Part part;
        const sinter_status status = find_part(*file, *read, &part, err);

        if (status != SINTER_OK) {
            return status;
        }
        return file->session->run(err, [&] {
            *out = {};
            out->struct_size = static_cast<uint32_t>(sizeof *out);
            out->batch_rows = static_cast<uint32_t>(part.batch_rows);
            file->footprint(part.columns, part.first, part.end, out);
            return arrow::Status::OK();
        });
    });
}

sinter_status
file_next(sinter__columnar_file *file, sinter__columnar_batch **out, sinter_error *err)
{
    bool at_end = false;
    sinter_status status = SINTER_OK;

    *out = nullptr;
    status = file->session->run(err, [&]() -> arrow::Status {
        std::shared_ptr<arrow::RecordBatch> rows;

        do {
            ARROW_ASSIGN_OR_RAISE(rows, file->next());
        } while (rows != nullptr && rows->num_rows() == 0);
        if ((rows == nullptr && file->rows_left > 0) ||
            (rows != nullptr && static_cast<uint64_t>(rows->num_rows()) > file->rows_left)) {
            return arrow::Status::Invalid("the file has other rows than its footer counts");
        }
        at_end = rows == nullptr;
        if (!at_end) {
            auto batch = std::make_unique<sinter__columnar_batch>();

            file->rows_left -= static_cast<uint64_t>(rows->num_rows());
            ARROW_ASSIGN_OR_RAISE(batch->rows, as_wanted(*file, std::move(rows)));
            batch->columns = columnar::Columns(*batch->rows);
            *out = batch.release();
        }
        return arrow::Status::OK();
    });
    return status == SINTER_OK && at_end ? SINTER_END : status;
}

void
file_close(sinter__columnar_file *file)
{
    delete file;
}

uint64_t
batch_rows(const sinter__columnar_batch *batch)
{
    return static_cast<uint64_t>(batch->rows->num_rows());
}

sinter_status
batch_export(const sinter__columnar_batch *batch, struct ArrowArray *out, sinter_error *err)
{
    out->release = nullptr;
    return guarded("", err, [&] {
        const auto status = arrow::ExportRecordBatch(*batch->rows, out);

        return status.ok()
                   ? SINTER_OK
                   : columnar::fail(SINTER_E_UNSUPPORTED, "", status.message().c_str(), err);
    });
}

sinter_status
batch_import(struct ArrowSchema *schema, struct ArrowArray *array, sinter__columnar_batch **out,
             sinter_error *err)
{
    *out = nullptr;
    return guarded("", err, [&] {
        auto batch = std::make_unique<sinter__columnar_batch>();
        auto rows = arrow::ImportRecordBatch(array, schema);

        if (!rows.ok()) {
            return refuse("", rows.status().message().c_str(), err);
        }
        batch->rows = *std::move(rows);
        batch->columns = columnar::Columns(*batch->rows);
        *out = batch.release();
        return static_cast<sinter_status>(SINTER_OK);
    });
}

void
batch_release(sinter__columnar_batch *batch)
{
    delete batch;
}

sinter_status
open_output(const sinter__columnar_host *host, const char *path, const struct ArrowSchema *given,
            const sinter__columnar_write *write, sinter__columnar_output **out, sinter_error *err)
{
    auto own = std::make_unique<Session>(*host, path);
    Session &session = *own;
    std::unique_ptr<sinter__columnar_output> output;
    std::shared_ptr<Sink> sink;
    sinter_status status = SINTER_OK;

    session.begin_writing();
    if (write->kind != SINTER__COLUMNAR_PARQUET && write->kind != SINTER__COLUMNAR_ORC) {
        return refuse(path, "no such file format", err);
    }
    status = Sink::open(session, write->io_flags, &sink, err);
    if (status != SINTER_OK) {
        return status;
    }
    status = session.run(err, [&]() -> arrow::Status {
        ARROW_ASSIGN_OR_RAISE(const auto schema, columnar::schema_of(*given));
        ARROW_RETURN_NOT_OK(
            write->kind == SINTER__COLUMNAR_ORC
                ? columnar::make_orc(std::move(own), std::move(sink), schema, *write, &output)
                : columnar::make_parquet(std::move(own), std::move(sink), schema, *write, &output));
        ARROW_ASSIGN_OR_RAISE(output->gather,
                              columnar::Gather::make(output->schema, session.pool()));
        return arrow::Status::OK();
    });
    if (status == SINTER_OK) {
        *out = output.release();
    } else if (output != nullptr) {
        output->sink->abandon();
    }
    return status;
}

sinter_status
output_open(const sinter__columnar_host *host, const char *path, const struct ArrowSchema *schema,
            const sinter__columnar_write *write, sinter__columnar_output **out, sinter_error *err)
{
    *out = nullptr;
    return guarded(path, err, [&] { return open_output(host, path, schema, write, out, err); });
}

/** Bytes of rows that are not kept waiting any longer. */
int64_t
bytes_most(const sinter__columnar_output &output)
{
    return output.has_begun ? kGatherBytes : kFirstBytes;
}

/** Write the rows that were copied together. */
arrow::Status
flush(sinter__columnar_output *output)
{
    if (output->gather->row_count() > 0) {
        ARROW_RETURN_NOT_OK(output->gather->settle());
        ARROW_RETURN_NOT_OK(output->write(output->gather->view()));
        output->has_begun = true;
        output->gather->clear();
    }
    return arrow::Status::OK();
}

arrow::Status
append(sinter__columnar_output *output, const sinter__columnar_range &range)
{
    const arrow::RecordBatch &rows = *range.batch->rows;
    columnar::Gather &gather = *output->gather;
    const auto count = static_cast<int64_t>(range.count);
    const auto first = static_cast<int64_t>(range.first);

    if (range.first > batch_rows(range.batch) ||
        range.count > batch_rows(range.batch) - range.first) {
        return arrow::Status::Invalid("a range beyond its batch");
    }
    ARROW_RETURN_NOT_OK(gather.check(rows));
    if (!gather.is_alike(range.batch->columns)) {
        ARROW_RETURN_NOT_OK(flush(output));
    }
    ARROW_ASSIGN_OR_RAISE(const bool has_room, gather.has_room(range.batch->columns, first, count));
    // A file's first rows tell how it is best written, so they are more than a few.
    if ((count >= kSliceRows && output->has_begun) || !has_room) {
        ARROW_RETURN_NOT_OK(flush(output));
        ARROW_RETURN_NOT_OK(output->write(gather.slice(rows, first, count)));
        output->has_begun = true;
    } else if (count > 0) {
        gather.append(range.batch->columns, first, count);
        if (gather.row_count() >= kGatherRows || gather.noted_bytes() >= bytes_most(*output)) {
            ARROW_RETURN_NOT_OK(flush(output));
        } else if (gather.has_nested()) {
            ARROW_RETURN_NOT_OK(gather.settle());
        }
    }
    output->row_count += range.count;
    return arrow::Status::OK();
}

sinter_status
output_append(sinter__columnar_output *output, const sinter__columnar_range *ranges, size_t count,
              sinter_error *err)
{
    sinter_status status = SINTER_OK;

    if (output->has_failed) {
        return output->session->fail(SINTER_E_INVALID, "the file failed before", err);
    }
    status = output->session->run(err, [&] {
        for (size_t i = 0; i < count; i++) {
            ARROW_RETURN_NOT_OK(append(output, ranges[i]));
        }
        // The batches are the caller's, so nothing may wait in them.
        ARROW_RETURN_NOT_OK(output->gather->settle());
        return output->gather->bytes() >= bytes_most(*output) ? flush(output) : arrow::Status::OK();
    });
    output->has_failed = status != SINTER_OK;
    return status;
}

uint64_t
output_size(const sinter__columnar_output *output)
{
    return output->size();
}

sinter_status
output_finish(sinter__columnar_output *output, sinter__columnar_written *out, sinter_error *err)
{
    sinter_status status = SINTER_OK;

    if (output->has_failed) {
        return output->session->fail(SINTER_E_INVALID, "the file failed before", err);
    }
    output->has_failed = true; // nothing may follow
    status = output->session->run(err, [&] {
        ARROW_RETURN_NOT_OK(flush(output));
        return output->finish();
    });
    if (status == SINTER_OK) {
        status = output->sink->publish(err);
    }
    if (status == SINTER_OK) {
        out->file_bytes = output->sink->size();
        out->row_count = output->row_count;
        out->group_count = output->group_count();
    }
    return status;
}

void
output_close(sinter__columnar_output *output)
{
    if (output != nullptr) {
        output->sink->abandon(); // what Arrow would still write when it is destroyed
    }
    delete output;
}

const sinter__columnar_api kApi = {
    static_cast<uint32_t>(sizeof(sinter__columnar_api)),
    SINTER__COLUMNAR_ABI,
    ARROW_VERSION_STRING,
    file_open,
    file_info,
    file_group,
    file_schema,
    file_read,
    file_footprint,
    file_next,
    file_close,
    batch_rows,
    batch_export,
    batch_import,
    batch_release,
    output_open,
    output_append,
    output_size,
    output_finish,
    output_close,
    columnar::stream_open,
    columnar::stream_append,
    columnar::stream_finish,
    columnar::stream_close,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const sinter__columnar_api *
sinter_columnar_api(void);

const sinter__columnar_api *
sinter_columnar_api(void)
{
    return &kApi;
}
