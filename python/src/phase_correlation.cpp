// The shift between two images by plain phase correlation.
#include "arrays.hpp"
#include "bindings.hpp"
#include "opened_device.hpp"

#include <warpalign/stages/phase_correlation.hpp>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

nb::tuple find_shift(const OpenedDevice& opened, const InputArray& reference,
                     const InputArray& moving) {
  const HostImage views[] = {host_image(reference), host_image(moving)};
  if (views[0].type != PixelType::f32 || views[1].type != PixelType::f32) {
    refuse("phase correlation takes images of float32");
  }
  if (views[0].shape() != views[1].shape()) {
    refuse("phase correlation takes images of one shape");
  }
  CorrelationPeak peak;
  {
    const nb::gil_scoped_release released;
    const Device& device = opened.device;
    const Shape shape = views[0].shape();
    Stream stream = device.make_stream();
    Image on_device[] = {device.make_image(PixelType::f32, shape),
                         device.make_image(PixelType::f32, shape)};
    Image surface = device.make_image(PixelType::f32, shape);
    const PhaseCorrelationPlan plan(device, {shape});
    for (int i = 0; i < 2; ++i) stream.upload(views[i], on_device[i]);
    plan.execute(stream, on_device[0], on_device[1], surface);
    peak = plan.find_peak();
  }
  return nb::make_tuple(peak.shift.y, peak.shift.x);
}

}  // namespace

void bind_phase_correlation(nb::module_& module) {
  module.def("phase_correlation_shift", &find_shift, nb::arg("device"),
             nb::arg("reference").noconvert(), nb::arg("moving").noconvert(),
             "By how many (rows, columns) the moving image must be shifted to lie on the "
             "reference, both continued periodically. Takes two float32 images of one shape, "
             "without a window.");
}

}  // namespace warpalign::python
