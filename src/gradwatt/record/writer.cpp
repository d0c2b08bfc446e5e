#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "gradwatt/core/bounded_queue.hpp"
#include "gradwatt/record/inserter.hpp"
#include "gradwatt/record/item.hpp"
#include "gradwatt/record/reader.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::record {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Opens for writing and switches to a write-ahead log without shared memory, which network file systems lack.
core::Result<sqlite::Database> open_for_writing(const std::filesystem::path& file, const char* vfs) {
  const std::string name = file.empty() ? ":memory:" : file.string();
  auto database = sqlite::Database::open(name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
  if (!database) return database;
  sqlite3_extended_result_codes(database->handle(), 1);
  // The step from an empty file to a write-ahead log needs no safety net: there is nothing to lose yet. From then on
  // commits without fsync survive the death of the process; the checkpoint syncs.
  const int code = database->execute(
      "PRAGMA page_size=4096;PRAGMA locking_mode=EXCLUSIVE;PRAGMA synchronous=OFF;PRAGMA journal_mode=MEMORY;"
      "PRAGMA journal_mode=WAL;PRAGMA wal_autocheckpoint=0;PRAGMA temp_store=MEMORY;PRAGMA cache_size=-2048;"
      "BEGIN IMMEDIATE;COMMIT;");
  if (code != SQLITE_OK) return core::fail(core::Errc::io, fmt::format("cannot write {}: {}", name, database->message()));
  return database;
}

/// A run of a few seconds is quicker done again than a disk waited for; a loss of power may cost it.
constexpr std::chrono::seconds kTooShortToSync{5};

bool is_state(const Item& item) { return !std::holds_alternative<Row>(item) && !std::holds_alternative<Mark>(item); }

}  // namespace

class Writer::Impl {
 public:
  Impl(sqlite::Database database, std::filesystem::path file, const Options& options)
      : file_(std::move(file)), options_(options), queue_(options.queue_rows), database_(std::move(database)) {}

  core::Result<void> set_up() {
    auto inserter = Inserter::create(database_);
    if (!inserter) return core::fail(inserter.error());
    inserter_.emplace(std::move(*inserter));
    database_.execute("PRAGMA synchronous=NORMAL;");
    return {};
  }

  void push(Item item) { queue_.try_push(std::move(item)); }

