// One loop over several tensors of the same shape, in parallel, as raw numbers; private to this folder.
#pragma once

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <array>
#include <utility>

namespace gradwatt::training {

/// True when all are on the CPU, of one floating type, dense and laid out alike, so that element i of one belongs to
/// element i of the others whatever the memory format.
template <class... Tensors>
bool walk_alike(const torch::Tensor& first, const Tensors&... others) {
  const auto dense = [](const torch::Tensor& t) { return t.device().is_cpu() && t.is_non_overlapping_and_dense(); };
  return dense(first) && (first.scalar_type() == at::kFloat || first.scalar_type() == at::kDouble) &&
         (... && (dense(others) && others.scalar_type() == first.scalar_type() && others.strides() == first.strides()));
}

/// A few thousand elements are not worth a thread.
inline constexpr std::int64_t kGrain = 32768;

/// visit(a, b, …): references to the i-th element of each tensor, for all i.
template <class Scalar, class Visit, class... Tensors>
void for_each_element(Visit visit, const Tensors&... tensors) {
  const auto count = std::get<0>(std::tie(tensors...)).numel();
  at::parallel_for(0, count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    const auto loop = [&](auto* __restrict... data) {
      for (std::int64_t i = begin; i < end; ++i) visit(data[i]...);
    };
    loop(tensors.template data_ptr<Scalar>()...);
  });
}

}  // namespace gradwatt::training
