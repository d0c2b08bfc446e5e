#include "gradwatt/training/loop/recipe.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::training {
namespace {

/// Takes the value as text; what is wrong with it, or nothing.
using Set = std::function<std::optional<std::string>(Recipe&, std::string_view)>;

struct Row {
  std::string_view key, help;
  Set set;
};

/// Larger than any count of a training, and small enough that a product of two is still a number.
constexpr std::int64_t kLargestCount = std::int64_t{1} << 31;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

template <class Integer>
constexpr std::int64_t kHolds = std::min<std::uint64_t>(std::numeric_limits<Integer>::max(), kLargest);
template <class Integer>
constexpr std::int64_t kHolds<std::optional<Integer>> = kHolds<Integer>;

/// For members of the parts: `at` finds the place.
template <class At>
Set number_at(At at, double low, double high) {
  return [=](Recipe& recipe, std::string_view text) -> std::optional<std::string> {
    const auto value = core::parse_number(text);
    if (!value || *value < low || *value > high) return fmt::format("a number from {} to {}", low, high);
    at(recipe) = *value;
    return std::nullopt;
  };
}

template <class Integer>
void assign(Integer& place, std::int64_t value) {
  place = static_cast<Integer>(value);
}
template <class Integer>
void assign(std::optional<Integer>& place, std::int64_t value) {
  place = static_cast<Integer>(value);
}

template <class At>
Set count_at(At at, std::int64_t low, std::int64_t high = kLargestCount) {
  using Place = std::remove_cvref_t<decltype(at(std::declval<Recipe&>()))>;
  high = std::min(high, kHolds<Place>);
  return [=](Recipe& recipe, std::string_view text) -> std::optional<std::string> {
    const auto value = core::parse_int(text);
    if (!value || *value < low || *value > high)
      return fmt::format("a whole number of at least {} and at most {}", low, high);
    assign(at(recipe), *value);
    return std::nullopt;
  };
}

template <class Integer>
Set count(Integer Recipe::*member, std::int64_t low = 0, std::int64_t high = kLargestCount) {
  return count_at(
      [=](Recipe & recipe) -> auto& { return recipe.*member; }, low, high);
}

template <class At>
Set flag_at(At at) {
  return [=](Recipe& recipe, std::string_view text) -> std::optional<std::string> {
    if (text != "true" && text != "false") return "true or false";
    at(recipe) = text == "true";
    return std::nullopt;
  };
}

template <class At>
Set text_at(At at) {
  return [=](Recipe& recipe, std::string_view text) -> std::optional<std::string> {
    at(recipe) = std::string(text);
    return std::nullopt;
  };
}

template <class At, class Choice, std::size_t N>
Set choice_at(At at, const std::array<std::pair<std::string_view, Choice>, N>& choices) {
  return [=](Recipe& recipe, std::string_view text) -> std::optional<std::string> {
    for (const auto& [word, value] : choices)
      if (word == text) {
        at(recipe) = value;
        return std::nullopt;
      }
    std::string words;
    for (const auto& [word, value] : choices) words += (words.empty() ? "" : ", ") + std::string(word);
    return "one of " + words;
  };
}

constexpr std::array<std::pair<std::string_view, Precision>, 4> kPrecisions{
    {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}, {"fp16", Precision::fp16}, {"fp64", Precision::fp64}}};
constexpr std::array<std::pair<std::string_view, Wire>, 3> kWires{
    {{"fp32", Wire::fp32}, {"bf16", Wire::bf16}, {"fp16", Wire::fp16}}};
constexpr std::array<std::pair<std::string_view, StrategyName>, 6> kStrategies{
    {{"all-reduce", StrategyName::all_reduce},
     {"two-level", StrategyName::two_level},
     {"one-bit", StrategyName::one_bit},
     {"local-sgd", StrategyName::local_sgd},
     {"stale-synchronous", StrategyName::stale_synchronous},
     {"daso", StrategyName::daso}}};
constexpr std::array<std::pair<std::string_view, BadExample>, 2> kBadExamples{
    {{"stop", BadExample::stop}, {"substitute", BadExample::substitute}}};

