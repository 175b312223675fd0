// Resampling of an image with missing samples, all of it on a device.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/resample.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Whether resample_holes() supports the spec: the device is no CPU, whose threads fill holes
/// faster by themselves, the arrays fit into its memory, f32 has all values of their types, and the
/// spline has a degree.
[[nodiscard]] bool can_resample_holes(const Device& device, const ResampleSpec& spec);

/// resample_known() of an image of which samples are missing. `known`: a byte for each sample.
void resample_holes(const Device& device, const ResampleSpec& spec, const void* image,
                    const std::vector<std::uint8_t>& known,
                    const HomogeneousMatrix& output_to_input, std::optional<double> nodata,
                    void* output, std::span<float> weights);

}  // namespace warpalign::detail
