// Counts what the library allocates, on the host and on devices.
//
// The source of this header defines a malloc() that replaces the C library's for the whole
// process, including modules that are loaded at run time.
#pragma once

#include <warpalign/device.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace test {

struct Allocations {
  /// Calls of malloc() and related functions by this thread on behalf of the library or of a
  /// backend module, made directly or by the C++ library (operator new).
  std::size_t on_host = 0;
  /// Other calls, which do not count: OpenCL and CUDA drivers record each enqueued command and
  /// each kernel argument.
  std::size_t by_drivers = 0;
  /// Buffers, images and textures that the device's backend created.
  std::size_t on_device = 0;
  /// The call stacks of the first few of `on_host`, as addresses for addr2line.
  std::string where;
};

/// Counts the allocations of `work`.
[[nodiscard]] Allocations allocations_of(const warpalign::Device& device,
                                         const std::function<void()>& work);

}  // namespace test
