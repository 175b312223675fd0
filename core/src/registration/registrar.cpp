// The registration pipeline.
#include <warpalign/registrar.hpp>

#include "check.hpp"
#include "registration/confidence.hpp"
#include "registration/source.hpp"
#include "registration/workspace.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/apodize.hpp>

#include <cmath>
#include <optional>

namespace warpalign {

namespace {

RegistrationOptions checked(const RegistrationOptions& options) {
  constexpr const char* stage = "register";
  if (!std::isfinite(options.spectrum_exponent) || options.spectrum_exponent <= 0) {
    detail::refuse(stage, "spectrum_exponent must be above 0");
  }
  for (const float sigma : {options.log_polar_sigma, options.translation_sigma}) {
    if (!std::isfinite(sigma) || sigma < 0) detail::refuse(stage, "sigma must be 0 or more");
  }
  return options;
}

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

double within_half_circle(double degrees) {
  return degrees > 180 ? degrees - 360 : (degrees <= -180 ? degrees + 360 : degrees);
}

}  // namespace

struct Registrar::State {
  State(const Device& device_, const RegistrationOptions& options_)
      : device(device_),
        options(options_),
        stream(device.make_stream(options.collect_timings)),
        clock(stream) {}

  template <class Pixels>
  void set_reference(const Pixels& pixels, PixelType type);
  template <class Pixels>
  RegistrationResult align(const Pixels& pixels, PixelType type);

  void prepare_workspace(const Shape& moving);
  RegistrationResult result_of(const detail::Turn& turn,
                               const std::array<detail::Shift, 2>& shifts);

  Device device;
  RegistrationOptions options;
  Stream stream;
  detail::StageClock clock;
  std::optional<detail::Source> reference;
  std::optional<detail::Source> moving;
  std::optional<detail::Workspace> workspace;
  bool workspace_has_reference = false;
};

template <class Pixels>
void Registrar::State::set_reference(const Pixels& pixels, PixelType type) {
  detail::check_registrable("the reference", type, pixels.shape());
  workspace_has_reference = false;
  if (!reference || !reference->fits(type, pixels.shape())) {
    reference.reset();
    reference.emplace(device, type, pixels.shape());
  }
  try {
    reference->take(stream, clock, pixels);
    reference->require_usable(stream, "the reference image");
  } catch (...) {
    reference.reset();
    throw;
  }
}

void Registrar::State::prepare_workspace(const Shape& moving_shape) {
  const Shape canvas = detail::common_canvas(reference->shape(), moving_shape);
  if (!workspace || workspace->canvas() != canvas) {
    workspace.reset();  // the old memory goes before the new is asked for
    workspace_has_reference = false;
    workspace.emplace(device, canvas, options);
  }
  if (!workspace_has_reference) workspace->set_reference(stream, clock, *reference);
  workspace_has_reference = true;
}

template <class Pixels>
RegistrationResult Registrar::State::align(const Pixels& pixels, PixelType type) {
  if (!reference) detail::refuse("register", "set_reference must be called before align");
  detail::check_registrable("the moving image", type, pixels.shape());
  prepare_workspace(pixels.shape());
  if (!moving || !moving->fits(type, pixels.shape())) {
    moving.reset();
    moving.emplace(device, type, pixels.shape());
  }
  moving->take(stream, clock, pixels);
  const detail::Turn turn = workspace->find_turn(stream, clock, *moving);
  moving->require_usable(stream, "the moving image");
  RegistrationResult result = result_of(turn, workspace->find_shifts(stream, clock, turn));
  result.timings = clock.take();
  return result;
}

RegistrationResult Registrar::State::result_of(const detail::Turn& turn,
                                               const std::array<detail::Shift, 2>& shifts) {
  const bool half_turn = shifts[1].deviations > shifts[0].deviations;
  const detail::Shift& shift = shifts[half_turn ? 1 : 0];
  const Shape& canvas = workspace->canvas();

  RegistrationResult result;
  result.similarity.rotation_deg =
      within_half_circle(turn.rotation_deg + (half_turn ? 180.0 : 0.0));
  result.similarity.scale = turn.scale;
  const Affine undo =
      Similarity{result.similarity.rotation_deg, turn.scale, {}}.matrix(canvas, canvas);
  result.matrix = on_images(undo, shift.d, canvas, reference->shape(), moving->shape());
  const Point landed = result.matrix(centre_of(reference->shape()));
  const Point centre = centre_of(moving->shape());
  result.similarity.translation = {landed.x - centre.x, landed.y - centre.y};
  result.peak_height = shift.height;
  result.peak_significance = shift.deviations;
  result.confidence = detail::confidence_of(shift.deviations, canvas.plane());
  result.reliable = result.confidence >= 0.5;
  return result;
}

Registrar::Registrar(const Device& device, const RegistrationOptions& options)
    : state_(std::make_unique<State>(device, checked(options))) {}
Registrar::Registrar(Registrar&&) noexcept = default;
Registrar& Registrar::operator=(Registrar&&) noexcept = default;
Registrar::~Registrar() = default;

void Registrar::set_reference(const HostImage& image) { state_->set_reference(image, image.type); }
void Registrar::set_reference(const Image& image) { state_->set_reference(image, image.type()); }
RegistrationResult Registrar::align(const HostImage& image) {
  return state_->align(image, image.type);
}
RegistrationResult Registrar::align(const Image& image) {
  return state_->align(image, image.type());
}

RegistrationResult register_images(const Device& device, const HostImage& reference,
                                   const HostImage& moving, const RegistrationOptions& options) {
  Registrar registrar(device, options);
  registrar.set_reference(reference);
  return registrar.align(moving);
}

}  // namespace warpalign
