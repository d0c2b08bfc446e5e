#include "gradwatt/backends/model/model_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gradwatt/backends/model/cpu_model.hpp"
#include "gradwatt/backends/model/memory_model.hpp"
#include "gradwatt/catalog/cpu_table.hpp"
#include "gradwatt/core/kept_file.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::model {
namespace {

using record::DeviceKind;
using record::metric;

constexpr auto kPower = metric(DeviceKind::cpu, "power");
constexpr auto kEnergy = metric(DeviceKind::cpu, "energy");
constexpr auto kDramEnergy = metric(DeviceKind::dram, "energy");
constexpr auto kUtilization = metric(DeviceKind::cpu, "utilization");
constexpr auto kClock = metric(DeviceKind::cpu, "clock");
constexpr auto kDramPower = metric(DeviceKind::dram, "power");

// Asking a core for its clock interrupts it, so it is done rarely and for some cores of each package only.
constexpr auto kClockPeriod = std::chrono::seconds(10);
constexpr std::size_t kClocksAPackage = 16;

/// Busy and total time of one logical CPU since boot, in user ticks.
struct CpuTime {
  std::int64_t busy = 0, total = 0;
};

/// "cpu3 user nice system idle iowait …" lines by CPU. Stolen time is not busy: others used it.
std::map<int, CpuTime> parse_cpu_times(std::string_view stat) {
  constexpr std::size_t kIdle = 4, kIowait = 5, kSteal = 8;
  std::map<int, CpuTime> times;
  core::for_each_line(stat, [&](std::string_view line) {
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) return;
    const auto words = core::split_words(line);
    const auto cpu = core::parse_int(words[0].substr(3));
    if (!cpu || words.size() <= kIdle) return;
    CpuTime time;
    bool good = true;
    for (std::size_t i = 1; i < words.size() && i <= kSteal; ++i) {
      const auto value = core::parse_int(words[i]);
      good = good && value;
      time.total += value.value_or(0);
      if (i != kIdle && i != kIowait && i != kSteal) time.busy += value.value_or(0);
    }
    if (good) times.emplace(static_cast<int>(*cpu), time);
  });
  return times;
}

/// Share of the time between two readings that these CPUs were busy, 0–1. Nothing when no time passed.
std::optional<double> busy_share(const std::map<int, CpuTime>& before, const std::map<int, CpuTime>& after,
                                 const std::vector<int>& cpus) {
  std::int64_t busy = 0, total = 0;
  for (const int cpu : cpus) {
    const auto a = before.find(cpu);
    const auto b = after.find(cpu);
    if (a == before.end() || b == after.end()) continue;  // taken offline or just back
    busy += std::max<std::int64_t>(0, b->second.busy - a->second.busy);
    total += std::max<std::int64_t>(0, b->second.total - a->second.total);
  }
  if (total <= 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(busy) / static_cast<double>(total));
}

std::string clock_file(int cpu) { return fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu); }

telemetry::SeriesSpec modelled(record::MetricId id, std::string scope, std::string source, double low, double high,
                               std::string note) {
  telemetry::SeriesSpec spec;
  spec.metric = id;
  spec.how = record::How::modelled;
  spec.scope = std::move(scope);
  spec.source = std::move(source);
  spec.range_low = low;
  spec.range_high = high;
  spec.note = std::move(note);
  return spec;
}

telemetry::SeriesSpec measured(record::MetricId id, std::string source, core::Duration cadence = {}) {
  telemetry::SeriesSpec spec;
  spec.metric = id;
  spec.how = record::How::integrated;
  spec.scope = "package";
  spec.source = std::move(source);
  spec.cadence = cadence;
  return spec;
}

