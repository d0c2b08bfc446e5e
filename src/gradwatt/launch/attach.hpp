// `run --pid`: follows a process tree that already runs: when it ends, and which GPUs it uses.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/launch/descriptor.hpp"
#include "gradwatt/launch/signal_inbox.hpp"
#include "gradwatt/telemetry/job_scope.hpp"

namespace gradwatt::launch {

/// A process of somebody else's, held so that its pid cannot come to mean another one.
class Attached {
 public:
  /// Errors: wrong_use (no possible pid), not_found (no such process, or it has ended), not_permitted (another user's:
  /// its environment and open files cannot be read).
  [[nodiscard]] static core::Result<Attached> open(const core::FileTree& files, pid_t pid);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool ended() const;
  /// Readable once it has ended; -1 on kernels (before 5.3) where it must be asked instead.
  [[nodiscard]] int descriptor() const { return file_.get(); }
  /// Its command line as started; empty when it is not told.
  [[nodiscard]] std::vector<std::string> command_line() const;

 private:
  Attached() = default;
  core::FileTree files_;
  pid_t pid_ = 0;
  std::string name_;
  std::uint64_t started_ticks_ = 0;
  Descriptor file_;
};

/// The GPUs of a running tree, by what its processes were started with and what they hold open.
struct TreeGpus {
  std::vector<std::string> visible;  ///< CUDA_VISIBLE_DEVICES values of processes that have one, each once
  std::vector<int> minors;           ///< N of the open /dev/nvidiaN files, sorted
};
[[nodiscard]] TreeGpus find_gpus(const core::FileTree& files, pid_t root);

/// Makes the tree the job. Where it neither has a GPU open nor was restricted (it may open one later), all GPUs count.
/// Call it again now and then: a training opens its GPUs seconds after its start. True: something changed.
bool follow_tree(const TreeGpus& gpus, pid_t root, telemetry::JobScope& scope);

enum class EndOfMeasurement { process_ended, time_over, interrupted };
/// Waits for the end of `process` (null: none, `run --node`), of the time, or for SIGINT, SIGTERM, SIGHUP or SIGQUIT in
/// an inbox of ending_signals(). `each_second` is called about once a second meanwhile.
[[nodiscard]] EndOfMeasurement wait_for_end(
    const Attached* process, SignalInbox& inbox, std::optional<core::Instant> deadline,
    const std::function<void()>& each_second = [] {});

}  // namespace gradwatt::launch
