// Plans of warpalign.ndimage that evaluate splines, kept for the next call with the same shapes
// and options.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/transform_warp.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace warpalign::python {

/// A plan's own device memory, approximately: coefficients, and images that are converted.
[[nodiscard]] std::size_t plan_bytes(const ResampleSpec& spec);
/// The shape of the coordinate field for one output.
[[nodiscard]] inline Shape field_shape(const ResampleSpec& spec) {
  return {spec.output.width, spec.output.height, spec.output.depth * spec.images.dimensions};
}

/// A plan with a stream and its images, for host arrays.
struct ResampleWork {
  ResampleWork(const Device& device, const ResampleSpec& spec);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The coordinate field, allocated by the first call.
  [[nodiscard]] Image& coordinates();

  Stream stream;
  Image image;
  Image output;
  std::vector<float> staged_coordinates;
  ResamplePlan plan;

 private:
  Device device_;
  Shape field_shape_;
  std::optional<Image> coordinates_;
  std::size_t bytes_;
};

/// A plan for arrays on the device. Its memory is in use until the event completes.
struct ResampleOnDevice {
  ResampleOnDevice(const Device& device, const ResampleSpec& spec)
      : done(device), plan(device, spec), bytes_(plan_bytes(spec)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Event done;
  ResamplePlan plan;

 private:
  std::size_t bytes_;
};

/// The same for warps by a transform on the device.
struct WarpOnDevice {
  WarpOnDevice(const Device& device, const ResampleSpec& spec)
      : done(device), plan(device, spec), bytes_(plan_bytes(spec)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_ + plan.coordinate_bytes(); }

  Event done;
  TransformWarpPlan plan;

 private:
  std::size_t bytes_;
};

}  // namespace warpalign::python
