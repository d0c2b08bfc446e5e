#include "gradwatt/ingest/line_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "gradwatt/ingest/gzip_source.hpp"

namespace gradwatt::ingest {

namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10U;
constexpr std::size_t kHead = 4096;

class FileSource final : public ByteSource {
 public:
  explicit FileSource(int file) : file_(file) {}
  ~FileSource() override { ::close(file_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  std::optional<std::string_view> next(std::size_t most) override {
    ssize_t got = 0;
    do got = ::read(file_, block_.data(), std::min(most, kBlock));
    while (got < 0 && errno == EINTR);
    if (got < 0) return std::nullopt;
    return std::string_view(block_.data(), static_cast<std::size_t>(got));
  }
  void rewind() override { ::lseek(file_, 0, SEEK_SET); }
  [[nodiscard]] std::string failure() const override { return std::strerror(errno); }

 private:
  int file_;
  std::vector<char> block_ = std::vector<char>(kBlock);
};

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  std::optional<std::string_view> next(std::size_t most) override {
    const auto bytes = std::string_view(text_).substr(at_, most);
    at_ += bytes.size();
    return bytes;
  }
  void rewind() override { at_ = 0; }
  [[nodiscard]] std::string failure() const override { return {}; }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

core::Errc classify(int error) {
  if (error == ENOENT || error == ENOTDIR) return core::Errc::not_found;
  return error == EACCES || error == EPERM ? core::Errc::not_permitted : core::Errc::io;
}

core::Result<std::string> read_pipe(FileSource& source, const std::filesystem::path& file) {
  std::string all;
  std::optional<std::string_view> got;
  while ((got = source.next(kBlock)) && !got->empty()) {
    all += *got;
    if (all.size() > kMaxPipeBytes)
      return core::fail(core::Errc::unusable_input,
                        fmt::format("{} is a pipe with more than {} MiB; save it in a file first", file.string(),
                                    kMaxPipeBytes >> 20U));
  }
  if (!got) return core::fail(core::Errc::io, fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  return all;
}

/// Latin text in UTF-16 without a mark: every other byte is NUL. `odd`: which of the two.
bool every_other_is_nul(std::string_view head, std::size_t odd) {
  if (head.size() < 8) return false;
  std::size_t nul = 0, other = 0;
  for (std::size_t i = 0; i + 1 < head.size(); i += 2) {
    nul += head[i + odd] == '\0' ? 1 : 0;
    other += head[i + 1 - odd] == '\0' ? 1 : 0;
  }
  return nul * 10 >= head.size() / 2 * 9 && other * 20 <= head.size() / 2;
}

void append_utf8(std::string& to, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { to += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | code >> 6U), byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | code >> 12U), byte(0x80U | (code >> 6U & 0x3FU)), byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | code >> 18U), byte(0x80U | (code >> 12U & 0x3FU));
    byte(0x80U | (code >> 6U & 0x3FU)), byte(0x80U | (code & 0x3FU));
  }
}

}  // namespace

core::Result<LineReader> LineReader::open(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return core::fail(classify(errno), fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)));
  auto source = std::make_unique<FileSource>(fd);
  struct stat status {};
  if (::fstat(fd, &status) != 0)
    return core::fail(core::Errc::io, fmt::format("cannot look at {}: {}", file.string(), std::strerror(errno)));
  if (S_ISDIR(status.st_mode))
    return core::fail(core::Errc::unusable_input, fmt::format("{} is a folder, not a recording", file.string()));
  if (S_ISREG(status.st_mode)) return LineReader(std::move(source));
  auto text = read_pipe(*source, file);
  if (!text) return core::fail(text.error());
  return from_text(std::move(*text));
}

LineReader LineReader::from_text(std::string text) { return LineReader(std::make_unique<TextSource>(std::move(text))); }

LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

void LineReader::read_head() {
  head_.clear();
  while (head_.size() < kHead) {
    const auto got = source_->next(kHead - head_.size());
    if (!got) failure_ = source_->failure();
    if (!got || got->empty()) break;
    head_ += *got;
  }
}

LineReader::LineReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
  read_head();
  if (is_gzip(head_)) {
    source_->rewind();
    packed_ = std::move(source_);
    source_ = std::make_unique<GzipSource>(*packed_);
    read_head();
  }
  if (head_.starts_with("\xEF\xBB\xBF")) {
    mark_bytes_ = 3;
  } else if (head_.starts_with("\xFF\xFE")) {
    encoding_ = Encoding::utf16_little, mark_bytes_ = 2;
  } else if (head_.starts_with("\xFE\xFF")) {
    encoding_ = Encoding::utf16_big, mark_bytes_ = 2;
  } else if (every_other_is_nul(head_, 1)) {
    encoding_ = Encoding::utf16_little;
  } else if (every_other_is_nul(head_, 0)) {
    encoding_ = Encoding::utf16_big;
  }
  if (head_.find('\n') == std::string::npos && head_.find('\r') != std::string::npos) line_end_ = '\r';
  rewind();
}

