#include "gradwatt/report/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "gradwatt/report/figures.hpp"
#include "gradwatt/report/plan_table.hpp"

namespace gradwatt::report {
namespace {

using planning::Candidate;
using planning::Figure;
using planning::Limit;
using planning::Plan;
using planning::Question;

constexpr double kJoulePerKwh = 3.6e6;

/// No line breaks between a number and its "%".
std::string together(std::string text) {
  for (auto at = text.find(" %"); at != std::string::npos; at = text.find(" %", at + 1))
    text.replace(at, 1, unbroken(" "));
  return text;
}

std::string range_words(const Figure& figure, const std::function<std::string(double)>& words) {
  return fmt::format("{} ({} to {}, nine times in ten)", words(figure.value), words(figure.low90),
                     words(figure.high90));
}

void put_consequences(Screen& screen, const Question& question, const Candidate& c) {
  const auto& prices = question.prices;
  if (const auto facility = facility_energy_j(question, c)) {
    std::string text;
    if (prices.pue > 1)
      text += fmt::format("{} at the building's meter (PUE {:g})", energy_text(*facility), prices.pue);
    if (prices.co2_g_per_kwh)
      text += fmt::format("{}{:.3g} kg CO2 ({:g} g a kWh)", text.empty() ? "" : "; ",
                          *prices.co2_g_per_kwh * *facility / kJoulePerKwh / 1000, *prices.co2_g_per_kwh);
    if (!text.empty()) screen.entry("so", text);
  }
  if (c.cost) {
    std::string of;
    if (prices.per_kwh) of += fmt::format("{:g} a kWh", *prices.per_kwh);
    if (prices.per_gpu_hour) of += fmt::format("{}{:g} a GPU-hour", of.empty() ? "" : ", ", *prices.per_gpu_hour);
    screen.entry("cost", fmt::format("{} {} ({})", digits(*c.cost), prices.currency, of));
  }
}

std::string node_words(const Candidate& c) {
  return fmt::format("{:g} node{}", c.setting.nodes(), c.setting.nodes() == 1 ? "" : "s");
}

void put_risk(Screen& screen, const Question& question, const Candidate& c) {
  if (!question.good_batches) {
    screen.entry("quality", "at which global batches the target is reached is not known: say --good-batch LOW-HIGH");
    return;
  }
  const auto& good = *question.good_batches;
  screen.entry("quality", fmt::format("global batch {:g} is {} {:g} to {:g}, where the target was reached ({})",
                                      c.setting.global_batch(), c.risk.value_or(0) > 0 ? "outside" : "within",
                                      good.least, good.most, good.origin));
}

void put_chosen(Screen& screen, const Question& question, const Plan& plan) {
  const auto& c = plan.at(*plan.chosen);
  const auto prediction = predict(job_of(question, c), c.setting);
  screen.entry("take", describe(question, c) + ", " + node_words(c), Style::strong);
  const auto& origin = question.axes.hardware[c.hardware].origin;
  const auto basis = prediction.time_s.origin + (origin.empty() || origin == "measured" ? "" : "; " + origin);
  screen.entry("time", range_words(*prediction.time_s.figure, planning::time_text) + "; " + basis);
  if (prediction.energy_j.figure)
    screen.entry("energy", range_words(*prediction.energy_j.figure, energy_text) +
                               fmt::format(", {:.2g} kWh a GPU-hour", *c.energy_j / kJoulePerKwh / c.gpu_hours));
  else
    screen.entry("energy", "not known: " + prediction.energy_j.origin);
  put_consequences(screen, question, c);
  put_risk(screen, question, c);
  const bool fastest = plan.front.front() == *plan.chosen;
  screen.entry("because", fmt::format("least {} within the limits{}", c.energy_j ? "energy" : "GPU-hours",
                                      fastest ? ", and the fastest" : "; of those within 2 % the fastest"));
  const auto& deadline = question.limits.deadline_s;
  if (deadline && prediction.time_s.figure->high90 > *deadline)
    screen.entry("careful",
                 fmt::format("the interval reaches past the deadline of {}; --surely keeps it by the far end",
                             planning::time_text(*deadline)),
                 Style::bad);
}

void put_rivals(Screen& screen, const Question& question, const Plan& plan) {
  if (plan.rivals.empty()) return;
  screen.blank();
  screen.line("Why not", Style::strong);
  for (const auto& rival : plan.rivals)
    screen.entry("", together(describe(question, plan.at(rival.candidate)) + ": " + rival.reason));
}

void put_knee(Screen& screen, const Question& question, const Plan& plan) {
  if (plan.knee)
    screen.entry("knee",
                 fmt::format("{} in {}: faster than that, energy grows by more than time falls",
                             describe(question, plan.at(*plan.knee)), planning::time_text(plan.at(*plan.knee).time_s)));
  else if (plan.front.size() > 2)
    screen.entry("knee", "none in this range: up to the fastest, time falls by more than energy grows");
}

std::string limit_words(Limit limit) {
  switch (limit) {
    case Limit::whole_batch:
      return "batch that does not divide among the replicas";
    case Limit::unknown:
      return "profile does not say";
    case Limit::memory:
      return "memory of a GPU";
    case Limit::least_batch:
      return "smallest global batch";
    case Limit::most_batch:
      return "largest global batch";
    case Limit::risk:
      return "batch outside those that reach the target";
    case Limit::whole_nodes:
      return "nodes partly empty";
    case Limit::nodes:
      return "number of nodes";
    case Limit::deadline:
      return "deadline";
    case Limit::energy:
      return "energy budget";
    case Limit::cost:
      return "cost budget";
  }
  return {};
}

void put_limits(Screen& screen, const Plan& plan) {
  std::string text;
  for (std::size_t i = 0; i < planning::kLimits; ++i)
    if (plan.broken_by[i] > 0)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", limit_words(static_cast<Limit>(i)), plan.broken_by[i]);
  if (!text.empty()) screen.entry("kept out", "by " + text);
}

void put_inputs(Screen& screen, const PlanSubject& subject) {
  screen.blank();
  screen.line("From", Style::strong);
  for (const auto& input : subject.inputs)
    screen.entry(input.name, input.value + (input.origin.empty() ? "" : " (" + input.origin + ")"), Style::dim);
  for (const auto& note : subject.notes) screen.entry("note", together(note), Style::dim);
}

}  // namespace

std::string plan_to_text(const Question& question, const Plan& plan, const PlanSubject& subject,
                         Screen::Options options) {
  Screen screen(options);
  for (const auto& piece : wrap("Plan of " + subject.title, screen.width())) screen.line(piece, Style::strong);
  if (plan.impossible) {
    screen.entry("impossible", plan.impossible->sentence, Style::bad);
    put_limits(screen, plan);
    put_inputs(screen, subject);
    return screen.text();
  }
  put_chosen(screen, question, plan);
  put_rivals(screen, question, plan);
  screen.blank();
  put_front(screen, question, plan);
  put_knee(screen, question, plan);
  put_limits(screen, plan);
  screen.entry("narrower", "by " + next_profile(question, plan.at(*plan.chosen)));
  put_inputs(screen, subject);
  return screen.text();
}

}  // namespace gradwatt::report
