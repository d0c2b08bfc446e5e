// `gradwatt run [options] -- CMD…`, `run --pid PID`, `run --node`: measures and reports.
#include "commands/table.hpp"
#include "measure/measure.hpp"
#include "measure/run_request.hpp"

namespace gradwatt::app {

core::Result<int> run_run(Context& context, Arguments arguments) {
  const auto request = parse_run_request(context, arguments);
  if (!request) return core::fail(request.error());
  if (!*request) return 0;
  return (*request)->command.empty() ? measure_running(context, **request) : measure_command(context, **request);
}

}  // namespace gradwatt::app
