/* input.h: a bl_input as Arrow's files and streams, and a bl_sink as an output stream, at once or later. */
#ifndef BL_EDGE_ARROW_INPUT_H
#define BL_EDGE_ARROW_INPUT_H

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include "arrow_edge.h"

namespace bl {

/* Reads at any place from any thread; keeps the last bytes of the file in memory once keep_tail() was called. The
 * first error of the input is kept for libraries that lose it on the way up. */
class InputFile final : public arrow::io::RandomAccessFile {
public:
  explicit InputFile(bl_input *in) : in_(in) {}

  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> GetSize() override { return in_->size; }
  arrow::Result<int64_t> Read(int64_t nbytes, void *out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t nbytes) override;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t nbytes, void *out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t nbytes) override;
  using RandomAccessFile::ReadAt;

  int64_t size() const { return in_->size; }
  void read(int64_t position, int64_t nbytes, void *out); /* exactly; throws */
  /* Keep the bytes from `start` to the end; may be called again with a smaller start. Not while others read. */
  void keep_tail(int64_t start);
  const uint8_t *tail() const { return tail_.data(); }
  int64_t tail_start() const { return tail_start_; }
  void drop_tail();
  /* The first error of the input, BL_OK where there was none. */
  bl_error first_error() const;

private:
  arrow::Status fetch(int64_t position, int64_t nbytes, void *out);

  bl_input *in_;
  bool closed_ = false;
  int64_t position_ = 0;
  std::vector<uint8_t> tail_;
  int64_t tail_start_ = 0;
  mutable std::mutex lock_;
  bl_error first_ = BL_ERROR_INIT;
};

/* Bytes [offset, offset + size) of a file. */
struct Span {
  int64_t offset, size;
};

/* Some spans of a file, one after the other, as one stream read in blocks: at most about one block is held at a time.
 */
class SpanStream final : public arrow::io::InputStream {
public:
  SpanStream(std::shared_ptr<InputFile> file, std::vector<Span> spans, int64_t block);

  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return told_; }
  arrow::Result<int64_t> Read(int64_t nbytes, void *out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t nbytes) override;
  arrow::Result<std::string_view> Peek(int64_t nbytes) override;
  bool supports_zero_copy() const override { return true; }

private:
  int64_t held() const { return block_size_ - at_; }
  int64_t left(int64_t enough) const;
  int64_t left_in_span() const { return span_ < spans_.size() ? spans_[span_].size - done_ : 0; }
  arrow::Status fill(int64_t want);
  void next_span();

  std::shared_ptr<InputFile> file_;
  std::vector<Span> spans_;
  int64_t block_;
  std::shared_ptr<arrow::Buffer> buffer_; /* what was read ahead: bytes [at_, block_size_) are still to be given */
  int64_t block_size_ = 0, at_ = 0;
  size_t span_ = 0;
  int64_t done_ = 0; /* of the current span, taken into the buffer */
  int64_t told_ = 0;
  bool closed_ = false;
};

/* Writes to a bl_sink; not closed by Close. */
class SinkStream final : public arrow::io::OutputStream {
public:
  explicit SinkStream(const bl_sink &sink) : sink_(sink) {}
  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Write(const void *data, int64_t nbytes) override;
  using Writable::Write;

private:
  bl_sink sink_;
  int64_t position_ = 0;
  bool closed_ = false;
};

/* Keeps what is written, whoever writes, until the owner's thread hands it to a bl_sink. A buffer is kept as it is, not
 * copied: who writes one leaves it as it is. */
class LateSink final : public arrow::io::OutputStream {
public:
  explicit LateSink(const bl_sink &sink) : sink_(sink) {}
  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override;
  arrow::Status Write(const void *data, int64_t nbytes) override;
  arrow::Status Write(const std::shared_ptr<arrow::Buffer> &data) override;
  using OutputStream::Write;

  void flush();   /* throws; after a failure the same again */
  void abandon(); /* nothing more is taken */

private:
  bl_sink sink_;
  mutable std::mutex lock_;
  std::deque<std::shared_ptr<arrow::Buffer>> kept_;
  std::string small_; /* behind those */
  int64_t position_ = 0;
  bool closed_ = false, abandoned_ = false;
  bl_error failed_ = BL_ERROR_INIT;

  arrow::Status check() const;
  void end_small();
  std::shared_ptr<arrow::Buffer> first();
};

} // namespace bl
#endif
