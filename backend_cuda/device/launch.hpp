// Launching kernels: sizes of grids, loading at plan time, checked launches. For .cu files.
#pragma once

#include "device/context.hpp"
#include "device/errors.hpp"
#include "device/queue.hpp"

#include <warpalign/error.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace warpalign::cuda {

inline constexpr int warp_lanes = 32;
/// Blocks of kernels that go over rows: one warp along a row, eight rows.
inline constexpr int row_block_height = 8;
/// Blocks of reductions.
inline constexpr int reduction_threads = 256;

/// An extent as kernels index it. The limit leaves room for adding a tile without overflow.
[[nodiscard]] inline int extent(std::int64_t n, const CallSite& site) {
  constexpr std::int64_t limit = std::int64_t{1} << 30;
  if (n >= 1 && n <= limit) return static_cast<int>(n);
  ErrorContext context;
  context.stage = site.stage;
  context.backend = "cuda";
  context.device = site.context.name;
  throw Error(ErrorKind::invalid_argument,
              "an extent of " + std::to_string(n) + " pixels is not between 1 and 2^30",
              std::move(context));
}

[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t n, std::int64_t by) noexcept {
  return (n + by - 1) / by;
}

/// A grid of tiles over an image. Kernels step down by gridDim.y tiles until the image ends,
/// because a grid has at most 65535 rows.
[[nodiscard]] inline dim3 tile_grid(int width, int height, int tile_width, int tile_height) {
  return dim3(static_cast<unsigned>(divide_up(width, tile_width)),
              static_cast<unsigned>(std::min<std::int64_t>(divide_up(height, tile_height), 65535)));
}

/// Blocks for the first stage of a reduction: enough to fill the device with loads, each with some
/// work, and no more, because what all of them found is reduced by one.
[[nodiscard]] inline int reduction_blocks(std::int64_t pixels, const Context& context) {
  constexpr std::int64_t pixels_a_block = 8 * reduction_threads;
  return static_cast<int>(std::clamp<std::int64_t>(divide_up(pixels, pixels_a_block), 1,
                                                   4 * std::int64_t{context.multiprocessors}));
}

/// Loads a kernel now, so that its first launch does not.
template <class... Parameters>
void load(void (*kernel)(Parameters...), const CallSite& site) {
  site.context.activate();
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
        "cudaFuncGetAttributes", site);
}

/// The shared memory that a block may be launched with; kernels may have 2 KiB of their own
/// besides.
[[nodiscard]] inline std::size_t max_shared(const CallSite& site) {
  int bytes = 0;
  check(
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, site.context.ordinal),
      "cudaDeviceGetAttribute", site);
  return static_cast<std::size_t>(bytes) - 2048;
}

/// Lets a kernel be launched with up to `bytes` of shared memory; every kernel may have 48 KiB.
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), std::size_t bytes, const CallSite& site) {
  site.context.activate();
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute", site);
}

/// With `shared_bytes` of shared memory sized at the launch, and an attribute or none (null).
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
