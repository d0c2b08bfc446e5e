#include "gradwatt/training/loop/trainer.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>

#include "gradwatt/training/loop/assembly.hpp"
#include "gradwatt/training/loop/checkpoint_keeper.hpp"
#include "gradwatt/training/loop/evaluation.hpp"
#include "gradwatt/training/loop/rank_equality.hpp"
#include "gradwatt/training/loop/training_facts.hpp"
#include "gradwatt/training/loop/update_step.hpp"

namespace gradwatt::training {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

class Trainer::Impl {
 public:
  Impl(const Recipe& recipe, Communicator& ranks, Options options)
      : recipe_(recipe),
        ranks_(ranks),
        options_(std::move(options)),
        marks_(options_.marks_folder, ranks.rank(), ranks.local_rank(), ranks.size()) {}

  core::Result<void> set_up() {
    auto parts = assemble(recipe_, ranks_);
    if (!parts) return core::fail(parts.error());
    parts_ = std::move(*parts);
    keeper_.emplace(recipe_, ranks_, parts_->state(), marks_);
    if (!options_.resume) return {};
    const auto place = keeper_->resume();
    if (!place) return core::fail(place.error());
    outcome_.resumed = place->has_value();
    if (*place) place_ = **place;
    return {};
  }

  core::Result<Outcome> run() {
    const auto begin = StepMarks::now_ns();
    tell_setup(marks_, recipe_, ranks_, *parts_);
    for (; place_.epoch < recipe_.epochs && !enough(); ++place_.epoch, place_.position = 0) {
      if (auto done = train_epoch(); !done) return core::fail(done.error());
      if (enough() && place_.position > 0) break;  // the place in the epoch stays for who resumes
      if (auto done = end_epoch(); !done) return core::fail(done.error());
    }
    if (auto settled = settle(); !settled) return core::fail(settled.error());
    if (recipe_.evaluate_every_epochs > 0 && outcome_.metrics.empty())
      if (auto judged = judge(); !judged) return core::fail(judged.error());  // the schedule must not hear of it
    if (auto kept = keeper_->at_end(place_); !kept) return core::fail(kept.error());
    outcome_.epochs = place_.epoch;
    outcome_.total_s = seconds(StepMarks::now_ns() - begin);
    outcome_.bytes_sent = parts_->strategy->costs().bytes;
    outcome_.messages = parts_->strategy->costs().messages;
    outcome_.parameters_hash = hash_of(parts_->parameters);
    tell_work(marks_, ranks_, outcome_.updates, outcome_.samples);
    return outcome_;
  }

 private:
  [[nodiscard]] bool enough() const { return recipe_.steps > 0 && place_.updates >= recipe_.steps; }

  core::Result<void> train_epoch() {
    const auto begin = StepMarks::now_ns();
    parts_->model->train();
    if (auto begun = parts_->loader->begin_epoch(static_cast<std::uint64_t>(place_.epoch), place_.position); !begun)
      return begun;
    const auto first = static_cast<std::int64_t>(place_.position) / parts_->global_batch;
    auto update = first;
    for (; update < parts_->updates_per_epoch && !enough(); ++update)
      if (auto done = step(update); !done) return done;
    marks_.epoch(place_.epoch, begin, StepMarks::now_ns(), (update - first) * local_batch());
    outcome_.train_s += seconds(StepMarks::now_ns() - begin);
    if (update == parts_->updates_per_epoch) place_.position = 0;
    return {};
  }

  core::Result<void> step(std::int64_t update) {
    const double epoch_part = static_cast<double>(place_.epoch) +
                              static_cast<double>(update) / static_cast<double>(parts_->updates_per_epoch);
    const double rate = parts_->schedule->rate(epoch_part);
    const auto done = update_once(recipe_, *parts_,
                                  {.epoch = place_.epoch,
                                   .epochs = recipe_.epochs,
                                   .update = update,
                                   .updates_in_epoch = parts_->updates_per_epoch,
                                   .updates_before = place_.updates,
                                   .rate = rate,
                                   .loss_scale = parts_->scaler.scale()});
    if (!done)
      return core::fail(done.error().code, fmt::format("{} (update {}, epoch {})", done.error().message,
                                                       place_.updates + 1, place_.epoch + 1));
    place_.position = done->position_after;
    ++place_.updates;
    account(*done);
    show_update(*done, update, rate);
    epoch_loss_ += done->loss, ++epoch_updates_;
    if (parts_->strategy->keeps_ranks_equal())
      if (auto same = verify_ranks(); !same) return same;
    return update + 1 < parts_->updates_per_epoch ? keeper_->after_update(place_) : core::Result<void>{};
  }

