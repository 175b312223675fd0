// The transform near which a registration of volumes looks for its answer.
#include "registration/volume/initial_transform.hpp"

#include "device/check.hpp"
#include "registration/volume/geometry/volume_grid.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace warpalign::detail {

namespace {

constexpr const char* stage = "register_volume";
// Below this, relative to the product of the rows' lengths, the linear part has one dimension less.
constexpr double min_relative_determinant = 1e-6;
// A rough estimate may exceed the limits of the options by as much as the result may.
constexpr double slack_degrees = 1;
constexpr double slack_scale = 1.03;
constexpr double slack_voxels = 0.5;
constexpr int grid_steps = 8;

bool is_inside(const Vector3& p, const VolumeGrid& grid) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(std::abs(p[i]) <= grid.middle(i) * grid.spacing[i])) return false;
  }
  return true;
}

/// Whether a point of a grid on `from` is mapped into `to`.
bool maps_any_point_inside(const SpatialTransform& transform, const VolumeGrid& from,
                           const VolumeGrid& to) {
  const auto position = [&](std::size_t axis, int step) {
    return from.middle(axis) * from.spacing[axis] * (2.0 * step / grid_steps - 1);
  };
  for (int z = 0; z <= grid_steps; ++z) {
    for (int y = 0; y <= grid_steps; ++y) {
      for (int x = 0; x <= grid_steps; ++x) {
        if (is_inside(transform({position(0, x), position(1, y), position(2, z)}), to)) return true;
      }
    }
  }
  return false;
}

SpatialTransform inverse(const SpatialTransform& transform) {
  const Matrix3 t = inverse_transposed(transform.linear);
  SpatialTransform back;
  back.linear = {t[0], t[3], t[6], t[1], t[4], t[7], t[2], t[5], t[8]};
  const Vector3 shift = product(back.linear, transform.shift);
  back.shift = {-shift[0], -shift[1], -shift[2]};
  return back;
}

[[noreturn]] void refuse_excluded(const std::string& what, const std::string& limit) {
  refuse(stage, "the options exclude the initial transform: " + what + "; change " + limit);
}

std::string text_of(double value) {
  std::string text = std::to_string(std::round(value * 100) / 100);
  text.erase(text.find('.') + 3);
  return text;
}

void check_limits(const SpatialTransform& transform, const VolumeRegistrationOptions& options) {
  const double degrees = angle_of(nearest_rotation(transform.linear)) * 180 / std::numbers::pi;
  const double max_degrees = options.motion == Motion::translation ? 0 : options.max_rotation;
  if (degrees > max_degrees + slack_degrees) {
    refuse_excluded("it rotates by " + text_of(degrees) + " degrees", "max_rotation or the motion");
  }
  const double scale = std::cbrt(determinant(transform.linear));
  const bool scales = options.motion == Motion::similarity || options.motion == Motion::affine;
  if (!scales && std::max(scale, 1 / scale) > slack_scale) {
    refuse_excluded("its scale is " + text_of(scale), "the motion or the spacings");
  }
  const Point3& limit = options.max_shift;
  const Point3& spacing = options.moving_spacing;
  const std::array limits{limit.x, limit.y, limit.z};
  const std::array spacings{spacing.x, spacing.y, spacing.z};
  for (std::size_t i = 0; i < 3; ++i) {
    const double shift = transform.shift[i] / spacings[i];
    if (limits[i] > 0 && std::abs(shift) > limits[i] + slack_voxels) {
      refuse_excluded("its shift is " + text_of(shift) + " voxels along " + "xyz"[i], "max_shift");
    }
  }
}

}  // namespace

VoxelRows checked_initial(const HomogeneousMatrix& transform) {
  VoxelRows rows;
  std::copy_n(transform.m.begin(), rows.size(), rows.begin());
  if (!std::all_of(transform.m.begin(), transform.m.end(),
                   [](double value) { return std::isfinite(value); })) {
    refuse(stage, "the initial transform must be finite");
  }
  if (!transform.is_affine()) {
    refuse(stage, "the initial transform must be affine: its last row must be 0 0 0 1");
  }
  const Matrix3 linear{rows[0], rows[1], rows[2], rows[4], rows[5],
                       rows[6], rows[8], rows[9], rows[10]};
  const double volume = determinant(linear);
  const double lengths = std::hypot(linear[0], linear[1], linear[2]) *
                         std::hypot(linear[3], linear[4], linear[5]) *
                         std::hypot(linear[6], linear[7], linear[8]);
  if (!(std::abs(volume) > min_relative_determinant * lengths)) {
    refuse(stage, "the initial transform is singular: it maps the reference to a plane or less");
  }
  if (volume < 0) {
    refuse(stage,
           "the initial transform mirrors the volume, which no registration does; mirror one of "
           "the volumes first");
  }
  return rows;
}

void check_initial(const VoxelRows& rows, const VolumeRegistrationOptions& options,
                   const Shape& reference, const Shape& moving) {
  const Point3& r = options.reference_spacing;
  const Point3& m = options.moving_spacing;
  const VolumeGrid from{reference, {r.x, r.y, r.z}, {}};
  const VolumeGrid to{moving, {m.x, m.y, m.z}, {}};
  const SpatialTransform transform = spatial_transform_of(rows, from, to);
  if (!maps_any_point_inside(transform, from, to) &&
      !maps_any_point_inside(inverse(transform), to, from)) {
    refuse(stage,
           "the initial transform puts the volumes apart: it maps no voxel of the reference into "
           "the moving volume; it must map voxels of the reference to the moving volume");
  }
  check_limits(transform, options);
}

}  // namespace warpalign::detail
