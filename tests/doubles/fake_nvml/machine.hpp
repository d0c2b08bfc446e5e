// The state behind the fake driver: its clock, its devices and what the script's faults do to an answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/backends/nvml/api.hpp"
#include "tests/doubles/fake_nvml/script.hpp"

namespace gradwatt::doubles {

/// What a device handle points to: a GPU, or a MIG slice of one.
struct FakeDevice {
  std::size_t gpu = 0;
  std::optional<std::size_t> slice;
  unsigned gpu_instance = 0;
  std::string uuid;
};

struct FakeAnswer {
  nvml::Return code = nvml::Return::success;
  nvml::ValueType type = nvml::ValueType::u64;
  double number = 0;  ///< all figures of the fake fit: counters stay below 2^53
};

class Machine {
 public:
  /// Reads GRADWATT_FAKE_NVML: a file name, or the script itself.
  nvml::Return start();
  void stop() { started_ = false; }
  /// As freshly loaded: no call counted, real clock.
  void forget();
  [[nodiscard]] bool started() const { return started_; }

  /// Waits, counts the call and answers what a fault of the script makes of it; success: go on.
  nvml::Return enter(std::string_view function, const FakeDevice* device);
  /// What the script's faults make of the figure that `target` stands for. `alias`: "energy", "power" or empty.
  void distort(FakeAnswer& answer, std::string_view target, std::string_view alias, const FakeDevice& device);

  [[nodiscard]] FakeDevice* device(nvml::DeviceHandle handle);
  [[nodiscard]] std::vector<std::unique_ptr<FakeDevice>>& devices() { return devices_; }
  [[nodiscard]] const FakeScript& script() const { return script_; }
  [[nodiscard]] const FakeGpu& gpu(const FakeDevice& device) const { return script_.gpus[device.gpu]; }

  [[nodiscard]] std::int64_t now_ns() const;
  void set_time_ns(std::int64_t ns) { script_time_ns_ = ns; }
  [[nodiscard]] std::int64_t calls(std::string_view function);

  /// Energy counter in mJ with the counter faults of the script; module: with the CPU side.
  [[nodiscard]] double energy_mj(const FakeDevice& device, bool module) const;
  [[nodiscard]] double average_w(const FakeDevice& device, std::int64_t window_ns) const;

 private:
  [[nodiscard]] bool applies(const FakeFault& fault, std::string_view target, std::string_view alias,
                             const FakeDevice* device, std::int64_t occurrence) const;
  [[nodiscard]] bool in_window(const FakeFault& fault, std::int64_t at_ns) const;
  [[nodiscard]] double true_energy_mj(const FakeDevice& device, bool module, std::int64_t at_ns) const;

  FakeScript script_;
  std::vector<std::unique_ptr<FakeDevice>> devices_;
  std::mutex mutex_;  // guards counts_
  std::map<std::string, std::int64_t, std::less<>> counts_;
  std::atomic<std::int64_t> script_time_ns_{-1};  ///< −1: CLOCK_MONOTONIC
  std::int64_t start_ns_ = 0;
  std::atomic<bool> started_ = false;
};

}  // namespace gradwatt::doubles
