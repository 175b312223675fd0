// Copies to arrays through surfaces over them.
#include "device/dependent_launch.cuh"
#include "device/texture.hpp"

namespace warpalign::cuda {
namespace {

struct Extent {
  int width, height, depth;
};

// A thread writes `pixels` consecutive pixels of a row. The blocks of the kernel that writes four
// pixels are high rather than wide, because arrays are stored in tiles.
template <int pixels>
__global__ void write_plane_kernel(const float* __restrict__ source, cudaSurfaceObject_t surface,
                                   Extent size) {
  wait_for_previous_kernel();
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * pixels;
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= size.width || y >= size.height) return;
  const float* row = source + static_cast<long long>(y) * size.width + x;
  if constexpr (pixels == 4) {
    const float4 four = *reinterpret_cast<const float4*>(row);
    const float values[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) surf2Dwrite(values[i], surface, (x + i) * 4, y);
  } else {
    surf2Dwrite(*row, surface, x * 4, y);
  }
}

__global__ void write_volume_kernel(const float* __restrict__ source, cudaSurfaceObject_t surface,
                                    Extent size) {
  wait_for_previous_kernel();
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z);
  if (x >= size.width || y >= size.height) return;
  surf3Dwrite(source[(static_cast<long long>(z) * size.height + y) * size.width + x], surface,
              x * 4, y, z);
}

}  // namespace

void write_surface(const CallSite& site, const backend::Queue& queue, const float* source,
                   cudaSurfaceObject_t surface, const TextureArray::Size& size) {
  const Extent extent{static_cast<int>(size.width), static_cast<int>(size.height),
                      static_cast<int>(size.depth)};
  const auto run = [&](auto kernel, int pixels, dim3 block, int depth) {
    const dim3 grid(
        static_cast<unsigned>(divide_up(extent.width, pixels * static_cast<int>(block.x))),
        static_cast<unsigned>(divide_up(extent.height, static_cast<int>(block.y))),
        static_cast<unsigned>(depth));
    launch_dependent(site, queue, grid, block, kernel, source, surface, extent);
  };
  if (extent.depth > 0) {
    run(&write_volume_kernel, 1, dim3(32, 8), extent.depth);
  } else if (extent.width % 4 == 0) {
    run(&write_plane_kernel<4>, 4, dim3(8, 16), 1);
  } else {
    run(&write_plane_kernel<1>, 1, dim3(32, 8), 1);
  }
}

void load_surface_kernels(const CallSite& site) {
  load(&write_plane_kernel<4>, site);
  load(&write_plane_kernel<1>, site);
  load(&write_volume_kernel, site);
}

}  // namespace warpalign::cuda
