#include "gradwatt/training/gradient_sync/communicator.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "gradwatt/training/gradient_sync/half_floats.hpp"

namespace gradwatt::training {
namespace {

using namespace std::chrono_literals;

constexpr int kLastWord = 7;  // tag
constexpr int kCountLimit = 1 << 28;

MPI_Op op_of(Sum how) {
  if (how == Sum::min) return MPI_MIN;
  return how == Sum::max ? MPI_MAX : MPI_SUM;
}

template <std::uint16_t (*kAdd)(std::uint16_t, std::uint16_t)>
void add_halves(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* a = static_cast<const std::uint16_t*>(in);
  auto* b = static_cast<std::uint16_t*>(inout);
  for (int i = 0; i < *count; ++i) b[i] = kAdd(a[i], b[i]);
}

/// MPI counts are int: a long array goes in pieces.
template <class T>
void all_reduce_in_place(std::span<T> values, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  for (std::size_t at = 0; at < values.size(); at += kCountLimit) {
    const auto count = static_cast<int>(std::min<std::size_t>(kCountLimit, values.size() - at));
    MPI_Allreduce(MPI_IN_PLACE, values.data() + at, count, type, op, comm);
  }
}

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size()) != 0) return "this host";
  name.resize(std::strlen(name.c_str()));
  return name;
}

std::string describe_mpi(int code) {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// Waits without the core: MPI's own wait turns in place. A partner is often only microseconds behind, so the first
/// looks only let others run; then it sleeps for about what a small message takes.
void wait_asleep(std::span<MPI_Request> requests) {
  constexpr int kLooks = 100;
  constexpr auto kSleep = 50us;
  for (int look = 0;; ++look) {
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return;
    if (look < kLooks)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kSleep);
  }
}

/// Signals that ask to end. A handler and not a blocked signal: libraries start threads before main(), whose masks are
/// their own.
volatile std::sig_atomic_t asked_to_end = 0;
void note_signal(int /*signal*/) { asked_to_end = 1; }

void catch_sigterm() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

bool process_is_gone(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  FILE* file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "r");
  if (file == nullptr) return false;
  std::string text(512, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] == 'Z';
}

