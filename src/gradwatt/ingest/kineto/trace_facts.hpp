// The facts that a trace gives, by the names of the fact table (trace.*, some of job.* and comm.*). A figure that the
// trace cannot give is left out; the reader says why where that is not plain.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/ingest/kineto/step_window.hpp"
#include "gradwatt/record/fact.hpp"

namespace gradwatt::ingest::kineto {

/// "rank 3": the subject of a rank's facts.
[[nodiscard]] std::string rank_subject(std::int64_t rank);

/// `source`: the file.
[[nodiscard]] std::vector<record::Fact> facts_of(const Trace& trace, const StepWindow& window, std::int64_t rank,
                                                 const std::string& source);

/// A rank of a job with several ranks took part in collectives, but the trace holds none: what they cost is unknown
/// then, not nothing.
[[nodiscard]] bool lacks_collectives(const Trace& trace, const StepWindow& window);

}  // namespace gradwatt::ingest::kineto
