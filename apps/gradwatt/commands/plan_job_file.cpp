#include "commands/plan_job_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gradwatt/planning/job_file/job_file.hpp"
#include "gradwatt/report/figures.hpp"

namespace gradwatt::app {
namespace {

using planning::Candidate;

std::string with_interval(const planning::Figure& figure, std::string (*words)(double)) {
  return fmt::format("{} ({} to {}, nine times in ten)", words(figure.value), words(figure.low90),
                     words(figure.high90));
}

/// The prediction record: what a later `plan --learn` and a reader hold the run against.
std::vector<std::string> prediction_notes(const PlanAsk& ask, const Candidate& c, const planning::Prediction& p) {
  std::vector<std::string> out{"plan " + ask.subject.plan_id + " of " + ask.subject.title, describe(ask.question, c),
                               "time " + with_interval(*p.time_s.figure, planning::time_text) + "; " + p.time_s.origin,
                               fmt::format("step {:.4g} s, of it {:.3g} s waiting for gradients; {:.0f} steps",
                                           p.point.step.step_s, p.point.step.exposed_s, p.point.steps)};
  if (p.energy_j.figure) {
    const auto& e = p.point.energy;
    out.push_back("energy " + with_interval(*p.energy_j.figure, report::energy_text) + ", of the machines");
    out.push_back(fmt::format("of it node without GPUs {}, GPUs idle {}, at work {}, waiting {}, network {}",
                              report::energy_text(e.base_j), report::energy_text(e.gpu_idle_j),
                              report::energy_text(e.gpu_busy_j), report::energy_text(e.gpu_wait_j),
                              report::energy_text(e.network_j)));
    out.push_back(fmt::format("node power {:.0f} W on average; {:.3g} kWh a GPU-hour",
                              *c.energy_j / c.time_s / c.setting.nodes(), *c.energy_j / 3.6e6 / c.gpu_hours));
  }
  for (const auto& input : ask.subject.inputs)
    out.push_back(input.name + ": " + input.value + (input.origin.empty() ? "" : " (" + input.origin + ")"));
  return out;
}

core::Result<void> set_power(const PlanWish& wish, const Candidate& c, planning::JobFile& job) {
  if (!c.setting.cap_w) return {};
  if (wish.site_cap_flag.empty()) {
    job.notes.push_back(
        fmt::format("the plan caps each GPU at {:g} W: Slurm has no option for it; --site-cap-flag names the "
                    "site's, or ask the operator",
                    *c.setting.cap_w));
    return {};
  }
  job.power = planning::SiteCap{wish.site_cap_flag, static_cast<int>(std::lround(*c.setting.cap_w))};
  return {};
}

}  // namespace

core::Result<std::string> job_file_of(const PlanWish& wish, const PlanAsk& ask, const planning::Plan& plan) {
  if (!wish.node_cores)
    return core::fail(core::Errc::wrong_use, "plan: --emit slurm needs the CPU cores of a node: --node-cores N");
  const auto& c = plan.at(*plan.chosen);
  const auto& s = c.setting;
  const auto prediction = predict(job_of(ask.question, c), s);
  planning::JobFile job;
  job.plan_id = ask.subject.plan_id;
  if (!wish.name.empty()) job.name = wish.name;
  job.total_gpus = static_cast<int>(s.gpus);
  job.node = {.gpus = static_cast<int>(s.gpus_per_node), .cores = *wish.node_cores};
  if (wish.torchrun) job.rank_start = planning::RankStart::per_node;
  job.partition = wish.partition;
  job.account = wish.account;
  job.constraint = wish.constraint;
  // The interval's upper end is exceeded once in twenty times.
  job.predicted_p95 = std::chrono::seconds(static_cast<std::int64_t>(std::ceil(prediction.time_s.figure->high90)));
  job.settings = {.local_batch = static_cast<int>(s.local_batch),
                  .accumulation = static_cast<int>(s.accumulation),
                  .workers = wish.workers,
                  .seed = {}};
  job.notes = prediction_notes(ask, c, prediction);
  if (auto power = set_power(wish, c, job); !power) return core::fail(power.error());
  job.command = wish.command;
  auto script = slurm_script(job);
  if (!script) return core::fail(core::Errc::wrong_use, "plan: --emit slurm: " + script.error().message);
  return script;
}

}  // namespace gradwatt::app
