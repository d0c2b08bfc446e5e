#include "gradwatt/training/models/safetensors.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "gradwatt/training/models/golden_fill.hpp"
#include "tests/doubles/made_tree.hpp"

namespace gradwatt::training {
namespace {

using doubles::MadeTree;
using testing::AllOf;
using testing::HasSubstr;

std::string number_bytes(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
  return bytes;
}

class Safetensors : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& bytes) {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes;
    return path();
  }
  [[nodiscard]] std::filesystem::path path() const { return tree_.path("weights.safetensors"); }
  [[nodiscard]] std::string bytes() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The message for a file with this header and data; it must name the file.
  std::string refusal(const std::string& json, const std::string& data = std::string(8, 'x')) {
    return refusal_of(number_bytes(json.size()) + json + data);
  }
  std::string refusal_of(const std::string& file) {
    const auto loaded = load_safetensors(write(file));
    if (loaded) return "was accepted";
    EXPECT_EQ(loaded.error().code, core::Errc::unusable_input);
    EXPECT_THAT(loaded.error().message, HasSubstr(path().string()));
    return loaded.error().message;
  }
  MadeTree tree_;
};

TEST_F(Safetensors, EveryTypeComesBackAsItWas) {
  NamedTensors tensors;
  for (const auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kByte})
    tensors.emplace_back(std::string("t.") + at::toString(type), at::arange(6).view({2, 3}).to(type));
  tensors.emplace_back("flags", at::tensor({1, 0, 1}, at::kInt).to(at::kBool));
  tensors.emplace_back("scalar", at::scalar_tensor(7, at::kLong));
  tensors.emplace_back("empty", at::empty({0, 3}, at::kFloat));
  ASSERT_TRUE(save_safetensors(path(), tensors, {{"format", "pt"}, {"note", "ü \"quoted\""}}));
  const auto loaded = load_safetensors(path());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->metadata.at("note"), "ü \"quoted\"");
  ASSERT_EQ(loaded->tensors.size(), tensors.size());
  const std::map<std::string, torch::Tensor> by_name(loaded->tensors.begin(), loaded->tensors.end());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(by_name.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(by_name.at(name).equal(tensor)) << name;
  }
}

TEST_F(Safetensors, ReadsAFileByTheBook) {
  const std::string json = R"({"__metadata__":{"by":"hand"},"b":{"dtype":"I64","shape":[],"data_offsets":[8,16]},)"
                           R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}   )";
  const float values[] = {1.5F, -2};
  std::string data(16, '\0');
  std::memcpy(data.data(), values, 8);
  data[8] = 5;
  const auto loaded = load_safetensors(write(number_bytes(json.size()) + json + data));
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->tensors.size(), 2U);
  EXPECT_EQ(loaded->tensors[0].first, "a");
  EXPECT_TRUE(loaded->tensors[0].second.equal(at::tensor({1.5F, -2.F}).view({2, 1})));
  EXPECT_EQ(loaded->tensors[1].second.item<std::int64_t>(), 5);
  EXPECT_EQ(loaded->metadata.at("by"), "hand");
}

TEST_F(Safetensors, WritesAlignedDataWideTypesFirst) {
  ASSERT_TRUE(save_safetensors(path(), {{"half", at::ones({3}, at::kHalf)}, {"wide", at::ones({1}, at::kDouble)}}));
  const auto file = bytes();
  const auto header = static_cast<std::size_t>(static_cast<unsigned char>(file[0]));
  EXPECT_EQ(header % 8, 0U);
  EXPECT_EQ(file.substr(1, 7), std::string(7, '\0'));
  EXPECT_EQ(file.size(), 8 + header + 8 + 6);
  EXPECT_THAT(file.substr(8, header), HasSubstr(R"("wide":{"dtype":"F64","shape":[1],"data_offsets":[0,8]})"));
}

TEST_F(Safetensors, StoresStridedTensorsRowByRow) {
  const auto transposed = sines({3, 4}).t();
  const auto last = sines({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  ASSERT_TRUE(save_safetensors(path(), {{"t", transposed}, {"last", last}}));
  const auto loaded = load_safetensors(path());
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->tensors[0].second.equal(transposed));
  EXPECT_TRUE(loaded->tensors[1].second.equal(last));
}

TEST_F(Safetensors, AFileThatIsCutShortIsRefusedAtEveryLength) {
  ASSERT_TRUE(save_safetensors(path(), {{"a", sines({4})}, {"b", at::ones({3}, at::kLong)}}));
  const auto whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(refusal_of(whole.substr(0, length)), HasSubstr("is not a usable safetensors file")) << length;
}

TEST_F(Safetensors, AHostileHeaderLengthCostsNoMemory) {
  EXPECT_THAT(refusal_of(number_bytes(~std::uint64_t{0}) + "{}"),
              HasSubstr("its header should have 18446744073709551615 bytes, 2 bytes follow"));
  EXPECT_THAT(refusal_of(number_bytes(std::uint64_t{1} << 40) + "{}"), HasSubstr("its header should have"));
}

TEST_F(Safetensors, AHeaderThatIsNoIndexIsRefused) {
  for (const auto* json : {"", "[1]", "{", "null", "{}}", R"({"a":1,})", "\xff\xfe"})
    EXPECT_THAT(refusal(json), HasSubstr("the header is not a JSON object")) << json;
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("the header is not a JSON object"));
  EXPECT_THAT(refusal(R"({"a":)" + std::string(50'000, '[') + std::string(50'000, ']') + "}"),
              HasSubstr("the header is not a JSON object"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32"}})"), HasSubstr("\"a\" has no dtype, shape and data_offsets"));
  EXPECT_THAT(refusal(R"({"a":[]})"), HasSubstr("\"a\" has no dtype, shape and data_offsets"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"n":1}})"), HasSubstr("__metadata__ \"n\" is not a text"));
}

