#include "commands/plan_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::app {
namespace {

/// As typed.
struct Typed {
  std::vector<std::string> gpus, accumulation, caps, batch, data, hardware, strategy, epochs_at, hours;
  std::string deadline, budget, good_batch, format;
};

template <class... Words>
core::Error wrong(fmt::format_string<Words...> format, Words&&... words) {
  return core::Error{core::Errc::wrong_use, "plan: " + fmt::format(format, std::forward<Words>(words)...)};
}

std::optional<double> above_zero(std::string_view text) {
  const auto number = core::parse_number(text);
  return number && *number > 0 ? number : std::nullopt;
}

/// "4", "1,2,8" or "4..64" (each twice the one before), in any mixture.
core::Result<std::vector<double>> read_list(std::string_view option, const std::vector<std::string>& typed) {
  std::vector<double> out;
  for (const auto& text : typed)
    for (const auto piece : core::split(text, ',')) {
      const auto dots = piece.find("..");
      const auto low = above_zero(piece.substr(0, dots));
      const auto high = dots == std::string_view::npos ? low : above_zero(piece.substr(dots + 2));
      if (!low || !high || *high < *low || out.size() > 10'000)
        return core::fail(wrong("{} is '{}', but must be numbers such as 1,2,4 or 4..64 (doubling)", option, text));
      for (double n = *low; n <= *high; n *= 2) out.push_back(n);
    }
  std::ranges::sort(out);
  const auto rest = std::ranges::unique(out);
  out.erase(rest.begin(), rest.end());
  return out;
}

core::Result<void> read_batches(const std::vector<std::string>& typed, PlanWish& wish) {
  for (const auto& text : typed) {
    const auto equals = text.find('=');
    const auto word = text.substr(0, equals);
    if (equals == std::string::npos || (word != "local" && word != "global"))
      return core::fail(wrong("--batch is '{}', but must be local=SAMPLES (a GPU) or global=SAMPLES (the job)", text));
    const auto sizes = read_list("--batch", {text.substr(equals + 1)});
    if (!sizes) return core::fail(sizes.error());
    const auto rule = word == "local" ? planning::BatchRule::local : planning::BatchRule::global;
    for (const double size : *sizes) wish.batches.push_back({rule, size});
  }
  return {};
}

/// "1281167" or "per-gpu=5004".
core::Result<void> read_data(const std::vector<std::string>& typed, PlanWish& wish) {
  constexpr std::string_view kPerGpu = "per-gpu=";
  for (const auto& text : typed)
    for (const auto piece : core::split(text, ',')) {
      const bool grows = piece.starts_with(kPerGpu);
      const auto samples = above_zero(grows ? piece.substr(kPerGpu.size()) : piece);
      if (!samples) return core::fail(wrong("--data is '{}', but must be samples, or per-gpu=SAMPLES", text));
      wish.data.push_back({grows, *samples});
    }
  return {};
}

/// "256=90,1024=94,8192=fail".
core::Result<void> read_trainings(const std::vector<std::string>& typed, PlanWish& wish) {
  for (const auto& text : typed)
    for (const auto piece : core::split(text, ',')) {
      const auto equals = piece.find('=');
      const auto batch = above_zero(piece.substr(0, equals));
      const auto result = equals == std::string_view::npos ? std::string_view() : core::trim(piece.substr(equals + 1));
      const auto epochs = above_zero(result);
      if (!batch || (!epochs && result != "fail"))
        return core::fail(wrong("--epochs-at is '{}', but must be such as 256=90,1024=94,8192=fail", text));
      wish.trainings.push_back({*batch, epochs});
    }
  return {};
}

/// "4=30,16=9": GPUs and hours.
core::Result<void> read_hours(const std::vector<std::string>& typed, PlanWish& wish) {
  for (const auto& text : typed)
    for (const auto piece : core::split(text, ',')) {
      const auto equals = piece.find('=');
      const auto gpus = above_zero(piece.substr(0, equals));
      const auto hours = equals == std::string_view::npos ? std::nullopt : above_zero(piece.substr(equals + 1));
      if (!gpus || !hours || *gpus != std::floor(*gpus) || *gpus > 1e6)
        return core::fail(wrong("--hours is '{}', but must be GPUS=HOURS such as 4=30,16=9", text));
      wish.known_hours.push_back({static_cast<int>(*gpus), 0, *hours, std::nullopt});
    }
  if (!wish.known_hours.empty() && wish.preset.empty())
    return core::fail(wrong("--hours goes with --preset; of your own job give runs or a table"));
  return {};
}

core::Result<void> read_good_batches(const std::string& text, PlanWish& wish) {
  if (text.empty()) return {};
  const auto dash = text.find('-');
  const auto low = above_zero(text.substr(0, dash));
  const auto high = dash == std::string::npos ? low : above_zero(text.substr(dash + 1));
  if (!low || !high || *high < *low)
    return core::fail(wrong("--good-batch is '{}', but must be a global batch or LOW-HIGH", text));
  wish.good_batches = planning::GoodBatches{*low, *high, "--good-batch"};
  return {};
}

/// "5kWh", "800 Wh" is energy; "20" or "20EUR" is money.
core::Result<void> read_budget(const std::string& text, PlanWish& wish) {
  if (text.empty()) return {};
  const auto end = text.find_first_not_of("0123456789.");
  const auto number = above_zero(text.substr(0, end == std::string::npos ? text.size() : end));
  const auto unit = end == std::string::npos ? std::string() : std::string(core::trim(text.substr(end)));
  if (!number) return core::fail(wrong("--budget is '{}', but must be such as 5kWh or 20EUR", text));
  struct Scale {
    std::string_view unit;
    double joules;
  };
  for (const auto& scale : {Scale{"Wh", 3.6e3}, Scale{"kWh", 3.6e6}, Scale{"MWh", 3.6e9}, Scale{"J", 1},
                            Scale{"kJ", 1e3}, Scale{"MJ", 1e6}, Scale{"GJ", 1e9}})
    if (unit == scale.unit) {
      wish.limits.energy_j = *number * scale.joules;
      return {};
    }
  if (!wish.prices.any())
    return core::fail(
        wrong("--budget {} is money, so say what things cost: --price PER_KWH or --gpu-hour-price", text));
  if (!unit.empty() && !wish.prices.currency.empty() && unit != wish.prices.currency)
    return core::fail(wrong("--budget is in {}, the price in {}", unit, wish.prices.currency));
  if (wish.prices.currency.empty()) wish.prices.currency = unit;
  wish.limits.cost = *number;
  return {};
}

core::Result<void> read_deadline(const std::string& text, PlanWish& wish) {
  if (text.empty()) return {};
  const auto duration = core::parse_duration(text);
  if (!duration || duration->count() <= 0)
    return core::fail(wrong("--deadline is '{}', but must be a time such as 90m, 2h or 3d", text));
  wish.limits.deadline_s = static_cast<double>(duration->count()) * 1e-9;
  return {};
}

void split_at_commas(const std::vector<std::string>& typed, std::vector<std::string>& out) {
  for (const auto& text : typed)
    for (const auto piece : core::split(text, ','))
      if (const auto word = core::trim(piece); !word.empty()) out.emplace_back(word);
}

struct NumberOption {
  std::string_view name;
  const std::optional<double>& value;
};

core::Result<void> check_numbers(const PlanWish& wish) {
  const auto numbers = std::to_array<NumberOption>({{"--gpus-per-node", wish.gpus_per_node},
                                                    {"--gpus-per-replica", wish.gpus_per_replica},
                                                    {"--gradient-bytes", wish.gradient_bytes},
                                                    {"--node-watts", wish.node_w},
                                                    {"--samples", wish.samples},
                                                    {"--target-samples", wish.target_samples},
                                                    {"--max-batch", wish.limits.most_batch},
                                                    {"--min-batch", wish.limits.least_batch},
                                                    {"--max-local-batch", wish.limits.most_local_batch},
                                                    {"--max-nodes", wish.limits.most_nodes}});
  for (const auto& [name, value] : numbers)
    if (value && !(*value > 0)) return core::fail(wrong("{} wants more than 0, not {:g}", name, *value));
  if (wish.limits.most_risk && *wish.limits.most_risk < 0)
    return core::fail(wrong("--max-risk wants 0 or more doublings, not {:g}", *wish.limits.most_risk));
  return {};
}

core::Result<void> check_together(const PlanWish& wish) {
  if (!wish.profile.empty() && !wish.from.empty())
    return core::fail(wrong("--profile and --from are two profiles; give one of them"));
  if (!wish.emit.empty() && wish.emit != "slurm")
    return core::fail(wrong("--emit is '{}', but only slurm is known", wish.emit));
  if (!wish.emit.empty() && wish.command.empty())
    return core::fail(wrong("--emit slurm needs the command of the job: … --emit slurm -- python train.py"));
  if (wish.emit.empty() && !wish.command.empty()) return core::fail(wrong("a command after -- goes with --emit slurm"));
  if (!wish.emit.empty() && wish.json && wish.out.empty())
    return core::fail(wrong("--emit and --json both go to the screen; write the job file with -o FILE"));
  if (wish.limits.most_risk && !wish.good_batches && wish.preset.empty() && wish.trainings.empty())
    return core::fail(wrong("--max-risk needs the batches that reach the target: --good-batch LOW-HIGH"));
  return {};
}

void declare_sources(CLI::App& app, PlanWish& wish) {
  app.add_option("--from", wish.from, "runs of the job, at the sizes that were tried (default: last)")
      ->type_name("RUN");
  app.add_option("--profile", wish.profile, "a table of measured steps instead (docs/planning-models.md)")
      ->type_name("CSV");
  app.add_option("--preset", wish.preset,
                 "published figures of a well-known job; beside a profile they fill in what it lacks")
      ->type_name("NAME");
  app.add_option("--cluster", wish.cluster, "links, nodes and their watts (docs/cluster-file.md)")->type_name("FILE");
}
void declare_axes(CLI::App& app, PlanWish& wish, Typed& typed) {
  app.add_option("--gpus", typed.gpus, "numbers of GPUs to try: 1,2,4 or 4..64")->type_name("LIST");
  app.add_option("--batch", typed.batch, "local=SAMPLES a GPU, or global=SAMPLES of the job; lists, repeatable")
      ->type_name("RULE");
  app.add_option("--accumulation", typed.accumulation, "passes an optimiser step")->type_name("LIST");
  app.add_option("--data", typed.data, "samples of an epoch, or per-gpu=SAMPLES where data grow with the GPUs")
      ->type_name("LIST");
  app.add_option("--caps", typed.caps, "power limits of a GPU, W")->type_name("LIST");
  app.add_option("--hardware", typed.hardware, "other GPUs, by name (docs/hardware-table.md)")->type_name("LIST");
  app.add_option("--gpu", wish.gpu, "the GPU of the profile, where it does not say")->type_name("NAME");
  app.add_option("--strategy", typed.strategy,
                 "ways to exchange gradients: two-level, ring, tree, one-bit, local-sgd; needs --cluster")
      ->type_name("LIST");
  app.add_option("--gradient-bytes", wish.gradient_bytes, "gradients of a replica (4 a parameter)")->type_name("BYTES");
  app.add_option("--gpus-per-node", wish.gpus_per_node, "GPUs of a node")->type_name("N");
  app.add_option("--gpus-per-replica", wish.gpus_per_replica, "GPUs that one copy of the model spans")->type_name("N");
  app.add_option("--node-watts", wish.node_w, "what a node draws without its GPUs, where no run measured it")
      ->type_name("W");
}
void declare_limits(CLI::App& app, PlanWish& wish, Typed& typed) {
  app.add_option("--samples", wish.samples, "samples of one epoch")->type_name("N");
  app.add_option("--epochs-at", typed.epochs_at,
                 "epochs to the target by global batch, from whole trainings: 256=90,1024=94,8192=fail")
      ->type_name("LIST");
  app.add_option("--hours", typed.hours,
                 "GPUS=HOURS that whole runs of the preset's job took, where none are published")
      ->type_name("LIST");
  app.add_option("--target-samples", wish.target_samples, "samples of the whole job, instead of epochs and samples")
      ->type_name("N");
  app.add_option("--deadline", typed.deadline, "longest time: 90m, 2h, 3d")->type_name("TIME");
  app.add_option("--budget", typed.budget, "most energy or money: 5kWh, 20EUR")->type_name("AMOUNT");
  app.add_flag("--surely", wish.limits.surely, "keep deadline and budget by the far end of the 90 % interval");
  app.add_option("--max-batch", wish.limits.most_batch, "largest global batch")->type_name("N");
  app.add_option("--min-batch", wish.limits.least_batch, "smallest global batch")->type_name("N");
  app.add_option("--max-local-batch", wish.limits.most_local_batch, "largest batch that fits a GPU")->type_name("N");
  app.add_option("--good-batch", typed.good_batch, "global batches that reach the target")->type_name("LOW-HIGH");
  app.add_option("--max-risk", wish.limits.most_risk, "doublings that the global batch may lie outside those")
      ->type_name("X");
  app.add_option("--max-nodes", wish.limits.most_nodes, "nodes that there are")->type_name("N");
  app.add_flag("--whole-nodes", wish.limits.whole_nodes, "no node partly empty");
  app.add_option("--gpu-hour-price", wish.prices.per_gpu_hour, "what you pay for a GPU-hour")->type_name("NUMBER");
}
void declare_answer(CLI::App& app, PlanWish& wish, Typed& typed) {
  app.add_option("--format", typed.format, "text or json")->type_name("FORMAT");
  app.add_flag("--json", wish.json, "the same as --format json");
  app.add_option("--emit", wish.emit, "slurm: the batch script of the chosen plan, for the command after --")
      ->type_name("KIND");
  app.add_option("-o,--output", wish.out, "file for it (default: the screen)")->type_name("FILE");
  app.add_option("--name", wish.name, "name of the job")->type_name("NAME");
  app.add_option("--node-cores", wish.node_cores, "CPU cores of a node, for the job file")->type_name("N");
  app.add_option("--workers", wish.workers, "loader workers of a rank, for the job file")->type_name("N");
  app.add_flag("--torchrun", wish.torchrun, "the command starts the ranks of its node itself");
  app.add_option("--partition", wish.partition, "Slurm partition")->type_name("NAME");
  app.add_option("--account", wish.account, "Slurm account")->type_name("NAME");
  app.add_option("--constraint", wish.constraint, "Slurm constraint")->type_name("TEXT");
  app.add_option("--site-cap-flag", wish.site_cap_flag, "the site's option for a power cap, such as --gpu-power")
      ->type_name("FLAG");
  app.add_option("--learn", wish.learn, "put a finished run beside what was predicted; later plans of the job use it")
      ->type_name("RUN");
  app.footer(
      "gradwatt plan --preset resnet50-a100 --deadline 8h            a well-known job, from published figures\n"
      "gradwatt plan --from A B C --epochs 90 --samples 1281167      your job, from runs at several sizes\n"
      "gradwatt plan --from A B C … --emit slurm -o job.sh -- python train.py\n"
      "gradwatt plan --from A B C … --learn last                     what came out, against what was predicted");
}

core::Result<void> settle(const Typed& typed, const core::Settings& settings, PlanWish& wish) {
  using core::setting;
  wish.prices.per_kwh = settings.number(setting("price_per_kwh"));
  wish.prices.co2_g_per_kwh = settings.number(setting("co2_g_per_kwh"));
  wish.prices.pue = settings.number(setting("pue")).value_or(1);
  wish.prices.currency = settings.text(setting("currency")).value_or("");
  if (const auto epochs = settings.count(setting("epochs"))) wish.epochs = static_cast<double>(*epochs);
  if (wish.json && !typed.format.empty() && typed.format != "json")
    return core::fail(wrong("--json contradicts --format {}", typed.format));
  if (!typed.format.empty())
    if (auto known = expect_one_of("format", typed.format, std::to_array<std::string_view>({"text", "json"})); !known)
      return known;
  wish.json |= typed.format == "json";
  const auto list = [](std::string_view option, const std::vector<std::string>& from,
                       std::vector<double>& to) -> core::Result<void> {
    auto read = read_list(option, from);
    if (!read) return core::fail(read.error());
    to = std::move(*read);
    return {};
  };
  if (auto ok = list("--gpus", typed.gpus, wish.gpus); !ok) return ok;
  for (const double n : wish.gpus)
    if (n != std::floor(n)) return core::fail(wrong("--gpus has {:g}, which is no whole number", n));
  if (auto ok = list("--accumulation", typed.accumulation, wish.accumulation); !ok) return ok;
  if (auto ok = list("--caps", typed.caps, wish.caps_w); !ok) return ok;
  split_at_commas(typed.hardware, wish.hardware);
  split_at_commas(typed.strategy, wish.strategies);
  if (auto ok = read_batches(typed.batch, wish); !ok) return ok;
  if (auto ok = read_data(typed.data, wish); !ok) return ok;
  if (auto ok = read_hours(typed.hours, wish); !ok) return ok;
  if (auto ok = read_trainings(typed.epochs_at, wish); !ok) return ok;
  if (auto ok = read_good_batches(typed.good_batch, wish); !ok) return ok;
  if (auto ok = read_deadline(typed.deadline, wish); !ok) return ok;
  if (auto ok = read_budget(typed.budget, wish); !ok) return ok;
  if (auto ok = check_numbers(wish); !ok) return ok;
  return check_together(wish);
}

}  // namespace

core::Result<std::optional<ParsedPlan>> parse_plan(Context& context, Arguments arguments) {
  Options options(
      context, "plan",
      "Plans the cheapest way to run a job: GPUs, batch, power cap, hardware, within a deadline and a budget.");
  PlanWish wish;
  Typed typed;
  auto& app = options.app();
  declare_sources(app, wish);
  declare_axes(app, wish, typed);
  options.add_setting(core::setting("epochs"), "--epochs");
  declare_limits(app, wish, typed);
  options.add_setting(core::setting("price_per_kwh"), "--price-per-kwh,--price");
  options.add_setting(core::setting("currency"), "--currency");
  options.add_setting(core::setting("pue"), "--pue");
  options.add_setting(core::setting("co2_g_per_kwh"), "--co2-g-per-kwh,--co2");
  declare_answer(app, wish, typed);
  const auto dashes = std::ranges::find(arguments, std::string("--"));
  const auto own = arguments.first(static_cast<std::size_t>(dashes - arguments.begin()));
  if (dashes != arguments.end()) wish.command.assign(dashes + 1, arguments.end());
  const auto parsed = options.parse(own);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return std::nullopt;
  auto settings = options.settings();
  if (!settings) return core::fail(settings.error());
  if (auto settled = settle(typed, *settings, wish); !settled) return core::fail(settled.error());
  return ParsedPlan{std::move(wish), std::move(*settings)};
}

}  // namespace gradwatt::app
