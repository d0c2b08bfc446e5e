// What the training loop knows of a model: parameters in registration order, one forward call. The names are the same
// in recipes, in `train --describe` and here.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

class Model : public torch::nn::Module {
 public:
  /// `input`: batch × channels × height × width, fp32 (or the type that autocast gives). Images: logits, batch ×
  /// classes. Fields: batch × out_channels × height × width.
  virtual torch::Tensor forward(torch::Tensor input) = 0;
  /// Parameters that forward() never uses and that get no gradient: whoever averages gradients leaves them out.
  [[nodiscard]] virtual std::vector<std::string> unused_parameters() const { return {}; }
};

/// How to build a model. What a model does not use is ignored; 0 means the model's own default.
struct ModelSpec {
  std::string name;  ///< "resnet8", "resnet20", "resnet18", "resnet50", "fourcastnet", "afno-tiny"
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;  ///< classes of an image model
  std::int64_t height = 0, width = 0;
  // Residual networks
  bool small_stem = false;           ///< 3×3 stem without pooling, for 32×32 images (resnet18, resnet50)
  bool zero_init_residual = false;   ///< γ of the last batch norm of each block begins at 0
  bool projection_shortcut = false;  ///< resnet8/20: 1×1 convolution (B) instead of zero padding (A)
  // Fourier models
  std::int64_t patch = 0, embed = 0, depth = 0, blocks = 0;
  double kept_modes = 1.0;       ///< hard_thresholding_fraction, in (0, 1]
  bool corrected_modes = false;  ///< keeps the low frequencies of both axes; false: as the reference does
  /// Output = scale · input + what the network says, a scale for each channel. Begins as persistence: 1 and nothing.
  bool residual = false;
};

[[nodiscard]] std::vector<std::string_view> model_names();

/// The spec with every 0 replaced by the model's default: what input the model takes and what it gives. Errors:
/// wrong_use, as make_model().
[[nodiscard]] core::Result<ModelSpec> complete_spec(ModelSpec spec);

/// Initialised from `seed` alone: the same on every rank. Errors: wrong_use (unknown name with the nearest one, sizes
/// that do not divide).
[[nodiscard]] core::Result<std::shared_ptr<Model>> make_model(const ModelSpec& spec, std::uint64_t seed);

/// One line of `train --describe`.
struct LayerLine {
  std::string name;                  ///< as in named_parameters: "layer1.0.conv1"
  std::string kind;                  ///< "conv 3x3/2", "batch norm", "linear", "fourier filter", …
  std::vector<std::int64_t> output;  ///< shape for one sample
  std::int64_t parameters = 0;
  std::int64_t macs = 0;  ///< multiply-accumulates of one sample's forward pass (convolutions and matrix products)
};
/// Layers in the order of the forward pass for one sample of the spec's size.
[[nodiscard]] core::Result<std::vector<LayerLine>> describe(const ModelSpec& spec);

}  // namespace gradwatt::training
