#include "gradwatt/training/loop/step_marks.hpp"

#include "gradwatt/launch/marks/mark_ring.h"

namespace gradwatt::training {

struct StepMarks::Ring {
  gradwatt_marks* handle = nullptr;
};

StepMarks::StepMarks(const std::filesystem::path& folder, int rank, int local_rank, int ranks)
    : ring_(std::make_unique<Ring>()) {
  ring_->handle = gradwatt_marks_open_in(folder.c_str());
  gradwatt_marks_set_rank(ring_->handle, rank, local_rank, ranks);
}
StepMarks::~StepMarks() { gradwatt_marks_close(ring_->handle); }

std::int64_t StepMarks::now_ns() { return gradwatt_marks_now(); }

void StepMarks::step(const StepTimes& t, std::int64_t samples) {
  // In the order of record::Phase: data_wait, forward, backward, comm_exposed, optimizer, checkpoint, evaluation,
  // other.
  constexpr auto kUnknown = StepTimes::kUnknown;
  const std::array<std::int64_t, 8> phases{t.data_wait_ns, t.forward_ns, t.backward_ns, t.exposed_ns,
                                           t.optimizer_ns, kUnknown,     kUnknown,      kUnknown};
  gradwatt_step(ring_->handle, t.begin_ns, t.end_ns, samples, phases.data());
}

void StepMarks::epoch(std::int64_t number, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t samples) {
  gradwatt_epoch(ring_->handle, number, begin_ns, end_ns, samples);
}
void StepMarks::region(const std::string& name, std::int64_t begin_ns) {
  gradwatt_region_end(ring_->handle, name.c_str(), begin_ns);
}
void StepMarks::fact(const std::string& name, double value) {
  gradwatt_fact_number(ring_->handle, name.c_str(), value);
}
void StepMarks::fact(const std::string& name, const std::string& value) {
  gradwatt_fact_text(ring_->handle, name.c_str(), value.c_str());
}

}  // namespace gradwatt::training
