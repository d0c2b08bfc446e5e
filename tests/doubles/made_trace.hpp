// Profiler traces for tests, written event by event as Kineto writes them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace gradwatt::doubles {

/// Times in µs. Names of categories are today's.
class MadeTrace {
 public:
  /// JSON of further members of the outer object: "distributedInfo": {…}
  MadeTrace& head(std::string_view members) {
    head_ += fmt::format("{}, ", members);
    return *this;
  }
  MadeTrace& rank(int rank, int world) {
    return head(fmt::format(R"("distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}}})", rank, world));
  }
  MadeTrace& event(std::string_view json) {
    events_ += fmt::format("{}{}", events_.empty() ? "" : ",\n", json);
    return *this;
  }
  MadeTrace& host(std::string_view category, std::string_view name, double begin, double length,
                  std::string_view args = "", int thread = 1) {
    return event(fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 9, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{{}}}}})",
        category, name, thread, begin, length, args));
  }
  MadeTrace& step(int number, double begin, double length) {
    return host("user_annotation", fmt::format("ProfilerStep#{}", number), begin, length);
  }
  MadeTrace& loader(double begin, double length, int thread = 1) {
    return host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", begin, length, "",
                thread);
  }
  /// Work of a device, and the call that launches it, 1 µs long.
  MadeTrace& work(std::string_view category, std::string_view name, double begin, double length, double launched,
                  std::string_view args = "", int stream = 7) {
    ++correlation_;
    host("cuda_runtime", category == "kernel" ? "cudaLaunchKernel" : "cudaMemcpyAsync", launched, 1,
         fmt::format(R"("correlation": {})", correlation_));
    return event(
        fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 0, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, )"
                    R"("args": {{"device": 0, "stream": {}, "correlation": {}{}{}}}}})",
                    category, name, stream, begin, length, stream, correlation_, args.empty() ? "" : ", ", args));
  }
  MadeTrace& kernel(std::string_view name, double begin, double length, double launched, int stream = 7) {
    return work("kernel", name, begin, length, launched, "", stream);
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{{\"schemaVersion\": 1, {}\"traceEvents\": [\n{}\n]}}\n", head_, events_);
  }
  [[nodiscard]] std::string bare_array() const { return "[" + events_ + "]"; }

 private:
  std::string head_, events_;
  int correlation_ = 100;
};

}  // namespace gradwatt::doubles
