// The options of commands that register volumes.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

#include <array>
#include <optional>
#include <string>

namespace warpalign::program {

// These functions throw UsageError, naming the option.

/// Of --modality.
[[nodiscard]] Modality volume_modality_of(const std::optional<std::string>& name);
/// Of --max-rotation, in degrees.
[[nodiscard]] double checked_rotation(double degrees);
/// Parses distances in the order of NumPy's axes: z, y, x. Returns them along x, y and z.
[[nodiscard]] std::array<double, 3> parse_spacing(const std::string& option,
                                                  const std::string& text);
/// Of --bending-weight.
[[nodiscard]] double bending_weight_of(const std::optional<double>& weight);
/// Refuses --grid-spacing and --bending-weight for motions without a deformation.
void refuse_without_deformation(Motion motion, const std::optional<double>& grid_spacing,
                                const std::optional<double>& bending_weight);
/// Refuses a grid that a volume of this shape, with these distances of voxels, cannot have.
void check_grid_spacing(double grid_spacing, const Shape& shape, const Point3& voxel);

}  // namespace warpalign::program
