#include "gradwatt/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/report/energy_table.hpp"
#include "gradwatt/report/figures.hpp"
#include "gradwatt/report/headline.hpp"
#include "gradwatt/report/measuring_quality.hpp"

namespace gradwatt::report {
namespace {

using record::DeviceKind;

constexpr std::string_view kDot = " · ";
constexpr std::size_t kWarningsShown = 4;
constexpr std::size_t kMarksShown = 4;
/// A GPU whose power moves less than this (5th to 95th percentile over the mean) needs no word about it.
constexpr double kNotableSwing = 0.3;

/// Pieces of one line; each stays whole when the line is broken.
class Pieces {
 public:
  void add(const std::string& piece) { pieces_.push_back(unbroken(piece)); }
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }
  [[nodiscard]] std::string text() const { return fmt::format("{}", fmt::join(pieces_, kDot)); }

 private:
  std::vector<std::string> pieces_;
};

void put_entry(Screen& screen, std::string_view label, const Pieces& pieces) {
  if (!pieces.empty()) screen.entry(label, pieces.text());
}

void put_headline(Screen& screen, const record::Run& run, const energy::Summary& summary) {
  screen.line(printable(subject_of(run)), Style::strong);
  const auto circumstances = printable(circumstances_of(run, summary));
  for (const auto& line : wrap(circumstances, screen.width())) screen.line(line);
  if (!has_times(run, summary))
    screen.line(fmt::format("It holds {} facts and no times: `gradwatt diagnose` judges them.", run.facts.size()));
  if (!summary.complete) screen.line("The record ends early: figures hold up to its last sample.", Style::bad);
  screen.blank();
}

void put_work(Screen& screen, const energy::Steps& steps) {
  Pieces work;
  work.add(steps.ranks > 1 ? fmt::format("{} steps on {} ranks", count_text(steps.count), steps.ranks)
                           : fmt::format("{} steps", count_text(steps.count)));
  if (steps.steps_per_s) work.add(number_text(*steps.steps_per_s) + " steps/s");
  if (steps.samples_per_s) work.add(number_text(*steps.samples_per_s) + " samples/s");
  if (steps.step_median_s) {
    auto text = core::format_si(*steps.step_median_s, "s") + " a step";
    if (steps.step_p95_s) text += fmt::format(" (95 % within {})", core::format_si(*steps.step_p95_s, "s"));
    work.add(std::move(text));
  }
  put_entry(screen, "work", work);
}

/// What the training reached, as the job said it last: "accuracy 92.5 %", "loss 0.231".
void put_result(Screen& screen, const record::Run& run) {
  constexpr std::string_view kPrefix = "result.", kPercent = "_pct";
  std::vector<std::pair<std::string, double>> last;
  for (const auto& fact : run.facts) {
    const auto value = record::as_number(fact);
    if (!value || !fact.name.starts_with(kPrefix)) continue;
    const auto known = std::ranges::find(last, fact.name, &std::pair<std::string, double>::first);
    if (known == last.end())
      last.emplace_back(fact.name, *value);
    else
      known->second = *value;
  }
  Pieces result;
  for (const auto& [name, value] : last) {
    auto words = name.substr(kPrefix.size());
    const bool percent = words.ends_with(kPercent);
    if (percent) words.resize(words.size() - kPercent.size());
    std::ranges::replace(words, '_', ' ');
    result.add(fmt::format("{} {}{}", printable(words), number_text(value), percent ? " %" : ""));
  }
  put_entry(screen, "result", result);
}

void put_phases(Screen& screen, const energy::Steps& steps) {
  Pieces phases;
  for (std::size_t i = 0; i < record::kPhases; ++i) {
    const auto& share = steps.phase_share.at(i);
    if (!share) continue;
    std::string name(name_of(static_cast<record::Phase>(i)));
    std::ranges::replace(name, '_', ' ');
    phases.add(name == "comm exposed" ? "waiting for other ranks " + share_text(*share)
                                      : name + " " + share_text(*share));
  }
  put_entry(screen, "step time", phases);
}

void put_energy_per(Screen& screen, const energy::Summary& summary) {
  Pieces per;
  if (summary.steps) {
    const auto& steps = *summary.steps;
    if (steps.energy_per_sample_j) per.add(small_energy_text(*steps.energy_per_sample_j) + " a sample");
    if (steps.energy_per_step_j) per.add(small_energy_text(*steps.energy_per_step_j) + " a step");
    if ((steps.energy_per_sample_j || steps.energy_per_step_j) && steps.energy_how > record::How::integrated)
      per.add(std::string(name_of(steps.energy_how)));
  }
  if (summary.gpu_kwh_per_gpu_hour) per.add(number_text(*summary.gpu_kwh_per_gpu_hour) + " kWh per GPU-hour");
  put_entry(screen, "energy per", per);
}

/// Mean over the devices that have the metric.
std::optional<double> mean_over_gpus(const energy::Summary& summary, record::MetricId metric) {
  double sum = 0;
  int count = 0;
  for (const auto& s : summary.statistics)
    if (s.metric == metric) sum += s.mean, ++count;
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

void put_gpu_state(Screen& screen, const energy::Summary& summary) {
  Pieces state;
  const auto percent = [&](const char* label, record::MetricId metric) {
    if (const auto mean = mean_over_gpus(summary, metric)) state.add(fmt::format("{} {:.0f} %", label, *mean));
  };
  percent("busy", record::metric(DeviceKind::gpu, "utilization"));
  percent("cores active", record::metric(DeviceKind::gpu, "sm_active"));
  percent("tensor cores", record::metric(DeviceKind::gpu, "tensor_active"));
  const auto limit = mean_over_gpus(summary, record::metric(DeviceKind::gpu, "power_limit_enforced"));
  auto power = mean_over_gpus(summary, record::metric(DeviceKind::gpu, "power_avg"));
  if (!power) power = mean_over_gpus(summary, record::metric(DeviceKind::gpu, "power_inst"));
  if (limit && power && *limit > 0) state.add(fmt::format("power {} of its limit", share_text(*power / *limit)));
  if (const auto clock = mean_over_gpus(summary, record::metric(DeviceKind::gpu, "sm_clock")))
    state.add(fmt::format("{:.0f} MHz", *clock));
  put_entry(screen, "GPU state", state);
}

void put_profile(Screen& screen, const record::Run& run, const energy::Summary& summary) {
  const energy::PowerProfile* widest = nullptr;
  std::int64_t falls = 0;
  for (const auto& p : summary.profiles) {
    if (run.device(p.device).kind != DeviceKind::gpu) continue;
    falls = std::max(falls, p.falls_to_base);
    if (widest == nullptr || p.swing > widest->swing) widest = &p;
  }
  if (widest == nullptr || (falls == 0 && widest->swing < kNotableSwing)) return;
  Pieces profile;
  profile.add(fmt::format("{} between {} and {} (90 % of the time)", device_label(run, widest->device),
                          power_text(widest->p5_w), power_text(widest->p95_w)));
  if (falls > 0) profile.add(fmt::format("fell to idle power {} times", count_text(falls)));
  put_entry(screen, "swings", profile);
}

struct MarkGroup {
  std::int64_t count = 0;
  double energy_j = 0;
  std::int32_t rank = 0;
};

/// Epochs and regions by name, of the lowest rank that has them: ranks share the same devices' time.
void put_marks(Screen& screen, const energy::Summary& summary) {
  std::map<std::string, MarkGroup> groups;
  for (const auto& mark : summary.marks) {
    if (!mark.energy_j || mark.kind == record::MarkKind::step) continue;
    const auto name = mark.kind == record::MarkKind::epoch ? std::string("epochs") : printable(mark.name);
    auto [it, is_new] = groups.try_emplace(name, MarkGroup{0, 0, mark.rank});
    auto& group = it->second;
    if (mark.rank < group.rank) group = {0, 0, mark.rank};
    if (mark.rank == group.rank) ++group.count, group.energy_j += *mark.energy_j;
  }
  Pieces parts;
  for (const auto& [name, group] : groups) {
    const auto mean = energy_text(group.energy_j / static_cast<double>(group.count));
    if (parts.size() >= kMarksShown) break;
    parts.add(group.count == 1 ? fmt::format("{}: {}", name, mean)
                               : fmt::format("{}: {} × {}", name, group.count, mean));
  }
  put_entry(screen, "parts", parts);
}

void put_prediction(Screen& screen, const energy::Prediction& p) {
  Pieces whole;
  whole.add(fmt::format("about {} ({} to {})", energy_text(p.energy_j), energy_text(p.energy_low_j),
                        energy_text(p.energy_high_j)));
  whole.add(duration_text(p.duration_s));
  whole.add(fmt::format("estimated from {} of {} steps", count_text(p.done_steps), count_text(p.total_steps)));
  put_entry(screen, "whole job", whole);
}

void put_consequences(Screen& screen, const energy::Consequences& c, const energy::Factors& factors) {
  Pieces parts;
  if (c.facility_energy_j)
    parts.add(energy_text(*c.facility_energy_j) + (factors.pue ? fmt::format(" with PUE {}", *factors.pue) : ""));
  if (c.price) parts.add(fmt::format("{:.2f} {}", *c.price, factors.currency.empty() ? "(price)" : factors.currency));
  if (c.co2_g) parts.add(core::format_si(*c.co2_g, "g") + " CO2");
  if (parts.empty()) return;
  parts.add("by your factors");
  put_entry(screen, "cost", parts);
}

void put_warnings(Screen& screen, const energy::Summary& summary) {
  const auto& warnings = summary.warnings;
  for (std::size_t i = 0; i < warnings.size() && i < kWarningsShown; ++i)
    screen.entry(i == 0 ? "warning" : "", printable(warnings[i]), Style::bad);
  if (warnings.size() > kWarningsShown)
    screen.entry("", fmt::format("and {} more: `gradwatt report --json` lists all", warnings.size() - kWarningsShown));
}

void put_ending(Screen& screen, const TextOptions& options) {
  if (options.trigger) {
    screen.blank();
    screen.entry("finding", printable(options.trigger->text), Style::strong);
    if (!options.trigger->next_command.empty()) screen.entry("", "→ " + options.trigger->next_command);
  }
  if (!options.trigger) screen.blank();
  screen.entry("record", options.record_place.empty() ? "not kept" : printable(options.record_place));
  if (!options.next_commands.empty()) screen.entry("next", fmt::format("{}", fmt::join(options.next_commands, kDot)));
}

}  // namespace

std::string to_text(const record::Run& run, const energy::Summary& summary, const TextOptions& options) {
  Screen screen(options.screen);
  put_headline(screen, run, summary);
  put_energy_table(screen, run, summary.energy);
  screen.blank();
  if (summary.steps) put_work(screen, *summary.steps);
  put_result(screen, run);
  put_energy_per(screen, summary);
  if (summary.steps) put_phases(screen, *summary.steps);
  put_gpu_state(screen, summary);
  put_profile(screen, run, summary);
  put_marks(screen, summary);
  if (summary.prediction) put_prediction(screen, *summary.prediction);
  put_consequences(screen, summary.consequences, options.factors);
  if (const auto quality = quality_text(run); !quality.empty()) screen.entry("quality", quality);
  put_warnings(screen, summary);
  put_ending(screen, options);
  return screen.text();
}

}  // namespace gradwatt::report
