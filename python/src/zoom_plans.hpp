// Plans of zooms without aliasing, kept for the next call with the same shapes and options.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/stages/zoom.hpp>

#include <cstddef>

namespace warpalign::python {

/// The shape of all outputs of a batch.
[[nodiscard]] inline Shape zoomed_shape(const ZoomSpec& spec) {
  return stacked(spec.output, spec.images.dimensions, spec.images.count);
}

/// A plan with a stream and its images, for host arrays.
struct ZoomWork {
  ZoomWork(const Device& device, const ZoomSpec& spec)
      : stream(device.make_stream()),
        image(device.make_image(spec.input, spec.images.stacked())),
        output(device.make_image(spec.output_type, zoomed_shape(spec))),
        plan(device, spec),
        bytes_(image.size_bytes() + output.size_bytes() + ZoomPlan::scratch_bytes(spec)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Stream stream;
  Image image;
  Image output;
  ZoomPlan plan;

 private:
  std::size_t bytes_;
};

/// A plan for arrays on the device. Its memory is in use until the event completes.
struct ZoomOnDevice {
  ZoomOnDevice(const Device& device, const ZoomSpec& spec)
      : done(device), plan(device, spec), bytes_(ZoomPlan::scratch_bytes(spec)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Event done;
  ZoomPlan plan;

 private:
  std::size_t bytes_;
};

}  // namespace warpalign::python