class ModelSensor final : public telemetry::Sensor {
 public:
  ModelSensor(core::FileTree tree, std::vector<CpuModel> cpus, std::optional<MemoryModel> memory)
      : tree_(std::move(tree)), stat_(tree_, "proc/stat"), cpus_(std::move(cpus)), memory_(std::move(memory)) {
    for (const auto& cpu : cpus_) add_cpu(cpu);
    if (memory_) add_memory();
    if (const auto text = stat_.read(buffer_)) before_ = parse_cpu_times(*text);
  }
  std::string_view name() const override { return "model"; }
  bool may_block() const override { return false; }
  std::vector<telemetry::SensorDevice> devices() const override { return devices_; }
  void read(telemetry::Reading& reading) override {
    if (!cpus_.empty()) read_cpus(reading);
    if (!memory_) return;
    reading.set(cpus_.size(), kDramPower, memory_->watts);
    memory_energy_.add(memory_->watts, reading.begin());
    reading.set(cpus_.size(), kDramEnergy, memory_energy_.joules);
  }

 private:
  void add_cpu(const CpuModel& cpu) {
    telemetry::SensorDevice out;
    out.device = {DeviceKind::cpu, fmt::format("cpu-package-{}", cpu.package), cpu.cpu_name, cpu.package, "", {}};
    out.device.attributes["model_full_w"] = fmt::format("{:.1f}", cpu.full_w);
    out.series.push_back(modelled(kPower, "package", "model cpu-utilisation", cpu.low, cpu.high, cpu.rests_on));
    out.series.push_back(modelled(kEnergy, "package", "model cpu-utilisation", cpu.low, cpu.high, cpu.rests_on));
    energy_.emplace_back();
    out.series.push_back(measured(kUtilization, "/proc/stat"));
    if (tree_.read_int(clock_file(cpu.cpus.front())))
      out.series.push_back(measured(kClock, "cpufreq scaling_cur_freq", kClockPeriod));
    devices_.push_back(std::move(out));
  }
  void add_memory() {
    telemetry::SensorDevice out;
    out.device = {DeviceKind::dram, "dram-host", "memory of the host", -1, "", {}};
    out.device.attributes["modules"] = std::to_string(memory_->modules);
    out.series.push_back(modelled(kDramPower, "memory of the host", "model memory-modules", memory_->low, memory_->high,
                                  memory_->rests_on));
    out.series.push_back(modelled(kDramEnergy, "memory of the host", "model memory-modules", memory_->low,
                                  memory_->high, memory_->rests_on));
    devices_.push_back(std::move(out));
  }
  void read_cpus(telemetry::Reading& reading) {
    const auto text = stat_.read(buffer_);
    auto after = text ? parse_cpu_times(*text) : std::map<int, CpuTime>{};
    const bool clocks_due = !last_clock_ || reading.begin() - *last_clock_ >= kClockPeriod;
    if (clocks_due) last_clock_ = reading.begin();
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      if (clocks_due && devices_[i].series.back().metric == kClock) read_clock(reading, i);
      if (after.empty()) {
        const auto reason = text ? std::string("/proc/stat has no line a CPU") : text.error().message;
        reading.fail(i, kPower, reason);
        reading.fail(i, kEnergy, reason);
        reading.fail(i, kUtilization, reason);
        continue;
      }
      const auto busy = busy_share(before_, after, cpus_[i].cpus);
      const bool first = !energy_[i].since;
      if (first) energy_[i].add(0, reading.begin());  // energy counts from here
      if (first && !busy) reading.set(i, kEnergy, 0);
      if (!busy) continue;  // no time passed since the last reading: nothing was missed
      const double watts = catalog::package_power_w(cpus_[i].full_w, *busy);
      energy_[i].add(watts, reading.begin());
      reading.set(i, kPower, watts);
      reading.set(i, kEnergy, energy_[i].joules);
      reading.set(i, kUtilization, 100 * *busy);
    }
    // A failed reading keeps the older one: the next share then spans the gap.
    if (!after.empty()) before_ = std::move(after);
  }
  void read_clock(telemetry::Reading& reading, std::size_t i) {
    const auto& cpus = cpus_[i].cpus;
    const auto step = std::max<std::size_t>(1, (cpus.size() + kClocksAPackage - 1) / kClocksAPackage);
    double sum_khz = 0;
    int read = 0;
    for (std::size_t k = 0; k < cpus.size(); k += step) {
      const auto khz = tree_.read_int(clock_file(cpus[k]));
      if (!khz || *khz <= 0) continue;
      sum_khz += static_cast<double>(*khz);
      ++read;
    }
    if (read > 0)
      reading.set(i, kClock, sum_khz / read * 1e-3);
    else
      reading.fail(i, kClock, "no CPU of the package tells its clock");
  }

  /// The share of busy time is a mean since the last reading, so the model can count its energy without a gap.
  struct Count {
    std::optional<core::Instant> since;
    double joules = 0;
    void add(double watts, core::Instant now) {
      if (since) joules += watts * std::chrono::duration<double>(now - *since).count();
      since = now;
    }
  };

  core::FileTree tree_;
  core::KeptFile stat_;
  std::string buffer_;
  std::vector<CpuModel> cpus_;
  std::optional<MemoryModel> memory_;
  std::vector<Count> energy_;  // of the CPUs
  Count memory_energy_;
  std::vector<telemetry::SensorDevice> devices_;  // the CPUs, then the memory
  std::map<int, CpuTime> before_;
  std::optional<core::Instant> last_clock_;
};