  /// The writer thread.
  void work() {
    auto next_commit = SteadyClock::now();
    while (true) {
      next_commit = std::max(next_commit + options_.commit_every, SteadyClock::now());
      std::uint64_t fence = 0;
      {
        const std::lock_guard lock(mutex_);
        fence = fences_asked_;
      }
      const bool closing = queue_.closed();
      if (!closing && fence == fences_done()) take(next_commit);
      take(SteadyClock::now());
      commit();
      if (wal_bytes_ > options_.checkpoint_bytes) checkpoint();
      settle(fence);
      if (closing) break;
    }
    finish();
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  bool flush(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const auto fence = ++fences_asked_;
    lock.unlock();
    queue_.nudge();
    lock.lock();
    return changed_.wait_for(lock, patience, [&] { return fences_done_ >= fence || ended_; });
  }

  /// True once the thread has ended.
  bool end(std::chrono::milliseconds patience) {
    queue_.close();
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return ended_; });
  }

  /// Only after end() returned true.
  core::Result<Run> read_back(const LoadOptions& options) {
    auto run = read_database(database_, options);
    if (!run) return run;
    for (const auto& item : pending_) apply(item, *run);
    return run;
  }

  [[nodiscard]] Health health() const {
    const std::lock_guard lock(mutex_);
    Health health = health_;
    health.rows_lost += queue_.dropped();
    return health;
  }
  [[nodiscard]] bool lossless() const {
    const std::lock_guard lock(mutex_);
    return health_.rows_lost + queue_.dropped() == 0 && !health_.failure;
  }

  std::jthread thread;

 private:
  std::uint64_t fences_done() const {
    const std::lock_guard lock(mutex_);
    return fences_done_;
  }
  void settle(std::uint64_t fence) {
    const std::lock_guard lock(mutex_);
    fences_done_ = std::max(fences_done_, fence);
    changed_.notify_all();
  }

  void take(SteadyClock::time_point deadline) {
    auto items = queue_.take_all(deadline);
    std::ranges::move(items, std::back_inserter(pending_));
  }

  /// One transaction with everything pending. On failure it stays pending for the next try.
  void commit() {
    if (pending_.empty()) return;
    std::uint64_t rows = 0;
    int code = database_.execute("BEGIN");
    for (auto it = pending_.begin(); it != pending_.end() && code == SQLITE_OK; ++it) {
      code = inserter_->insert(*it);
      rows += std::holds_alternative<Row>(*it) ? 1 : 0;
    }
    if (code == SQLITE_OK) code = database_.execute("COMMIT");
    if (code != SQLITE_OK) return failed();
    pending_.clear();
    wal_bytes_ = wal_size();
    const std::lock_guard lock(mutex_);
    health_.rows_written += rows;
  }

  void failed() {
    const std::string reason = database_.message();
    database_.execute("ROLLBACK");
    inserter_->reload();
    std::uint64_t lost = 0;
    // Bounded memory: the oldest samples go first. Counter totals are cumulative, so the energy survives their loss.
    while (pending_.size() > options_.queue_rows) {
      const auto oldest = std::ranges::find_if(pending_, [](const Item& item) { return !is_state(item); });
      if (oldest == pending_.end()) break;
      pending_.erase(oldest);
      ++lost;
    }
    const std::lock_guard lock(mutex_);
    health_.rows_lost += lost;
    if (!health_.failure)
      health_.failure = fmt::format("cannot write the run record {}: {}", file_.string(), reason);
  }

  [[nodiscard]] std::size_t wal_size() const {
    if (file_.empty()) return 0;
    std::error_code ignored;
    const auto size = std::filesystem::file_size(file_.string() + "-wal", ignored);
    return ignored ? 0 : static_cast<std::size_t>(size);
  }

  void checkpoint() {
    if (database_.execute("PRAGMA wal_checkpoint(TRUNCATE)") == SQLITE_OK) wal_bytes_ = 0;
  }

  void finish() {
    if (pending_.empty() && options_.mark_complete) {
      pending_.emplace_back(MetaItem{std::string(meta::kComplete), "1"});
      commit();
    }
    if (!pending_.empty()) {  // the disk refused: the last state is at least in memory for the report
      const std::lock_guard lock(mutex_);
      for (const auto& item : pending_) health_.rows_lost += std::holds_alternative<Row>(item) ? 1 : 0;
      return;
    }
    if (file_.empty()) return;
    // Leaving the write-ahead log folds it in: one plain file stays, which every reader opens without locks.
    if (SteadyClock::now() - begun_ < kTooShortToSync) database_.execute("PRAGMA synchronous=OFF;");
    database_.execute("PRAGMA journal_mode=MEMORY;");
  }

  std::filesystem::path file_;
  Options options_;
  SteadyClock::time_point begun_ = SteadyClock::now();
  core::BoundedQueue<Item> queue_;
  sqlite::Database database_;         // writer thread; after its end, the caller of read_back
  std::optional<Inserter> inserter_;  // writer thread
  std::deque<Item> pending_;          // writer thread: taken from the queue and not yet committed
  std::size_t wal_bytes_ = 0;         // writer thread
  mutable std::mutex mutex_;          // guards all below
  std::condition_variable changed_;
  std::uint64_t fences_asked_ = 0;
  std::uint64_t fences_done_ = 0;
  bool ended_ = false;
  Health health_;
};

Writer::Writer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

