#include "commands/plan_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "gradwatt/core/hash.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/plan/other_gpu.hpp"
#include "gradwatt/planning/plan/preset_job.hpp"
#include "gradwatt/planning/plan/profile_axes.hpp"
#include "gradwatt/planning/plan/strategies.hpp"

namespace gradwatt::app {
namespace {

/// Where nobody says how long the job is, its cost is told for this many samples.
constexpr double kUnitOfWork = 1e6;
/// A described link is a data sheet's: what a job reaches of it is known within a factor of two, most likely.
constexpr double kLinkSpread = 0.7;
/// The user's own word on a node's base line.
constexpr double kToldSpread = 0.1;
/// The cluster file's watts are of a kind of node, not of this job.
constexpr double kDescribedSpread = 0.2;

class Gathering {
 public:
  Gathering(const PlanWish& wish, PlanSources sources) : wish_(wish), from_(std::move(sources)) {
    ask_.subject.title = from_.title;
    ask_.subject.inputs = from_.inputs;
    ask_.job = from_.job;
  }

  core::Result<PlanAsk> gather() {
    for (const auto step : {&Gathering::make_job, &Gathering::set_length, &Gathering::set_axes,
                            &Gathering::set_hardware, &Gathering::set_strategies})
      if (auto done = (this->*step)(); !done) return core::fail(done.error());
    set_limits();
    ask_.subject.plan_id = plan_id();
    return std::move(ask_);
  }

 private:
  void say(std::string name, std::string value, std::string origin = {}) {
    ask_.subject.inputs.push_back({std::move(name), std::move(value), std::move(origin)});
  }
  void note(std::string text) { ask_.subject.notes.push_back(std::move(text)); }

  std::optional<double> gradient_bytes() const {
    return wish_.gradient_bytes ? wish_.gradient_bytes : from_.facts.gradient_bytes;
  }

  planning::ThroughputPriors throughput_priors() const {
    planning::ThroughputPriors out;
    if (!from_.cluster || !gradient_bytes()) return out;
    const auto& node = from_.cluster->kinds.front();
    if (from_.cluster->gpus_per_node > 1)
      out.net_inside_s =
          planning::Known{planning::ring_all_reduce(2, *gradient_bytes(), node.link).seconds, kLinkSpread};
    if (from_.cluster->node_count() > 1)
      out.net_across_s =
          planning::Known{planning::ring_all_reduce(2, *gradient_bytes(), from_.cluster->rail()).seconds, kLinkSpread};
    return out;
  }
  /// Of one GPU, where the cluster file has them.
  const planning::GpuWatts* described_watts() const {
    if (!from_.cluster) return nullptr;
    const auto& watts = from_.cluster->kinds.front().gpu_w;
    return watts.idle_w > 0 && watts.busy_w > watts.idle_w ? &watts : nullptr;
  }
  planning::NodePowerPriors power_priors() const {
    planning::NodePowerPriors out;
    if (wish_.node_w) {
      out.base_w = {*wish_.node_w, kToldSpread};
    } else if (from_.cluster && from_.cluster->kinds.front().base_w) {
      const auto& node = from_.cluster->kinds.front();
      out.base_w = {*node.base_w + node.cpus * node.cpu_w.value_or(0) + node.network_w.value_or(0), kDescribedSpread};
    }
    if (const auto* watts = described_watts()) {
      const double work = watts->busy_w - watts->idle_w;
      out.idle_w = {watts->idle_w, kDescribedSpread};
      out.active_w = {work, kDescribedSpread};
      out.wait_share = {std::clamp((watts->comm_w - watts->idle_w) / work, 0.01, 1.0), kDescribedSpread};
    }
    return out;
  }

