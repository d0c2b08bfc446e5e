#include "gradwatt/backends/proc/node_files.hpp"

#include <algorithm>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::proc {
namespace {

/// "cpu user nice system idle iowait irq softirq steal guest guest_nice"; old kernels print fewer.
std::optional<CpuTimes> parse_cpu_line(std::string_view line) {
  constexpr std::size_t kIdle = 4, kIowait = 5, kSteal = 8;
  const auto words = core::split_words(line);
  if (words.size() <= kIdle) return std::nullopt;
  CpuTimes times;
  for (std::size_t i = 1; i < words.size() && i <= kSteal; ++i) {
    const auto value = core::parse_int(words[i]);
    if (!value) return std::nullopt;
    times.total += *value;
    if (i == kIdle) times.idle = *value;
    if (i == kIowait) times.iowait = *value;
    if (i == kSteal) times.steal = *value;
  }
  return times;
}

std::optional<std::int64_t> kibibytes(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  const auto words = core::split_words(line.substr(name.size()));
  const auto value = words.empty() ? std::nullopt : core::parse_int(words[0]);
  return value ? std::optional(*value * 1024) : std::nullopt;
}

}  // namespace

std::optional<StatFile> parse_stat(std::string_view text) {
  StatFile stat;
  std::optional<CpuTimes> cpus;
  core::for_each_line(text, [&](std::string_view line) {
    if (line.starts_with("cpu ")) {
      cpus = parse_cpu_line(line);
    } else if (line.starts_with("ctxt ")) {
      stat.context_switches = core::parse_int(line.substr(5));
    } else if (line.starts_with("procs_running ")) {
      stat.running = core::parse_int(line.substr(14));
    } else if (line.starts_with("procs_blocked ")) {
      stat.blocked = core::parse_int(line.substr(14));
    }
  });
  if (!cpus) return std::nullopt;
  stat.cpus = *cpus;
  return stat;
}

std::optional<CpuShares> shares_between(const CpuTimes& before, const CpuTimes& after) {
  const auto step = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(std::max<std::int64_t>(0, b - a));
  };
  const double total = step(before.total, after.total);
  if (total <= 0) return std::nullopt;
  const auto percent = [&](double part) { return std::min(100.0, 100 * part / total); };
  return CpuShares{percent(step(before.busy(), after.busy())), percent(step(before.iowait, after.iowait)),
                   percent(step(before.steal, after.steal))};
}

std::optional<Memory> parse_meminfo(std::string_view text) {
  std::optional<std::int64_t> total, available, cached;
  core::for_each_line(text, [&](std::string_view line) {
    if (const auto value = kibibytes(line, "MemTotal:")) total = value;
    if (const auto value = kibibytes(line, "MemAvailable:")) available = value;
    if (const auto value = kibibytes(line, "Cached:")) cached = value;
  });
  if (!total || !available || !cached) return std::nullopt;
  return Memory{*total, *available, *cached};
}

std::optional<std::int64_t> parse_pressure_us(std::string_view text) {
  constexpr std::string_view kTotal = "total=";
  for (const auto line : core::split(text, '\n')) {
    if (!line.starts_with("some ")) continue;
    for (const auto word : core::split_words(line))
      if (word.starts_with(kTotal)) return core::parse_int(word.substr(kTotal.size()));
  }
  return std::nullopt;
}

}  // namespace gradwatt::proc
