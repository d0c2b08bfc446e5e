// The ranks of one training: who they are, small collectives of the main thread, and what happens when one of them
// fails.
//
// MPI runs with MPI_THREAD_MULTIPLE, because gradients are summed on a thread of their own. A rank alone works without
// a launcher. When a rank fails, the others sit in a collective that never ends; so a watch thread listens for a last
// word from any rank and looks after the processes of the same host. What it hears it prints, naming rank and cause,
// and ends the process: nobody waits longer than the watch's period plus the grace given.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

/// Exit status of a rank that ends because of another one, or by its own fault.
inline constexpr int kFailedRank = 1;

struct Peer {
  int rank = 0;
  std::string host;
  pid_t pid = 0;
};

/// True for a process of this host that has ended, waited for or not.
[[nodiscard]] bool process_is_gone(pid_t pid);

enum class Sum { sum, min, max };

/// Bytes to or from one other rank.
struct Message {
  int peer = 0;
  std::span<std::byte> bytes;
};

class Communicator {
 public:
  struct Options {
    std::chrono::milliseconds watch_period{100};
    /// A line for the user when the process is ended from the watch thread: where the last checkpoint lies.
    std::function<std::string()> last_words;
    /// Called when this rank ends because it or another one failed, after the word about it; perhaps from the watch
    /// thread, while the main thread sits in a collective.
    std::function<void()> before_end;
  };
  /// Once a process. Errors: not_supported when this MPI grants fewer threads than needed.
  static core::Result<std::unique_ptr<Communicator>> create(Options options);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] int local_rank() const;  ///< among the ranks of this host
  [[nodiscard]] int local_size() const;
  [[nodiscard]] bool one_host() const { return local_size() == size(); }
  [[nodiscard]] const std::vector<Peer>& peers() const;

  // Collectives of the main thread: every rank calls the same one in the same order.
  void all_reduce(std::span<double> values, Sum how);
  void all_reduce(std::span<std::int64_t> values, Sum how);
  void broadcast(std::span<std::byte> bytes, int root);
  [[nodiscard]] std::string broadcast(std::string text, int root);
  /// What every rank said, by rank.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text);
  void barrier();

  // Of the gradient thread: in place, over its own communicator.
  void sum_floats(std::span<float> values);
  void sum_doubles(std::span<double> values);
  /// 2-byte floats, added in fp32 and rounded once a hop.
  void sum_bf16(std::span<std::uint16_t> values);
  void sum_fp16(std::span<std::uint16_t> values);
  /// Memory that all ranks of this host see: `bytes` of each, by local rank.
  [[nodiscard]] core::Result<std::vector<std::byte*>> share_memory(std::size_t bytes);

  // Of communication strategies: rank to rank, from any thread; messages of two lanes never meet. Who waits sleeps.
  /// Sends all of `out` and receives all of `in` at once; messages between two ranks keep their order.
  void exchange(int lane, std::span<const Message> out, std::span<const Message> in) { exchange(lane, out, in, lane); }
  void exchange(int out_lane, std::span<const Message> out, std::span<const Message> in, int in_lane);
  /// A rank whose message on `lane` can be received now.
  [[nodiscard]] std::optional<int> sender_waiting(int lane);
  /// Smallest value of all ranks: one call at a time, in the same order on all.
  [[nodiscard]] std::int64_t least(std::int64_t value);

  /// The rank cannot go on: tells the others why, prints it, and ends this process.
  [[noreturn]] void fail(const std::string& why);
  /// All is well and no rank's end is a failure from here on: every rank calls it, then may exit.
  void close();

 private:
  class Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gradwatt::training
