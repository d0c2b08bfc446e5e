// Labelled images that fit into memory as bytes, augmented as they are read.
#pragma once

#include <cstdint>
#include <vector>

#include "gradwatt/training/data/dataset.hpp"
#include "gradwatt/training/data/labelled_images.hpp"

namespace gradwatt::training {

class MemoryImages : public ImageDataset {
 public:
  /// `images` must hold as many images as labels, and labels below `classes`.
  MemoryImages(LabelledImages images, std::int64_t classes, const AugmentSettings& augment,
               const ChannelStatistics& statistics, bool random)
      : images_(std::move(images)), classes_(classes), augmenter_(images_.shape, augment, statistics, random) {}

  [[nodiscard]] std::size_t size() const override { return images_.labels.size(); }
  [[nodiscard]] core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override {
    const auto pixels = images_.pixels.size() / images_.labels.size();
    augmenter_.apply({images_.pixels.data() + index * pixels, pixels}, random, slot.input);
    *slot.label = images_.labels.at(index);
    return {};
  }
  [[nodiscard]] std::vector<std::int64_t> input_shape() const override {
    const auto& shape = augmenter_.output();
    return {shape.channels, shape.height, shape.width};
  }
  [[nodiscard]] std::int64_t classes() const override { return classes_; }
  [[nodiscard]] const LabelledImages& images() const { return images_; }

 private:
  LabelledImages images_;
  std::int64_t classes_;
  Augmenter augmenter_;
};

}  // namespace gradwatt::training
