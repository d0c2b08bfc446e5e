// Prints the table of driver faults for the tests that play each row through the program: one row a line, cells
// separated by tabs: name, source, script, energy, event, seconds, driver, opens, visible GPUs of each rank (by ';').
#include <cstdio>
#include <string>

#include "tests/doubles/fake_nvml/fault_cases.hpp"

namespace {

using gradwatt::doubles::FaultCase;

const char* text(FaultCase::Energy energy) {
  constexpr const char* kNames[] = {"counter", "partly", "integrated", "missing"};
  return kNames[static_cast<int>(energy)];
}
const char* text(FaultCase::Driver driver) {
  constexpr const char* kNames[] = {"fake", "old", "missing", "no_driver_library"};
  return kNames[static_cast<int>(driver)];
}
const char* text(FaultCase::Opens opens) {
  constexpr const char* kNames[] = {"sensor", "nothing", "error"};
  return kNames[static_cast<int>(opens)];
}

}  // namespace

int main() {
  for (const auto& row : gradwatt::doubles::fault_cases()) {
    std::string visible;
    for (const auto list : row.visible) visible.append(list).append(";");
    std::printf("%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", std::string(row.name).c_str(), std::string(row.source).c_str(),
                std::string(row.script).c_str(), text(row.program.energy), std::string(row.program.event).c_str(),
                row.program.seconds, text(row.driver), text(row.opens), visible.c_str());
  }
}
