#include "commands/plan_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "commands/plan_fits.hpp"
#include "gradwatt/core/hash.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/energy/steps.hpp"
#include "gradwatt/planning/cluster/cluster_file.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/plan/other_gpu.hpp"
#include "gradwatt/planning/plan/preset_job.hpp"
#include "gradwatt/planning/plan/profile_axes.hpp"
#include "gradwatt/planning/plan/strategies.hpp"
#include "run_ref.hpp"
#include "show_report.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;
using planning::ProfileRow;

/// Where nobody says how long the job is, its cost is told for this many samples.
constexpr double kUnitOfWork = 1e6;
/// A described link is a data sheet's: what a job reaches of it is known within a factor of two, most likely.
constexpr double kLinkSpread = 0.7;
/// The user's own word on a node's base line.
constexpr double kToldSpread = 0.1;
/// The cluster file's watts are of a kind of node, not of this job.
constexpr double kDescribedSpread = 0.2;

/// What runs say of the job besides their steps.
struct RunFacts {
  std::optional<double> gradient_bytes, epochs;
  double gpus_per_node = 0;  ///< that the record lists, used or not
  std::string gpu, model, precision;
};

std::string text_fact(const record::Run& run, std::string_view name) {
  const auto found = std::ranges::find(run.facts, name, &record::Fact::name);
  return found != run.facts.end() ? record::as_text(*found).value_or("") : std::string();
}

/// "train" of `torchrun --nproc-per-node 8 train.py`: what people call a job that has no other name.
std::string program_of(const record::Run& run) {
  const auto command = run.text(record::meta::kCommand).value_or("");
  const auto words = core::split_words(command);
  const auto script = std::ranges::find_if(words, [](std::string_view word) { return word.ends_with(".py"); });
  if (script != words.end()) return fs::path(*script).stem().string();
  return words.empty() ? std::string() : fs::path(words.front()).filename().string();
}

RunFacts facts_of(const record::Run& run) {
  RunFacts out;
  out.gradient_bytes = energy::fact_number(run, "ddp.parameter_bytes");
  if (!out.gradient_bytes)
    if (const auto parameters = energy::fact_number(run, "job.parameters")) out.gradient_bytes = 4 * *parameters;
  out.epochs = energy::fact_number(run, "job.epochs");
  out.model = text_fact(run, "job.model");
  out.precision = text_fact(run, "job.precision");
  if (out.model.empty()) out.model = program_of(run);
  std::map<std::string, double> gpus_of_host;
  for (const auto& device : run.devices) {
    if (device.kind != record::DeviceKind::gpu) continue;
    if (out.gpu.empty()) out.gpu = device.name;
    out.gpus_per_node = std::max(out.gpus_per_node, ++gpus_of_host[device.host]);
  }
  return out;
}

std::string words_of(const ProfileRow& row) {
  const auto power = row.node_power_w  ? fmt::format("node {:.0f} W", *row.node_power_w)
                     : row.gpu_power_w ? fmt::format("GPU {:.0f} W", *row.gpu_power_w)
                                       : std::string("no power");
  return fmt::format("{:g} GPU{}, local batch {:g}, step {:.4g} s, {}", row.gpus, row.gpus == 1 ? "" : "s",
                     row.step.load.local_batch, row.step.step_s, power);
}

class Gathering {
 public:
  Gathering(Context& context, const ParsedPlan& parsed, std::string without_run)
      : context_(context), wish_(parsed.wish), settings_(parsed.settings), without_run_(std::move(without_run)) {}

