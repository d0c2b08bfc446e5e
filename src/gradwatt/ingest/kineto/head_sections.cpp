#include "gradwatt/ingest/kineto/head_sections.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/ingest/kineto/event_time.hpp"
#include "gradwatt/ingest/kineto/json_cursor.hpp"

namespace gradwatt::ingest::kineto {
namespace {

std::optional<std::int64_t> count_of(std::string_view text) {
  const auto number = core::parse_int(text);
  return number && *number >= 0 ? number : std::nullopt;
}

void read_distributed_info(std::string_view json, Trace& trace) {
  JsonCursor info(json);
  for_each_member(info, [&](std::string_view key, JsonCursor& cursor) {
    const auto value = cursor.value();
    if (key == "rank") trace.rank = count_of(value);
    if (key == "world_size") trace.world_size = count_of(value);
    if (key == "backend") trace.backend = value;
    if (key == "nccl_version") trace.nccl_version = value;
    return true;
  });
}

void read_devices(std::string_view json, Trace& trace) {
  constexpr std::size_t kMostDevices = 1024;
  JsonCursor devices(json);
  if (!devices.enter('[')) return;
  while (devices.next_element()) {
    std::optional<std::int64_t> number;
    std::string_view name;
    const bool fine = for_each_member(devices, [&](std::string_view key, JsonCursor& cursor) {
      const auto value = cursor.value();
      if (key == "id") number = count_of(value);
      if (key == "name") name = value;
      return true;
    });
    if (!fine) return;
    const auto place = number ? static_cast<std::size_t>(*number) : trace.device_models.size();
    if (place >= kMostDevices) continue;
    if (trace.device_models.size() <= place) trace.device_models.resize(place + 1);
    trace.device_models[place] = name;
  }
}

void read_base_time(std::string_view json, Trace& trace) {
  const auto ns = count_of(json);
  if (ns && *ns <= kLatest) trace.base_ns = ns;
}

struct Section {
  std::string_view key;
  void (*read)(std::string_view json, Trace& trace);
};
constexpr auto kSections = std::to_array<Section>({
    {"distributedInfo", read_distributed_info},
    {"deviceProperties", read_devices},
    {"baseTimeNanoseconds", read_base_time},
});

}  // namespace

bool is_head_section(std::string_view key) {
  return std::ranges::find(kSections, key, &Section::key) != kSections.end();
}

void read_head_section(std::string_view key, std::string_view json, Trace& trace) {
  const auto* section = std::ranges::find(kSections, key, &Section::key);
  if (section != kSections.end()) section->read(json, trace);
}

}  // namespace gradwatt::ingest::kineto
