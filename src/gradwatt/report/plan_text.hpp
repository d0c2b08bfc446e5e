// A plan for people and for programs: the setting to take with its intervals, why its neighbours lost, the front, the
// knee, what every figure rests on; or which limit binds and what is nearest.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/planning/plan/plan.hpp"
#include "gradwatt/report/screen.hpp"

namespace gradwatt::report {

struct PlanInput {
  std::string name, value;
  std::string origin;  ///< "run 2026…", "published, not measured here", "option"
};
/// What the plan is of, beside its figures.
struct PlanSubject {
  std::string title;    ///< "resnet50-a100: ResNet50, …"
  std::string plan_id;  ///< the same for the same question
  std::vector<PlanInput> inputs;
  std::vector<std::string> notes;  ///< assumptions and cautions, a sentence each
};

/// One screen.
[[nodiscard]] std::string plan_to_text(const planning::Question& question, const planning::Plan& plan,
                                       const PlanSubject& subject, Screen::Options screen);

/// Schema gradwatt.plan/1: `plan_id`, `chosen`, `front[]`, `rivals[]`, `knee`, `limits[]`, `inputs[]`, `impossible`.
[[nodiscard]] std::string plan_to_json(const planning::Question& question, const planning::Plan& plan,
                                       const PlanSubject& subject);

}  // namespace gradwatt::report
