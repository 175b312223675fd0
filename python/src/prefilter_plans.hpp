// Plans of spline_filter, kept for the next call with the same shapes and options.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <cstddef>

namespace warpalign::python {

/// A plan with a stream and its images, for host arrays.
struct PrefilterWork {
  PrefilterWork(const Device& device, const PrefilterSpec& spec);
  [[nodiscard]] std::size_t bytes() const { return samples.size_bytes() + output.size_bytes(); }

  Stream stream;
  Image samples;
  Image output;
  PrefilterPlan plan;
};

/// A plan for arrays on the device. Its memory is in use until the event completes.
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
