#include "columnar/session.hh"

#include <arrow/buffer.h>
#include <arrow/result.h>

#include <algorithm>
#include <cstring>

namespace columnar
{

namespace
{

constexpr size_t kWordBytes = sizeof(void *);

/** Bytes in front of and behind an aligned block that hold its place. */
size_t
overhead(int64_t alignment)
{
    return static_cast<size_t>(alignment) + kWordBytes;
}

uint8_t *
align(uint8_t *block, int64_t alignment)
{
    const auto mask = static_cast<uintptr_t>(alignment) - 1;
    const auto place = (reinterpret_cast<uintptr_t>(block) + kWordBytes + mask) & ~mask;

    return block + (place - reinterpret_cast<uintptr_t>(block));
}

/** The allocator's block is remembered in the word in front of the aligned one. */
void
set_block(uint8_t *aligned, uint8_t *block)
{
    std::memcpy(aligned - kWordBytes, &block, kWordBytes);
}

uint8_t *
block_of(const uint8_t *aligned)
{
    uint8_t *block = nullptr;

    std::memcpy(&block, aligned - kWordBytes, kWordBytes);
    return block;
}

void
copy_text(char *target, size_t size, const char *text, size_t length)
{
    length = std::min(length, size - 1);
    std::memcpy(target, text, length);
    target[length] = '\0';
}

/** The path, cut on the left when it is too long. */
void
set_file(sinter_error *err, const char *path)
{
    const size_t length = std::strlen(path);
    const size_t cut = length < sizeof err->file ? 0 : length - (sizeof err->file - 1);

    copy_text(err->file, sizeof err->file, path + cut, length - cut);
}

} // namespace

sinter_error
blank_error()
{
    sinter_error err = {};

    err.struct_size = static_cast<uint32_t>(sizeof err);
    err.offset = -1;
    return err;
}

sinter_status
fail(sinter_status status, const char *path, const char *text, sinter_error *err)
{
    if (err != nullptr) {
        const uint32_t size = err->struct_size;

        *err = blank_error();
        err->struct_size = size;
        err->status = status;
        err->origin_file = __FILE__;
        err->origin_line = __LINE__;
        set_file(err, path);
        // The rest of a message of several lines names places in Arrow's sources.
        copy_text(err->text, sizeof err->text, text, std::strcspn(text, "\r\n"));
    }
    return status;
}

Pool *
Pool::create(const sinter__columnar_host &host)
{
    return new Pool(host);
}

void
Pool::drop()
{
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete this;
    }
}

sinter_status
Pool::take_refusal(sinter_error *err)
{
    const sinter_status status = refusal_;

    if (status != SINTER_OK) {
        *err = refusal_error_;
        refusal_ = SINTER_OK;
    }
    return status;
}

arrow::Status
Pool::refuse(sinter_status status, const sinter_error &err)
{
    if (refusal_ == SINTER_OK) {
        refusal_ = status;
        refusal_error_ = err;
    }
    if (throws_) {
        throw std::bad_alloc();
    }
    return arrow::Status::OutOfMemory("refused");
}

arrow::Status
Pool::charge(int64_t bytes)
{
    sinter_error err = blank_error();
    sinter_status status = SINTER_OK;

    if (host_.env->memory != nullptr) {
        status = host_.reserve(host_.env->memory, static_cast<uint64_t>(bytes), &err);
    }
    return status == SINTER_OK ? arrow::Status::OK() : refuse(status, err);
}

arrow::Status
Pool::Allocate(int64_t size, int64_t alignment, uint8_t **out)
{
    const sinter_allocator &allocator = host_.env->allocator;
    uint8_t *block = nullptr;

    if (size < 0) {
        return arrow::Status::Invalid("a negative size");
    }
    ARROW_RETURN_NOT_OK(charge(size));
    block = static_cast<uint8_t *>(
        allocator.allocate(allocator.ctx, static_cast<size_t>(size) + overhead(alignment)));
    if (block == nullptr) {
        sinter_error err = blank_error();

        if (host_.env->memory != nullptr) {
            host_.release(host_.env->memory, static_cast<uint64_t>(size));
        }
        (void)fail(SINTER_E_NOMEM, "", "no memory for Arrow's columns", &err);
        return refuse(SINTER_E_NOMEM, err);
    }
    *out = align(block, alignment);
    set_block(*out, block);
    holders_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(size, std::memory_order_relaxed);
    total_bytes_.fetch_add(size, std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_relaxed);
    return arrow::Status::OK();
}

