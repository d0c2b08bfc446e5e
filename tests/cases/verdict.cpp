#include "tests/cases/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace gradwatt::cases {
namespace {

struct OtherName {
  std::string_view theirs, ours;
};
/// Parts of joint classes that the reports call by a shorter name than our rows.
constexpr auto kOtherNames = std::to_array<OtherName>({
    {"interconnect:acs", "interconnect:pcie-acs"},
    {"interconnect:acs", "interconnect:pcie-acs-hang"},
    {"data:unused-parameters", "sync:unused-parameters"},
});

/// "interconnect:acs+iommu-hang" is interconnect:acs and interconnect:iommu-hang.
std::vector<std::string> parts_of(const std::string& cause) {
  const std::string family = cause.substr(0, cause.find(':'));
  std::vector<std::string> out;
  for (std::size_t begin = family.size() + 1; begin <= cause.size();) {
    const auto end = std::min(cause.find('+', begin), cause.size());
    out.push_back(family + ':' + cause.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

bool is_same(std::string_view found, std::string_view wanted) {
  return found == wanted ||
         std::ranges::any_of(kOtherNames, [&](const auto& row) { return row.theirs == wanted && row.ours == found; });
}

bool is_among(const diagnosis::Diagnosis& verdict, std::string_view cause, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, verdict.findings.size()); ++i)
    if (is_same(verdict.findings[i].info->cause, cause)) return true;
  return false;
}

/// Standard normal quantile of a two-sided 95 % interval.
constexpr double kZ = 1.959964;

}  // namespace

bool names_cause_among_three(const diagnosis::Diagnosis& verdict, const std::string& cause) {
  return std::ranges::all_of(parts_of(cause), [&](const auto& part) { return is_among(verdict, part, 3); });
}

bool names_cause_first(const diagnosis::Diagnosis& verdict, const std::string& cause) {
  return names_cause_among_three(verdict, cause) &&
         std::ranges::any_of(parts_of(cause), [&](const auto& part) { return is_among(verdict, part, 1); });
}

bool names_family_first(const diagnosis::Diagnosis& verdict, const std::string& cause) {
  return !verdict.findings.empty() &&
         diagnosis::family_of(verdict.findings.front().info->cause) == diagnosis::family_of(cause);
}

bool abstains(const diagnosis::Diagnosis& verdict) { return verdict.findings.empty() && !verdict.missing.empty(); }

bool blames_nothing(const diagnosis::Diagnosis& verdict) {
  return std::ranges::all_of(verdict.findings,
                             [](const auto& finding) { return diagnosis::is_healthy(finding.info->cause); });
}

bool is_right(const diagnosis::Diagnosis& verdict, const FieldCase& field_case) {
  switch (field_case.expected) {
    case Expected::decidable:
      return names_cause_first(verdict, field_case.cause);
    case Expected::family:
      return names_family_first(verdict, field_case.cause);
    case Expected::undecidable:
      return abstains(verdict);
  }
  return false;
}

std::string in_words(const diagnosis::Diagnosis& verdict) {
  std::string out;
  for (const auto& finding : verdict.findings)
    out += fmt::format("{}{} {:.2f}", out.empty() ? "" : ", ", finding.info->cause, finding.confidence);
  if (verdict.findings.empty()) {
    out = "undecided";
    for (const auto& candidate : verdict.candidates)
      out += fmt::format(", perhaps {} {:.2f}", candidate.info->cause, candidate.confidence);
  }
  return out + (verdict.missing.empty() ? "" : "; asks first for " + verdict.missing.front().fact);
}

// Wilson (1927), score interval of a binomial share.
std::string Rate::in_words() const {
  if (all == 0) return "none";
  const double n = all, p = share(), z2 = kZ * kZ;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kZ * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  return fmt::format("{} of {} = {:.0f} % (Wilson 95 %: {:.0f} to {:.0f} %)", right, all, 100 * p,
                     100 * std::max(0.0, middle - half), 100 * std::min(1.0, middle + half));
}

}  // namespace gradwatt::cases
