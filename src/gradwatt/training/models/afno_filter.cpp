#include "gradwatt/training/models/afno_filter.hpp"

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace gradwatt::training {
namespace {

// A complex product as one real product: vectors are (re, im, re, im, …), as view_as_real gives them, and each complex
// weight is the 2×2 matrix of its multiplication. Same arithmetic as four real products, no copies of the vectors.
torch::Tensor as_real_matrix(const torch::Tensor& weight) {
  const auto real = weight.select(0, 0), imaginary = weight.select(0, 1);  // blocks × inputs × outputs
  const auto from_real = at::stack({real, imaginary}, -1);
  const auto from_imaginary = at::stack({imaginary.neg(), real}, -1);
  const auto both = at::stack({from_real, from_imaginary}, 2);  // blocks × inputs × 2 × outputs × 2
  return both.reshape({weight.size(1), 2 * weight.size(2), 2 * weight.size(3)});
}

torch::Tensor as_real_bias(const torch::Tensor& bias) {
  return bias.permute({1, 2, 0}).reshape({bias.size(1), 1, 2 * bias.size(2)});
}

}  // namespace

AfnoFilter::AfnoFilter(std::int64_t features, std::int64_t blocks, ModeSelection modes)
    : blocks_(blocks), block_size_(features / blocks), modes_(std::move(modes)) {
  w1 = register_parameter("w1", at::empty({2, blocks_, block_size_, block_size_}));
  b1 = register_parameter("b1", at::empty({2, blocks_, block_size_}));
  w2 = register_parameter("w2", at::empty({2, blocks_, block_size_, block_size_}));
  b2 = register_parameter("b2", at::empty({2, blocks_, block_size_}));
}

std::int64_t AfnoFilter::macs() const {
  const auto modes = modes_.kept_rows() * modes_.kept_columns();
  return modes * blocks_ * 2 * 4 * block_size_ * block_size_;  // two layers, four real products each
}

// `modes`: batch × rows × columns × features, complex; the same comes back.
torch::Tensor AfnoFilter::mix(const torch::Tensor& modes) const {
  const auto batch = modes.size(0), rows = modes.size(1), columns = modes.size(2);
  const auto vectors = at::view_as_real(modes).reshape({batch * rows * columns, blocks_, 2 * block_size_});
  const auto type = vectors.scalar_type();
  auto x = vectors.transpose(0, 1);  // blocks × modes × 2·size
  x = at::baddbmm(as_real_bias(b1.to(type)), x, as_real_matrix(w1.to(type))).relu_();
  x = at::baddbmm(as_real_bias(b2.to(type)), x, as_real_matrix(w2.to(type)));
  x = at::softshrink(x, kSparsityThreshold).transpose(0, 1);
  return at::view_as_complex(x.reshape({batch, rows, columns, blocks_ * block_size_, 2}));
}

torch::Tensor AfnoFilter::forward(const torch::Tensor& input) const {
  // Autocast would send the matrix products back to half precision.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const auto type = input.scalar_type();
  const auto x = type == at::kDouble ? input : input.to(at::kFloat);
  const auto spectrum = at::fft_rfft2(x, c10::OptionalIntArrayRef(), {1, 2}, "ortho");
  const auto mixed = modes_.scatter(mix(modes_.gather(spectrum)));
  const std::int64_t sides[] = {x.size(1), x.size(2)};
  return at::fft_irfft2(mixed, at::IntArrayRef(sides), {1, 2}, "ortho").add(x).to(type);
}

}  // namespace gradwatt::training