ByteSource& LineReader::bytes() {
  source_->rewind();
  return *source_;
}

void LineReader::rewind() {
  source_->rewind();
  buffer_.clear();
  carry_.clear();
  begin_ = line_number_ = 0;
  skip_ = mark_bytes_;
  at_end_ = false;
}

core::Result<std::string> LineReader::whole(std::size_t most) {
  source_->rewind();
  std::string all;
  std::optional<std::string_view> got;
  while ((got = source_->next(kBlock)) && !got->empty() && all.size() <= most) all += *got;
  if (!got) return core::fail(core::Errc::io, fmt::format("cannot be read to its end: {}", source_->failure()));
  if (all.size() > most)
    return core::fail(
        core::Errc::unusable_input,
        fmt::format("line 1: larger than {} MiB, the most that a file of this kind may have", most >> 20U));
  rewind();
  return all;
}

bool LineReader::fill() {
  if (at_end_) return false;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const auto got = source_->next(kBlock);
  if (!got) failure_ = source_->failure();
  at_end_ = !got || got->empty();
  if (!at_end_) decode(*got);
  return !at_end_;
}

void LineReader::decode(std::string_view raw) {
  const auto skipped = std::min(skip_, raw.size());
  skip_ -= skipped;
  raw.remove_prefix(skipped);
  if (encoding_ == Encoding::bytes) {
    buffer_ += raw;
  } else {
    decode_utf16(raw);
  }
}

void LineReader::decode_utf16(std::string_view raw) {
  std::string joined = std::move(carry_);
  joined += raw;
  const std::size_t high_at = encoding_ == Encoding::utf16_little ? 1 : 0;
  const auto unit = [&](std::size_t i) {
    const auto high = static_cast<unsigned char>(joined[i + high_at]);
    const auto low = static_cast<unsigned char>(joined[i + 1 - high_at]);
    return static_cast<std::uint32_t>(high) << 8U | low;
  };
  std::size_t i = 0;
  for (; i + 1 < joined.size(); i += 2) {
    std::uint32_t code = unit(i);
    if (code >= 0xD800 && code < 0xDC00) {
      if (i + 3 >= joined.size()) break;
      const auto second = unit(i + 2);
      const bool pair = second >= 0xDC00 && second < 0xE000;
      code = pair ? 0x10000 + ((code - 0xD800) << 10U) + (second - 0xDC00) : 0xFFFD;
      if (pair) i += 2;
    } else if (code >= 0xDC00 && code < 0xE000) {
      code = 0xFFFD;
    }
    append_utf8(buffer_, code);
  }
  carry_.assign(joined, i);
}

Line LineReader::take(std::size_t end, bool ended) {
  std::string_view text = std::string_view(buffer_).substr(begin_, end - begin_);
  Line line{.number = ++line_number_, .ended = ended};
  if (text.size() > kMaxLineBytes) line.too_long = true, text = text.substr(0, 256);
  while (text.ends_with('\r')) text.remove_suffix(1);
  if (text.find('\0') != std::string_view::npos) {
    line.had_nul = true;
    without_nul_.assign(text);
    std::erase(without_nul_, '\0');
    text = without_nul_;
  }
  line.text = text;
  return line;
}

std::optional<Line> LineReader::next() {
  bool dropped = false;  // the line passed the limit: only its head is still in the buffer
  for (std::size_t searched = begin_;;) {
    const auto end = buffer_.find(line_end_, searched);
    if (end != std::string::npos || (at_end_ && begin_ < buffer_.size())) {
      const bool ended = end != std::string::npos;
      const auto stop = ended ? end : buffer_.size();
      auto line = take(stop, ended);
      line.too_long = line.too_long || dropped;
      if (dropped) line.text = line.text.substr(0, 256);
      begin_ = stop + (ended ? 1 : 0);
      return line;
    }
    if (at_end_) return std::nullopt;
    if (buffer_.size() - begin_ > kMaxLineBytes) {
      dropped = true;
      buffer_.resize(begin_ + 256);
    }
    const auto open_bytes = buffer_.size() - begin_;
    fill();
    searched = begin_ + open_bytes;
  }
}

}  // namespace gradwatt::ingest
