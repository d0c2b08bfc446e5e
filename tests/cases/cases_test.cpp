// How often is the diagnosis right on confirmed field reports? Prints the rates, for those that rules may be tuned on
// and for the third held out, and fails below what the project promises.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/diagnose.hpp"
#include "tests/cases/field_case.hpp"
#include "tests/cases/verdict.hpp"

namespace gradwatt::cases {
namespace {

/// Promised rates.
constexpr double kFirst = 0.85, kAmongThree = 0.95, kFamily = 0.85;
constexpr int kDraws = 20;
constexpr double kJitter = 0.1;

const std::filesystem::path kFolder = std::filesystem::path(GRADWATT_SOURCE_DIR) / "tests/cases";

const std::vector<FieldCase>& field_cases() {
  static const auto cases = read_field_cases(kFolder);
  return cases;
}

diagnosis::Diagnosis diagnose(std::vector<record::Fact> facts) {
  return diagnosis::diagnose(diagnosis::FactSheet(std::move(facts)));
}

struct Rates {
  Rate first, among_three, family, abstains, healthy;
};

template <class Verdict>
Rates rates_of(Verdict verdict_of, bool tuned, bool held_out) {
  Rates rates;
  for (const auto& one : field_cases()) {
    if (is_held_out(one) ? !held_out : !tuned) continue;
    const auto verdict = verdict_of(one);
    if (one.expected == Expected::decidable) {
      rates.first.add(names_cause_first(verdict, one.cause));
      rates.among_three.add(names_cause_among_three(verdict, one.cause));
    }
    if (one.expected == Expected::family) rates.family.add(names_family_first(verdict, one.cause));
    if (one.expected == Expected::undecidable) rates.abstains.add(abstains(verdict));
    if (diagnosis::is_healthy(one.cause)) rates.healthy.add(blames_nothing(verdict));
  }
  return rates;
}

void print(std::string_view which, const Rates& rates) {
  fmt::print("{}\n  cause first        {}\n  cause among three  {}\n  family first       {}\n", which,
             rates.first.in_words(), rates.among_three.in_words(), rates.family.in_words());
  fmt::print("  rightly undecided  {}\n  healthy not blamed {}\n", rates.abstains.in_words(), rates.healthy.in_words());
}

const auto kAsTold = [](const FieldCase& one) { return diagnose(one.facts); };

/// A figure was read off somewhere and may be off; a count, a switch or an error's number is what it is.
bool is_figure(const record::Fact& fact) {
  const auto number = record::as_number(fact);
  return number && (!fact.unit.empty() || *number != std::floor(*number));
}

/// A share stays a share.
double largest(const record::Fact& fact, double value) {
  if (fact.unit == "%" && value <= 100 && !fact.name.ends_with("sum_pct")) return 100;
  return fact.name.ends_with("_share") ? 1 : HUGE_VAL;
}

std::vector<record::Fact> jittered(std::vector<record::Fact> facts, std::mt19937& random) {
  for (auto& fact : facts) {
    if (!is_figure(fact)) continue;
    const double value = *record::as_number(fact);
    const double unit = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    fact.value = std::min(largest(fact, value), value * (1 + kJitter * (2 * unit - 1)));
  }
  return facts;
}

TEST(FieldCases, AreManyAndHalfOfThemCanBeDecided) {
  int can = 0, held_out = 0;
  for (const auto& one : field_cases()) {
    can += one.expected != Expected::undecidable;
    held_out += is_held_out(one);
    EXPECT_FALSE(one.reason.empty()) << one.id;
    EXPECT_FALSE(one.facts.empty()) << one.id;
  }
  EXPECT_GE(field_cases().size(), 49);
  EXPECT_GE(2 * can, static_cast<int>(field_cases().size()));
  EXPECT_GE(held_out, static_cast<int>(field_cases().size()) / 4);
}

TEST(FieldCases, AreToldAsOftenRightAsPromised) {
  const auto tuned = rates_of(kAsTold, true, false), held_out = rates_of(kAsTold, false, true),
             all = rates_of(kAsTold, true, true);
  print("tuned on", tuned);
  print("held out", held_out);
  print("all", all);
  // Details of the third held out stay unseen, so that nobody tunes on it.
  for (const auto& one : field_cases())
    if (const auto verdict = kAsTold(one); !is_held_out(one) && !is_right(verdict, one))
      fmt::print("missed: {} ({}): {}\n", one.id, one.cause, in_words(verdict));
  EXPECT_GE(all.first.share(), kFirst);
  EXPECT_GE(all.among_three.share(), kAmongThree);
  EXPECT_GE(all.family.share(), kFamily);
  EXPECT_EQ(all.abstains.right, all.abstains.all);
  EXPECT_EQ(all.healthy.right, all.healthy.all);
}

TEST(FieldCases, AreToldAsOftenRightWithAllFiguresATenthOff) {
  std::mt19937 random(4);
  std::map<std::string, int> turned;
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto off = [&](const FieldCase& one) {
      auto verdict = diagnose(jittered(one.facts, random));
      if (is_right(verdict, one) != is_right(kAsTold(one), one)) ++turned[one.id];
      return verdict;
    };
    const auto rates = rates_of(off, true, true);
    EXPECT_GE(rates.first.share(), kFirst) << "draw " << draw;
    EXPECT_GE(rates.among_three.share(), kAmongThree) << "draw " << draw;
    EXPECT_GE(rates.family.share(), kFamily) << "draw " << draw;
    EXPECT_EQ(rates.abstains.right, rates.abstains.all) << "draw " << draw;
    EXPECT_EQ(rates.healthy.right, rates.healthy.all) << "draw " << draw;
  }
  fmt::print("{} of {} cases turn in any of {} draws\n", turned.size(), field_cases().size(), kDraws);
  const std::set<std::string> ids = [] {
    std::set<std::string> out;
    for (const auto& one : field_cases())
      if (!is_held_out(one)) out.insert(one.id);
    return out;
  }();
  for (const auto& [id, times] : turned)
    if (ids.contains(id)) fmt::print("turned: {} in {} draws\n", id, times);
}

TEST(FieldCases, EachFactThatAnOpinionNamesIsInTheFactTable) {
  auto all = field_cases();
  for (auto& one : read_field_cases(kFolder / "made")) all.push_back(std::move(one));
  for (const auto& one : all)
    for (const auto& row : diagnosis::cause_table()) {
      diagnosis::Opinion opinion;
      row.judge(diagnosis::FactSheet(one.facts), opinion);
      for (const auto& want : opinion.wanted())
        EXPECT_NE(record::find_fact(want.fact), nullptr) << row.cause << ": " << want.fact;
      for (const auto& piece : opinion.evidence())
        for (const auto& name : piece.facts) EXPECT_NE(record::find_fact(name), nullptr) << row.cause << ": " << name;
    }
}

TEST(MadeCases, EachTypicalPictureOfACauseGetsThatCause) {
  for (const auto& one : read_field_cases(kFolder / "made")) {
    const auto verdict = kAsTold(one);
    EXPECT_TRUE(is_right(verdict, one)) << one.id << " (" << one.cause << "): " << in_words(verdict);
  }
}

TEST(MadeCases, ShowNearlyEveryCauseOfTheTable) {
  std::set<std::string_view> shown, unshown;
  for (const auto* folder : {"made", "."})
    for (const auto& one : read_field_cases(kFolder / folder))
      for (const auto& finding : kAsTold(one).findings) shown.insert(finding.info->cause);
  for (const auto& row : diagnosis::cause_table())
    if (!shown.contains(row.cause)) unshown.insert(row.cause);
  for (const auto& cause : unshown) fmt::print("no case shows {}\n", cause);
  EXPECT_LE(unshown.size(), 3);
}

}  // namespace
}  // namespace gradwatt::cases
