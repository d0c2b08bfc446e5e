// The Fourier network of FourCastNet (Pathak et al. 2022): a vision transformer over patches of a field whose token
// mixer is the AFNO filter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gradwatt/training/models/afno_filter.hpp"
#include "gradwatt/training/models/built_model.hpp"
#include "gradwatt/training/models/layers.hpp"

namespace gradwatt::training {

struct AfnoShape {
  std::int64_t in_channels, out_channels;
  std::int64_t height, width;  ///< pixels; multiples of `patch`
  std::int64_t patch, embed, depth, blocks;
  ModeSelection modes;  ///< of height/patch × width/patch tokens
  bool residual = false;
};

/// LN, filter, + skip, LN, MLP, + skip. Features in the last dimension.
class AfnoBlock : public torch::nn::Module {
 public:
  explicit AfnoBlock(const AfnoShape& shape);
  torch::Tensor forward(const torch::Tensor& input) const;
  Shape list(LayerList& lines, const std::string& prefix, const Shape& input) const;

  std::shared_ptr<LayerNorm> norm1, norm2;
  std::shared_ptr<AfnoFilter> filter;
  std::shared_ptr<Linear> fc1, fc2;
};

/// Parameter names and order are those of the reference model, which declares a final layer norm ("norm") and never
/// applies it: its 2 · embed parameters have no gradient, so whoever averages gradients must expect two unused tensors.
/// It is kept so that parameter counts and weight files agree. With `residual` a last parameter "skip" scales the input
/// that is added to the output, by channel.
class Afno : public BuiltModel {
 public:
  explicit Afno(const AfnoShape& shape);
  torch::Tensor forward(torch::Tensor input) override;
  [[nodiscard]] std::vector<std::string> unused_parameters() const override { return {"norm.weight", "norm.bias"}; }
  void initialize(at::Generator& random) override;
  [[nodiscard]] std::vector<LayerLine> list_layers(const Shape& input) const override;

 private:
  [[nodiscard]] torch::Tensor embed(const torch::Tensor& input) const;
  [[nodiscard]] torch::Tensor to_field(const torch::Tensor& patches) const;

  std::int64_t rows_, columns_, patch_, out_channels_;
  torch::Tensor position_;
  std::shared_ptr<Convolution> patch_embedding_;
  std::vector<std::shared_ptr<AfnoBlock>> blocks_;
  std::shared_ptr<LayerNorm> unused_norm_;
  std::shared_ptr<Linear> head_;
  torch::Tensor skip_;  // undefined: the output is the head's alone
};

}  // namespace gradwatt::training
