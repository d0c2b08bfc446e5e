// What a harness does when a reader breaks its word: say which, and leave the process, so that the fuzzer keeps the
// input.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "gradwatt/core/result.hpp"

namespace gradwatt::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

/// Foreign bytes that are of no use: the code says so, and the text why.
inline void require_refusal(const core::Error& error) {
  require(error.code == core::Errc::unusable_input, "a refusal says unusable input");
  require(!error.message.empty(), "a refusal says why");
}

}  // namespace gradwatt::fuzz
