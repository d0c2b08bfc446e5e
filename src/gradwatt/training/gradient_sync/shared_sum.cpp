#include "gradwatt/training/gradient_sync/shared_sum.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "gradwatt/training/gradient_sync/half_floats.hpp"

namespace gradwatt::training {
namespace {

constexpr std::size_t kFlagBytes = 4096;
/// A few looks before sleeping: the other rank is often only microseconds behind.
constexpr int kLooks = 200;

void sleep_while(std::uint32_t* word, std::uint32_t value) {
  // Not the private kind: the word is shared between processes.
  ::syscall(SYS_futex, word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}
void wake_all(std::uint32_t* word) { ::syscall(SYS_futex, word, FUTEX_WAKE, 1 << 30, nullptr, nullptr, 0); }

}  // namespace

struct SharedSum::Flags {
  alignas(64) std::uint32_t laid = 0;    ///< pieces that lie in this rank's buffer
  alignas(64) std::uint32_t summed = 0;  ///< pieces of which this rank's slice is done
};

SharedSum::SharedSum(int rank, std::vector<std::byte*> parts)
    : rank_(static_cast<std::size_t>(rank)), parts_(std::move(parts)) {}

core::Result<std::unique_ptr<SharedSum>> SharedSum::create(Communicator& ranks) {
  auto parts = ranks.share_memory(kFlagBytes + 2 * kPieceBytes);
  if (!parts) return core::fail(parts.error());
  std::unique_ptr<SharedSum> sum(new SharedSum(ranks.local_rank(), std::move(*parts)));
  new (sum->parts_[sum->rank_]) Flags();
  ranks.barrier();
  return sum;
}

SharedSum::Flags& SharedSum::flags(std::size_t rank) const {
  return *std::launder(reinterpret_cast<Flags*>(parts_[rank]));  // NOLINT: laid out by create()
}

std::byte* SharedSum::buffer(std::size_t rank, std::uint32_t piece) const {
  return parts_[rank] + kFlagBytes + (piece % 2) * kPieceBytes;
}

void SharedSum::announce(std::uint32_t Flags::*which) {
  auto& word = flags(rank_).*which;
  std::atomic_ref(word).store(piece_, std::memory_order_release);
  wake_all(&word);
}

void SharedSum::await(std::uint32_t Flags::*which) {
  for (std::size_t r = 0; r < parts_.size(); ++r) {
    if (r == rank_) continue;
    auto& word = flags(r).*which;
    const auto behind = [&](std::uint32_t seen) { return static_cast<std::int32_t>(seen - piece_) < 0; };
    for (int look = 0;; ++look) {
      const auto seen = std::atomic_ref(word).load(std::memory_order_acquire);
      if (!behind(seen)) break;
      if (look >= kLooks) sleep_while(&word, seen);
    }
  }
}

template <class Value, class Stored, class Pack, class Unpack>
void SharedSum::run(std::span<Value> values, Value scale, Pack pack, Unpack unpack) {
  const std::size_t ranks = parts_.size();
  const std::size_t room = kPieceBytes / sizeof(Stored);
  const auto stored = [&](std::size_t rank) { return reinterpret_cast<Stored*>(buffer(rank, piece_)); };  // NOLINT
  for (std::size_t begin = 0; begin < values.size(); begin += room) {
    const auto piece = values.subspan(begin, std::min(room, values.size() - begin));
    ++piece_;
    auto* own = stored(rank_);
    for (std::size_t i = 0; i < piece.size(); ++i) own[i] = pack(piece[i]);
    announce(&Flags::laid);
    await(&Flags::laid);
    // Whole cache lines a slice: two ranks never write to one.
    const std::size_t line = 64 / sizeof(Stored);
    const std::size_t slice = (piece.size() / ranks / line + 1) * line;
    const auto from = [&](std::size_t r) { return std::min(r * slice, piece.size()); };
    const auto to = [&](std::size_t r) {
      return r + 1 == ranks ? piece.size() : std::min((r + 1) * slice, piece.size());
    };
    for (std::size_t i = from(rank_); i < to(rank_); ++i) {
      Value sum = unpack(stored(0)[i]);
      for (std::size_t r = 1; r < ranks; ++r) sum += unpack(stored(r)[i]);
      own[i] = pack(sum * scale);
    }
    announce(&Flags::summed);
    await(&Flags::summed);
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto* done = stored(r);
      for (std::size_t i = from(r); i < to(r); ++i) piece[i] = unpack(done[i]);
    }
  }
}

void SharedSum::sum(std::span<float> values, Wire wire, float scale) {
  const auto same = [](float v) { return v; };
  if (wire == Wire::fp32) return run<float, float>(values, scale, same, same);
  // Divided before it is stored: sixteen ranks' sum may not fit fp16's range, their mean does.
  for (auto& value : values) value *= scale;
  if (wire == Wire::bf16)
    run<float, std::uint16_t>(
        values, 1.0F, [](float v) { return to_bf16(v); }, [](auto v) { return from_bf16(v); });
  else
    run<float, std::uint16_t>(
        values, 1.0F, [](float v) { return to_fp16(v); }, [](auto v) { return from_fp16(v); });
}

void SharedSum::sum(std::span<double> values, double scale) {
  const auto same = [](double v) { return v; };
  run<double, double>(values, scale, same, same);
}

}  // namespace gradwatt::training
