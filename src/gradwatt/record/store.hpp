// The SQLite file of a run, one a host: <run>/<host>.db. Layout and guarantees: docs/run-record.md.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/record/run.hpp"
#include "gradwatt/record/sink.hpp"

namespace gradwatt::record {

inline constexpr int kSchemaVersion = 1;

/// Writes a record from its own thread behind a bounded queue. A slow or full disk costs rows, which are counted, and
/// never the caller's time.
class Writer final : public Sink {
 public:
  struct Options {
    std::chrono::milliseconds commit_every{1700};  ///< at most 2 s may be lost by kill -9
    std::size_t queue_rows = 65536;                ///< about 20 s of 100 ms sampling on 8 GPUs with all metrics
    std::size_t checkpoint_bytes = 32U << 20U;     ///< fold the write-ahead log into the file past this
    bool mark_complete = true;                     ///< close() notes that the record is whole
  };
  /// Creates the file; it must not exist. An empty path keeps the record in memory (see `in_memory`).
  /// Errors: not_permitted, io.
  static core::Result<std::unique_ptr<Writer>> create(const std::filesystem::path& file, const Options& options);
  static core::Result<std::unique_ptr<Writer>> create(const std::filesystem::path& file) {
    return create(file, Options{});
  }
  ~Writer() override;

  void add_device(DeviceIndex index, const Device& device) override;
  void add_row(Row row) override;
  void add_mark(Mark mark) override;
  void add_event(Event event) override;
  void add_fact(Fact fact) override;
  void add_span(Span span);
  void set_quality(const SeriesQuality& quality) override;
  void set_meta(std::string_view key, std::string value) override;

  /// Everything handed over so far is in the file (or has failed) when it returns; at most `patience`. False: not yet.
  bool flush(std::chrono::milliseconds patience);
  /// Writes the rest, marks the record complete, folds the log into the file and ends the thread. Waits at most
  /// `patience` for a stalled disk and then leaves the thread behind. False when something was lost.
  bool close(std::chrono::milliseconds patience);
  /// The record as it is now, read through the writer's own connection; for the report at the end of a run.
  core::Result<Run> read_back(const struct LoadOptions& options);

  struct Health {
    std::uint64_t rows_written = 0;
    std::uint64_t rows_lost = 0;           ///< queue full or write failed
    std::optional<std::string> failure;    ///< first error of the disk, as one sentence
  };
  [[nodiscard]] Health health() const;

 private:
  class Impl;
  explicit Writer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// What to load; the default is everything.
struct LoadOptions {
  /// Only these columns; nothing loads all of them. An empty list loads time axes only.
  std::optional<std::vector<MetricId>> metrics;
  bool raw_counters = false;
  bool marks = true;
  bool spans = false;
};

/// Reads one host's file; works while a writer holds it, after kill -9, and without the right to write there.
/// Errors: not_found, not_permitted, unusable_input (not a record, newer schema).
core::Result<Run> load_file(const std::filesystem::path& file, const LoadOptions& options = {});
/// Reads all hosts' files of a run folder as one run: devices follow each other, clocks are aligned by the anchors.
core::Result<Run> load_folder(const std::filesystem::path& folder, const LoadOptions& options = {});
/// Only meta, devices and counts, for listings: cheap.
core::Result<Run> load_head(const std::filesystem::path& folder_or_file);

/// Keeps a run in memory in a new file: imports and tests. The run's complete flag is kept as it is.
core::Result<void> save(const Run& run, const std::filesystem::path& file);

}  // namespace gradwatt::record
