// Random numbers of one example. Their state is one word, because a stream is begun for every example, and their
// draws are the same with every standard library, so that a run can be repeated elsewhere.
#pragma once

#include <cstdint>
#include <limits>

namespace gradwatt::training {

/// SplitMix64 (Steele, Lea, Flood 2014): passes BigCrush, every seed starts a usable stream. One thread at a time.
class ExampleRandom {
 public:
  using result_type = std::uint64_t;
  explicit constexpr ExampleRandom(std::uint64_t seed) : state_(seed) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  constexpr result_type operator()() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  /// In [0, 1).
  constexpr double uniform() { return static_cast<double>((*this)() >> 11U) * 0x1.0p-53; }
  constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, count), count > 0; the bias is below count / 2^64.
  constexpr std::uint64_t below(std::uint64_t count) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>((*this)()) * count) >> 64U);
  }
  /// Mean 0, variance 1.
  double normal();

 private:
  std::uint64_t state_;
};

/// The stream that belongs to (seed, epoch, index), so that neither workers nor ranks change what is drawn.
[[nodiscard]] constexpr ExampleRandom example_random(std::uint64_t seed, std::uint64_t epoch, std::uint64_t index) {
  // Each part passes through the mixer before the next is added: neighbouring triples give unrelated streams.
  const auto with_epoch = ExampleRandom(seed)() + epoch;
  const auto with_index = ExampleRandom(with_epoch)() + index;
  return ExampleRandom(ExampleRandom(with_index)());
}

}  // namespace gradwatt::training
