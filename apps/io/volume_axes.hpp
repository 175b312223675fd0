// The order and direction of a volume's stored axes.
#pragma once

#include "io/npy.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <array>
#include <cstddef>
#include <string>

namespace warpalign::program {

/// How a volume is reordered: axis k (x, y, z) of the result runs along the stored axis `axis[k]`,
/// backwards if `reversed[k]`.
struct AxisOrder {
  std::array<std::size_t, 3> axis{0, 1, 2};
  std::array<bool, 3> reversed{};

  [[nodiscard]] bool is_identity() const { return *this == AxisOrder{}; }
  friend bool operator==(const AxisOrder&, const AxisOrder&) = default;
};

/// The unit vectors of the axes x, y and z of a volume.
using AxisDirections = std::array<std::array<double, 3>, 3>;
[[nodiscard]] AxisDirections axis_directions(const HomogeneousMatrix& index_to_world);

/// The order in which a volume's axes run most nearly along those of a reference. Both matrices map
/// indices to positions in the same space, and are invertible. A volume whose axes are mirrored
/// relative to the reference's is always mirrored back.
[[nodiscard]] AxisOrder nearest_axes(const HomogeneousMatrix& volume,
                                     const HomogeneousMatrix& reference);

/// Copies the voxels in another order. No voxel is lost or interpolated.
[[nodiscard]] Array reordered(const Array& stored, const AxisOrder& order);
/// Numbers along the stored axes, in the other order.
[[nodiscard]] std::array<double, 3> reordered(const std::array<double, 3>& along,
                                              const AxisOrder& order);
/// Maps indices (x, y, z, 1) of the reordered volume to those of the stored one.
[[nodiscard]] HomogeneousMatrix stored_indices(const AxisOrder& order, const Shape& stored);

/// The directions in which the stored axes x, y and z run, as nibabel names them: "RAS" is towards
/// the right, the front (anterior) and the head (superior).
[[nodiscard]] std::string axis_codes(const HomogeneousMatrix& index_to_world);

}  // namespace warpalign::program
