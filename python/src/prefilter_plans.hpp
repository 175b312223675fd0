// What a call of spline_filter needs, kept for the next call like it.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <cstddef>

namespace warpalign::python {

/// A plan with a stream and the images it works on, for arrays of the host.
struct PrefilterWork {
  PrefilterWork(const Device& device, const PrefilterSpec& spec);
  [[nodiscard]] std::size_t bytes() const { return samples.size_bytes() + output.size_bytes(); }

  Stream stream;
  Image samples;
  Image output;
  PrefilterPlan plan;
};

/// A plan for arrays that are on the device. Its memory is in use until the event.
struct PrefilterOnDevice {
  PrefilterOnDevice(const Device& device, const PrefilterSpec& spec)
      : done(device),
        plan(device, spec),
        bytes_(static_cast<std::size_t>(spec.images.stacked().pixels()) * sizeof(float)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Event done;
  PrefilterPlan plan;

 private:
  std::size_t bytes_;
};

}  // namespace warpalign::python
