// What a call of spline_filter needs, kept for the next call like it.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <cstddef>
#include <cstdint>

namespace warpalign::python {

struct PrefilterKey {
  Shape shape;
  int dimensions = 1;
  PixelType input = PixelType::f32;
  int degree = 3;
  Boundary boundary = Boundary::mirror;
  std::int64_t batch = 1;  ///< arrays at once, each of the shape above

  friend bool operator==(const PrefilterKey&, const PrefilterKey&) = default;
};

[[nodiscard]] PrefilterSpec spec_of(const PrefilterKey& key);

/// A plan with a stream and the images it works on, for arrays of the host.
struct PrefilterWork {
  PrefilterWork(const Device& device, const PrefilterKey& key);
  [[nodiscard]] std::size_t bytes() const { return samples.size_bytes() + output.size_bytes(); }

  Stream stream;
  Image samples;
  Image output;
  PrefilterPlan plan;
};

/// A plan for arrays that are on the device. Its memory is in use until the event.
struct PrefilterOnDevice {
  PrefilterOnDevice(const Device& device, const PrefilterKey& key)
      : done(device),
        plan(device, spec_of(key)),
        bytes_(static_cast<std::size_t>(key.shape.pixels() * key.batch) * sizeof(float)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Event done;
  PrefilterPlan plan;

 private:
  std::size_t bytes_;
};

}  // namespace warpalign::python
