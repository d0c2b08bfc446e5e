#include "gradwatt/launch/marks/mark_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include "gradwatt/core/text.hpp"

namespace gradwatt::launch::marks {
namespace {

static_assert(std::endian::native == std::endian::little, "the layout is little-endian");

constexpr std::size_t kChunk = 256;                // slots read at once: 32 KiB
constexpr std::size_t kHeaderHead = 256;           // bytes of the header that change or matter here
constexpr std::uint32_t kMostCapacity = 1U << 24;  // 2 GiB: a larger figure is garbage

core::Result<gradwatt_marks_header> read_header(const FileHandle& file, const std::filesystem::path& path) {
  gradwatt_marks_header header;
  if (!file.read(&header, sizeof header, 0) ||
      std::memcmp(header.magic, GRADWATT_MARKS_MAGIC, sizeof header.magic) != 0)
    return core::fail(core::Errc::unusable_input, fmt::format("{} is not a mark ring", path.string()));
  if (header.version != GRADWATT_MARKS_VERSION)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} has mark layout {}, this gradwatt reads {}; use the same version on both sides",
                                  path.string(), header.version, static_cast<int>(GRADWATT_MARKS_VERSION)));
  const std::uint64_t bytes = sizeof header + std::uint64_t{header.capacity} * sizeof(gradwatt_marks_slot);
  if (header.header_bytes != sizeof header || header.slot_bytes != sizeof(gradwatt_marks_slot) ||
      !std::has_single_bit(header.capacity) || header.capacity > kMostCapacity || file.size() < bytes)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} is a damaged mark ring: its sizes do not fit together", path.string()));
  return header;
}

RingIdentity identity_of(const gradwatt_marks_header& header) {
  return {header.pid,        header.start_ticks, header.rank,
          header.local_rank, header.world_size,  {header.writer, strnlen(header.writer, sizeof header.writer)}};
}

/// < 0: not written yet; 0: mark `n` is here; > 0: a later one is.
std::int64_t compare(std::uint64_t sequence, std::uint64_t n) { return static_cast<std::int64_t>(sequence - (n + 1)); }

struct ProcessState {
  char state;
  std::uint64_t start_ticks;
};
std::optional<ProcessState> process_state(const core::FileTree& root, std::int32_t pid) {
  const auto text = root.read(fmt::format("proc/{}/stat", pid));
  if (!text) return std::nullopt;
  const auto bracket = text->rfind(')');  // the name before it may hold spaces and brackets
  if (bracket == std::string::npos) return std::nullopt;
  const auto words = core::split_words(std::string_view(*text).substr(bracket + 1));
  constexpr std::size_t kStartTime = 22 - 3;  // the first word behind the name is field 3
  if (words.size() <= kStartTime) return std::nullopt;
  const auto ticks = core::parse_int(words[kStartTime]);
  if (!ticks) return std::nullopt;
  return ProcessState{words[0][0], static_cast<std::uint64_t>(*ticks)};
}

}  // namespace

RingReader::RingReader(FileHandle file, std::uint32_t capacity, bool unordered)
    : file_(std::move(file)), capacity_(capacity), unordered_(unordered) {}

core::Result<RingReader> RingReader::open(const std::filesystem::path& path) {
  auto file = FileHandle::open(path);
  if (!file) return core::fail(file.error());
  const auto header = read_header(*file, path);
  if (!header) return core::fail(header.error());
  RingReader reader(std::move(*file), header->capacity, (header->flags & GRADWATT_MARKS_FLAG_UNORDERED) != 0);
  reader.identity_ = identity_of(*header);
  reader.requests_ = static_cast<std::uint32_t>(header->request);
  return reader;
}

bool RingReader::writer_alive(const core::FileTree& root) const {
  const auto state = process_state(root, identity_.pid);
  if (!state || state->state == 'Z' || state->state == 'X') return false;
  return identity_.start_ticks == 0 || identity_.start_ticks == state->start_ticks;
}

bool RingReader::refresh_header() {
  gradwatt_marks_header header{};
  if (!file_.read(&header, kHeaderHead, 0)) return false;
  identity_ = identity_of(header);
  head_ = header.head;
  return true;
}

std::uint64_t RingReader::offset_of(std::uint64_t n) const {
  return sizeof(gradwatt_marks_header) + (n & (capacity_ - 1)) * sizeof(gradwatt_marks_slot);
}

bool RingReader::load(std::vector<gradwatt_marks_slot>& into, std::size_t count) const {
  // Each load sees memory no older than the one before it: the three loads of take_chunk rely on it.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  into.resize(count);
  return file_.read(into.data(), count * sizeof(gradwatt_marks_slot), offset_of(next_));
}

