#include "gradwatt/report/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "gradwatt/report/figures.hpp"

namespace gradwatt::report {
namespace {

using planning::Candidate;
using planning::Figure;
using planning::Limit;
using planning::Plan;
using planning::Question;

constexpr double kJoulePerKwh = 3.6e6;
constexpr std::size_t kMostRows = 12;

/// One unit for a column, by the middle of its figures.
struct Unit {
  std::string_view name;
  double scale;
};
Unit time_unit(double seconds) {
  if (seconds >= 5400) return {"h", 3600};
  if (seconds >= 90) return {"min", 60};
  return {"s", 1};
}
Unit energy_unit(double joules) {
  if (joules >= 1000 * kJoulePerKwh) return {"MWh", 1000 * kJoulePerKwh};
  return joules >= 0.1 * kJoulePerKwh ? Unit{"kWh", kJoulePerKwh} : Unit{"Wh", 3600};
}

/// Three digits, never as a power of ten.
std::string digits(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}
std::string interval(const Figure& figure, double scale) {
  return fmt::format("{}–{}", digits(figure.low90 / scale), digits(figure.high90 / scale));
}

/// No line breaks between a number and its "%".
std::string together(std::string text) {
  for (auto at = text.find(" %"); at != std::string::npos; at = text.find(" %", at + 1))
    text.replace(at, 1, unbroken(" "));
  return text;
}

std::string risk_text(const std::optional<double>& risk) {
  if (!risk) return "?";
  return *risk <= 0 ? "none" : fmt::format("{:.{}f}× off", std::exp2(*risk), *risk < 3 ? 1 : 0);
}

/// A row is what predict() says of a candidate of the front.
struct Row {
  const Candidate* candidate;
  planning::Prediction prediction;
  bool chosen = false, knee = false;
};

std::vector<Row> rows_of(const Question& question, const Plan& plan) {
  std::vector<std::size_t> shown;
  const auto& front = plan.front;
  const double every = std::max(1.0, static_cast<double>(front.size() - 1) / (kMostRows - 1));
  for (std::size_t i = 0; i < front.size(); ++i) {
    const bool due = std::fmod(static_cast<double>(i), every) < 1 || i + 1 == front.size();
    if (due || front[i] == plan.chosen || front[i] == plan.knee) shown.push_back(front[i]);
  }
  std::vector<Row> out;
  for (const auto i : shown) {
    const auto& c = plan.at(i);
    out.push_back({&c, predict(job_of(question, c), c.setting), i == plan.chosen, i == plan.knee});
  }
  return out;
}

/// A table of which columns are left out that say the same in every row.
struct Column {
  std::string head;
  std::function<std::string(const Row&)> cell;
  bool optional = false;
};

std::vector<Column> columns_of(const Question& question, const std::vector<Row>& rows) {
  const auto& first = *rows[rows.size() / 2].candidate;
  const auto time = time_unit(first.time_s);
  const auto energy = energy_unit(first.energy_j.value_or(0));
  const auto& axes = question.axes;
  std::vector<Column> out;
  out.push_back({"GPUs", [](const Row& r) { return fmt::format("{:g}", r.candidate->setting.gpus); }, false});
  out.push_back({"nodes", [](const Row& r) { return fmt::format("{:g}", r.candidate->setting.nodes()); }, false});
  out.push_back(
      {"batch", [](const Row& r) { return fmt::format("{:g}", r.candidate->setting.global_batch()); }, false});
  out.push_back({axes.gpus_per_replica > 1 ? "a replica" : "a GPU",
                 [](const Row& r) { return fmt::format("{:g}", r.candidate->setting.local_batch); }, false});
  out.push_back({"passes", [](const Row& r) { return fmt::format("{:g}", r.candidate->setting.accumulation); }, true});
  out.push_back({"hardware", [&](const Row& r) { return axes.hardware[r.candidate->hardware].name; }, true});
  out.push_back(
      {"cap W",
       [](const Row& r) { return r.candidate->setting.cap_w ? fmt::format("{:g}", *r.candidate->setting.cap_w) : "-"; },
       axes.caps_w.empty()});
  if (axes.strategies.size() > 1)
    out.push_back({"exchange", [&](const Row& r) { return axes.strategies[r.candidate->strategy].name; }, true});
  out.push_back({fmt::format("time {}", time.name),
                 [time](const Row& r) { return digits(r.prediction.time_s.figure->value / time.scale); }, false});
  out.push_back({"90 %", [time](const Row& r) { return interval(*r.prediction.time_s.figure, time.scale); }, false});
  if (first.energy_j) {
    out.push_back({fmt::format("energy {}", energy.name),
                   [energy](const Row& r) { return digits(r.candidate->energy_j.value_or(0) / energy.scale); }, false});
    out.push_back({"90 %",
                   [energy](const Row& r) {
                     return r.prediction.energy_j.figure ? interval(*r.prediction.energy_j.figure, energy.scale) : "-";
                   },
                   false});
  } else {
    out.push_back({"GPU-hours", [](const Row& r) { return digits(r.candidate->gpu_hours); }, false});
  }
  if (first.cost)
    out.push_back({question.prices.currency.empty() ? "cost" : question.prices.currency,
                   [](const Row& r) { return digits(r.candidate->cost.value_or(0)); }, false});
  out.push_back({"batch risk", [](const Row& r) { return risk_text(r.candidate->risk); }, false});
  return out;
}

/// The table as lines, head first. Columns that say the same everywhere, or find no room, are left out.
std::vector<std::string> lay_out(const std::vector<Column>& table, const std::vector<Row>& rows, std::size_t room) {
  struct Laid {
    std::vector<std::string> cells;  ///< head first
    std::size_t width = 0;
    bool narrow_first = false;
  };
  std::vector<Laid> laid;
  std::size_t total = 3;
  for (const auto& column : table) {
    Laid one{{column.head}, columns(column.head), column.head == "nodes"};
    for (const auto& row : rows) one.cells.push_back(column.cell(row));
    const bool same =
        std::all_of(one.cells.begin() + 1, one.cells.end(), [&](const auto& c) { return c == one.cells[1]; });
    if (column.optional && same) continue;
    for (const auto& cell : one.cells) one.width = std::max(one.width, columns(cell));
    total += one.width + 2;
    laid.push_back(std::move(one));
  }
  if (total > room) std::erase_if(laid, [](const Laid& one) { return one.narrow_first; });
  std::vector<std::string> lines(rows.size() + 1, "   ");
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (rows[r].chosen || rows[r].knee) lines[r + 1] = rows[r].chosen ? " > " : " k ";
  for (const auto& one : laid)
    for (std::size_t r = 0; r < lines.size(); ++r) lines[r] += pad_left(one.cells[r], one.width + 2);
  return lines;
}

void put_front(Screen& screen, const Question& question, const Plan& plan) {
  const auto rows = rows_of(question, plan);
  const auto lines = lay_out(columns_of(question, rows), rows, screen.width());
  screen.line(fmt::format("The front: nothing else is faster at the same {} ({} of {} settings{})",
                          plan.at(plan.front.front()).energy_j ? "energy" : "GPU-hours", plan.front.size(),
                          plan.grid.candidates.size(),
                          rows.size() < plan.front.size() ? fmt::format(", {} shown", rows.size()) : ""),
              Style::strong);
  screen.line(lines.front(), Style::dim);
  for (std::size_t r = 0; r < rows.size(); ++r) screen.line(lines[r + 1], rows[r].chosen ? Style::good : Style::plain);
  screen.line(plan.knee ? "   > chosen, k knee; 90 %: the truth lies between, nine times in ten"
                        : "   > chosen; 90 %: the truth lies between, nine times in ten",
              Style::dim);
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
