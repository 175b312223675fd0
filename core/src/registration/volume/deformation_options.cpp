// What the options of a registration of volumes say about the deformation.
#include "registration/volume/deformation_options.hpp"

#include "device/check.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace warpalign::detail {

namespace {

constexpr const char* registration = "register_volume";

std::string without_trailing_zeros(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

double smallest_of(const Point3& spacing) { return std::min({spacing.x, spacing.y, spacing.z}); }

/// The longest side, in the unit of the spacing.
double longest_side(const Shape& shape, const Point3& spacing) {
  return std::max({static_cast<double>(shape.width) * spacing.x,
                   static_cast<double>(shape.height) * spacing.y,
                   static_cast<double>(shape.depth) * spacing.z});
}

}  // namespace

void check_deformation(const VolumeRegistrationOptions& options) {
  using Limits = RegistrationOptions;
  const VolumeRegistrationOptions defaults;
  if (options.motion != Motion::deformable) {
    if (options.grid_spacing || options.bending_weight != defaults.bending_weight) {
      refuse(registration,
             "only the motion deformable has a grid; do not set grid_spacing or bending_weight");
    }
    return;
  }
  if (!(options.bending_weight >= Limits::min_bending_weight) ||
      !(options.bending_weight <= Limits::max_bending_weight)) {
    refuse(registration, "bending_weight must be " +
                             without_trailing_zeros(Limits::min_bending_weight) + " to " +
                             without_trailing_zeros(Limits::max_bending_weight));
  }
  if (!options.grid_spacing) return;
  const double least = Limits::min_grid_spacing * smallest_of(options.reference_spacing);
  // Spacings of files are often single precision.
  if (!std::isfinite(*options.grid_spacing) || *options.grid_spacing < (1 - 1e-6) * least) {
    refuse(registration, "grid_spacing must be at least 2 voxels of the reference, " +
                             without_trailing_zeros(least) + " in the unit of its spacing");
  }
}

void check_grid_fits(const VolumeRegistrationOptions& options, const Shape& reference) {
  if (!options.grid_spacing) return;
  const double most = longest_side(reference, options.reference_spacing);
  if (*options.grid_spacing <= most) return;
  refuse(registration, "grid_spacing must be at most the longest side of the reference, " +
                           without_trailing_zeros(most) + " in the unit of its spacing");
}

DeformableSettings deformable_settings(const VolumeRegistrationOptions& options) {
  DeformableSettings settings{.bending_weight = options.bending_weight};
  if (options.grid_spacing) {
    settings.grid_spacing =
        std::max(*options.grid_spacing / smallest_of(options.reference_spacing), min_grid_spacing);
  }
  return settings;
}

VolumeRegistrationOptions with_default_grid(VolumeRegistrationOptions options) {
  if (options.motion == Motion::deformable && !options.grid_spacing) {
    options.grid_spacing = default_grid_spacing * smallest_of(options.reference_spacing);
  }
  return options;
}

}  // namespace warpalign::detail