#define GRADWATT_AT(member) \
  [](Recipe & r) -> auto& { return r.member; }  // NOLINT: a lambda a row would hide the table

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {"name", "name of the recipe", text_at(GRADWATT_AT(name))},
      {"model.name", "resnet8, resnet20, resnet18, resnet50, fourcastnet, afno-tiny", text_at(GRADWATT_AT(model.name))},
      {"model.weights", "safetensors file to begin with", text_at(GRADWATT_AT(weights))},
      {"model.in_channels", "channels of the input; 0: the data's", count_at(GRADWATT_AT(model.in_channels), 0)},
      {"model.out_channels", "classes or channels of the output; 0: the data's",
       count_at(GRADWATT_AT(model.out_channels), 0)},
      {"model.small_stem", "3x3 stem for 32x32 images (resnet18, resnet50)", flag_at(GRADWATT_AT(model.small_stem))},
      {"model.zero_init_residual", "last batch norm of each block begins at 0",
       flag_at(GRADWATT_AT(model.zero_init_residual))},
      {"model.projection_shortcut", "1x1 convolution instead of zero padding (resnet8, resnet20)",
       flag_at(GRADWATT_AT(model.projection_shortcut))},
      {"model.patch", "side of a patch (fourcastnet, afno-tiny)", count_at(GRADWATT_AT(model.patch), 1)},
      {"model.embed", "width (fourcastnet, afno-tiny)", count_at(GRADWATT_AT(model.embed), 1)},
      {"model.depth", "layers (fourcastnet, afno-tiny)", count_at(GRADWATT_AT(model.depth), 1)},
      {"model.blocks", "blocks of the filter's weights (fourcastnet, afno-tiny)",
       count_at(GRADWATT_AT(model.blocks), 1)},
      {"model.kept_modes", "share of the frequencies that pass the filter",
       number_at(GRADWATT_AT(model.kept_modes), 0, 1)},
      {"model.corrected_modes", "keep the low frequencies of both axes", flag_at(GRADWATT_AT(model.corrected_modes))},
      {"model.residual", "forecast a change of the input; begins as persistence (fourcastnet, afno-tiny)",
       flag_at(GRADWATT_AT(model.residual))},
      {"data.kind",
       "images, cifar10, fashion-mnist, idx, winds, era5, shallow-water, synthetic, synthetic-fields, free",
       text_at(GRADWATT_AT(data.kind))},
      {"data.path", "folder or file; empty: where the Debian package of the kind puts it",
       text_at(GRADWATT_AT(data.path))},
      {"data.augment", "random crops and mirroring in training", flag_at(GRADWATT_AT(data.augment))},
      {"data.seed", "of made data", count_at(GRADWATT_AT(data.seed), 0, kLargest)},
      {"data.image_size", "height and width that the network gets (images, idx, synthetic)",
       count_at(GRADWATT_AT(data.image_size), 1)},
      {"data.resize", "images: shorter side before the centre is cut out", count_at(GRADWATT_AT(data.resize), 1)},
      {"data.shift_pixels", "idx, cifar10: random shift in training", count_at(GRADWATT_AT(data.shift_pixels), 0)},
      {"data.erase_probability", "idx, cifar10: random erasing in training",
       number_at(GRADWATT_AT(data.erase_probability), 0, 1)},
      {"data.examples", "of made data", count_at(GRADWATT_AT(data.examples), 1)},
      {"data.channels", "of made data", count_at(GRADWATT_AT(data.channels), 1)},
      {"data.classes", "of made images", count_at(GRADWATT_AT(data.classes), 1)},
      {"data.rows", "of made fields", count_at(GRADWATT_AT(data.rows), 2)},
      {"data.columns", "of made fields", count_at(GRADWATT_AT(data.columns), 2)},
      {"data.flows", "shallow-water: independent flows", count_at(GRADWATT_AT(data.flows), 1)},
      {"data.snapshots", "shallow-water: of each flow", count_at(GRADWATT_AT(data.snapshots), 2)},
      {"data.field_channels", "era5: numbers of the channels, separated by commas; empty: all",
       [](Recipe& recipe, std::string_view text) -> std::optional<std::string> {
         recipe.data.field_channels.clear();
         for (const auto piece : core::split(text, ',')) {
           const auto number = core::parse_int(piece);
           if (!number || *number < 0) return "channel numbers separated by commas, such as 0,1,4";
           recipe.data.field_channels.push_back(static_cast<std::size_t>(*number));
         }
         return std::nullopt;
       }},
      {"data.held_out_years", "winds: last years, kept for evaluation", count_at(GRADWATT_AT(data.held_out_years), 1)},
      {"data.departures", "winds: inputs and forecasts are departures from the year's course",
       flag_at(GRADWATT_AT(data.departures))},
      {"loader.workers", "threads of a rank that read data; 0: none, the step waits",
       count_at(GRADWATT_AT(loader.workers), 0)},
      {"loader.prefetch", "batches ahead for each worker", count_at(GRADWATT_AT(loader.prefetch), 1)},
      {"loader.pin_memory", "page-locked batches, for GPUs", flag_at(GRADWATT_AT(loader.pin_memory))},
      {"loader.persistent_workers", "workers live as long as the run", flag_at(GRADWATT_AT(loader.persistent_workers))},
      {"loader.bad_example", "what to do when an example cannot be read: stop or substitute",
       choice_at(GRADWATT_AT(loader.bad_example), kBadExamples)},
      {"batch.local", "examples a rank and update", count(&Recipe::local_batch, 1)},
      {"batch.global", "examples of all ranks an update", count(&Recipe::global_batch, 1)},
      {"batch.accumulate", "micro-steps an update", count(&Recipe::accumulate, 1)},
      {"batch.samples_per_rank", "the data set grows: each rank adds so many examples",
       count(&Recipe::samples_per_rank, 0)},
      {"optimizer.name", "sgd, adamw, lars, lamb", text_at(GRADWATT_AT(optimizer.name))},
      {"optimizer.momentum", "of sgd and lars", number_at(GRADWATT_AT(optimizer.momentum), 0, 1)},
      {"optimizer.nesterov", "of sgd", flag_at(GRADWATT_AT(optimizer.nesterov))},
      {"optimizer.weight_decay", "", number_at(GRADWATT_AT(optimizer.weight_decay), 0, 1e9)},
      {"optimizer.beta1", "of adamw and lamb", number_at(GRADWATT_AT(optimizer.beta1), 0, 1)},
      {"optimizer.beta2", "of adamw and lamb", number_at(GRADWATT_AT(optimizer.beta2), 0, 1)},
      {"optimizer.trust", "of lars", number_at(GRADWATT_AT(optimizer.trust), 0, 1e9)},
      {"optimizer.spare_vectors", "no decay for biases and batch norms", flag_at(GRADWATT_AT(optimizer.spare_vectors))},
      {"schedule.name", "constant, plateau, cosine, multistep", text_at(GRADWATT_AT(schedule.name))},
      {"schedule.rate", "learning rate at the reference batch", number_at(GRADWATT_AT(schedule.rate), 0, 1e9)},
      {"schedule.reference_batch", "the rate grows with global batch / this; 0: it does not",
       count_at(GRADWATT_AT(schedule.reference_batch), 0)},
      {"schedule.warmup_epochs", "", number_at(GRADWATT_AT(schedule.warmup_epochs), 0, 1e9)},
      {"schedule.warmup_by_epoch", "warm up once an epoch instead of every step",
       flag_at(GRADWATT_AT(schedule.warmup_by_epoch))},
      {"schedule.factor", "of plateau and multistep", number_at(GRADWATT_AT(schedule.factor), 0, 1)},
      {"schedule.patience", "of plateau, epochs", count_at(GRADWATT_AT(schedule.patience), 0)},
      {"schedule.cooldown", "of plateau, epochs", count_at(GRADWATT_AT(schedule.cooldown), 0)},
      {"schedule.min_rate", "", number_at(GRADWATT_AT(schedule.min_rate), 0, 1e9)},
      {"schedule.milestones", "of multistep: epochs, separated by commas",
       [](Recipe& recipe, std::string_view text) -> std::optional<std::string> {
         recipe.schedule.milestones.clear();
         for (const auto piece : core::split(text, ',')) {
           const auto epoch = core::parse_number(piece);
           if (!epoch || *epoch < 0) return "epochs separated by commas, such as 30,60,80";
           recipe.schedule.milestones.push_back(*epoch);
         }
         return std::nullopt;
       }},
      {"sync.strategy",
       "how ranks exchange what they learn (docs/training.md): all-reduce, two-level, one-bit, local-sgd, "
       "stale-synchronous",
       choice_at(GRADWATT_AT(strategy.name), kStrategies)},
      {"sync.ranks_per_host", "so many ranks count as one host; 0: as the hosts' names say",
       count_at(GRADWATT_AT(strategy.ranks_per_host), 0)},
      {"sync.plain_updates", "of one-bit and local-sgd: so many updates at the start are averaged plainly",
       count_at(GRADWATT_AT(strategy.plain_updates), 0)},
      {"sync.period", "of local-sgd: updates from one average of parameters to the next",
       count_at(GRADWATT_AT(strategy.period), 1)},
      {"sync.staleness", "of stale-synchronous: updates that a rank may be ahead of what it has seen",
       count_at(GRADWATT_AT(strategy.staleness), 0)},
      {"sync.warmup_epochs", "of daso: epochs at the start that exchange every batch",
       count_at(GRADWATT_AT(strategy.warmup_epochs), 0)},
      {"sync.cooldown_epochs", "of daso: the same at the end", count_at(GRADWATT_AT(strategy.cooldown_epochs), 0)},
      {"sync.most_skips", "of daso: most batches from one exchange between hosts to the next",
       count_at(GRADWATT_AT(strategy.most_skips), 1, 1024)},
      {"sync.overlap", "average gradients during the backward pass", flag_at(GRADWATT_AT(sync.overlap))},
      {"sync.bucket_bytes", "gradients averaged in one piece", count_at(GRADWATT_AT(sync.bucket_bytes), 1, kLargest)},
      {"sync.first_bucket_bytes", "the same for the first piece",
       count_at(GRADWATT_AT(sync.first_bucket_bytes), 1, kLargest)},
      {"sync.wire", "type in which gradients travel: fp32, bf16, fp16",
       choice_at(GRADWATT_AT(sync.averager.wire), kWires)},
      {"sync.shared_memory", "between ranks of one host; false: MPI",
       flag_at(GRADWATT_AT(sync.averager.shared_memory))},
      {"run.epochs", "", count(&Recipe::epochs, 1)},
      {"run.steps", "end after so many updates; 0: do not", count(&Recipe::steps, 0)},
      {"run.evaluate_every_epochs", "0: never", count(&Recipe::evaluate_every_epochs, 0)},
      {"run.seed", "", count(&Recipe::seed, 0, kLargest)},
      {"run.threads", "of a rank's operations; 0: cores / ranks of the host", count(&Recipe::threads, 0)},
      {"run.verify_ranks", "compare the ranks' parameters after every step", flag_at(GRADWATT_AT(verify_ranks))},
      {"run.precision", "fp32, bf16, fp16, fp64", choice_at(GRADWATT_AT(precision), kPrecisions)},
      {"run.channels_last", "memory format of images", flag_at(GRADWATT_AT(channels_last))},
      {"run.sync_batch_norm", "statistics of the global batch", flag_at(GRADWATT_AT(sync_batch_norm))},
      {"run.clip", "largest gradient norm; 0: none", number_at(GRADWATT_AT(clip), 0, 1e18)},
      {"run.label_smoothing", "", number_at(GRADWATT_AT(label_smoothing), 0, 0.999)},
      {"run.roll_out", "forecast steps in the loss", count_at(GRADWATT_AT(data.steps), 1)},
      {"checkpoint.file", "where the state is kept; empty: nowhere", text_at(GRADWATT_AT(checkpoint))},
      {"checkpoint.every_epochs", "", count(&Recipe::checkpoint_every_epochs, 1)},
      {"checkpoint.every_steps", "also every so many updates; 0: no", count(&Recipe::checkpoint_every_steps, 0)},
      {"checkpoint.stop_on_error", "end the run when the state cannot be kept",
       flag_at(GRADWATT_AT(stop_on_checkpoint_error))},
  };
  return table;
}
#undef GRADWATT_AT

