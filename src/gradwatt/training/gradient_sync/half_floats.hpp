// The two 2-byte floats that gradients may travel in. Sums are made in fp32 and rounded to nearest even.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>

namespace gradwatt::training {

[[nodiscard]] inline float from_bf16(std::uint16_t bits) { return c10::detail::f32_from_bits(bits); }
[[nodiscard]] inline std::uint16_t to_bf16(float value) { return c10::detail::round_to_nearest_even(value); }
[[nodiscard]] inline float from_fp16(std::uint16_t bits) { return c10::detail::fp16_ieee_to_fp32_value(bits); }
[[nodiscard]] inline std::uint16_t to_fp16(float value) { return c10::detail::fp16_ieee_from_fp32_value(value); }

[[nodiscard]] inline std::uint16_t add_bf16(std::uint16_t a, std::uint16_t b) {
  return to_bf16(from_bf16(a) + from_bf16(b));
}
[[nodiscard]] inline std::uint16_t add_fp16(std::uint16_t a, std::uint16_t b) {
  return to_fp16(from_fp16(a) + from_fp16(b));
}

}  // namespace gradwatt::training
