// What belongs to the measured job. launch fills it, backends read it; it may grow while the job runs (a second rank
// registers, a child is adopted).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gradwatt::telemetry {

class JobScope {
 public:
  struct Snapshot {
    std::uint64_t generation = 0;  ///< grows with every change
    bool whole_host = false;       ///< `--node`: everything on the host counts as the job
    std::vector<pid_t> roots;      ///< the job is these processes and all their descendants
    /// Value of CUDA_VISIBLE_DEVICES (or the like) of each launched command: comma-separated indices, UUIDs (or unique
    /// prefixes) or MIG ids; empty text means no GPU. Nothing at all in the list: every GPU that can be opened.
    std::vector<std::string> visible_gpus;
    bool all_gpus = true;  ///< some command has no such restriction
    std::vector<std::string> gpu_uuids;  ///< GPUs found in use by the job otherwise
    /// N of each /dev/nvidiaN that the job has open (found by --pid). Where there are any, the job's GPUs are these,
    /// less those that visible_gpus excludes.
    std::vector<int> gpu_minors;
  };

  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }
  /// `change(Snapshot&)` edits a copy, which then becomes the current one.
  template <class Change>
  void update(Change change) {
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<Snapshot>(*current_);
    change(*next);
    ++next->generation;
    current_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;  // guards current_
  std::shared_ptr<const Snapshot> current_ = std::make_shared<Snapshot>();
};

}  // namespace gradwatt::telemetry
