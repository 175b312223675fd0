// Plans that fill missing samples on a device, kept for the next call with the same shape.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/stages/fill_missing.hpp>

#include <cstddef>

namespace warpalign::python {

/// A plan for arrays on the device. Its memory is in use until the event completes.
struct FillOnDevice {
  FillOnDevice(const Device& device, const FillMissingSpec& spec)
      : done(device), plan(device, spec), bytes_(FillMissingPlan::scratch_bytes(spec)) {}
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Event done;
  FillMissingPlan plan;

 private:
  std::size_t bytes_;
};

}  // namespace warpalign::python
