// What is asked of a verdict on a case, as yes or no, and rates of them.
#pragma once

#include <string>

#include "gradwatt/diagnosis/diagnose.hpp"
#include "tests/cases/field_case.hpp"

namespace gradwatt::cases {

/// The first finding names the confirmed cause. Of a joint cause one part is first and the others are among three.
[[nodiscard]] bool names_cause_first(const diagnosis::Diagnosis& verdict, const std::string& cause);
[[nodiscard]] bool names_cause_among_three(const diagnosis::Diagnosis& verdict, const std::string& cause);
/// The first finding is of the family of the confirmed cause.
[[nodiscard]] bool names_family_first(const diagnosis::Diagnosis& verdict, const std::string& cause);
/// No finding, and a measurement that would decide.
[[nodiscard]] bool abstains(const diagnosis::Diagnosis& verdict);
/// Says that nothing is wrong, or that it cannot tell.
[[nodiscard]] bool blames_nothing(const diagnosis::Diagnosis& verdict);
/// What the expectation of the case asks for.
[[nodiscard]] bool is_right(const diagnosis::Diagnosis& verdict, const FieldCase& field_case);

/// "interconnect:pcie-acs 0.93, …" or "undecided, asks for host.acs": for a reader of a failed test.
[[nodiscard]] std::string in_words(const diagnosis::Diagnosis& verdict);

/// How often something was right.
struct Rate {
  int right = 0, all = 0;
  void add(bool is_right) { ++all, right += is_right ? 1 : 0; }
  [[nodiscard]] double share() const { return all == 0 ? 1 : static_cast<double>(right) / all; }
  /// "12 of 14 = 86 % (Wilson 95 %: 60 to 96 %)"
  [[nodiscard]] std::string in_words() const;
};

}  // namespace gradwatt::cases
