// The models by name: defaults as rows, and what turns a checked spec into a model.
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <array>
#include <span>

#include "gradwatt/core/text.hpp"
#include "gradwatt/training/models/afno.hpp"
#include "gradwatt/training/models/build.hpp"
#include "gradwatt/training/models/initialization.hpp"
#include "gradwatt/training/models/model.hpp"
#include "gradwatt/training/models/resnet.hpp"

namespace gradwatt::training {
namespace {

using core::Errc;
using core::fail;
using core::Result;
using Built = std::shared_ptr<BuiltModel>;

/// No side of a sensible model is longer; keeps products of sizes inside 64 bits.
constexpr std::int64_t kLargestSize = 1 << 20;

struct Defaults {
  std::int64_t in_channels, out_channels, height, width;
  std::int64_t patch = 0, embed = 0, depth = 0, blocks = 0;
};

struct ModelRow {
  std::string_view name;
  Defaults defaults;
  Result<Built> (*build)(const ModelSpec& complete);
};

// Ten classes and 32×32 are CIFAR-10, 1000 and 224×224 ImageNet; 20 × 720 × 1440 is FourCastNet's cut of ERA5.
Result<Built> build_cifar_resnet(const ModelSpec& spec);
Result<Built> build_resnet(const ModelSpec& spec);
Result<Built> build_afno(const ModelSpec& spec);
constexpr std::array kModels{
    ModelRow{"resnet8", {3, 10, 32, 32}, build_cifar_resnet},
    ModelRow{"resnet20", {3, 10, 32, 32}, build_cifar_resnet},
    ModelRow{"resnet18", {3, 1000, 224, 224}, build_resnet},
    ModelRow{"resnet50", {3, 1000, 224, 224}, build_resnet},
    ModelRow{"fourcastnet", {20, 20, 720, 1440, 8, 768, 12, 8}, build_afno},
    ModelRow{"afno-tiny", {3, 3, 64, 128, 8, 64, 4, 4}, build_afno},
};

Result<const ModelRow*> find_model(std::string_view name) {
  for (const auto& row : kModels)
    if (row.name == name) return &row;
  const auto names = model_names();
  const auto near = core::nearest(name, names);
  return fail(Errc::wrong_use,
              near ? fmt::format("There is no model \"{}\"; did you mean \"{}\"?", name, *near)
                   : fmt::format("There is no model \"{}\"; the models are {}.", name, fmt::join(names, ", ")));
}

struct NamedSize {
  std::string_view name;
  std::int64_t& value;
  std::int64_t fallback;
};

/// The default where a size is 0. A model that has no such size ignores it.
Result<void> complete(std::string_view model, NamedSize size) {
  if (size.fallback == 0) return {};
  if (size.value < 0 || size.value > kLargestSize)
    return fail(Errc::wrong_use, fmt::format("Model {}: {} = {} is not a size from 1 to {}.", model, size.name,
                                             size.value, kLargestSize));
  if (size.value == 0) size.value = size.fallback;
  return {};
}

/// Sides of images with a small stem are CIFAR's unless given.
std::int64_t default_side(const ModelSpec& spec, std::int64_t side) {
  return spec.small_stem && side == 224 ? 32 : side;
}

Result<void> must_divide(const ModelSpec& spec, std::string_view part, std::int64_t divisor, std::string_view whole,
                         std::int64_t value) {
  if (value % divisor == 0) return {};
  return fail(Errc::wrong_use, fmt::format("Model {}: {} {} does not divide {} {}; choose sizes that divide.",
                                           spec.name, part, divisor, whole, value));
}

Result<void> check_afno(const ModelSpec& spec) {
  for (const auto& check : {must_divide(spec, "patch", spec.patch, "height", spec.height),
                            must_divide(spec, "patch", spec.patch, "width", spec.width),
                            must_divide(spec, "blocks", spec.blocks, "embed", spec.embed)})
    if (!check) return check;
  if (spec.residual && spec.in_channels != spec.out_channels)
    return fail(Errc::wrong_use, fmt::format("Model {}: residual needs as many channels of the output ({}) as of the "
                                             "input ({}).",
                                             spec.name, spec.out_channels, spec.in_channels));
  if (!(spec.kept_modes > 0 && spec.kept_modes <= 1))
    return fail(Errc::wrong_use, fmt::format("Model {}: kept_modes = {} is not a share above 0 and up to 1.", spec.name,
                                             spec.kept_modes));
  return {};
}

Result<Built> build_cifar_resnet(const ModelSpec& spec) {
  const std::int64_t blocks = spec.name == "resnet8" ? 1 : 3;  // depth = 6 · blocks + 2
  return std::make_shared<ResNet>(
      ResNetShape{.blocks = {blocks, blocks, blocks},
                  .first_width = 16,
                  .small_stem = true,
                  .shortcut = spec.projection_shortcut ? ShortcutKind::projection : ShortcutKind::zero_padding,
                  .zero_init_residual = spec.zero_init_residual,
                  .in_channels = spec.in_channels,
                  .classes = spec.out_channels});
}

Result<Built> build_resnet(const ModelSpec& spec) {
  const bool bottleneck = spec.name == "resnet50";
  using Blocks = std::vector<std::int64_t>;
  return std::make_shared<ResNet>(ResNetShape{.blocks = bottleneck ? Blocks{3, 4, 6, 3} : Blocks{2, 2, 2, 2},
                                              .bottleneck = bottleneck,
                                              .small_stem = spec.small_stem,
                                              .zero_init_residual = spec.zero_init_residual,
                                              .in_channels = spec.in_channels,
                                              .classes = spec.out_channels});
}

Result<Built> build_afno(const ModelSpec& spec) {
  if (auto checked = check_afno(spec); !checked) return fail(checked.error());
  const auto rows = spec.height / spec.patch, columns = spec.width / spec.patch;
  const auto modes = ModeSelection::make(rows, columns, spec.kept_modes, spec.corrected_modes);
  if (!modes)
    return fail(Errc::wrong_use, fmt::format("Model {}: kept_modes = {} keeps no mode of {}x{} tokens; raise it.",
                                             spec.name, spec.kept_modes, rows, columns));
  return std::make_shared<Afno>(AfnoShape{.in_channels = spec.in_channels,
                                          .out_channels = spec.out_channels,
                                          .height = spec.height,
                                          .width = spec.width,
                                          .patch = spec.patch,
                                          .embed = spec.embed,
                                          .depth = spec.depth,
                                          .blocks = spec.blocks,
                                          .modes = *modes,
                                          .residual = spec.residual});
}

}  // namespace

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const auto& row : kModels) names.push_back(row.name);
  return names;
}

