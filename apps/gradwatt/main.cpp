// The program's entry: hands the process over as a Context; all else is in app.cpp.
#include <malloc.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "app.hpp"

int main(int argc, char** argv) {
  using namespace gradwatt;
  std::ios::sync_with_stdio(false);
  // One heap for all threads, which gives nothing back between two ticks: little memory to touch, no page faults.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
  core::SystemClock clock;
  auto context = app::context_of_process(clock);
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  try {
    return app::run_app(context, arguments);
  } catch (const std::exception& error) {
    // Only a bug or an exhausted machine ends here: expected failures are Results.
    app::complain(context, std::string("unexpected failure: ") + error.what());
    return app::exit_status_of(core::Errc::io);
  }
}
