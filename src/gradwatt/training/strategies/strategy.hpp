// How what the ranks learn becomes one model: the interface that the training loop calls, whatever the strategy.
//
// An update:  begin_step() before the forward pass of the last micro-step, before_backward() with its output, backward,
// finish(), update(). Micro-steps that do not communicate leave all but the last out. Between epochs, before a
// checkpoint and at the end: settle(). All of these are collectives: every rank calls the same in the same order.
//
// Each strategy has its own file beside this one, counts what it sends, and names the function of planning/collectives
// that says what it costs: counters and cost are compared in tests, to the byte.
#pragma once

#include <memory>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/collectives/cost.hpp"
#include "gradwatt/training/gradient_sync/gradient_sync.hpp"
#include "gradwatt/training/optimisation/guarded_update.hpp"
#include "gradwatt/training/strategies/courier.hpp"
#include "gradwatt/training/strategies/strategy_spec.hpp"

namespace gradwatt::training {

/// Where the update stands, and in which units its gradients are.
struct StepPlace {
  std::int64_t epoch = 0, epochs = 1;
  std::int64_t update = 0, updates_in_epoch = 1;  ///< within the epoch
  std::int64_t updates_before = 0;                ///< since the start of the training
  double rate = 0;                                ///< learning rate
  double loss_scale = 1;                          ///< that the gradients are multiplied with
};

/// What the ranks know together about the gradients of a step.
struct Soundness {
  bool agreed = false;  ///< false: the ranks see the same averages and each finds out alone
  int bad_rank = -1;    ///< lowest rank with a gradient that is not finite; −1: none
};

/// What an update is made with.
struct Updating {
  Optimizer& optimizer;
  LossScaler& scaler;
  UpdateGuard guard;
  double rate = 0;
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual void begin_step(const StepPlace& place) = 0;
  virtual void before_backward(const torch::Tensor& /*output*/) {}
  /// After the backward pass. Where some rank's gradient is not finite nothing was exchanged or kept of this step.
  virtual Soundness finish() = 0;
  /// Applies what came of the step's gradients. False: it was left out, on all ranks alike.
  virtual bool update(const Updating& with);

  /// Ends what is under way and makes parameters (and floating batch-norm statistics, where ranks went their own ways)
  /// the same on all ranks. Errors: unusable_input on all ranks, when some rank has gone to what is not finite.
  virtual core::Result<void> settle() { return {}; }
  /// `mean_loss`: of the epoch's training batches on all ranks. Comes after settle().
  virtual void epoch_ended(double /*mean_loss*/) {}
  /// After an update, without settle(): do all ranks have bitwise the same parameters?
  [[nodiscard]] virtual bool keeps_ranks_equal() const { return true; }

  /// Of this rank: what a resumed run needs, the tensors themselves. Taken and filled after settle().
  [[nodiscard]] virtual NamedTensors state() { return {}; }
  /// State and parameters were filled from a checkpoint. Errors: those of the optimizer's state.
  virtual core::Result<void> resumed() { return {}; }
  /// Of the last step, and of all steps.
  [[nodiscard]] virtual GradientSync::Costs costs() const = 0;
  /// Sent by this rank so far; nothing where a library does the sending.
  [[nodiscard]] virtual std::optional<Counters> counters() const { return std::nullopt; }
  /// Of one update as planned, mean over updates and ranks.
  [[nodiscard]] virtual planning::CollectiveCost cost(const planning::Level& node,
                                                      const planning::Level& rail) const = 0;
};

/// `times` with bytes and messages of the counters.
[[nodiscard]] GradientSync::Costs with_counters(GradientSync::Costs times, const Counters& counters);

struct StrategyParts {
  NamedTensors parameters;  ///< those that get a gradient in every step, in an order that all ranks share
  NamedTensors statistics;  ///< running statistics of batch norms
  SyncOptions options;      ///< of "all-reduce"; bucket sizes of "one-bit"
  OptimizerSpec optimizer;
  bool agree_each_step = false;  ///< updates may be left out (16-bit floats, clipping): never by one rank alone
  Optimizer* stepped = nullptr;  ///< the loop's own: part of the state where ranks go their own ways
};

/// Parameters become rank 0's. A rank alone exchanges nothing, whatever the strategy. Errors: wrong_use when the ranks'
/// parameters differ, or the strategy cannot work with so many ranks on these hosts, with the reason.
[[nodiscard]] core::Result<std::unique_ptr<Strategy>> make_strategy(Communicator& ranks, const StrategySpec& spec,
                                                                    StrategyParts parts);

}  // namespace gradwatt::training
