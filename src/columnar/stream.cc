#include "columnar/stream.hh"

#include <arrow/io/interfaces.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/writer.h>

#include <utility>

namespace columnar
{

namespace
{

/** Hands bytes to the caller. */
class Put final : public arrow::io::OutputStream
{
  public:
    Put(Session &session, const sinter__columnar_put &put) : session_(session), put_(put)
    {
    }

    using arrow::io::OutputStream::Write;

    arrow::Status Write(const void *data, int64_t nbytes) override
    {
        sinter_error err = blank_error();

        if (nbytes > 0) {
            ARROW_RETURN_NOT_OK(
                session_.keep(put_.put(put_.ctx, data, static_cast<size_t>(nbytes), &err), err));
            size_ += nbytes;
        }
        return arrow::Status::OK();
    }

    arrow::Status Close() override
    {
        closed_ = true;
        return arrow::Status::OK();
    }

    bool closed() const override
    {
        return closed_;
    }

    arrow::Result<int64_t> Tell() const override
    {
        return size_;
    }

  private:
    Session &session_;
    const sinter__columnar_put put_;
    int64_t size_ = 0;
    bool closed_ = false;
};

} // namespace

} // namespace columnar

struct sinter__columnar_stream {
    explicit sinter__columnar_stream(const sinter__columnar_host &host)
        : session(std::make_unique<columnar::Session>(host, "Arrow stream"))
    {
    }

    std::unique_ptr<columnar::Session> session;
    std::shared_ptr<arrow::io::OutputStream> sink;
    std::shared_ptr<arrow::ipc::RecordBatchWriter> writer;
};

namespace columnar
{

sinter_status
stream_open(const sinter__columnar_host *host, const struct ArrowSchema *schema,
            const sinter__columnar_put *put, sinter__columnar_stream **out, sinter_error *err)
{
    *out = nullptr;
    try {
        auto stream = std::make_unique<sinter__columnar_stream>(*host);
        Session &session = *stream->session;
        sinter_status status = SINTER_OK;

        session.begin_writing();
        stream->sink = std::make_shared<Put>(session, *put);
        status = session.run(err, [&]() -> arrow::Status {
            arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();

            options.memory_pool = session.pool();
            options.use_threads = false;
            ARROW_ASSIGN_OR_RAISE(const auto columns, schema_of(*schema));
            ARROW_ASSIGN_OR_RAISE(
                stream->writer,
                arrow::ipc::MakeStreamWriter(stream->sink, columns->RemoveMetadata(), options));
            return arrow::Status::OK();
        });
        if (status == SINTER_OK) {
            *out = stream.release();
        }
        return status;
    } catch (const std::exception &) {
        return fail(SINTER_E_NOMEM, "Arrow stream", "out of memory", err);
    }
}

sinter_status
stream_append(sinter__columnar_stream *stream, const sinter__columnar_batch *batch,
              sinter_error *err)
{
    return stream->session->run(err,
                                [&] { return stream->writer->WriteRecordBatch(*batch->rows); });
}

sinter_status
stream_finish(sinter__columnar_stream *stream, sinter_error *err)
{
    return stream->session->run(err, [&] { return stream->writer->Close(); });
}

void
stream_close(sinter__columnar_stream *stream)
{
    delete stream;
}

} // namespace columnar
