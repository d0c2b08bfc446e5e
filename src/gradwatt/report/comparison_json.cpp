#include "gradwatt/report/comparison_text.hpp"
#include "gradwatt/report/json_values.hpp"

namespace gradwatt::report {
namespace {

Json metric_of(const energy::MetricChange& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"a", value(metric.a)},
          {"b", value(metric.b)},
          {"change", value(metric.change)},
          {"low", value(metric.low)},
          {"high", value(metric.high)},
          {"change_is", metric.relative ? "relative" : "difference"},
          {"interval", name_of(metric.interval)}};
}

}  // namespace

std::string comparison_to_json(const energy::Comparison& comparison, const ComparisonNames& names) {
  Json out;
  out["schema"] = "gradwatt.comparison/1";
  out["a"] = names.a;
  out["b"] = names.b;
  out["metrics"] = Json::array();
  for (const auto& metric : comparison.metrics) out["metrics"].push_back(metric_of(metric));
  out["verdict"] = name_of(comparison.verdict);
  out["reasons"] = comparison.reasons;
  out["pairs"] = comparison.pairs;
  out["cause"] = nullptr;
  if (comparison.cause) {
    out["cause"] = metric_of(*comparison.cause);
    out["cause"]["name"] = names.metric;
    out["cause"]["cause"] = names.cause;
  }
  out["scaling"] = nullptr;
  if (const auto& scaling = comparison.scaling)
    out["scaling"] = {{"a_ranks", scaling->a_ranks},
                      {"b_ranks", scaling->b_ranks},
                      {"kind", scaling->weak ? "weak" : "strong"},
                      {"efficiency", value(scaling->efficiency)},
                      {"lost_input", value(scaling->lost_input)},
                      {"lost_communication", value(scaling->lost_communication)},
                      {"lost_imbalance", value(scaling->lost_imbalance)},
                      {"lost_rest", value(scaling->lost_rest)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gradwatt::report
