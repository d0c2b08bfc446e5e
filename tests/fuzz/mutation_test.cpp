// Drives a fuzzing entry point with a fixed series of mutated seeds, so that every build and every machine tries the
// same inputs. No search for new paths: that is libFuzzer's work (README.md).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Random = std::mt19937_64;

std::uint64_t setting(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

std::vector<std::string> seeds() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(GRADWATT_FUZZ_SEEDS)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

constexpr auto kTokens = std::to_array<std::string_view>({"\n",
                                                          "\r\n",
                                                          "\r",
                                                          ",",
                                                          ";",
                                                          "\t",
                                                          "\"",
                                                          "\"\"",
                                                          "[N/A]",
                                                          "[Unknown Error]",
                                                          "ERR!",
                                                          "timestamp",
                                                          "index",
                                                          "power.draw [W]",
                                                          "utilization.gpu [%]",
                                                          "gpu0_power_w",
                                                          "GPU1",
                                                          "pid",
                                                          " W",
                                                          " mW",
                                                          "-1",
                                                          "0",
                                                          "9.2e18",
                                                          "1e999",
                                                          "4294967295",
                                                          "18446744073709551615",
                                                          "0x",
                                                          "0xFFFFFFFFFFFFFFFF",
                                                          "P0",
                                                          "P99",
                                                          "2023/01/31 12:00:00.123",
                                                          "2199/12/31 23:59:59",
                                                          "1675166400",
                                                          "253402300799",
                                                          "23:59:59",
                                                          "0.1",
                                                          "\xEF\xBB\xBF",
                                                          "\xFF\xFE",
                                                          "\xF0\x9F\x98\x80",
                                                          "nan",
                                                          "-inf",
                                                          "GPU-",
                                                          "00000000:01:00.0",
                                                          "NVIDIA H100",
                                                          ".",
                                                          "+",
                                                          "%",
                                                          " NCCL INFO ",
                                                          " via NET/IB/",
                                                          " set by environment to ",
                                                          "# nThread 1 nGpus 1 minBytes 8",
                                                          "Epoch: [0][ 10/99]",
                                                          "[1,1]<stdout>:",
                                                          "==============NVSMI LOG==============",
                                                          " : ",
                                                          "| ",
                                                          "<gpu id=\"1\">",
                                                          "</gpu>",
                                                          "</nvidia_smi_log>",
                                                          "NVRM: Xid (PCI:0000:9b:00): 79",
                                                          "{\"",
                                                          "\":",
                                                          "[["});

struct Range {
  std::size_t begin, length;
};
Range piece(Random& random, const std::string& text) {
  const auto begin = below(random, text.size() + 1);
  const auto longest = below(random, 4) == 0 ? text.size() - begin : std::min<std::size_t>(text.size() - begin, 24);
  return {begin, below(random, longest + 1)};
}

void mutate(std::string& text, Random& random, const std::vector<std::string>& all) {
  const auto at = below(random, text.size() + 1);
  const auto range = piece(random, text);
  switch (below(random, 9)) {
    case 0:
      text.insert(at, kTokens.at(below(random, kTokens.size())));
      break;
    case 1:
      text.erase(range.begin, range.length);
      break;
    case 2:
      text.insert(at, text.substr(range.begin, range.length));
      break;
    case 3:
      text.replace(range.begin, range.length, kTokens.at(below(random, kTokens.size())));
      break;
    case 4:
      text.resize(at);
      break;
    case 5:
      text.insert(at, 1, '\0');
      break;
    case 6:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 7:
      if (at < text.size() && text[at] >= '0' && text[at] <= '9') text[at] = static_cast<char>('0' + below(random, 10));
      break;
    default: {
      const auto& other = all[below(random, all.size())];
      const auto from = piece(random, other);
      text.insert(at, other, from.begin, from.length);
    }
  }
  constexpr std::size_t kLongest = 1U << 17U;
  if (text.size() > kLongest) text.resize(kLongest);
}

/// The input that is being tried lies in a file beside the program: after a crash, the one that did it.
class InputFile {
 public:
  explicit InputFile(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {}
  ~InputFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::filesystem::remove(path_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  void hold(const std::string& input) {
    if (file_ == nullptr || ::ftruncate(::fileno(file_), 0) != 0) return;
    std::rewind(file_);
    std::fwrite(input.data(), 1, input.size(), file_);
    std::fflush(file_);
  }

 private:
  std::string path_;
  std::FILE* file_;
};

/// A fixed number of inputs, or as many as the wished time has room for.
class Limit {
 public:
  [[nodiscard]] bool allows(std::uint64_t inputs) const {
    if (seconds_.count() == 0) return inputs < most_;
    return inputs % 64 != 0 || std::chrono::steady_clock::now() - begin_ < seconds_;
  }

 private:
  std::uint64_t most_ = setting("GRADWATT_FUZZ_INPUTS", 6000);
  std::chrono::seconds seconds_{setting("GRADWATT_FUZZ_SECONDS", 0)};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

TEST(Mutations, NoInputBreaksAPromise) {
  const auto all = seeds();
  ASSERT_FALSE(all.empty());
  Random random(setting("GRADWATT_FUZZ_SEED", 20231131));
  InputFile file(GRADWATT_FUZZ_INPUT_FILE);
  const Limit limit;
  std::uint64_t n = 0;
  for (; limit.allows(n); ++n) {
    auto text = all[n % all.size()];
    if (n >= all.size())  // the seeds themselves come first
      for (auto changes = 1 + below(random, 12); changes > 0; --changes) mutate(text, random, all);
    if (n >= all.size()) text.insert(text.begin(), static_cast<char>(below(random, 32)));  // what the user said
    file.hold(text);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::cout << n << " inputs\n";
}

}  // namespace
