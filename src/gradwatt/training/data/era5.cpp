#include "gradwatt/training/data/era5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>

#include "gradwatt/training/data/hdf5_file.hpp"
#include "gradwatt/training/data/npy.hpp"

namespace gradwatt::training {
namespace {

namespace fs = std::filesystem;

class Era5 : public FieldDataset {
 public:
  struct Year {
    std::shared_ptr<Hdf5Fields> file;
    std::size_t first_example, examples;
  };
  /// Channels of the files that follow one another are read at once.
  struct Run {
    std::size_t first, count;
  };

  Era5(FieldGrid grid, int steps) : grid_(std::move(grid)), steps_(steps) {}

  std::size_t size() const override { return size_; }
  const FieldGrid& grid() const override { return grid_; }
  int steps() const override { return steps_; }
  core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override;
  void climatology(std::size_t, int, std::span<float> field) const override {
    std::copy(climatology_.begin(), climatology_.end(), field.begin());
  }

  void add_year(std::shared_ptr<Hdf5Fields> file) {
    const auto times = file->shape()[0], needed = static_cast<std::size_t>(steps_);
    const auto examples = times > needed ? times - needed : 0;
    years_.push_back({std::move(file), size_, examples});
    size_ += examples;
  }
  void set_channels(const std::vector<std::size_t>& channels) {
    for (const auto c : channels) {
      if (!runs_.empty() && runs_.back().first + runs_.back().count == c) {
        ++runs_.back().count;
      } else {
        runs_.push_back({c, 1});
      }
    }
  }
  void set_climatology(std::vector<float> field) { climatology_ = std::move(field); }

 private:
  core::Result<void> read_field(const Hdf5Fields& file, std::size_t time, std::span<float> field) const;

  FieldGrid grid_;
  int steps_;
  std::vector<Year> years_;
  std::vector<Run> runs_;
  std::vector<float> climatology_;
  std::size_t size_ = 0;
};

core::Result<void> Era5::fill(std::size_t index, ExampleRandom&, ExampleSlot slot) const {
  const auto after = std::upper_bound(years_.begin(), years_.end(), index,
                                      [](std::size_t i, const Year& y) { return i < y.first_example; });
  const auto& year = *std::prev(after);
  const auto time = index - year.first_example;
  if (auto read = read_field(*year.file, time, slot.input); !read) return read;
  for (std::size_t step = 0; step < static_cast<std::size_t>(steps_); ++step) {
    const auto field = slot.field.subspan(step * grid_.field_size(), grid_.field_size());
    if (auto read = read_field(*year.file, time + 1 + step, field); !read) return read;
  }
  return {};
}

core::Result<void> Era5::read_field(const Hdf5Fields& file, std::size_t time, std::span<float> field) const {
  const auto rows = grid_.latitudes_deg.size(), plane = rows * static_cast<std::size_t>(grid_.columns);
  auto rest = field;
  for (const auto& run : runs_) {
    if (auto read = file.read(time, run.first, run.count, rows, rest.first(run.count * plane)); !read) return read;
    rest = rest.subspan(run.count * plane);
  }
  normalise(field, grid_);
  return {};
}

core::Result<std::vector<fs::path>> year_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".h5" || entry.path().extension() == ".hdf5") files.push_back(entry.path());
  }
  if (error)
    return core::fail(core::Errc::not_found, fmt::format("cannot list {}: {}", folder.string(), error.message()));
  if (files.empty())
    return core::fail(core::Errc::unusable_input, fmt::format("{} holds no .h5 file (one a year)", folder.string()));
  std::sort(files.begin(), files.end());
  return files;
}

/// One value a channel, of those that are used.
core::Result<std::vector<float>> channel_values(const fs::path& path, std::size_t channels,
                                                const std::vector<std::size_t>& used) {
  auto array = read_npy(path);
  if (!array) return core::fail(std::move(array.error()));
  if (array->values.size() != channels) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} holds {} values for {} channels: it belongs to other data", path.string(),
                                  array->values.size(), channels));
  }
  std::vector<float> values;
  for (const auto c : used) values.push_back(static_cast<float>(array->values[c]));
  return values;
}

