// Entry point for fuzzing the reader of mark rings: a job can write anything into its ring, at any time, and must get
// marks that make sense or a count of what was none.
//
// An input is a flag byte, then rounds of what one poll finds: the header's count of marks, then the ring's 8 slots.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>

#include "gradwatt/launch/marks/mark_layout.h"
#include "gradwatt/launch/marks/mark_reader.hpp"
#include "tests/fuzz/promise.hpp"

namespace {

using namespace gradwatt;
using fuzz::require;
using launch::marks::Batch;

constexpr std::uint32_t kSlots = 8;
constexpr std::uint8_t kUnordered = 1, kOwnHeader = 2;

/// One ring for all inputs of this process.
class RingFile {
 public:
  RingFile() : file_(::mkstemp(path_.data())) { require(file_ >= 0, "a temporary file can be made"); }
  ~RingFile() {
    ::close(file_);
    ::unlink(path_.c_str());
  }
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  void write(const void* from, std::size_t bytes, std::size_t offset) const {
    require(::pwrite(file_, from, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes), "it is written");
  }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "gradwatt-ring-XXXXXX").string();
  int file_;
};

gradwatt_marks_header plain_header(bool unordered) {
  gradwatt_marks_header header{};
  std::memcpy(header.magic, GRADWATT_MARKS_MAGIC, sizeof header.magic);
  header.version = GRADWATT_MARKS_VERSION;
  header.header_bytes = sizeof header;
  header.slot_bytes = sizeof(gradwatt_marks_slot);
  header.capacity = kSlots;
  header.flags = unordered ? GRADWATT_MARKS_FLAG_UNORDERED : 0;
  return header;
}

/// Copies what there is of `from`; returns the rest.
std::span<const std::uint8_t> take(void* into, std::size_t bytes, std::span<const std::uint8_t> from) {
  const auto count = std::min(bytes, from.size());
  if (count > 0) std::memcpy(into, from.data(), count);
  return from.subspan(count);
}

void check(const Batch& batch) {
  constexpr std::uint64_t kSane = std::uint64_t{1} << 63U;
  require(batch.overruns <= kSane && batch.torn < kSane && batch.malformed < kSane, "nothing is counted backwards");
  require(batch.marks.size() <= 4 * kSlots, "a poll ends");
  for (const auto& mark : batch.marks) {
    require(mark.rank >= 0, "a mark has a rank");
    require(mark.begin_ns >= 0 && mark.begin_ns <= mark.end_ns, "a mark ends after its begin, on a clock from 0 on");
    require(mark.samples.value_or(0) >= 0, "no negative samples");
    for (const auto phase : mark.phase_ns) require(phase.value_or(0) >= 0, "no negative phases");
  }
  for (const auto& fact : batch.facts)
    require(!fact.name.empty() && !fact.source.empty(), "a fact has name and source");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const RingFile ring;
  std::span<const std::uint8_t> rest(data, size);
  std::uint8_t flags = 0;
  rest = take(&flags, 1, rest);
  auto header = plain_header((flags & kUnordered) != 0);
  if ((flags & kOwnHeader) != 0) rest = take(&header, 256, rest);
  std::array<gradwatt_marks_slot, kSlots> slots{};
  ring.write(&header, sizeof header, 0);
  ring.write(slots.data(), sizeof slots, sizeof header);
  auto reader = launch::marks::RingReader::open(ring.path());
  require(reader || reader.error().code == core::Errc::unusable_input, "a refusal says unusable input");
  while (reader && !rest.empty()) {
    rest = take(&header.head, sizeof header.head, rest);
    rest = take(slots.data(), sizeof slots, rest);
    ring.write(&header, sizeof header, 0);
    ring.write(slots.data(), sizeof slots, sizeof header);
    check(reader->poll());
  }
  if (reader) check(reader->finish());
  return 0;
}
