// The state of a training in one file: weights, batch-norm statistics, optimizer, random generator, place in the data,
// schedule. A run that resumes from it on as many ranks is bitwise the run that never stopped.
//
// Only rank 0 writes. The state is copied at once and written by a thread of its own; the file is replaced atomically,
// so that the last good one stays whatever happens.
#pragma once

#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/named_tensors.hpp"

namespace gradwatt::training {

struct Snapshot {
  NamedTensors tensors;                       ///< "model/…", "optimizer/…", "random/…"
  std::map<std::string, std::string> values;  ///< numbers and texts, exact as written by exact()
};

/// A double as text that gives the same double back.
[[nodiscard]] std::string exact(double value);

class CheckpointFile {
 public:
  explicit CheckpointFile(std::filesystem::path file) : file_(std::move(file)) {}
  ~CheckpointFile() { wait(); }
  CheckpointFile(const CheckpointFile&) = delete;
  CheckpointFile& operator=(const CheckpointFile&) = delete;

  /// Copies the tensors and begins to write; a write under way is waited for first.
  void save(const Snapshot& snapshot);
  /// The error of the last write, once it is done; nothing while it is under way or when it went well.
  [[nodiscard]] std::optional<core::Error> take_error();
  void wait();
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::future<core::Result<void>> writing_;
  std::optional<core::Error> error_;
};

/// Errors: not_found, unusable_input with the file and what is wrong.
[[nodiscard]] core::Result<Snapshot> load_snapshot(const std::filesystem::path& file);

}  // namespace gradwatt::training
