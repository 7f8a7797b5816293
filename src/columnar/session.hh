// What one open file needs of its caller: memory, bytes, and a place for failures.
#ifndef SINTER_COLUMNAR_SESSION_HH
#define SINTER_COLUMNAR_SESSION_HH

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "format/columnar_abi.h"

namespace columnar
{

/** Arrow's memory, from the environment's allocator and charged to its budget. Counted: arrays may
 *  outlive the file they came from. */
class Pool final : public arrow::MemoryPool
{
  public:
    /** Held by the caller until drop(). */
    static Pool *create(const sinter__columnar_host &host);
    /** Done with it; the last block that is freed releases the pool. */
    void drop();
    /** Refuse memory by an exception: Arrow's encoders ignore a status of the pool, and crash. */
    void throw_refusals()
    {
        throws_ = true;
    }
    /** Why memory was last refused; SINTER_OK: it was not. Forgets it. */
    sinter_status take_refusal(sinter_error *err);

    arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t **out) override;
    arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                             uint8_t **ptr) override;
    void Free(uint8_t *buffer, int64_t size, int64_t alignment) override;
    int64_t bytes_allocated() const override;
    int64_t total_bytes_allocated() const override;
    int64_t num_allocations() const override;
    std::string backend_name() const override;

  private:
    explicit Pool(const sinter__columnar_host &host) : host_(host)
    {
    }
    arrow::Status refuse(sinter_status status, const sinter_error &err);
    arrow::Status charge(int64_t bytes);

    const sinter__columnar_host host_;
    std::atomic<int64_t> holders_{1};
    std::atomic<int64_t> bytes_{0};
    std::atomic<int64_t> total_bytes_{0};
    std::atomic<int64_t> calls_{0};
    bool throws_ = false;
    sinter_status refusal_ = SINTER_OK;
    sinter_error refusal_error_ = {};
};

/** One file's services and its first failure. Confined. */
class Session
{
  public:
    Session(const sinter__columnar_host &host, const char *path);
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    const sinter_env *env() const
    {
        return host_.env;
    }
    const sinter__columnar_host &host() const
    {
        return host_;
    }
    const std::string &path() const
    {
        return path_;
    }
    Pool *pool()
    {
        return pool_;
    }

    /** Keep a failure of the caller's services, as a status that Arrow passes on. */
    arrow::Status keep(sinter_status status, const sinter_error &err);

    /** Tell what a status of Arrow means; a failure that was kept comes first. */
    sinter_status tell(const arrow::Status &status, sinter_error *err);

    /** Fill `err` with a failure in this file. */
    sinter_status fail(sinter_status status, const char *text, sinter_error *err) const;

    /** Run work of Arrow's so that nothing but a status comes out of it. */
    template <typename Work> sinter_status run(sinter_error *err, Work &&work) noexcept
    {
        try {
            const arrow::Status status = work();

            return status.ok() ? SINTER_OK : tell(status, err);
        } catch (const std::bad_alloc &) {
            return tell(arrow::Status::OutOfMemory("out of memory"), err);
        } catch (const std::exception &failure) {
            return tell(arrow::Status::Invalid(failure.what()), err);
        } catch (...) {
            return tell(arrow::Status::Invalid("a failure without a name"), err);
        }
    }

    /** What Arrow finds wrong is the caller's rows, not a file. */
    void begin_writing()
    {
        writes_ = true;
        pool_->throw_refusals();
    }

  private:
    const sinter__columnar_host host_;
    const std::string path_;
    Pool *pool_;
    bool writes_ = false;
    sinter_status kept_ = SINTER_OK;
    sinter_error kept_error_ = {};
};

/** An empty failure to be filled. */
sinter_error
blank_error();

/** Fill `err`, of which no text but this is known. */
sinter_status
fail(sinter_status status, const char *path, const char *text, sinter_error *err);

/** A file of the environment's io, as Arrow reads one. */
class Source final : public arrow::io::RandomAccessFile
{
  public:
    /** Open a file and learn its size. */
    static sinter_status open(Session &session, uint32_t io_flags, std::shared_ptr<Source> *out,
                              sinter_error *err);
    ~Source() override;

    arrow::Status Close() override;
    bool closed() const override;
    arrow::Result<int64_t> Tell() const override;
    arrow::Status Seek(int64_t position) override;
    arrow::Result<int64_t> GetSize() override;
    arrow::Result<int64_t> Read(int64_t nbytes, void *out) override;
    arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t nbytes) override;
    arrow::Result<int64_t> ReadAt(int64_t position, int64_t nbytes, void *out) override;
    arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t nbytes) override;

    uint64_t size() const
    {
        return size_;
    }

  private:
    explicit Source(Session &session) : session_(session)
    {
    }

    Session &session_;
    sinter_io_file *file_ = nullptr;
    uint64_t size_ = 0;
    int64_t position_ = 0;
};

/** A new file of the environment's io, as Arrow writes one. */
class Sink final : public arrow::io::OutputStream
{
  public:
    /** Begin a file beside `path`. */
    static sinter_status open(Session &session, uint32_t io_flags, std::shared_ptr<Sink> *out,
                              sinter_error *err);
    ~Sink() override;

    /** Write nothing more; the file will vanish, or was published. */
    void abandon()
    {
        abandoned_ = true;
    }
    /** Everything is on stable storage, and has its name, on return. */
    sinter_status publish(sinter_error *err);

    using arrow::io::OutputStream::Write;
    arrow::Status Write(const void *data, int64_t nbytes) override;
    arrow::Status Close() override;
    bool closed() const override;
    arrow::Result<int64_t> Tell() const override;

    uint64_t size() const
    {
        return size_;
    }

  private:
    explicit Sink(Session &session) : session_(session)
    {
    }

    Session &session_;
    sinter_io_file *file_ = nullptr;
    uint64_t size_ = 0;
    bool closed_ = false;
    bool abandoned_ = false;
};

} // namespace columnar

#endif
