#include "gradwatt/training/models/afno.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "gradwatt/training/models/initialization.hpp"

namespace gradwatt::training {
namespace {

constexpr double kNormEpsilon = 1e-6;
constexpr std::int64_t kMlpRatio = 4;
/// Standard deviation of position, linear layers and filters. The reference cuts the first two at ±2, which is 100 of
/// these: no draw ever gets there.
constexpr double kInitialStd = 0.02;

}  // namespace

AfnoBlock::AfnoBlock(const AfnoShape& shape) {
  norm1 = register_module("norm1", std::make_shared<LayerNorm>(shape.embed, kNormEpsilon));
  filter = register_module("filter", std::make_shared<AfnoFilter>(shape.embed, shape.blocks, shape.modes));
  norm2 = register_module("norm2", std::make_shared<LayerNorm>(shape.embed, kNormEpsilon));
  const auto mlp = register_module("mlp", std::make_shared<torch::nn::Module>());
  fc1 = mlp->register_module("fc1", std::make_shared<Linear>(shape.embed, kMlpRatio * shape.embed));
  fc2 = mlp->register_module("fc2", std::make_shared<Linear>(kMlpRatio * shape.embed, shape.embed));
}

torch::Tensor AfnoBlock::forward(const torch::Tensor& input) const {
  const auto mixed = filter->forward(norm1->forward(input)).add(input);
  return fc2->forward(at::gelu(fc1->forward(norm2->forward(mixed)))).add(mixed);
}

Shape AfnoBlock::list(LayerList& lines, const std::string& prefix, const Shape& input) const {
  const auto normed = lines.add(prefix + "norm1", *norm1, input);
  const auto& modes = filter->modes();
  const auto kind = fmt::format("fourier filter, {}x{} of {}x{} modes", modes.kept_rows(), modes.kept_columns(),
                                modes.rows(), modes.half_columns());
  const auto mixed = lines.add({prefix + "filter", kind, normed, count_parameters(*filter), filter->macs()});
  const auto hidden = lines.add(prefix + "mlp.fc1", *fc1, lines.add(prefix + "norm2", *norm2, mixed));
  return lines.add(prefix + "mlp.fc2", *fc2, hidden);
}

Afno::Afno(const AfnoShape& shape)
    : rows_(shape.height / shape.patch),
      columns_(shape.width / shape.patch),
      patch_(shape.patch),
      out_channels_(shape.out_channels) {
  position_ = register_parameter("pos_embed", at::empty({1, rows_ * columns_, shape.embed}));
  const auto patch_embed = register_module("patch_embed", std::make_shared<torch::nn::Module>());
  patch_embedding_ = patch_embed->register_module(
      "proj", std::make_shared<Convolution>(ConvolutionShape{.in_channels = shape.in_channels,
                                                             .out_channels = shape.embed,
                                                             .kernel = patch_,
                                                             .stride = patch_,
                                                             .bias = true}));
  const auto blocks = register_module("blocks", std::make_shared<torch::nn::Module>());
  for (std::int64_t i = 0; i < shape.depth; ++i)
    blocks_.push_back(blocks->register_module(std::to_string(i), std::make_shared<AfnoBlock>(shape)));
  unused_norm_ = register_module("norm", std::make_shared<LayerNorm>(shape.embed, kNormEpsilon));
  head_ = register_module("head",
                          std::make_shared<Linear>(shape.embed, out_channels_ * patch_ * patch_, /*with_bias=*/false));
  if (shape.residual) skip_ = register_parameter("skip", at::empty({out_channels_}));
}

// batch × rows × columns × features.
torch::Tensor Afno::embed(const torch::Tensor& input) const {
  const auto tokens = patch_embedding_->forward(input).flatten(2).transpose(1, 2).add(position_);
  return tokens.reshape({input.size(0), rows_, columns_, position_.size(2)});
}

// Features of a token are patch row, patch column, channel.
torch::Tensor Afno::to_field(const torch::Tensor& patches) const {
  return patches.reshape({patches.size(0), rows_, columns_, patch_, patch_, out_channels_})
      .permute({0, 5, 1, 3, 2, 4})
      .reshape({patches.size(0), out_channels_, rows_ * patch_, columns_ * patch_});
}

torch::Tensor Afno::forward(torch::Tensor input) {
  auto x = embed(input);
  for (const auto& block : blocks_) x = block->forward(x);
  const auto field = to_field(head_->forward(x));
  return skip_.defined() ? field.add(input.mul(skip_.view({-1, 1, 1}))) : field;
}

void Afno::initialize(at::Generator& random) {
  normal(position_, kInitialStd, random);
  uniform_fan_in(patch_embedding_->weight, patch_embedding_->bias, random);
  for (const auto& block : blocks_) {
    const auto& filter = *block->filter;
    for (const auto& parameter : {filter.w1, filter.b1, filter.w2, filter.b2}) normal(parameter, kInitialStd, random);
    for (const auto& linear : {block->fc1, block->fc2}) {
      normal(linear->weight, kInitialStd, random);
      const at::NoGradGuard no_grad;
      linear->bias.fill_(0);
    }
  }
  normal(head_->weight, kInitialStd, random);
  if (skip_.defined()) {
    const at::NoGradGuard no_grad;
    head_->weight.fill_(0);
    skip_.fill_(1);
  }
  reset_norms(*this);
}

std::vector<LayerLine> Afno::list_layers(const Shape& input) const {
  LayerList lines;
  const auto embedded = lines.add("patch_embed.proj", *patch_embedding_, input);
  auto shape =
      lines.add({"pos_embed", "position embedding", {embedded[1], embedded[2], embedded[0]}, position_.numel(), 0});
  for (std::size_t i = 0; i < blocks_.size(); ++i) shape = blocks_[i]->list(lines, fmt::format("blocks.{}.", i), shape);
  lines.add({"norm", "layer norm, never applied", {}, count_parameters(*unused_norm_), 0});
  shape = lines.add("head", *head_, shape);
  if (skip_.defined()) lines.add({"skip", "scaled input, added", input, skip_.numel(), 0});
  return lines.take();
}

}  // namespace gradwatt::training
