#include "gradwatt/training/strategies/agreement.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

namespace gradwatt::training {

bool all_finite(const torch::Tensor& flat) {
  // 0 · x is 0 for every x but those that are not finite.
  return flat.numel() == 0 || std::isfinite(flat.mul(0).sum().item<double>());
}

Soundness agree(Communicator& ranks, bool own_are_finite) {
  const auto bad = ranks.least(own_are_finite ? ranks.size() : ranks.rank());
  return {.agreed = true, .bad_rank = bad < ranks.size() ? static_cast<int>(bad) : -1};
}

tl::unexpected<core::Error> not_finite(int rank) {
  return core::fail(
      core::Errc::unusable_input,
      fmt::format("what rank {} has trained is not finite any more, found before anything of it was sent; "
                  "lower schedule.rate, set run.clip, or look at the data",
                  rank));
}

}  // namespace gradwatt::training
