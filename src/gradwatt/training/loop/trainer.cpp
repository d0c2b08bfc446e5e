#include "gradwatt/training/loop/trainer.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "gradwatt/core/hash.hpp"
#include "gradwatt/training/data/loader.hpp"
#include "gradwatt/training/gradient_sync/gradient_sync.hpp"
#include "gradwatt/training/loop/checkpoint.hpp"
#include "gradwatt/training/loop/precision.hpp"
#include "gradwatt/training/loop/synchronous_batch_norm.hpp"
#include "gradwatt/training/loop/threads.hpp"
#include "gradwatt/training/loop/training_state.hpp"
#include "gradwatt/training/models/batch_norm.hpp"
#include "gradwatt/training/models/weights.hpp"
#include "gradwatt/training/optimisation/gradients.hpp"

namespace gradwatt::training {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

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

}  // namespace

std::uint64_t hash_of(const NamedTensors& tensors) {
  std::uint64_t hash = core::kHashBegin;
  for (const auto& [name, tensor] : tensors) {
    const auto here = tensor.detach().to(at::kCPU).contiguous();
    hash = core::hash_of(std::span(static_cast<const std::byte*>(here.data_ptr()), here.nbytes()), hash);
  }
  return hash;
}

class Trainer::Impl {
 public:
  Impl(const Recipe& recipe, Communicator& ranks, Options options)
      : recipe_(recipe),
        ranks_(ranks),
        options_(std::move(options)),
        marks_(options_.marks_folder, ranks.rank(), ranks.local_rank(), ranks.size()),
        scaler_({.enabled = recipe.precision == Precision::fp16}) {}

  core::Result<void> set_up() {
    use_threads(static_cast<int>(recipe_.threads > 0 ? recipe_.threads : default_threads(ranks_)));
    at::manual_seed(recipe_.seed + static_cast<std::uint64_t>(ranks_.rank()));
    if (torch::cuda::is_available())
      device_ = torch::Device(at::kCUDA, static_cast<c10::DeviceIndex>(ranks_.local_rank()));
    if (auto can = check_precision(recipe_.precision, device_.type()); !can) return can;
    for (auto part : {&Impl::set_up_data, &Impl::set_up_model, &Impl::set_up_updates})
      if (auto done = (this->*part)(); !done) return done;
    if (options_.resume && !recipe_.checkpoint.empty() && std::filesystem::exists(recipe_.checkpoint)) return resume();
    return {};
  }

  core::Result<Outcome> run() {
    const auto begin = StepMarks::now_ns();
    declare();
    for (; epoch_ < recipe_.epochs && !enough(); ++epoch_, position_ = 0) {
      if (auto done = train_epoch(); !done) return core::fail(done.error());
      if (enough() && position_ > 0) break;  // the place in the epoch stays for who resumes
      if (recipe_.evaluate_every_epochs > 0 && (epoch_ + 1) % recipe_.evaluate_every_epochs == 0)
        if (auto judged = judge(); !judged) return core::fail(judged.error());
      if (auto kept = keep_at_epoch_end(); !kept) return core::fail(kept.error());
    }
    if (recipe_.evaluate_every_epochs > 0 && outcome_.metrics.empty()) {
      // Not the end of an epoch: the schedule must not hear of it.
      auto metrics = evaluate();
      if (!metrics) return core::fail(metrics.error());
      outcome_.metrics = *metrics;
    }
    if (checkpoint_) {
      if (kept_at_ != updates_) save(epoch_, position_);
      checkpoint_->wait();
      if (auto kept = heed_checkpoint_errors(); !kept) return core::fail(kept.error());
    }
    outcome_.epochs = epoch_;
    outcome_.total_s = seconds(StepMarks::now_ns() - begin);
    outcome_.bytes_sent = sync_->costs().bytes;
    outcome_.messages = sync_->costs().messages;
    outcome_.parameters_hash = hash_of(parameters_);
    return outcome_;
  }

