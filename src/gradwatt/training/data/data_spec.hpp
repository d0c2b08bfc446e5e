// A data set by name and settings, as recipes write it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/training/data/augment.hpp"
#include "gradwatt/training/data/dataset.hpp"

namespace gradwatt::training {

enum class Split { train, evaluation };

/// What a kind does not use is ignored.
struct DataSpec {
  std::string kind;            ///< one of data_kinds()
  std::filesystem::path path;  ///< folder or file; empty: where the Debian package of the kind puts it
  Split split = Split::train;
  bool augment = true;     ///< random crops, mirroring, erasing; in the training part only
  std::uint64_t seed = 1;  ///< of made data

  // Images
  std::optional<int> image_size = std::nullopt;  ///< images: 224; idx: 32 pads 28×28; synthetic: 32
  int resize = 256;                              ///< images: shorter side before the centre is cut out
  int shift_pixels = 4;                          ///< idx, cifar10
  double erase_probability = 0.0;                ///< idx, cifar10
  // Made data
  std::size_t examples = 1024;
  std::int64_t channels = 3, classes = 10;
  int rows = 64, columns = 128;   ///< of fields
  int flows = 8, snapshots = 60;  ///< shallow-water; evaluation makes a quarter of the flows, others
  // Fields
  int steps = 1;                                 ///< fields in a target
  std::vector<std::size_t> field_channels = {};  ///< era5; empty: all
  int held_out_years = 2;                        ///< winds
  bool departures = false;                       ///< winds: from the year's course
};

/// "images", "cifar10", "fashion-mnist", "idx", "winds", "era5", "shallow-water", "synthetic", "synthetic-fields",
/// "free".
[[nodiscard]] std::vector<std::string_view> data_kinds();

/// Paths by kind: images, era5: a root with a folder for each part (images: train, val or test; era5: train, test,
/// stats), images: or the folder of classes itself; cifar10, idx, fashion-mnist: the folder of the files; winds: the
/// file. Errors: wrong_use (unknown kind, with the nearest one; no path), and those of the kind. What a Debian package
/// brings says which.
[[nodiscard]] core::Result<std::shared_ptr<Dataset>> make_dataset(const DataSpec& spec);

}  // namespace gradwatt::training
