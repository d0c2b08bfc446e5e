// A vector as one bit an element and a scale: q = s · sgn(p) with s = ‖p‖₁/d and sgn(0) = +1, the q of this form that
// is nearest to p. What is lost, e = p − q, has ‖e‖² = ‖p‖² − ‖p‖₁²/d.
//
// Source: Karimireddy et al., "Error Feedback Fixes SignSGD", 2019 (EF-SignSGD). The scale is an fp32, and the loss is
// taken from the value that the receiver sees, so that nothing is lost by rounding it.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <span>

namespace gradwatt::training {

/// One fp32 scale, then the signs, lowest bit first.
[[nodiscard]] std::size_t sign_code_bytes(std::int64_t elements);

/// Writes the code of `values` (flat, fp32 or fp64) and leaves in `values` what it loses. `code` may be longer.
void encode_signs(const torch::Tensor& values, std::span<std::byte> code);
/// to ← to + factor · q.
void add_signs(std::span<const std::byte> code, double factor, const torch::Tensor& to);

}  // namespace gradwatt::training
