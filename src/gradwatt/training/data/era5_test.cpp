#include "gradwatt/training/data/era5.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "gradwatt/training/data/npy.hpp"
#include "tests/doubles/made_tree.hpp"

namespace gradwatt::training {
namespace {

using testing::HasSubstr;

float value_of(int year, std::size_t time, std::size_t channel, std::size_t row, std::size_t column) {
  return static_cast<float>(1000 * year) + static_cast<float>(100 * time + 10 * channel + 2 * row) +
         0.25F * static_cast<float>(column);
}

void write_year(const std::filesystem::path& path, int year, std::vector<hsize_t> shape, const char* name = "fields") {
  std::vector<float> values;
  hsize_t count = 1;
  for (const auto n : shape) count *= n;
  for (hsize_t i = 0; i < count && shape.size() == 4; ++i) {
    values.push_back(value_of(year, i / (shape[1] * shape[2] * shape[3]), i / (shape[2] * shape[3]) % shape[1],
                              i / shape[3] % shape[2], i % shape[3]));
  }
  values.resize(count);
  const auto file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const auto space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const auto set = H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(file);
}

std::string npy(const std::string& type, const std::string& shape, const std::vector<float>& values,
                const char* fortran = "False") {
  auto header = "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  std::string file = "\x93NUMPY";
  file += {'\x01', '\0', static_cast<char>(header.size()), '\0'};
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return file;
}

/// Two years of 4 and 3 times, 3 channels, 5 rows, 4 columns.
class Era5Test : public testing::Test {
 protected:
  Era5Test() {
    tree_.folder("train").folder("stats");
    write_year(tree_.path("train/1980.h5"), 2, {3, 3, 5, 4});
    write_year(tree_.path("train/1979.h5"), 1, {4, 3, 5, 4});
    tree_.bytes("stats/global_means.npy", npy("<f4", "(1, 3, 1, 1)", {1000, 2000, 3000}));
    tree_.bytes("stats/global_stds.npy", npy("<f4", "(1, 3, 1, 1)", {1, 2, 4}));
    settings_ = {.folder = tree_.path("train"),
                 .means_file = tree_.path("stats/global_means.npy"),
                 .deviations_file = tree_.path("stats/global_stds.npy")};
  }
  std::shared_ptr<FieldDataset> open() { return open_era5(settings_).value(); }
  std::string error() { return open_era5(settings_).error().message; }
  static Example example(const Dataset& data, std::size_t index) {
    ExampleRandom random(0);
    return data.get(index, random).value();
  }