Batch RingReader::read(bool finish) {
  Batch batch;
  if (!refresh_header()) return batch;
  const auto start = next_;
  limit_ = unordered_ && !finish ? std::exchange(settled_, head_) : std::numeric_limits<std::uint64_t>::max();
  // A writer that is faster than this loop must not keep the caller here: two rounds of the ring are enough.
  while (next_ - start < 2ULL * capacity_ && (take_chunk(batch) > 0 || skip_hole(finish, batch))) {
  }
  return batch;
}

// Delivers the whole slots at `next_`, or jumps forward where the writer came round. Returns the marks passed.
std::size_t RingReader::take_chunk(Batch& into) {
  const auto from = next_;
  const auto backlog = static_cast<std::int64_t>(head_ - next_);
  const auto wanted = static_cast<std::size_t>(std::clamp<std::int64_t>(backlog, 1, kChunk));
  const auto count = std::min<std::size_t>(wanted, capacity_ - (next_ & (capacity_ - 1)));
  if (!load(slots_, count)) return 0;
  if (const auto ahead = compare(slots_[0].last, next_); ahead > 0) {
    // The writer comes round by whole rounds. Anything else is no number of this slot: a job wrote over its ring.
    if (ahead % capacity_ != 0) {
      ++next_;
      ++into.malformed;
      return 1;
    }
    next_ = slots_[0].last - capacity_;
    into.overruns += next_ - from;
    return next_ - from;
  }
  std::size_t whole = 0;
  while (whole < count && compare(slots_[whole].last, next_ + whole) == 0) ++whole;
  whole = std::min<std::size_t>(whole, limit_ > next_ ? limit_ - next_ : 0);
  if (whole == 0 || !load(again_, whole) || !load(slots_, whole)) return 0;
  for (std::size_t i = 0; i < whole; ++i, ++next_) {
    if (compare(slots_[i].first, next_) == 0 && compare(again_[i].last, next_) == 0)
      decoder_.decode(again_[i], identity_, into);
    else
      ++into.overruns;  // the writer came round while it was copied
  }
  return next_ - from;
}

// A slot that was handed out but is not whole blocks those behind it; true when it was passed over.
bool RingReader::skip_hole(bool finish, Batch& into) {
  const auto backlog = static_cast<std::int64_t>(head_ - next_);
  if (backlog <= (finish ? 0 : static_cast<std::int64_t>(capacity_ / 2))) return false;
  if (next_ >= limit_) return false;  // not a hole, only held back
  ++next_;
  ++into.torn;
  return true;
}

core::Result<void> RingReader::request_profile(std::uint32_t steps, std::string_view into) {
  if (steps == 0) return core::fail(core::Errc::wrong_use, "a profile of 0 steps was asked for; ask for at least 1");
  if (into.size() >= GRADWATT_MARKS_PATH_BYTES)
    return core::fail(core::Errc::wrong_use, fmt::format("the path of the profile is longer than {} bytes: {}",
                                                         GRADWATT_MARKS_PATH_BYTES - 1, into));
  if (!file_.writable())
    return core::fail(core::Errc::not_permitted,
                      fmt::format("process {} belongs to another user, so it cannot be asked for a profile; run "
                                  "gradwatt as that user",
                                  identity_.pid));
  std::array<char, GRADWATT_MARKS_PATH_BYTES> path{};
  std::ranges::copy(into, path.begin());
  const std::uint64_t word = (std::uint64_t{steps} << 32) | (requests_ + 1);
  if (!file_.write(path.data(), path.size(), offsetof(gradwatt_marks_header, request_path)) ||
      !file_.write(&word, sizeof word, offsetof(gradwatt_marks_header, request)))
    return core::fail(core::Errc::io, fmt::format("cannot write to the mark ring of process {}", identity_.pid));
  ++requests_;
  return {};
}

std::optional<RequestState> RingReader::request_state() const {
  std::uint64_t word = 0;
  if (requests_ == 0 || !file_.read(&word, sizeof word, offsetof(gradwatt_marks_header, answer))) return std::nullopt;
  if (static_cast<std::uint32_t>(word) != requests_) return RequestState::waiting;
  switch (word >> 32) {
    case GRADWATT_MARKS_TAKEN:
      return RequestState::taken;
    case GRADWATT_MARKS_DONE:
      return RequestState::done;
    case GRADWATT_MARKS_FAILED:
      return RequestState::failed;
    default:
      return RequestState::waiting;
  }
}

}  // namespace gradwatt::launch::marks