  core::Result<void> verify_ranks() {
    if (!recipe_.verify_ranks || same_on_all_ranks(ranks_, parts_->parameters)) return {};
    return core::fail(core::Errc::io,
                      fmt::format("after update {} the ranks' parameters are not the same", place_.updates));
  }

  /// The ranks become one model again, whatever way they went.
  core::Result<void> settle() {
    if (auto settled = parts_->strategy->settle(); !settled) return settled;
    return verify_ranks();
  }

  core::Result<void> end_epoch() {
    if (auto settled = settle(); !settled) return settled;
    double loss = epoch_loss_ / static_cast<double>(std::max<std::int64_t>(1, epoch_updates_)) / ranks_.size();
    ranks_.all_reduce(std::span(&loss, 1), Sum::sum);
    parts_->strategy->epoch_ended(loss);
    epoch_loss_ = 0, epoch_updates_ = 0;
    if (recipe_.evaluate_every_epochs > 0 && (place_.epoch + 1) % recipe_.evaluate_every_epochs == 0) {
      if (auto judged = judge(); !judged) return judged;
      parts_->schedule->epoch_ended(value_of(outcome_.metrics, "loss"));
      show(outcome_.metrics);
    }
    return keeper_->after_epoch({place_.epoch + 1, 0, place_.updates});
  }

  core::Result<void> judge() {
    const auto begin = StepMarks::now_ns();
    auto metrics = evaluate(recipe_, ranks_, *parts_);
    if (!metrics) return core::fail(metrics.error());
    outcome_.metrics = std::move(*metrics);
    marks_.region("evaluation", begin);
    tell_results(marks_, ranks_, outcome_.metrics);
    return {};
  }

  [[nodiscard]] std::int64_t local_batch() const { return parts_->micro_batch * recipe_.accumulate; }

  void account(const UpdateResult& done) {
    ++outcome_.updates;
    outcome_.samples += parts_->global_batch;
    outcome_.skipped_updates += done.skipped ? 1 : 0;
    outcome_.data_wait_s += seconds(done.times.data_wait_ns);
    outcome_.exposed_s += seconds(done.times.exposed_ns);
    marks_.step(done.times, local_batch());
  }

  void show_update(const UpdateResult& done, std::int64_t update, double rate) {
    constexpr double kMemory = 0.9;  // of the mean over the last steps
    const double step_s = seconds(done.times.end_ns - done.times.begin_ns);
    recent_step_s_ = recent_step_s_ > 0 ? kMemory * recent_step_s_ + (1 - kMemory) * step_s : step_s;
    progress_ = {.epoch = place_.epoch,
                 .epochs = recipe_.epochs,
                 .step = update + 1,
                 .steps_per_epoch = parts_->updates_per_epoch,
                 .loss = done.loss,
                 .learning_rate = rate,
                 .samples_per_s = static_cast<double>(parts_->global_batch) / recent_step_s_,
                 .times = done.times,
                 .evaluated = std::nullopt};
    show(std::nullopt);
  }

  void show(std::optional<Metrics> metrics) {
    if (ranks_.rank() != 0 || !options_.show) return;
    progress_.evaluated = std::move(metrics);
    options_.show(progress_);
  }

  Recipe recipe_;
  Communicator& ranks_;
  Options options_;
  StepMarks marks_;
  std::unique_ptr<Assembly> parts_;
  std::optional<CheckpointKeeper> keeper_;
  Place place_;
  double recent_step_s_ = 0, epoch_loss_ = 0;  // the latter: sum over this run's updates of the epoch
  std::int64_t epoch_updates_ = 0;
  Progress progress_;
  Outcome outcome_;
};

Trainer::Trainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trainer::~Trainer() = default;

core::Result<std::unique_ptr<Trainer>> Trainer::create(const Recipe& recipe, Communicator& ranks, Options options) {
  auto impl = std::make_unique<Impl>(recipe, ranks, std::move(options));
  if (auto ready = impl->set_up(); !ready) return core::fail(ready.error());
  return std::unique_ptr<Trainer>(new Trainer(std::move(impl)));
}

core::Result<Outcome> Trainer::run() {
  // What LibTorch throws (out of memory, a shape that does not fit, a gradient that did not come) ends here.
  try {
    return impl_->run();
  } catch (const c10::Error& error) {
    return core::fail(core::Errc::io, std::string(error.what_without_backtrace()).substr(0, 500));
  } catch (const std::exception& error) {
    return core::fail(core::Errc::io, error.what());
  }
}

}  // namespace gradwatt::training
