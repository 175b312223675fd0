// Launching kernels: grid sizes, loading when a plan is made, and checked launches. For .cu files.
#pragma once

#include "device/context.hpp"
#include "device/errors.hpp"
#include "device/queue.hpp"

#include <warpalign/backend/extent.hpp>
#include <warpalign/error.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace warpalign::cuda {

inline constexpr int warp_lanes = 32;
/// The height of the blocks of kernels that process images row by row: a warp wide, eight rows
/// high.
inline constexpr int row_block_height = 8;
/// The size of the blocks of reductions.
inline constexpr int reduction_threads = 256;

/// Converts an extent to the int that kernels index with. Throws Error(invalid_argument) if it does
/// not fit.
[[nodiscard]] inline int extent(std::int64_t n, const CallSite& site) {
  return backend::checked_extent(n, [&] {
    return ErrorContext{.stage = site.stage, .backend = "cuda", .device = site.context.name};
  });
}

[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t n, std::int64_t by) noexcept {
  return (n + by - 1) / by;
}

/// A grid of tiles over an image. A grid has at most 65535 rows, so kernels step down by gridDim.y
/// tiles until the image ends.
[[nodiscard]] inline dim3 tile_grid(int width, int height, int tile_width, int tile_height) {
  return dim3(static_cast<unsigned>(divide_up(width, tile_width)),
              static_cast<unsigned>(std::min<std::int64_t>(divide_up(height, tile_height), 65535)));
}

/// The number of blocks for the first step of a reduction: enough to saturate the device with loads
/// if each block has enough work, and no more, because a single block reduces their partial
/// results.
[[nodiscard]] inline int reduction_blocks(std::int64_t pixels, const Context& context) {
  constexpr std::int64_t pixels_per_block = 8 * reduction_threads;
  return static_cast<int>(std::clamp<std::int64_t>(divide_up(pixels, pixels_per_block), 1,
                                                   4 * std::int64_t{context.multiprocessors}));
}

/// Loads a kernel now, so that its first launch is not delayed.
template <class... Parameters>
void load(void (*kernel)(Parameters...), const CallSite& site) {
  site.context.activate();
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
        "cudaFuncGetAttributes", site);
}

/// The dynamic shared memory that a block may have. 2 KiB are reserved for the static shared memory
/// that a kernel may declare.
[[nodiscard]] inline std::size_t max_shared(const CallSite& site) {
  int bytes = 0;
  check(
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, site.context.ordinal),
      "cudaDeviceGetAttribute", site);
  return static_cast<std::size_t>(bytes) - 2048;
}

/// Allows a kernel up to `bytes` of dynamic shared memory. The default limit is 48 KiB.
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), std::size_t bytes, const CallSite& site) {
  site.context.activate();
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute", site);
}

/// Launches with `shared_bytes` of dynamic shared memory and with one launch attribute, or none if
/// `attribute` is null.
template <class... Parameters, class... Arguments>
void launch_with_attribute(const CallSite& site, const backend::Queue& queue, dim3 grid, dim3 block,
                           std::size_t shared_bytes, cudaLaunchAttribute* attribute,
                           void (*kernel)(Parameters...), Arguments... arguments) {
  site.context.activate();
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream_of(queue);
  config.attrs = attribute;
  config.numAttrs = attribute != nullptr ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "cudaLaunchKernelEx", site);
}

template <class... Parameters, class... Arguments>
void launch_with_shared(const CallSite& site, const backend::Queue& queue, dim3 grid, dim3 block,
                        std::size_t shared_bytes, void (*kernel)(Parameters...),
                        Arguments... arguments) {
  launch_with_attribute(site, queue, grid, block, shared_bytes, nullptr, kernel, arguments...);
}

template <class... Parameters, class... Arguments>
void launch(const CallSite& site, const backend::Queue& queue, dim3 grid, dim3 block,
            void (*kernel)(Parameters...), Arguments... arguments) {
  launch_with_shared(site, queue, grid, block, 0, kernel, arguments...);
}

}  // namespace warpalign::cuda
