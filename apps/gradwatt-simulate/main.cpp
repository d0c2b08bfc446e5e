// The simulator's entry. `gradwatt simulate` starts it with its own arguments.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "app.hpp"
#include "simulate_verb.hpp"

int main(int argc, char** argv) {
  using namespace gradwatt;
  core::SystemClock clock;
  auto context = app::context_of_process(clock);
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  try {
    const auto status = app::simulate_verb(context, arguments);
    if (status) return *status;
    app::complain(context, status.error().message);
    return app::exit_status_of(status.error().code);
  } catch (const std::exception& error) {
    app::complain(context, std::string("unexpected failure: ") + error.what());
    return app::exit_status_of(core::Errc::io);
  }
}
