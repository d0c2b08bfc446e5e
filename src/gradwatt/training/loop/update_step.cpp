#include "gradwatt/training/loop/update_step.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "gradwatt/training/loop/precision.hpp"

namespace gradwatt::training {
namespace {

core::Result<Batch> next_batch(Loader& loader, StepTimes& times) {
  const auto begin = StepMarks::now_ns();
  auto batch = loader.next();
  times.data_wait_ns += StepMarks::now_ns() - begin;
  if (!batch) return core::fail(batch.error());
  if (!*batch) return core::fail(core::Errc::io, "the data loader ended before the epoch did");
  return std::move(**batch);
}

/// A loss that is not finite must not reach the other ranks' weights: whoever has it says so before it hands over any
/// gradient. With fp16 it is an overflow, which every rank sees in the average and answers alike.
core::Result<void> check_loss(double loss, const Recipe& recipe) {
  if (std::isfinite(loss) || recipe.precision == Precision::fp16) return {};
  return core::fail(
      core::Errc::unusable_input,
      fmt::format("the loss of its batch became {}; lower schedule.rate, set run.clip, or look at the data", loss));
}

/// One forward and backward pass; the mean loss of the micro-batch. `last`: of the last micro-step alone.
core::Result<double> micro_step(const Recipe& recipe, Assembly& parts, const Batch& batch, const StepPlace* last,
                                StepTimes& times, Soundness& soundness) {
  const auto begin = StepMarks::now_ns();
  if (last != nullptr) parts.strategy->begin_step(*last);
  torch::Tensor loss;
  {
    const Autocast autocast(recipe.precision, parts.device.type());
    loss = parts.objective->loss(*parts.model, prepared(batch.input, recipe, parts.device),
                                 prepared(batch.target, recipe, parts.device));
  }
  const double value = loss.item<double>();
  if (auto sound = check_loss(value, recipe); !sound) return core::fail(sound.error());
  auto scaled = loss.div(static_cast<double>(recipe.accumulate)).mul(parts.scaler.scale());
  const auto forward_end = StepMarks::now_ns();
  if (last != nullptr) parts.strategy->before_backward(scaled);
  scaled.backward();
  if (last != nullptr) soundness = parts.strategy->finish();
  const auto end = StepMarks::now_ns();
  const auto exposed = last != nullptr ? parts.strategy->costs().exposed.count() : 0;
  times.forward_ns += forward_end - begin;
  times.backward_ns += end - forward_end - exposed;
  times.exposed_ns += exposed;
  return value;
}

bool is_narrow(const Recipe& recipe) {
  return recipe.precision == Precision::fp16 || recipe.precision == Precision::bf16;
}

/// With full precision nothing overflows by chance: what is not finite is a fault that every rank hears of.
core::Result<UpdateGuard> guard_of(const Recipe& recipe, const Soundness& soundness) {
  UpdateGuard guard{.clip = recipe.clip, .look_for_overflow = is_narrow(recipe)};
  if (!soundness.agreed) return guard;
  guard.overflow = soundness.bad_rank >= 0;
  if (*guard.overflow && !is_narrow(recipe))
    return core::fail(core::Errc::unusable_input,
                      fmt::format("the gradients of rank {} are not finite, found before anything of them was sent; "
                                  "lower schedule.rate, set run.clip, or look at the data",
                                  soundness.bad_rank));
  return guard;
}

}  // namespace

core::Result<UpdateResult> update_once(const Recipe& recipe, Assembly& parts, const StepPlace& place) {
  UpdateResult result;
  Soundness soundness;
  auto& times = result.times;
  times.begin_ns = StepMarks::now_ns();
  times.data_wait_ns = times.forward_ns = times.backward_ns = times.exposed_ns = 0;
  parts.optimizer->zero_gradients();
  for (std::int64_t micro = 0; micro < recipe.accumulate; ++micro) {
    const auto batch = next_batch(*parts.loader, times);
    if (!batch) return core::fail(batch.error());
    result.position_after = batch->position_after;
    const auto* last = micro + 1 == recipe.accumulate ? &place : nullptr;
    const auto loss = micro_step(recipe, parts, *batch, last, times, soundness);
    if (!loss) return core::fail(loss.error());
    result.loss += *loss / static_cast<double>(recipe.accumulate);
  }
  const auto before_update = StepMarks::now_ns();
  const auto guard = guard_of(recipe, soundness);
  if (!guard) return core::fail(guard.error());
  const auto waited_before = parts.strategy->costs().exposed;
  result.skipped = !parts.strategy->update({*parts.optimizer, parts.scaler, *guard, place.rate});
  times.end_ns = StepMarks::now_ns();
  const auto waited = (parts.strategy->costs().exposed - waited_before).count();
  times.exposed_ns += waited;
  times.optimizer_ns = times.end_ns - before_update - waited;
  if (parts.scaler.hopeless())
    return core::fail(core::Errc::unusable_input,
                      "the gradients overflow fp16 at any loss scale; use run.precision = \"bf16\", lower "
                      "schedule.rate, or look at the data");
  return result;
}

}  // namespace gradwatt::training
