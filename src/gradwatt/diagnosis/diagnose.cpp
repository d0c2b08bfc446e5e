#include "gradwatt/diagnosis/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

/// Candidates below the shown findings: enough to see what the missing facts are about, not the whole table.
constexpr std::size_t kCandidates = 5, kMissing = 5;
/// A cause that could rise above this with what it lacks is worth a measurement.
constexpr double kWorthMeasuring = 0.3;

double confidence_of(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

struct Judged {
  const CauseInfo* info;
  Opinion opinion;
  double log_odds;
};

std::vector<Judged> judge_all(const FactSheet& facts) {
  std::vector<Judged> out;
  for (const auto& info : cause_table()) {
    Opinion opinion;
    info.judge(facts, opinion);
    if (opinion.ruled_out()) continue;
    const double log_odds = info.prior + opinion.sum();
    out.push_back({&info, std::move(opinion), log_odds});
  }
  std::ranges::stable_sort(out, std::greater<>(), &Judged::log_odds);
  return out;
}

std::string verification(const CauseInfo& info) {
  if (is_healthy(info.cause)) return {};
  return fmt::format(
      "run it at least three times each way in turn (gradwatt run --name before …, gradwatt run --name after …), then "
      "gradwatt compare before… --vs after…; "
      "{} must move",
      info.metric);
}

bool about_ranks(const CauseInfo& info) {
  return family_of(info.cause) == "imbalance" || info.cause == "hardware:silicon-spread";
}

/// What is known of one rank, as if it were the job.
FactSheet sheet_of_rank(const FactSheet& facts, std::int32_t rank) {
  const auto own = fmt::format("rank {}", rank);
  std::vector<record::Fact> out;
  for (const auto& fact : facts.facts()) {
    if (fact.subject == own) {
      out.push_back(fact);
      out.back().subject = "job";
    }
  }
  for (const auto& fact : facts.facts()) {
    const bool other_rank = fact.subject.starts_with("rank ");
    const bool told = std::ranges::any_of(out, [&](const auto& known) { return known.name == fact.name; });
    if (!other_rank && !told) out.push_back(fact);
  }
  return FactSheet(std::move(out));
}

/// Only the culprit is looked into: the others' long waits are its doing.
std::optional<Culprit> culprit_of(const FactSheet& facts) {
  const auto rank = facts.number("rank.culprit");
  if (!rank) return std::nullopt;
  Culprit out{.rank = static_cast<std::int32_t>(*rank)};
  for (auto& judged : judge_all(sheet_of_rank(facts, out.rank))) {
    const auto& info = *judged.info;
    if (is_healthy(info.cause) || about_ranks(info) || !judged.opinion.has_support() ||
        confidence_of(judged.log_odds) < kShown)
      continue;
    out.cause = &info;
    out.confidence = confidence_of(judged.log_odds);
    for (const auto& piece : judged.opinion.evidence())
      if (piece.weight > 0) out.evidence.push_back(piece);
    break;
  }
  return out;
}

Finding finding_of(const FactSheet& facts, Judged&& judged) {
  const auto& info = *judged.info;
  Finding out{.info = &info,
              .confidence = confidence_of(judged.log_odds),
              .advice = {std::string(info.change), std::string(info.owner), std::string(info.precondition),
                         std::string(info.rollback)},
              .verify = verification(info)};
  for (const auto& piece : judged.opinion.evidence())
    (piece.weight > 0 ? out.evidence : out.contradicted).push_back(piece);
  std::ranges::stable_sort(out.evidence, std::greater<>(), &Evidence::weight);
  if (info.cause == "imbalance:straggler-rank") out.culprit = culprit_of(facts);
  if (info.refine != nullptr) info.refine(facts, out.advice);
  if (info.ceiling != nullptr) out.ceiling = info.ceiling(facts);
  return out;
}

/// For each fact that is asked for, how much the causes that are still open would gain from it.
/// A job that trains on CPUs has no GPU to measure and no path between two.
bool can_be_supplied(const FactSheet& facts, std::string_view name) {
  constexpr std::array<std::string_view, 3> kBetweenGpus{"comm.p2p_possible", "comm.topology", "comm.gpudirect_rdma"};
  const bool of_gpus = name.starts_with("gpu.") || std::ranges::find(kBetweenGpus, name) != kBetweenGpus.end();
  return !(of_gpus && trains_on_cpus(facts));
}

std::vector<Missing> missing_facts(const FactSheet& facts, const std::vector<Judged>& open) {
  struct Worth {
    double sum = 0;
    std::vector<std::string_view> decides;
  };
  std::map<std::string, Worth> wanted;
  for (const auto& [info, opinion, log_odds] : open) {
    double reach = log_odds;
    for (const auto& want : opinion.wanted()) reach += want.weight;
    if (confidence_of(reach) < kWorthMeasuring) continue;
    for (const auto& want : opinion.wanted()) {
      if (facts.has(want.fact) || !can_be_supplied(facts, want.fact)) continue;
      auto& worth = wanted[want.fact];
      // A likely cause makes its question worth more than a far one.
      worth.sum += want.weight * confidence_of(log_odds) * (opinion.has_support() ? 2 : 1);
      worth.decides.push_back(info->cause);
    }
  }
  std::vector<std::pair<double, Missing>> ranked;
  for (auto& [fact, worth] : wanted) {
    const auto* row = record::find_fact(fact);
    ranked.emplace_back(worth.sum, Missing{fact, row != nullptr ? std::string(row->description) : "",
                                           how_to_supply(fact), std::move(worth.decides)});
  }
  std::ranges::stable_sort(ranked, std::greater<>(), [](const auto& entry) { return entry.first; });
  std::vector<Missing> out;
  for (auto& [sum, missing] : ranked)
    if (out.size() < kMissing) out.push_back(std::move(missing));
  return out;
}

/// The culprit's cause was told by figures of that rank, not by what holds for the whole job.
bool rests_on_the_rank(const FactSheet& facts, const Culprit& culprit) {
  const auto own = fmt::format("rank {}", culprit.rank);
  return std::ranges::any_of(culprit.evidence, [&](const auto& piece) {
    return std::ranges::any_of(piece.facts, [&](const auto& name) { return facts.number(name, own).has_value(); });
  });
}

/// Where one rank is late by its own fault, that comes first, and its cause is told there: seen over all ranks the same
/// cause would look like everybody's.
void put_straggler_first(const FactSheet& facts, std::vector<Finding>& findings) {
  const auto straggler = std::ranges::find_if(
      findings, [](const auto& finding) { return finding.culprit && finding.culprit->cause != nullptr; });
  if (straggler == findings.end() || !rests_on_the_rank(facts, *straggler->culprit)) return;
  const auto* cause = straggler->culprit->cause;
  std::rotate(findings.begin(), straggler, std::next(straggler));
  std::erase_if(findings, [&](const auto& finding) { return finding.info == cause; });
}

}  // namespace

Diagnosis diagnose(const FactSheet& facts) {
  Diagnosis out;
  auto judged = judge_all(facts);
  // A fault that is found contradicts "healthy".
  const bool faulty = std::ranges::any_of(judged, [](const auto& entry) {
    return !is_healthy(entry.info->cause) && entry.opinion.has_support() && confidence_of(entry.log_odds) >= kShown;
  });
  if (faulty) std::erase_if(judged, [](const auto& entry) { return is_healthy(entry.info->cause); });
  const bool settled = !judged.empty() && confidence_of(judged.front().log_odds) >= 0.9;
  if (!settled) out.missing = missing_facts(facts, judged);
  for (auto& entry : judged) {
    if (!entry.opinion.has_support()) continue;
    const bool shown = confidence_of(entry.log_odds) >= kShown;
    if (!shown && out.candidates.size() >= kCandidates) continue;
    (shown ? out.findings : out.candidates).push_back(finding_of(facts, std::move(entry)));
  }
  put_straggler_first(facts, out.findings);
  return out;
}

}  // namespace gradwatt::diagnosis