 private:
  core::Result<void> set_up_data() {
    auto spec = recipe_.data;
    spec.split = Split::train;
    auto train = make_dataset(spec);
    if (!train) return core::fail(train.error());
    spec.split = Split::evaluation;
    auto validation = make_dataset(spec);
    if (!validation) return core::fail(validation.error());
    validation_ = *validation;
    const auto local = micro_batch(recipe_, ranks_.size());
    if (!local) return core::fail(local.error());
    micro_batch_ = *local;
    SamplerSettings settings;
    settings.size = (*train)->size();
    settings.ranks = ranks_.size();
    settings.rank = ranks_.rank();
    settings.local_batch = static_cast<std::size_t>(micro_batch_);
    settings.seed = recipe_.seed;
    if (recipe_.samples_per_rank > 0) settings.samples_per_rank = static_cast<std::size_t>(recipe_.samples_per_rank);
    auto sampler = DistributedSampler::make(settings);
    if (!sampler) return core::fail(sampler.error());
    updates_per_epoch_ = static_cast<std::int64_t>(sampler->batches_per_epoch()) / recipe_.accumulate;
    if (updates_per_epoch_ == 0)
      return core::fail(core::Errc::wrong_use,
                        fmt::format("an update needs {} examples and the data set has {}",
                                    micro_batch_ * recipe_.accumulate * ranks_.size(), settings.size));
    loader_ = std::make_unique<Loader>(*train, *sampler, recipe_.loader);
    settings.size = validation_->size();
    settings.shuffle = false;
    settings.remainder = Remainder::spread;
    settings.samples_per_rank = std::nullopt;
    auto spread = DistributedSampler::make(settings);
    if (!spread) return core::fail(spread.error());
    validation_loader_ = std::make_unique<Loader>(validation_, *spread, recipe_.loader);
    auto objective = make_objective(recipe_, validation_);
    if (!objective) return core::fail(objective.error());
    objective_ = std::move(*objective);
    return {};
  }

  core::Result<void> set_up_model() {
    auto spec = recipe_.model;
    const auto shape = validation_->input_shape();
    if (spec.in_channels == 0) spec.in_channels = shape[0];
    spec.height = shape[1];
    spec.width = shape[2];
    if (spec.out_channels == 0)
      spec.out_channels = validation_->classes() > 0 ? validation_->classes() : validation_->target_shape()[0];
    auto model = make_model(spec, recipe_.seed);
    if (!model) return core::fail(model.error());
    model_ = *model;
    if (!recipe_.weights.empty())
      if (auto loaded = load_weights(*model_, recipe_.weights); !loaded) return loaded;
    model_->to(device_, recipe_.precision == Precision::fp64 ? at::kDouble : at::kFloat);
    if (recipe_.channels_last) {
      const torch::NoGradGuard no_grad;
      for (auto& parameter : model_->parameters())
        if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
    }
    if (recipe_.sync_batch_norm) compute_batch_norms_by(*model_, synchronous_batch_norm(ranks_));
    parameters_ = trained_parameters(*model_);
    return {};
  }

  core::Result<void> set_up_updates() {
    auto optimizer = make_optimizer(recipe_.optimizer, parameters_);
    if (!optimizer) return core::fail(optimizer.error());
    optimizer_ = std::move(*optimizer);
    auto schedule = Schedule::create(recipe_.schedule, global_batch(), recipe_.epochs);
    if (!schedule) return core::fail(schedule.error());
    schedule_.emplace(std::move(*schedule));
    broadcast_tensors(ranks_, buffers_of(*model_));
    auto sync = make_gradient_sync(ranks_, parameters_, recipe_.sync);
    if (!sync) return core::fail(sync.error());
    sync_ = std::move(*sync);
    if (!recipe_.checkpoint.empty()) checkpoint_.emplace(recipe_.checkpoint);
    return {};
  }

