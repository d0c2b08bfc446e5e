// JPEG files in one folder a class: <root>/<class>/**/*.jpg, the layout of ImageNet.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gradwatt/training/data/crops.hpp"
#include "gradwatt/training/data/dataset.hpp"
#include "gradwatt/training/data/resample.hpp"

namespace gradwatt::training {

struct ImageFolderSettings {
  std::filesystem::path root;
  /// Random crop and mirroring; else the centre of the resized image.
  bool augment = true;
  int size = 224;    ///< height and width of what the network gets
  int resize = 256;  ///< shorter side before the centre is cut out
  CropRange crop = {};
  double mirror_probability = 0.5;
  ColourStatistics colours = kImageNetColours;
};

/// Class numbers follow the sorted names of the folders, examples the sorted names of the files.
class ImageFolder : public ImageDataset {
 public:
  /// Lists the files; reads none. Errors: not_found (no such folder), unusable_input (no class folder, no JPEG).
  [[nodiscard]] static core::Result<std::shared_ptr<ImageFolder>> open(const ImageFolderSettings& settings);
  ~ImageFolder() override;

  [[nodiscard]] std::size_t size() const override { return files_.size(); }
  [[nodiscard]] core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override;
  [[nodiscard]] std::vector<std::int64_t> input_shape() const override { return {3, settings_.size, settings_.size}; }
  [[nodiscard]] std::int64_t classes() const override { return static_cast<std::int64_t>(names_.size()); }
  [[nodiscard]] const std::vector<std::string>& class_names() const { return names_; }

 private:
  struct File {
    std::string path;  // below the root
    std::int64_t label;
  };
  struct Workbench;

  explicit ImageFolder(const ImageFolderSettings& settings);
  core::Result<void> list();
  core::Result<void> list_class(const std::string& name, std::vector<File>& files) const;

  ImageFolderSettings settings_;
  std::vector<std::string> names_;
  std::vector<File> files_;
  std::unique_ptr<Workbench> workbench_;
};

}  // namespace gradwatt::training
