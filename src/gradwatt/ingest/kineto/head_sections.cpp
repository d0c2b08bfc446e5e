#include "gradwatt/ingest/kineto/head_sections.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "gradwatt/ingest/kineto/event_time.hpp"

namespace gradwatt::ingest::kineto {
namespace {

namespace ondemand = simdjson::ondemand;
using Read = void (*)(std::string_view json, Trace& trace);

/// Calls `visit` with each member of the object; ends silently at what is no JSON.
template <class Visit>
void for_each_member(ondemand::object object, Visit visit) {
  for (auto member : object) {
    ondemand::field field;
    if (std::move(member).get(field) != simdjson::SUCCESS) return;
    visit(field.key(), field.value());
  }
}

std::string text_of(ondemand::value& value) {
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::optional<std::int64_t> number_of(ondemand::value& value) {
  std::int64_t number = 0;
  if (value.get_int64().get(number) != simdjson::SUCCESS || number < 0) return std::nullopt;
  return number;
}

void read_distributed_info(std::string_view json, Trace& trace) {
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object info;
  if (parser.iterate(json, json.size() + simdjson::SIMDJSON_PADDING).get(document) || document.get_object().get(info))
    return;
  for_each_member(info, [&](ondemand::raw_json_string key, ondemand::value& value) {
    if (key.unsafe_is_equal("rank")) trace.rank = number_of(value);
    if (key.unsafe_is_equal("world_size")) trace.world_size = number_of(value);
    if (key.unsafe_is_equal("backend")) trace.backend = text_of(value);
    if (key.unsafe_is_equal("nccl_version")) trace.nccl_version = text_of(value);
  });
}

void read_devices(std::string_view json, Trace& trace) {
  constexpr std::size_t kMostDevices = 1024;
  ondemand::parser parser;
  ondemand::document document;
  ondemand::array devices;
  if (parser.iterate(json, json.size() + simdjson::SIMDJSON_PADDING).get(document) || document.get_array().get(devices))
    return;
  for (auto device : devices) {
    ondemand::object object;
    if (device.get_object().get(object)) return;
    std::optional<std::int64_t> number;
    std::string name;
    for_each_member(object, [&](ondemand::raw_json_string key, ondemand::value& value) {
      if (key.unsafe_is_equal("id")) number = number_of(value);
      if (key.unsafe_is_equal("name")) name = text_of(value);
    });
    const auto place = number ? static_cast<std::size_t>(*number) : trace.device_models.size();
    if (place >= kMostDevices) continue;
    if (trace.device_models.size() <= place) trace.device_models.resize(place + 1);
    trace.device_models[place] = std::move(name);
  }
}

void read_base_time(std::string_view json, Trace& trace) {
  std::int64_t ns = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), ns);
  if (error == std::errc() && end == json.data() + json.size() && ns >= 0 && ns <= kLatest) trace.base_ns = ns;
}

struct Section {
  std::string_view key;
  Read read;
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
