#include "gradwatt/training/data/winds.hpp"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "gradwatt/training/data/science_lock.hpp"

namespace gradwatt::training {
namespace {

constexpr std::size_t kMonths = 12;
constexpr std::array<const char*, 2> kVariables{"UWND", "VWND"};

/// The file as it is, in units: months × (u, v) × rows × columns; missing values are NaN.
struct Winds {
  std::size_t months = 0, rows = 0, columns = 0;
  std::vector<double> latitudes_deg;
  std::vector<float> fields;
};

class NetcdfFile {
 public:
  explicit NetcdfFile(const std::filesystem::path& path)
      : path_(path), status_(nc_open(path.c_str(), NC_NOWRITE, &id_)) {}
  ~NetcdfFile() {
    if (status_ == NC_NOERR) nc_close(id_);
  }
  NetcdfFile(const NetcdfFile&) = delete;
  NetcdfFile& operator=(const NetcdfFile&) = delete;

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] tl::unexpected<core::Error> unusable(const std::string& what) const {
    return core::fail(core::Errc::unusable_input, fmt::format("{}: {}", path_.string(), what));
  }

 private:
  std::filesystem::path path_;
  int id_ = -1;
  int status_;
};

/// Length and id of the three dimensions of a variable, in the order time, latitude, longitude.
core::Result<std::array<std::pair<int, std::size_t>, 3>> dimensions_of(const NetcdfFile& file, int variable,
                                                                       const char* name) {
  int count = 0;
  std::array<int, NC_MAX_VAR_DIMS> ids{};
  nc_inq_varndims(file.id(), variable, &count);
  if (count != 3)
    return file.unusable(
        fmt::format("the variable {} has {} dimensions, not time × latitude × longitude", name, count));
  nc_inq_vardimid(file.id(), variable, ids.data());
  std::array<std::pair<int, std::size_t>, 3> result;
  for (std::size_t i = 0; i < 3; ++i) {
    result[i].first = ids[i];
    nc_inq_dimlen(file.id(), ids[i], &result[i].second);
  }
  return result;
}

core::Result<std::vector<float>> read_variable(const NetcdfFile& file, const char* name, Winds& winds) {
  int variable = -1;
  if (nc_inq_varid(file.id(), name, &variable) != NC_NOERR) {
    return file.unusable(fmt::format("there is no variable {}; the file must hold UWND and VWND", name));
  }
  const auto dimensions = dimensions_of(file, variable, name);
  if (!dimensions) return core::fail(dimensions.error());
  const auto [time, latitude, longitude] = *dimensions;
  if (winds.months == 0) {
    winds.months = time.second;
    winds.rows = latitude.second;
    winds.columns = longitude.second;
  }
  if (winds.months != time.second || winds.rows != latitude.second || winds.columns != longitude.second) {
    return file.unusable("UWND and VWND differ in size");
  }
  std::vector<float> values(winds.months * winds.rows * winds.columns);
  if (const int status = nc_get_var_float(file.id(), variable, values.data()); status != NC_NOERR) {
    return file.unusable(fmt::format("cannot read {}: {}", name, nc_strerror(status)));
  }
  for (const auto* attribute : {"missing_value", "_FillValue"}) {
    float missing = 0;
    if (nc_get_att_float(file.id(), variable, attribute, &missing) != NC_NOERR) continue;
    std::replace_if(
        values.begin(), values.end(), [&](float v) { return v == missing; }, NAN);
  }
  // The coordinate variable bears its dimension's name.
  std::array<char, NC_MAX_NAME + 1> axis{};
  int axis_variable = -1;
  nc_inq_dimname(file.id(), latitude.first, axis.data());
  winds.latitudes_deg.resize(winds.rows);
  if (nc_inq_varid(file.id(), axis.data(), &axis_variable) != NC_NOERR ||
      nc_get_var_double(file.id(), axis_variable, winds.latitudes_deg.data()) != NC_NOERR) {
    return file.unusable(fmt::format("the dimension {} has no coordinates", axis.data()));
  }
  return values;
}

core::Result<Winds> read_winds(const std::filesystem::path& path) {
  const auto lock = lock_science_libraries();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return core::fail(
        core::Errc::not_found,
        fmt::format("there is no file {}: install the Debian package ferret-datasets or name another file",
                    path.string()));
  }
  const NetcdfFile file(path);
  if (file.status() != NC_NOERR)
    return file.unusable(fmt::format("cannot open it as netCDF: {}", nc_strerror(file.status())));
  Winds winds;
  std::array<std::vector<float>, 2> parts;
  for (std::size_t c = 0; c < 2; ++c) {
    auto values = read_variable(file, kVariables[c], winds);
    if (!values) return core::fail(std::move(values.error()));
    parts[c] = std::move(*values);
  }
  const auto plane = static_cast<std::ptrdiff_t>(winds.rows * winds.columns);
  for (std::ptrdiff_t month = 0; month < static_cast<std::ptrdiff_t>(winds.months); ++month) {
    for (const auto& part : parts)
      winds.fields.insert(winds.fields.end(), part.begin() + month * plane, part.begin() + (month + 1) * plane);
  }
  return winds;
}