  core::Result<PlanAsk> gather() {
    for (const auto step : {&Gathering::read_preset, &Gathering::read_cluster, &Gathering::read_profile,
                            &Gathering::read_learnt, &Gathering::make_job, &Gathering::set_length, &Gathering::set_axes,
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

  core::Result<void> read_preset() {
    if (wish_.preset.empty()) return {};
    const auto found = planning::find_preset(wish_.preset);
    if (!found) return core::fail(found.error());
    preset_ = *found;
    ask_.job = preset_->name;
    ask_.subject.title = fmt::format("{}: {}", preset_->name, preset_->title);
    say("preset", planning::what_it_says(*preset_), std::string(planning::kPublished));
    return {};
  }

  core::Result<void> read_cluster() {
    if (wish_.cluster.empty()) return {};
    auto cluster = planning::load_cluster(context_.working_folder / wish_.cluster);
    if (!cluster) return core::fail(cluster.error());
    cluster_ = std::move(*cluster);
    say("cluster", fmt::format("{} nodes of {} GPUs", cluster_->node_count(), cluster_->gpus_per_node), wish_.cluster);
    return {};
  }

  core::Result<void> read_profile() {
    if (!wish_.profile.empty()) return read_table();
    if (!wish_.from.empty()) return read_runs(wish_.from);
    return wish_.preset.empty() ? read_runs({"last"}) : core::Result<void>{};
  }

  core::Result<void> read_table() {
    const auto path = context_.working_folder / wish_.profile;
    std::ifstream file(path, std::ios::binary);
    if (!file) return core::fail(core::Errc::not_found, fmt::format("plan: cannot read the profile {}", path.string()));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    auto rows = planning::profile_table(text);
    if (!rows) return core::fail(rows.error().code, fmt::format("plan: {}: {}", wish_.profile, rows.error().message));
    ask_.rows = std::move(*rows);
    if (ask_.job.empty()) ask_.job = fs::path(wish_.profile).stem().string();
    if (ask_.subject.title.empty()) ask_.subject.title = wish_.profile;
    say("profile", fmt::format("{} measured settings", ask_.rows.size()), wish_.profile);
    return {};
  }

  core::Result<void> read_runs(const std::vector<std::string>& names) {
    for (const auto& name : names) {
      const auto ref = resolve_run(settings_, context_.working_folder, name);
      if (!ref) return core::fail(ref.error());
      const auto run = load_run(context_, *ref, report_columns());
      if (!run) return core::fail(run.error());
      auto row = planning::profile_row(*run);
      if (!row) return core::fail(row.error().code, "plan: " + row.error().message);
      row->source = run->text(record::meta::kRunId).value_or(name);
      if (ask_.rows.empty()) facts_ = facts_of(*run);
      say("run", words_of(*row), "run " + row->source);
      ask_.rows.push_back(std::move(*row));
    }
    if (ask_.job.empty()) ask_.job = facts_.model.empty() ? ask_.rows.front().source : facts_.model;
    if (ask_.subject.title.empty())
      ask_.subject.title = facts_.model.empty() ? "the job of run " + ask_.rows.front().source : facts_.model;
    return {};
  }

  core::Result<void> read_learnt() {
    if (!wish_.name.empty()) ask_.job = wish_.name;
    const auto folder = fits_folder(settings_);
    if (!folder) return {};  // no store, nothing learnt
    auto learnt = learnt_rows(*folder, ask_.job);
    if (!learnt) return core::fail(learnt.error());
    for (auto& row : *learnt) {
      const bool known = std::ranges::any_of(ask_.rows, [&](const ProfileRow& r) { return r.source == row.source; });
      if (known || row.source == without_run_) continue;
      say("learnt", words_of(row), "run " + row.source + ", plan --learn");
      learnt_.push_back(std::move(row));
    }
    return {};
  }

  std::optional<double> gradient_bytes() const {
    return wish_.gradient_bytes ? wish_.gradient_bytes : facts_.gradient_bytes;
  }

  planning::ThroughputPriors throughput_priors() const {
    planning::ThroughputPriors out;
    if (!cluster_ || !gradient_bytes()) return out;
    const auto& node = cluster_->kinds.front();
    if (cluster_->gpus_per_node > 1)
      out.net_inside_s =
          planning::Known{planning::ring_all_reduce(2, *gradient_bytes(), node.link).seconds, kLinkSpread};
    if (cluster_->node_count() > 1)
      out.net_across_s =
          planning::Known{planning::ring_all_reduce(2, *gradient_bytes(), cluster_->rail()).seconds, kLinkSpread};
    return out;
  }
  /// Of one GPU, where the cluster file has them.
  const planning::GpuWatts* described_watts() const {
    if (!cluster_) return nullptr;
    const auto& watts = cluster_->kinds.front().gpu_w;
    return watts.idle_w > 0 && watts.busy_w > watts.idle_w ? &watts : nullptr;
  }
  planning::NodePowerPriors power_priors() const {
    planning::NodePowerPriors out;
    if (wish_.node_w) {
      out.base_w = {*wish_.node_w, kToldSpread};
    } else if (cluster_ && cluster_->kinds.front().base_w) {
      const auto& node = cluster_->kinds.front();
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
    auto rows = ask_.rows;
    std::ranges::copy(learnt_, std::back_inserter(rows));
    if (ask_.rows.empty()) {
      auto published = planning::preset_job(*preset_, learnt_);
      if (!published) return core::fail(published.error().code, "plan: " + published.error().message);
      job_ = std::move(*published);
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
    if (preset_ != nullptr)
      job_ = planning::fill_from(*preset_, std::move(*fitted));
    else
      job_.job = std::move(*fitted);
    return {};
  }

  core::Result<void> set_length() {
    auto& job = job_.job;
    if (wish_.samples) job.dataset_samples = *wish_.samples;
    if (!wish_.data.empty() && job.dataset_samples <= 0) job.dataset_samples = wish_.data.front().samples;
    if (wish_.epochs) job.epochs = *wish_.epochs;
    if (!job.epochs && facts_.epochs) job.epochs = facts_.epochs;
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
    double per_node = wish_.gpus_per_node.value_or(cluster_ ? cluster_->gpus_per_node : 0);
    if (per_node == 0 && preset_ != nullptr) per_node = preset_->gpus_per_node;
    if (per_node == 0) per_node = facts_.gpus_per_node;
    if (!ask_.rows.empty()) {
      axes = planning::axes_of(ask_.rows, per_node);
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
    if (cluster_ && wish_.gpus.empty()) {
      const double all = cluster_->node_count() * cluster_->gpus_per_node;
      std::erase_if(axes.gpus, [&](double n) { return n > all; });
    }
    axes.data = wish_.data;
    axes.caps_w = wish_.caps_w;
    if (axes.caps_w.empty() && job_.job.cap) axes.caps_w = profiled_caps();
    return {};
  }

  std::vector<double> profiled_caps() const {
    std::set<double> caps;
    for (const auto& row : ask_.rows)
      if (row.cap_w && *row.cap_w >= job_.job.cap->lowest_w) caps.insert(*row.cap_w);
    return {caps.begin(), caps.end()};
  }

  std::string profiled_gpu() const {
    if (!wish_.gpu.empty()) return wish_.gpu;
    if (!facts_.gpu.empty()) return facts_.gpu;
    if (preset_ != nullptr && !preset_->gpu.empty()) return std::string(preset_->gpu);
    return cluster_ ? cluster_->kinds.front().gpu : std::string();
  }

  /// What was never run may not fit: without a word of the user no larger local batch is planned than one that ran.
  void assume_memory() {
    double most = 0;
    for (const auto& row : ask_.rows) most = std::max(most, row.step.load.local_batch);
    for (const auto& batch : wish_.batches)
      if (batch.rule == planning::BatchRule::local) most = std::max(most, batch.samples);
    if (most <= 0) return;
    job_.most_local_batch = most;
    job_.memory_origin = "the largest that was run or asked for; --max-local-batch allows more";
  }

  core::Result<void> set_hardware() {
    auto& axes = ask_.question.axes;
    const auto here = profiled_gpu();
    const bool published = ask_.rows.empty();
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
    if (facts_.precision == "tf32") work.arithmetic = planning::Arithmetic::tf32;
    if (facts_.precision == "bf16") work.arithmetic = planning::Arithmetic::bf16;
    if (facts_.precision == "fp16") work.arithmetic = planning::Arithmetic::fp16;
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
    if (!cluster_ || !gradient_bytes())
      return core::fail(core::Errc::wrong_use,
                        fmt::format("plan: --strategy needs {}",
                                    cluster_ ? "the bytes of gradients: --gradient-bytes N (4 a parameter)"
                                             : "the links between GPUs: --cluster FILE.toml (docs/cluster-file.md)"));
    for (const auto& name : wish_.strategies) {
      auto option = planning::strategy_option(name, *cluster_, *gradient_bytes());
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
    if (cluster_ && !question.limits.most_nodes) question.limits.most_nodes = cluster_->node_count();
    // A batch outside those that are known to do is taken only by one who asks for it.
    if (question.good_batches && !question.limits.most_risk) question.limits.most_risk = 0;
    if (preset_ != nullptr && !preset_->caution.empty()) note(std::string(preset_->caution));
    if (preset_ != nullptr && preset_->global_batch && !preset_->global_batch->correction.empty())
      note("Batch: " + std::string(preset_->global_batch->correction) + ".");
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
    hash = core::hash_of(fmt::format("{} {} {} {}", q.limits.deadline_s.value_or(0), q.limits.energy_j.value_or(0),
                                     q.limits.cost.value_or(0), q.limits.most_batch.value_or(0)),
                         hash);
    return fmt::format("{:06x}", hash & 0xffffffU);
  }

  Context& context_;
  const PlanWish& wish_;
  const core::Settings& settings_;
  std::string without_run_;
  PlanAsk ask_;
  const planning::Preset* preset_ = nullptr;
  std::optional<planning::Cluster> cluster_;
  RunFacts facts_;
  std::vector<ProfileRow> learnt_;
  planning::PresetJob job_;
};

}  // namespace

core::Result<PlanAsk> gather_plan(Context& context, const ParsedPlan& parsed, const std::string& without_run) {
  return Gathering(context, parsed, without_run).gather();
}

}  // namespace gradwatt::app
