// Sum over the ranks of one host, through memory that all of them see.
//
// A piece of the array at a time: each rank lays its values down, adds up one slice of the piece over all ranks, and
// takes the finished slices of the others. Every element is added once, in rank order, by one rank: the result is
// bitwise the same on all. Two sets of buffers alternate, so that a piece costs two meetings of the ranks and not
// three. Who waits sleeps (futex): the core belongs to the computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gradwatt/training/gradient_sync/communicator.hpp"

namespace gradwatt::training {

/// The form in which values lie in the shared memory; added in fp32.
enum class Wire { fp32, bf16, fp16 };

class SharedSum {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{4} << 20U;

  /// A collective of all ranks of `ranks`, which are on one host.
  static core::Result<std::unique_ptr<SharedSum>> create(Communicator& ranks);

  /// In place: values ← scale · Σ over ranks, one call at a time, the same order on all ranks.
  void sum(std::span<float> values, Wire wire, float scale);
  void sum(std::span<double> values, double scale);

 private:
  struct Flags;  // of one rank, in the shared memory
  SharedSum(int rank, std::vector<std::byte*> parts);

  [[nodiscard]] Flags& flags(std::size_t rank) const;
  [[nodiscard]] std::byte* buffer(std::size_t rank, std::uint32_t piece) const;
  void announce(std::uint32_t Flags::*which);
  void await(std::uint32_t Flags::*which);
  template <class Value, class Stored, class Pack, class Unpack>
  void run(std::span<Value> values, Value scale, Pack pack, Unpack unpack);

  std::size_t rank_;
  std::vector<std::byte*> parts_;  // by rank: flags, then two buffers
  std::uint32_t piece_ = 0;        // number of the piece under way; wraps
};

}  // namespace gradwatt::training
