#include "gradwatt/training/loop/checkpoint.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "gradwatt/training/models/safetensors.hpp"

namespace gradwatt::training {
namespace {

constexpr const char* kFormat = "gradwatt.checkpoint";
constexpr const char* kVersion = "1";

}  // namespace

std::string exact(double value) { return fmt::format("{:a}", value); }

void CheckpointFile::save(const Snapshot& snapshot) {
  wait();
  std::error_code ignored;
  std::filesystem::create_directories(file_.parent_path(),
                                      ignored);  // what fails here fails again below, with a reason
  NamedTensors copies;
  for (const auto& [name, tensor] : snapshot.tensors)
    copies.emplace_back(name,
                        tensor.detach().to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true));
  auto values = snapshot.values;
  values[kFormat] = kVersion;
  writing_ = std::async(std::launch::async, [file = file_, copies = std::move(copies), values = std::move(values)] {
    return save_safetensors(file, copies, values);
  });
}

void CheckpointFile::wait() {
  if (!writing_.valid()) return;
  if (auto done = writing_.get(); !done) error_ = done.error();
}

std::optional<core::Error> CheckpointFile::take_error() {
  if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) wait();
  return std::exchange(error_, std::nullopt);
}

core::Result<Snapshot> load_snapshot(const std::filesystem::path& file) {
  auto loaded = load_safetensors(file);
  if (!loaded) return core::fail(loaded.error());
  const auto version = loaded->metadata.find(kFormat);
  if (version == loaded->metadata.end() || version->second != kVersion)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{} holds tensors but is no checkpoint of this version of gradwatt train; weights "
                                  "alone are read by model.weights",
                                  file.string()));
  return Snapshot{std::move(loaded->tensors), std::move(loaded->metadata)};
}

}  // namespace gradwatt::training
