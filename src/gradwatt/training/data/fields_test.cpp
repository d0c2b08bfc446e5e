#include "gradwatt/training/data/fields.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "gradwatt/training/data/shallow_water_fields.hpp"
#include "gradwatt/training/data/winds.hpp"
#include "tests/doubles/made_tree.hpp"

namespace gradwatt::training {
namespace {

using testing::HasSubstr;

Example example(const Dataset& data, std::size_t index) {
  ExampleRandom random(0);
  return data.get(index, random).value();
}

TEST(Fields, MeasureEachChannelWithRowsCountedByTheirArea) {
  FieldGrid grid{{"a", "b"}, {60, 0}, 1, {}, {}};
  // Two times; channel a: 3 at 60°, 0 at the equator, which counts twice; channel b is constant.
  const std::vector<float> fields{3, 0, 7, 7, 3, 0, 7, 7};
  measure_channels(fields, grid);
  EXPECT_NEAR(grid.mean[0], 1.0, 1e-5);
  EXPECT_NEAR(grid.deviation[0], std::sqrt(2.0), 1e-5);
  EXPECT_EQ(grid.mean[1], 7);
  auto normal = fields;
  normalise(normal, grid);
  EXPECT_NEAR(normal[0], std::sqrt(2.0), 1e-5);
  EXPECT_EQ(normal[2], 0);
}

TEST(FieldSeries, PairsEachFieldWithTheNextOnes) {
  FieldSeries::Parts parts;
  parts.grid = {{"a"}, {0}, 2, {0}, {1}};
  parts.fields.resize(10);
  std::iota(parts.fields.begin(), parts.fields.end(), 0.0F);
  parts.starts = {0, 2};
  parts.steps = 2;
  parts.climatology = {-1, -2, -3, -4};
  parts.phase = {0, 1, 0, 1, 0};
  const FieldSeries series(parts);
  const auto second = example(series, 1);
  EXPECT_TRUE(at::equal(second.input, at::tensor({4.0F, 5.0F}).reshape({1, 1, 2})));
  EXPECT_TRUE(at::equal(second.target, at::tensor({6.0F, 7.0F, 8.0F, 9.0F}).reshape({2, 1, 1, 2})));
  std::vector<float> expected(2);
  series.climatology(1, 0, expected);  // of field 3
  EXPECT_EQ(expected, (std::vector<float>{-3, -4}));
}

TEST(ShallowWaterFields, AreNormalisedAndChangeFromStepToStep) {
  ShallowWaterData data{.flows = 2, .snapshots = 5};
  data.model.rows = 16;
  data.model.columns = 32;
  const auto train = make_shallow_water(data).value();
  EXPECT_EQ(train->size(), 8U);
  EXPECT_EQ(train->input_shape(), (std::vector<std::int64_t>{3, 16, 32}));
  EXPECT_NEAR(train->grid().mean[0], 1500, 30);
  const auto first = example(*train, 0);
  EXPECT_NEAR(first.input.std().item<float>(), 1.0, 0.3);
  EXPECT_TRUE(at::equal(first.target, example(*train, 1).input));
  EXPECT_FALSE(at::allclose(first.target, first.input, 0.01, 0.01));
  EXPECT_FALSE(at::equal(example(*train, 4).input, example(*train, 3).target));  // another flow begins
}

TEST(ShallowWaterFields, HoldOutOtherFlowsWithTheSameNormalisation) {
  ShallowWaterData data{.flows = 1, .snapshots = 3};
  data.model.rows = data.model.columns = 8;
  const auto train = make_shallow_water(data).value();
  data.held_out = true;
  const auto held = make_shallow_water(data).value();
  EXPECT_EQ(held->grid().mean, train->grid().mean);
  EXPECT_EQ(held->grid().deviation, train->grid().deviation);
  EXPECT_FALSE(at::equal(example(*held, 0).input, example(*train, 0).input));
  std::vector<float> a(held->grid().field_size()), b(a.size());
  train->climatology(0, 0, a);
  held->climatology(0, 0, b);
  EXPECT_EQ(a, b);
}

TEST(ShallowWaterFields, RefuseSizesThatMakeNoSense) {
  ShallowWaterData data{.snapshots = 1};
  EXPECT_THAT(make_shallow_water(data).error().message, HasSubstr("more snapshots than steps"));
  data.snapshots = 3;
  data.model.latitude_limit_deg = 90;
  EXPECT_THAT(make_shallow_water(data).error().message, HasSubstr("latitude limit"));
}

/// A file as the winds', with months × 3 rows × 2 columns; value(channel, month, row, column).
template <class Value>
void write_winds(const std::filesystem::path& path, std::size_t months, Value value, const char* second = "VWND") {
  int file = 0, axis = 0;
  int dims[3] = {};
  ASSERT_EQ(nc_create(path.c_str(), NC_CLOBBER, &file), NC_NOERR);
  nc_def_dim(file, "TIME", months, &dims[0]);
  nc_def_dim(file, "LAT", 3, &dims[1]);
  nc_def_dim(file, "LON", 2, &dims[2]);
  nc_def_var(file, "LAT", NC_DOUBLE, 1, &dims[1], &axis);
  int variables[2] = {};
  const char* const names[2] = {"UWND", second};
  const float missing = -99.9F;
  for (int c = 0; c < 2; ++c) {
    nc_def_var(file, names[c], NC_FLOAT, 3, dims, &variables[c]);
    nc_put_att_float(file, variables[c], "missing_value", NC_FLOAT, 1, &missing);
  }
  nc_enddef(file);
  const double latitudes[3] = {-60, 0, 60};
  nc_put_var_double(file, axis, latitudes);
  for (int c = 0; c < 2; ++c) {
    std::vector<float> values;
    for (std::size_t i = 0; i < months * 6; ++i)
      values.push_back(value(c, static_cast<int>(i / 6), static_cast<int>(i / 2 % 3), static_cast<int>(i % 2)));
    nc_put_var_float(file, variables[c], values.data());
  }
  nc_close(file);
}

TEST(Winds, TakeStatisticsAndClimatologyFromTheTrainingYearsOnly) {
  doubles::MadeTree tree;
  const auto path = tree.path("winds.cdf");
  // Two training years with the month's number as wind, then a year of storm.
  write_winds(path, 36, [](int c, int month, int, int) {
    return month < 24 ? static_cast<float>(c == 0 ? month % 12 : 1 + month / 12) : 500.0F;
  });
  const auto train = open_winds({.file = path, .held_out_years = 1, .even_rows = false}).value();
  const auto held = open_winds({.file = path, .held_out_years = 1, .held_out = true, .even_rows = false}).value();
  EXPECT_EQ(train->size(), 23U);
  EXPECT_EQ(held->size(), 11U);
  EXPECT_NEAR(train->grid().mean[0], 5.5, 1e-4);
  EXPECT_NEAR(train->grid().mean[1], 1.5, 1e-4);
  EXPECT_NEAR(train->grid().deviation[1], 0.5, 1e-4);
  std::vector<float> field(train->grid().field_size());
  held->climatology(0, 0, field);  // the target is the second month of the held-out year: a February
  EXPECT_NEAR(field[0] * train->grid().deviation[0] + 5.5, 1.0, 1e-4);
  EXPECT_NEAR(field[6], 0.0, 1e-4);  // the mean of 1 and 2
}

TEST(Winds, DeparturesAndWhatWasTakenAwayAreTheFieldsAgain) {
  doubles::MadeTree tree;
  const auto path = tree.path("winds.cdf");
  write_winds(path, 36, [](int c, int month, int row, int column) {
    return static_cast<float>(std::sin(month * 1.7 + row) + c * std::cos(month * 0.5) + column);
  });
  const WindsSettings whole{.file = path, .held_out_years = 1, .held_out = true, .even_rows = false};
  auto less = whole;
  less.departures = true;
  const auto fields = open_winds(whole).value(), departures = open_winds(less).value();
  EXPECT_TRUE(fields->removed(0, 0).empty());
  for (const std::size_t i : {0U, 5U, 10U}) {
    const auto as_is = example(*fields, i), departure = example(*departures, i);
    const auto size = departure.input.sizes().vec();
    const auto taken = [&](int step) {
      const auto field = departures->removed(i, step);
      return at::from_blob(const_cast<float*>(field.data()), size);
    };
    EXPECT_TRUE(at::allclose(departure.input + taken(0), as_is.input, 1e-5, 1e-5));
    EXPECT_TRUE(at::allclose(departure.target + taken(1), as_is.target, 1e-5, 1e-5));
    std::vector<float> a(fields->grid().field_size()), b(a.size());
    fields->climatology(i, 0, a);
    departures->climatology(i, 0, b);
    EXPECT_EQ(a, b) << "the climatology is that of whole fields";
  }
}

TEST(Winds, TheYearsCourseHasTwoWavesAndNoMonthOfItsOwn) {
  doubles::MadeTree tree;
  const auto path = tree.path("winds.cdf");
  constexpr double kMonth = 2 * std::numbers::pi / 12;
  // u: only what the course holds. v: only a wave that is too fast for it.
  write_winds(path, 24, [](int c, int month, int, int) {
    const double slow = 3 + 2 * std::cos(kMonth * month + 0.4) + std::sin(2 * kMonth * month);
    return static_cast<float>(c == 0 ? slow : 5 + std::cos(4 * kMonth * month));
  });
  const auto data = open_winds({.file = path, .held_out_years = 0, .even_rows = false, .departures = true}).value();
  for (std::size_t i = 0; i < data->size(); ++i) {
    const auto input = example(*data, i).input;
    EXPECT_LT(input[0].abs().max().item<double>(), 1e-5);
    const double fast = std::cos(4 * kMonth * static_cast<double>(i)) / data->grid().deviation[1];
    EXPECT_NEAR(input[1][0][0].item<double>(), fast, 1e-5);
  }
}

TEST(Winds, ReplaceMissingValuesByTheMean) {
  doubles::MadeTree tree;
  const auto path = tree.path("winds.cdf");
  write_winds(path, 24, [](int, int month, int row, int) {
    return month == 3 && row == 1 ? -99.9F : static_cast<float>(month % 2);
  });
  const auto data = open_winds({.file = path, .held_out_years = 0, .even_rows = false}).value();
  const auto input = example(*data, 3).input;
  EXPECT_TRUE(at::isfinite(input).all().item<bool>());
  EXPECT_NEAR(input[0][1][0].item<float>(), 0.0, 0.1);
  EXPECT_NEAR(input[0][0][0].item<float>(), 1.0, 0.1);
}

TEST(Winds, LeaveThePoleOutSoThatPatchesFit) {
  doubles::MadeTree tree;
  const auto path = tree.path("winds.cdf");
  write_winds(path, 24,
              [](int c, int, int row, int column) { return static_cast<float>(100 * c + 10 * row + column); });
  const auto data = open_winds({.file = path, .held_out_years = 0}).value();
  EXPECT_EQ(data->input_shape(), (std::vector<std::int64_t>{2, 2, 2}));
  EXPECT_EQ(data->grid().latitudes_deg, (std::vector<double>{-60, 0}));
  const auto input = example(*data, 0).input;
  const auto back = input[1] * data->grid().deviation[1] + data->grid().mean[1];
  EXPECT_NEAR(back[1][1].item<float>(), 111, 1e-3);
}

TEST(Winds, SayWhatTheFileLacks) {
  doubles::MadeTree tree;
  const auto path = tree.path("winds.cdf");
  const auto message = [&](int years = 0) {
    return open_winds({.file = path, .held_out_years = years}).error().message;
  };
  EXPECT_THAT(message(), HasSubstr("ferret-datasets"));
  tree.bytes("winds.cdf", "no netCDF at all");
  EXPECT_THAT(message(), HasSubstr("cannot open it as netCDF"));
  write_winds(
      path, 24, [](int, int, int, int) { return 0.0F; }, "V");
  EXPECT_THAT(message(), HasSubstr("no variable VWND"));
  write_winds(path, 24, [](int, int, int, int) { return 0.0F; });
  EXPECT_THAT(message(2), HasSubstr("too few"));
}

TEST(Winds, OfTheDebianPackageAreElevenYearsOfTheGlobe) {
  if (!std::filesystem::exists(kNavyWinds)) GTEST_SKIP() << "the Debian package ferret-datasets is not installed";
  const auto train = open_winds({}).value(), held = open_winds({.held_out = true}).value();
  EXPECT_EQ(train->size(), 107U);
  EXPECT_EQ(held->size(), 23U);
  EXPECT_EQ(train->input_shape(), (std::vector<std::int64_t>{2, 72, 144}));
  EXPECT_GT(train->grid().deviation[0], 1.0F);
  EXPECT_LT(train->grid().deviation[0], 15.0F);
  // The climatology of a held-out month is nearer to it than the mean is.
  std::vector<float> field(held->grid().field_size());
  double of_climatology = 0, of_mean = 0;
  for (std::size_t i = 0; i < held->size(); ++i) {
    const auto target = example(*held, i).target;
    held->climatology(i, 0, field);
    const auto normal = at::from_blob(field.data(), target.sizes().vec());
    of_climatology += (target - normal).square().mean().item<double>();
    of_mean += target.square().mean().item<double>();
  }
  EXPECT_LT(of_climatology, 0.5 * of_mean);
}

}  // namespace
}  // namespace gradwatt::training