core::Result<std::vector<float>> read_climatology(const Era5Settings& settings, const std::array<std::size_t, 4>& shape,
                                                  const std::vector<std::size_t>& used, const FieldGrid& grid) {
  std::vector<float> field(grid.field_size(), 0.0F);
  if (settings.climatology_file.empty()) return field;
  auto array = read_npy(settings.climatology_file);
  if (!array) return core::fail(std::move(array.error()));
  const auto plane = shape[2] * shape[3];
  if (array->values.size() != shape[1] * plane) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} holds no field of {} × {} × {}: it belongs to other data",
                                  settings.climatology_file.string(), shape[1], shape[2], shape[3]));
  }
  const auto kept = grid.latitudes_deg.size() * shape[3];
  auto target = field.begin();
  for (const auto c : used) {
    const auto begin = array->values.begin() + static_cast<std::ptrdiff_t>(c * plane);
    target = std::transform(begin, begin + static_cast<std::ptrdiff_t>(kept), target,
                            [](double v) { return static_cast<float>(v); });
  }
  normalise(field, grid);
  return field;
}

core::Result<std::vector<std::size_t>> used_channels(const Era5Settings& settings, std::size_t channels) {
  auto used = settings.channels;
  if (used.empty()) {
    used.resize(channels);
    std::iota(used.begin(), used.end(), std::size_t{0});
  }
  for (const auto c : used) {
    if (c >= channels)
      return core::fail(core::Errc::wrong_use, fmt::format("there is no channel {} in {}: its files hold {}", c,
                                                           settings.folder.string(), channels));
  }
  return used;
}

}  // namespace

core::Result<std::shared_ptr<FieldDataset>> open_era5(const Era5Settings& settings) {
  if (settings.steps < 1) return core::fail(core::Errc::wrong_use, "a target needs at least one step");
  const auto paths = year_files(settings.folder);
  if (!paths) return core::fail(paths.error());
  std::vector<std::shared_ptr<Hdf5Fields>> files;
  for (const auto& path : *paths) {
    auto file = Hdf5Fields::open(path, "fields");
    if (!file) return core::fail(std::move(file.error()));
    if (!files.empty() &&
        !std::equal((*file)->shape().begin() + 1, (*file)->shape().end(), files[0]->shape().begin() + 1)) {
      return core::fail(core::Errc::unusable_input,
                        fmt::format("{} and {} hold fields of different size", path.string(), (*paths)[0].string()));
    }
    files.push_back(std::move(*file));
  }
  const auto& shape = files[0]->shape();
  auto used = used_channels(settings, shape[1]);
  if (!used) return core::fail(std::move(used.error()));
  auto mean = channel_values(settings.means_file, shape[1], *used);
  if (!mean) return core::fail(std::move(mean.error()));
  auto deviation = channel_values(settings.deviations_file, shape[1], *used);
  if (!deviation) return core::fail(std::move(deviation.error()));

  FieldGrid grid{{}, {}, static_cast<std::int64_t>(shape[3]), std::move(*mean), std::move(*deviation)};
  for (const auto c : *used) grid.channels.push_back(fmt::format("channel {}", c));
  const auto rows = settings.even_rows ? shape[2] / 2 * 2 : shape[2];
  for (std::size_t j = 0; j < rows; ++j)
    grid.latitudes_deg.push_back(90.0 - 180.0 * static_cast<double>(j) / static_cast<double>(shape[2] - 1));
  auto climatology = read_climatology(settings, shape, *used, grid);
  if (!climatology) return core::fail(std::move(climatology.error()));

  auto data = std::make_shared<Era5>(std::move(grid), settings.steps);
  data->set_channels(*used);
  data->set_climatology(std::move(*climatology));
  for (auto& file : files) data->add_year(std::move(file));
  if (data->size() == 0)
    return core::fail(core::Errc::unusable_input, fmt::format("no year in {} is long enough for a target of {} steps",
                                                              settings.folder.string(), settings.steps));
  return data;
}

}  // namespace gradwatt::training
