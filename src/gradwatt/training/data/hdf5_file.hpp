// A dataset of four dimensions in an HDF5 file, of which parts are read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

/// Any number of threads: the library is locked inside.
class Hdf5Fields {
 public:
  /// Errors: not_found, unusable_input (no HDF5 file, no such dataset, other than four dimensions).
  [[nodiscard]] static core::Result<std::shared_ptr<Hdf5Fields>> open(const std::filesystem::path& path,
                                                                      const std::string& dataset);
  ~Hdf5Fields();
  Hdf5Fields(const Hdf5Fields&) = delete;
  Hdf5Fields& operator=(const Hdf5Fields&) = delete;

  /// time × channel × latitude × longitude
  [[nodiscard]] const std::array<std::size_t, 4>& shape() const { return shape_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The first `rows` rows of `channels` consecutive channels at one time. Errors: io; the message names the file.
  [[nodiscard]] core::Result<void> read(std::size_t time, std::size_t channel, std::size_t channels, std::size_t rows,
                                        std::span<float> target) const;

 private:
  Hdf5Fields() = default;
  [[nodiscard]] core::Result<void> open_dataset(const std::string& name);

  std::filesystem::path path_;
  std::array<std::size_t, 4> shape_{};
  std::int64_t file_ = -1, dataset_ = -1;
};

}  // namespace gradwatt::training
