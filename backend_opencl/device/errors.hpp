// Converts OpenCL's status codes to warpalign::Error.
#pragma once

#include <warpalign/backend/device_loss.hpp>
#include <warpalign/error.hpp>

#include <CL/cl.h>

#include <string>

namespace warpalign::opencl {

/// The state of an open device. A failed call records here that the device is lost.
struct Health {
  explicit Health(cl_device_id device) noexcept : id(device) {}
  cl_device_id id;
  backend::DeviceLoss loss;
};

/// The place of a call in the program, for error messages.
struct CallSite {
  std::string stage;         ///< "sobel", "memory", ...
  std::string device;        ///< the device's name
  Health* health = nullptr;  ///< null if the device is not open
};

/// "CL_OUT_OF_RESOURCES" for -5; "OpenCL error -9999" for codes the standard does not name.
[[nodiscard]] std::string code_name(cl_int status);

/// The Error for a failed call: ErrorKind::out_of_memory if memory is short. If the device is lost,
/// records that in the site's `health`.
[[nodiscard]] Error failure(cl_int status, const char* call, const CallSite& site);

/// Throws failure() unless `status` is CL_SUCCESS.
inline void check(cl_int status, const char* call, const CallSite& site) {
  if (status != CL_SUCCESS) throw failure(status, call, site);
}

/// An Error that this backend raises itself, with stage, backend and device filled in.
[[nodiscard]] Error error(ErrorKind kind, const std::string& message, const CallSite& site,
                          const std::string& advice = {});

}  // namespace warpalign::opencl
