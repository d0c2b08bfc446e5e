#include "gradwatt/training/strategies/sign_code.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gradwatt::training {
namespace {

constexpr std::size_t kScaleBytes = sizeof(float);

template <class T>
std::span<T> values_of(const torch::Tensor& tensor) {
  return {tensor.data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

template <class T>
void encode(std::span<T> values, std::span<std::byte> code) {
  double sum = 0;
  for (const T value : values) sum += static_cast<double>(std::abs(value));
  const auto scale = static_cast<float>(values.empty() ? 0 : sum / static_cast<double>(values.size()));
  std::memcpy(code.data(), &scale, kScaleBytes);
  auto bits = code.subspan(kScaleBytes);
  const T step = scale;
  for (std::size_t begin = 0; begin < values.size(); begin += 8) {
    unsigned byte = 0;
    const auto count = std::min<std::size_t>(8, values.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      T& value = values[begin + i];
      const bool positive = value >= 0;
      byte |= static_cast<unsigned>(positive) << i;
      value -= positive ? step : -step;
    }
    bits[begin / 8] = static_cast<std::byte>(byte);
  }
}

template <class T>
void add(std::span<const std::byte> code, double factor, std::span<T> to) {
  float scale = 0;
  std::memcpy(&scale, code.data(), kScaleBytes);
  const T step = static_cast<T>(factor * static_cast<double>(scale));
  const auto bits = code.subspan(kScaleBytes);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const bool positive = (std::to_integer<unsigned>(bits[i / 8]) >> (i % 8) & 1U) != 0;
    to[i] += positive ? step : -step;
  }
}

}  // namespace

std::size_t sign_code_bytes(std::int64_t elements) {
  return kScaleBytes + (static_cast<std::size_t>(elements) + 7) / 8;
}

void encode_signs(const torch::Tensor& values, std::span<std::byte> code) {
  values.scalar_type() == at::kDouble ? encode(values_of<double>(values), code)
                                      : encode(values_of<float>(values), code);
}

void add_signs(std::span<const std::byte> code, double factor, const torch::Tensor& to) {
  to.scalar_type() == at::kDouble ? add(code, factor, values_of<double>(to)) : add(code, factor, values_of<float>(to));
}

}  // namespace gradwatt::training
