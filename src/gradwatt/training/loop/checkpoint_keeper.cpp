#include "gradwatt/training/loop/checkpoint_keeper.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "gradwatt/training/loop/assembly.hpp"

namespace gradwatt::training {

CheckpointKeeper::CheckpointKeeper(const Recipe& recipe, Communicator& ranks, TrainingParts parts, StepMarks& marks)
    : recipe_(recipe), ranks_(ranks), parts_(parts), marks_(marks) {
  if (!recipe.checkpoint.empty()) file_.emplace(recipe.checkpoint);
}

core::Result<void> CheckpointKeeper::after_update(const Place& place) {
  if (!file_ || recipe_.checkpoint_every_steps == 0) return {};
  if (place.updates % recipe_.checkpoint_every_steps != 0) return {};
  if (auto saved = save(place); !saved) return saved;
  return heed_errors();
}

core::Result<void> CheckpointKeeper::after_epoch(const Place& place) {
  if (!file_) return {};
  if (place.epoch % recipe_.checkpoint_every_epochs == 0)
    if (auto saved = save(place); !saved) return saved;
  return heed_errors();
}

core::Result<void> CheckpointKeeper::at_end(const Place& place) {
  if (!file_) return {};
  if (kept_at_ != place.updates)
    if (auto saved = save(place); !saved) return saved;
  file_->wait();
  return heed_errors();
}

core::Result<std::optional<Place>> CheckpointKeeper::resume() {
  if (!file_ || !std::filesystem::exists(file_->file())) return std::nullopt;
  auto snapshot = load_snapshot(file_->file());
  if (!snapshot) return core::fail(snapshot.error());
  const auto place = restore(*snapshot, parts_, ranks_.rank());
  if (!place)
    return core::fail(place.error().code, fmt::format("{}: {}", file_->file().string(), place.error().message));
  return std::optional(*place);
}

core::Result<void> CheckpointKeeper::save(const Place& place) {
  const auto begin = StepMarks::now_ns();
  kept_at_ = place.updates;
  if (auto settled = parts_.strategy.settle(); !settled) return settled;
  take_statistics_of_rank_zero(ranks_, parts_.model);
  const auto rank_states = gather_rank_states(ranks_, parts_.strategy);
  if (ranks_.rank() != 0) return {};
  file_->save(snapshot_of(parts_, place, rank_states, recipe_.name));
  marks_.region("checkpoint", begin);
  return {};
}

/// Rank 0's trouble is everybody's.
core::Result<void> CheckpointKeeper::heed_errors() {
  std::string trouble;
  if (ranks_.rank() == 0)
    if (const auto error = file_->take_error()) trouble = error->message;
  trouble = ranks_.broadcast(trouble, 0);
  if (trouble.empty()) return {};
  const auto text =
      fmt::format("the checkpoint could not be written by rank 0: {}; the one before it is intact", trouble);
  if (recipe_.stop_on_checkpoint_error) return core::fail(core::Errc::io, text);
  if (ranks_.rank() == 0) fmt::print(stderr, "gradwatt train: {}; the training goes on\n", text);
  return {};
}

}  // namespace gradwatt::training
