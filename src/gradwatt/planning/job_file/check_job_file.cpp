#include "gradwatt/planning/job_file/check_job_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradwatt::planning {
namespace {

using core::Errc;
using core::fail;

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Partition lists, feature expressions and names of jobs; nothing that a shell or Slurm would read as more.
bool fits_a_directive(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return is_alphanumeric(c) || std::string_view("_-.,:&|*@+/[]").find(c) != std::string_view::npos;
  });
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '_'; });
}

bool is_clock(std::string_view frequency) {
  constexpr auto kWords = std::to_array<std::string_view>({"low", "medium", "high", "highm1"});
  return std::ranges::find(kWords, frequency) != kWords.end() ||
         (!frequency.empty() && frequency.size() <= 5 && std::ranges::all_of(frequency, is_digit));
}

core::Result<void> check_cap(const SiteCap& cap, const NodeShape& node) {
  if (!cap.flag.starts_with("--") || cap.flag.size() < 3 || !fits_a_directive(cap.flag))
    return fail(Errc::wrong_use,
                fmt::format("\"{}\" is no option for a power cap; give the site's own, such as --gpu-power", cap.flag));
  const double least = node.power_cap_min_w.value_or(1), most = node.power_cap_max_w.value_or(1e6);
  if (cap.watts < least || cap.watts > most)
    return fail(Errc::wrong_use, node.power_cap_max_w
                                     ? fmt::format("a cap of {} W lies outside {:.0f}–{:.0f} W, which this GPU allows",
                                                   cap.watts, least, most)
                                     : fmt::format("a cap of {} W is none", cap.watts));
  return {};
}

}  // namespace

core::Result<void> check_texts(const JobFile& job) {
  struct Text {
    std::string_view what, value;
  };
  for (const auto& [what, value] :
       {Text{"job name", job.name}, Text{"plan id", job.plan_id}, Text{"partition", job.partition},
        Text{"account", job.account}, Text{"constraint", job.constraint}, Text{"signal", job.signal}})
    if (!fits_a_directive(value))
      return fail(Errc::wrong_use,
                  fmt::format("{} \"{}\" has a character that no directive may have; use letters, digits "
                              "and _-.,:",
                              what, value));
  if (job.command.empty() || job.command.front().empty())
    return fail(Errc::wrong_use, "a job file needs the command that it runs; give it after --");
  for (const auto& [name, value] : job.environment) {
    if (!is_variable_name(name))
      return fail(Errc::wrong_use, fmt::format("\"{}\" is no name of an environment variable", name));
    if (value.find('\0') != std::string::npos)
      return fail(Errc::wrong_use, fmt::format("the value of {} holds a zero byte", name));
  }
  return {};
}

core::Result<void> check_settings(const JobFile& job, const JobShape& shape) {
  if (job.signal.empty()) return fail(Errc::wrong_use, "a job file needs a signal to end by; TERM is one");
  if (const auto* clock = std::get_if<GpuClock>(&job.power); clock != nullptr && !is_clock(clock->frequency))
    return fail(
        Errc::wrong_use,
        fmt::format("\"{}\" is no clock that Slurm knows; use low, medium, high, highm1 or MHz", clock->frequency));
  if (const auto* cap = std::get_if<SiteCap>(&job.power))
    if (auto ok = check_cap(*cap, job.node); !ok) return ok;
  if (job.energy_interval_s && *job.energy_interval_s < 1)
    return fail(Errc::wrong_use,
                "the interval of Slurm's energy profile is at least one second; leave it out to turn it off");
  const int cores_per_gpu = shape.cpus_per_task * shape.tasks_per_node / shape.gpus_per_node;
  if (job.settings.workers && *job.settings.workers > cores_per_gpu - 1)
    return fail(Errc::wrong_use,
                fmt::format("{} loader workers a GPU need {} cores, and a GPU has {} of the node's {}; at most "
                            "{} workers",
                            *job.settings.workers, *job.settings.workers + 1, cores_per_gpu, job.node.cores,
                            cores_per_gpu - 1));
  return {};
}

}  // namespace gradwatt::planning
