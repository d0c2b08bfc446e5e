// The learning rate over a run: linear scaling with the global batch, warm-up, then a rule. No tensors: a value a step.
//
// Linear scaling and warm-up after Goyal et al. 2017 (1706.02677); the plateau rule is PyTorch's ReduceLROnPlateau.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

struct ScheduleSpec {
  std::string name = "constant";     ///< constant, plateau, cosine, multistep
  double rate = 0.1;                 ///< at the reference batch
  std::int64_t reference_batch = 0;  ///< 0: `rate` is meant for the global batch as it is
  double warmup_epochs = 0;
  bool warmup_by_epoch = false;  ///< steps once an epoch, as the KIT energy study does; false: every step
  double factor = 0.1;           ///< plateau, multistep
  std::int64_t patience = 10;    ///< plateau: epochs without progress that are allowed
  double threshold = 1e-4;       ///< plateau: relative progress that counts
  std::int64_t cooldown = 0;     ///< plateau
  double min_rate = 0;
  std::vector<double> milestones;  ///< multistep: epochs
};

class Schedule {
 public:
  /// Errors: wrong_use, naming the value.
  static core::Result<Schedule> create(const ScheduleSpec& spec, std::int64_t global_batch, std::int64_t epochs);

  /// Learning rate of a step, `epoch` counted in parts (2.5: the middle of the third).
  [[nodiscard]] double rate(double epoch) const;
  /// Plateau: `metric` of the validation set, smaller is better, the same number on every rank.
  void epoch_ended(double metric);
  /// The rate after warm-up before any rule has acted.
  [[nodiscard]] double peak() const { return peak_; }

  /// What a resumed run needs.
  struct State {
    double scale = 1;  ///< that plateau has come to
    double best = 0;
    std::int64_t bad_epochs = 0, cooling = 0;
    bool any = false;
  };
  [[nodiscard]] const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  ScheduleSpec spec_;
  double peak_ = 0;
  double start_ = 0;  // where warm-up begins
  double epochs_ = 0;
  State state_;
};

[[nodiscard]] std::vector<std::string_view> schedule_names();

}  // namespace gradwatt::training