bool covers(const telemetry::OpenContext& context, DeviceKind kind) {
  return std::ranges::count(context.covered, kind) > 0;
}

/// Outside x86 a CPU meter belongs to the board and includes the memory (Grace): modelling it would count it twice.
bool memory_is_inside(const telemetry::OpenContext& context, const catalog::HostCpu& cpu) {
  return covers(context, DeviceKind::cpu) && cpu.vendor == "ARM";
}

}  // namespace

ModelBackend::ModelBackend(core::FileTree tree) : tree_(std::move(tree)) {}

std::vector<telemetry::SourceStatus> ModelBackend::probe() {
  const auto host = catalog::read_host_cpu(tree_);
  const auto cpus = make_cpu_models(host);
  telemetry::SourceStatus cpu{"CPU power model", "CPU power (modelled, only where nothing measures it)", false, "", ""};
  cpu.usable = !cpus.empty();
  if (cpus.empty())
    cpu.detail = "/proc/cpuinfo names no CPU";
  else
    cpu.detail = fmt::format("{} package(s), true power between {:.2f} and {:.2f} times the model; {}", cpus.size(),
                             cpus.front().low, cpus.front().high, cpus.front().rests_on);
  telemetry::SourceStatus memory{"memory power model", "memory power (modelled, only where nothing measures it)", false,
                                 "", ""};
  const auto model = make_memory_model(tree_, host);
  memory.usable = model.has_value();
  memory.detail = model ? fmt::format("{:.0f} W, true power between {:.2f} and {:.2f} times that; {}", model->watts,
                                      model->low, model->high, model->rests_on)
                        : model.error().message;
  return {cpu, memory};
}

core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> ModelBackend::open(
    const telemetry::OpenContext& context) {
  const auto host = catalog::read_host_cpu(tree_);
  std::vector<CpuModel> cpus;
  if (!covers(context, DeviceKind::cpu)) cpus = make_cpu_models(host);
  std::optional<MemoryModel> memory;
  if (!covers(context, DeviceKind::dram) && !memory_is_inside(context, host))
    if (const auto model = make_memory_model(tree_, host)) memory = *model;
  std::vector<std::unique_ptr<telemetry::Sensor>> sensors;
  if (!cpus.empty() || memory)
    sensors.push_back(std::make_unique<ModelSensor>(tree_, std::move(cpus), std::move(memory)));
  return sensors;
}

}  // namespace gradwatt::model
