// `gradwatt simulate --cluster FILE …`: starts the simulator, which alone needs SimGrid.
#include "commands/simulate_options.hpp"

#include <ostream>

#include "beside.hpp"
#include "commands/table.hpp"

namespace gradwatt::app {

core::Result<int> run_simulate(Context& context, Arguments arguments) {
  SimulateWish wish;
  const auto parsed = parse_simulate(context, arguments, wish);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  const auto simulator = find_beside("gradwatt-simulate", "SimGrid is");
  if (!simulator) return core::fail(simulator.error());
  std::vector<std::string> words{*simulator};
  words.insert(words.end(), arguments.begin(), arguments.end());
  context.out.flush();
  return become(words);
}

}  // namespace gradwatt::app