  [[nodiscard]] std::int64_t global_batch() const { return micro_batch_ * recipe_.accumulate * ranks_.size(); }
  [[nodiscard]] bool enough() const { return recipe_.steps > 0 && updates_ >= recipe_.steps; }

  void declare() {
    marks_.fact("job.framework", std::string("gradwatt train"));
    const auto left = recipe_.epochs * updates_per_epoch_;
    marks_.fact("job.total_steps", static_cast<double>(recipe_.steps > 0 ? std::min(recipe_.steps, left) : left));
  }

  core::Result<void> train_epoch() {
    const auto begin = StepMarks::now_ns();
    model_->train();
    auto begun = loader_->begin_epoch(static_cast<std::uint64_t>(epoch_), position_);
    if (!begun) return begun;
    const auto micro_global = static_cast<std::uint64_t>(micro_batch_) * static_cast<std::uint64_t>(ranks_.size());
    auto update =
        static_cast<std::int64_t>(position_ / (micro_global * static_cast<std::uint64_t>(recipe_.accumulate)));
    const auto first = update;
    for (; update < updates_per_epoch_ && !enough(); ++update) {
      if (auto done = step(update); !done) return done;
      if (auto kept = keep_after_step(update); !kept) return kept;
    }
    marks_.epoch(epoch_, begin, StepMarks::now_ns(), (update - first) * micro_batch_ * recipe_.accumulate);
    outcome_.train_s += seconds(StepMarks::now_ns() - begin);
    if (update == updates_per_epoch_) position_ = 0;
    return {};
  }

  core::Result<Batch> next_batch(StepTimes& times) {
    const auto begin = StepMarks::now_ns();
    auto batch = loader_->next();
    times.data_wait_ns += StepMarks::now_ns() - begin;
    if (!batch) return core::fail(batch.error());
    if (!*batch) return core::fail(core::Errc::io, "the data loader ended before the epoch did");
    return std::move(**batch);
  }

  torch::Tensor on_device(const torch::Tensor& tensor) const {
    auto moved = tensor.to(device_, /*non_blocking=*/true);
    if (recipe_.precision == Precision::fp64 && moved.is_floating_point()) moved = moved.to(at::kDouble);
    if (recipe_.channels_last && moved.dim() == 4) moved = moved.contiguous(at::MemoryFormat::ChannelsLast);
    return moved;
  }

  core::Result<void> step(std::int64_t update) {
    StepTimes times;
    times.begin_ns = StepMarks::now_ns();
    times.data_wait_ns = times.forward_ns = times.backward_ns = times.exposed_ns = 0;
    optimizer_->zero_gradients();
    double loss = 0;
    for (std::int64_t micro = 0; micro < recipe_.accumulate; ++micro) {
      auto batch = next_batch(times);
      if (!batch) return core::fail(batch.error());
      position_ = batch->position_after;
      loss += micro_step(*batch, micro + 1 == recipe_.accumulate, times);
    }
    if (!std::isfinite(loss) && !(recipe_.precision == Precision::fp16))
      return core::fail(core::Errc::unusable_input,
                        fmt::format("the loss of its batch became {} in update {} (epoch {}); lower schedule.rate, set "
                                    "run.clip, or look at the data",
                                    loss, updates_ + 1, epoch_ + 1));
    const auto before_update = StepMarks::now_ns();
    const double epoch_part =
        static_cast<double>(epoch_) + static_cast<double>(update) / static_cast<double>(updates_per_epoch_);
    const double rate = schedule_->rate(epoch_part);
    apply(rate);
    times.end_ns = StepMarks::now_ns();
    times.optimizer_ns = times.end_ns - before_update;
    account(times, update, loss, rate);
    return recipe_.verify_ranks ? verify() : core::Result<void>{};
  }

