// All rings of a job: finds those of new processes at each poll, reads the living and empties the dead.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/folder_watch.hpp"
#include "gradwatt/launch/marks/mark_reader.hpp"

namespace gradwatt::launch::marks {

class RingDirectory {
 public:
  /// `folder` is what GRADWATT_MARKS names for the job; `root` holds proc/. The folder may be missing or empty.
  explicit RingDirectory(std::filesystem::path folder, core::FileTree root = core::FileTree());

  /// News of all rings. Call at least once a second: a ring holds 1.6 s of marks at 10 kHz.
  Batch poll();
  /// The same at the end of the job: nothing is held back for a later poll.
  Batch finish();

  /// Rings open now, living first seen first.
  [[nodiscard]] std::vector<RingIdentity> rings() const;
  /// Files that look like rings and cannot be read, one sentence each; each file is tried once.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

  /// Asks every agent for a profile into `<stem>-<pid>.json`; how many took the request. C writers are asked too.
  std::size_t request_profile(std::uint32_t steps, const std::filesystem::path& stem);
  /// Of these, how many have written it, failed or ended since.
  [[nodiscard]] std::size_t profiles_answered() const;

 private:
  struct Ring {
    RingReader reader;
    unsigned idle_polls = 0;  ///< in a row, while the writer was not found
  };
  void discover();

  std::filesystem::path folder_;
  core::FolderWatch watch_{folder_};
  core::FileTree root_;
  std::size_t asked_ = 0;
  std::set<std::string, std::less<>> seen_;
  std::vector<Ring> rings_;
  std::vector<std::string> problems_;
};

}  // namespace gradwatt::launch::marks
