// What a diagnosis knows: facts by name and subject, whoever supplied them (a measured run, a trace, a log, a
// hand-written file). Causes ask it and nothing else, so that one figure told by a user and one measured by us weigh
// the same.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/record/fact.hpp"

namespace gradwatt::diagnosis {

class FactSheet {
 public:
  FactSheet() = default;
  explicit FactSheet(std::vector<record::Fact> facts) : facts_(std::move(facts)) {}

  [[nodiscard]] std::span<const record::Fact> facts() const { return facts_; }
  [[nodiscard]] bool empty() const { return facts_.empty(); }

  /// All facts of that name, in the order given.
  [[nodiscard]] std::vector<const record::Fact*> all(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;

  /// The figure for the whole job: that of subject "job" where somebody gave one, else the median over the subjects.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  /// Of one subject alone, compared without regard to case.
  [[nodiscard]] std::optional<double> number(std::string_view name, std::string_view subject) const;
  /// Over all subjects.
  [[nodiscard]] std::optional<double> lowest(std::string_view name) const;
  [[nodiscard]] std::optional<double> highest(std::string_view name) const;
  /// Sum over all subjects.
  [[nodiscard]] std::optional<double> sum(std::string_view name) const;
  /// A switch: 1 and "on", "true", "yes" are true; 0 and "off", "false", "no", "none" are false; anything else unknown.
  [[nodiscard]] std::optional<bool> is(std::string_view name) const;

  /// Lower case. Of the job, else of the first subject that has one.
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  /// Whether any subject's text holds `part`, in any case; nothing when no subject has a text.
  [[nodiscard]] std::optional<bool> text_holds(std::string_view name, std::string_view part) const;
  /// An environment variable of the job, as it was set.
  [[nodiscard]] std::optional<std::string> variable(std::string_view name) const;

 private:
  std::vector<record::Fact> facts_;
};

/// A fact of a series over sizes: "gpus 4" is {"gpus", 4}; nothing for other subjects.
struct SizedFact {
  std::string_view what;
  double size = 0, value = 0;
};
/// Those of one name whose subject counts `what`, by rising size.
[[nodiscard]] std::vector<SizedFact> sized(const FactSheet& sheet, std::string_view name, std::string_view what);

}  // namespace gradwatt::diagnosis
