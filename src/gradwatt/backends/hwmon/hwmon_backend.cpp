#include "gradwatt/backends/hwmon/hwmon_backend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gradwatt/backends/hwmon/channels.hpp"

namespace gradwatt::hwmon {
namespace {

using record::DeviceKind;

// A socket's counter is a glitch above this: no CPU sold by 2026 draws 1 kW, times the usual factor of 1.5.
constexpr double kPackageBoundW = 1500;
constexpr std::size_t kNamedAtMost = 4;

bool counts(const Channel& channel) { return record::info(channel.metric).type == record::MetricType::counter; }
DeviceKind kind_of(const Channel& channel) { return record::info(channel.metric).kind; }

telemetry::SensorDevice describe(const Channel& channel, core::Duration interval) {
  telemetry::SensorDevice out;
  out.device.kind = kind_of(channel);
  out.device.uuid = channel.uuid;
  out.device.name = channel.name;
  out.device.index = channel.socket;
  telemetry::SeriesSpec spec;
  spec.metric = channel.metric;
  spec.how = counts(channel) ? record::How::counter : record::How::integrated;
  spec.scope = channel.scope;
  spec.source = "hwmon /" + channel.file;
  spec.note = channel.note;
  if (counts(channel)) spec.max_rate = kPackageBoundW;
  if (channel.update_period > interval) spec.cadence = channel.update_period;
  out.series.push_back(std::move(spec));
  return out;
}

class HwmonSensor final : public telemetry::Sensor {
 public:
  HwmonSensor(core::FileTree tree, std::vector<Channel> channels, core::Duration interval)
      : tree_(std::move(tree)), channels_(std::move(channels)), last_(channels_.size()) {
    for (const auto& channel : channels_) devices_.push_back(describe(channel, interval));
  }
  std::string_view name() const override { return "hwmon"; }
  std::vector<telemetry::SensorDevice> devices() const override { return devices_; }
  void read(telemetry::Reading& reading) override {
    for (std::size_t i = 0; i < channels_.size(); ++i)
      if (due(i, reading.begin())) read_channel(reading, i);
  }

 private:
  bool due(std::size_t i, core::Instant now) {
    const auto cadence = devices_[i].series.front().cadence;
    if (cadence > core::Duration{0} && last_[i] && now - *last_[i] < cadence) return false;
    last_[i] = now;
    return true;
  }
  void read_channel(telemetry::Reading& reading, std::size_t i) {
    const auto& channel = channels_[i];
    const auto micro = tree_.read_int(channel.file);
    if (!micro)
      reading.fail(i, channel.metric, micro.error().message);
    else if (*micro < 0)
      reading.fail(i, channel.metric, fmt::format("/{} holds {}, less than nothing", channel.file, *micro));
    else if (counts(channel))
      reading.set_stored(i, channel.metric, *micro);
    else
      reading.set(i, channel.metric, static_cast<double>(*micro) * 1e-6);
  }

  core::FileTree tree_;
  std::vector<Channel> channels_;
  std::vector<telemetry::SensorDevice> devices_;
  std::vector<std::optional<core::Instant>> last_;
};

std::string ignored_text(const std::vector<IgnoredChannel>& ignored) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ignored.size(), kNamedAtMost); ++i)
    text += fmt::format("; not counted: {}: {}", ignored[i].what, ignored[i].reason);
  if (ignored.size() > kNamedAtMost) text += fmt::format("; and {} more", ignored.size() - kNamedAtMost);
  return text;
}

}  // namespace

HwmonBackend::HwmonBackend(core::FileTree tree) : tree_(std::move(tree)) {}

std::vector<telemetry::SourceStatus> HwmonBackend::probe() {
  telemetry::SourceStatus status{"hwmon power meters", "power of superchips, CPU sockets or the node", false, "", ""};
  const auto found = find_channels(tree_);
  std::string names;
  for (const auto& channel : found.used) {
    const auto value = tree_.read_int(channel.file);
    if (value) {
      status.usable = true;
      names += (names.empty() ? "" : ", ") + channel.name;
      if (channel.socket >= 0) names += fmt::format(" (socket {})", channel.socket);
    } else {
      status.detail += (status.detail.empty() ? "" : "; ") + value.error().message;
      if (value.error().code == core::Errc::not_permitted)
        status.remedy = fmt::format("sudo chmod a+r {}", tree_.path(channel.file).string());
    }
  }
  if (!names.empty()) status.detail = names + (status.detail.empty() ? "" : "; ") + status.detail;
  if (found.used.empty()) status.detail = "no channel here measures a CPU, a superchip or the node";
  status.detail += ignored_text(found.ignored);
  return {status};
}

core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> HwmonBackend::open(
    const telemetry::OpenContext& context) {
  auto found = find_channels(tree_);
  std::erase_if(found.used, [&](const Channel& channel) {
    // A node meter stands beside the parts; a CPU that is measured already must not be counted again.
    const bool again = kind_of(channel) == DeviceKind::cpu && std::ranges::count(context.covered, DeviceKind::cpu) > 0;
    return again || !tree_.read_int(channel.file);
  });
  std::vector<std::unique_ptr<telemetry::Sensor>> sensors;
  if (!found.used.empty())
    sensors.push_back(std::make_unique<HwmonSensor>(tree_, std::move(found.used), context.interval));
  return sensors;
}

}  // namespace gradwatt::hwmon
