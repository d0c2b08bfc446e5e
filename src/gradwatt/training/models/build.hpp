// Between the registry and describe(): a model of the right shape whose parameters hold nothing yet.
#pragma once

#include <memory>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/models/built_model.hpp"
#include "gradwatt/training/models/model.hpp"

namespace gradwatt::training {

/// Memory is reserved, not touched: FourCastNet costs nothing here. Errors: as make_model().
[[nodiscard]] core::Result<std::shared_ptr<BuiltModel>> build_model(const ModelSpec& spec);

}  // namespace gradwatt::training
