#include "commands/simulate_options.hpp"

#include <fmt/format.h>

namespace gradwatt::app {
namespace {

void declare(CLI::App& app, SimulateWish& wish) {
  app.add_option("--cluster", wish.cluster, "the cluster file (docs/cluster-file.md)")->type_name("FILE");
  app.add_option("--from", wish.from, "run that says what a step computes and exchanges")->type_name("RUN");
  app.add_option("--strategy", wish.strategy,
                 "two-level (the default), ring, tree, one-bit, daso, local-sgd or async (docs/simulate.md)")
      ->type_name("NAME");
  app.add_option("--steps", wish.steps, "optimiser steps of the job")->type_name("N");
  app.add_flag("--every-step", wish.every_step, "simulate each step instead of repeating equal ones");
  app.add_option("--period", wish.period, "steps from one exchange between nodes to the next (daso, local-sgd)")
      ->type_name("N");
  app.add_option("--wait", wish.wait, "steps that go on before an exchange is waited for (daso, async)")
      ->type_name("N");
  app.add_option("--compute-s", wish.compute_s, "seconds that a step computes; replaces what the run says")
      ->type_name("S");
  app.add_option("--data-wait-s", wish.data_wait_s, "seconds that a step waits for its batch")->type_name("S");
  app.add_option("--gradient-bytes", wish.gradient_bytes, "bytes of gradients that a rank exchanges")
      ->type_name("BYTES");
  app.add_option("--local-batch", wish.local_batch, "training samples of a rank and step")->type_name("N");
  app.add_option("--overlap", wish.overlap,
                 "share of the gradients that may travel while the backward pass computes, 0 to 1")
      ->type_name("SHARE");
  app.add_option("--compress-gbyte-per-s", wish.compress_gbyte_per_s,
                 "of one-bit: GB of gradients that a GPU compresses a second (default: takes no time)")
      ->type_name("GB/s");
  app.add_option("--out", wish.out, "run folder to make (default: a new folder in the run store)")->type_name("DIR");
  app.add_option("--name", wish.name, "a name for the run, for later commands")->type_name("NAME");
  app.add_flag("--quiet", wish.quiet, "no report");
  app.add_flag("--json", wish.json, "the report as JSON");
  app.footer(
      "gradwatt simulate --cluster big.toml --from last                       the last run's job on that cluster\n"
      "gradwatt simulate --cluster big.toml --from last --strategy daso       the same, exchanged otherwise\n"
      "gradwatt simulate --cluster big.toml --compute-s 0.3 --gradient-bytes 102228128   without a run");
}

core::Result<void> check(const SimulateWish& wish) {
  const auto wrong = [](std::string text) { return core::fail(core::Errc::wrong_use, "simulate: " + text); };
  if (wish.cluster.empty()) return wrong("no cluster given; write --cluster FILE.toml (docs/cluster-file.md)");
  if (wish.from.empty() && !(wish.compute_s && wish.gradient_bytes))
    return wrong("give --from RUN, or --compute-s and --gradient-bytes");
  if (wish.steps < 1 || wish.steps > 10'000'000)
    return wrong(fmt::format("--steps wants a number from 1 to 10000000, not {}", wish.steps));
  if (wish.local_batch && *wish.local_batch < 1)
    return wrong(fmt::format("--local-batch wants at least 1, not {}", *wish.local_batch));
  if (wish.compute_s && !(*wish.compute_s > 0))
    return wrong(fmt::format("--compute-s wants more than 0, not {}", *wish.compute_s));
  if (wish.compress_gbyte_per_s && !(*wish.compress_gbyte_per_s > 0))
    return wrong(fmt::format("--compress-gbyte-per-s wants more than 0, not {}", *wish.compress_gbyte_per_s));
  return {};
}

}  // namespace

core::Result<Options::Parsed> parse_simulate(Context& context, Arguments arguments, SimulateWish& wish) {
  Options options(context, "simulate",
                  "Simulates a training on a cluster that may not exist, and reports what it costs.");
  declare(options.app(), wish);
  const auto parsed = options.parse(arguments);
  if (!parsed || *parsed == Options::Parsed::done) return parsed;
  if (auto good = check(wish); !good) return core::fail(good.error());
  return parsed;
}

}  // namespace gradwatt::app
