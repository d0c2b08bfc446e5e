// Finds where the elements of a JSON array end, in text that comes in pieces: a trace is cut into its events without
// being parsed, so that neither its text nor a tree of it is ever whole in memory, and of an event only the members
// that are wanted need be looked at.
//
// Works on 64 bytes at a time with one bit a byte (Langdale and Lemire, "Parsing gigabytes of JSON per second", VLDB
// Journal 28, 2019): quotes that are not escaped, from them what lies inside strings, and brackets outside of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gradwatt::ingest::kineto {

class ElementEnds {
 public:
  static constexpr std::size_t kStride = 64;

  struct Found {
    std::size_t scanned = 0;           ///< bytes looked at; the rest must be given again
    std::optional<std::size_t> close;  ///< the bracket that ends the array itself; nothing behind it was looked at
  };

  /// Looks at whole strides of `text`, which begins where the last call stopped; before the first call, behind the
  /// array's opening bracket. Adds to `ends` the places behind each object or array that ended.
  Found scan(std::string_view text, std::vector<std::size_t>& ends);
  /// The same for the last bytes of a text, fewer than a stride.
  Found finish(std::string_view text, std::vector<std::size_t>& ends);

 private:
  void walk(std::uint64_t open, std::uint64_t close, Found& found, std::vector<std::size_t>& ends);

  std::uint64_t in_string_ = 0;  ///< all ones while a string goes on from the last stride
  std::uint64_t escaped_ = 0;    ///< 1: the next byte is escaped
  std::int64_t depth_ = 0;
};

}  // namespace gradwatt::ingest::kineto
