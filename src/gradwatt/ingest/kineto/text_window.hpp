// The part of a streamed text that is being looked at: what was read and not yet taken, with room around it for the
// JSON parser.
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

  /// rest()[0, bytes) in square brackets, and behind it as many readable bytes as a vector load may touch. Undone by
  /// the next call of any other function.
  class Bracketed {
   public:
    Bracketed(char* front, std::size_t bytes) : front_(front), back_(front + 1 + bytes), first_(*front), last_(*back_) {
      *front_ = '[', *back_ = ']';
    }
    ~Bracketed() { *front_ = first_, *back_ = last_; }
    Bracketed(const Bracketed&) = delete;
    Bracketed& operator=(const Bracketed&) = delete;
    [[nodiscard]] std::string_view text() const { return {front_, static_cast<std::size_t>(back_ - front_) + 1}; }

   private:
    char *front_, *back_;
    char first_, last_;
  };
  [[nodiscard]] Bracketed bracketed(std::size_t bytes) { return {buffer_.data() + begin_ - 1, bytes}; }

 private:
  static constexpr std::size_t kFront = 1;     ///< room for the bracket before the first byte
  static constexpr std::size_t kPadding = 64;  ///< simdjson reads so far behind the text

  ByteSource& source_;
  std::vector<char> buffer_ = std::vector<char>(kFront + kPadding);
  std::size_t begin_ = kFront, end_ = kFront;
  bool full_ = false;
  std::string failure_;
};

}  // namespace gradwatt::ingest::kineto
