#include "gradwatt/backends/nvml/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "gradwatt/core/text.hpp"

namespace gradwatt::nvml {
namespace {

std::optional<std::size_t> as_index(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "MIG-GPU-<uuid>/<gpu instance>/<compute instance>", the form of drivers before 470.
std::optional<Choice> find_old_mig_name(std::string_view entry, const std::vector<Gpu>& gpus) {
  const auto parts = core::split(entry.substr(std::string_view("MIG-").size()), '/');
  if (parts.size() != 3) return std::nullopt;
  const auto gpu_instance = as_index(parts[1]);
  const auto compute_instance = as_index(parts[2]);
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    if (gpus[g].uuid != parts[0]) continue;
    for (std::size_t s = 0; s < gpus[g].slices.size(); ++s)
      if (gpus[g].slices[s].gpu_instance == gpu_instance && gpus[g].slices[s].compute_instance == compute_instance)
        return Choice{g, s};
  }
  return std::nullopt;
}

/// The one GPU or slice whose UUID begins so; nothing when none or several do.
std::optional<Choice> find_by_prefix(std::string_view prefix, const std::vector<Gpu>& gpus) {
  std::optional<Choice> found;
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    const auto consider = [&](const std::string& uuid, Choice choice) {
      if (!uuid.starts_with(prefix)) return true;
      if (found) return false;
      found = choice;
      return true;
    };
    if (!consider(gpus[g].uuid, {g, std::nullopt})) return std::nullopt;
    for (std::size_t s = 0; s < gpus[g].slices.size(); ++s)
      if (!consider(gpus[g].slices[s].uuid, {g, s})) return std::nullopt;
  }
  return found;
}

std::optional<Choice> find(std::string_view entry, const std::vector<Gpu>& gpus) {
  if (const auto index = as_index(entry)) {
    if (*index < gpus.size()) return Choice{*index, std::nullopt};
    return std::nullopt;
  }
  if (entry.starts_with("MIG-GPU-")) return find_old_mig_name(entry, gpus);
  if (entry.starts_with("GPU-") || entry.starts_with("MIG-")) return find_by_prefix(entry, gpus);
  return std::nullopt;
}

void add(std::vector<Choice>& chosen, Choice choice) {
  if (std::ranges::find(chosen, choice) == chosen.end()) chosen.push_back(choice);
}
void add_with_relatives(Selection& selection, Choice choice, const std::vector<Gpu>& gpus) {
  add(selection.chosen, {choice.gpu, std::nullopt});
  if (choice.slice) return add(selection.chosen, choice);
  for (std::size_t s = 0; s < gpus[choice.gpu].slices.size(); ++s) add(selection.chosen, {choice.gpu, s});
}

void add_list(Selection& selection, std::string_view list, const std::vector<Gpu>& gpus) {
  if (core::trim(list).empty()) return;
  for (const auto piece : core::split(list, ',')) {
    const auto entry = core::trim(piece);
    const auto choice = find(entry, gpus);
    if (!choice) {
      // "-1" and "NoDevFiles" are the usual ways to say "none": nothing to remark.
      if (entry != "-1" && entry != "NoDevFiles")
        selection.notes.push_back(fmt::format(
            "\"{}\" in the list of visible GPUs \"{}\" names no GPU that can be opened here; like CUDA, it and "
            "what follows it is left out",
            entry, list));
      return;
    }
    selection.by_index |= as_index(entry).has_value();
    add_with_relatives(selection, *choice, gpus);
  }
}

/// The job's open device files are known, and no list that could exclude any.
bool only_by_open_files(const telemetry::JobScope::Snapshot& job) {
  return !job.gpu_minors.empty() && job.visible_gpus.empty();
}

/// Drops the GPUs (and their slices) whose device file the job does not have open.
void keep_open_ones(Selection& selection, const std::vector<int>& minors, const std::vector<Gpu>& gpus) {
  std::erase_if(selection.chosen, [&](const Choice& choice) {
    const auto& minor = gpus[choice.gpu].minor;
    return !minor || std::ranges::find(minors, *minor) == minors.end();
  });
}

}  // namespace

bool wants_no_gpu(const telemetry::JobScope::Snapshot& job) {
  if (job.whole_host || job.all_gpus || !job.gpu_uuids.empty() || only_by_open_files(job)) return false;
  return std::ranges::all_of(job.visible_gpus, [](const std::string& list) { return core::trim(list).empty(); });
}

Selection select_gpus(const telemetry::JobScope::Snapshot& job, const std::vector<Gpu>& gpus) {
  Selection selection;
  if (job.whole_host || job.all_gpus || only_by_open_files(job)) {
    for (std::size_t g = 0; g < gpus.size(); ++g) add_with_relatives(selection, {g, std::nullopt}, gpus);
  } else {
    for (const auto& list : job.visible_gpus) add_list(selection, list, gpus);
  }
  if (!job.whole_host && !job.gpu_minors.empty()) keep_open_ones(selection, job.gpu_minors, gpus);
  for (const auto& uuid : job.gpu_uuids) {
    if (const auto choice = find(uuid, gpus))
      add_with_relatives(selection, *choice, gpus);
    else
      selection.notes.push_back(fmt::format("the job uses GPU {}, which cannot be opened here", uuid));
  }
  return selection;
}

}  // namespace gradwatt::nvml
