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
constexpr int kStateLane = 9;  // of Communicator::exchange; strategies use those from 0 on

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

/// This rank's random generator, as bytes.
std::string random_state() {
  const auto state = at::detail::getDefaultCPUGenerator().get_state();
  return {static_cast<const char*>(state.data_ptr()), state.nbytes()};
}

std::string bytes_in(const NamedTensors& tensors) {
  std::string bytes;
  for (const auto& [name, tensor] : tensors) {
    const auto here = tensor.detach().to(at::kCPU).contiguous();
    bytes.append(static_cast<const char*>(here.data_ptr()), here.nbytes());
  }
  return bytes;
}

torch::Tensor tensor_of(const std::string& bytes) {
  auto tensor = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  std::ranges::copy(bytes, static_cast<char*>(tensor.data_ptr()));
  return tensor;
}

/// At rank 0 what every rank said: all_gather() would give all of it to everybody.
std::vector<std::string> gather(Communicator& ranks, std::string own) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(ranks.size()), 0);
  lengths[static_cast<std::size_t>(ranks.rank())] = static_cast<std::int64_t>(own.size());
  ranks.all_reduce(std::span(lengths), Sum::sum);
  std::vector<std::string> all;
  std::vector<Message> in, out;
  if (ranks.rank() > 0) {
    out.push_back({0, std::as_writable_bytes(std::span(own))});
  } else {
    all.push_back(std::move(own));
    for (std::size_t r = 1; r < lengths.size(); ++r) all.emplace_back(static_cast<std::size_t>(lengths[r]), '\0');
    for (std::size_t r = 1; r < all.size(); ++r)
      in.push_back({static_cast<int>(r), std::as_writable_bytes(std::span(all[r]))});
  }
  ranks.exchange(kStateLane, out, in);
  return all;
}

core::Result<void> restore_strategy(const std::map<std::string, torch::Tensor>& tensors, Strategy& strategy, int rank) {
  const torch::NoGradGuard no_grad;
  const auto state = strategy.state();
  std::size_t needed = 0;
  for (const auto& [name, tensor] : state) needed += tensor.nbytes();
  const auto found = tensors.find(fmt::format("strategy/{}", rank));
  const auto kept = found == tensors.end() ? 0 : found->second.nbytes();
  if (kept != needed)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("it keeps {} bytes of rank {}'s sync.strategy where this recipe needs {}; it was "
                                  "written with another strategy or number of ranks",
                                  kept, rank, needed));
  const char* from = kept == 0 ? nullptr : static_cast<const char*>(found->second.data_ptr());
  for (const auto& [name, tensor] : state) {
    auto here = at::empty(tensor.sizes(), tensor.scalar_type());
    std::copy_n(from, here.nbytes(), static_cast<char*>(here.data_ptr()));
    at::Tensor(tensor).copy_(here);
    from += here.nbytes();
  }
  return strategy.resumed();
}

}  // namespace

std::vector<RankState> gather_rank_states(Communicator& ranks, Strategy& strategy) {
  const auto random = gather(ranks, random_state()), kept = gather(ranks, bytes_in(strategy.state()));
  std::vector<RankState> all;
  for (std::size_t r = 0; r < random.size(); ++r) all.push_back({random[r], kept[r]});
  return all;
}

Snapshot snapshot_of(const TrainingParts& parts, const Place& place, const std::vector<RankState>& rank_states,
                     const std::string& recipe) {
  Snapshot snapshot;
  snapshot.tensors = everything_of(parts.model);
  for (const auto& [name, tensor] : parts.optimizer.state())
    snapshot.tensors.emplace_back(std::string(kOptimizer) + name, tensor);
  for (std::size_t r = 0; r < rank_states.size(); ++r) {
    snapshot.tensors.emplace_back(fmt::format("random/{}", r), tensor_of(rank_states[r].random));
    if (!rank_states[r].strategy.empty())
      snapshot.tensors.emplace_back(fmt::format("strategy/{}", r), tensor_of(rank_states[r].strategy));
  }
  const auto& plateau = parts.schedule.state();
  const auto scale = parts.scaler.state();
  snapshot.values = {{"recipe", recipe},
                     {"ranks", std::to_string(rank_states.size())},
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
  if (auto done = restore_strategy(tensors, parts.strategy, rank); !done) return core::fail(done.error());
  restore_random(tensors, rank);
  return Place{whole("epoch"), static_cast<std::uint64_t>(whole("position")), whole("updates")};
}

}  // namespace gradwatt::training
