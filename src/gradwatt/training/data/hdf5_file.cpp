#include "gradwatt/training/data/hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <system_error>

#include "gradwatt/training/data/science_lock.hpp"

namespace gradwatt::training {
namespace {

/// Closes a data space.
class Space {
 public:
  explicit Space(hid_t id) : id_(id) {}
  ~Space() {
    if (id_ >= 0) H5Sclose(id_);
  }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;
  [[nodiscard]] hid_t id() const { return id_; }

 private:
  hid_t id_;
};

}  // namespace

core::Result<std::shared_ptr<Hdf5Fields>> Hdf5Fields::open(const std::filesystem::path& path,
                                                           const std::string& dataset) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return core::fail(core::Errc::not_found, fmt::format("there is no file {}", path.string()));
  const auto lock = lock_science_libraries();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its own error stack on stderr says nothing to a user
  std::shared_ptr<Hdf5Fields> fields(new Hdf5Fields);
  fields->path_ = path;
  fields->file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  auto opened = fields->file_ < 0 ? core::fail(core::Errc::unusable_input,
                                               fmt::format("{} is no HDF5 file, or is damaged", path.string()))
                                  : fields->open_dataset(dataset);
  if (opened) return fields;
  // The object that goes must not lock again.
  if (fields->dataset_ >= 0) H5Dclose(fields->dataset_);
  if (fields->file_ >= 0) H5Fclose(fields->file_);
  fields->dataset_ = fields->file_ = -1;
  return core::fail(std::move(opened.error()));
}

core::Result<void> Hdf5Fields::open_dataset(const std::string& name) {
  dataset_ = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
  if (dataset_ < 0) {
    return core::fail(
        core::Errc::unusable_input,
        fmt::format("{} holds no dataset '{}' (time × channel × latitude × longitude)", path_.string(), name));
  }
  const Space space(H5Dget_space(dataset_));
  if (H5Sget_simple_extent_ndims(space.id()) != 4) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("'{}' in {} has not the four dimensions time × channel × latitude × longitude", name,
                                  path_.string()));
  }
  std::array<hsize_t, 4> lengths{};
  H5Sget_simple_extent_dims(space.id(), lengths.data(), nullptr);
  std::copy(lengths.begin(), lengths.end(), shape_.begin());
  return {};
}

Hdf5Fields::~Hdf5Fields() {
  if (file_ < 0) return;
  const auto lock = lock_science_libraries();
  if (dataset_ >= 0) H5Dclose(dataset_);
  H5Fclose(file_);
}

core::Result<void> Hdf5Fields::read(std::size_t time, std::size_t channel, std::size_t channels, std::size_t rows,
                                    std::span<float> target) const {
  const auto lock = lock_science_libraries();
  const std::array<hsize_t, 4> begin{time, channel, 0, 0}, count{1, channels, rows, shape_[3]};
  const Space there(H5Dget_space(dataset_)), here(H5Screate_simple(4, count.data(), nullptr));
  const bool read =
      there.id() >= 0 && here.id() >= 0 && target.size() == channels * rows * shape_[3] &&
      H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr) >= 0 &&
      H5Dread(dataset_, H5T_NATIVE_FLOAT, here.id(), there.id(), H5P_DEFAULT, target.data()) >= 0;
  if (read) return {};
  return core::fail(core::Errc::io, fmt::format("cannot read time step {} of {}: the file is damaged or the disk fails",
                                                time, path_.string()));
}

}  // namespace gradwatt::training
