// Ranks that take unlike time. In synchronous training the others wait for the slowest in the collective, so the
// culprit is the rank that waits least; only it is looked into further.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

/// Equal GPUs differ by 5 % and more at the same load; ranks differ visibly above that.
constexpr double kSpread = 0.05, kSkew = 0.10;

bool expect_skew(const FactSheet& facts, Opinion& opinion, double most) {
  if (!several_ranks(facts).value_or(true)) {
    opinion.rules_out("there is one rank", {"job.world_size"});
    return false;
  }
  const auto skew = facts.number("rank.skew_share");
  if (!skew) {
    opinion.wants("rank.skew_share", weight::kStrong);
    return true;
  }
  if (*skew < kSpread) {
    opinion.rules_out(fmt::format("ranks differ by {:.0f} %, as equal GPUs do", 100 * *skew), {"rank.skew_share"});
    return false;
  }
  opinion.supports(*skew >= kSkew ? most : weight::kWeak,
                   fmt::format("the slowest rank computes {:.0f} % longer than the median one", 100 * *skew),
                   {"rank.skew_share"});
  return true;
}

bool has_unlike_cards(const FactSheet& facts) {
  const auto names = facts.all("gpu.name");
  return std::ranges::any_of(names, [&](const auto* fact) {
    return fact->subject != "job" && names.front()->subject != "job" && fact->value != names.front()->value;
  });
}

void judge_straggler(const FactSheet& facts, Opinion& opinion) {
  if (const auto odd = odd_gpu(facts); odd && !facts.has("rank.skew_share"))
    opinion.supports(weight::kStrong + weight::kWeak, odd->text, odd->facts);
  if (!expect_skew(facts, opinion, weight::kStrong)) return;
  if (const auto skew = facts.number("rank.skew_share"); skew && *skew < kSkew)
    opinion.speaks_against(weight::kStrong, "equal GPUs may differ by as much", {"rank.skew_share"});
  if (has_unlike_cards(facts))
    opinion.speaks_against(weight::kStrong, "the cards differ, which explains it", {"gpu.name"});
  const auto culprit = facts.number("rank.culprit") ? facts.number("rank.culprit") : facts.number("trace.straggler");
  if (culprit)
    opinion.supports(weight::kFair, fmt::format("the others wait for rank {:.0f}, which waits least", *culprit),
                     {"rank.culprit"});
  else
    opinion.wants("rank.culprit", weight::kFair);
  if (const auto stays = facts.number("rank.culprit_stays"))
    *stays >= 0.7
        ? opinion.supports(weight::kFair, fmt::format("it is that rank {:.0f} % of the time", 100 * *stays),
                           {"rank.culprit_stays"})
        : opinion.speaks_against(weight::kStrong, "now one rank is late, now another: lateness follows the data",
                                 {"rank.culprit_stays"});
  if (const auto follows = facts.text("rank.follows"); follows && (*follows == "gpu" || *follows == "host"))
    opinion.supports(weight::kWeak, "lateness stays with the " + *follows, {"rank.follows"});
}

void judge_lengths(const FactSheet& facts, Opinion& opinion) {
  const auto vary = facts.is("job.lengths_vary");
  if (vary && !*vary) return void(opinion.rules_out("all examples have the same length", {"job.lengths_vary"}));
  if (!vary)
    opinion.wants("job.lengths_vary", weight::kStrong);
  else
    opinion.fits(weight::kStrong, "examples have unlike lengths", {"job.lengths_vary"});
  if (!expect_skew(facts, opinion, weight::kFair)) return;
  if (const auto stays = facts.number("rank.culprit_stays"))
    *stays < 0.6
        ? opinion.supports(weight::kFair, "now one rank is late, now another", {"rank.culprit_stays"})
        : opinion.speaks_against(weight::kFair, "it is always the same rank that is late", {"rank.culprit_stays"});
  if (facts.text_holds("rank.follows", "data").value_or(false))
    opinion.supports(weight::kStrong, "lateness follows the data", {"rank.follows"});
  if (const auto padding = facts.number("job.padding_share"); padding && *padding > 0.1)
    opinion.supports(weight::kWeak, fmt::format("{:.0f} % of the tokens are padding", 100 * *padding),
                     {"job.padding_share"});
  const auto step = facts.number("step.time_s"), slow = facts.number("step.time_p95_s");
  if (vary && step && slow && *step > 0 && *slow > 1.5 * *step)
    opinion.supports(weight::kFair, fmt::format("steps take from {:.3g} s to {:.3g} s", *step, *slow),
                     {"step.time_s", "step.time_p95_s"});
}

void judge_rank_zero(const FactSheet& facts, Opinion& opinion) {
  if (!several_ranks(facts).value_or(true)) return void(opinion.rules_out("there is one rank", {"job.world_size"}));
  const auto evaluation = facts.number("step.evaluation_share", "rank 0"),
             others = facts.number("step.evaluation_share", "rank 1");
  const auto whole = facts.number("step.evaluation_share");
  if (evaluation && *evaluation > kWorthMentioning && (!others || *others < 0.2 * *evaluation))
    opinion.supports(weight::kStrong,
                     fmt::format("rank 0 evaluates {:.0f} % of the time, and alone", 100 * *evaluation),
                     {"step.evaluation_share"});
  else if (whole && *whole < 0.01)
    return void(opinion.rules_out("nothing is evaluated while training", {"step.evaluation_share"}));
  else
    opinion.wants("step.evaluation_share", weight::kStrong);
  if (const auto culprit = facts.number("rank.culprit"))
    *culprit == 0 ? opinion.supports(weight::kWeak, "the others wait for rank 0", {"rank.culprit"})
                  : opinion.rules_out(fmt::format("the others wait for rank {:.0f}", *culprit), {"rank.culprit"});
}

std::optional<double> skew_share(const FactSheet& facts) {
  const auto skew = facts.number("rank.skew_share");
  return skew ? std::optional(*skew / (1 + *skew)) : std::nullopt;
}
std::optional<double> evaluation_share(const FactSheet& facts) { return facts.number("step.evaluation_share"); }

void name_culprit(const FactSheet& facts, Advice& advice) {
  if (const auto culprit = facts.number("rank.culprit"))
    advice.change =
        fmt::format("look into rank {:.0f} alone: its loader, its CPUs, its GPU's clocks, heat and PCIe link; {}",
                    *culprit, advice.change);
}

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"imbalance:straggler-rank", "N1", "one rank is slower than the others, which wait for it", prior::kUsual,
     "rank.skew_share", judge_straggler,
     "mend what is wrong with that rank (the findings about it), or take its GPU or host out", "user", "",
     "bring it back", name_culprit, skew_share},
    {"imbalance:sequence-length", "D10", "ranks get unlike amounts of work", prior::kUsual, "rank.skew_share",
     judge_lengths,
     "group examples by length so that all ranks of a step get like lengths; give ranks batches by tokens instead of "
     "examples; pack sequences",
     "user", "the order of examples changes: check the loss", "the former sampler", nullptr, skew_share},
    {"imbalance:rank-zero-work", "C7", "rank 0 evaluates or logs while the others wait", prior::kUsual,
     "step.evaluation_share", judge_rank_zero,
     "share the evaluation over all ranks, or move it into a job of its own that reads checkpoints", "user", "",
     "evaluate on rank 0 again", nullptr, evaluation_share},
});

}  // namespace

std::span<const CauseInfo> imbalance_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis
