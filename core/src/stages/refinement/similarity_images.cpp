// Checks shared by the stages that compare a reference with a moving image's spline.
#include "stages/refinement/similarity_images.hpp"

#include "device/access.hpp"
#include "device/check.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <cmath>

namespace warpalign::detail {

namespace {

void check_weight(const ComparedPair& pair, const char* what, const Device& device,
                  const Image* weight, const Shape& shape) {
  if (pair.masked != (weight != nullptr)) {
    refuse(pair.stage, std::string(what) +
                           (pair.masked ? " is missing"
                                        : " was passed to a plan that was made without weights"));
  }
  if (weight != nullptr) check_image(pair.stage, what, device, *weight, PixelType::f32, shape);
}

const backend::Memory* memory_or_null(const Image* image) {
  return image == nullptr ? nullptr : &Access::memory(*image);
}

}  // namespace

void check_pair(const ComparedPair& pair) {
  check_shape(pair.stage, "the reference", pair.reference);
  check_shape(pair.stage, "the moving image", pair.moving);
  if (pair.reference_margin < 0 || pair.moving_margin < 1) {
    refuse(pair.stage, "the reference's margin must be at least 0, the moving image's at least 1");
  }
}

void check_images(const ComparedPair& pair, const Device& device, const SimilarityImages& images) {
  check_image(pair.stage, "the reference", device, images.reference, PixelType::f32,
              pair.reference);
  check_image(pair.stage, "the coefficients", device, images.coefficients, PixelType::f32,
              pair.moving);
  check_weight(pair, "the reference's weight", device, images.reference_weight, pair.reference);
  check_weight(pair, "the moving image's weight", device, images.moving_weight, pair.moving);
}

void check_matrix(const ComparedPair& pair, const Homography& matrix) {
  for (const double number : matrix.h) {
    if (!std::isfinite(number)) refuse(pair.stage, "the matrix contains NaN or infinity");
  }
  if (matrix.is_affine()) return;
  if (!pair.projective) refuse(pair.stage, "this plan supports only affine matrices");
  if (!is_regular(matrix, pair.reference)) {
    refuse(pair.stage, "the matrix maps points of the reference to infinity");
  }
}

Homography normalized(const Homography& matrix, const Shape& reference) {
  if (matrix.is_affine()) return matrix;
  const Point centre = centre_of(reference);
  const double w = matrix.h[6] * centre.x + matrix.h[7] * centre.y + matrix.h[8];
  Homography result = matrix;
  for (double& value : result.h) value /= w;
  return result;
}

backend::SimilarityMemory memory_of(const SimilarityImages& images) {
  return {Access::memory(images.reference), Access::memory(images.coefficients),
          memory_or_null(images.reference_weight), memory_or_null(images.moving_weight),
          memory_or_null(images.illumination)};
}

}  // namespace warpalign::detail
