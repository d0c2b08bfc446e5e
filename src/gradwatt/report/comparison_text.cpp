#include "gradwatt/report/comparison_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gradwatt/report/figures.hpp"

namespace gradwatt::report {
namespace {

struct Label {
  std::string_view name, words;
};
/// Columns are as wide as these words.
constexpr auto kLabels = std::to_array<Label>({
    {"samples_per_s", "samples a second"},
    {"steps_per_s", "steps a second"},
    {"step_s", "step"},
    {"energy_per_sample_j", "energy a sample"},
    {"energy_per_step_j", "energy a step"},
    {"power_avg_w", "power"},
    {"data_wait_share", "waits for input"},
    {"comm_exposed_share", "waits for ranks"},
});
constexpr std::size_t kName = 18, kFigure = 12;

std::string_view words_for(std::string_view name) {
  for (const auto& label : kLabels)
    if (label.name == name) return label.words;
  return name;
}

std::string figure(const energy::MetricChange& metric, std::optional<double> value) {
  if (!value) return "—";
  if (!metric.relative) return share_text(*value);
  return metric.unit.empty() || metric.unit == "1/s" ? number_text(*value)
                                                     : number_text(*value) + " " + std::string(metric.unit);
}

std::string signed_percent(double share) {
  return fmt::format("{}{:.1f} %", share < 0 ? "−" : "+", std::abs(100 * share));
}

/// "+12.3 % (+10.1 to +14.5)"; a difference of shares is in points.
std::string change(const energy::MetricChange& metric) {
  if (!metric.change) return "—";
  const auto unit = metric.relative ? "" : " points";
  auto text = metric.relative ? signed_percent(*metric.change) : fmt::format("{:+.1f}{}", 100 * *metric.change, unit);
  if (metric.low && metric.high)
    text += metric.relative ? fmt::format(" ({} to {})", signed_percent(*metric.low), signed_percent(*metric.high))
                            : fmt::format(" ({:+.1f} to {:+.1f})", 100 * *metric.low, 100 * *metric.high);
  return text;
}

std::string interval_words(const energy::Comparison& comparison) {
  const auto* speed = comparison.speed();
  if (speed == nullptr || speed->interval == energy::IntervalOf::none) return {};
  if (speed->interval == energy::IntervalOf::steps)
    return "in brackets: 95 % interval over steps, in blocks as long as they are correlated";
  return comparison.pairs > 0
             ? fmt::format("in brackets: 95 % interval over {} pairs of runs taken in turn", comparison.pairs)
             : "in brackets: 95 % interval over runs";
}

std::string verdict_words(const energy::Comparison& comparison) {
  const auto* speed = comparison.speed();
  switch (comparison.verdict) {
    case energy::Verdict::not_comparable:
      return "not comparable";
    case energy::Verdict::no_difference:
      return "no difference shown";
    case energy::Verdict::likely:
    case energy::Verdict::proven:
      break;
  }
  const bool faster = speed != nullptr && speed->change && *speed->change > 0;
  return fmt::format("{}: the second side is {}", name_of(comparison.verdict), faster ? "faster" : "slower");
}

void put_scaling(Screen& screen, const energy::Scaling& scaling) {
  std::string text = fmt::format("{:.0f} to {:.0f} ranks, {} scaling: efficiency {}", scaling.a_ranks, scaling.b_ranks,
                                 scaling.weak ? "weak (the local batch stays)" : "strong (the global batch stays)",
                                 share_text(scaling.efficiency));
  const auto part = [&](std::optional<double> lost, std::string_view what) {
    if (lost) text += fmt::format("; {} {}", what, share_text(*lost));
  };
  part(scaling.lost_input, "lost to input wait");
  part(scaling.lost_communication, "lost to waiting for ranks");
  part(scaling.lost_imbalance, "lost to imbalance");
  part(scaling.lost_rest, "lost to the rest");
  screen.entry("scaling", text);
}

}  // namespace

std::string comparison_to_text(const energy::Comparison& comparison, const ComparisonNames& names,
                               const Screen::Options& options) {
  Screen screen(options);
  screen.line(fmt::format("{}{}{}{}", pad_right("", kName), pad_left(shorten(printable(names.a), kFigure - 1), kFigure),
                          pad_left(shorten(printable(names.b), kFigure - 1), kFigure), "  change"),
              Style::strong);
  for (const auto& metric : comparison.metrics) {
    if (!metric.a && !metric.b) continue;
    screen.line(fmt::format("{}{}{}  {}", pad_right(words_for(metric.name), kName),
                            pad_left(figure(metric, metric.a), kFigure), pad_left(figure(metric, metric.b), kFigure),
                            change(metric)));
  }
  if (const auto words = interval_words(comparison); !words.empty()) screen.line(words, Style::dim);
  screen.blank();
  if (comparison.scaling) put_scaling(screen, *comparison.scaling);
  if (comparison.cause && !names.metric.empty()) {
    auto text = fmt::format("{} ({}): {} before, {} after", names.metric, names.cause,
                            number_text(comparison.cause->a.value_or(0)), number_text(comparison.cause->b.value_or(0)));
    screen.entry("cause", text);
  }
  screen.entry("verdict", verdict_words(comparison), Style::strong);
  for (const auto& reason : comparison.reasons) screen.entry("", reason);
  return screen.text();
}

}  // namespace gradwatt::report
