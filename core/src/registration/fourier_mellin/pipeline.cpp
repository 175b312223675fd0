// The Fourier-Mellin pipeline (option `fast`): one padded frame, one peak, no refinement.
#include "registration/fourier_mellin/pipeline.hpp"

#include "registration/numerics/confidence.hpp"
#include "registration/pair/registration_result.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>

namespace warpalign::detail {

namespace {

Shape offset_on(const Shape& padded, const Shape& image) {
  return ApodizePlan::offset({image, padded, Window::none});
}

// The transform between pixels of the given images. On the padded frame, reference(x) =
// rotated(x - d) and rotated(x) = moving(A (x - c) + c), so x corresponds to A (x - d - c) + c in
// the moving image.
Affine on_images(const Affine& undo_rotation_scale, const Point& d, const Shape& padded,
                 const Shape& reference, const Shape& moving) {
  const Shape from = offset_on(padded, reference);
  const Shape to = offset_on(padded, moving);
  const auto x = [](const Shape& offset) { return static_cast<double>(offset.width); };
  const auto y = [](const Shape& offset) { return static_cast<double>(offset.height); };
  return Affine::translation(-x(to), -y(to)) * undo_rotation_scale *
         Affine::translation(x(from) - d.x, y(from) - d.y);
}

}  // namespace

template <class Pixels>
void FourierMellinPipeline::set_reference(Stream& stream, StageClock& clock, const Pixels& pixels,
                                          PixelType type) {
  frame_has_reference_ = false;
  if (!reference_ || !reference_->matches(type, pixels.shape())) {
    reference_.reset();
    reference_.emplace(device_, type, pixels.shape());
  }
  try {
    reference_->copy(stream, clock, pixels);
    // Most often the next moving image has the size of the last one, so that this padded frame is
    // right for it. Transforming the reference now keeps the device busy while the host waits for
    // the statistics.
    if (frame_ && frame_->padded() == common_padded_size(reference_->shape(), last_moving_)) {
      transform_reference(stream, clock);
    }
    reference_->require_usable("the reference image");
  } catch (...) {
    frame_has_reference_ = false;
    reference_.reset();
    throw;
  }
}

void FourierMellinPipeline::transform_reference(Stream& stream, StageClock& clock) {
  frame_->set_reference(stream, clock, reference_->copied(), reference_->statistics());
  frame_has_reference_ = true;
}

void FourierMellinPipeline::prepare_frame(Stream& stream, StageClock& clock, const Shape& moving) {
  const Shape shape = common_padded_size(reference_->shape(), moving);
  if (!frame_ || frame_->padded() != shape) {
    frame_.reset();  // release the old memory before allocating the new
    frame_has_reference_ = false;
    frame_.emplace(device_, shape, options_);
  }
  last_moving_ = moving;
  if (!frame_has_reference_) transform_reference(stream, clock);
}

template <class Pixels>
RegistrationResult FourierMellinPipeline::align(Stream& stream, StageClock& clock,
                                                const Pixels& pixels, PixelType type) {
  prepare_frame(stream, clock, pixels.shape());
  if (!moving_ || !moving_->matches(type, pixels.shape())) {
    moving_.reset();
    moving_.emplace(device_, type, pixels.shape());
  }
  const Image& moving = moving_->use(stream, clock, pixels);
  const RotationScale rotation_scale =
      frame_->find_rotation_scale(stream, clock, moving, moving_->statistics());
  moving_->require_usable("the moving image");
  return result_of(rotation_scale, frame_->find_shifts(stream, clock, rotation_scale));
}

RegistrationResult FourierMellinPipeline::result_of(const RotationScale& rotation_scale,
                                                    const std::array<Shift, 2>& shifts) const {
  const bool rotated_180 = shifts[1].deviations > shifts[0].deviations;
  const Shift& shift = shifts[rotated_180 ? 1 : 0];
  const Shape& padded = frame_->padded();
  const Similarity found{
      rotation_scale.rotation_deg + (rotated_180 ? 180.0 : 0.0), rotation_scale.scale, {}};
  const Affine matrix = on_images(found.matrix(padded, padded), shift.d, padded,
                                  reference_->shape(), moving_->shape());
  RegistrationResult result;
  static_cast<Alignment&>(result) = alignment_of(matrix, reference_->shape(), moving_->shape());
  result.correlation = shift.height;
  result.significance = shift.deviations;
  result.confidence = fast_confidence(shift.deviations, padded.plane());
  result.reliable = result.confidence >= 0.5;
  return result;
}

template void FourierMellinPipeline::set_reference(Stream&, StageClock&, const HostImage&,
                                                   PixelType);
template void FourierMellinPipeline::set_reference(Stream&, StageClock&, const Image&, PixelType);
template RegistrationResult FourierMellinPipeline::align(Stream&, StageClock&, const HostImage&,
                                                         PixelType);
template RegistrationResult FourierMellinPipeline::align(Stream&, StageClock&, const Image&,
                                                         PixelType);

}  // namespace warpalign::detail