TEST_F(Safetensors, ATensorThatDoesNotFitItsTypeAndShapeIsNamed) {
  const auto tensor = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"w":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  EXPECT_THAT(refusal(tensor(R"("F8")", "[8]", "[0,8]")), HasSubstr("tensor \"w\" is of type F8"));
  EXPECT_THAT(refusal(tensor("7", "[8]", "[0,8]")), HasSubstr("tensor \"w\" is of type 7"));
  EXPECT_THAT(refusal(tensor(R"("F32")", "[3]", "[0,8]")),
              HasSubstr("has 8 bytes of data where its type and shape need 12"));
  for (const auto* shape :
       {"2", "[-2]", "[1.5]", "[\"2\"]", "[4294967296,4294967296]", "[9223372036854775807]", "[[2]]"})
    EXPECT_THAT(refusal(tensor(R"("F32")", shape, "[0,8]")), HasSubstr("tensor \"w\" has no usable shape")) << shape;
}

TEST_F(Safetensors, OffsetsOutsideTheDataOverlapsAndGapsAreRefused) {
  const auto one = [](const std::string& offsets) {
    return R"({"w":{"dtype":"U8","shape":[4],"data_offsets":)" + offsets + "}}";
  };
  for (const auto* offsets :
       {"[0,9]", "[8,4]", "[-4,0]", "[0]", "[0,4,8]", "4", "[18446744073709551612,18446744073709551615]"})
    EXPECT_THAT(refusal(one(offsets)), HasSubstr("tensor \"w\" lies outside the file")) << offsets;
  EXPECT_THAT(refusal(one("[4,8]")), HasSubstr("tensor \"w\" leaves a gap behind what lies before it"));
  EXPECT_THAT(refusal(one("[0,4]")), HasSubstr("4 bytes at the end belong to no tensor"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},)"
                      R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})"),
              HasSubstr("tensor \"b\" overlaps what lies before it"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},)"
                      R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})"),
              HasSubstr("tensor \"a\" is named twice"));
}

TEST_F(Safetensors, AnEmptyTensorWithAbsurdSidesDoesNoHarm) {
  const auto loaded = load_safetensors(write([] {
    const std::string json = R"({"w":{"dtype":"U8","shape":[0,9223372036854775807,16],"data_offsets":[0,0]}})";
    return number_bytes(json.size()) + json;
  }()));
  if (loaded) {
    EXPECT_EQ(loaded->tensors.front().second.numel(), 0);
  } else {
    EXPECT_THAT(loaded.error().message, HasSubstr("\"w\""));
  }
}

TEST_F(Safetensors, WhatIsNoFileSaysSo) {
  EXPECT_EQ(load_safetensors(tree_.path("missing")).error().code, core::Errc::not_found);
  tree_.folder("folder");
  EXPECT_FALSE(load_safetensors(tree_.path("folder")));
}

TEST_F(Safetensors, WhatCannotBeStoredIsNamedAndLeavesTheOldFile) {
  ASSERT_TRUE(save_safetensors(path(), {{"a", sines({4})}}));
  const auto before = bytes();
  const auto refused = [&](const NamedTensors& tensors) {
    const auto saved = save_safetensors(path(), tensors);
    EXPECT_FALSE(saved);
    return saved ? "" : saved.error().message;
  };
  EXPECT_THAT(refused({{"z", at::zeros({2}, at::kComplexFloat)}}), AllOf(HasSubstr("\"z\""), HasSubstr("type")));
  EXPECT_THAT(refused({{"u", torch::Tensor()}}), HasSubstr("\"u\" is undefined"));
  EXPECT_THAT(refused({{"a", sines({1})}, {"a", sines({1})}}), HasSubstr("\"a\" cannot be stored twice"));
  EXPECT_THAT(refused({{"__metadata__", sines({1})}}), HasSubstr("__metadata__"));
  EXPECT_THAT(refused({{"\xff", sines({1})}}), HasSubstr("UTF-8"));
  EXPECT_EQ(bytes(), before);
}

}  // namespace
}  // namespace gradwatt::training
