// Reads the ring of one process while it is written, or after its death. docs/mark-ring.md is the protocol.
//
//   auto reader = RingReader::open(path);
//   Batch news = reader->poll();          // marks, facts and what was lost since the last poll
//
// One thread at a time. Nothing here waits for the writer, and nothing that the writer does can harm the reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/launch/marks/file_handle.hpp"
#include "gradwatt/launch/marks/mark_decoder.hpp"

namespace gradwatt::launch::marks {

/// How far a request to the process has come.
enum class RequestState : std::uint8_t { waiting, taken, done, failed };

class RingReader {
 public:
  /// Errors: not_found, not_permitted, io, unusable_input (not a ring, or a newer layout).
  static core::Result<RingReader> open(const std::filesystem::path& path);

  /// All that was completed since the last poll.
  Batch poll() { return read(/*finish=*/false); }
  /// The same when the writer is gone or no later poll will come: nothing is held back, unfinished slots are counted.
  Batch finish() { return read(/*finish=*/true); }

  /// As the process last said it.
  [[nodiscard]] const RingIdentity& identity() const { return identity_; }
  /// Whether the process that made the ring still lives; `proc` is the root that holds proc/.
  [[nodiscard]] bool writer_alive(const core::FileTree& root) const;

  /// Asks the agent to profile the next `steps` optimiser steps into `into`, a path that the process can write.
  /// Errors: wrong_use (path too long, no steps), not_permitted (the ring is another user's).
  core::Result<void> request_profile(std::uint32_t steps, std::string_view into);
  /// State of the last request; nothing when none was made.
  [[nodiscard]] std::optional<RequestState> request_state() const;

 private:
  RingReader(FileHandle file, std::uint32_t capacity, bool unordered);
  Batch read(bool finish);
  bool refresh_header();
  /// Slots from `next_` on, up to the end of the ring or of the buffer; false when the file cannot be read.
  bool load(std::vector<gradwatt_marks_slot>& into, std::size_t count) const;
  std::size_t take_chunk(Batch& into);
  bool skip_hole(bool finish, Batch& into);
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t n) const;

  FileHandle file_;
  std::uint32_t capacity_;
  bool unordered_;
  RingIdentity identity_;
  MarkDecoder decoder_;
  std::uint64_t next_ = 0;     ///< number of the first mark not delivered yet
  std::uint64_t head_ = 0;     ///< as the header said at the begin of this poll
  std::uint64_t settled_ = 0;  ///< and at the begin of the one before
  std::uint64_t limit_ = 0;    ///< this poll delivers only marks below: those of an unordered writer wait one poll
  std::uint32_t requests_ = 0;
  std::vector<gradwatt_marks_slot> slots_, again_;
};

}  // namespace gradwatt::launch::marks
