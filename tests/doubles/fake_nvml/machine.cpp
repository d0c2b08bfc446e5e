#include "tests/doubles/fake_nvml/machine.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace gradwatt::doubles {
namespace {

using nvml::Return;

/// Power of CPU and memory on a superchip module.
constexpr double kModuleExtraW = 150;
constexpr double kMillijoulesBefore = 5e9;  ///< the counter began long before the test: at driver load

std::string script_text() {
  const char* setting = std::getenv("GRADWATT_FAKE_NVML");
  if (setting == nullptr) return "h100";
  std::ifstream file(setting);
  if (!file) return setting;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string make_uuid(const char* prefix, std::size_t gpu, std::size_t slice) {
  char text[64];
  std::snprintf(text, sizeof text, "%s-%02zx%02zxfa4e-0000-4000-8000-0000000000%02zx", prefix, gpu + 0xa0, slice, gpu);
  return text;
}

void sleep_ns(std::int64_t ns) {
  if (ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
}

}  // namespace

Return Machine::start() {
  auto parsed = parse_fake_script(script_text());
  if (!parsed.error.empty()) {
    std::fprintf(stderr, "fake NVML: the script in GRADWATT_FAKE_NVML is not understood: %s\n", parsed.error.c_str());
    return Return::unknown;
  }
  script_ = std::move(parsed.script);
  devices_.clear();
  {
    const std::lock_guard lock(mutex_);
    counts_.clear();
  }
  for (std::size_t g = 0; g < script_.gpus.size(); ++g) {
    devices_.push_back(std::make_unique<FakeDevice>(FakeDevice{g, {}, 0, make_uuid("GPU", g, 0)}));
    for (std::size_t s = 0; s < script_.gpus[g].mig.size(); ++s)
      devices_.push_back(
          std::make_unique<FakeDevice>(FakeDevice{g, s, static_cast<unsigned>(s + 1), make_uuid("MIG", g, s + 1)}));
  }
  start_ns_ = now_ns();
  const Return code = enter("nvmlInit", nullptr);
  started_ = code == Return::success;
  return code;
}

void Machine::forget() {
  script_time_ns_ = -1;
  const std::lock_guard lock(mutex_);
  counts_.clear();
}

std::int64_t Machine::now_ns() const {
  if (const auto scripted = script_time_ns_.load(); scripted >= 0) return scripted;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool Machine::in_window(const FakeFault& fault, std::int64_t at_ns) const {
  const auto since = at_ns - start_ns_;
  return since >= fault.begin_ns && since < fault.end_ns;
}

bool Machine::applies(const FakeFault& fault, std::string_view target, std::string_view alias, const FakeDevice* device,
                      std::int64_t occurrence) const {
  if (fault.target != target && (alias.empty() || fault.target != alias) && fault.target != "*") return false;
  if (fault.target == "*" && device == nullptr) return false;  // "*": every call about a device
  if (fault.gpu && (device == nullptr || device->gpu != *fault.gpu)) return false;
  return in_window(fault, now_ns()) && occurrence >= fault.first_call && occurrence <= fault.last_call;
}

Return Machine::enter(std::string_view function, const FakeDevice* device) {
  sleep_ns(script_.latency_ns);
  std::int64_t occurrence = 0;
  {
    const std::lock_guard lock(mutex_);
    auto it = counts_.find(function);
    if (it == counts_.end()) it = counts_.emplace(function, 0).first;
    occurrence = ++it->second;
  }
  for (const FakeFault& fault : script_.faults) {
    if (fault.kind == FakeFault::Kind::hang && applies(fault, function, {}, device, occurrence))
      sleep_ns(std::llround(fault.number * 1e9));
    if (fault.kind == FakeFault::Kind::return_code && applies(fault, function, {}, device, occurrence))
      return static_cast<Return>(std::llround(fault.number));
  }
  return Return::success;
}

void Machine::distort(FakeAnswer& answer, std::string_view target, std::string_view alias, const FakeDevice& device) {
  std::int64_t occurrence = 0;
  if (!script_.faults.empty()) {
    const std::lock_guard lock(mutex_);
    occurrence = ++counts_[std::string(target)];
  }
  for (const FakeFault& fault : script_.faults) {
    // "*" breaks whole calls, which enter() sees to.
    if (fault.target == "*" || !applies(fault, target, alias, &device, occurrence)) continue;
    if (fault.kind == FakeFault::Kind::return_code) answer.code = static_cast<Return>(std::llround(fault.number));
    if (fault.kind == FakeFault::Kind::value) answer.number = fault.number;
    if (fault.kind == FakeFault::Kind::type) answer.type = static_cast<nvml::ValueType>(std::llround(fault.number));
  }
}

FakeDevice* Machine::device(nvml::DeviceHandle handle) {
  const auto same = [&](const auto& device) { return static_cast<void*>(device.get()) == static_cast<void*>(handle); };
  const auto it = std::ranges::find_if(devices_, same);
  return it != devices_.end() ? it->get() : nullptr;
}

std::int64_t Machine::calls(std::string_view function) {
  const std::lock_guard lock(mutex_);
  const auto it = counts_.find(function);
  return it != counts_.end() ? it->second : 0;
}

double Machine::true_energy_mj(const FakeDevice& device, bool module, std::int64_t at_ns) const {
  const FakeGpu& gpu = script_.gpus[device.gpu];
  const auto step = std::max<std::int64_t>(gpu.energy_update_ns, 1);
  const auto updated_ns = at_ns / step * step;
  const double extra_j = module ? kModuleExtraW * static_cast<double>(updated_ns) * 1e-9 : 0;
  return kMillijoulesBefore + std::floor((gpu.power.energy_j(updated_ns) + extra_j) * 1e3);
}

double Machine::energy_mj(const FakeDevice& device, bool module) const {
  const auto now = now_ns();
  double mj = true_energy_mj(device, module, now);
  for (const FakeFault& fault : script_.faults) {
    if (fault.gpu && *fault.gpu != device.gpu) continue;
    const auto begin = start_ns_ + fault.begin_ns;
    // The wrap falls on the begin of the window: before it the counter is near the end of its range.
    if (fault.kind == FakeFault::Kind::wrap)
      mj += (now < begin ? fault.number : 0) - true_energy_mj(device, module, begin);
    if (!in_window(fault, now)) continue;
    switch (fault.kind) {
      case FakeFault::Kind::reset:
        mj -= true_energy_mj(device, module, begin);
        break;
      case FakeFault::Kind::backward:
        mj -= fault.number;
        break;
      case FakeFault::Kind::stuck:
        mj = true_energy_mj(device, module, begin);
        break;
      default:
        break;
    }
  }
  return std::max(mj, 0.0);
}

double Machine::average_w(const FakeDevice& device, std::int64_t window_ns) const {
  const FakeGpu& gpu = script_.gpus[device.gpu];
  const auto step = std::max<std::int64_t>(gpu.power_update_ns, 1);
  const auto end = now_ns() / step * step;
  const auto begin = end - window_ns;
  // Before clock 0 there is no waveform: a test clock that starts there sees the first level.
  if (begin < 0) return gpu.power.power_w(static_cast<double>(std::max<std::int64_t>(end, 0)) * 1e-9);
  return gpu.power.mean_w(begin, end);
}

}  // namespace gradwatt::doubles
