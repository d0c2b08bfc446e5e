#include "gradwatt/ingest/gzip_source.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10U;
constexpr int kGzipOnly = 16 + MAX_WBITS;

}  // namespace

struct GzipSource::Stream {
  z_stream z{};
  std::vector<unsigned char> in = std::vector<unsigned char>(kBlock), out = std::vector<unsigned char>(kBlock);
  bool between_members = false;

  Stream() { ::inflateInit2(&z, kGzipOnly); }
  ~Stream() { ::inflateEnd(&z); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

GzipSource::GzipSource(ByteSource& packed) : packed_(packed), stream_(std::make_unique<Stream>()) {}
GzipSource::~GzipSource() = default;

void GzipSource::rewind() {
  packed_.rewind();
  stream_ = std::make_unique<Stream>();
  packed_bytes_ = inflated_ = 0;
  ended_ = false;
  failure_.clear();
}

/// More packed bytes into the input buffer; false at their end or on an error.
bool GzipSource::refill() {
  const auto got = packed_.next(kBlock);
  if (!got) failure_ = packed_.failure();
  if (!got || got->empty()) return false;
  std::ranges::copy(*got, stream_->in.begin());
  stream_->z.next_in = stream_->in.data();
  stream_->z.avail_in = static_cast<uInt>(got->size());
  packed_bytes_ += got->size();
  return true;
}

/// One call of inflate; `made` counts what it put out. False where the text ends.
bool GzipSource::step(std::size_t most, std::size_t& made) {
  auto& s = *stream_;
  if (s.z.avail_in == 0 && !refill()) {
    if (failure_.empty() && !s.between_members) failure_ = "the compressed data are cut off";
    return false;
  }
  if (s.between_members) {
    // Zeros or other bytes behind the last member are padding, as gzip itself takes them.
    if (*s.z.next_in != 0x1f) return false;
    ::inflateReset(&s.z);
    s.between_members = false;
  }
  s.z.next_out = s.out.data() + made;
  s.z.avail_out = static_cast<uInt>(most - made);
  const auto before = s.z.avail_out;
  const int result = ::inflate(&s.z, Z_NO_FLUSH);
  made += before - s.z.avail_out;
  if (result == Z_STREAM_END) s.between_members = true;
  if (result == Z_OK || result == Z_STREAM_END || (result == Z_BUF_ERROR && s.z.avail_in == 0)) return true;
  failure_ = fmt::format("the compressed data are damaged ({})", s.z.msg != nullptr ? s.z.msg : "no gzip stream");
  return false;
}

std::optional<std::string_view> GzipSource::next(std::size_t most) {
  if (ended_) return failure_.empty() ? std::optional(std::string_view{}) : std::nullopt;
  most = std::min(most, kBlock);
  std::size_t made = 0;
  while (made < most && !ended_) ended_ = !step(most, made);
  inflated_ += made;
  if (inflated_ > kAlwaysAllowed && inflated_ / kMostInflation > packed_bytes_) {
    failure_ = fmt::format("it inflates to more than {} times its size, which no recording does", kMostInflation);
    ended_ = true;
    return std::nullopt;
  }
  if (made == 0 && !failure_.empty()) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(stream_->out.data()), made);
}

}  // namespace gradwatt::ingest
