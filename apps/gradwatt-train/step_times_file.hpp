// Phase times of every update as CSV, for benches and for who looks closer.
#pragma once

#include <fstream>
#include <string>

#include "gradwatt/training/loop/trainer.hpp"

namespace gradwatt::app {

class StepTimesFile {
 public:
  /// Empty: nothing is written.
  explicit StepTimesFile(const std::string& path);
  void add(const training::Progress& progress);

 private:
  std::ofstream file_;
};

}  // namespace gradwatt::app