Result<ModelSpec> complete_spec(ModelSpec spec) {
  const auto row = find_model(spec.name);
  if (!row) return fail(row.error());
  const auto& d = (*row)->defaults;
  // A field model gives back the channels that it gets.
  const auto out_default = d.patch > 0 && spec.in_channels > 0 ? spec.in_channels : d.out_channels;
  for (const auto& size : {NamedSize{"in_channels", spec.in_channels, d.in_channels},
                           NamedSize{"out_channels", spec.out_channels, out_default},
                           NamedSize{"height", spec.height, default_side(spec, d.height)},
                           NamedSize{"width", spec.width, default_side(spec, d.width)},
                           NamedSize{"patch", spec.patch, d.patch}, NamedSize{"embed", spec.embed, d.embed},
                           NamedSize{"depth", spec.depth, d.depth}, NamedSize{"blocks", spec.blocks, d.blocks}})
    if (auto done = complete(spec.name, size); !done) return fail(done.error());
  return spec;
}

Result<Built> build_model(const ModelSpec& spec) {
  const auto complete = complete_spec(spec);
  if (!complete) return fail(complete.error());
  const auto row = find_model(complete->name);
  try {
    return (*row)->build(*complete);
  } catch (const std::exception& e) {  // c10::Error and bad_alloc: the sizes are too large for the memory
    return fail(Errc::wrong_use, fmt::format("Model {}: cannot be built with these sizes: {}", spec.name,
                                             core::trim(core::split(e.what(), '\n').front())));
  }
}

Result<std::shared_ptr<Model>> make_model(const ModelSpec& spec, std::uint64_t seed) {
  auto model = build_model(spec);
  if (!model) return fail(model.error());
  auto random = make_generator(seed);
  (*model)->initialize(random);
  return *model;
}

}  // namespace gradwatt::training
