// The fake driver library in a test's hand: its script, its clock, and how often it was called.
//
//   FakeDriver driver("h100*2; fault=return(*,15) 2s.. @1");
//   NvmlBackend backend({.library_path = driver.path()});
//   driver.clock.advance(1s);      // turns the driver's clock and the product's at once
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "gradwatt/core/clock.hpp"

namespace gradwatt::doubles {

inline const std::string kFakeNvml = GRADWATT_BINARY_DIR "/doubles/fake_nvml/libnvidia-ml.so.1";
/// The same with only the symbols of a driver of about 2016.
inline const std::string kFakeNvmlOld = GRADWATT_BINARY_DIR "/doubles/fake_nvml/old/libnvidia-ml.so.1";

/// One at a time: the script travels in the environment.
class FakeDriver {
 public:
  class Clock final : public core::Clock {
   public:
    explicit Clock(FakeDriver& driver) : driver_(driver) {}
    [[nodiscard]] core::Instant now() const override { return core::from_ns(driver_.time_ns_); }
    [[nodiscard]] core::WallTime wall_now() const override { return core::WallTime{core::Duration{driver_.time_ns_}}; }
    bool sleep_until(core::Instant deadline, const std::stop_token&) override {
      if (deadline > now()) advance(deadline - now());
      return true;
    }
    void advance(core::Duration by) { driver_.set_time(driver_.time_ns_ + by.count()); }

   private:
    FakeDriver& driver_;
  };

  explicit FakeDriver(const std::string& script, std::string path = kFakeNvml) : path_(std::move(path)), clock(*this) {
    ::setenv("GRADWATT_FAKE_NVML", script.c_str(), 1);
    handle_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
    // The loader may have kept the library, and with it the state of an earlier test.
    reset();
    // One hour after the driver's clock began.
    set_time(3'600'000'000'000);
  }
  ~FakeDriver() {
    reset();
    ::dlclose(handle_);
    ::unsetenv("GRADWATT_FAKE_NVML");
  }
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::int64_t time_ns() const { return time_ns_; }
  /// Calls of the NVML function (without version suffix) since the last nvmlInit.
  [[nodiscard]] std::int64_t calls(const char* function) { return call<std::int64_t>("fake_nvml_calls", function); }

 private:
  template <class Result, class Argument>
  Result call(const char* symbol, Argument argument) {
    return reinterpret_cast<Result (*)(Argument)>(::dlsym(handle_, symbol))(argument);
  }
  void reset() { reinterpret_cast<void (*)()>(::dlsym(handle_, "fake_nvml_reset"))(); }
  void set_time(std::int64_t ns) {
    time_ns_ = ns;
    call<void>("fake_nvml_set_time_ns", ns);
  }

  std::string path_;
  void* handle_ = nullptr;
  std::int64_t time_ns_ = 0;

 public:
  Clock clock;
};

}  // namespace gradwatt::doubles
