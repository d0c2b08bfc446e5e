// FNV-1a, 64 bits: a short name for a long one, and a quick look whether two arrays are the same. Not against malice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gradwatt::core {

inline constexpr std::uint64_t kHashBegin = 14695981039346656037U;

/// `hash`: of what stands before, so that pieces can be hashed one after the other.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t hash = kHashBegin) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}
[[nodiscard]] inline std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t hash = kHashBegin) {
  for (const auto byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211U;
  return hash;
}

}  // namespace gradwatt::core
