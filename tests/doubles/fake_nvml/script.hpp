// What the fake driver is told to play. The language is described in README.md beside this file.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/doubles/fake_nvml/device_classes.hpp"
#include "tests/doubles/fake_nvml/waveform.hpp"

namespace gradwatt::doubles {

struct FakeSlice {
  unsigned slices = 1;  ///< of 7
};

struct FakeGpu {
  const DeviceClass* model = nullptr;
  Waveform power;
  std::map<std::string, double, std::less<>> numbers;  ///< settings such as "utilization"
  std::vector<unsigned> pids;
  std::vector<FakeSlice> mig;
  std::int64_t energy_update_ns = 100'000'000;
  std::int64_t power_update_ns = 100'000'000;

  [[nodiscard]] double number(std::string_view key, double otherwise) const {
    const auto it = numbers.find(key);
    return it != numbers.end() ? it->second : otherwise;
  }
};

struct FakeFault {
  enum class Kind { return_code, value, type, hang, wrap, reset, backward, stuck };
  Kind kind = Kind::return_code;
  std::string target;  ///< function base name, "field:ID:SCOPE", "gpm:ID", or an alias: energy, power, "*"
  double number = 0;
  std::optional<std::size_t> gpu;                                                ///< nothing: all
  std::int64_t begin_ns = 0, end_ns = std::numeric_limits<std::int64_t>::max();  ///< since nvmlInit
  std::int64_t first_call = 1, last_call = std::numeric_limits<std::int64_t>::max();
};

struct FakeScript {
  std::vector<FakeGpu> gpus;
  std::vector<FakeFault> faults;
  std::string driver = "550.54.15";
  std::int64_t latency_ns = 0;  ///< of each call
};

struct ParsedScript {
  FakeScript script;
  std::string error;  ///< empty: understood
};
[[nodiscard]] ParsedScript parse_fake_script(std::string_view text);

}  // namespace gradwatt::doubles
