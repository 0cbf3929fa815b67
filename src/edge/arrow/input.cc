/* input.cc: see input.h. */
#include "input.h"

#include <algorithm>
#include <cstring>

#include "guard.h"
#include "pool.h"

namespace bl {

arrow::Status InputFile::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

arrow::Status InputFile::Seek(int64_t position) {
  if (position < 0 || position > in_->size) return arrow::Status::Invalid("seek outside the file");
  position_ = position;
  return arrow::Status::OK();
}

arrow::Status InputFile::fetch(int64_t position, int64_t nbytes, void *out) {
  if (!tail_.empty() && position >= tail_start_) {
    std::memcpy(out, tail_.data() + (position - tail_start_), static_cast<size_t>(nbytes));
    return arrow::Status::OK();
  }
  bl_error err = BL_ERROR_INIT;
  if (in_->read_at(in_, position, out, static_cast<size_t>(nbytes), &err) == BL_OK) return arrow::Status::OK();
  std::lock_guard<std::mutex> hold(lock_);
  if (first_.status == BL_OK) first_ = err;
  return status_of(err);
}

arrow::Result<int64_t> InputFile::ReadAt(int64_t position, int64_t nbytes, void *out) {
  if (position < 0 || nbytes < 0) return arrow::Status::Invalid("negative offset or length in the file");
  int64_t n = std::min(nbytes, std::max<int64_t>(in_->size - position, 0));
  if (n > 0) ARROW_RETURN_NOT_OK(fetch(position, n, out));
  return n;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> InputFile::ReadAt(int64_t position, int64_t nbytes) {
  if (position < 0 || nbytes < 0) return arrow::Status::Invalid("negative offset or length in the file");
  int64_t n = std::min(nbytes, std::max<int64_t>(in_->size - position, 0)); /* never more memory than the file has */
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(n, pool()));
  if (n > 0) ARROW_RETURN_NOT_OK(fetch(position, n, buffer->mutable_data()));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<int64_t> InputFile::Read(int64_t nbytes, void *out) {
  ARROW_ASSIGN_OR_RAISE(int64_t n, ReadAt(position_, nbytes, out));
  position_ += n;
  return n;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> InputFile::Read(int64_t nbytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, nbytes));
  position_ += buffer->size();
  return buffer;
}

void InputFile::read(int64_t position, int64_t nbytes, void *out) {
  if (position < 0 || nbytes < 0 || position > in_->size || nbytes > in_->size - position)
    damaged("bytes " + std::to_string(position) + " to " + std::to_string(position + nbytes) +
            " lie outside the file of " + std::to_string(in_->size) + " bytes");
  if (nbytes > 0) ok(fetch(position, nbytes, out));
}

void InputFile::keep_tail(int64_t start) {
  start = std::clamp<int64_t>(start, 0, in_->size);
  if (!tail_.empty() && start >= tail_start_) return;
  std::vector<uint8_t> bytes(static_cast<size_t>(in_->size - start));
  if (!bytes.empty()) read(start, static_cast<int64_t>(bytes.size()), bytes.data());
  tail_ = std::move(bytes);
  tail_start_ = start;
}

void InputFile::drop_tail() {
  tail_ = {};
}

bl_error InputFile::first_error() const {
  std::lock_guard<std::mutex> hold(lock_);
  return first_;
}

SpanStream::SpanStream(std::shared_ptr<InputFile> file, std::vector<Span> spans, int64_t block)
    : file_(std::move(file)), spans_(std::move(spans)), block_(block) {
  next_span();
}

void SpanStream::next_span() {
  while (span_ < spans_.size() && done_ >= spans_[span_].size) span_++, done_ = 0;
}

arrow::Status SpanStream::Close() {
  closed_ = true;
  buffer_.reset();
  block_size_ = at_ = 0;
  return arrow::Status::OK();
}

/* Bytes that are still to come, counted until there are enough. */
int64_t SpanStream::left(int64_t enough) const {
  int64_t n = held();
  for (size_t i = span_; i < spans_.size() && n < enough; i++) n += spans_[i].size - (i == span_ ? done_ : 0);
  return n;
}

/* Hold at least `want` bytes, or all that are left. What was given out stays valid: a new buffer is made. */
arrow::Status SpanStream::fill(int64_t want) {
  if (held() >= want || span_ >= spans_.size()) return arrow::Status::OK();
  int64_t size = std::max(want, block_);
  size = std::min(size, left(size));
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> fresh, arrow::AllocateBuffer(size, pool()));
  int64_t n = held();
  if (n > 0) std::memcpy(fresh->mutable_data(), buffer_->data() + at_, static_cast<size_t>(n));
  while (n < size && span_ < spans_.size()) {
    int64_t take = std::min(size - n, left_in_span());
    ARROW_ASSIGN_OR_RAISE(int64_t got, file_->ReadAt(spans_[span_].offset + done_, take, fresh->mutable_data() + n));
    if (got != take) return arrow::Status::Invalid("the file ends inside a column chunk");
    n += take;
    done_ += take;
    next_span();
    if (n >= want) break; /* a gap in the file ends a block: what follows may not be needed */
  }
  buffer_ = std::move(fresh);
  block_size_ = n;
  at_ = 0;
  return arrow::Status::OK();
}

