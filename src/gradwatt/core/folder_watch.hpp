// Whether a folder may have got new files since the last look, by its change time: one call instead of a listing each
// second.
#pragma once

#include <sys/stat.h>

#include <ctime>
#include <filesystem>

namespace gradwatt::core {

class FolderWatch {
 public:
  explicit FolderWatch(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// True at the first call, after a change, and while a change is so fresh that another could hide in the same tick of
  /// the file system's clock. False when the folder is not there.
  bool may_have_changed() {
    struct stat now {};
    if (::stat(folder_.c_str(), &now) != 0) return false;
    timespec clock{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &clock);
    const bool same = known_ && now.st_mtim.tv_sec == seen_.tv_sec && now.st_mtim.tv_nsec == seen_.tv_nsec;
    if (same && settled_) return false;
    seen_ = now.st_mtim;
    known_ = true;
    settled_ = clock.tv_sec - seen_.tv_sec > 1;
    return true;
  }

 private:
  std::filesystem::path folder_;
  timespec seen_{};
  bool known_ = false;
  bool settled_ = false;  ///< the change seen last was more than a second old
};

}  // namespace gradwatt::core
