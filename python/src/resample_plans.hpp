// What a call of warpalign.ndimage needs to evaluate a spline, kept for the next call like it.
#pragma once

#include <warpalign/stages/resample.hpp>

#include <cstddef>
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
  bool field = false;  ///< points come as a coordinate field, not as a transform

  friend bool operator==(const ResampleKey&, const ResampleKey&) = default;
};

/// A plan with a stream and the images it works on.
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

}  // namespace warpalign::python
