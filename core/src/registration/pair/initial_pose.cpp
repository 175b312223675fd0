// The transform near which a registration looks for its answer.
#include "registration/pair/initial_pose.hpp"

#include "device/check.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/registration_result.hpp"
#include "registration/pair/search_limits.hpp"

#include <warpalign/motion_limits.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace warpalign::detail {

namespace {

constexpr const char* stage = "register";

// Below this, relative to the product of the rows' lengths, the linear part has one dimension less.
constexpr double min_relative_determinant = 1e-6;

std::string text_of(double value) {
  std::string text = std::to_string(std::round(value * 100) / 100);
  text.erase(text.find('.') + 3);
  return text;
}

// Whether a transform is clearly none of a motion.
bool exceeds_motion(Motion motion, const Similarity& transform) {
  constexpr double degrees = 1;
  constexpr double ratio = 1.03;
  const double scale = std::max(transform.scale, 1 / transform.scale);
  return (fixes_rotation(motion) && std::abs(transform.rotation_deg) > degrees) ||
         (fixes_scale(motion) && scale > ratio);
}

bool maps_any_point_inside(const Homography& transform, const Shape& reference,
                           const Shape& moving) {
  bool any = false;
  for_each_grid_point(reference, [&](Point p) { any = any || is_inside(transform(p), moving); });
  // The grid's points are apart: a corner of the moving image may lie between them.
  const Homography back = transform.inverse();
  for_each_grid_point(moving, [&](Point p) { any = any || is_inside(back(p), reference); });
  return any;
}

}  // namespace

void check_initial(const Homography& transform, const RegistrationOptions& options) {
  if (options.fast) refuse(stage, "the fast pipeline does not support an initial transform");
  const auto& h = transform.h;
  if (!std::all_of(h.begin(), h.end(), [](double value) { return std::isfinite(value); })) {
    refuse(stage, "the initial transform must be finite");
  }
  if (h[8] == 0 && h[6] == 0 && h[7] == 0) refuse(stage, "the initial transform is singular");
  const double determinant = h[0] * (h[4] * h[8] - h[5] * h[7]) -
                             h[1] * (h[3] * h[8] - h[5] * h[6]) +
                             h[2] * (h[3] * h[7] - h[4] * h[6]);
  const double rows =
      std::hypot(h[0], h[1]) * std::hypot(h[3], h[4]) * std::hypot(h[6], h[7], h[8]);
  if (!(std::abs(determinant) > min_relative_determinant * rows)) {
    refuse(stage, "the initial transform is singular: it maps the reference to a line or a point");
  }
  // A common factor of the matrix does not matter, but its sign is that of its cube.
  const double sign = transform.is_affine() ? determinant : determinant * h[8];
  if (sign < 0) {
    refuse(stage,
           "the initial transform mirrors the image, which no registration does; mirror one of the "
           "images first");
  }
  if (options.motion == Motion::deformable && !transform.is_affine()) {
    refuse(stage, "the initial transform of the motion deformable must be affine");
  }
}

InitialPose initial_pose(const Homography& transform, const RegistrationOptions& options,
                         const Shape& reference, const Shape& moving) {
  if (!is_regular(transform, reference)) {
    refuse(stage, "the initial transform maps a point of the reference to infinity");
  }
  if (!maps_any_point_inside(transform, reference, moving)) {
    refuse(stage,
           "the initial transform puts the images apart: it maps no point of the reference into "
           "the moving image; it must map pixels of the reference, (x, y), to the moving image");
  }
  const Similarity nearest =
      alignment_of(Motion::homography, transform, reference, moving).similarity;
  const Affine similarity = nearest.matrix(reference, moving);
  if (!within_limits(options, reference, moving, similarity) ||
      exceeds_motion(options.motion, nearest)) {
    refuse(stage, "the options exclude the initial transform: its rotation is " +
                      text_of(nearest.rotation_deg) + " degrees, its scale " +
                      text_of(nearest.scale) + " and its shift (" + text_of(nearest.translation.x) +
                      ", " + text_of(nearest.translation.y) +
                      ") pixels; change the limits or the motion");
  }
  return {transform, similarity};
}

void check_initial(const Homography& transform, const RegistrationOptions& options,
                   const Shape& reference, const Shape& moving) {
  check_initial(transform, options);
  static_cast<void>(initial_pose(transform, options, reference, moving));
}

void check_initial(const std::string& what, const Homography& transform,
                   const RegistrationOptions& options, const Shape& reference,
                   const Shape& moving) {
  try {
    check_initial(transform, options, reference, moving);
  } catch (const Error& error) {
    refuse(stage, what + ": " + error.message());
  }
}

}  // namespace warpalign::detail
