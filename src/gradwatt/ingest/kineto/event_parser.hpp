// Events of a trace from JSON into rows. The only place that knows how Kineto's versions write an event: categories of
// 2021 ("Kernel", "Operator") and of today ("kernel", "cpu_op"), CUDA and ROCm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/ingest/kineto/json_cursor.hpp"
#include "gradwatt/ingest/kineto/trace.hpp"

namespace gradwatt::ingest::kineto {

class EventParser {
 public:
  explicit EventParser(Trace& trace) : trace_(trace) {}

  /// Adds one event. What is no JSON or has no time is counted in Trace::unreadable.
  void add(std::string_view json);

 private:
  struct Category;
  struct Outline;
  struct Details;

  static const Category* category_of(std::string_view name);
  bool read(std::string_view json, Outline& outline, Details& details);
  [[nodiscard]] bool needs_details(const Outline& outline);
  [[nodiscard]] HostRole role(NameId name, bool is_call);
  void add_row(const Outline& outline, const Details& details);
  [[nodiscard]] NameId track(const Outline& outline, const Details& details);

  Trace& trace_;
  std::vector<std::optional<HostRole>> call_roles_, operator_roles_;  // by NameId: a name is looked at once
  std::string track_;                                                 // kept for its memory
};

}  // namespace gradwatt::ingest::kineto
