#include "gradwatt/report/findings_json.hpp"

#include <cmath>

#include "gradwatt/report/json_values.hpp"

namespace gradwatt::report {
namespace {

Json evidence_of(const std::vector<diagnosis::Evidence>& pieces) {
  auto out = Json::array();
  for (const auto& piece : pieces)
    out.push_back({{"text", piece.text}, {"weight", piece.weight}, {"facts", piece.facts}});
  return out;
}

Json finding_of(const diagnosis::Finding& finding) {
  Json out;
  out["cause"] = finding.info->cause;
  out["id"] = text_or_null(std::string(finding.info->id));
  out["title"] = finding.info->title;
  out["confidence"] = finding.confidence;
  out["healthy"] = diagnosis::is_healthy(finding.info->cause);
  out["evidence"] = evidence_of(finding.evidence);
  out["against"] = evidence_of(finding.contradicted);
  out["remedy"] = finding.advice.change;
  out["owner"] = finding.advice.owner;
  out["precondition"] = text_or_null(finding.advice.precondition);
  out["rollback"] = text_or_null(finding.advice.rollback);
  out["culprit"] = nullptr;
  if (finding.culprit)
    out["culprit"] = {
        {"rank", finding.culprit->rank},
        {"cause", finding.culprit->cause != nullptr ? Json(finding.culprit->cause->cause) : Json(nullptr)}};
  out["ceiling"] = finding.ceiling ? Json(*finding.ceiling) : Json(nullptr);
  out["metric"] = text_or_null(std::string(finding.info->metric));
  out["verify"] = text_or_null(finding.verify);
  return out;
}

Json facts_of(const diagnosis::FactSheet& facts) {
  auto out = Json::array();
  for (const auto& fact : facts.facts()) {
    Json entry{{"name", fact.name}, {"subject", fact.subject}};
    if (const auto number = record::as_number(fact))
      entry["value"] = std::isfinite(*number) ? Json(*number) : Json(nullptr);
    else
      entry["value"] = record::as_text(fact).value_or("");
    entry["unit"] = fact.unit;
    entry["how"] = name_of(fact.how);
    entry["where"] = name_of(fact.where);
    entry["coverage"] = fact.coverage ? Json(*fact.coverage) : Json(nullptr);
    entry["source"] = text_or_null(fact.source);
    out.push_back(std::move(entry));
  }
  return out;
}

Json lint_of(const std::vector<diagnosis::LintFinding>& findings) {
  auto out = Json::array();
  for (const auto& finding : findings)
    out.push_back({{"severity", name_of(finding.severity)},
                   {"setting", finding.setting},
                   {"reason", finding.reason},
                   {"fix", text_or_null(finding.fix)},
                   {"owner", finding.owner}});
  return out;
}

/// Foreign texts may hold bytes that are no UTF-8.
std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string findings_to_json(const diagnosis::Diagnosis& diagnosis, const diagnosis::FactSheet& facts,
                             const std::vector<diagnosis::LintFinding>& lint, const std::string& run_id,
                             const std::string& rests_on) {
  Json out;
  out["schema"] = "gradwatt.diagnosis/1";
  out["run_id"] = text_or_null(run_id);
  out["decided"] = diagnosis.decided();
  out["rests_on"] = text_or_null(rests_on);
  out["findings"] = Json::array();
  for (const auto& finding : diagnosis.findings) out["findings"].push_back(finding_of(finding));
  out["candidates"] = Json::array();
  for (const auto& finding : diagnosis.candidates) out["candidates"].push_back(finding_of(finding));
  out["missing"] = Json::array();
  for (const auto& missing : diagnosis.missing)
    out["missing"].push_back(
        {{"fact", missing.fact}, {"what", missing.what}, {"how", missing.how}, {"decides", missing.decides}});
  out["lint"] = lint_of(lint);
  out["facts"] = facts_of(facts);
  return dump(out);
}

std::string lint_to_json(const std::vector<diagnosis::LintFinding>& findings) {
  return dump(Json{{"schema", "gradwatt.lint/1"}, {"lint", lint_of(findings)}});
}

std::string facts_to_json(const diagnosis::FactSheet& facts) {
  return dump(Json{{"schema", "gradwatt.facts/1"}, {"facts", facts_of(facts)}});
}

}  // namespace gradwatt::report
