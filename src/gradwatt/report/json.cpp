#include "gradwatt/report/json.hpp"

#include <array>

#include "gradwatt/report/figures.hpp"
#include "gradwatt/report/headline.hpp"
#include "gradwatt/report/json_values.hpp"
#include "gradwatt/report/measuring_quality.hpp"

namespace gradwatt::report {
namespace {

/// How and where of a figure that may be missing: a missing figure has no origin.
void put_origin(Json& object, bool known, record::How how, record::Where where, double coverage) {
  object["how"] = known ? Json(name_of(how)) : Json(nullptr);
  object["where"] = known ? Json(name_of(where)) : Json(nullptr);
  object["coverage"] = known ? value(coverage) : Json(nullptr);
}

Json device_energy(const record::Run& run, const energy::DeviceEnergy& d) {
  const auto& device = run.device(d.device);
  Json object;
  object["device"] = record::number(d.device);
  object["uuid"] = device.uuid;
  object["host"] = text_or_null(device.host);
  object["index"] = device.index >= 0 ? Json(device.index) : Json(nullptr);
  object["energy_j"] = value(d.energy_j);
  object["power_avg_w"] = value(d.power_avg_w);
  put_origin(object, d.energy_j.has_value(), d.how, d.where, d.coverage);
  object["low_j"] = value(d.low_j);
  object["high_j"] = value(d.high_j);
  object["interval_contains"] = text_or_null(d.interval_contains);
  object["estimated_j"] = value(d.estimated_j);
  object["in_total"] = d.in_total && d.energy_j.has_value();
  object["metric"] = d.metric ? Json(info(*d.metric).key()) : Json(nullptr);
  object["why_not"] = text_or_null(d.why_not);
  return object;
}

Json component(const record::Run& run, const energy::Component& c) {
  Json object;
  object["component"] = c.component;
  object["energy_j"] = value(c.energy_j);
  object["power_avg_w"] = value(c.power_avg_w);
  object["share"] = value(c.share);
  put_origin(object, c.energy_j.has_value(), c.how, c.where, c.coverage);
  object["low_j"] = value(c.low_j);
  object["high_j"] = value(c.high_j);
  object["estimated_j"] = value(c.estimated_j);
  object["why_not"] = text_or_null(c.why_not);
  object["devices"] = Json::array();
  for (const auto& d : c.devices) object["devices"].push_back(device_energy(run, d));
  return object;
}

Json totals(const record::Run& run, const energy::Totals& t) {
  Json object;
  object["energy_j"] = value(t.energy_j);
  object["power_avg_w"] = value(total_power_w(t));
  put_origin(object, t.energy_j.has_value(), t.how, t.where, t.coverage);
  object["low_j"] = value(t.low_j);
  object["high_j"] = value(t.high_j);
  object["estimated_j"] = value(t.estimated_j);
  object["components"] = Json::array();
  for (const auto& c : t.components) object["components"].push_back(component(run, c));
  object["not_measured"] = t.not_measured;
  return object;
}

Json steps(const energy::Steps& s) {
  Json object;
  object["count"] = s.count;
  object["ranks"] = s.ranks;
  object["span_s"] = value(s.span_s);
  object["steps_per_s"] = value(s.steps_per_s);
  object["samples_per_s"] = value(s.samples_per_s);
  object["samples"] = value(s.samples);
  object["energy_per_sample_j"] = value(s.energy_per_sample_j);
  object["energy_per_step_j"] = value(s.energy_per_step_j);
  const bool has_energy = s.energy_per_sample_j || s.energy_per_step_j;
  object["energy_how"] = has_energy ? Json(name_of(s.energy_how)) : Json(nullptr);
  object["step_median_s"] = value(s.step_median_s);
  object["step_p95_s"] = value(s.step_p95_s);
  for (std::size_t i = 0; i < record::kPhases; ++i)
    object["phase_share"][std::string(name_of(static_cast<record::Phase>(i)))] = value(s.phase_share.at(i));
  return object;
}

Json marks(const energy::Summary& summary) {
  Json list = Json::array();
  for (const auto& m : summary.marks) {
    Json object;
    object["kind"] = name_of(m.kind);
    object["name"] = text_or_null(m.name);
    object["number"] = m.number;
    object["rank"] = m.rank;
    object["begin_s"] = value(m.begin_s);
    object["duration_s"] = value(m.duration_s);
    object["energy_j"] = value(m.energy_j);
    object["low_j"] = value(m.low_j);
    object["high_j"] = value(m.high_j);
    object["how"] = m.energy_j ? Json(name_of(m.how)) : Json(nullptr);
    object["samples"] = value(m.samples);
    list.push_back(std::move(object));
  }
  return list;
}

Json statistics(const energy::Summary& summary) {
  Json list = Json::array();
  for (const auto& s : summary.statistics) {
    const auto& metric = info(s.metric);
    list.push_back({{"device", record::number(s.device)},
                    {"kind", name_of(metric.kind)},
                    {"metric", metric.key()},
                    {"mean", value(s.mean)},
                    {"min", value(s.min)},
                    {"max", value(s.max)},
                    {"p5", value(s.p5)},
                    {"p50", value(s.p50)},
                    {"p95", value(s.p95)},
                    {"covered_s", value(s.covered_s)}});
  }
  return list;
}

Json profiles(const energy::Summary& summary) {
  Json list = Json::array();
  for (const auto& p : summary.profiles)
    list.push_back({{"device", record::number(p.device)},
                    {"metric", p.metric ? Json(info(*p.metric).key()) : Json(nullptr)},
                    {"idle_w", value(p.idle_w)},
                    {"mean_w", value(p.mean_w)},
                    {"p5_w", value(p.p5_w)},
                    {"p95_w", value(p.p95_w)},
                    {"swing", value(p.swing)},
                    {"falls_to_base", p.falls_to_base},
                    {"stability", value(p.stability)}});
  return list;
}

Json cross_checks(const energy::Summary& summary) {
  constexpr std::array<std::string_view, 4> kVerdicts{"agrees", "warning", "suspect", "not_judged"};
  Json list = Json::array();
  for (const auto& c : summary.cross_checks)
    list.push_back({{"device", record::number(c.device)},
                    {"counter_j", value(c.counter_j)},
                    {"integrated_j", value(c.integrated_j)},
                    {"window_s", value(c.window_s)},
                    {"difference", value(c.difference)},
                    {"allowed", value(c.allowed)},
                    {"verdict", kVerdicts.at(static_cast<std::size_t>(c.verdict))},
                    {"reason", text_or_null(c.reason)}});
  return list;
}

Json prediction(const std::optional<energy::Prediction>& p) {
  if (!p) return nullptr;
  return {{"done_steps", p->done_steps},
          {"total_steps", p->total_steps},
          {"energy_j", value(p->energy_j)},
          {"energy_low_j", value(p->energy_low_j)},
          {"energy_high_j", value(p->energy_high_j)},
          {"duration_s", value(p->duration_s)},
          {"how", name_of(record::How::estimated)}};
}

Json consequences(const energy::Consequences& c, const energy::Factors& factors) {
  return {{"pue", value(factors.pue)},
          {"facility_energy_j", value(c.facility_energy_j)},
          {"price_per_kwh", value(factors.price_per_kwh)},
          {"price", value(c.price)},
          {"currency", text_or_null(factors.currency)},
          {"co2_g_per_kwh", value(factors.co2_g_per_kwh)},
          {"co2_g", value(c.co2_g)}};
}

Json devices(const record::Run& run) {
  Json list = Json::array();
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const auto& d = run.devices[i];
    list.push_back({{"device", i},
                    {"kind", name_of(d.kind)},
                    {"uuid", d.uuid},
                    {"name", d.name},
                    {"index", d.index >= 0 ? Json(d.index) : Json(nullptr)},
                    {"host", text_or_null(d.host)},
                    {"attributes", d.attributes}});
  }
  return list;
}

Json series_quality(const record::Run& run) {
  Json list = Json::array();
  for (const auto& q : run.quality)
    list.push_back({{"device", record::number(q.device)},
                    {"metric", info(q.metric).key()},
                    {"how", name_of(q.how)},
                    {"where", name_of(q.where)},
                    {"scope", text_or_null(q.scope)},
                    {"source", text_or_null(q.source)},
                    {"cadence_s", value(static_cast<double>(q.cadence_ns) * 1e-9)},
                    {"sampling", name_of(q.sampling)},
                    {"duty", value(q.duty)},
                    {"uncertainty", value(q.uncertainty)},
                    {"standard_error", value(q.standard_error)},
                    {"coverage", value(q.coverage)},
                    {"readings", q.readings},
                    {"failed", q.failed},
                    {"wraps", q.wraps},
                    {"resets", q.resets},
                    {"backward", q.backward},
                    {"stuck", q.stuck},
                    {"glitches", q.glitches},
                    {"note", text_or_null(q.note)}});
  return list;
}

Json quality(const record::Run& run) {
  const auto counts = count_readings(run);
  const auto interval = run.number_of(record::meta::kInterval);
  Json object;
  object["interval_s"] = interval ? value(static_cast<double>(*interval) * 1e-9) : Json(nullptr);
  object["ticks"] = value(sum_of_fact(run, "sampler.ticks"));
  object["late_ticks"] = value(sum_of_fact(run, "sampler.late_ticks"));
  object["rows_lost"] = value(sum_of_fact(run, "sampler.rows_lost"));
  object["readings"] = counts.readings;
  object["failed_readings"] = counts.failed;
  object["rejected_counter_steps"] = counts.rejected;
  object["own_cpu_s"] = value(sum_of_fact(run, "sampler.cpu_s"));
  object["own_rss_bytes"] = value(sum_of_fact(run, "sampler.rss_bytes"));
  object["series"] = series_quality(run);
  return object;
}

Json facts(const record::Run& run) {
  Json list = Json::array();
  for (const auto& f : run.facts) {
    const auto number = as_number(f);
    list.push_back({{"name", f.name},
                    {"subject", f.subject},
                    {"value", number ? value(*number) : Json(as_text(f).value_or(""))},
                    {"unit", text_or_null(f.unit)},
                    {"how", name_of(f.how)},
                    {"where", name_of(f.where)},
                    {"source", text_or_null(f.source)}});
  }
  return list;
}

Json trigger(const std::optional<TriggerLine>& t) {
  if (!t) return nullptr;
  return {{"text", t->text}, {"next_command", text_or_null(t->next_command)}};
}

}  // namespace

