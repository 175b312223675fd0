// Turning OpenCL's status codes into warpalign::Error.
#pragma once

#include <warpalign/backend/loss.hpp>
#include <warpalign/error.hpp>

#include <CL/cl.h>

#include <string>

namespace warpalign::opencl {

/// An open device, of which failed calls note that it is lost.
struct Health {
  explicit Health(cl_device_id device) noexcept : id(device) {}
  cl_device_id id;
  backend::Loss loss;
};

/// Where a call is made, for error messages.
struct CallSite {
  std::string stage;         ///< "sobel", "memory", ...
  std::string device;        ///< the device's name
  Health* health = nullptr;  ///< null where the device is not open
};

/// "CL_OUT_OF_RESOURCES" for -5; "OpenCL error -9999" for codes the standard does not name.
[[nodiscard]] std::string code_name(cl_int status);

/// The Error for a failed call. A shortage of memory gets ErrorKind::out_of_memory. Where the
/// device is lost, the site's `health` says so from then on.
[[nodiscard]] Error failure(cl_int status, const char* call, const CallSite& site);

/// Throws failure() unless `status` is CL_SUCCESS.
inline void check(cl_int status, const char* call, const CallSite& site) {
  if (status != CL_SUCCESS) throw failure(status, call, site);
}

/// An Error that this backend raises itself, with stage, backend and device filled in.
[[nodiscard]] Error error(ErrorKind kind, const std::string& message, const CallSite& site,
                          const std::string& advice = {});

}  // namespace warpalign::opencl
