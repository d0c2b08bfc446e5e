#include "gradwatt/training/loop/training_state.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace gradwatt::training {
namespace {

constexpr std::string_view kOptimizer = "optimizer/";

NamedTensors everything_of(Model& model) {
  NamedTensors named;
  for (const auto& item : model.named_parameters()) named.emplace_back("model/" + item.key(), item.value());
  for (const auto& item : model.named_buffers()) named.emplace_back("model/" + item.key(), item.value());
  return named;
}

core::Result<void> restore_model(const std::map<std::string, torch::Tensor>& tensors, Model& model) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : everything_of(model)) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.sizes() != tensor.sizes())
      return core::fail(core::Errc::unusable_input,
                        fmt::format("it has no {} of this model's shape; it was written with another recipe", name));
    at::Tensor(tensor).copy_(found->second);
  }
  return {};
}

void restore_random(const std::map<std::string, torch::Tensor>& tensors, int rank) {
  auto generator = at::detail::getDefaultCPUGenerator();
  if (const auto found = tensors.find(fmt::format("random/{}", rank)); found != tensors.end())
    generator.set_state(found->second.clone());
}

}  // namespace

std::string random_state() {
  const auto state = at::detail::getDefaultCPUGenerator().get_state();
  return {static_cast<const char*>(state.data_ptr()), state.nbytes()};
}

Snapshot snapshot_of(const TrainingParts& parts, const Place& place, const std::vector<std::string>& random_states,
                     const std::string& recipe) {
  Snapshot snapshot;
  snapshot.tensors = everything_of(parts.model);
  for (const auto& [name, tensor] : parts.optimizer.state())
    snapshot.tensors.emplace_back(std::string(kOptimizer) + name, tensor);
  for (std::size_t r = 0; r < random_states.size(); ++r) {
    auto state = at::empty({static_cast<std::int64_t>(random_states[r].size())}, at::kByte);
    std::ranges::copy(random_states[r], static_cast<char*>(state.data_ptr()));
    snapshot.tensors.emplace_back(fmt::format("random/{}", r), state);
  }
  const auto& plateau = parts.schedule.state();
  const auto scale = parts.scaler.state();
  snapshot.values = {{"recipe", recipe},
                     {"ranks", std::to_string(random_states.size())},
                     {"epoch", std::to_string(place.epoch)},
                     {"position", std::to_string(place.position)},
                     {"updates", std::to_string(place.updates)},
                     {"schedule.scale", exact(plateau.scale)},
                     {"schedule.best", exact(plateau.best)},
                     {"schedule.bad_epochs", std::to_string(plateau.bad_epochs)},
                     {"schedule.cooling", std::to_string(plateau.cooling)},
                     {"schedule.any", plateau.any ? "1" : "0"},
                     {"scaler.scale", exact(scale.scale)},
                     {"scaler.good_steps", std::to_string(scale.good_steps)}};
  return snapshot;
}

core::Result<Place> restore(const Snapshot& snapshot, const TrainingParts& parts, int rank) {
  const std::map<std::string, torch::Tensor> tensors(snapshot.tensors.begin(), snapshot.tensors.end());
  if (auto done = restore_model(tensors, parts.model); !done) return core::fail(done.error());
  NamedTensors state;
  for (const auto& [name, tensor] : snapshot.tensors)
    if (name.starts_with(kOptimizer)) state.emplace_back(name.substr(kOptimizer.size()), tensor);
  if (auto done = parts.optimizer.load(state); !done) return core::fail(done.error());
  const auto real = [&](const char* name) {
    const auto found = snapshot.values.find(name);
    return found == snapshot.values.end() ? 0.0 : std::strtod(found->second.c_str(), nullptr);
  };
  const auto whole = [&](const char* name) { return static_cast<std::int64_t>(real(name)); };
  parts.schedule.restore({real("schedule.scale"), real("schedule.best"), whole("schedule.bad_epochs"),
                          whole("schedule.cooling"), whole("schedule.any") != 0});
  parts.scaler.restore({real("scaler.scale"), whole("scaler.good_steps")});
  restore_random(tensors, rank);
  return Place{whole("epoch"), static_cast<std::uint64_t>(whole("position")), whole("updates")};
}

}  // namespace gradwatt::training
