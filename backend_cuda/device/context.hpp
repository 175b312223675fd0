// What every part of an opened CUDA device shares: its number, its name and its limits.
#pragma once

#include "device/event_pool.hpp"
#include "device/memory_pool.hpp"
#include "device/service_stream.hpp"

#include <warpalign/backend/loss.hpp>

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
  bool early_launch = false;            ///< a kernel may be launched before the last one has ended
  bool texture_filtering = true;        ///< whether the self-test trusts the texture unit
  std::size_t texture_alignment = 512;  ///< of the address of linear memory
  std::size_t texture_pitch_alignment = 32;
  std::array<std::size_t, 3> linear_texture_limit{};  ///< width, height (texels), pitch (bytes)
  std::array<std::size_t, 2> array_texture_limit{};   ///< width, height (texels)
  std::array<std::size_t, 3> volume_texture_limit{};  ///< width, height, depth (texels)
  /// Counts allocations: of device memory, of host memory that kernels write, and of textures.
  std::unique_ptr<std::atomic<std::size_t>> allocations =
      std::make_unique<std::atomic<std::size_t>>(0);
  std::unique_ptr<MemoryPool> pool;  ///< null until the device is opened, and the next two as well
  std::unique_ptr<ServiceStream> service;
  std::unique_ptr<EventPool> events;
  /// Failed calls note here that the device is lost.
  std::unique_ptr<backend::Loss> loss = std::make_unique<backend::Loss>();

  /// Must be called for each such allocation.
  void count_allocation() const noexcept { allocations->fetch_add(1, std::memory_order_relaxed); }

  /// Makes this the calling thread's current device. Every entry point does so, because a program
  /// may use several threads and several devices. The previous device is not restored: doing so
  /// could create a context on a device that nobody uses.
  void activate() const;
  /// The same for destructors: a failure is ignored.
  void activate_quietly() const noexcept;
};

/// The device and the stage on whose behalf a call is made, for error messages.
struct CallSite {
  const Context& context;
  const char* stage = "";
};

}  // namespace warpalign::cuda