/// One value of the file or the command line.
struct Claim {
  std::string key, text, where;
};

core::Result<void> apply(const Claim& claim, Recipe& recipe) {
  std::vector<std::string_view> names;
  for (const auto& row : rows()) {
    names.push_back(row.key);
    if (row.key != claim.key) continue;
    const auto allowed = row.set(recipe, claim.text);
    if (!allowed) return {};
    return core::fail(core::Errc::wrong_use, fmt::format("{}: {} = '{}' makes no sense; it takes {}", claim.where,
                                                         claim.key, claim.text, *allowed));
  }
  const auto nearest = core::nearest(claim.key, names);
  return core::fail(core::Errc::wrong_use, fmt::format("{}: there is no setting '{}'{}", claim.where, claim.key,
                                                       nearest ? fmt::format("; did you mean '{}'?", *nearest)
                                                               : "; `gradwatt train --settings` lists all"));
}

std::string text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  std::string joined;
  if (const auto* array = node.as_array())
    for (const auto& element : *array) joined += (joined.empty() ? "" : ",") + text_of(element);
  return joined;
}

void collect(const toml::table& table, const std::string& prefix, std::string_view file, std::vector<Claim>& claims) {
  for (const auto& [key, node] : table) {
    const auto name = prefix + std::string(key.str());
    if (const auto* inner = node.as_table())
      collect(*inner, name + '.', file, claims);
    else
      claims.push_back({name, text_of(node), fmt::format("{}:{}", file, node.source().begin.line)});
  }
}

