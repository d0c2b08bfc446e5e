// What a recipe says about how its ranks exchange what they learn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gradwatt::training {

enum class StrategyName { all_reduce, two_level, one_bit, local_sgd, stale_synchronous, daso };

struct StrategySpec {
  StrategyName name = StrategyName::all_reduce;
  /// Above 0: so many consecutive ranks count as one host, whatever hosts they are on.
  std::int64_t ranks_per_host = 0;
  /// one-bit and local-sgd: updates at the start that average plainly (1-bit Adam's warm-up, post-local SGD).
  std::int64_t plain_updates = 0;
  std::int64_t period = 8;     ///< local-sgd: H, updates from one average of parameters to the next
  std::int64_t staleness = 1;  ///< stale-synchronous: s, updates that a rank may be ahead of what it has seen
  /// daso: epochs at the start and at the end that exchange every batch, and the largest number of batches between two
  /// exchanges. Defaults: the paper's.
  std::int64_t warmup_epochs = 4, cooldown_epochs = 4, most_skips = 8;
};

[[nodiscard]] std::string_view word_of(StrategyName name);

/// What else the recipe asks for, as far as strategies do not go with all of it.
struct Surroundings {
  bool narrow_wire = false, fp16 = false, clip = false, sync_batch_norm = false;
};

/// One line on what does not go together, and what to do; nothing when all does.
[[nodiscard]] std::optional<std::string> conflict(const StrategySpec& spec, const Surroundings& around);

}  // namespace gradwatt::training
