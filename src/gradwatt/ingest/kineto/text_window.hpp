// The part of a streamed text that is being looked at: what was read and not yet taken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/ingest/byte_source.hpp"

namespace gradwatt::ingest::kineto {

class TextWindow {
 public:
  /// One piece of the text (an event, a section of the head) may be so long.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

  explicit TextWindow(ByteSource& source) : source_(source) {}

  [[nodiscard]] std::string_view rest() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void take(std::size_t bytes) { begin_ += bytes; }
  /// Reads on behind the rest, which may move. False at the end, on an error (see failure()) and when full().
  bool more();
  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool full_ = false;
  std::string failure_;
};

}  // namespace gradwatt::ingest::kineto
