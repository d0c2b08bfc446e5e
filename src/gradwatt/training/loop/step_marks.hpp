// Tells gradwatt about steps and epochs through a mark ring, where somebody reads it: `gradwatt run`, or the trainer's
// own measurement.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace gradwatt::training {

/// Times of one step's phases in ns of host time; kUnknown where not known.
struct StepTimes {
  static constexpr std::int64_t kUnknown = INT64_MIN;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t data_wait_ns = kUnknown, forward_ns = kUnknown, backward_ns = kUnknown, exposed_ns = kUnknown,
               optimizer_ns = kUnknown;
};

class StepMarks {
 public:
  /// `folder`: where the ring is made. Empty: nobody reads it and nothing is written.
  StepMarks(const std::filesystem::path& folder, int rank, int local_rank, int ranks);
  ~StepMarks();
  StepMarks(const StepMarks&) = delete;
  StepMarks& operator=(const StepMarks&) = delete;

  [[nodiscard]] static std::int64_t now_ns();
  void step(const StepTimes& times, std::int64_t samples);
  void epoch(std::int64_t number, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t samples);
  /// "evaluation", "checkpoint": a span that belongs to no step.
  void region(const std::string& name, std::int64_t begin_ns);
  void fact(const std::string& name, double value);
  void fact(const std::string& name, const std::string& value);

 private:
  struct Ring;
  std::unique_ptr<Ring> ring_;
};

}  // namespace gradwatt::training