class Communicator::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &main_);
    MPI_Comm_dup(MPI_COMM_WORLD, &gradients_);
    MPI_Comm_dup(MPI_COMM_WORLD, &words_);
    MPI_Comm_dup(MPI_COMM_WORLD, &messages_);
    MPI_Comm_rank(main_, &rank_);
    MPI_Comm_size(main_, &size_);
    MPI_Comm_split_type(main_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_);
    MPI_Comm_rank(host_, &local_rank_);
    MPI_Comm_size(host_, &local_size_);
    MPI_Comm_set_errhandler(words_, MPI_ERRORS_RETURN);
    MPI_Op_create(add_halves<add_bf16>, 1, &add_bf16_);
    MPI_Op_create(add_halves<add_fp16>, 1, &add_fp16_);
    meet();
    watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }

  ~Impl() {
    stop_watching();
    for (auto& window : windows_) MPI_Win_free(&window);
    MPI_Op_free(&add_bf16_);
    MPI_Op_free(&add_fp16_);
    for (auto* comm : {&host_, &messages_, &words_, &gradients_, &main_}) MPI_Comm_free(comm);
    MPI_Finalize();
  }

  std::vector<std::string> all_gather(const std::string& text) {
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    const int length = static_cast<int>(text.size());
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, main_);
    std::vector<int> starts(lengths.size(), 0);
    for (std::size_t i = 1; i < lengths.size(); ++i) starts[i] = starts[i - 1] + lengths[i - 1];
    std::string all(static_cast<std::size_t>(starts.back() + lengths.back()), '\0');
    MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, main_);
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      pieces.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    return pieces;
  }

  core::Result<std::vector<std::byte*>> share_memory(std::size_t bytes) {
    MPI_Win window = MPI_WIN_NULL;
    void* own = nullptr;
    MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN);
    const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, host_, &own, &window);
    if (code != MPI_SUCCESS)
      return core::fail(core::Errc::not_supported, "cannot share memory between ranks: " + describe_mpi(code));
    windows_.push_back(window);
    std::vector<std::byte*> parts;
    for (int r = 0; r < local_size_; ++r) {
      MPI_Aint size = 0;
      int unit = 0;
      void* base = nullptr;
      MPI_Win_shared_query(window, r, &size, &unit, &base);
      parts.push_back(static_cast<std::byte*>(base));
    }
    return parts;
  }

  [[noreturn]] void fail(const std::string& why) {
    say(fmt::format("rank {} on {}: {}", rank_, peers_[static_cast<std::size_t>(rank_)].host, why));
    tell_others(why);
    end_process();
  }

  void stop_watching() {
    watch_.request_stop();
    if (watch_.joinable()) watch_.join();
  }

  Options options_;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  MPI_Comm main_ = MPI_COMM_NULL, gradients_ = MPI_COMM_NULL, words_ = MPI_COMM_NULL, host_ = MPI_COMM_NULL,
           messages_ = MPI_COMM_NULL;
  MPI_Op add_bf16_ = MPI_OP_NULL, add_fp16_ = MPI_OP_NULL;
  std::vector<Peer> peers_;

 private:
  /// They read it within a watch period; after that nobody needs this rank.
  void tell_others(const std::string& why) {
    const auto length = static_cast<int>(std::min<std::size_t>(why.size(), 4096));
    for (int r = 0; r < size_; ++r) {
      MPI_Request request = MPI_REQUEST_NULL;  // the process ends before anybody waits for it
      if (r != rank_) MPI_Isend(why.data(), length, MPI_CHAR, r, kLastWord, words_, &request);
    }
    if (size_ > 1) std::this_thread::sleep_for(5 * options_.watch_period);
  }

  void meet() {
    const auto all = all_gather(fmt::format("{} {}", ::getpid(), host_name()));
    for (int r = 0; r < size_; ++r) {
      const auto& text = all[static_cast<std::size_t>(r)];
      const auto space = text.find(' ');
      peers_.push_back({r, text.substr(space + 1), static_cast<pid_t>(std::atol(text.substr(0, space).c_str()))});
    }
  }

  void watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(options_.watch_period);
      if (stop.stop_requested()) break;
      const bool ending = asked_to_end != 0;
      hear_last_words();
      look_after_peers();
      if (!ending) continue;
      // A launcher ends the others when one has died: what it died of may still be on its way.
      std::this_thread::sleep_for(options_.watch_period);
      hear_last_words();
      look_after_peers();
      const std::string why =
          "ended by SIGTERM, from the batch system, from you, or from the launcher because another rank failed";
      say(fmt::format("rank {}: {}", rank_, why));
      tell_others(why);
      end_process();
    }
  }

  void hear_last_words() {
    int there = 0;
    MPI_Status status{};
    if (MPI_Iprobe(MPI_ANY_SOURCE, kLastWord, words_, &there, &status) != MPI_SUCCESS || there == 0) return;
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string text(static_cast<std::size_t>(length), '\0');
    MPI_Recv(text.data(), length, MPI_CHAR, status.MPI_SOURCE, kLastWord, words_, MPI_STATUS_IGNORE);
    const auto& peer = peers_[static_cast<std::size_t>(status.MPI_SOURCE)];
    say(fmt::format("rank {}: stops because rank {} on {} failed: {}", rank_, peer.rank, peer.host, text));
    end_process();
  }

  void look_after_peers() {
    for (const auto& peer : peers_) {
      if (peer.rank == rank_ || peer.host != peers_[static_cast<std::size_t>(rank_)].host || !process_is_gone(peer.pid))
        continue;
      hear_last_words();  // it may have said why
      say(
          fmt::format("rank {}: stops because rank {} on {} (process {}) died without a word: killed, out of memory or "
                      "crashed (see dmesg and the launcher's message)",
                      rank_, peer.rank, peer.host, peer.pid));
      end_process();
    }
  }

  void say(const std::string& text) const {
    std::string line = "gradwatt train: " + text;
    if (options_.last_words)
      if (const auto more = options_.last_words(); !more.empty()) line += "; " + more;
    line += '\n';
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }

  // Collectives are under way on other threads: no destructor can run.
  [[noreturn]] void end_process() const {
    if (options_.before_end) options_.before_end();
    ::_exit(kFailedRank);
  }

  std::vector<MPI_Win> windows_;
  std::jthread watch_;
};

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::~Communicator() = default;

core::Result<std::unique_ptr<Communicator>> Communicator::create(Options options) {
  catch_sigterm();
  int granted = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &granted);
  if (granted < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return core::fail(
        core::Errc::not_supported,
        "this MPI does not let several threads communicate (MPI_THREAD_MULTIPLE); use an Open MPI or MPICH "
        "that was built with threads");
  }
  return std::unique_ptr<Communicator>(new Communicator(std::make_unique<Impl>(std::move(options))));
}

