// What every part of an opened CUDA device shares: its number, name and limits.
#pragma once

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
  bool early_launch = false;      ///< whether kernels can be launched before the last has ended
  bool texture_filtering = true;  ///< whether the self-test trusts the texture unit
  std::size_t texture_pitch_alignment = 32;
  std::array<std::size_t, 3> linear_texture_limit{};  ///< width, height (texels), pitch (bytes)
  std::array<std::size_t, 2> array_texture_limit{};   ///< width, height (texels)
  std::array<std::size_t, 3> volume_texture_limit{};  ///< width, height, depth (texels)
  /// Of device memory, host memory that kernels write, and textures.
  std::unique_ptr<std::atomic<std::size_t>> allocations =
      std::make_unique<std::atomic<std::size_t>>(0);

  /// To be called for each of these.
  void count_allocation() const noexcept { allocations->fetch_add(1, std::memory_order_relaxed); }

  /// Makes this the calling thread's device: every entry does, because threads and devices mix.
  /// The previous one is not put back: doing so could create a context on a device nobody uses.
  void activate() const;
  /// For destructors.
  void activate_quietly() const noexcept;
};

/// Where in the program a call is made, for messages.
struct CallSite {
  const Context& context;
  const char* stage = "";
};

}  // namespace warpalign::cuda
