// One row a cause: its published name, what speaks for it, and what is to be done. The rows stand beside the functions
// that judge them, one file a family; cause_table() joins the families.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/diagnosis/causes/opinion.hpp"

namespace gradwatt::diagnosis {

/// A change that can be taken back, and who may make it.
struct Advice {
  std::string change;        ///< names real settings; several ways are separated by "; "
  std::string owner;         ///< "user", "root" or "operator"
  std::string precondition;  ///< empty: none
  std::string rollback;
};

struct CauseInfo {
  std::string_view cause;  ///< "data:loader-synchronous"; a published name is never changed
  std::string_view id;     ///< short id of the signature list that the project works from: D1, N4; empty: field reports
  std::string_view title;  ///< one plain clause: "the data loader has no worker processes"
  double prior;            ///< log odds before any evidence: how common it is
  std::string_view metric;  ///< fact that must move when the cause is gone
  void (*judge)(const FactSheet& facts, Opinion& opinion);
  std::string_view change, owner, precondition, rollback;
  /// Sets figures of this job into the change; null: the change stands as it is.
  void (*refine)(const FactSheet& facts, Advice& advice) = nullptr;
  /// Largest part of the step time that can go, 0 to 1; null or nothing: not known.
  std::optional<double> (*ceiling)(const FactSheet& facts) = nullptr;
};

/// How common a cause is before anything is known of the job, in log odds.
namespace prior {
inline constexpr double kCommon = -2.2;  ///< 10 %
inline constexpr double kUsual = -3.0;   ///< 5 %
inline constexpr double kRare = -4.0;    ///< 2 %
}  // namespace prior

// One function a file of this folder.
[[nodiscard]] std::span<const CauseInfo> loader_causes();
[[nodiscard]] std::span<const CauseInfo> storage_causes();
[[nodiscard]] std::span<const CauseInfo> cpu_causes();
[[nodiscard]] std::span<const CauseInfo> host_program_causes();
[[nodiscard]] std::span<const CauseInfo> memory_causes();
[[nodiscard]] std::span<const CauseInfo> kernel_causes();
[[nodiscard]] std::span<const CauseInfo> imbalance_causes();
[[nodiscard]] std::span<const CauseInfo> interconnect_causes();
[[nodiscard]] std::span<const CauseInfo> network_causes();
[[nodiscard]] std::span<const CauseInfo> synchronisation_causes();
[[nodiscard]] std::span<const CauseInfo> power_causes();
[[nodiscard]] std::span<const CauseInfo> hardware_causes();
[[nodiscard]] std::span<const CauseInfo> setup_causes();
[[nodiscard]] std::span<const CauseInfo> sharing_causes();
[[nodiscard]] std::span<const CauseInfo> healthy_causes();

[[nodiscard]] const std::vector<CauseInfo>& cause_table();
/// Null when no row has that name.
[[nodiscard]] const CauseInfo* find_cause(std::string_view cause);
[[nodiscard]] inline std::string_view family_of(std::string_view cause) { return cause.substr(0, cause.find(':')); }
/// A verdict that nothing is wrong.
[[nodiscard]] inline bool is_healthy(std::string_view cause) { return family_of(cause) == "control"; }

}  // namespace gradwatt::diagnosis
