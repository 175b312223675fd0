// What a call needs to evaluate a spline in double precision, kept for the next call like it.
#pragma once

#include <warpalign/stages/double_spline.hpp>

#include <cstddef>
#include <optional>

namespace warpalign::python {

/// A plan with a stream and the images it works on, for arrays of the host.
struct DoubleSplineWork {
  DoubleSplineWork(const Device& device, const DoubleSplineSpec& spec);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The points, allocated by the first call.
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

/// A plan of degree 0 for arrays that are on the device. It has no memory of its own.
struct CopiesOnDevice {
  CopiesOnDevice(const Device& device, const DoubleSplineSpec& spec) : plan(device, spec) {}
  [[nodiscard]] static std::size_t bytes() { return 0; }

  DoubleSplinePlan plan;
};

}  // namespace warpalign::python
