#include "gradwatt/training/models/build.hpp"
#include "gradwatt/training/models/model.hpp"

namespace gradwatt::training {

core::Result<std::vector<LayerLine>> describe(const ModelSpec& spec) {
  const auto complete = complete_spec(spec);
  if (!complete) return core::fail(complete.error());
  const auto model = build_model(*complete);
  if (!model) return core::fail(model.error());
  return (*model)->list_layers({complete->in_channels, complete->height, complete->width});
}

}  // namespace gradwatt::training
