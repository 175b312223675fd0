// Plans and buffers for splines in double precision, kept for the next call of the same kind.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/stages/double_spline.hpp>

#include <cstddef>
#include <optional>

namespace warpalign::python {

/// A plan with its stream and images, for arrays on the host.
struct DoubleSplineWork {
  DoubleSplineWork(const Device& device, const DoubleSplineSpec& spec);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The image of the points. The first call allocates it.
  [[nodiscard]] Image& points();

  Stream stream;
  Image images;
  Image output;
  DoubleSplinePlan plan;

 private:
  Device device_;
  Shape points_shape_;
  std::optional<Image> points_;
  std::size_t bytes_;
};

/// A plan for arrays on the device. Its memory is in use until the event completes.
struct DoubleSplineOnDevice {
  DoubleSplineOnDevice(const Device& device, const DoubleSplineSpec& spec)
      : done(device), plan(device, spec), bytes_(DoubleSplinePlan::scratch_bytes(spec)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Event done;
  DoubleSplinePlan plan;

 private:
  std::size_t bytes_;
};

}  // namespace warpalign::python
