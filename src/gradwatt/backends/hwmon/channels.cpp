#include "gradwatt/backends/hwmon/channels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/core/text.hpp"

namespace gradwatt::hwmon {
namespace {

using record::DeviceKind;
using record::metric;

constexpr std::string_view kRoot = "sys/class/hwmon";

/// A chip and the folder that holds its files: old drivers keep them in hwmonN/device.
struct Chip {
  std::string entry;   // "hwmon3"
  std::string driver;  // "power_meter"
  std::string folder;
};

struct Grace {
  std::string_view word;  // first word of the label
  bool counted;
  std::string_view reason;
};
constexpr std::array<Grace, 4> kGrace{{{"module", true, ""},
                                       {"grace", true, ""},
                                       {"cpu", false, "inside the Grace meter of the same socket"},
                                       {"sysio", false, "inside the Grace meter of the same socket"}}};

/// "Grace Power Socket 1" -> 1.
std::optional<int> socket_of(std::string_view label) {
  const auto words = core::split_words(label);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (core::to_lower(words[i]) == "socket")
      if (const auto number = core::parse_int(words[i + 1])) return static_cast<int>(*number);
  return std::nullopt;
}

core::Duration averaging_period(const core::FileTree& tree, const Chip& chip, const std::string& channel) {
  const auto ms = tree.read_int(fmt::format("{}/{}_average_interval", chip.folder, channel));
  return ms && *ms > 0 ? core::Duration(std::chrono::milliseconds(*ms)) : core::Duration{0};
}

/// The meter of a Grace superchip, or nothing when the label is not one of its.
std::optional<Channel> grace_channel(const std::string& label) {
  const auto words = core::split_words(label);
  const auto socket = socket_of(label);
  if (words.empty() || !socket) return std::nullopt;
  Channel channel;
  channel.socket = *socket;
  const auto first = core::to_lower(words[0]);
  if (first == "module") {
    channel.metric = metric(DeviceKind::node, "power_module");
    channel.uuid = fmt::format("superchip-module-{}", *socket);
    channel.name = fmt::format("superchip module {}", *socket);
    channel.scope = "module";
    channel.note = "contains the GPU, the CPU and the memory of the module; never added to them";
    return channel;
  }
  if (first != "grace") return std::nullopt;
  channel.metric = metric(DeviceKind::cpu, "power");
  channel.uuid = fmt::format("cpu-package-{}", *socket);
  channel.name = "NVIDIA Grace";
  channel.scope = "package and memory";
  channel.note = "includes the CPU's memory and its system I/O";
  return channel;
}

void take_power(const core::FileTree& tree, const Chip& chip, const std::string& channel_name, const std::string& file,
                Channels& found) {
  const auto what = fmt::format("{} ({}) {}", chip.entry, chip.driver, file);
  std::string label;
  for (const auto* suffix : {"_label", "_oem_info"})
    if (const auto text = tree.read(fmt::format("{}/{}{}", chip.folder, channel_name, suffix)); text && label.empty())
      label = *text;
  const auto ignore = [&](std::string reason) { found.ignored.push_back({what, std::move(reason)}); };
  std::optional<Channel> channel;
  if (chip.driver == "power_meter") {
    channel = grace_channel(label);
    const auto words = core::split_words(label);
    for (const auto& part : kGrace)
      if (!channel && socket_of(label) && core::to_lower(words[0]) == part.word)
        return ignore(std::string(part.reason));
  }
  if (!channel && names_the_node(label)) {
    channel = Channel{};
    channel->metric = metric(DeviceKind::node, "power");
    channel->uuid = fmt::format("node-meter-{}-{}", chip.driver, channel_name);
    channel->name = label;
    channel->scope = "node";
  }
  if (!channel)
    return ignore(label.empty() ? "no label says what it measures" : fmt::format("'{}' is not the node", label));
  channel->file = fmt::format("{}/{}", chip.folder, file);
  channel->update_period = averaging_period(tree, chip, channel_name);
  found.used.push_back(std::move(*channel));
}

void take_amd_energy(const core::FileTree& tree, const Chip& chip, const std::string& name, const std::string& file,
                     Channels& found) {
  constexpr std::string_view kSocket = "Esocket";
  const auto label = tree.read(fmt::format("{}/{}_label", chip.folder, name));
  const auto number =
      label && label->starts_with(kSocket) ? core::parse_int(label->substr(kSocket.size())) : std::nullopt;
  if (!number) {
    // Dozens of cores: one word for all of them.
    if (std::ranges::find(found.ignored, chip.entry + " (amd_energy) cores", &IgnoredChannel::what) ==
        found.ignored.end())
      found.ignored.push_back({chip.entry + " (amd_energy) cores", "inside the socket's counter"});
    return;
  }
  Channel channel;
  channel.metric = metric(DeviceKind::cpu, "energy");
  channel.file = fmt::format("{}/{}", chip.folder, file);
  channel.uuid = fmt::format("cpu-package-{}", *number);
  channel.name = fmt::format("CPU package {}", *number);
  channel.socket = static_cast<int>(*number);
  channel.scope = "package";
  channel.note = "AMD computes this counter from activity inside the package; it is no electrical measurement";
  found.used.push_back(std::move(channel));
}

/// "power3_input" with suffix "_input" and prefix "power" -> "power3".
std::optional<std::string> channel_of(std::string_view file, std::string_view prefix, std::string_view suffix) {
  if (!file.starts_with(prefix) || !file.ends_with(suffix)) return std::nullopt;
  const auto number = file.substr(prefix.size(), file.size() - prefix.size() - suffix.size());
  return core::parse_int(number) ? std::optional(std::string(file.substr(0, file.size() - suffix.size())))
                                 : std::nullopt;
}

void take_chip(const core::FileTree& tree, const Chip& chip, Channels& found) {
  const auto files = tree.list(chip.folder);
  for (const auto& file : files) {
    if (const auto channel = channel_of(file, "power", "_average")) take_power(tree, chip, *channel, file, found);
    // A chip with both has one meter: the average sees all of the time, the input one moment of it.
    if (const auto channel = channel_of(file, "power", "_input");
        channel && !std::ranges::binary_search(files, *channel + "_average"))
      take_power(tree, chip, *channel, file, found);
    if (chip.driver != "amd_energy") continue;
    if (const auto channel = channel_of(file, "energy", "_input")) take_amd_energy(tree, chip, *channel, file, found);
  }
}

}  // namespace

bool names_the_node(std::string_view label) {
  constexpr std::array<std::string_view, 5> kNode{"node", "system", "chassis", "server", "platform"};
  std::string words = core::to_lower(label);
  std::ranges::replace_if(
      words, [](char c) { return c == '_' || c == '-' || c == ':' || c == ','; }, ' ');
  return std::ranges::any_of(core::split_words(words),
                             [&](std::string_view word) { return std::ranges::find(kNode, word) != kNode.end(); });
}

Channels find_channels(const core::FileTree& tree) {
  Channels found;
  for (const auto& entry : tree.list(kRoot)) {
    const auto base = fmt::format("{}/{}", kRoot, entry);
    for (const auto& folder : {base, base + "/device"}) {
      auto driver = tree.read(folder + "/name");
      if (!driver) driver = tree.read(base + "/name");
      take_chip(tree, {entry, driver.value_or("unknown"), folder}, found);
    }
  }
  return found;
}

}  // namespace gradwatt::hwmon
