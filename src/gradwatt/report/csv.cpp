#include "gradwatt/report/csv.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/report/figures.hpp"

namespace gradwatt::report {
namespace {

using core::csv_cell;

std::string cell(std::optional<double> number) {
  return number && std::isfinite(*number) ? fmt::format("{}", *number) : std::string();
}

std::string index_cell(const record::Device& device) {
  return device.index >= 0 ? fmt::format("{}", device.index) : std::string();
}

struct Figures {
  std::optional<double> energy_j, power_avg_w, share;
  record::How how{};
  record::Where where{};
  double coverage = 0;
  std::optional<double> low_j, high_j, estimated_j;
  const std::string& why_not;
};

std::string figure_cells(const Figures& f) {
  const bool known = f.energy_j.has_value();
  return fmt::format("{},{},{},{},{},{},{},{},{},{}\n", cell(f.energy_j), cell(f.power_avg_w), cell(f.share),
                     known ? name_of(f.how) : "", known ? name_of(f.where) : "",
                     known ? cell(f.coverage) : std::string(), cell(f.low_j), cell(f.high_j), cell(f.estimated_j),
                     csv_cell(f.why_not));
}

/// Turns sample times into the two time cells.
class TimeCells {
 public:
  explicit TimeCells(const record::Run& run) {
    const auto extent = run.extent();
    begin_ns_ = extent ? extent->begin_ns : 0;
    if (run.text(record::meta::kClock) == "wall") {
      wall_offset_ns_ = 0;
      return;
    }
    const auto monotonic = run.number_of(record::meta::kAnchorMonotonic);
    const auto wall = run.number_of(record::meta::kAnchorWall);
    if (monotonic && wall) wall_offset_ns_ = *wall - *monotonic;
  }
  [[nodiscard]] std::string operator()(std::int64_t time_ns) const {
    const double seconds = static_cast<double>(time_ns - begin_ns_) * 1e-9;
    const auto utc =
        wall_offset_ns_ ? core::format_utc(core::WallTime(core::Duration(time_ns + *wall_offset_ns_))) : std::string();
    return fmt::format("{:.6f},{}", seconds, utc);
  }

 private:
  std::int64_t begin_ns_ = 0;
  std::optional<std::int64_t> wall_offset_ns_;
};

std::string device_cells(const record::Device& d) {
  return fmt::format("{},{},{},{}", csv_cell(d.host), name_of(d.kind), index_cell(d), csv_cell(d.uuid));
}

/// The shortest text that is exact: the stored integer times the metric's step, without the noise of binary fractions.
std::string value_cell(const record::Column& column, std::size_t i) {
  if (!column.has(i)) return {};
  const double step = info(column.metric).step;
  if (step == 1) return fmt::format("{}", column.values[i]);
  const int decimals = static_cast<int>(std::lround(-std::log10(step)));
  return fmt::format("{:.{}f}", static_cast<double>(column.values[i]) * step, decimals);
}

/// Metrics that some device of the run has, in table order.
std::vector<record::MetricId> metrics_in(const record::Run& run) {
  std::vector<record::MetricId> metrics;
  for (std::size_t i = 0; i < record::table::kMetrics.size(); ++i) {
    const auto id = static_cast<record::MetricId>(i);
    for (const auto& series : run.series)
      if (series.find(id) != nullptr) {
        metrics.push_back(id);
        break;
      }
  }
  return metrics;
}

std::string column_name(record::MetricId id) { return fmt::format("{}_{}", name_of(info(id).kind), info(id).key()); }

void wide_rows(const record::Run& run, const TimeCells& time, std::ostream& out) {
  const auto metrics = metrics_in(run);
  out << "time_s,time_utc,host,kind,index,uuid";
  for (const auto id : metrics) out << ',' << column_name(id);
  out << '\n';
  for (const auto& series : run.series) {
    const auto device = device_cells(run.device(series.device));
    std::vector<const record::Column*> columns;
    for (const auto id : metrics) columns.push_back(series.find(id));
    for (std::size_t i = 0; i < series.size(); ++i) {
      out << time(series.time_ns[i]) << ',' << device;
      for (const auto* column : columns) out << ',' << (column != nullptr ? value_cell(*column, i) : std::string());
      out << '\n';
    }
  }
}

void long_rows(const record::Run& run, const TimeCells& time, std::ostream& out) {
  out << "time_s,time_utc,host,kind,index,uuid,metric,value\n";
  for (const auto& series : run.series) {
    const auto device = device_cells(run.device(series.device));
    for (std::size_t i = 0; i < series.size(); ++i)
      for (const auto& column : series.columns)
        out << time(series.time_ns[i]) << ',' << device << ',' << info(column.metric).key() << ','
            << value_cell(column, i) << '\n';
  }
}

}  // namespace

std::string summary_csv(const record::Run& run, const energy::Summary& summary) {
  std::string text =
      "run_id,level,component,host,index,uuid,energy_j,power_avg_w,share,how,where,coverage,low_j,high_j,estimated_j,"
      "why_not\n";
  const auto id = csv_cell(summary.run_id);
  const auto& total = summary.energy;
  text += fmt::format("{},total,,,,,", id) +
          figure_cells({total.energy_j, total_power_w(total), std::nullopt, total.how, total.where, total.coverage,
                        total.low_j, total.high_j, total.estimated_j, ""});
  for (const auto& c : total.components) {
    text += fmt::format("{},component,{},,,,", id, csv_cell(c.component)) +
            figure_cells({c.energy_j, c.power_avg_w, c.share, c.how, c.where, c.coverage, c.low_j, c.high_j,
                          c.estimated_j, c.why_not});
    for (const auto& d : c.devices) {
      const auto& device = run.device(d.device);
      text += fmt::format("{},device,{},{},{},{},", id, csv_cell(c.component), csv_cell(device.host),
                          index_cell(device), csv_cell(device.uuid)) +
              figure_cells({d.energy_j, d.power_avg_w, std::nullopt, d.how, d.where, d.coverage, d.low_j, d.high_j,
                            d.estimated_j, d.why_not});
    }
  }
  return text;
}

void raw_csv(const record::Run& run, RawLayout layout, std::ostream& out) {
  const TimeCells time(run);
  layout == RawLayout::wide ? wide_rows(run, time, out) : long_rows(run, time, out);
}

}  // namespace gradwatt::report
