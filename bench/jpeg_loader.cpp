// Our half of bench/jpeg_loader.py: on each line of standard input, loads one epoch of a JPEG folder and prints the
// seconds and the number of images that it took. Or, with "dump" as the last argument, writes the evaluation form of
// the first image as raw floats, for a comparison with torchvision's.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "gradwatt/training/data/image_folder.hpp"
#include "gradwatt/training/data/loader.hpp"

namespace {

using namespace gradwatt;

template <class T>
T or_exit(core::Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "jpeg_loader: {}\n", result.error().message);
  std::exit(3);
}

std::size_t load_epoch(training::Loader& loader, std::uint64_t epoch) {
  if (auto begun = loader.begin_epoch(epoch); !begun) {
    fmt::print(stderr, "jpeg_loader: {}\n", begun.error().message);
    std::exit(3);
  }
  std::size_t images = 0;
  while (auto batch = or_exit(loader.next())) images += batch->indices.size();
  return images;
}

void dump_first(const std::string& folder) {
  const auto data = or_exit(training::ImageFolder::open({.root = folder, .augment = false}));
  training::ExampleRandom random(0);
  const auto image = or_exit(data->get(0, random)).input;
  std::fwrite(image.data_ptr<float>(), sizeof(float), static_cast<std::size_t>(image.numel()), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: jpeg_loader FOLDER WORKERS BATCH [dump]\n");
    return 2;
  }
  if (argc > 4) {
    dump_first(argv[1]);
    return 0;
  }
  const auto data = or_exit(training::ImageFolder::open({.root = argv[1]}));
  const auto sampler = or_exit(training::DistributedSampler::make(
      {.size = data->size(), .local_batch = static_cast<std::size_t>(std::atoi(argv[3]))}));
  training::Loader loader(data, sampler, {.workers = std::atoi(argv[2])});
  std::uint64_t epoch = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const auto begin = std::chrono::steady_clock::now();
    const auto images = load_epoch(loader, epoch++);
    fmt::print("{} {}\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), images);
    std::fflush(stdout);
  }
}
