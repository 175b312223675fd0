// Resamples images and volumes by the transform of a deformable registration.
#pragma once

#include "io/array_file.hpp"
#include "io/image_file.hpp"

#include <warpalign/deformation.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <vector>

namespace warpalign::program {

/// The moving array (of 2 or 3 axes) at the transformed pixels of a grid, by its cubic spline; 0
/// outside, and NaN where most of what is sampled is not finite. Has the moving array's type.
/// `extents`: of the grid, slowest axis first.
[[nodiscard]] Array deformed(const Device& device, const Array& moving,
                             const std::vector<std::int64_t>& extents, const Transform& transform);
/// The same for all channels of an image.
[[nodiscard]] LoadedImage deformed(const Device& device, const LoadedImage& moving,
                                   const Shape& grid, const Transform& transform);

/// The displacements T(p) - p of the pixels of a grid, f32, of shape (axes, extents): along x, then
/// y, then z.
[[nodiscard]] Array displacements(const std::vector<std::int64_t>& extents,
                                  const Transform& transform);

/// The determinants of the Jacobian matrix of the B-spline alone, f32, of shape `extents`: the
/// factors by which it changes areas or volumes.
[[nodiscard]] Array jacobians(const std::vector<std::int64_t>& extents,
                              const Deformation& deformation);

/// local_agreement() of two arrays of the same shape (of 2 or 3 axes) and any real types, f32.
/// Pixels are unknown where `inside` is 0.
[[nodiscard]] Array agreement(const Array& reference, const Array& aligned,
                              const std::vector<std::uint8_t>& inside);

/// 1 for pixels of the grid whose transformed positions lie within an array of `moving` extents.
[[nodiscard]] std::vector<std::uint8_t> inside_moving(const std::vector<std::int64_t>& extents,
                                                      const std::vector<std::int64_t>& moving,
                                                      const Transform& transform);

}  // namespace warpalign::program
