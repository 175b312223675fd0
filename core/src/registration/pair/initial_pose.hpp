// The transform near which a registration looks for its answer.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

#include <string>

namespace warpalign::detail {

struct InitialPose {
  Homography transform;  ///< from the reference to the moving image
  Affine similarity;     ///< the similarity that is nearest about the reference's centre
};

/// Throws Error(invalid_argument) if a transform is not finite, singular, or mirrors the plane,
/// which no registration does, or if the options support no such transform.
void check_initial(const Homography& transform, const RegistrationOptions& options);

/// The initial pose for two images. Throws Error(invalid_argument) if the transform maps points of
/// the reference to infinity or every point of it outside of the moving image, or if the options
/// exclude it.
[[nodiscard]] InitialPose initial_pose(const Homography& transform,
                                       const RegistrationOptions& options, const Shape& reference,
                                       const Shape& moving);

/// Throws what check_initial() and initial_pose() throw for two images of these shapes.
void check_initial(const Homography& transform, const RegistrationOptions& options,
                   const Shape& reference, const Shape& moving);
/// The same for one of several pairs. The message begins with `what`, such as "pair 3".
void check_initial(const std::string& what, const Homography& transform,
                   const RegistrationOptions& options, const Shape& reference, const Shape& moving);

}  // namespace warpalign::detail
