#include "gradwatt/training/models/weights.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>

namespace gradwatt::training {
namespace {

using core::Errc;
using core::fail;
using core::Result;

/// "missing a, b, c and 7 more". A wrong file differs everywhere; the first names tell which it is.
std::string list_names(std::string_view what, const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  const std::vector<std::string> shown(names.begin(), names.begin() + std::min(kShown, names.size()));
  auto text = fmt::format("{} {}", what, fmt::join(shown, ", "));
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

std::string shape_text(const torch::Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.sizes().vec(), ", "));
}

/// What keeps `loaded` from being the state of a model; empty when nothing does.
std::string differences(const NamedTensors& state, std::map<std::string, torch::Tensor> loaded) {
  std::vector<std::string> missing, unexpected, shapes;
  for (const auto& [name, tensor] : state) {
    const auto found = loaded.find(name);
    if (found == loaded.end()) {
      missing.push_back(name);
      continue;
    }
    if (found->second.sizes() != tensor.sizes())
      shapes.push_back(fmt::format("{} {} for {}", name, shape_text(found->second), shape_text(tensor)));
    loaded.erase(found);
  }
  for (const auto& [name, tensor] : loaded) unexpected.push_back(name);
  std::vector<std::string> parts;
  if (!missing.empty()) parts.push_back(list_names("missing", missing));
  if (!unexpected.empty()) parts.push_back(list_names("unexpected", unexpected));
  if (!shapes.empty()) parts.push_back(list_names("of another shape", shapes));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

NamedTensors state_of(const Model& model) {
  NamedTensors state;
  for (const auto& item : model.named_parameters()) state.emplace_back(item.key(), item.value());
  for (const auto& item : model.named_buffers()) state.emplace_back(item.key(), item.value());
  return state;
}

Result<void> save_weights(const Model& model, const std::filesystem::path& path, const Metadata& metadata) {
  return save_safetensors(path, state_of(model), metadata);
}

Result<void> load_weights(Model& model, const std::filesystem::path& path) {
  const auto file = load_safetensors(path);
  if (!file) return fail(file.error());
  const std::map<std::string, torch::Tensor> loaded(file->tensors.begin(), file->tensors.end());
  const auto state = state_of(model);
  if (const auto wrong = differences(state, loaded); !wrong.empty())
    return fail(Errc::unusable_input, fmt::format("The weights in {} are not of this model: {}; check the recipe's "
                                                  "model and its sizes.",
                                                  path.string(), wrong));
  const at::NoGradGuard no_grad;
  for (auto [name, tensor] : state) tensor.copy_(loaded.at(name));
  return {};
}

}  // namespace gradwatt::training
