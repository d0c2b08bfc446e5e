#include "gradwatt/training/data/loader.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "gradwatt/training/data/batch_buffer.hpp"

namespace gradwatt::training {
namespace {

/// So many unreadable examples in a row are a broken data set, not a broken file.
constexpr std::size_t kMaxSubstitutes = 100;
/// Rows that a worker takes at once: enough to make the lock cheap beside small examples, few enough that all workers
/// share a batch.
constexpr std::size_t kMaxRowsAtOnce = 16;
/// Buffers beyond those read ahead: the consumer holds one batch while it asks for the next.
constexpr std::size_t kHeldByConsumer = 2;

struct LoadedRow {
  std::size_t index = 0;
  std::optional<core::Error> error;
};

core::Result<void> fill_row(const Dataset& dataset, std::size_t index, ExampleRandom random, ExampleSlot slot) {
  try {
    return dataset.fill(index, random, slot);
  } catch (const std::exception& e) {
    return core::fail(core::Errc::io, fmt::format("cannot load example {}: {}", index, e.what()));
  }
}

}  // namespace

class Loader::Crew {
 public:
  Crew(std::shared_ptr<const Dataset> dataset, DistributedSampler sampler, LoaderSettings settings)
      : dataset_(std::move(dataset)), sampler_(std::move(sampler)), asked_sampler_(sampler_), asked_(settings) {}
  ~Crew() { dismiss(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  core::Result<void> begin_epoch(std::uint64_t epoch, std::uint64_t position);
  core::Result<std::optional<Batch>> next();
  Substituted substituted() const {
    const std::lock_guard lock(mutex_);
    return substituted_;
  }

  LoaderSettings& asked_settings() { return asked_; }
  DistributedSampler& asked_sampler() { return asked_sampler_; }

 private:
  /// A batch that is being filled or waits for its turn.
  struct Slot {
    std::optional<std::size_t> batch;
    BatchBuffer* buffer = nullptr;
    std::vector<std::size_t> indices;
    std::size_t unfinished = 0;
    std::optional<core::Error> error;
    std::size_t error_row = 0;
  };
  /// Rows of one batch that one worker fills.
  struct Share {
    std::size_t batch, first, last;
  };

  void abandon_epoch();
  void dismiss();
  core::Result<void> hire();
  void work();

  // Under the lock:
  std::optional<Share> take();
  void open(Slot& slot);
  BatchBuffer* free_buffer();
  void finish(const Share& share, std::vector<LoadedRow>& rows);
  bool ready() const { return delivered_ == end_ || (slot_of(delivered_).batch == delivered_ && is_full(delivered_)); }
  bool is_full(std::size_t batch) const { return slot_of(batch).unfinished == 0; }
  core::Result<std::optional<Batch>> deliver();

  // Without it:
  std::vector<LoadedRow> load(const Share& share);
  LoadedRow load_row(std::size_t index, ExampleSlot slot);

  Slot& slot_of(std::size_t batch) { return ring_[batch % ring_.size()]; }
  const Slot& slot_of(std::size_t batch) const { return ring_[batch % ring_.size()]; }
  std::size_t rows_of(std::size_t batch) const { return plan_.batches[batch].end - plan_.batches[batch].begin; }

  const std::shared_ptr<const Dataset> dataset_;
  // Fixed while workers are busy; begin_epoch waits for them before it changes these.
  DistributedSampler sampler_;
  DistributedSampler asked_sampler_;
  LoaderSettings asked_, now_;
  bool pinned_ = false;
  std::uint64_t epoch_ = 0;
  EpochPlan plan_;
  std::atomic<bool> abandoned_ = false;  // workers leave their share unfinished

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable work_there_, batch_there_;
  std::vector<Slot> ring_{1};
  std::vector<std::unique_ptr<BatchBuffer>> buffers_;
  std::size_t cursor_ = 0, row_ = 0;  // the next row that nobody has taken
  std::size_t delivered_ = 0;         // batches that the consumer has got
  std::size_t end_ = 0;               // batches to make: all, or up to the one that failed
  int busy_ = 0;
  bool stopping_ = false;
  std::optional<core::Error> failed_;
  Substituted substituted_;

  std::vector<std::jthread> workers_;  // touched by the consumer's thread only
};

core::Result<void> Loader::Crew::begin_epoch(std::uint64_t epoch, std::uint64_t position) {
  abandon_epoch();
  if (static_cast<int>(workers_.size()) != std::max(0, asked_.workers) || !asked_.persistent_workers) dismiss();
  sampler_ = asked_sampler_;
  now_ = asked_;
  auto plan = sampler_.plan(epoch, position);
  if (!plan) return core::fail(std::move(plan.error()));
  {
    const std::lock_guard lock(mutex_);
    plan_ = std::move(*plan);
    epoch_ = epoch;
    pinned_ = now_.pin_memory && can_pin_memory();
    const auto ahead = static_cast<std::size_t>(std::max(1, now_.workers) * std::max(1, now_.prefetch));
    ring_ = std::vector<Slot>(now_.workers > 0 ? ahead : 1);
    if (buffers_.size() > ring_.size() + kHeldByConsumer) buffers_.clear();
    cursor_ = row_ = delivered_ = 0;
    end_ = plan_.batches.size();
    failed_.reset();
    abandoned_ = false;
  }
  work_there_.notify_all();
  return hire();
}

void Loader::Crew::abandon_epoch() {
  abandoned_ = true;
  std::unique_lock lock(mutex_);
  end_ = delivered_ = cursor_ = row_ = 0;
  batch_there_.wait(lock, [&] { return busy_ == 0; });
}

void Loader::Crew::dismiss() {
  abandoned_ = true;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_there_.notify_all();
  workers_.clear();
  const std::lock_guard lock(mutex_);
  stopping_ = false;
}

core::Result<void> Loader::Crew::hire() {
  try {
    while (static_cast<int>(workers_.size()) < now_.workers) workers_.emplace_back([this] { work(); });
  } catch (const std::exception& e) {
    const auto got = workers_.size();
    dismiss();
    return core::fail(core::Errc::io,
                      fmt::format("cannot start {} loader threads ({} did start): {}; use fewer workers", now_.workers,
                                  got, e.what()));
  }
  return {};
}

void Loader::Crew::work() {
  pthread_setname_np(pthread_self(), "gw-loader");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto share = take();
    if (!share) {
      work_there_.wait(lock);
      continue;
    }
    ++busy_;
    lock.unlock();
    auto rows = load(*share);
    lock.lock();
    --busy_;
    if (abandoned_) {
      batch_there_.notify_all();
    } else {
      finish(*share, rows);
    }
  }
}

std::optional<Loader::Crew::Share> Loader::Crew::take() {
  if (cursor_ >= end_) return std::nullopt;
  auto& slot = slot_of(cursor_);
  if (row_ == 0) {
    if (cursor_ >= delivered_ + ring_.size()) return std::nullopt;
    open(slot);
    if (slot.error) return std::nullopt;
  }
  const auto rows = rows_of(cursor_);
  const auto workers = static_cast<std::size_t>(std::max(1, now_.workers));
  const auto count = std::clamp<std::size_t>(rows / (2 * workers), 1, kMaxRowsAtOnce);
  const Share share{cursor_, row_, std::min(rows, row_ + count)};
  row_ = share.last;
  if (row_ == rows) {
    ++cursor_;
    row_ = 0;
  }
  return share;
}

void Loader::Crew::open(Slot& slot) {
  const auto rows = rows_of(cursor_);
  slot = Slot{.batch = cursor_, .indices = std::vector<std::size_t>(rows), .unfinished = rows};
  try {
    slot.buffer = free_buffer();
    slot.buffer->prepare(*dataset_, std::max(rows, sampler_.settings().local_batch), pinned_);
  } catch (const std::exception& e) {
    slot.error = core::Error{core::Errc::io, fmt::format("no memory for a batch of {} examples: {}", rows, e.what())};
    slot.unfinished = 0;
    end_ = cursor_ + 1;
    cursor_ = end_;
    batch_there_.notify_all();
  }
}

BatchBuffer* Loader::Crew::free_buffer() {
  const auto waits_for_delivery = [&](const BatchBuffer* buffer) {
    return std::any_of(ring_.begin(), ring_.end(), [&](const Slot& slot) {
      return slot.buffer == buffer && slot.batch && *slot.batch >= delivered_;
    });
  };
  BatchBuffer* held = nullptr;
  for (const auto& buffer : buffers_) {
    if (waits_for_delivery(buffer.get())) continue;
    if (buffer->is_free()) return buffer.get();
    held = buffer.get();
  }
  if (held != nullptr && buffers_.size() >= ring_.size() + kHeldByConsumer) return held;  // gets new memory
  return buffers_.emplace_back(std::make_unique<BatchBuffer>()).get();
}

std::vector<LoadedRow> Loader::Crew::load(const Share& share) {
  std::vector<LoadedRow> rows;
  rows.reserve(share.last - share.first);
  const auto& buffer = *slot_of(share.batch).buffer;
  const auto begin = plan_.batches[share.batch].begin;
  for (auto row = share.first; row < share.last && !abandoned_; ++row) {
    rows.push_back(load_row(plan_.indices[begin + row], buffer.slot(row)));
    if (rows.back().error) break;
  }
  return rows;
}

LoadedRow Loader::Crew::load_row(std::size_t index, ExampleSlot slot) {
  LoadedRow row{index, std::nullopt};
  for (std::size_t tried = 0;; ++tried) {
    auto filled = fill_row(*dataset_, row.index, example_random(sampler_.settings().seed, epoch_, row.index), slot);
    if (filled) return row;
    if (now_.bad_example == BadExample::stop || tried == std::min(kMaxSubstitutes, sampler_.used())) {
      row.error = std::move(filled.error());
      return row;
    }
    row.index = (row.index + 1) % sampler_.used();
    const std::lock_guard lock(mutex_);
    ++substituted_.count;
    substituted_.last_reason = std::move(filled.error().message);
  }
}

void Loader::Crew::finish(const Share& share, std::vector<LoadedRow>& rows) {
  auto& slot = slot_of(share.batch);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    slot.indices[share.first + i] = rows[i].index;
    // The earliest row's error is reported, whichever worker was faster.
    if (rows[i].error && (!slot.error || share.first + i < slot.error_row)) {
      slot.error = std::move(rows[i].error);
      slot.error_row = share.first + i;
      end_ = std::min(end_, share.batch + 1);
    }
  }
  slot.unfinished -= share.last - share.first;
  if (slot.unfinished == 0) batch_there_.notify_all();
}

core::Result<std::optional<Batch>> Loader::Crew::next() {
  std::unique_lock lock(mutex_);
  while (now_.workers <= 0 && !ready()) {
    const auto share = take();
    if (!share) break;
    lock.unlock();
    auto rows = load(*share);
    lock.lock();
    finish(*share, rows);
  }
  batch_there_.wait(lock, [&] { return ready(); });
  auto result = deliver();
  lock.unlock();
  work_there_.notify_all();
  const bool over = !result || !*result;
  if (over && !now_.persistent_workers) dismiss();
  return result;
}

core::Result<std::optional<Batch>> Loader::Crew::deliver() {
  if (failed_) return core::fail(*failed_);
  if (delivered_ == end_) return std::nullopt;
  auto& slot = slot_of(delivered_);
  if (slot.error) {
    failed_ = std::move(slot.error);
    end_ = delivered_;
    return core::fail(*failed_);
  }
  const auto rows = rows_of(delivered_);
  Batch batch{slot.buffer->input(rows), slot.buffer->target(rows), std::move(slot.indices),
              plan_.batches[delivered_].position_after};
  ++delivered_;
  return std::optional<Batch>(std::move(batch));
}

Loader::Loader(std::shared_ptr<const Dataset> dataset, DistributedSampler sampler, LoaderSettings settings)
    : crew_(std::make_unique<Crew>(std::move(dataset), std::move(sampler), settings)) {}
Loader::~Loader() = default;

core::Result<void> Loader::begin_epoch(std::uint64_t epoch, std::uint64_t position) {
  return crew_->begin_epoch(epoch, position);
}
core::Result<std::optional<Batch>> Loader::next() { return crew_->next(); }
void Loader::set_settings(const LoaderSettings& settings) { crew_->asked_settings() = settings; }
void Loader::set_sampler(const DistributedSampler& sampler) { crew_->asked_sampler() = sampler; }
const LoaderSettings& Loader::settings() const { return crew_->asked_settings(); }
const DistributedSampler& Loader::sampler() const { return crew_->asked_sampler(); }
Loader::Substituted Loader::substituted() const { return crew_->substituted(); }

}  // namespace gradwatt::training
