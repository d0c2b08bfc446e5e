// A case with a known answer: facts from before the fix, the confirmed cause, and what can be decided from the facts
// alone. See README.md for what may stand in them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gradwatt/record/fact.hpp"

namespace gradwatt::cases {

enum class Expected { decidable, family, undecidable };

struct FieldCase {
  std::string id;
  std::string cause;  ///< class of the confirmed cause; parts of a joint one are separated by "+"
  Expected expected = Expected::undecidable;
  std::string reason;  ///< why no more and no less can be decided
  std::vector<record::Fact> facts;
};

/// The cases that expectations.json in `folder` lists, with their facts files. Throws with a sentence when one is
/// missing or cannot be read: that is a mistake in the tree.
[[nodiscard]] std::vector<FieldCase> read_field_cases(const std::filesystem::path& folder);

/// In the third that rules are never tuned on.
[[nodiscard]] bool is_held_out(const FieldCase& field_case);

}  // namespace gradwatt::cases
