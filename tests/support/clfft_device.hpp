// Devices whose plans are clFFT's.
#pragma once

#include "support/skipped.hpp"

#include <warpalign/config.hpp>
#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/stages/fft.hpp>

#include <optional>
#include <string>

namespace test {

/// Opens `device` again so that it uses clFFT. If it cannot, skips the case and returns nothing:
/// clFFT is for OpenCL only, and OpenCL compilers based on Clang 16 or later refuse its sources,
/// of which some convert pointers of one vector type to another.
inline std::optional<warpalign::Device> with_clfft(const warpalign::Device& device) {
  if (device.info().backend != "opencl") {
    skip_case("clFFT is for OpenCL, not for " + device.info().id);
    return {};
  }
  warpalign::Config config;
  config.opencl_fft = "clfft";
  warpalign::Device opened = warpalign::open_device(device.info().id, config);
  try {
    const warpalign::RealFftPlan with_radix_3(opened, {{96, 80, 1}});
  } catch (const warpalign::Error& error) {
    if (error.kind() != warpalign::ErrorKind::build_failed) throw;
    skip_case(device.info().id + " does not compile clFFT's sources");
    return {};
  }
  return opened;
}

}  // namespace test
