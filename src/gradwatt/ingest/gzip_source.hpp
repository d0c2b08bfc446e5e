// What a gzip file inflates to, as it is read: neither the packed nor the inflated bytes are whole in memory.
#pragma once

#include <cstdint>
#include <memory>

#include "gradwatt/ingest/byte_source.hpp"

namespace gradwatt::ingest {

[[nodiscard]] inline bool is_gzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

/// Inflates `packed`, which must outlive it; members behind each other count as one text. A text that grows beyond
/// kMostInflation times its packed size is no recording but a trap: next() fails.
class GzipSource final : public ByteSource {
 public:
  /// Deflate reaches 1030:1 on a single repeated byte; traces and logs stay below 40:1.
  static constexpr std::uint64_t kMostInflation = 200;
  /// Any text may be so long, whatever its ratio.
  static constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{64} << 20U;

  explicit GzipSource(ByteSource& packed);
  ~GzipSource() override;
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::optional<std::string_view> next(std::size_t most) override;
  void rewind() override;
  [[nodiscard]] std::string failure() const override { return failure_; }
  [[nodiscard]] std::uint64_t inflated_bytes() const { return inflated_; }

 private:
  struct Stream;
  bool refill();
  [[nodiscard]] bool step(std::size_t most, std::size_t& made);

  ByteSource& packed_;
  std::unique_ptr<Stream> stream_;
  std::uint64_t packed_bytes_ = 0, inflated_ = 0;
  bool ended_ = false;
  std::string failure_;
};

}  // namespace gradwatt::ingest
