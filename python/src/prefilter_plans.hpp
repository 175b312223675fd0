// What a call of spline_filter needs, kept for the next call like it.
#pragma once

#include <warpalign/stages/prefilter.hpp>

#include <cstddef>

namespace warpalign::python {

struct PrefilterKey {
  Shape shape;
  int dimensions = 1;
  PixelType input = PixelType::f32;
  int degree = 3;
  Boundary boundary = Boundary::mirror;

  friend bool operator==(const PrefilterKey&, const PrefilterKey&) = default;
};

/// A plan with a stream and the images it works on.
struct PrefilterWork {
  PrefilterWork(const Device& device, const PrefilterKey& key);
  [[nodiscard]] std::size_t bytes() const { return samples.size_bytes() + output.size_bytes(); }

  Stream stream;
  Image samples;
  Image output;
  PrefilterPlan plan;
};

}  // namespace warpalign::python
