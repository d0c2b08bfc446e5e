#include "gradwatt/training/data/jpeg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/doubles/made_jpeg.hpp"

namespace gradwatt::training {
namespace {

using doubles::made_jpeg;

std::span<const std::uint8_t> bytes(const std::string& file) {
  return {reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
}

int slope(int x, int y, int c) { return c == 0 ? x / 2 : c == 1 ? y / 2 : (x + y) / 4; }

TEST(JpegDecoder, DecodesTheWholeImage) {
  const auto file = made_jpeg(300, 200, 3, slope);
  JpegDecoder decoder;
  const auto size = decoder.open(bytes(file)).value();
  EXPECT_EQ(size.width, 300);
  EXPECT_EQ(size.height, 200);
  const auto piece = decoder.decode({0, 0, 300, 200}, {300, 200}).value();
  ASSERT_EQ(piece.pixels->width, 300);
  ASSERT_EQ(piece.pixels->height, 200);
  EXPECT_EQ(piece.reduction, 1);
  for (int y = 3; y < 200; y += 17) {
    for (int x = 3; x < 300; x += 13) {
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(piece.pixels->row(y)[x * 4 + c], slope(x, y, c), 6);
    }
  }
}

TEST(JpegDecoder, RefusesASizeThatOnlyADamagedHeaderNames) {
  auto file = made_jpeg(16, 16, 3, slope);
  const auto frame = file.find("\xFF\xC0");  // baseline: length, precision, then height and width in two bytes each
  ASSERT_NE(frame, std::string::npos);
  file.replace(frame + 5, 4, "\xFF\xDC\xFF\xDC");
  JpegDecoder decoder;
  const auto size = decoder.open(bytes(file));
  ASSERT_FALSE(size);
  EXPECT_THAT(size.error().message, testing::HasSubstr("65500×65500"));
}

TEST(JpegDecoder, GivesOfACropTheSamePixelsAsOfTheWholeImage) {
  for (const bool progressive : {false, true}) {
    const auto file = made_jpeg(
        320, 240, 3,
        [](int x, int y, int c) { return 128 + static_cast<int>(100 * std::sin(x * 0.2 + c) * std::cos(y * 0.15)); },
        90, progressive);
    JpegDecoder whole, part;
    ASSERT_TRUE(whole.open(bytes(file)));
    ASSERT_TRUE(part.open(bytes(file)));
    const auto all = whole.decode({0, 0, 320, 240}, {320, 240}).value();
    const auto piece = part.decode({101, 67, 90, 55}, {90, 55}).value();
    ASSERT_LT(piece.pixels->width, 160);
    ASSERT_LT(piece.pixels->height, 80);
    for (int y = 0; y < 55; ++y) {
      for (int x = 0; x < 90; ++x) {
        const auto* a = all.pixels->row(67 + y) + (101 + x) * 4;
        const auto* b =
            piece.pixels->row(static_cast<int>(piece.crop.top) + y) + (static_cast<int>(piece.crop.left) + x) * 4;
        for (int c = 0; c < 3; ++c) ASSERT_LE(std::abs(a[c] - b[c]), 1) << x << ' ' << y << ' ' << c;
      }
    }
  }
}

TEST(JpegDecoder, ReducesNoFurtherThanTheCropAllows) {
  const auto file = made_jpeg(800, 600, 3, slope);
  JpegDecoder decoder;
  const auto reduction = [&](Box crop, int wanted) {
    EXPECT_TRUE(decoder.open(bytes(file)));
    return decoder.decode(crop, {wanted, wanted}).value().reduction;
  };
  EXPECT_EQ(reduction({0, 0, 800, 600}, 224), 2);
  EXPECT_EQ(reduction({0, 0, 800, 600}, 150), 4);
  EXPECT_EQ(reduction({0, 0, 800, 600}, 32), 8);
  EXPECT_EQ(reduction({0, 0, 447, 600}, 224), 1);
}

TEST(JpegDecoder, SaysWhereTheCropLiesInTheReducedPixels) {
  const auto file = made_jpeg(800, 600, 3, slope);
  JpegDecoder decoder;
  ASSERT_TRUE(decoder.open(bytes(file)));
  const auto piece = decoder.decode({202, 100, 500, 460}, {224, 224}).value();
  EXPECT_EQ(piece.reduction, 2);
  EXPECT_EQ(piece.crop.width, 250);
  const int x = static_cast<int>(piece.crop.left) + 40, y = static_cast<int>(piece.crop.top) + 30;
  EXPECT_NEAR(piece.pixels->row(y)[x * 4], slope(202 + 81, 0, 0), 4);
  EXPECT_NEAR(piece.pixels->row(y)[x * 4 + 1], slope(0, 100 + 61, 1), 4);
}

TEST(JpegDecoder, TurnsGreyAndInksIntoColours) {
  JpegDecoder decoder;
  const auto grey = made_jpeg(40, 40, 1, [](int, int, int) { return 77; });
  ASSERT_TRUE(decoder.open(bytes(grey)));
  const auto* pixel = decoder.decode({0, 0, 40, 40}, {40, 40}).value().pixels->row(20) + 80;
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(pixel[c], 77, 1);
  // libjpeg marks such files as Adobe's, whose inks are inverted: 255 is none.
  const auto inks = made_jpeg(40, 40, 4, [](int, int, int c) { return c == 0 ? 100 : 255; });
  ASSERT_TRUE(decoder.open(bytes(inks)));
  pixel = decoder.decode({0, 0, 40, 40}, {40, 40}).value().pixels->row(20) + 80;
  EXPECT_NEAR(pixel[0], 100, 3);
  EXPECT_NEAR(pixel[1], 255, 3);
}

TEST(JpegDecoder, RefusesWhatIsNoJpegAndWorksOn) {
  JpegDecoder decoder;
  EXPECT_THAT(decoder.open({}).error().message, testing::HasSubstr("empty"));
  const std::string png = "\x89PNG\r\n\x1a\n and more";
  EXPECT_THAT(decoder.open(bytes(png)).error().message, testing::HasSubstr("Not a JPEG file"));
  const auto good = made_jpeg(40, 40, 3, slope);
  ASSERT_TRUE(decoder.open(bytes(good)));
  EXPECT_TRUE(decoder.decode({0, 0, 40, 40}, {40, 40}));
}

TEST(JpegDecoder, RefusesAFileThatEndsEarlyOrIsDamagedAtAnyPlace) {
  const auto good = made_jpeg(200, 150, 3, [](int x, int y, int c) { return (x * 7 + y * 13 + c * 50 + x * y) % 256; });
  JpegDecoder decoder;
  for (const double share : {0.01, 0.1, 0.5, 0.9}) {
    const auto cut = good.substr(0, static_cast<std::size_t>(share * static_cast<double>(good.size())));
    const bool usable = decoder.open(bytes(cut)) && decoder.decode({0, 0, 200, 150}, {200, 150});
    EXPECT_FALSE(usable) << share;
  }
  for (std::size_t at = 2; at < good.size(); at += 97) {  // whatever it says, it must come back
    auto damaged = good;
    damaged[at] = static_cast<char>(~damaged[at]);
    if (decoder.open(bytes(damaged))) (void)decoder.decode({20, 20, 100, 100}, {50, 50});
  }
}

}  // namespace
}  // namespace gradwatt::training