arrow::Status
Pool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t **ptr)
{
    const sinter_allocator &allocator = host_.env->allocator;
    uint8_t *old_block = block_of(*ptr);
    const auto offset = *ptr - old_block;
    uint8_t *block = nullptr;

    if (new_size < 0) {
        return arrow::Status::Invalid("a negative size");
    }
    if (new_size > old_size) {
        ARROW_RETURN_NOT_OK(charge(new_size - old_size));
    }
    block = static_cast<uint8_t *>(allocator.resize(
        allocator.ctx, old_block, static_cast<size_t>(new_size) + overhead(alignment)));
    if (block == nullptr) {
        sinter_error err = blank_error();

        if (host_.env->memory != nullptr && new_size > old_size) {
            host_.release(host_.env->memory, static_cast<uint64_t>(new_size - old_size));
        }
        (void)fail(SINTER_E_NOMEM, "", "no memory for Arrow's columns", &err);
        return refuse(SINTER_E_NOMEM, err);
    }
    *ptr = align(block, alignment);
    if (*ptr - block != offset) { // what lay aligned no longer does
        std::memmove(*ptr, block + offset, static_cast<size_t>(std::min(old_size, new_size)));
    }
    set_block(*ptr, block);
    if (host_.env->memory != nullptr && new_size < old_size) {
        host_.release(host_.env->memory, static_cast<uint64_t>(old_size - new_size));
    }
    bytes_.fetch_add(new_size - old_size, std::memory_order_relaxed);
    total_bytes_.fetch_add(std::max<int64_t>(0, new_size - old_size), std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_relaxed);
    return arrow::Status::OK();
}

void
Pool::Free(uint8_t *buffer, int64_t size, int64_t)
{
    const sinter_allocator &allocator = host_.env->allocator;

    allocator.release(allocator.ctx, block_of(buffer));
    if (host_.env->memory != nullptr) {
        host_.release(host_.env->memory, static_cast<uint64_t>(size));
    }
    bytes_.fetch_sub(size, std::memory_order_relaxed);
    drop();
}

int64_t
Pool::bytes_allocated() const
{
    return bytes_.load(std::memory_order_relaxed);
}

int64_t
Pool::total_bytes_allocated() const
{
    return total_bytes_.load(std::memory_order_relaxed);
}

int64_t
Pool::num_allocations() const
{
    return calls_.load(std::memory_order_relaxed);
}

std::string
Pool::backend_name() const
{
    return "sinter";
}

Session::Session(const sinter__columnar_host &host, const char *path)
    : host_(host), path_(path), pool_(Pool::create(host))
{
}

Session::~Session()
{
    pool_->drop();
}

arrow::Status
Session::keep(sinter_status status, const sinter_error &err)
{
    if (status == SINTER_OK) {
        return arrow::Status::OK();
    }
    if (kept_ == SINTER_OK) {
        kept_ = status;
        kept_error_ = err;
    }
    return arrow::Status::IOError("input or output failed");
}

sinter_status
Session::fail(sinter_status status, const char *text, sinter_error *err) const
{
    return columnar::fail(status, path_.c_str(), text, err);
}

sinter_status
Session::tell(const arrow::Status &status, sinter_error *err)
{
    sinter_error known = blank_error();
    sinter_status found = kept_;

    if (found != SINTER_OK) {
        known = kept_error_;
        kept_ = SINTER_OK;
    } else {
        found = pool_->take_refusal(&known);
    }
    if (found != SINTER_OK) {
        if (known.file[0] == '\0') {
            set_file(&known, path_.c_str());
        }
        if (err != nullptr) {
            known.struct_size = err->struct_size;
            *err = known;
        }
        return found;
    }
    if (status.IsOutOfMemory()) {
        found = SINTER_E_NOMEM;
    } else if (status.IsNotImplemented()) {
        found = SINTER_E_UNSUPPORTED;
    } else {
        found = writes_ ? SINTER_E_INVALID : SINTER_E_CORRUPT;
    }
    return fail(found, ("Arrow: " + status.message()).c_str(), err);
}

sinter_status
Source::open(Session &session, uint32_t io_flags, std::shared_ptr<Source> *out, sinter_error *err)
{
    const std::shared_ptr<Source> source(new Source(session));
    sinter_io *io = session.env()->io;
    sinter_status status = io->ops->open(io, session.path().c_str(), io_flags, &source->file_, err);

    if (status == SINTER_OK) {
        status = source->file_->ops->size(source->file_, &source->size_, err);
    }
    if (status == SINTER_OK) {
        *out = source;
    }
    return status;
}

