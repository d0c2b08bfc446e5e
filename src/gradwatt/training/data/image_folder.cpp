#include "gradwatt/training/data/image_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/training/data/jpeg.hpp"
#include "gradwatt/training/data/read_file.hpp"
#include "gradwatt/training/data/scratch_pool.hpp"

namespace gradwatt::training {
namespace {

namespace fs = std::filesystem;

bool is_jpeg_name(const fs::path& path) {
  const auto ending = core::to_lower(path.extension().string());
  return ending == ".jpg" || ending == ".jpeg";
}

/// What one thread needs for one image.
struct Tools {
  std::vector<std::uint8_t> file;
  JpegDecoder decoder;
  Resampler resampler;
};

}  // namespace

struct ImageFolder::Workbench {
  ScratchPool<Tools> tools;
};

ImageFolder::ImageFolder(const ImageFolderSettings& settings)
    : settings_(settings), workbench_(std::make_unique<Workbench>()) {}
ImageFolder::~ImageFolder() = default;

core::Result<std::shared_ptr<ImageFolder>> ImageFolder::open(const ImageFolderSettings& settings) {
  std::shared_ptr<ImageFolder> folder(new ImageFolder(settings));
  try {
    if (auto listed = folder->list(); !listed) return core::fail(std::move(listed.error()));
  } catch (const fs::filesystem_error& e) {
    return core::fail(core::Errc::io,
                      fmt::format("cannot list the images in {}: {}", settings.root.string(), e.code().message()));
  }
  return folder;
}

core::Result<void> ImageFolder::list() {
  const auto& root = settings_.root;
  if (!fs::is_directory(root)) {
    return core::fail(
        core::Errc::not_found,
        fmt::format("there is no folder {}: name the one that holds a folder of JPEG files for each class",
                    root.string()));
  }
  for (const auto& entry : fs::directory_iterator(root)) {
    const auto name = entry.path().filename().string();
    if (entry.is_directory() && !name.starts_with('.')) names_.push_back(name);
  }
  std::sort(names_.begin(), names_.end());
  if (names_.empty()) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} holds no folder: images must lie in one folder for each class", root.string()));
  }
  for (const auto& name : names_) {
    if (auto listed = list_class(name, files_); !listed) return listed;
  }
  return {};
}

core::Result<void> ImageFolder::list_class(const std::string& name, std::vector<File>& files) const {
  const auto label = std::find(names_.begin(), names_.end(), name) - names_.begin();
  const auto before = files.size();
  const auto folder = settings_.root / name;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink)) {
    if (!is_jpeg_name(entry.path()) || entry.is_directory()) continue;
    files.push_back({(name / entry.path().lexically_relative(folder)).string(), label});
  }
  if (files.size() == before) {
    return core::fail(
        core::Errc::unusable_input,
        fmt::format("the class folder {} holds no .jpg or .jpeg file: fill or remove it", folder.string()));
  }
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  return {};
}

core::Result<void> ImageFolder::fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const {
  const auto& file = files_.at(index);
  const auto path = settings_.root / file.path;
  const auto unusable = [&](const core::Error& error) {
    return core::fail(error.code, fmt::format("cannot decode the image {}: {}", path.string(), error.message));
  };
  auto tools = workbench_->tools.borrow();
  if (auto read = read_file(path, tools->file); !read) return read;
  auto image = tools->decoder.open(tools->file);
  if (!image) return unusable(image.error());
  const auto crop = settings_.augment ? random_crop(*image, settings_.crop, random)
                                      : centre_crop(*image, settings_.resize, settings_.size);
  const bool mirrored = settings_.augment && random.uniform() < settings_.mirror_probability;
  const ImageSize wanted{settings_.size, settings_.size};
  auto piece = tools->decoder.decode(crop, wanted);
  if (!piece) return unusable(piece.error());
  // A random crop is cut out before it is resized; the centre is cut out of the resized image.
  const Box everything{0, 0, static_cast<double>(piece->pixels->width), static_cast<double>(piece->pixels->height)};
  tools->resampler.resample(*piece->pixels, piece->crop, settings_.augment ? piece->crop : everything,
                            {wanted, mirrored, settings_.colours}, slot.input);
  *slot.label = file.label;
  return {};
}

}  // namespace gradwatt::training
