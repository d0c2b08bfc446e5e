#include "gradwatt/training/loop/assembly.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <thread>

#include "gradwatt/training/loop/precision.hpp"
#include "gradwatt/training/loop/synchronous_batch_norm.hpp"
#include "gradwatt/training/loop/threads.hpp"
#include "gradwatt/training/models/batch_norm.hpp"
#include "gradwatt/training/models/weights.hpp"

namespace gradwatt::training {
namespace {

std::int64_t default_threads(const Communicator& ranks) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::thread::hardware_concurrency()) / ranks.local_size());
}

NamedTensors trained_parameters(Model& model) {
  const auto unused = model.unused_parameters();
  NamedTensors named;
  for (const auto& item : model.named_parameters())
    if (item.value().requires_grad() && std::ranges::find(unused, item.key()) == unused.end())
      named.emplace_back(item.key(), item.value());
  return named;
}

NamedTensors buffers_of(Model& model) {
  NamedTensors named;
  for (const auto& item : model.named_buffers()) named.emplace_back(item.key(), item.value());
  return named;
}

core::Result<std::shared_ptr<Dataset>> dataset_of(const Recipe& recipe, Split split) {
  auto spec = recipe.data;
  spec.split = split;
  return make_dataset(spec);
}

SamplerSettings sampling_of(const Recipe& recipe, const Communicator& ranks, std::int64_t micro_batch) {
  SamplerSettings settings;
  settings.ranks = ranks.size();
  settings.rank = ranks.rank();
  settings.local_batch = static_cast<std::size_t>(micro_batch);
  settings.seed = recipe.seed;
  return settings;
}

core::Result<void> add_training_data(const Recipe& recipe, const Communicator& ranks, Assembly& parts) {
  auto data = dataset_of(recipe, Split::train);
  if (!data) return core::fail(data.error());
  const auto local = micro_batch(recipe, ranks.size());
  if (!local) return core::fail(local.error());
  parts.micro_batch = *local;
  parts.global_batch = *local * recipe.accumulate * ranks.size();
  auto settings = sampling_of(recipe, ranks, parts.micro_batch);
  settings.size = (*data)->size();
  if (recipe.samples_per_rank > 0) settings.samples_per_rank = static_cast<std::size_t>(recipe.samples_per_rank);
  auto sampler = DistributedSampler::make(settings);
  if (!sampler) return core::fail(sampler.error());
  parts.updates_per_epoch = static_cast<std::int64_t>(sampler->batches_per_epoch()) / recipe.accumulate;
  if (parts.updates_per_epoch == 0)
    return core::fail(core::Errc::wrong_use, fmt::format("an update needs {} examples and the data set has {}",
                                                         parts.global_batch, settings.size));
  parts.loader = std::make_unique<Loader>(*data, *sampler, recipe.loader);
  return {};
}

core::Result<void> add_validation_data(const Recipe& recipe, const Communicator& ranks, Assembly& parts) {
  auto data = dataset_of(recipe, Split::evaluation);
  if (!data) return core::fail(data.error());
  parts.validation = *data;
  auto settings = sampling_of(recipe, ranks, parts.micro_batch);
  settings.size = parts.validation->size();
  settings.shuffle = false;
  settings.remainder = Remainder::spread;
  auto sampler = DistributedSampler::make(settings);
  if (!sampler) return core::fail(sampler.error());
  parts.validation_loader = std::make_unique<Loader>(parts.validation, *sampler, recipe.loader);
  auto objective = make_objective(recipe, parts.validation);
  if (!objective) return core::fail(objective.error());
  parts.objective = std::move(*objective);
  return {};
}

/// What the recipe leaves open is as the data have it.
ModelSpec fitted(ModelSpec spec, const Dataset& data) {
  const auto shape = data.input_shape();
  if (spec.in_channels == 0) spec.in_channels = shape[0];
  spec.height = shape[1];
  spec.width = shape[2];
  if (spec.out_channels == 0) spec.out_channels = data.classes() > 0 ? data.classes() : data.target_shape()[0];
  return spec;
}

core::Result<void> add_model(const Recipe& recipe, Communicator& ranks, Assembly& parts) {
  auto model = make_model(fitted(recipe.model, *parts.validation), recipe.seed);
  if (!model) return core::fail(model.error());
  parts.model = *model;
  if (!recipe.weights.empty())
    if (auto loaded = load_weights(*parts.model, recipe.weights); !loaded) return loaded;
  parts.model->to(parts.device, recipe.precision == Precision::fp64 ? at::kDouble : at::kFloat);
  if (recipe.channels_last) {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : parts.model->parameters())
      if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
  }
  if (recipe.sync_batch_norm) compute_batch_norms_by(*parts.model, synchronous_batch_norm(ranks));
  parts.parameters = trained_parameters(*parts.model);
  return {};
}

core::Result<void> add_updates(const Recipe& recipe, Communicator& ranks, Assembly& parts) {
  auto optimizer = make_optimizer(recipe.optimizer, parts.parameters);
  if (!optimizer) return core::fail(optimizer.error());
  parts.optimizer = std::move(*optimizer);
  auto schedule = Schedule::create(recipe.schedule, parts.global_batch, recipe.epochs);
  if (!schedule) return core::fail(schedule.error());
  parts.schedule.emplace(std::move(*schedule));
  take_statistics_of_rank_zero(ranks, *parts.model);
  auto strategy = make_strategy(
      ranks, recipe.strategy,
      {.parameters = parts.parameters,
       .statistics = buffers_of(*parts.model),
       .options = recipe.sync,
       .optimizer = recipe.optimizer,
       .agree_each_step = recipe.clip > 0 || recipe.precision == Precision::fp16 || recipe.precision == Precision::bf16,
       .stepped = parts.optimizer.get()});
  if (!strategy) return core::fail(strategy.error());
  parts.strategy = std::move(*strategy);
  return {};
}

}  // namespace

core::Result<std::unique_ptr<Assembly>> assemble(const Recipe& recipe, Communicator& ranks) {
  use_threads(static_cast<int>(recipe.threads > 0 ? recipe.threads : default_threads(ranks)));
  at::manual_seed(recipe.seed + static_cast<std::uint64_t>(ranks.rank()));
  auto parts =
      std::make_unique<Assembly>(Assembly{.scaler = LossScaler({.enabled = recipe.precision == Precision::fp16})});
  if (torch::cuda::is_available())
    parts->device = torch::Device(at::kCUDA, static_cast<c10::DeviceIndex>(ranks.local_rank()));
  if (auto can = check_precision(recipe.precision, parts->device.type()); !can) return core::fail(can.error());
  if (auto done = add_training_data(recipe, ranks, *parts); !done) return core::fail(done.error());
  if (auto done = add_validation_data(recipe, ranks, *parts); !done) return core::fail(done.error());
  if (auto done = add_model(recipe, ranks, *parts); !done) return core::fail(done.error());
  if (auto done = add_updates(recipe, ranks, *parts); !done) return core::fail(done.error());
  return parts;
}

torch::Tensor prepared(const torch::Tensor& batch, const Recipe& recipe, torch::Device device) {
  auto moved = batch.to(device, /*non_blocking=*/true);
  if (recipe.precision == Precision::fp64 && moved.is_floating_point()) moved = moved.to(at::kDouble);
  if (recipe.channels_last && moved.dim() == 4) moved = moved.contiguous(at::MemoryFormat::ChannelsLast);
  return moved;
}

void take_statistics_of_rank_zero(Communicator& ranks, Model& model) { broadcast_tensors(ranks, buffers_of(model)); }

}  // namespace gradwatt::training