Source::~Source()
{
    (void)Source::Close();
}

arrow::Status
Source::Close()
{
    if (file_ != nullptr) {
        file_->ops->close(file_);
        file_ = nullptr;
    }
    return arrow::Status::OK();
}

bool
Source::closed() const
{
    return file_ == nullptr;
}

arrow::Result<int64_t>
Source::Tell() const
{
    return position_;
}

arrow::Status
Source::Seek(int64_t position)
{
    if (position < 0) {
        return arrow::Status::Invalid("a place before the file's beginning");
    }
    position_ = position;
    return arrow::Status::OK();
}

arrow::Result<int64_t>
Source::GetSize()
{
    return static_cast<int64_t>(size_);
}

arrow::Result<int64_t>
Source::ReadAt(int64_t position, int64_t nbytes, void *out)
{
    sinter_error err = blank_error();
    const auto size = static_cast<int64_t>(size_);

    if (position < 0 || nbytes < 0 || file_ == nullptr) {
        return arrow::Status::Invalid("a read outside of the file");
    }
    nbytes = position >= size ? 0 : std::min(nbytes, size - position);
    if (nbytes > 0) {
        const sinter_io_range range = {static_cast<uint64_t>(position), out,
                                       static_cast<size_t>(nbytes)};

        ARROW_RETURN_NOT_OK(session_.keep(file_->ops->read(file_, &range, 1, &err), err));
    }
    return nbytes;
}

arrow::Result<std::shared_ptr<arrow::Buffer>>
Source::ReadAt(int64_t position, int64_t nbytes)
{
    const int64_t left = std::max<int64_t>(0, static_cast<int64_t>(size_) - position);

    if (position < 0 || nbytes < 0) {
        return arrow::Status::Invalid("a read outside of the file");
    }
    // Sizes that a damaged file asks for are cut before memory is taken for them.
    ARROW_ASSIGN_OR_RAISE(auto buffer,
                          arrow::AllocateResizableBuffer(std::min(nbytes, left), session_.pool()));
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position, nbytes, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(got, false));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<int64_t>
Source::Read(int64_t nbytes, void *out)
{
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position_, nbytes, out));
    position_ += got;
    return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>>
Source::Read(int64_t nbytes)
{
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, nbytes));
    position_ += buffer->size();
    return buffer;
}

sinter_status
Sink::open(Session &session, uint32_t io_flags, std::shared_ptr<Sink> *out, sinter_error *err)
{
    const std::shared_ptr<Sink> sink(new Sink(session));
    sinter_io *io = session.env()->io;
    const size_t slash = session.path().rfind('/');
    std::string dir = ".";
    sinter_status status = SINTER_OK;

    if (slash != std::string::npos) {
        dir = session.path().substr(0, std::max<size_t>(slash, 1));
    }
    status = io->ops->create(io, dir.c_str(), io_flags, &sink->file_, err);
    if (status == SINTER_OK) {
        *out = sink;
    }
    return status;
}

Sink::~Sink()
{
    if (file_ != nullptr) {
        file_->ops->close(file_);
    }
}

sinter_status
Sink::publish(sinter_error *err)
{
    sinter_status status = file_->ops->sync(file_, err);

    if (status == SINTER_OK) {
        status = file_->ops->publish(file_, session_.path().c_str(), err);
    }
    return status;
}

arrow::Status
Sink::Write(const void *data, int64_t nbytes)
{
    sinter_error err = blank_error();

    if (abandoned_) {
        return arrow::Status::Cancelled("the file was given up");
    }
    if (nbytes > 0) {
        const sinter_status status =
            file_->ops->append(file_, data, static_cast<size_t>(nbytes), &err);

        ARROW_RETURN_NOT_OK(session_.keep(status, err));
        size_ += static_cast<uint64_t>(nbytes);
    }
    return arrow::Status::OK();
}

arrow::Status
Sink::Close()
{
    closed_ = true; // the file stays: it is still to be published
    return arrow::Status::OK();
}

bool
Sink::closed() const
{
    return closed_;
}

arrow::Result<int64_t>
Sink::Tell() const
{
    return static_cast<int64_t>(size_);
}

} // namespace columnar
