#include "gradwatt/training/data/data_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/training/data/cifar.hpp"
#include "gradwatt/training/data/era5.hpp"
#include "gradwatt/training/data/idx.hpp"
#include "gradwatt/training/data/image_folder.hpp"
#include "gradwatt/training/data/memory_images.hpp"
#include "gradwatt/training/data/shallow_water_fields.hpp"
#include "gradwatt/training/data/synthetic.hpp"
#include "gradwatt/training/data/winds.hpp"

namespace gradwatt::training {
namespace {

namespace fs = std::filesystem;
using Made = core::Result<std::shared_ptr<Dataset>>;

constexpr const char* kFashionFolder = "/usr/share/datasets/fashion-mnist";
/// Of Fashion-MNIST's and CIFAR-10's training pixels.
const ChannelStatistics kFashion{{0.2860F}, {0.3530F}};
const ChannelStatistics kCifar{{0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}};
/// MNIST's kin without known statistics: grey levels spread over −1 … 1.
const ChannelStatistics kGrey{{0.5F}, {0.5F}};

/// Numbers of made examples that only evaluation sees begin here.
constexpr std::uint64_t kEvaluationNumbers = std::uint64_t{1} << 40U;

bool is_training(const DataSpec& spec) { return spec.split == Split::train; }
bool augmented(const DataSpec& spec) { return is_training(spec) && spec.augment; }
std::uint64_t first_number(const DataSpec& spec) { return is_training(spec) ? 0 : kEvaluationNumbers; }

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

template <class T>
Made as_dataset(core::Result<std::shared_ptr<T>> made) {
  if (!made) return core::fail(std::move(made.error()));
  return std::shared_ptr<Dataset>(std::move(*made));
}

AugmentSettings augmentation(const DataSpec& spec) {
  return {.canvas = spec.image_size, .shift_pixels = spec.shift_pixels, .erase_probability = spec.erase_probability};
}

/// The folder of the part below `root`, by the first of the usual names that is there.
template <std::size_t N>
fs::path part_folder(const fs::path& root, const std::array<const char*, N>& names) {
  for (const auto* name : names) {
    if (is_folder(root / name)) return root / name;
  }
  return {};
}

Made make_images(const DataSpec& spec) {
  const auto part = is_training(spec) ? part_folder<1>(spec.path, {"train"})
                                      : part_folder<3>(spec.path, {"val", "validation", "test"});
  ImageFolderSettings settings{.root = part.empty() ? spec.path : part, .augment = augmented(spec)};
  if (!is_training(spec) && part.empty() && is_folder(spec.path / "train")) {
    return core::fail(
        core::Errc::not_found,
        fmt::format("{} has a folder train, but none of val, validation and test to evaluate on", spec.path.string()));
  }
  settings.size = spec.image_size.value_or(settings.size);
  settings.resize = spec.resize;
  return as_dataset(ImageFolder::open(settings));
}

Made make_idx_from(const DataSpec& spec, const fs::path& folder, const ChannelStatistics& statistics) {
  auto images = read_idx_images(folder, is_training(spec) ? "train" : "t10k");
  if (!images) return core::fail(std::move(images.error()));
  std::int64_t classes = 0;
  for (const auto label : images->labels) classes = std::max<std::int64_t>(classes, label + 1);
  if (spec.image_size && (*spec.image_size < images->shape.height || *spec.image_size < images->shape.width)) {
    return core::fail(core::Errc::wrong_use,
                      fmt::format("images of {}×{} do not fit on a canvas of {}: use a larger image size",
                                  images->shape.height, images->shape.width, *spec.image_size));
  }
  return std::make_shared<MemoryImages>(std::move(*images), classes, augmentation(spec), statistics, augmented(spec));
}

Made make_idx(const DataSpec& spec) { return make_idx_from(spec, spec.path, kGrey); }

Made make_fashion(const DataSpec& spec) {
  const fs::path folder = spec.path.empty() ? fs::path(kFashionFolder) : spec.path;
  if (!is_folder(folder)) {
    return core::fail(
        core::Errc::not_found,
        fmt::format("there is no folder {}: install the Debian package dataset-fashion-mnist or name another folder",
                    folder.string()));
  }
  return make_idx_from(spec, folder, kFashion);
}

Made make_cifar(const DataSpec& spec) {
  auto images = read_cifar(spec.path, is_training(spec));
  if (!images) return core::fail(std::move(images.error()));
  return std::make_shared<MemoryImages>(std::move(*images), kCifarClasses, augmentation(spec), kCifar, augmented(spec));
}

Made make_winds(const DataSpec& spec) {
  WindsSettings settings{.held_out_years = spec.held_out_years,
                         .held_out = !is_training(spec),
                         .steps = spec.steps,
                         .departures = spec.departures};
  if (!spec.path.empty()) settings.file = spec.path;
  return as_dataset(open_winds(settings));
}

Made make_era5(const DataSpec& spec) {
  const auto stats = spec.path / "stats";
  Era5Settings settings{.folder = spec.path / (is_training(spec) ? "train" : "test"),
                        .means_file = stats / "global_means.npy",
                        .deviations_file = stats / "global_stds.npy",
                        .channels = spec.field_channels,
                        .steps = spec.steps};
  std::error_code ignored;
  if (fs::exists(stats / "time_means.npy", ignored)) settings.climatology_file = stats / "time_means.npy";
  return as_dataset(open_era5(settings));
}

Made make_water(const DataSpec& spec) {
  // A forecast is judged well enough on fewer flows than it is trained on, and each costs time to make.
  const int flows = is_training(spec) ? spec.flows : std::max(1, spec.flows / 4);
  ShallowWaterData data{.seed = spec.seed,
                        .flows = flows,
                        .snapshots = spec.snapshots,
                        .steps = spec.steps,
                        .held_out = !is_training(spec)};
  data.model.rows = spec.rows;
  data.model.columns = spec.columns;
  return as_dataset(make_shallow_water(data));
}

SyntheticShape image_shape(const DataSpec& spec) {
  const auto side = spec.image_size.value_or(32);
  return {spec.channels, side, side};
}

/// Sizes that several kinds divide by.
core::Result<void> check_counts(const DataSpec& spec) {
  if (spec.examples > 0 && spec.channels > 0 && spec.classes > 0 && spec.rows > 0 && spec.columns > 0 &&
      spec.steps > 0 && spec.image_size.value_or(1) > 0) {
    return {};
  }
  return core::fail(
      core::Errc::wrong_use,
      fmt::format("the data kind {} needs at least one example, channel, class, pixel and step", spec.kind));
}

Made make_synthetic(const DataSpec& spec) {
  return std::make_shared<SyntheticImages>(spec.examples, image_shape(spec), spec.classes, spec.seed, 0.5,
                                           first_number(spec));
}

Made make_free(const DataSpec& spec) {
  return std::make_shared<FreeImages>(spec.examples, image_shape(spec), spec.classes);
}

Made make_synthetic_fields(const DataSpec& spec) {
  return std::make_shared<SyntheticFields>(spec.examples, SyntheticShape{spec.channels, spec.rows, spec.columns},
                                           spec.steps, spec.seed, first_number(spec));
}

struct Kind {
  std::string_view name;
  Made (*make)(const DataSpec&);
  bool needs_path;
};
constexpr std::array kKinds{
    Kind{"images", make_images, true},
    Kind{"cifar10", make_cifar, true},
    Kind{"fashion-mnist", make_fashion, false},
    Kind{"idx", make_idx, true},
    Kind{"winds", make_winds, false},
    Kind{"era5", make_era5, true},
    Kind{"shallow-water", make_water, false},
    Kind{"synthetic", make_synthetic, false},
    Kind{"synthetic-fields", make_synthetic_fields, false},
    Kind{"free", make_free, false},
};

}  // namespace

std::vector<std::string_view> data_kinds() {
  std::vector<std::string_view> names;
  for (const auto& kind : kKinds) names.push_back(kind.name);
  return names;
}

core::Result<std::shared_ptr<Dataset>> make_dataset(const DataSpec& spec) {
  for (const auto& kind : kKinds) {
    if (kind.name != spec.kind) continue;
    if (kind.needs_path && spec.path.empty()) {
      return core::fail(core::Errc::wrong_use, fmt::format("the data kind {} needs a path", kind.name));
    }
    if (auto sound = check_counts(spec); !sound) return core::fail(std::move(sound.error()));
    return kind.make(spec);
  }
  const auto names = data_kinds();
  const auto near = core::nearest(spec.kind, names);
  return core::fail(core::Errc::wrong_use,
                    near ? fmt::format("there is no data kind '{}': did you mean {}?", spec.kind, *near)
                         : fmt::format("there is no data kind '{}': use one of {}", spec.kind, fmt::join(names, ", ")));
}

}  // namespace gradwatt::training
