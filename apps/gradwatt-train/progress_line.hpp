// Where the training stands: one line that is written over on a terminal, else a line an epoch.
#pragma once

#include <chrono>

#include "gradwatt/training/loop/trainer.hpp"

namespace gradwatt::app {

class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  void show(const training::Progress& progress);
  /// Leaves the cursor on a fresh line.
  void end();

 private:
  bool quiet_, terminal_;
  bool open_ = false;  // the line on the terminal has no end yet
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace gradwatt::app
