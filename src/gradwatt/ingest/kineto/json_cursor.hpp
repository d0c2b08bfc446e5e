// Walks through one JSON value without making a tree of it, and steps over what nobody asks for.
//
// Lenient on purpose: numbers, words and what stands in strings are handed out as they are written. Kineto has written
// "inf" and raw bytes of other encodings into traces, and one such value must not cost the event.
#pragma once

#include <cstring>
#include <string_view>

namespace gradwatt::ingest::kineto {

/// Any call after a failure does nothing and says no.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// Steps into an object or array; false (and no step) where the next value is none.
  bool enter(char bracket) { return take(bracket); }
  /// The next key of the object that was entered, without quotes; false behind its last one.
  bool next_key(std::string_view& key) {
    if (leave('}')) return false;
    take(',');
    key = string();
    if (!failed_ && !take(':')) failed_ = true;
    return !failed_;
  }
  /// Whether another element of the array follows.
  bool next_element() {
    if (leave(']')) return false;
    take(',');
    return !failed_;
  }

  /// The next value as it is written: a string without its quotes (escapes left as they are), all else whole.
  std::string_view value() {
    skip_space();
    if (at_ == end_) return fail();
    if (*at_ == '"') return string();
    if (*at_ == '{' || *at_ == '[') return nested();
    return word();
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::string_view fail() {
    failed_ = true;
    at_ = end_;
    return {};
  }
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  /// At the bracket that closes the value entered, or where nothing more can be read.
  bool leave(char bracket) {
    if (failed_ || take(bracket)) return true;
    if (at_ == end_) failed_ = true;
    return failed_;
  }
  std::string_view string();
  std::string_view nested();
  std::string_view word();

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

/// Calls `visit(key, cursor)` with each member of the object `cursor` stands at; `visit` takes the value, and returns
/// false to leave the rest. False where the text is no JSON.
template <class Visit>
bool for_each_member(JsonCursor& cursor, Visit visit) {
  if (!cursor.enter('{')) return false;
  std::string_view key;
  while (cursor.next_key(key))
    if (!visit(key, cursor)) return true;
  return !cursor.failed();
}

}  // namespace gradwatt::ingest::kineto
