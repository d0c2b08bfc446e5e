#include "gradwatt/record/metric.hpp"

namespace gradwatt::record {
namespace {

constexpr bool kinds_stand_together() {
  for (std::size_t i = 1; i < table::kMetrics.size(); ++i)
    if (table::kMetrics[i].kind < table::kMetrics[i - 1].kind) return false;
  return true;
}
constexpr bool names_are_unique() {
  for (std::size_t i = 0; i < table::kMetrics.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (table::kMetrics[i].kind == table::kMetrics[j].kind && table::kMetrics[i].name == table::kMetrics[j].name)
        return false;
  return true;
}
static_assert(kinds_stand_together());
static_assert(names_are_unique());

std::string join(std::string_view name, std::string_view suffix) {
  return std::string(name).append("_").append(suffix);
}

}  // namespace

std::string Metric::key() const { return join(name, unit); }
std::string Metric::column() const { return join(name, stored); }
std::string Metric::raw_column() const { return join(join(name, "raw"), stored); }

std::optional<MetricId> find_metric(DeviceKind kind, std::string_view name) {
  for (std::size_t i = first_metric(kind); i < first_metric(kind) + metric_count(kind); ++i) {
    const auto& row = table::kMetrics[i];
    if (row.name == name || row.key() == name || row.column() == name) return static_cast<MetricId>(i);
  }
  return std::nullopt;
}

}  // namespace gradwatt::record