  core::Result<void> make_job() {
    if (wish_.node_w) say("node", fmt::format("{:g} W without its GPUs", *wish_.node_w), "--node-watts");
    auto rows = from_.rows;
    std::ranges::copy(from_.learnt, std::back_inserter(rows));
    if (from_.rows.empty()) {
      auto published = planning::preset_job(*from_.preset, from_.learnt, wish_.known_hours);
      if (!published) return core::fail(published.error().code, "plan: " + published.error().message);
      job_ = std::move(*published);
      for (const auto& run : wish_.known_hours)
        say("known", fmt::format("{} GPUs took {:g} h", run.gpus, run.hours), "--hours");
      return {};
    }
    auto fitted = planning::fit_profile(rows, throughput_priors(), power_priors());
    if (!fitted) return core::fail(fitted.error().code, "plan: " + fitted.error().message);
    if (!fitted->energy && described_watts() != nullptr) {
      auto described = planning::fit_node_energy({}, power_priors());
      if (!described) return core::fail(described.error());
      fitted->energy = std::move(*described);
      say("power", "no run measured it: the watts of the cluster file", wish_.cluster);
    }
    if (from_.preset != nullptr)
      job_ = planning::fill_from(*from_.preset, std::move(*fitted));
    else
      job_.job = std::move(*fitted);
    return {};
  }

  core::Result<void> set_length() {
    auto& job = job_.job;
    if (wish_.samples) job.dataset_samples = *wish_.samples;
    if (!wish_.data.empty() && job.dataset_samples <= 0) job.dataset_samples = wish_.data.front().samples;
    if (wish_.epochs) job.epochs = *wish_.epochs;
    if (!job.epochs && from_.facts.epochs) job.epochs = from_.facts.epochs;
    if (!wish_.trainings.empty()) return set_convergence();
    if (wish_.target_samples) job.epochs = 1, job.dataset_samples = *wish_.target_samples;
    if (job.epochs && job.dataset_samples > 0) {
      say("length",
          fmt::format("{:g} epoch{} of {:.0f} samples", *job.epochs, *job.epochs == 1 ? "" : "s", job.dataset_samples));
      return {};
    }
    if (wish_.epochs && job.dataset_samples <= 0)
      return core::fail(core::Errc::wrong_use, "plan: --epochs needs the samples of an epoch: --samples N");
    if (job.dataset_samples > 0) {
      job.epochs = 1;
      say("length", fmt::format("one epoch of {:.0f} samples", job.dataset_samples), "--epochs says more");
      return {};
    }
    job.epochs = 1, job.dataset_samples = kUnitOfWork;
    note(
        "How long the job is was not said: figures are for a million samples (--epochs and --samples, or "
        "--target-samples).");
    return {};
  }

  /// Samples to the target by batch, and the batches that reach it, from whole trainings.
  core::Result<void> set_convergence() {
    auto& job = job_.job;
    if (job.dataset_samples <= 0)
      return core::fail(core::Errc::wrong_use, "plan: --epochs-at needs the samples of an epoch: --samples N");
    auto outcomes = wish_.trainings;
    for (auto& outcome : outcomes)
      if (outcome.samples) *outcome.samples *= job.dataset_samples;
    auto model = planning::fit_convergence(outcomes);
    if (!model) return core::fail(model.error().code, "plan: --epochs-at: " + model.error().message);
    say("length",
        fmt::format("{:.1f} to {:.1f} epochs of {:.0f} samples, by batch; critical batch {:.0f}",
                    samples_to_target(*model, model->smallest_batch) / job.dataset_samples,
                    samples_to_target(*model, model->largest_batch) / job.dataset_samples, job.dataset_samples,
                    critical_batch(*model)),
        fmt::format("{} trainings, --epochs-at", outcomes.size()));
    job_.good_batches = planning::GoodBatches{model->smallest_batch, model->largest_batch, "--epochs-at"};
    job.convergence = std::move(*model);
    return {};
  }

