#include "gradwatt/training/models/layer_list.hpp"

#include <fmt/format.h>

#include <functional>
#include <numeric>

namespace gradwatt::training {
namespace {

std::int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

std::int64_t windows(std::int64_t length, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return (length + 2 * padding - kernel) / stride + 1;
}

std::int64_t count_parameters(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const auto& parameter : module.parameters()) count += parameter.numel();
  return count;
}

Shape LayerList::add(LayerLine line) {
  lines_.push_back(std::move(line));
  return lines_.back().output;
}

Shape LayerList::add(const std::string& name, const Convolution& layer, const Shape& input) {
  const auto& s = layer.shape();
  const Shape output{s.out_channels, windows(input[1], s.kernel, s.stride, s.padding),
                     windows(input[2], s.kernel, s.stride, s.padding)};
  const auto macs = product(output) * s.in_channels * s.kernel * s.kernel;
  return add({name, fmt::format("conv {0}x{0}/{1}", s.kernel, s.stride), output, count_parameters(layer), macs});
}

Shape LayerList::add(const std::string& name, const Linear& layer, const Shape& input) {
  auto output = input;
  output.back() = layer.weight.size(0);
  return add({name, "linear", output, count_parameters(layer), product(output) * layer.weight.size(1)});
}

Shape LayerList::add(const std::string& name, const BatchNorm& layer, const Shape& input) {
  return add({name, "batch norm", input, count_parameters(layer), 0});
}

Shape LayerList::add(const std::string& name, const LayerNorm& layer, const Shape& input) {
  return add({name, "layer norm", input, count_parameters(layer), 0});
}

}  // namespace gradwatt::training
