// Turns the slots of one ring into the record's marks and facts. Knows nothing of files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gradwatt/launch/marks/mark_layout.h"
#include "gradwatt/record/fact.hpp"
#include "gradwatt/record/mark.hpp"

namespace gradwatt::launch::marks {

/// Whose ring it is; ranks are −1 while the process has not said them.
struct RingIdentity {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< field 22 of /proc/<pid>/stat
  std::int32_t rank = -1, local_rank = -1, world_size = -1;
  std::string writer;  ///< "c" or "python"
};

/// What one poll of one or many rings brought.
struct Batch {
  std::vector<record::Mark> marks;  ///< in the order written; an unknown rank is 0
  std::vector<record::Fact> facts;
  std::uint64_t overruns = 0;   ///< marks that the writer overwrote before they were read
  std::uint64_t torn = 0;       ///< slots whose writer never finished them
  std::uint64_t malformed = 0;  ///< whole slots that make no sense: unknown kind, text without a name

  void append(Batch other);
  [[nodiscard]] bool empty() const { return marks.empty() && facts.empty(); }
};

class MarkDecoder {
 public:
  void decode(const gradwatt_marks_slot& slot, const RingIdentity& ring, Batch& into);

 private:
  struct Text {
    std::map<std::uint16_t, std::string> parts;
  };
  void decode_text(const gradwatt_marks_slot& slot, const RingIdentity& ring, Batch& into);
  std::map<std::int64_t, Text> texts_;  ///< begun and not complete yet
};

}  // namespace gradwatt::launch::marks
