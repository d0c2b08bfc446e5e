#include "gradwatt/record/device.hpp"

#include <algorithm>

namespace gradwatt::record {
namespace {

constexpr std::array<std::string_view, 7> kKindNames{"gpu", "cpu", "dram", "node", "nic", "disk", "job"};
constexpr std::array<std::string_view, 4> kHowNames{"counter", "integrated", "modelled", "estimated"};
constexpr std::array<std::string_view, 4> kWhereNames{"live", "imported", "replayed", "simulated"};
static_assert(kKindNames.size() == kDeviceKinds.size());

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto it = std::ranges::find(names, name);
  if (it == names.end()) return std::nullopt;
  return static_cast<Enum>(it - names.begin());
}

}  // namespace

std::string_view name_of(DeviceKind kind) { return kKindNames.at(static_cast<std::size_t>(kind)); }
std::string_view name_of(How how) { return kHowNames.at(static_cast<std::size_t>(how)); }
std::string_view name_of(Where where) { return kWhereNames.at(static_cast<std::size_t>(where)); }
std::optional<DeviceKind> device_kind(std::string_view name) { return find<DeviceKind>(kKindNames, name); }
std::optional<How> how_from(std::string_view name) { return find<How>(kHowNames, name); }
std::optional<Where> where_from(std::string_view name) { return find<Where>(kWhereNames, name); }

}  // namespace gradwatt::record
