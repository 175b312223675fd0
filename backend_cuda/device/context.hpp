// The state of an opened CUDA device: its number, its name and its limits.
#pragma once

#include "device/event_pool.hpp"
#include "device/memory_pool.hpp"
#include "device/service_stream.hpp"

#include <warpalign/backend/device_loss.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

namespace warpalign::cuda {

struct Context {
  int ordinal = 0;
  std::string name;
  int multiprocessors = 1;
  /// whether a kernel may be launched before the previous one has ended
  bool dependent_launch = false;
  bool texture_filtering = true;        ///< whether the texture unit has passed the self-test
  std::size_t texture_alignment = 512;  ///< required alignment of linear memory
  std::size_t texture_pitch_alignment = 32;
  std::array<std::size_t, 3> linear_texture_limit{};  ///< width, height (texels), pitch (bytes)
  std::array<std::size_t, 2> array_texture_limit{};   ///< width, height (texels)
  std::array<std::size_t, 3> volume_texture_limit{};  ///< width, height, depth (texels)
  /// Counts allocations: of device memory, of host memory that kernels write, and of textures.
  std::unique_ptr<std::atomic<std::size_t>> allocations =
      std::make_unique<std::atomic<std::size_t>>(0);
  std::unique_ptr<MemoryPool> pool;  ///< null until the device is opened, like the next two
  std::unique_ptr<ServiceStream> service;
  std::unique_ptr<EventPool> events;
  /// Failed calls record here that the device is lost.
  std::unique_ptr<backend::DeviceLoss> loss = std::make_unique<backend::DeviceLoss>();

  /// Call this for each such allocation.
  void count_allocation() const noexcept { allocations->fetch_add(1, std::memory_order_relaxed); }

  /// Makes this the calling thread's current device. Every entry point does so, because a program
  /// may use several threads and several devices. The previous device is not restored: that could
  /// create a context on a device that the program does not use.
  void activate() const;
  /// For destructors: like activate(), but ignores a failure.
  void activate_quietly() const noexcept;
};

/// The device and the stage that make a call, for error messages.
struct CallSite {
  const Context& context;
  const char* stage = "";
};

}  // namespace warpalign::cuda