std::string to_json(const record::Run& run, const energy::Summary& summary, const JsonOptions& options) {
  Json object;
  object["schema"] = "gradwatt.report/1";
  object["run_id"] = text_or_null(summary.run_id);
  object["name"] = text_or_null(std::string(run.text(record::meta::kName).value_or("")));
  object["complete"] = summary.complete;
  object["exit_status"] = value(summary.exit_status);
  object["duration_s"] = has_times(run, summary) ? value(summary.duration_s) : Json(nullptr);
  object["command"] = text_or_null(std::string(run.text(record::meta::kCommand).value_or("")));
  object["hosts"] = hosts_of(run);
  object["where"] = name_of(run.where());
  object["energy"] = totals(run, summary.energy);
  object["steps"] = summary.steps ? steps(*summary.steps) : Json(nullptr);
  object["marks"] = marks(summary);
  object["gpu_kwh_per_gpu_hour"] = value(summary.gpu_kwh_per_gpu_hour);
  object["prediction"] = prediction(summary.prediction);
  object["consequences"] = consequences(summary.consequences, options.factors);
  object["trigger"] = trigger(options.trigger);
  object["warnings"] = summary.warnings;
  object["cross_checks"] = cross_checks(summary);
  object["profiles"] = profiles(summary);
  object["statistics"] = statistics(summary);
  object["devices"] = devices(run);
  object["quality"] = quality(run);
  object["facts"] = facts(run);
  object["record"] = text_or_null(options.record_place);
  // Foreign texts may not be UTF-8; a report that throws on them would lose the figures.
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gradwatt::report
