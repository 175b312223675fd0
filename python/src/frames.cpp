// Registers many frames to one reference.
#include "arrays.hpp"
#include "bindings.hpp"
#include "errors.hpp"
#include "opened_device.hpp"
#include "registration.hpp"

#include <warpalign/frame_registrar.hpp>
#include <warpalign/sensor_pattern.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

/// A registrar that several threads may call; calls wait for each other.
class SharedFrameRegistrar {
 public:
  SharedFrameRegistrar(OpenedDevice& opened, const RegistrationOptions& options,
                       std::size_t frames_at_once)
      : registrar_(opened.device, options, frames_at_once) {}

  [[nodiscard]] std::size_t frames_at_once() const { return registrar_.frames_at_once(); }

  void set_reference(const InputArray& image, const std::optional<InputArray>& mask) {
    const HostImage view = host_image(image);
    const std::optional<HostImage> mask_view = view_of(mask);
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    if (mask_view) return registrar_.set_reference(view, *mask_view);
    registrar_.set_reference(view);
  }

  /// Returns a dictionary or an exception for each frame.
  nb::list align(const std::vector<InputArray>& frames) {
    std::vector<HostImage> views;
    views.reserve(frames.size());
    for (const InputArray& frame : frames) views.push_back(host_image(frame));
    nb::list results;
    for (const BatchResult& result : found(views)) {
      results.append(result.error ? exception_of(*result.error)
                                  : nb::object(dict_of(*result.result)));
    }
    return results;
  }

  /// `initial`: the nine numbers of a transform in (x, y).
  nb::dict align_near(const InputArray& frame, const std::optional<InputArray>& mask,
                      const std::array<double, 9>& initial) {
    return dict_of(found_near(host_image(frame), view_of(mask), initial));
  }

  nb::dict align_masked(const InputArray& frame, const InputArray& mask) {
    return dict_of(found_masked(host_image(frame), host_image(mask)));
  }

  nb::dict align_next(const InputArray& frame, const std::optional<InputArray>& mask,
                      const std::vector<double>& matrix, int frames) {
    return dict_of(found_next(host_image(frame), view_of(mask), {affine_of(matrix), frames}));
  }

 private:
  static std::optional<HostImage> view_of(const std::optional<InputArray>& mask) {
    if (!mask) return {};
    return host_image(*mask);
  }

  std::vector<BatchResult> found(const std::vector<HostImage>& frames) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return registrar_.align(frames);
  }

  RegistrationResult found_masked(const HostImage& frame, const HostImage& mask) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return registrar_.align(frame, mask);
  }

  RegistrationResult found_near(const HostImage& frame, const std::optional<HostImage>& mask,
                                const Homography& initial) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return mask ? registrar_.align(frame, *mask, initial) : registrar_.align(frame, initial);
  }

  RegistrationResult found_next(const HostImage& frame, const std::optional<HostImage>& mask,
                                const MotionPrior& prior) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return mask ? registrar_.align(frame, *mask, prior) : registrar_.align(frame, prior);
  }

  /// `matrix`: two rows of a matrix that maps (x, y, 1).
  static Affine affine_of(const std::vector<double>& matrix) {
    if (matrix.size() != 6) throw nb::value_error("the prior's matrix must have six numbers");
    return {matrix[0], matrix[1], matrix[2], matrix[3], matrix[4], matrix[5]};
  }

  std::mutex mutex_;
  FrameRegistrar registrar_;
};

/// The offsets as a list of bytes (f32), their rms, the number of frames, whether there is a scene,
/// and whether it is separated from the pattern; or None.
nb::object find_pattern(OpenedDevice& opened, const std::vector<InputArray>& frames,
                        const RegistrationOptions& options, const std::optional<InputArray>& mask) {
  std::vector<HostImage> views;
  views.reserve(frames.size());
  for (const InputArray& frame : frames) views.push_back(host_image(frame));
  std::optional<HostImage> used;
  if (mask) used = host_image(*mask);
  std::optional<SensorPattern> found;
  {
    const nb::gil_scoped_release released;
    found = find_sensor_pattern(opened.device, views, options, used ? &*used : nullptr);
  }
  if (!found) return nb::none();
  const nb::bytes offsets(found->offsets.data(), found->offsets.size() * sizeof(float));
  return nb::make_tuple(offsets, found->rms, found->frames, found->has_scene, found->is_clear);
}

/// `offsets`: f32, of the image's shape.
double pattern_gain(const InputArray& offsets, const InputArray& image,
                    const std::optional<InputArray>& mask) {
  const HostImage plane = host_image(offsets);
  if (plane.type != PixelType::f32) refuse("the offsets must be float32");
  const auto* values = static_cast<const float*>(plane.data);
  SensorPattern pattern;
  pattern.width = plane.width;
  pattern.height = plane.height;
  pattern.offsets.assign(values, values + plane.shape().plane());
  const HostImage shown = host_image(image);
  std::optional<HostImage> used;
  if (mask) used = host_image(*mask);
  const nb::gil_scoped_release released;
  return sensor_pattern_gain(pattern, shown, used ? &*used : nullptr);
}

}  // namespace

void bind_frames(nb::module_& module) {
  module.def("find_sensor_pattern", &find_pattern, nb::arg("device"), nb::arg("frames"),
             nb::arg("options"), nb::arg("mask").noconvert().none(),
             "Find the pattern that is fixed to the sensor: (offsets, rms, frames, scene, clear) "
             "or None.");
  module.def("sensor_pattern_gain", &pattern_gain, nb::arg("offsets").noconvert(),
             nb::arg("image").noconvert(), nb::arg("mask").noconvert().none(),
             "By what factor an image shows the offsets of a sensor; 0 if it does not.");
  nb::class_<SharedFrameRegistrar>(
      module, "FrameRegistrar",
      "Registers frames to a reference; see :func:`warpalign.register_stack`.")
      .def(nb::init<OpenedDevice&, const RegistrationOptions&, std::size_t>(), nb::arg("device"),
           nb::arg("options"), nb::arg("frames_at_once"), nb::keep_alive<1, 2>(),
           nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("frames_at_once", &SharedFrameRegistrar::frames_at_once,
                   "The number of frames that align() should receive at a time.")
      .def("set_reference", &SharedFrameRegistrar::set_reference, nb::arg("image").noconvert(),
           nb::arg("mask").noconvert().none() = nb::none())
      .def("align", &SharedFrameRegistrar::align, nb::arg("frames"))
      .def("align_next", &SharedFrameRegistrar::align_next, nb::arg("frame").noconvert(),
           nb::arg("mask").noconvert().none(), nb::arg("matrix"), nb::arg("frames"),
           "Register a frame that was taken so many frames after one with this matrix.")
      .def("align_near", &SharedFrameRegistrar::align_near, nb::arg("frame").noconvert(),
           nb::arg("mask").noconvert().none(), nb::arg("initial"),
           "Register a frame near a transform.")
      .def("align_masked", &SharedFrameRegistrar::align_masked, nb::arg("frame").noconvert(),
           nb::arg("mask").noconvert());
}

}  // namespace warpalign::python
