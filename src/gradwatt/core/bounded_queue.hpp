// A queue between a thread that must never wait (sampler, job side) and one that may (writer).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace gradwatt::core {

/// Producers never block: a full queue refuses the item and counts it. The consumer takes everything at once.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// False when the queue is full or closed: the item is lost and counted.
  bool try_push(T item) {
    const std::lock_guard lock(mutex_);
    if (closed_ || items_.size() >= capacity_) {
      ++dropped_;
      return false;
    }
    items_.push_back(std::move(item));
    if (items_.size() * 2 >= capacity_) wake_.notify_one();
    return true;
  }

  /// Everything queued, after waiting until `deadline`, half full, a nudge or close, whichever is first.
  [[nodiscard]] std::vector<T> take_all(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, deadline, [&] { return closed_ || nudged_ || items_.size() * 2 >= capacity_; });
    nudged_ = false;
    return std::exchange(items_, {});
  }

  /// Ends a wait in take_all now.
  void nudge() {
    const std::lock_guard lock(mutex_);
    nudged_ = true;
    wake_.notify_one();
  }

  /// No more items; take_all returns at once from now on.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    wake_.notify_all();
  }
  [[nodiscard]] bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::vector<T> items_;
  std::size_t capacity_;
  std::uint64_t dropped_ = 0;
  bool closed_ = false;
  bool nudged_ = false;
};

}  // namespace gradwatt::core