  doubles::MadeTree tree_;
  Era5Settings settings_;
};

TEST_F(Era5Test, ReadsPairsOfEveryYearInOrderAndNoneAcrossYears) {
  const auto data = open();
  EXPECT_EQ(data->size(), 5U);  // 3 of 1979 and 2 of 1980
  EXPECT_EQ(data->input_shape(), (std::vector<std::int64_t>{3, 4, 4}));
  for (const auto& [index, year, time] : {std::tuple{0U, 1, 0U}, std::tuple{2U, 1, 2U}, std::tuple{3U, 2, 0U}}) {
    const auto one = example(*data, index);
    EXPECT_NEAR(one.input[0][3][2].item<float>(), value_of(year, time, 0, 3, 2) - 1000, 1e-3);
    EXPECT_NEAR(one.input[2][0][1].item<float>(), (value_of(year, time, 2, 0, 1) - 3000) / 4, 1e-3);
    EXPECT_NEAR(one.target[1][1][3].item<float>(), (value_of(year, time + 1, 1, 1, 3) - 2000) / 2, 1e-3);
  }
}

TEST_F(Era5Test, GivesTheNextTwoFieldsForTheTwoStepTarget) {
  settings_.steps = 2;
  const auto data = open();
  EXPECT_EQ(data->size(), 3U);
  const auto one = example(*data, 2);  // the first of 1980
  EXPECT_EQ(one.target.sizes(), (std::vector<std::int64_t>{2, 3, 4, 4}));
  EXPECT_NEAR(one.target[1][0][0][0].item<float>(), value_of(2, 2, 0, 0, 0) - 1000, 1e-3);
}

TEST_F(Era5Test, TakesTheAskedChannelsInTheAskedOrder) {
  settings_.channels = {2, 0, 1};
  const auto data = open();
  const auto one = example(*data, 0);
  EXPECT_NEAR(one.input[0][0][0].item<float>(), (value_of(1, 0, 2, 0, 0) - 3000) / 4, 1e-3);
  EXPECT_NEAR(one.input[1][0][0].item<float>(), value_of(1, 0, 0, 0, 0) - 1000, 1e-3);
  EXPECT_NEAR(one.input[2][0][0].item<float>(), (value_of(1, 0, 1, 0, 0) - 2000) / 2, 1e-3);
}

TEST_F(Era5Test, DropsTheSouthPoleAndKnowsTheLatitudes) {
  EXPECT_EQ(open()->grid().latitudes_deg, (std::vector<double>{90, 45, 0, -45}));
  settings_.even_rows = false;
  EXPECT_EQ(open()->grid().latitudes_deg.back(), -90);
}

TEST_F(Era5Test, NormalisesTheClimatologyOfTheStatistics) {
  std::vector<float> means(3 * 5 * 4, 1000);
  means[2 * 20 + 7] = 3008;
  tree_.bytes("stats/time_means.npy", npy("<f4", "(1, 3, 5, 4)", means));
  settings_.climatology_file = tree_.path("stats/time_means.npy");
  const auto data = open();
  std::vector<float> field(data->grid().field_size());
  data->climatology(0, 0, field);
  EXPECT_NEAR(field[0], 0, 1e-5);
  EXPECT_NEAR(field[2 * 16 + 7], 2, 1e-5);
}

TEST_F(Era5Test, CanBeReadFromSeveralThreads) {
  const auto data = open();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<float> input(48), target(48);
      for (std::size_t i = 0; i < 100; ++i) {
        ExampleRandom random(0);
        const auto index = i % 3;
        if (!data->fill(index, random, {input, nullptr, target}) || input[0] != value_of(1, index, 0, 0, 0) - 1000)
          ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Era5Test, SaysWhichFileIsWrongAndHow) {
  write_year(tree_.path("train/1981.h5"), 3, {3, 3, 5, 8});
  EXPECT_THAT(error(), HasSubstr("different size"));
  write_year(tree_.path("train/1981.h5"), 3, {3, 3, 5});
  EXPECT_THAT(error(), HasSubstr("four dimensions"));
  write_year(tree_.path("train/1981.h5"), 3, {3, 3, 5, 4}, "data");
  EXPECT_THAT(error(), HasSubstr("1981.h5 holds no dataset 'fields'"));
  tree_.bytes("train/1981.h5", "text");
  EXPECT_THAT(error(), HasSubstr("no HDF5 file"));
  tree_.remove("train/1981.h5");
  settings_.channels = {3};
  EXPECT_THAT(error(), HasSubstr("no channel 3"));
  settings_.channels = {};
  settings_.steps = 4;
  EXPECT_THAT(error(), HasSubstr("long enough"));
  settings_.steps = 1;
  tree_.bytes("stats/global_stds.npy", npy("<f4", "(1, 2, 1, 1)", {1, 2}));
  EXPECT_THAT(error(), HasSubstr("2 values for 3 channels"));
  tree_.remove("stats/global_stds.npy");
  EXPECT_THAT(error(), HasSubstr("global_stds.npy"));
  tree_.remove("train").folder("train");
  EXPECT_THAT(error(), HasSubstr("no .h5 file"));
  settings_.folder = tree_.path("nowhere");
  EXPECT_THAT(error(), HasSubstr("nowhere"));
}

TEST_F(Era5Test, NamesTheFileThatIsCutOff) {
  const auto path = tree_.path("train/1979.h5");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THAT(error(), HasSubstr("1979.h5"));
}

TEST(Npy, ReadsBothFloatTypesAndRefusesTheRest) {
  doubles::MadeTree tree;
  tree.bytes("f4", npy("<f4", "(2, 1)", {1.5F, -2}));
  const auto array = read_npy(tree.path("f4")).value();
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(array.values, (std::vector<double>{1.5, -2}));
  const double number = 0.1;
  std::vector<float> halves(2);
  std::memcpy(halves.data(), &number, sizeof number);
  tree.bytes("f8", npy("<f8", "(1,)", halves));
  EXPECT_EQ(read_npy(tree.path("f8")).value().values, (std::vector<double>{0.1}));
  const auto message = [&](const std::string& content) {
    tree.bytes("bad", content);
    return read_npy(tree.path("bad")).error().message;
  };
  EXPECT_THAT(message("PK no numpy at all"), HasSubstr("no .npy file"));
  EXPECT_THAT(message(npy("<i8", "(1,)", halves)), HasSubstr("not float32"));
  EXPECT_THAT(message(npy("<f4", "(3,)", halves)), HasSubstr("ends too early"));
  EXPECT_THAT(message(npy("<f4", "(99999999, 99999999)", halves)), HasSubstr("ends too early"));
  EXPECT_THAT(message(npy("<f4", "(2,)", halves, "True")), HasSubstr("C order"));
  EXPECT_THAT(message(npy("<f4", "(x,)", halves)), HasSubstr("shape"));
  const auto whole = npy("<f4", "(2,)", halves);
  EXPECT_THAT(message(whole.substr(0, 30)), HasSubstr("header"));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    tree.bytes("damaged", damaged);
    (void)read_npy(tree.path("damaged"));  // whatever it says, it must come back
  }
}

}  // namespace
}  // namespace gradwatt::training
