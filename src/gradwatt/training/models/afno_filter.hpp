// The token mixer of AFNO (Guibas et al. 2021): a small block-diagonal complex network applied to each Fourier mode.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>

#include "gradwatt/training/models/mode_selection.hpp"

namespace gradwatt::training {

/// Two complex layers per block of features, ReLU between them on real and imaginary parts apart, then a soft shrink.
/// Computes in at least single precision whatever the input's type is; the output has the input's type.
class AfnoFilter : public torch::nn::Module {
 public:
  /// Values nearer to zero than this become zero in the spectrum.
  static constexpr double kSparsityThreshold = 0.01;

  AfnoFilter(std::int64_t features, std::int64_t blocks, ModeSelection modes);
  /// batch × rows × columns × features. The result includes the input: filter(x) + x.
  torch::Tensor forward(const torch::Tensor& input) const;
  [[nodiscard]] const ModeSelection& modes() const { return modes_; }
  [[nodiscard]] std::int64_t macs() const;

  torch::Tensor w1, b1, w2, b2;  ///< w: 2 (real, imaginary) × blocks × inputs × outputs; b: 2 × blocks × outputs

 private:
  [[nodiscard]] torch::Tensor mix(const torch::Tensor& modes) const;

  std::int64_t blocks_, block_size_;
  ModeSelection modes_;
};

}  // namespace gradwatt::training