  core::Result<void> set_axes() {
    auto& axes = ask_.question.axes;
    double per_node = wish_.gpus_per_node.value_or(from_.cluster ? from_.cluster->gpus_per_node : 0);
    if (per_node == 0 && from_.preset != nullptr) per_node = from_.preset->gpus_per_node;
    if (per_node == 0) per_node = from_.facts.gpus_per_node;
    if (!from_.rows.empty()) {
      axes = planning::axes_of(from_.rows, per_node);
      if (per_node == 0)
        note(fmt::format("GPUs of a node are taken to be {:g}, the most that a run had on one (--gpus-per-node).",
                         axes.gpus_per_node));
    } else {
      axes.gpus = job_.gpus;
      axes.batches = job_.batches;
      axes.gpus_per_node = per_node;
    }
    if (!wish_.gpus.empty()) axes.gpus = wish_.gpus;
    if (!wish_.batches.empty()) axes.batches = wish_.batches;
    if (!wish_.accumulation.empty()) axes.accumulation = wish_.accumulation;
    if (wish_.gpus_per_replica) axes.gpus_per_replica = *wish_.gpus_per_replica;
    if (from_.cluster && wish_.gpus.empty()) {
      const double all = from_.cluster->node_count() * from_.cluster->gpus_per_node;
      std::erase_if(axes.gpus, [&](double n) { return n > all; });
    }
    axes.data = wish_.data;
    axes.caps_w = wish_.caps_w;
    if (axes.caps_w.empty() && job_.job.cap) axes.caps_w = profiled_caps();
    return {};
  }

  std::vector<double> profiled_caps() const {
    std::set<double> caps;
    for (const auto& row : from_.rows)
      if (row.cap_w && *row.cap_w >= job_.job.cap->lowest_w) caps.insert(*row.cap_w);
    return {caps.begin(), caps.end()};
  }

  std::string profiled_gpu() const {
    if (!wish_.gpu.empty()) return wish_.gpu;
    if (!from_.facts.gpu.empty()) return from_.facts.gpu;
    if (from_.preset != nullptr && !from_.preset->gpu.empty()) return std::string(from_.preset->gpu);
    return from_.cluster ? from_.cluster->kinds.front().gpu : std::string();
  }

  /// What was never run may not fit: without a word of the user no larger local batch is planned than one that ran.
  void assume_memory() {
    double most = 0;
    for (const auto& row : from_.rows) most = std::max(most, row.step.load.local_batch);
    for (const auto& batch : wish_.batches)
      if (batch.rule == planning::BatchRule::local) most = std::max(most, batch.samples);
    if (most <= 0) return;
    job_.most_local_batch = most;
    job_.memory_origin = "the largest that was run or asked for; --max-local-batch allows more";
  }

  core::Result<void> set_hardware() {
    auto& axes = ask_.question.axes;
    const auto here = profiled_gpu();
    const bool published = from_.rows.empty();
    if (!job_.most_local_batch && !wish_.limits.most_local_batch) assume_memory();
    axes.hardware = {{.name = here,
                      .job = job_.job,
                      .most_local_batch = job_.most_local_batch,
                      .memory_origin = job_.memory_origin,
                      .origin = published ? std::string(planning::kPublished) : "measured"}};
    if (job_.most_local_batch)
      say("memory", fmt::format("local batch up to {:g}", *job_.most_local_batch), job_.memory_origin);
    if (wish_.hardware.empty()) return {};
    if (here.empty())
      return core::fail(core::Errc::wrong_use,
                        "plan: --hardware compares with the GPU of the profile, which is not known: --gpu NAME");
    const auto from = planning::gpu_by_name(here);
    if (!from) return core::fail(from.error().code, "plan: " + from.error().message);
    planning::Workload work;
    if (from_.facts.precision == "tf32") work.arithmetic = planning::Arithmetic::tf32;
    if (from_.facts.precision == "bf16") work.arithmetic = planning::Arithmetic::bf16;
    if (from_.facts.precision == "fp16") work.arithmetic = planning::Arithmetic::fp16;
    for (const auto& name : wish_.hardware) {
      const auto to = planning::gpu_by_name(name);
      if (!to) return core::fail(to.error().code, "plan: --hardware: " + to.error().message);
      if (*to == *from) continue;
      auto other = planning::on_other_gpu(axes.hardware.front(), **from, **to, work);
      if (!other) return core::fail(other.error().code, "plan: --hardware: " + other.error().message);
      say("hardware", other->name, other->origin);
      axes.hardware.push_back(std::move(*other));
    }
    return {};
  }

