// Lines of a foreign text file: any size in constant memory, whatever the encoding.
//
// Undoes what editors, shells and crashes do to logs: gzip, byte-order marks, UTF-16 (PowerShell's `>`), CRLF and lone CR,
// NUL bytes of a crashed host, lines without end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/byte_source.hpp"

namespace gradwatt::ingest {

/// Longer lines are no recording: they are passed over, and only their head is kept.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20U;
/// What cannot be read twice (a pipe) is kept in memory up to this.
inline constexpr std::size_t kMaxPipeBytes = std::size_t{512} << 20U;

struct Line {
  std::size_t number = 0;  ///< from 1
  std::string_view text;   ///< UTF-8 (or whatever 8-bit bytes the file holds), no line end; valid until the next call
  bool ended = false;      ///< false: the last line, and no line end follows it
  bool too_long = false;   ///< text is only the head
  bool had_nul = false;    ///< NUL bytes were taken out
};

enum class Encoding { bytes, utf16_little, utf16_big };

class LineReader {
 public:
  /// Errors: not_found, not_permitted, unusable_input (a folder, a pipe that is too long), io.
  static core::Result<LineReader> open(const std::filesystem::path& file);
  static LineReader from_text(std::string text);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  /// The next line, nothing at the end. A read error ends the text too: see failure().
  [[nodiscard]] std::optional<Line> next();
  /// Back to the first line.
  void rewind();
  /// All bytes, for formats that are no lines; afterwards next() begins at the first line. unusable_input ("line 1:
  /// …") when they are more than `most`, io.
  [[nodiscard]] core::Result<std::string> whole(std::size_t most);
  [[nodiscard]] Encoding encoding() const { return encoding_; }
  /// The begin of the file, at most 4096 bytes: for telling formats apart.
  [[nodiscard]] std::string_view head() const { return head_; }
  /// The bytes themselves from the first on, for formats that have no lines. Lines are read again after rewind().
  [[nodiscard]] ByteSource& bytes();
  /// The file is gzip: what cannot be read to its end is damaged then, and not the disk's fault.
  [[nodiscard]] bool is_packed() const { return packed_ != nullptr; }
  [[nodiscard]] const std::optional<std::string>& failure() const { return failure_; }

 private:
  explicit LineReader(std::unique_ptr<ByteSource> source);
  void read_head();
  bool fill();
  void decode(std::string_view raw);
  void decode_utf16(std::string_view raw);
  [[nodiscard]] Line take(std::size_t end, bool ended);

  std::unique_ptr<ByteSource> packed_;  // what source_ inflates, where the file is gzip
  std::unique_ptr<ByteSource> source_;
  std::string head_;
  Encoding encoding_ = Encoding::bytes;
  char line_end_ = '\n';
  std::size_t mark_bytes_ = 0;  // byte-order mark to skip

  std::string buffer_;  // decoded text not handed out yet, from begin_
  std::size_t begin_ = 0;
  std::string carry_;        // raw bytes of a character that is not complete yet
  std::string without_nul_;  // backs Line::text where NULs were taken out
  std::size_t line_number_ = 0;
  std::size_t skip_ = 0;  // raw bytes of the mark still to skip
  bool at_end_ = false;
  std::optional<std::string> failure_;
};

}  // namespace gradwatt::ingest
