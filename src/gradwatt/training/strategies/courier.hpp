// Messages between ranks, counted: what a strategy really sent, to be held against its cost model.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/strategies/host_layout.hpp"

namespace gradwatt::training {

/// Sent by this rank since the start. Agreements of a few bytes (is every gradient finite?) are not in it.
struct Counters {
  struct Sent {
    std::int64_t messages = 0, bytes = 0;
    friend bool operator==(const Sent&, const Sent&) = default;
  };
  Sent node;     ///< to ranks of the same host
  Sent network;  ///< to other hosts

  Counters& operator+=(const Counters& other);
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// One thread uses it at a time.
class Courier {
 public:
  /// `lane`: couriers of two threads have two.
  Courier(Communicator& ranks, const HostLayout& layout, int lane) : ranks_(ranks), layout_(layout), lane_(lane) {}

  void exchange(const std::vector<Message>& out, const std::vector<Message>& in);
  /// For messages that go another way.
  void count(const Message& sent);
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] int rank() const { return ranks_.rank(); }

 private:
  Communicator& ranks_;
  const HostLayout& layout_;
  int lane_;
  Counters counters_;
};

/// The tensor's memory: dense, on the host.
[[nodiscard]] std::span<std::byte> bytes_of(const torch::Tensor& tensor);

}  // namespace gradwatt::training
