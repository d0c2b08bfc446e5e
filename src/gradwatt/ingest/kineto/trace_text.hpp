// The outer form of a trace file: sections of its head and foot, and its events in blocks, handed out as they stream
// by. Two forms exist (Chrome's Trace Event Format): an object with "traceEvents" among other members, or the bare
// array of events.
#pragma once

#include <string>
#include <string_view>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/byte_source.hpp"

namespace gradwatt::ingest::kineto {

/// Whoever reads the text. Views hold during the call only.
class TraceVisitor {
 public:
  virtual ~TraceVisitor() = default;
  /// Whether a member of the outer object is worth keeping whole.
  [[nodiscard]] virtual bool wants(std::string_view key) const = 0;
  virtual void section(std::string_view key, std::string_view json) = 0;
  /// One element of the array of events; only its brackets are known to match. False ends the reading:
  /// TextEnd::stopped.
  virtual bool event(std::string_view json) = 0;
};

struct TextEnd {
  bool has_events = false;  ///< the array of events was begun
  bool whole = false;       ///< it ended, and the text behind it as well
  bool stopped = false;     ///< by the visitor
  std::string why;          ///< not whole: what the text ended with
};

/// Walks through `source` once. Fails (unusable_input, "line 1: …") where the text is no JSON object or array at all; a
/// text that breaks off later is no failure.
[[nodiscard]] core::Result<TextEnd> walk_trace(ByteSource& source, TraceVisitor& visitor);

}  // namespace gradwatt::ingest::kineto
