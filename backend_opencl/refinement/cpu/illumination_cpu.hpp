// The local gain and offset between two registered images, on CPUs: sixteen values at a time.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>

#include <memory>
#include <vector>

namespace warpalign::opencl {

/// For CPUs with vectors.
[[nodiscard]] std::unique_ptr<backend::Illumination> make_illumination_cpu(
    Context& context, const IlluminationSpec& spec, const std::vector<float>& weights);

}  // namespace warpalign::opencl
