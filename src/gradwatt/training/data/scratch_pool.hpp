// Working memory that threads borrow for one example, so that none of it is made anew for each.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gradwatt::training {

/// As many T are made as threads borrow at once. Any thread may borrow.
template <class T>
class ScratchPool {
 public:
  class Loan {
   public:
    Loan(ScratchPool& pool, std::unique_ptr<T> item) : pool_(pool), item_(std::move(item)) {}
    ~Loan() { pool_.put_back(std::move(item_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    T* operator->() { return item_.get(); }

   private:
    ScratchPool& pool_;
    std::unique_ptr<T> item_;
  };

  [[nodiscard]] Loan borrow() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {*this, std::make_unique<T>()};
    auto item = std::move(free_.back());
    free_.pop_back();
    return {*this, std::move(item)};
  }

 private:
  void put_back(std::unique_ptr<T> item) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(item));
  }

  std::mutex mutex_;  // guards free_
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace gradwatt::training