core::Result<void> check(const Recipe& recipe, std::string_view where) {
  const auto wrong = [&](const char* what) {
    return core::fail(core::Errc::wrong_use, fmt::format("{}: {}", where, what));
  };
  if (recipe.model.name.empty()) return wrong("model.name is missing");
  if ((recipe.local_batch > 0) == (recipe.global_batch > 0))
    return wrong("give one of batch.local (examples a rank) and batch.global (of all ranks)");
  const Surroundings around{.narrow_wire = recipe.sync.averager.wire != Wire::fp32,
                            .fp16 = recipe.precision == Precision::fp16,
                            .clip = recipe.clip > 0,
                            .sync_batch_norm = recipe.sync_batch_norm};
  if (const auto what = conflict(recipe.strategy, around)) return wrong(what->c_str());
  return {};
}

}  // namespace

std::vector<RecipeKey> recipe_keys() {
  std::vector<RecipeKey> keys;
  for (const auto& row : rows()) keys.push_back({row.key, row.help});
  return keys;
}

core::Result<Recipe> parse_recipe(std::string_view text, std::string_view where,
                                  std::span<const std::string> settings) {
  std::vector<Claim> claims;
  try {
    collect(toml::parse(text, where), "", where, claims);
  } catch (const toml::parse_error& error) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{}:{}: {}", where, error.source().begin.line, error.description()));
  }
  for (const auto& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos)
      return core::fail(core::Errc::wrong_use, fmt::format("--set {}: write it as --set table.key=value", setting));
    const auto key = std::string(core::trim(setting.substr(0, equals)));
    // The one batch size replaces the other.
    if (key == "batch.local" || key == "batch.global")
      std::erase_if(claims, [](const Claim& c) { return c.key == "batch.local" || c.key == "batch.global"; });
    claims.push_back({key, std::string(core::trim(setting.substr(equals + 1))), "--set"});
  }
  Recipe recipe;
  for (const auto& claim : claims)
    if (auto done = apply(claim, recipe); !done) return core::fail(done.error());
  if (auto good = check(recipe, where); !good) return core::fail(good.error());
  return recipe;
}

core::Result<Recipe> load_recipe(const std::filesystem::path& file, std::span<const std::string> settings) {
  std::ifstream in(file);
  if (!in) return core::fail(core::file_error("open the recipe", file, errno));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto recipe = parse_recipe(text, file.string(), settings);
  if (recipe && recipe->name.empty()) recipe->name = file.stem().string();
  return recipe;
}

core::Result<std::int64_t> micro_batch(const Recipe& recipe, int ranks) {
  const auto pieces = recipe.accumulate * (recipe.global_batch > 0 ? ranks : 1);
  const auto whole = recipe.global_batch > 0 ? recipe.global_batch : recipe.local_batch;
  if (whole % pieces != 0)
    return core::fail(core::Errc::wrong_use,
                      fmt::format("a batch of {} cannot be divided evenly over {} ranks and {} micro-steps", whole,
                                  recipe.global_batch > 0 ? ranks : 1, recipe.accumulate));
  return whole / pieces;
}

}  // namespace gradwatt::training
