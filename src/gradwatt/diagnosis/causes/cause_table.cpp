#include <algorithm>

#include "gradwatt/diagnosis/causes/cause.hpp"

namespace gradwatt::diagnosis {

const std::vector<CauseInfo>& cause_table() {
  static const auto table = [] {
    std::vector<CauseInfo> all;
    for (const auto family :
         {loader_causes(), storage_causes(), cpu_causes(), host_program_causes(), memory_causes(), kernel_causes(),
          imbalance_causes(), interconnect_causes(), network_causes(), synchronisation_causes(), power_causes(),
          hardware_causes(), setup_causes(), sharing_causes(), healthy_causes()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return table;
}

const CauseInfo* find_cause(std::string_view cause) {
  const auto& table = cause_table();
  const auto it = std::ranges::find(table, cause, &CauseInfo::cause);
  return it != table.end() ? &*it : nullptr;
}

}  // namespace gradwatt::diagnosis
