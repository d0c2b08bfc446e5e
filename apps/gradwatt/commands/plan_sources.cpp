#include "commands/plan_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "commands/plan_fits.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/energy/steps.hpp"
#include "gradwatt/planning/cluster/cluster_file.hpp"
#include "gradwatt/planning/gradient_bytes.hpp"
#include "gradwatt/planning/plan/preset_job.hpp"
#include "run_ref.hpp"
#include "show_report.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;
using planning::ProfileRow;

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
  out.gradient_bytes = planning::gradient_bytes_of(run).known;
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
class Reader {
 public:
  Reader(Context& context, const ParsedPlan& parsed, std::string without_run)
      : context_(context), wish_(parsed.wish), settings_(parsed.settings), without_run_(std::move(without_run)) {}

  core::Result<PlanSources> read() {
    for (const auto step : {&Reader::read_preset, &Reader::read_cluster, &Reader::read_profile, &Reader::read_learnt})
      if (auto done = (this->*step)(); !done) return core::fail(done.error());
    return std::move(out_);
  }

 private:
  void say(std::string name, std::string value, std::string origin = {}) {
    out_.inputs.push_back({std::move(name), std::move(value), std::move(origin)});
  }

  core::Result<void> read_preset() {
    if (wish_.preset.empty()) return {};
    const auto found = planning::find_preset(wish_.preset);
    if (!found) return core::fail(found.error());
    out_.preset = *found;
    out_.job = out_.preset->name;
    out_.title = fmt::format("{}: {}", out_.preset->name, out_.preset->title);
    say("preset", planning::what_it_says(*out_.preset), std::string(planning::kPublished));
    return {};
  }

  core::Result<void> read_cluster() {
    if (wish_.cluster.empty()) return {};
    auto cluster = planning::load_cluster(context_.working_folder / wish_.cluster);
    if (!cluster) return core::fail(cluster.error());
    out_.cluster = std::move(*cluster);
    say("cluster", fmt::format("{} nodes of {} GPUs", out_.cluster->node_count(), out_.cluster->gpus_per_node),
        wish_.cluster);
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
    out_.rows = std::move(*rows);
    if (out_.job.empty()) out_.job = fs::path(wish_.profile).stem().string();
    if (out_.title.empty()) out_.title = wish_.profile;
    say("profile", fmt::format("{} measured settings", out_.rows.size()), wish_.profile);
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
      if (out_.rows.empty()) out_.facts = facts_of(*run);
      say("run", words_of(*row), "run " + row->source);
      out_.rows.push_back(std::move(*row));
    }
    if (out_.job.empty()) out_.job = out_.facts.model.empty() ? out_.rows.front().source : out_.facts.model;
    if (out_.title.empty())
      out_.title = out_.facts.model.empty() ? "the job of run " + out_.rows.front().source : out_.facts.model;
    return {};
  }

  core::Result<void> read_learnt() {
    if (!wish_.name.empty()) out_.job = wish_.name;
    const auto folder = fits_folder(settings_);
    if (!folder) return {};  // no store, nothing learnt
    auto learnt = learnt_rows(*folder, out_.job);
    if (!learnt) return core::fail(learnt.error());
    for (auto& row : *learnt) {
      const bool known = std::ranges::any_of(out_.rows, [&](const ProfileRow& r) { return r.source == row.source; });
      if (known || row.source == without_run_) continue;
      say("learnt", words_of(row), "run " + row.source + ", plan --learn");
      out_.learnt.push_back(std::move(row));
    }
    return {};
  }

  Context& context_;
  const PlanWish& wish_;
  const core::Settings& settings_;
  std::string without_run_;
  PlanSources out_;
};

}  // namespace

core::Result<PlanSources> read_plan_sources(Context& context, const ParsedPlan& parsed,
                                            const std::string& without_run) {
  return Reader(context, parsed, without_run).read();
}

}  // namespace gradwatt::app
