#include "gradwatt/ingest/kineto/text_window.hpp"

#include <algorithm>
#include <cstring>

namespace gradwatt::ingest::kineto {
namespace {
/// Stays in the second-level cache.
constexpr std::size_t kRead = std::size_t{256} << 10U;
}  // namespace

bool TextWindow::more() {
  const auto kept = end_ - begin_;
  full_ = kept >= kMostBytes;
  if (full_ || !failure_.empty()) return false;
  const auto got = source_.next(kRead);
  if (!got) failure_ = source_.failure();
  if (!got || got->empty()) return false;
  if (buffer_.size() < kept + got->size()) buffer_.resize(std::max(2 * buffer_.size(), kept + got->size()));
  if (begin_ > 0 && kept > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  std::memcpy(buffer_.data() + kept, got->data(), got->size());
  begin_ = 0, end_ = kept + got->size();
  return true;
}

}  // namespace gradwatt::ingest::kineto
