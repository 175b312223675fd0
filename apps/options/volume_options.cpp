// The options of commands that register volumes.
#include "options/volume_options.hpp"

#include "io/usage_error.hpp"
#include "options/number_list.hpp"

#include <warpalign/volume_registrar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpalign::program {

Modality volume_modality_of(const std::optional<std::string>& name) {
  if (!name || *name == "same") return Modality::same;
  if (*name == "other") return Modality::other;
  if (*name == "auto") return Modality::automatic;
  throw UsageError(
      fmt::format("invalid value '{}' for --modality (choose from: same, other, auto)", *name));
}

double checked_rotation(double degrees) {
  if (degrees > 0 && degrees <= 180) return degrees;
  throw UsageError(
      fmt::format("--max-rotation {}: must be above 0, and at most 180 degrees", degrees));
}

std::array<double, 3> parse_spacing(const std::string& option, const std::string& text) {
  std::vector<double> numbers = parse_numbers(option, text);
  if (numbers.size() == 1) numbers.resize(3, numbers.front());
  const auto positive = [](double number) { return number > 0 && std::isfinite(number); };
  if (numbers.size() != 3 || !std::all_of(numbers.begin(), numbers.end(), positive)) {
    throw UsageError(
        fmt::format("{} {}: must be a number above 0, or three for z, y and x", option, text));
  }
  return {numbers[2], numbers[1], numbers[0]};
}

double bending_weight_of(const std::optional<double>& weight) {
  using Limits = RegistrationOptions;
  if (!weight) return VolumeRegistrationOptions{}.bending_weight;
  if (*weight >= Limits::min_bending_weight && *weight <= Limits::max_bending_weight) {
    return *weight;
  }
  throw UsageError(fmt::format("--bending-weight {}: must be a number from {} to {}", *weight,
                               Limits::min_bending_weight, Limits::max_bending_weight));
}

void refuse_without_deformation(Motion motion, const std::optional<double>& grid_spacing,
                                const std::optional<double>& bending_weight) {
  if (motion == Motion::deformable || (!grid_spacing && !bending_weight)) return;
  throw UsageError(fmt::format("{}: is for --motion deformable",
                               grid_spacing ? "--grid-spacing" : "--bending-weight"));
}

void check_grid_spacing(double grid_spacing, const Shape& shape, const Point3& voxel) {
  const double least =
      RegistrationOptions::min_grid_spacing * std::min({voxel.x, voxel.y, voxel.z});
  const double most = std::max({static_cast<double>(shape.width) * voxel.x,
                                static_cast<double>(shape.height) * voxel.y,
                                static_cast<double>(shape.depth) * voxel.z});
  // Spacings of files are often single precision.
  if (grid_spacing >= (1 - 1e-6) * least && grid_spacing <= most) return;
  throw UsageError(
      fmt::format("--grid-spacing {}: must be from {:.4g} mm (two voxels of the reference) to "
                  "{:.4g} mm (its longest side)",
                  grid_spacing, least, most));
}

}  // namespace warpalign::program
