// Events of a trace from JSON into rows. The only place that knows how Kineto's versions write an event: categories of
// 2021 ("Kernel", "Operator") and of today ("kernel", "cpu_op"), CUDA and ROCm.
#pragma once

#include <memory>
#include <string_view>

#include "gradwatt/ingest/kineto/trace.hpp"

namespace gradwatt::ingest::kineto {

class EventParser {
 public:
  explicit EventParser(Trace& trace);
  ~EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  /// Adds the events of a JSON array, behind which 64 bytes can be read. An event that is no JSON is counted in
  /// Trace::unreadable and costs no other.
  void parse(std::string_view array);

 private:
  class Parser;  // keeps simdjson out of this header
  std::unique_ptr<Parser> parser_;
};

}  // namespace gradwatt::ingest::kineto