arrow::Result<std::string_view> SpanStream::Peek(int64_t nbytes) {
  ARROW_RETURN_NOT_OK(fill(nbytes));
  if (held() <= 0) return std::string_view();
  return std::string_view(reinterpret_cast<const char *>(buffer_->data()) + at_,
                          static_cast<size_t>(std::min(nbytes, held())));
}

arrow::Result<int64_t> SpanStream::Read(int64_t nbytes, void *out) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, Read(nbytes));
  if (buffer->size() > 0) std::memcpy(out, buffer->data(), static_cast<size_t>(buffer->size()));
  return buffer->size();
}

/* A page is handed out as a piece of the block where it lies in it whole; a larger one is read into its own buffer. */
arrow::Result<std::shared_ptr<arrow::Buffer>> SpanStream::Read(int64_t nbytes) {
  if (nbytes < 0) return arrow::Status::Invalid("negative length in the file");
  nbytes = std::min(nbytes, left(nbytes));
  if (held() < nbytes) ARROW_RETURN_NOT_OK(fill(nbytes));
  nbytes = std::min(nbytes, held());
  if (nbytes <= 0) return std::make_shared<arrow::Buffer>(nullptr, 0);
  auto out = arrow::SliceBuffer(buffer_, at_, nbytes);
  at_ += nbytes;
  told_ += nbytes;
  return out;
}

arrow::Status SinkStream::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

arrow::Status SinkStream::Write(const void *data, int64_t nbytes) {
  bl_error err = BL_ERROR_INIT;
  if (nbytes > 0 && sink_.write(sink_.user, data, static_cast<size_t>(nbytes), &err) != BL_OK) return status_of(err);
  position_ += nbytes;
  return arrow::Status::OK();
}

/* ---- LateSink ---- */

arrow::Status LateSink::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

arrow::Status LateSink::check() const {
  return abandoned_ ? arrow::Status::Cancelled("the file is given up") : arrow::Status::OK();
}

arrow::Result<int64_t> LateSink::Tell() const {
  std::lock_guard<std::mutex> hold(lock_);
  ARROW_RETURN_NOT_OK(check());
  return position_;
}

void LateSink::end_small() {
  if (!small_.empty()) kept_.push_back(arrow::Buffer::FromString(std::move(small_)));
  small_.clear();
}

arrow::Status LateSink::Write(const void *data, int64_t nbytes) {
  std::lock_guard<std::mutex> hold(lock_);
  ARROW_RETURN_NOT_OK(check());
  small_.append(static_cast<const char *>(data), static_cast<size_t>(nbytes));
  position_ += nbytes;
  return arrow::Status::OK();
}

arrow::Status LateSink::Write(const std::shared_ptr<arrow::Buffer> &data) {
  std::lock_guard<std::mutex> hold(lock_);
  ARROW_RETURN_NOT_OK(check());
  end_small();
  kept_.push_back(data);
  position_ += data->size();
  return arrow::Status::OK();
}

std::shared_ptr<arrow::Buffer> LateSink::first() {
  std::lock_guard<std::mutex> hold(lock_);
  if (kept_.empty()) end_small();
  if (kept_.empty()) return nullptr;
  auto one = std::move(kept_.front());
  kept_.pop_front();
  return one;
}

void LateSink::flush() {
  while (auto bytes = first()) {
    auto n = static_cast<size_t>(bytes->size());
    if (n == 0 || sink_.write(sink_.user, bytes->data(), n, &failed_) == BL_OK) continue;
    abandon();
  }
  if (failed_.status != BL_OK) throw Fail(failed_);
}

void LateSink::abandon() {
  std::lock_guard<std::mutex> hold(lock_);
  abandoned_ = true;
  kept_.clear();
  small_.clear();
}

} // namespace bl