  core::Result<void> set_strategies() {
    if (wish_.strategies.empty()) return {};
    if (!from_.cluster || !gradient_bytes())
      return core::fail(
          core::Errc::wrong_use,
          fmt::format("plan: --strategy needs {}",
                      from_.cluster ? "the bytes of gradients: --gradient-bytes N (4 a parameter)"
                                    : "the links between GPUs: --cluster FILE.toml (docs/cluster-file.md)"));
    for (const auto& name : wish_.strategies) {
      auto option = planning::strategy_option(name, *from_.cluster, *gradient_bytes());
      if (!option) return core::fail(option.error().code, "plan: --strategy: " + option.error().message);
      if (!option->caution.empty()) note(fmt::format("{}: {}.", option->name, option->caution));
      ask_.question.axes.strategies.push_back(std::move(*option));
    }
    return {};
  }

  void set_limits() {
    auto& question = ask_.question;
    question.limits = wish_.limits;
    question.prices = wish_.prices;
    question.good_batches = wish_.good_batches ? wish_.good_batches : job_.good_batches;
    if (from_.cluster && !question.limits.most_nodes) question.limits.most_nodes = from_.cluster->node_count();
    // A batch outside those that are known to do is taken only by one who asks for it.
    if (question.good_batches && !question.limits.most_risk) question.limits.most_risk = 0;
    if (from_.preset != nullptr && !from_.preset->caution.empty()) note(std::string(from_.preset->caution));
    if (from_.preset != nullptr && from_.preset->global_batch && !from_.preset->global_batch->correction.empty())
      note("Batch: " + std::string(from_.preset->global_batch->correction) + ".");
  }

  /// Of inputs and question: the same for the same ones.
  std::string plan_id() const {
    auto hash = core::hash_of(ask_.subject.title);
    for (const auto& input : ask_.subject.inputs) hash = core::hash_of(input.name + input.value + input.origin, hash);
    const auto& q = ask_.question;
    for (const double n : q.axes.gpus) hash = core::hash_of(fmt::format("g{}", n), hash);
    for (const auto& b : q.axes.batches)
      hash = core::hash_of(fmt::format("b{}{}", static_cast<int>(b.rule), b.samples), hash);
    for (const double n : q.axes.caps_w) hash = core::hash_of(fmt::format("c{}", n), hash);
    for (const double n : q.axes.accumulation) hash = core::hash_of(fmt::format("a{}", n), hash);
    for (const auto& d : q.axes.data) hash = core::hash_of(fmt::format("d{}{}", d.per_gpu, d.samples), hash);
    for (const auto& strategy : q.axes.strategies) hash = core::hash_of(strategy.name, hash);
    hash = core::hash_of(fmt::format("n{} r{}", q.axes.gpus_per_node, q.axes.gpus_per_replica), hash);
    hash = core::hash_of(fmt::format("{} {} {} {}", q.limits.deadline_s.value_or(0), q.limits.energy_j.value_or(0),
                                     q.limits.cost.value_or(0), q.limits.most_batch.value_or(0)),
                         hash);
    return fmt::format("{:06x}", hash & 0xffffffU);
  }

  const PlanWish& wish_;
  PlanSources from_;
  PlanAsk ask_;
  planning::PresetJob job_;
};

}  // namespace

core::Result<PlanAsk> gather_plan(Context& context, const ParsedPlan& parsed, const std::string& without_run) {
  auto sources = read_plan_sources(context, parsed, without_run);
  if (!sources) return core::fail(sources.error());
  return Gathering(parsed.wish, std::move(*sources)).gather();
}

}  // namespace gradwatt::app
