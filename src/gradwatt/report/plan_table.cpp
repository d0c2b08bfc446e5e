#include "gradwatt/report/plan_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace gradwatt::report {
namespace {

using planning::Candidate;
using planning::Figure;
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

std::string interval(const Figure& figure, double scale) {
  return fmt::format("{}–{}", digits(figure.low90 / scale), digits(figure.high90 / scale));
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
    out.push_back({std::string(energy.name),
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
  out.push_back({"risk", [](const Row& r) { return risk_text(r.candidate->risk); }, false});
  return out;
}

/// The table as lines, head first. Columns that say the same everywhere, or find no room, are left out.
std::vector<std::string> lay_out(const std::vector<Column>& table, const std::vector<Row>& rows, std::size_t room) {
  struct Laid {
    std::vector<std::string> cells;  ///< head first
    std::size_t width = 0;
    bool follows = false;  ///< from other columns and the node's shape: the first to go
  };
  std::vector<Laid> laid;
  std::size_t total = 3;
  for (const auto& column : table) {
    Laid one{{column.head}, columns(column.head), column.head == "nodes" || column.head.starts_with("a ")};
    for (const auto& row : rows) one.cells.push_back(column.cell(row));
    const bool same =
        std::all_of(one.cells.begin() + 1, one.cells.end(), [&](const auto& c) { return c == one.cells[1]; });
    if (column.optional && same) continue;
    for (const auto& cell : one.cells) one.width = std::max(one.width, columns(cell));
    total += one.width + 2;
    laid.push_back(std::move(one));
  }
  while (total > room) {
    const auto drop = std::ranges::find(laid, true, &Laid::follows);
    if (drop == laid.end()) break;
    total -= drop->width + 2;
    laid.erase(drop);
  }
  std::vector<std::string> lines(rows.size() + 1, "   ");
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (rows[r].chosen || rows[r].knee) lines[r + 1] = rows[r].chosen ? " > " : " k ";
  for (const auto& one : laid)
    for (std::size_t r = 0; r < lines.size(); ++r) lines[r] += pad_left(one.cells[r], one.width + 2);
  return lines;
}

}  // namespace

std::string digits(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
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

}  // namespace gradwatt::report
