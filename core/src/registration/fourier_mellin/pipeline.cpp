// The registration paper's pipeline: one canvas, one peak, no refinement.
#include "registration/fourier_mellin/pipeline.hpp"

#include "registration/confidence.hpp"
#include "registration/registration_result.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>

namespace warpalign::detail {

namespace {

Shape offset_on(const Shape& canvas, const Shape& image) {
  return ApodizePlan::offset({image, canvas, Window::none});
}

// From the canvas to the pixels of the images given: reference(x) = turned(x - d) and
// turned(x) = moving(A (x - c) + c) make moving = A (x - d - c) + c the place of x on the canvas.
Affine on_images(const Affine& undo_turn, const Point& d, const Shape& canvas,
                 const Shape& reference, const Shape& moving) {
  const Shape from = offset_on(canvas, reference);
  const Shape to = offset_on(canvas, moving);
  const auto x = [](const Shape& offset) { return static_cast<double>(offset.width); };
  const auto y = [](const Shape& offset) { return static_cast<double>(offset.height); };
  return Affine::translation(-x(to), -y(to)) * undo_turn *
         Affine::translation(x(from) - d.x, y(from) - d.y);
}

}  // namespace

template <class Pixels>
void FastPipeline::set_reference(Stream& stream, StageClock& clock, const Pixels& pixels,
                                 PixelType type) {
  canvas_has_reference_ = false;
  if (!reference_ || !reference_->fits(type, pixels.shape())) {
    reference_.reset();
    reference_.emplace(device_, type, pixels.shape());
  }
  try {
    reference_->keep(stream, clock, pixels);
    // The device goes on while the host waits for the statistics, where the canvas can be known.
    if (canvas_ && canvas_->canvas() == common_canvas(reference_->shape(), last_moving_)) {
      place_reference(stream, clock);
    }
    reference_->require_usable("the reference image");
  } catch (...) {
    canvas_has_reference_ = false;
    reference_.reset();
    throw;
  }
}

void FastPipeline::place_reference(Stream& stream, StageClock& clock) {
  canvas_->set_reference(stream, clock, reference_->kept(), reference_->statistics());
  canvas_has_reference_ = true;
}

void FastPipeline::prepare_canvas(Stream& stream, StageClock& clock, const Shape& moving) {
  const Shape shape = common_canvas(reference_->shape(), moving);
  if (!canvas_ || canvas_->canvas() != shape) {
    canvas_.reset();  // the old memory goes before the new is asked for
    canvas_has_reference_ = false;
    canvas_.emplace(device_, shape, options_);
  }
  last_moving_ = moving;
  if (!canvas_has_reference_) place_reference(stream, clock);
}

template <class Pixels>
RegistrationResult FastPipeline::align(Stream& stream, StageClock& clock, const Pixels& pixels,
                                       PixelType type) {
  prepare_canvas(stream, clock, pixels.shape());
  if (!moving_ || !moving_->fits(type, pixels.shape())) {
    moving_.reset();
    moving_.emplace(device_, type, pixels.shape());
  }
  const Image& moving = moving_->see(stream, clock, pixels);
  const Turn turn = canvas_->find_turn(stream, clock, moving, moving_->statistics());
  moving_->require_usable("the moving image");
  return result_of(turn, canvas_->find_shifts(stream, clock, turn));
}

RegistrationResult FastPipeline::result_of(const Turn& turn,
                                           const std::array<Shift, 2>& shifts) const {
  const bool half_turn = shifts[1].deviations > shifts[0].deviations;
  const Shift& shift = shifts[half_turn ? 1 : 0];
  const Shape& canvas = canvas_->canvas();
  const Similarity found{turn.rotation_deg + (half_turn ? 180.0 : 0.0), turn.scale, {}};
  const Affine matrix = on_images(found.matrix(canvas, canvas), shift.d, canvas,
                                  reference_->shape(), moving_->shape());
  RegistrationResult result;
  static_cast<Registered&>(result) = registered(matrix, reference_->shape(), moving_->shape());
  result.correlation = shift.height;
  result.significance = shift.deviations;
  result.confidence = fast_confidence(shift.deviations, canvas.plane());
  result.reliable = result.confidence >= 0.5;
  return result;
}

template void FastPipeline::set_reference(Stream&, StageClock&, const HostImage&, PixelType);
template void FastPipeline::set_reference(Stream&, StageClock&, const Image&, PixelType);
template RegistrationResult FastPipeline::align(Stream&, StageClock&, const HostImage&, PixelType);
template RegistrationResult FastPipeline::align(Stream&, StageClock&, const Image&, PixelType);

}  // namespace warpalign::detail
