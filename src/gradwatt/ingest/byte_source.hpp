// Where a reader's bytes come from: a file, a text in memory, or what either of them inflates to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gradwatt::ingest {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// The next bytes, at most so many; empty at the end, nothing on an error. Valid until the next call.
  virtual std::optional<std::string_view> next(std::size_t most) = 0;
  /// Back to the first byte.
  virtual void rewind() = 0;
  /// Why next() gave nothing: asked right after it.
  [[nodiscard]] virtual std::string failure() const = 0;
};

}  // namespace gradwatt::ingest
