// Counts what the library allocates, on the host and on devices.
//
// The source of this header puts a malloc() of its own in front of the C library's, for the whole
// process, the modules that are loaded at run time included.
#pragma once

#include <warpalign/device.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace test {

struct Allocations {
  /// Calls of malloc() and its kin by this thread on behalf of the library or of a backend module:
  /// directly, or by the C++ library (operator new).
  std::size_t on_host = 0;
  /// Such calls on behalf of anything else, which do not count: OpenCL and CUDA drivers keep a
  /// record of each command that is enqueued and of each argument that a kernel is given.
  std::size_t by_drivers = 0;
  /// Buffers, images and textures that the device's backend made.
  std::size_t on_device = 0;
  /// The calls that led to the first few of `on_host`, as addresses for addr2line.
  std::string where;
};

/// What `work` allocates.
[[nodiscard]] Allocations allocations_of(const warpalign::Device& device,
                                         const std::function<void()>& work);

}  // namespace test