int Communicator::rank() const { return impl_->rank_; }
int Communicator::size() const { return impl_->size_; }
int Communicator::local_rank() const { return impl_->local_rank_; }
int Communicator::local_size() const { return impl_->local_size_; }
const std::vector<Peer>& Communicator::peers() const { return impl_->peers_; }

void Communicator::all_reduce(std::span<double> values, Sum how) {
  all_reduce_in_place(values, MPI_DOUBLE, op_of(how), impl_->main_);
}
void Communicator::all_reduce(std::span<std::int64_t> values, Sum how) {
  all_reduce_in_place(values, MPI_INT64_T, op_of(how), impl_->main_);
}

void Communicator::broadcast(std::span<std::byte> bytes, int root) {
  for (std::size_t at = 0; at < bytes.size(); at += kCountLimit) {
    const auto count = static_cast<int>(std::min<std::size_t>(kCountLimit, bytes.size() - at));
    MPI_Bcast(bytes.data() + at, count, MPI_BYTE, root, impl_->main_);
  }
}

std::string Communicator::broadcast(std::string text, int root) {
  auto length = static_cast<std::int64_t>(text.size());
  MPI_Bcast(&length, 1, MPI_INT64_T, root, impl_->main_);
  text.resize(static_cast<std::size_t>(length));
  broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

std::vector<std::string> Communicator::all_gather(const std::string& text) { return impl_->all_gather(text); }
void Communicator::barrier() { MPI_Barrier(impl_->main_); }

void Communicator::sum_floats(std::span<float> values) {
  all_reduce_in_place(values, MPI_FLOAT, MPI_SUM, impl_->gradients_);
}
void Communicator::sum_doubles(std::span<double> values) {
  all_reduce_in_place(values, MPI_DOUBLE, MPI_SUM, impl_->gradients_);
}
void Communicator::sum_bf16(std::span<std::uint16_t> values) {
  all_reduce_in_place(values, MPI_UINT16_T, impl_->add_bf16_, impl_->gradients_);
}
void Communicator::sum_fp16(std::span<std::uint16_t> values) {
  all_reduce_in_place(values, MPI_UINT16_T, impl_->add_fp16_, impl_->gradients_);
}

core::Result<std::vector<std::byte*>> Communicator::share_memory(std::size_t bytes) {
  return impl_->share_memory(bytes);
}

void Communicator::exchange(int out_lane, std::span<const Message> out, std::span<const Message> in, int in_lane) {
  constexpr std::size_t kPiece = std::size_t{1} << 30U;
  std::vector<MPI_Request> requests;
  const auto post = [&](const Message& message, auto call) {
    std::size_t at = 0;
    do {  // an empty message is one too
      const auto count = static_cast<int>(std::min(kPiece, message.bytes.size() - at));
      call(message.bytes.data() + at, count, message.peer, &requests.emplace_back(MPI_REQUEST_NULL));
      at += kPiece;
    } while (at < message.bytes.size());
  };
  for (const auto& message : in)
    post(message, [&](std::byte* data, int count, int peer, MPI_Request* request) {
      MPI_Irecv(data, count, MPI_BYTE, peer, in_lane, impl_->messages_, request);
    });
  for (const auto& message : out)
    post(message, [&](std::byte* data, int count, int peer, MPI_Request* request) {
      MPI_Isend(data, count, MPI_BYTE, peer, out_lane, impl_->messages_, request);
    });
  wait_asleep(requests);
}

std::optional<int> Communicator::sender_waiting(int lane) {
  int there = 0;
  MPI_Status status{};
  MPI_Iprobe(MPI_ANY_SOURCE, lane, impl_->messages_, &there, &status);
  return there != 0 ? std::optional(status.MPI_SOURCE) : std::nullopt;
}

std::int64_t Communicator::least(std::int64_t value) {
  MPI_Request request = MPI_REQUEST_NULL;
  std::int64_t result = value;
  MPI_Iallreduce(&value, &result, 1, MPI_INT64_T, MPI_MIN, impl_->messages_, &request);
  wait_asleep({&request, 1});
  return result;
}

void Communicator::fail(const std::string& why) { impl_->fail(why); }

void Communicator::close() {
  impl_->stop_watching();
  MPI_Barrier(impl_->main_);
}

}  // namespace gradwatt::training
