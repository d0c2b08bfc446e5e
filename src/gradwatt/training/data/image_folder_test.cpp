#include "gradwatt/training/data/image_folder.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doubles/made_jpeg.hpp"
#include "tests/doubles/made_tree.hpp"

namespace gradwatt::training {
namespace {

using doubles::made_jpeg;
using testing::HasSubstr;

std::string flat(int red, int green, int blue, int width = 120, int height = 90) {
  return made_jpeg(width, height, 3, [=](int, int, int c) { return c == 0 ? red : c == 1 ? green : blue; });
}

class ImageFolderTest : public testing::Test {
 protected:
  std::string error(const std::string& below = "") {
    return ImageFolder::open({.root = tree_.path(below)}).error().message;
  }
  doubles::MadeTree tree_;
};

TEST_F(ImageFolderTest, NumbersClassesByNameAndReadsFoldersInFolders) {
  tree_.bytes("dog/b.JPEG", flat(0, 255, 0));
  tree_.bytes("dog/deeper/a.jpg", flat(0, 255, 0));
  tree_.bytes("cat/x.jpg", flat(255, 0, 0));
  tree_.bytes("cat/notes.txt", "not an image");
  tree_.bytes("list.csv", "not a class");
  const auto folder = ImageFolder::open({.root = tree_.path(""), .augment = false, .size = 32, .resize = 40}).value();
  EXPECT_EQ(folder->class_names(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(folder->size(), 3U);
  ExampleRandom random(0);
  const auto cat = folder->get(0, random).value(), dog = folder->get(1, random).value();
  EXPECT_EQ(cat.target.item<std::int64_t>(), 0);
  EXPECT_EQ(dog.target.item<std::int64_t>(), 1);
  EXPECT_EQ(cat.input.sizes(), (std::vector<std::int64_t>{3, 32, 32}));
  EXPECT_NEAR(cat.input[0].mean().item<float>(), (1 - 0.485) / 0.229, 0.03);
  EXPECT_NEAR(cat.input[1].mean().item<float>(), -0.456 / 0.224, 0.03);
  EXPECT_NEAR(dog.input[1].mean().item<float>(), (1 - 0.456) / 0.224, 0.03);
}

TEST_F(ImageFolderTest, AugmentsTheSameWayForTheSameStreamOnly) {
  tree_.bytes("a/1.jpg", made_jpeg(200, 150, 3, [](int x, int y, int c) {
                return c == 0 ? x : c == 1 ? y : (x ^ y) & 255;
              }));
  const auto folder = ImageFolder::open({.root = tree_.path(""), .size = 64}).value();
  const auto draw = [&](std::uint64_t epoch) {
    auto random = example_random(1, epoch, 0);
    return folder->get(0, random).value().input;
  };
  EXPECT_TRUE(at::equal(draw(3), draw(3)));
  EXPECT_FALSE(at::equal(draw(3), draw(4)));
}

TEST_F(ImageFolderTest, MirrorsHalfOfTheImages) {
  tree_.bytes("a/1.jpg", made_jpeg(200, 200, 3, [](int x, int, int) { return x; }));
  const auto folder = ImageFolder::open({.root = tree_.path(""), .size = 16}).value();
  int mirrored = 0;
  for (std::uint64_t epoch = 0; epoch < 200; ++epoch) {
    auto random = example_random(1, epoch, 0);
    const auto image = folder->get(0, random).value().input;
    if (image[0][8][0].item<float>() > image[0][8][15].item<float>()) ++mirrored;
  }
  EXPECT_NEAR(mirrored, 100, 35);
}

TEST_F(ImageFolderTest, NamesTheFileThatCannotBeDecodedAndWhy) {
  tree_.bytes("a/1.jpg", "this is no image");
  tree_.bytes("a/2.jpg", flat(1, 2, 3).substr(0, 300));
  tree_.bytes("a/3.jpg", "");
  tree_.bytes("a/4.jpg", flat(1, 2, 3));
  const auto folder = ImageFolder::open({.root = tree_.path("")}).value();
  std::filesystem::remove(tree_.path("a/4.jpg"));
  ExampleRandom random(0);
  const auto message = [&](std::size_t index) { return folder->get(index, random).error().message; };
  EXPECT_THAT(message(0), HasSubstr((tree_.path("a/1.jpg")).string()));
  EXPECT_THAT(message(0), HasSubstr("Not a JPEG file"));
  EXPECT_THAT(message(1), HasSubstr("a/2.jpg"));
  EXPECT_THAT(message(2), HasSubstr("empty"));
  EXPECT_THAT(message(3), HasSubstr("a/4.jpg"));
}

TEST_F(ImageFolderTest, SaysWhatIsMissing) {
  EXPECT_THAT(error("nowhere"), HasSubstr("there is no folder"));
  EXPECT_THAT(error(), HasSubstr("one folder for each class"));
  tree_.bytes("a/readme.txt", "");
  EXPECT_THAT(error(), HasSubstr("holds no .jpg"));
}

}  // namespace
}  // namespace gradwatt::training
