#include "gradwatt/ingest/kineto/rank_contrast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/ingest/kineto/rank_of_file.hpp"

namespace gradwatt::ingest::kineto {
namespace {

using record::Fact;

/// Ranks whose times in collectives differ by less of a step than this are alike: HTA looks at collectives of more than
/// 1 % of an iteration only.
constexpr double kLeastContrast = 0.01;

/// Of one rank, a step.
struct RankTimes {
  std::string subject;
  double step_s = 0, collectives_s = 0, wait_s = 0;
};

std::optional<double> figure(const record::Run& run, std::string_view name, std::string_view subject) {
  for (const auto& fact : run.facts)
    if (fact.name == name && fact.subject == subject) return record::as_number(fact);
  return std::nullopt;
}

/// Ranks of which a trace says how long steps and collectives take.
std::vector<RankTimes> rank_times(const record::Run& run) {
  std::vector<RankTimes> ranks;
  for (const auto& fact : run.facts) {
    if (fact.name != "trace.comm_s") continue;
    if (std::ranges::find(ranks, fact.subject, &RankTimes::subject) != ranks.end()) continue;
    const auto window = figure(run, "trace.window_s", fact.subject), steps = figure(run, "trace.steps", fact.subject);
    if (!window || !steps || *steps < 1) continue;
    RankTimes rank{fact.subject, *window / *steps, record::as_number(fact).value_or(0)};
    const auto exposed = figure(run, "trace.comm_exposed_share", fact.subject);
    rank.wait_s = std::min(rank.step_s, exposed ? *exposed * rank.step_s : rank.collectives_s);
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

template <class Value>
double median_of(const std::vector<RankTimes>& ranks, Value value) {
  std::vector<double> values;
  for (const auto& rank : ranks) values.push_back(value(rank));
  std::ranges::sort(values);
  const auto n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

Fact made_of_ranks(std::string_view name, std::string subject, double value, std::size_t ranks) {
  return {.name = std::string(name),
          .subject = std::move(subject),
          .value = value,
          .unit = std::string(record::find_fact(name)->unit),
          .where = record::Where::imported,
          .source = fmt::format("traces of {} ranks", ranks)};
}

void add_contrast(record::Run& run, const std::vector<RankTimes>& ranks, std::vector<Diagnostic>& diagnostics) {
  const auto own = [](const RankTimes& rank) { return rank.step_s - rank.wait_s; };
  const auto count = ranks.size();
  for (const auto& rank : ranks) {
    run.facts.push_back(made_of_ranks("rank.own_time_s", rank.subject, own(rank), count));
    run.facts.push_back(made_of_ranks("rank.wait_s", rank.subject, rank.wait_s, count));
  }
  const auto usual_own = median_of(ranks, own);
  if (usual_own > 0)
    run.facts.push_back(
        made_of_ranks("rank.skew_share", "job", own(*std::ranges::max_element(ranks, {}, own)) / usual_own - 1, count));

  const auto least = std::ranges::min_element(ranks, {}, &RankTimes::collectives_s);
  const auto usual = median_of(ranks, [](const RankTimes& rank) { return rank.collectives_s; });
  const auto step = median_of(ranks, [](const RankTimes& rank) { return rank.step_s; });
  if (usual - least->collectives_s <= kLeastContrast * step) {
    diagnostics.push_back({"traces", 0,
                           fmt::format("{} ranks spend alike time in collectives (within {} % of a step): none of them "
                                       "holds up the others",
                                       count, 100 * kLeastContrast)});
    return;
  }
  const auto number = core::parse_int(std::string_view(least->subject).substr(5));  // "rank 3"
  run.facts.push_back(made_of_ranks("trace.straggler", "job", static_cast<double>(number.value_or(0)), count));
}

/// Every file brought its own kernel classes, and the same facts about the job.
void join_job_facts(record::Run& run) {
  std::map<std::string, std::pair<double, double>, std::less<>> classes;  // sum and count
  for (const auto& fact : run.facts) {
    if (fact.name != "trace.kernel_class_share") continue;
    auto& [sum, count] = classes[fact.subject];
    sum += record::as_number(fact).value_or(0), ++count;
  }
  std::vector<Fact> joined;
  for (auto& fact : run.facts) {
    const auto same = [&](const Fact& other) {
      return other.name == fact.name && other.subject == fact.subject && other.value == fact.value;
    };
    const bool of_class = fact.name == "trace.kernel_class_share";
    if (of_class) {
      const auto& [sum, count] = classes.find(fact.subject)->second;
      fact.value = sum / count;
    }
    const bool shared = of_class || fact.subject == "job";
    if (!shared || std::ranges::none_of(joined, same)) joined.push_back(std::move(fact));
  }
  run.facts = std::move(joined);
}

}  // namespace

void contrast_ranks(record::Run& run, std::vector<Diagnostic>& diagnostics) {
  run.meta.erase(std::string(kRankKey));
  run.meta.erase(std::string(kRankOriginKey));
  join_job_facts(run);
  const auto ranks = rank_times(run);
  if (ranks.size() > 1) {
    add_contrast(run, ranks, diagnostics);
  } else if (ranks.size() == 1 && figure(run, "job.world_size", "job").value_or(1) > 1) {
    diagnostics.push_back(
        {"traces", 0,
         fmt::format("of one rank only ({} of {} ranks); who holds up whom can be seen from traces of "
                     "several",
                     ranks.front().subject, figure(run, "job.world_size", "job").value_or(0))});
  }
}

}  // namespace gradwatt::ingest::kineto
