// Dynamic loss scale of fp16 training: gradients that would vanish in fp16 are computed from a larger loss and divided
// again before the update. Constants as PyTorch's GradScaler.
#pragma once

#include <cstdint>

namespace gradwatt::training {

class LossScaler {
 public:
  struct Options {
    double initial = 65536, growth = 2, backoff = 0.5;
    std::int64_t interval = 2000;  ///< good steps before the scale grows
    bool enabled = true;           ///< false: the scale is 1 and stays
  };
  explicit LossScaler(Options options) : options_(options), scale_(options.enabled ? options.initial : 1) {}

  [[nodiscard]] double scale() const { return scale_; }
  /// After each step: `overflow` when some gradient of some rank was not finite and the update was left out.
  void update(bool overflow) {
    if (!options_.enabled) return;
    if (overflow) {
      scale_ *= options_.backoff;
      good_steps_ = 0;
    } else if (++good_steps_ == options_.interval) {
      scale_ *= options_.growth;
      good_steps_ = 0;
    }
  }

  /// So many overflows in a row that no scale helps: the unscaled gradients themselves are beyond fp16.
  [[nodiscard]] bool hopeless() const { return options_.enabled && scale_ < kLeast; }

  struct State {
    double scale;
    std::int64_t good_steps;
  };
  [[nodiscard]] State state() const { return {scale_, good_steps_}; }
  void restore(State state) { scale_ = state.scale, good_steps_ = state.good_steps; }

 private:
  /// Gradients that overflow here are above 65504 · 65536, the largest fp16 times the usual scale.
  static constexpr double kLeast = 1.0 / 65536;

  Options options_;
  double scale_;
  std::int64_t good_steps_ = 0;
};

}  // namespace gradwatt::training
