#include "gradwatt/training/loop/synchronous_batch_norm.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace gradwatt::training {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Per-channel tensor in the shape that broadcasts over batch × channels × ….
at::Tensor by_channel(const at::Tensor& values, const at::Tensor& like) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(like.dim()), 1);
  shape[1] = values.numel();
  return values.view(shape);
}

at::Tensor channel_sums(const at::Tensor& values) {
  std::vector<std::int64_t> dims{0};
  for (std::int64_t d = 2; d < values.dim(); ++d) dims.push_back(d);
  return values.sum(dims, /*keepdim=*/false, at::kDouble);
}

void add_over_ranks(Communicator& ranks, at::Tensor& values) {
  auto here = values.to(at::kCPU).contiguous();
  ranks.all_reduce(std::span(here.data_ptr<double>(), static_cast<std::size_t>(here.numel())), Sum::sum);
  values.copy_(here);
}

class Normalise : public torch::autograd::Function<Normalise> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, const BatchNormState& state, Communicator* ranks) {
    const auto channels = input.size(1);
    const double local_count = static_cast<double>(input.numel() / channels);
    auto sums = at::cat({channel_sums(input), channel_sums(input * input),
                         at::full({1}, local_count, input.options().dtype(at::kDouble))});
    add_over_ranks(*ranks, sums);
    const double count = sums[2 * channels].item<double>();
    const auto mean = sums.narrow(0, 0, channels) / count;
    const auto variance = (sums.narrow(0, channels, channels) / count - mean * mean).clamp_min(0);
    if (state.running_mean.defined()) {
      at::Tensor(state.running_mean)
          .mul_(1 - state.momentum)
          .add_(mean.to(state.running_mean.scalar_type()), state.momentum);
      at::Tensor(state.running_var)
          .mul_(1 - state.momentum)
          .add_((variance * (count / (count - 1))).to(state.running_var.scalar_type()), state.momentum);
    }
    const auto inverse = (variance + state.epsilon).rsqrt().to(input.scalar_type());
    const auto normal = (input - by_channel(mean.to(input.scalar_type()), input)) * by_channel(inverse, input);
    context->save_for_backward({normal, weight, inverse});
    context->saved_data["count"] = count;
    context->saved_data["ranks"] = reinterpret_cast<std::int64_t>(ranks);  // NOLINT: lives as long as the training
    return normal * by_channel(weight, input) + by_channel(bias, input);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &normal = saved[0], &weight = saved[1], &inverse = saved[2];
    auto* ranks = reinterpret_cast<Communicator*>(context->saved_data["ranks"].toInt());  // NOLINT
    const double count = context->saved_data["count"].toDouble();
    const auto gradient = gradients[0];
    const auto channels = normal.size(1);
    const auto own = at::cat({channel_sums(gradient), channel_sums(gradient * normal)});
    auto all = own.clone();
    add_over_ranks(*ranks, all);
    all.div_(count);
    const auto type = normal.scalar_type();
    const auto mean_gradient = by_channel(all.narrow(0, 0, channels).to(type), normal);
    const auto mean_product = by_channel(all.narrow(0, channels, channels).to(type), normal);
    const auto input_gradient =
        (gradient - mean_gradient - normal * mean_product) * by_channel(weight * inverse, normal);
    return {input_gradient, own.narrow(0, channels, channels).to(type), own.narrow(0, 0, channels).to(type),
            at::Tensor(), at::Tensor()};
  }
};

}  // namespace

BatchNormFunction synchronous_batch_norm(Communicator& ranks) {
  return [&ranks](const torch::Tensor& input, const BatchNormState& state) {
    return Normalise::apply(input, state.weight, state.bias, state, &ranks);
  };
}

}  // namespace gradwatt::training
