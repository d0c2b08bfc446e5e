// Who started this gradwatt, as which of how many tasks, and the run id that follows: tasks of one launch must name the
// same run folder without talking to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/launch/environment.hpp"

namespace gradwatt::launch {

struct Identity {
  std::string launcher;                 ///< "slurm", "openmpi", "torchrun", …; empty: started by a person or a script
  std::optional<int> rank, local_rank;  ///< of this task
  std::optional<int> world_size, local_world_size;  ///< tasks in all, and on this host
  /// The same in every task of the launch, as a run id; nothing where the launch has one task, or none that is shared
  /// over hosts.
  std::optional<std::string> shared_run_id;
  /// What a record keeps: "slurm_job_id" -> "123", "slurm_node_list", …
  std::vector<std::pair<std::string, std::string>> details;
};

/// Innermost launcher first: torchrun under srun counts as torchrun. `files` and `parent` serve launchers without an
/// id of their own (MPICH, plain torchrun): tasks of one host then share the id of the process that started them all.
[[nodiscard]] Identity identify(const Environment& environment, const core::FileTree& files, pid_t parent);

/// "20261130-134501-k3f9": UTC and four random characters; sorts by time.
[[nodiscard]] std::string new_run_id(core::WallTime now, std::uint32_t random);
/// From the kernel's generator.
[[nodiscard]] std::uint32_t random_number();

/// The shared id, or a new one.
[[nodiscard]] std::string run_id_of(const Identity& identity, core::WallTime now, std::uint32_t random);

/// Letters, digits, '.', '_' and '-' only, at most 64 characters, never a hidden or special file name. Long texts end
/// in a hash of the whole.
[[nodiscard]] std::string sanitized_id(std::string_view text);

}  // namespace gradwatt::launch