  /// One forward and backward pass; the mean loss of the micro-batch over the number of micro-steps.
  double micro_step(const Batch& batch, bool last, StepTimes& times) {
    const auto begin = StepMarks::now_ns();
    if (last) sync_->begin_step();
    torch::Tensor loss;
    {
      const Autocast autocast(recipe_.precision, device_.type());
      loss = objective_->loss(*model_, on_device(batch.input), on_device(batch.target));
    }
    auto scaled = loss.div(static_cast<double>(recipe_.accumulate)).mul(scaler_.scale());
    const auto forward_end = StepMarks::now_ns();
    if (last) sync_->before_backward(scaled);
    scaled.backward();
    if (last) sync_->finish();
    const auto end = StepMarks::now_ns();
    const auto exposed = last ? sync_->costs().exposed.count() : 0;
    times.forward_ns += forward_end - begin;
    times.backward_ns += end - forward_end - exposed;
    times.exposed_ns += exposed;
    return loss.item<double>() / static_cast<double>(recipe_.accumulate);
  }

  /// Divide by the loss scale, look, clip, update. The gradients are the same on all ranks, so is what is decided.
  void apply(double rate) {
    bool overflow = false;
    double factor = 1 / scaler_.scale();
    if (recipe_.clip > 0 || recipe_.precision == Precision::fp16) {
      const double norm = gradient_norm(parameters_) * factor;
      overflow = !std::isfinite(norm);
      if (recipe_.clip > 0 && !overflow) factor *= clip_factor(norm, recipe_.clip);
    }
    if (!overflow) {
      scale_gradients(parameters_, factor);
      optimizer_->step(rate);
    } else {
      ++outcome_.skipped_updates;
    }
    scaler_.update(overflow);
  }

  void account(const StepTimes& times, std::int64_t update, double loss, double rate) {
    const auto local = micro_batch_ * recipe_.accumulate;
    ++updates_;
    ++outcome_.updates;
    outcome_.samples += global_batch();
    outcome_.data_wait_s += seconds(times.data_wait_ns);
    outcome_.exposed_s += seconds(times.exposed_ns);
    marks_.step(times, local);
    constexpr double kMemory = 0.9;  // of the mean over the last steps
    const double step_s = seconds(times.end_ns - times.begin_ns);
    recent_step_s_ = recent_step_s_ > 0 ? kMemory * recent_step_s_ + (1 - kMemory) * step_s : step_s;
    progress_ = {epoch_,
                 recipe_.epochs,
                 update + 1,
                 updates_per_epoch_,
                 loss,
                 rate,
                 static_cast<double>(global_batch()) / recent_step_s_,
                 times,
                 std::nullopt};
    show(std::nullopt);
  }

  void show(std::optional<Metrics> metrics) {
    if (ranks_.rank() != 0 || !options_.show) return;
    progress_.evaluated = std::move(metrics);
    options_.show(progress_);
  }

  core::Result<void> verify() {
    const auto own = static_cast<std::int64_t>(hash_of(parameters_));
    std::int64_t low = own, high = own;
    ranks_.all_reduce(std::span(&low, 1), Sum::min);
    ranks_.all_reduce(std::span(&high, 1), Sum::max);
    if (low == high) return {};
    return core::fail(core::Errc::io, fmt::format("after update {} the ranks' parameters are not the same", updates_));
  }

  core::Result<void> judge() {
    auto metrics = evaluate();
    if (!metrics) return core::fail(metrics.error());
    outcome_.metrics = *metrics;
    schedule_->epoch_ended(value_of(*metrics, "loss"));
    show(*metrics);
    return {};
  }

  core::Result<Metrics> evaluate() {
    const auto begin = StepMarks::now_ns();
    const torch::NoGradGuard no_grad;
    // Running statistics are each rank's own; rank 0's are the model's.
    broadcast_tensors(ranks_, buffers_of(*model_));
    model_->eval();
    std::vector<double> sums(objective_->sums(), 0);
    if (auto begun = validation_loader_->begin_epoch(0); !begun) return core::fail(begun.error());
    while (true) {
      auto batch = validation_loader_->next();
      if (!batch) return core::fail(batch.error());
      if (!*batch) break;
      const Autocast autocast(recipe_.precision, device_.type());
      const auto part =
          objective_->score(*model_, on_device((*batch)->input), on_device((*batch)->target), (*batch)->indices);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
    }
    ranks_.all_reduce(std::span(sums), Sum::sum);
    marks_.region("evaluation", begin);
    return objective_->metrics(sums);
  }

