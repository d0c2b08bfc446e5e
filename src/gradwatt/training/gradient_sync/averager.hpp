// Averages flat gradient buffers over the ranks on a thread of its own, one after the other in the order given, so that
// the backward pass goes on meanwhile.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/types.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/gradient_sync/nccl_sum.hpp"
#include "gradwatt/training/gradient_sync/shared_sum.hpp"

namespace gradwatt::training {

class Averager {
 public:
  struct Options {
    Wire wire = Wire::fp32;     ///< of fp32 buffers; others travel as they are
    bool shared_memory = true;  ///< between ranks of one host; false: MPI as between hosts
  };
  /// `device`: where this rank's gradients lie. A collective.
  static core::Result<std::unique_ptr<Averager>> create(Communicator& ranks, Options options,
                                                        c10::Device device = c10::kCPU);
  ~Averager();

  /// Averages `buffer` (flat, dense, fp32 or fp64; on a GPU it is added up by NCCL, or else staged through host memory)
  /// in place. The future holds the buffer, or the error. All ranks give the same buffers in the same order.
  c10::intrusive_ptr<c10::ivalue::Future> average(torch::Tensor buffer);
  /// The same in the caller's thread; nothing may be queued.
  void average_now(torch::Tensor buffer);

  /// Since the start: what this rank handed to the wire.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t messages() const { return messages_; }
  /// When the last buffer so far was given: what the caller waits for after that is exposed communication.
  [[nodiscard]] core::Instant last_given() const { return core::Instant(core::Duration(last_given_ns_.load())); }
  /// Time that the communication took in all, overlapped or not.
  [[nodiscard]] core::Duration busy() const { return core::Duration(busy_ns_.load()); }

 private:
  struct Task {
    torch::Tensor buffer;
    c10::intrusive_ptr<c10::ivalue::Future> done;
  };
  Averager(Communicator& ranks, Options options, std::unique_ptr<SharedSum> shared, std::unique_ptr<NcclSum> nccl);
  void work();
  c10::intrusive_ptr<c10::ivalue::Future> average_on_gpu(torch::Tensor buffer);
  void average_on_host(torch::Tensor& buffer);
  void count(const torch::Tensor& buffer);
  void average_floats(std::span<float> values);
  void average_over_mpi(std::span<float> values, float scale);

  Communicator& ranks_;
  Options options_;
  std::unique_ptr<SharedSum> shared_;  // null: MPI
  std::unique_ptr<NcclSum> nccl_;      // null: not built with it, or no GPU
  std::vector<std::uint16_t> halves_;  // of one buffer
  std::atomic<std::int64_t> bytes_{0}, messages_{0}, last_given_ns_{0}, busy_ns_{0};
  std::mutex mutex_;  // guards the two below
  std::deque<Task> tasks_;
  bool ending_ = false;
  std::condition_variable changed_;
  std::jthread thread_;
};

}  // namespace gradwatt::training