void drop_last_row(Winds& winds) {
  std::vector<float> kept;
  for (std::size_t plane = 0; plane < winds.months * 2; ++plane) {
    const auto begin = winds.fields.begin() + static_cast<std::ptrdiff_t>(plane * winds.rows * winds.columns);
    kept.insert(kept.end(), begin, begin + static_cast<std::ptrdiff_t>((winds.rows - 1) * winds.columns));
  }
  winds.fields = std::move(kept);
  winds.latitudes_deg.pop_back();
  --winds.rows;
}

/// Replaces what is missing by the mean of its channel over the training months.
void fill_missing(Winds& winds, std::size_t training_months) {
  const auto plane = winds.rows * winds.columns;
  for (std::size_t c = 0; c < 2; ++c) {
    double sum = 0, count = 0;
    const auto over = [&](std::size_t months, auto visit) {
      for (std::size_t month = 0; month < months; ++month) {
        for (auto& value : std::span(winds.fields).subspan((month * 2 + c) * plane, plane)) visit(value);
      }
    };
    over(training_months, [&](float value) {
      if (std::isnan(value)) return;
      sum += value;
      ++count;
    });
    const auto mean = static_cast<float>(count > 0 ? sum / count : 0.0);
    over(winds.months, [&](float& value) {
      if (std::isnan(value)) value = mean;
    });
  }
}

/// The mean field of each month of the year over the training months; months are counted from the first of the file.
std::vector<float> monthly_means(std::span<const float> fields, std::size_t size, std::size_t training_months) {
  std::vector<float> means(kMonths * size);
  for (std::size_t month = 0; month < kMonths; ++month) {
    const auto years = (training_months + kMonths - 1 - month) / kMonths;
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0;
      for (std::size_t at = month; at < training_months; at += kMonths) sum += fields[at * size + i];
      means[month * size + i] = static_cast<float>(sum / static_cast<double>(years));
    }
  }
  return means;
}

/// The mean of the twelve fields and their yearly and half-yearly waves, month by month.
std::vector<float> smooth_year(std::span<const float> monthly, std::size_t size) {
  constexpr int kWaves = 2;
  // Each month is a weighted sum of all: the projection on the waves, which are orthogonal over twelve months.
  std::array<double, kMonths> weight{};
  for (std::size_t lag = 0; lag < kMonths; ++lag) {
    weight[lag] = 1;
    for (int k = 1; k <= kWaves; ++k)
      weight[lag] += 2 * std::cos(2 * std::numbers::pi * k * static_cast<double>(lag) / kMonths);
    weight[lag] /= kMonths;
  }
  std::vector<float> smooth(monthly.size());
  for (std::size_t month = 0; month < kMonths; ++month) {
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0;
      for (std::size_t other = 0; other < kMonths; ++other)
        sum += weight[(month + kMonths - other) % kMonths] * monthly[other * size + i];
      smooth[month * size + i] = static_cast<float>(sum);
    }
  }
  return smooth;
}

void take_away_cycle(FieldSeries::Parts& parts, std::size_t size) {
  for (std::size_t field = 0; field < parts.phase.size(); ++field)
    for (std::size_t i = 0; i < size; ++i) parts.fields[field * size + i] -= parts.cycle[parts.phase[field] * size + i];
}

}  // namespace

core::Result<std::shared_ptr<FieldDataset>> open_winds(const WindsSettings& settings) {
  auto winds = read_winds(settings.file);
  if (!winds) return core::fail(std::move(winds.error()));
  const auto held_out = static_cast<std::size_t>(std::max(0, settings.held_out_years)) * kMonths;
  if (settings.steps < 1 || winds->months < held_out + kMonths + static_cast<std::size_t>(settings.steps)) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} holds {} months: too few to hold out {} years and train on one",
                                  settings.file.string(), winds->months, settings.held_out_years));
  }
  if (settings.even_rows && winds->rows % 2 == 1) drop_last_row(*winds);
  const auto training = winds->months - held_out;
  fill_missing(*winds, training);

  FieldSeries::Parts parts;
  parts.steps = settings.steps;
  parts.grid = {{"u (m/s)", "v (m/s)"}, winds->latitudes_deg, static_cast<std::int64_t>(winds->columns), {}, {}};
  const auto size = parts.grid.field_size();
  measure_channels(std::span<const float>(winds->fields).first(training * size), parts.grid);
  parts.fields = std::move(winds->fields);
  normalise(parts.fields, parts.grid);
  parts.climatology = monthly_means(parts.fields, size, training);
  for (std::size_t month = 0; month < winds->months; ++month) parts.phase.push_back(month % kMonths);
  if (settings.departures) {
    parts.cycle = smooth_year(parts.climatology, size);
    take_away_cycle(parts, size);
  }
  const auto begin = settings.held_out ? training : 0, end = settings.held_out ? winds->months : training;
  for (auto month = begin; month + static_cast<std::size_t>(settings.steps) < end; ++month)
    parts.starts.push_back(month);
  return std::make_shared<FieldSeries>(std::move(parts));
}

}  // namespace gradwatt::training
