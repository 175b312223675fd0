// What a call of warpalign.ndimage needs to evaluate a spline, kept for the next call like it.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/stages/resample.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace warpalign::python {

struct ResampleKey {
  Shape image;
  Shape output;
  int dimensions = 2;
  PixelType input = PixelType::f32;
  PixelType output_type = PixelType::f32;
  int degree = 3;
  bool prefilter = true;
  Boundary boundary = Boundary::constant;
  double cval = 0;
  bool field = false;      ///< points come as a coordinate field, not as a transform
  std::int64_t batch = 1;  ///< images at once, each of the shape above

  friend bool operator==(const ResampleKey&, const ResampleKey&) = default;
};

[[nodiscard]] ResampleSpec spec_of(const ResampleKey& key);
/// Device memory that a plan takes for itself, roughly: coefficients, and what is converted.
[[nodiscard]] std::size_t plan_bytes(const ResampleKey& key);

/// A plan with a stream and the images it works on, for arrays of the host.
struct ResampleWork {
  ResampleWork(const Device& device, const ResampleKey& key);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Stream stream;
  Image image;
  Image output;
  std::optional<Image> coordinates;
  std::vector<float> staged_coordinates;
  ResamplePlan plan;

 private:
  std::size_t bytes_;
};

/// A plan for arrays that are on the device. Its memory is in use until the event.
struct ResampleOnDevice {
  ResampleOnDevice(const Device& device, const ResampleKey& key)
      : done(device), plan(device, spec_of(key)), bytes_(plan_bytes(key)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Event done;
  ResamplePlan plan;

 private:
  std::size_t bytes_;
};

}  // namespace warpalign::python
