// What of a trace goes into the run beside its facts: a mark for each step with what it waited for, and the thinned
// picture of what ran when.
#pragma once

#include <vector>

#include "gradwatt/ingest/kineto/step_window.hpp"
#include "gradwatt/record/mark.hpp"

namespace gradwatt::ingest::kineto {

/// A picture has no more pieces of one track than a screen could show, and no more than so many of all.
inline constexpr std::int64_t kMostPiecesOfTrack = 20'000;
inline constexpr std::int64_t kMostPieces = 1'000'000;

/// The trace's steps with data_wait (where the trace shows the loader) and comm_exposed (where it shows the device), on
/// the wall clock.
[[nodiscard]] std::vector<record::Mark> marks_of(const Trace& trace, const StepWindow& window, std::int32_t rank);

/// Of each stream when it computed, communicated, copied; of the host when it waited for the loader and for the device.
/// Neighbours with a gap of less than 1/20 000 of the trace are one piece.
[[nodiscard]] std::vector<record::Span> picture_of(const Trace& trace, std::int32_t rank);

}  // namespace gradwatt::ingest::kineto
