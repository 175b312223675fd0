// A pair whose moving image is warped to the frame of the reference.
#include "registration/pair/rectified_pair.hpp"

#include "registration/pyramid/grey_plane.hpp"
#include "registration/pyramid/host_copy.hpp"
#include "registration/pyramid/rectified.hpp"

#include <vector>

namespace warpalign::detail {

namespace {

GreyPlane plane_of(const PairContext& work, const PyramidLevel& level) {
  GreyPlane plane(level.shape().width, level.shape().height);
  copy_to_host(work.stream, level.values(), plane.values);
  return plane;
}

}  // namespace

std::optional<PairContext> RectifiedPair::show(const PairContext& work,
                                               const Homography& to_moving) {
  const PyramidLevel& whole = work.moving.level(work.stream, work.clock, {1});
  std::vector<float> weights;
  if (whole.weight() != nullptr) copy_to_host(work.stream, *whole.weight(), weights);
  const Shape& shape = work.reference.shape();
  const RectifiedImage image = rectified(plane_of(work, whole), weights, to_moving, shape);
  if (!is_registrable(image)) return std::nullopt;
  if (!warped_moving_ || !warped_moving_->matches(PixelType::f32, shape)) {
    warped_moving_.reset();  // release the old memory before allocating the new
    warped_moving_.emplace(device_, PixelType::f32, shape);
  }
  const HostImage values{image.values.values.data(), PixelType::f32, shape.width, shape.height, 0};
  const HostImage mask{image.mask.data(), PixelType::u8, shape.width, shape.height, 0};
  warped_moving_->take(work.stream, work.clock, values, &mask, "the moving image");
  return work.with_images(work.reference, *warped_moving_);
}

}  // namespace warpalign::detail
