#include "gradwatt/ingest/kineto/text_window.hpp"

#include <algorithm>
#include <cstring>

namespace gradwatt::ingest::kineto {
namespace {
/// Small enough for the second-level cache together with the parser's index of it.
constexpr std::size_t kRead = std::size_t{256} << 10U;
}  // namespace

bool TextWindow::more() {
  const auto kept = end_ - begin_;
  full_ = kept >= kMostBytes;
  if (full_ || !failure_.empty()) return false;
  const auto got = source_.next(kRead);
  if (!got) failure_ = source_.failure();
  if (!got || got->empty()) return false;
  if (buffer_.size() < kFront + kept + got->size() + kPadding)
    buffer_.resize(std::max(2 * buffer_.size(), kFront + kept + got->size() + kPadding));
  std::memmove(buffer_.data() + kFront, buffer_.data() + begin_, kept);
  std::memcpy(buffer_.data() + kFront + kept, got->data(), got->size());
  begin_ = kFront, end_ = kFront + kept + got->size();
  return true;
}

}  // namespace gradwatt::ingest::kineto