  // Checkpoints

  core::Result<void> keep_at_epoch_end() {
    if (checkpoint_ && (epoch_ + 1) % recipe_.checkpoint_every_epochs == 0) save(epoch_ + 1, 0);
    return heed_checkpoint_errors();
  }

  core::Result<void> keep_after_step(std::int64_t update) {
    if (!checkpoint_ || recipe_.checkpoint_every_steps == 0) return {};
    const bool due = updates_ % recipe_.checkpoint_every_steps == 0 && update + 1 < updates_per_epoch_;
    if (due) save(epoch_, position_);
    return due ? heed_checkpoint_errors() : core::Result<void>{};
  }

  void save(std::int64_t epoch, std::uint64_t position) {
    const auto begin = StepMarks::now_ns();
    kept_at_ = updates_;
    // The generators of all ranks and rank 0's statistics: collectives, so every rank comes here.
    broadcast_tensors(ranks_, buffers_of(*model_));
    const auto generators = ranks_.all_gather(random_state());
    if (ranks_.rank() != 0) return;
    checkpoint_->save(snapshot_of(parts(), {epoch, position, updates_}, generators, recipe_.name));
    marks_.region("checkpoint", begin);
  }

  TrainingParts parts() { return {*model_, *optimizer_, *schedule_, scaler_}; }

  /// Rank 0's trouble is everybody's: all learn of it here, at the same step.
  core::Result<void> heed_checkpoint_errors() {
    if (!checkpoint_) return {};
    std::string trouble;
    if (ranks_.rank() == 0)
      if (const auto error = checkpoint_->take_error()) trouble = error->message;
    trouble = ranks_.broadcast(trouble, 0);
    if (trouble.empty()) return {};
    const auto text =
        fmt::format("the checkpoint could not be written by rank 0: {}; the one before it is intact", trouble);
    if (recipe_.stop_on_checkpoint_error) return core::fail(core::Errc::io, text);
    if (ranks_.rank() == 0) fmt::print(stderr, "gradwatt train: {}; the training goes on\n", text);
    return {};
  }

  core::Result<void> resume() {
    auto snapshot = load_snapshot(recipe_.checkpoint);
    if (!snapshot) return core::fail(snapshot.error());
    const auto place = restore(*snapshot, parts(), ranks_.rank());
    if (!place)
      return core::fail(place.error().code, fmt::format("{}: {}", recipe_.checkpoint.string(), place.error().message));
    epoch_ = place->epoch;
    position_ = place->position;
    updates_ = place->updates;
    outcome_.resumed = true;
    return {};
  }

  Recipe recipe_;
  Communicator& ranks_;
  Options options_;
  StepMarks marks_;
  LossScaler scaler_;
  torch::Device device_{at::kCPU};
  std::shared_ptr<const Dataset> validation_;
  std::unique_ptr<Loader> loader_, validation_loader_;
  std::unique_ptr<Objective> objective_;
  std::shared_ptr<Model> model_;
  NamedTensors parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<Schedule> schedule_;
  std::unique_ptr<GradientSync> sync_;
  std::optional<CheckpointFile> checkpoint_;
  std::int64_t micro_batch_ = 0, updates_per_epoch_ = 0;
  std::int64_t epoch_ = 0, updates_ = 0;
  std::optional<std::int64_t> kept_at_;  // updates that the last checkpoint holds
  std::uint64_t position_ = 0;           // in the epoch, in examples of all ranks
  double recent_step_s_ = 0;
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
