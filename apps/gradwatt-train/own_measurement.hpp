// The trainer's own sensors: what the training costs, where nobody else measures it.
//
// Below `gradwatt run` (GRADWATT_MARKS names a folder of this host) the trainer only leaves marks: energy and record
// are run's, and no sensor is opened twice. Started otherwise (mpirun gradwatt-train …), the lowest rank of each host
// opens the sensors, follows the marks of the host's ranks, keeps the energy in memory and writes the run record as run
// would.
//
//   OwnMeasurement measurement(request);
//   options.before_end = [&] { measurement.end_early(); };   // a rank failed
//   measurement.begin(ranks);                                // all ranks
//   … set up with measurement.marks_folder() … measurement.keep(); … train …
//   const auto cost = measurement.end(ranks);                // all ranks
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/telemetry/job_scope.hpp"
#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "measure/recorder.hpp"
#include "training_cost.hpp"

namespace gradwatt::app {

class OwnMeasurement {
 public:
  struct Request {
    std::vector<std::string> command;  ///< as typed, for the record
    std::string out, name;             ///< folder of the record (empty: the run store) and name of the run
  };
  explicit OwnMeasurement(Request request) : request_(std::move(request)) {}
  ~OwnMeasurement() { end_early(); }
  OwnMeasurement(const OwnMeasurement&) = delete;
  OwnMeasurement& operator=(const OwnMeasurement&) = delete;

  /// Errors, on the rank that has them: wrong_use (no record can be written into --out, a bad setting).
  core::Result<void> begin(training::Communicator& ranks);
  /// Where this host's ranks put their marks.
  [[nodiscard]] const std::filesystem::path& marks_folder() const { return marks_folder_; }
  /// The training is set up. Until then a failure is a mistake in recipe or data, which is no run: nothing is kept of
  /// it.
  void keep();
  /// The record is closed with exit status 0. The cost of all hosts, on every rank.
  [[nodiscard]] TrainingCost end(training::Communicator& ranks);
  /// The record is closed with the status of a failed rank, if it is still open. Any thread.
  void end_early();

  /// Where the record of this host lies; empty: there is none.
  [[nodiscard]] const std::filesystem::path& record_folder() const { return place_.folder; }
  /// After end(): a driver or disk hangs, and the process should end without waiting for its thread.
  [[nodiscard]] bool left_thread_behind() const { return left_thread_behind_; }

 private:
  core::Result<void> start_recording(const std::string& run_id);
  // With the mutex held.
  HostCost close_record(int exit_status);
  void take_record_away();
  void wait_for_leader() const;
  void remove_own_folder() const;

  Request request_;
  core::SystemClock clock_;
  telemetry::JobScope job_;
  std::mutex mutex_;  // guards what follows against end_early() on the watch thread
  std::unique_ptr<Recorder> recorder_;
  RunPlace place_;  // of the record
  std::filesystem::path marks_folder_;
  bool kept_ = false, ended_ = false;
  bool own_folder_ = false;  // marks_folder_ is ours, not run's
  pid_t leader_ = 0;         // the lowest rank of this host
  bool left_thread_behind_ = false;
};

}  // namespace gradwatt::app