core::Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& file, const Options& options) {
  std::error_code ignored;
  if (!file.empty() && std::filesystem::exists(file, ignored))
    return core::fail(core::Errc::wrong_use, fmt::format("{} exists already", file.string()));
  auto database = open_for_writing(file, nullptr);
  // A file system without locks (some Lustre and NFS mounts): one writer a file is guaranteed by the host lock anyway.
  if (!database && !file.empty()) database = open_for_writing(file, "unix-none");
  if (!database) return core::fail(database.error());
  auto impl = std::make_shared<Impl>(std::move(*database), file, options);
  if (auto ready = impl->set_up(); !ready) return core::fail(ready.error());
  // The thread shares ownership: a disk that never answers may keep it after the Writer is gone.
  impl->thread = std::jthread([impl] { impl->work(); });
  return std::unique_ptr<Writer>(new Writer(std::move(impl)));
}

Writer::~Writer() {
  if (impl_->end(std::chrono::seconds(2))) {
    if (impl_->thread.joinable()) impl_->thread.join();
  } else {
    impl_->thread.detach();
  }
}

void Writer::add_device(DeviceIndex index, const Device& device) { impl_->push(DeviceItem{index, device}); }
void Writer::add_row(Row row) { impl_->push(std::move(row)); }
void Writer::add_mark(Mark mark) { impl_->push(std::move(mark)); }
void Writer::add_event(Event event) { impl_->push(std::move(event)); }
void Writer::add_fact(Fact fact) { impl_->push(std::move(fact)); }
void Writer::add_span(Span span) { impl_->push(std::move(span)); }
void Writer::set_quality(const SeriesQuality& quality) { impl_->push(quality); }
void Writer::set_meta(std::string_view key, std::string value) {
  impl_->push(MetaItem{std::string(key), std::move(value)});
}

bool Writer::flush(std::chrono::milliseconds patience) { return impl_->flush(patience); }

bool Writer::close(std::chrono::milliseconds patience) {
  if (!impl_->end(patience)) return false;
  if (impl_->thread.joinable()) impl_->thread.join();
  return impl_->lossless();
}

core::Result<Run> Writer::read_back(const LoadOptions& options) {
  if (!impl_->end(std::chrono::milliseconds(0)))
    return core::fail(core::Errc::timeout, "the file system with the run record does not answer");
  return impl_->read_back(options);
}

Writer::Health Writer::health() const { return impl_->health(); }

core::Result<void> save(const Run& run, const std::filesystem::path& file) {
  Writer::Options options;
  options.mark_complete = run.complete();
  auto writer = Writer::create(file, options);
  if (!writer) return core::fail(writer.error());
  auto& out = **writer;
  for (const auto& [key, value] : run.meta)
    if (key != meta::kComplete) out.set_meta(key, value);
  for (std::size_t i = 0; i < run.devices.size(); ++i)
    out.add_device(static_cast<DeviceIndex>(i), run.devices[i]);
  for (const auto& quality : run.quality) out.set_quality(quality);
  std::size_t queued = 0;
  const auto keep_up = [&] {
    if (++queued % 16384 == 0) out.flush(std::chrono::minutes(5));
  };
  for (const auto& series : run.series) {
    const auto kind = run.device(series.device).kind;
    for (std::size_t i = 0; i < series.size(); ++i) {
      auto row = empty_row(series.device, kind, series.time_ns[i]);
      for (const auto& column : series.columns) {
        row.values[slot(column.metric)] = column.values[i];
        if (!column.raw.empty()) row.raw[slot(column.metric)] = column.raw[i];
      }
      out.add_row(std::move(row));
      keep_up();
    }
  }
  for (const auto& mark : run.marks) out.add_mark(mark), keep_up();
  for (const auto& event : run.events) out.add_event(event), keep_up();
  for (const auto& fact : run.facts) out.add_fact(fact), keep_up();
  for (const auto& span : run.spans) out.add_span(span), keep_up();
  if (out.close(std::chrono::minutes(5))) return {};
  const auto health = out.health();
  return core::fail(core::Errc::io, health.failure.value_or("cannot write " + file.string()));
}

}  // namespace gradwatt::record
