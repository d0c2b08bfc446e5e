#include "measure/live_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "gradwatt/units/quantity.hpp"

namespace gradwatt::app {
namespace {

using launch::LiveOutput;
using record::DeviceKind;
using record::metric;

/// Where a component's power is read, best first.
struct PowerSource {
  DeviceKind kind;
  const char* name;
  record::MetricId energy;
  std::array<std::optional<record::MetricId>, 2> powers;
};
constexpr std::array kSources{
    PowerSource{DeviceKind::gpu,
                "GPU",
                metric(DeviceKind::gpu, "energy"),
                {metric(DeviceKind::gpu, "power_avg"), metric(DeviceKind::gpu, "power_inst")}},
    PowerSource{DeviceKind::cpu, "CPU", metric(DeviceKind::cpu, "energy"), {metric(DeviceKind::cpu, "power"), {}}},
    PowerSource{DeviceKind::dram, "RAM", metric(DeviceKind::dram, "energy"), {metric(DeviceKind::dram, "power"), {}}},
};

std::optional<double> power_of(const telemetry::LiveDevice& device, const PowerSource& source) {
  if (const auto power = device.power_from_energy(source.energy)) return power;
  for (const auto& candidate : source.powers)
    if (candidate)
      if (const auto power = device.value(*candidate)) return power;
  return std::nullopt;
}

std::size_t terminal_width(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write_all(int descriptor, std::string_view text) {
  // A line that cannot be shown is not worth any trouble: the job comes first.
  [[maybe_unused]] const auto written = ::write(descriptor, text.data(), text.size());
}

}  // namespace

core::Result<LiveLine> LiveLine::open(const Options& options, core::Instant begin) {
  LiveLine line(options, begin);
  line.output_ = launch::choose_live_output(launch::current_streams(options.command_runs), !options.file.empty());
  if (line.output_ == LiveOutput::lines_in_file) {
    line.descriptor_ = ::open(options.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (line.descriptor_ < 0)
      return core::fail(core::Errc::wrong_use, fmt::format("run: --live-file: cannot write {}", options.file.string()));
    line.owns_descriptor_ = true;
  } else if (line.output_ == LiveOutput::redrawn_on_terminal) {
    line.descriptor_ = ::open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY);
    line.owns_descriptor_ = line.descriptor_ >= 0;
    if (line.descriptor_ < 0) line.output_ = LiveOutput::lines_on_stderr;
  }
  if (line.output_ == LiveOutput::lines_on_stderr) line.descriptor_ = STDERR_FILENO;
  return line;
}

LiveLine::LiveLine(LiveLine&& other) noexcept
    : options_(std::move(other.options_)),
      begin_(other.begin_),
      last_(other.last_),
      last_line_(other.last_line_),
      output_(other.output_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      owns_descriptor_(std::exchange(other.owns_descriptor_, false)),
      energy_j_(other.energy_j_) {}

LiveLine::~LiveLine() {
  if (descriptor_ >= 0 && output_ == LiveOutput::redrawn_on_terminal && last_line_)
    write_all(descriptor_, launch::erase_line());
  if (owns_descriptor_) ::close(descriptor_);
}

launch::LiveStatus LiveLine::status(const Recorder& recorder, core::Instant now) {
  launch::LiveStatus status;
  status.elapsed = now - begin_;
  const auto devices = recorder.live().snapshot();
  for (const auto& source : kSources) {
    launch::LiveStatus::Component component{source.name, std::nullopt};
    bool present = false;
    for (const auto& device : devices) {
      if (device.device.kind != source.kind || device.device.attributes.contains("parent")) continue;
      present = true;
      if (const auto power = power_of(device, source)) component.power_w = component.power_w.value_or(0) + *power;
    }
    if (!present) continue;
    energy_j_ += component.power_w.value_or(0) * units::in_seconds(now - last_);
    status.components.push_back(std::move(component));
  }
  last_ = now;
  if (energy_j_ > 0) status.energy_kwh = energy_j_ / 3.6e6;
  const auto steps = recorder.steps();
  status.steps_per_s = steps.steps_per_s;
  const auto total = options_.total_steps ? options_.total_steps : steps.total_steps;
  if (total && steps.steps_per_s && *steps.steps_per_s > 0 && *total > steps.steps)
    status.time_left = std::chrono::nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(*total - steps.steps) / *steps.steps_per_s * 1e9));
  for (const auto& trigger : recorder.alerts()) status.alerts.push_back(trigger.text);
  return status;
}

void LiveLine::draw(const Recorder& recorder, core::Instant now) {
  const auto figures = status(recorder, now);
  if (output_ == LiveOutput::redrawn_on_terminal) {
    write_all(descriptor_, launch::redraw(launch::format_live(figures, terminal_width(descriptor_) - 1)));
    last_line_ = now;
    return;
  }
  if (last_line_ && now - *last_line_ < options_.every) return;
  last_line_ = now;
  write_all(descriptor_, fmt::format("gradwatt: {}\n", launch::format_live(figures, 120)));
}

}  // namespace gradwatt::app
