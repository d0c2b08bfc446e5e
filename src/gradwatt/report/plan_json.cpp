#include "gradwatt/report/json_values.hpp"
#include "gradwatt/report/plan_text.hpp"

namespace gradwatt::report {
namespace {

using planning::Candidate;
using planning::Limit;
using planning::Plan;
using planning::Question;

Json answer(const planning::Answer& answer) {
  if (!answer.figure) return {{"value", nullptr}, {"low90", nullptr}, {"high90", nullptr}, {"origin", answer.origin}};
  return {{"value", answer.figure->value},
          {"low90", answer.figure->low90},
          {"high90", answer.figure->high90},
          {"how", "modelled"},
          {"origin", answer.origin}};
}

Json setting(const Question& question, const Candidate& c) {
  const auto& s = c.setting;
  const auto& strategies = question.axes.strategies;
  return {{"gpus", s.gpus},
          {"nodes", s.nodes()},
          {"gpus_per_node", s.gpus_per_node},
          {"gpus_per_replica", s.gpus_per_replica},
          {"local_batch", s.local_batch},
          {"accumulation", s.accumulation},
          {"global_batch", s.global_batch()},
          {"cap_w", value(s.cap_w)},
          {"dataset_samples", value(s.dataset_samples)},
          {"hardware", question.axes.hardware[c.hardware].name},
          {"hardware_origin", question.axes.hardware[c.hardware].origin},
          {"strategy", strategies.empty() ? Json(nullptr) : Json(strategies[c.strategy].name)}};
}

/// Where the energy goes, at the middle figures.
Json split(const planning::EnergySplit& e) {
  return {{"node_base_j", e.base_j},       {"gpu_idle_j", e.gpu_idle_j}, {"gpu_busy_j", e.gpu_busy_j},
          {"gpu_waiting_j", e.gpu_wait_j}, {"network_j", e.network_j},   {"power_supply_j", e.psu_j}};
}

Json co2(const Question& question, const Candidate& c) {
  const auto facility = facility_energy_j(question, c);
  if (!facility || !question.prices.co2_g_per_kwh) return nullptr;
  return *facility / 3.6e6 * *question.prices.co2_g_per_kwh;
}

Json entry(const Question& question, const Candidate& c) {
  Json out = setting(question, c);
  const auto p = predict(job_of(question, c), c.setting);
  out["time_s"] = answer(p.time_s);
  out["energy_j"] = answer(p.energy_j);
  out["gpu_hours"] = answer(p.gpu_hours);
  out["facility_energy_j"] = value(facility_energy_j(question, c));
  out["cost"] = value(c.cost);
  out["co2_g"] = co2(question, c);
  out["risk_doublings"] = value(c.risk);
  if (!p.time_s.figure) return out;
  out["step_s"] = p.point.step.step_s;
  out["exposed_communication_s"] = p.point.step.exposed_s;
  out["input_wait_s"] = p.point.step.input_s;
  out["steps"] = p.point.steps;
  out["samples"] = p.point.samples;
  if (!c.energy_j) return out;
  out["split"] = split(p.point.energy);
  out["node_power_avg_w"] = *c.energy_j / c.time_s / c.setting.nodes();
  out["energy_per_gpu_hour_j"] = *c.energy_j / c.gpu_hours;
  return out;
}

std::optional<double> limit_value(const Question& question, Limit limit) {
  const auto& l = question.limits;
  switch (limit) {
    case Limit::deadline:
      return l.deadline_s;
    case Limit::energy:
      return l.energy_j;
    case Limit::cost:
      return l.cost;
    case Limit::least_batch:
      return l.least_batch;
    case Limit::most_batch:
      return l.most_batch;
    case Limit::risk:
      return l.most_risk;
    case Limit::nodes:
      return l.most_nodes;
    case Limit::memory:
      return l.most_local_batch;
    default:
      return std::nullopt;
  }
}
std::string_view unit_of(Limit limit) {
  switch (limit) {
    case Limit::deadline:
      return "s";
    case Limit::energy:
      return "J";
    case Limit::memory:
    case Limit::least_batch:
    case Limit::most_batch:
      return "samples";
    case Limit::risk:
      return "doublings";
    default:
      return "";
  }
}

/// Those that were set, and those that kept something out.
Json limits(const Question& question, const Plan& plan) {
  Json out = Json::array();
  for (std::size_t i = 0; i < planning::kLimits; ++i) {
    const auto limit = static_cast<Limit>(i);
    const auto set = limit_value(question, limit);
    if (!set && plan.broken_by[i] == 0) continue;
    const bool binds =
        plan.impossible && std::ranges::find(plan.impossible->binding, limit) != plan.impossible->binding.end();
    out.push_back({{"name", name_of(limit)},
                   {"value", value(set)},
                   {"unit", unit_of(limit)},
                   {"kept_out", plan.broken_by[i]},
                   {"binds", binds}});
  }
  return out;
}

Json impossible(const Question& question, const Plan& plan) {
  if (!plan.impossible) return nullptr;
  Json out{{"sentence", plan.impossible->sentence}, {"binding", Json::array()}, {"nearest", nullptr}};
  for (const auto limit : plan.impossible->binding) out["binding"].push_back(name_of(limit));
  if (plan.impossible->nearest) out["nearest"] = entry(question, plan.at(*plan.impossible->nearest));
  return out;
}

Json prices(const planning::Prices& p) {
  return {{"pue", p.pue},
          {"price_per_kwh", value(p.per_kwh)},
          {"price_per_gpu_hour", value(p.per_gpu_hour)},
          {"currency", p.currency},
          {"co2_g_per_kwh", value(p.co2_g_per_kwh)}};
}

}  // namespace

std::string plan_to_json(const Question& question, const Plan& plan, const PlanSubject& subject) {
  Json out{{"schema", "gradwatt.plan/1"}, {"plan_id", subject.plan_id}, {"title", subject.title}};
  out["chosen"] = plan.chosen ? entry(question, plan.at(*plan.chosen)) : Json(nullptr);
  out["knee"] = plan.knee ? setting(question, plan.at(*plan.knee)) : Json(nullptr);
  out["front"] = Json::array();
  for (const auto i : plan.front) out["front"].push_back(entry(question, plan.at(i)));
  out["rivals"] = Json::array();
  for (const auto& rival : plan.rivals) {
    auto one = setting(question, plan.at(rival.candidate));
    one["reason"] = rival.reason;
    out["rivals"].push_back(std::move(one));
  }
  out["impossible"] = impossible(question, plan);
  out["limits"] = limits(question, plan);
  out["prices"] = prices(question.prices);
  out["inputs"] = Json::array();
  for (const auto& input : subject.inputs)
    out["inputs"].push_back({{"name", input.name}, {"value", input.value}, {"origin", input.origin}});
  out["notes"] = subject.notes;
  out["next_profile"] = plan.chosen ? Json(next_profile(question, plan.at(*plan.chosen))) : Json(nullptr);
  out["settings"] = plan.grid.candidates.size();
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gradwatt::report
