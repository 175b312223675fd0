// Interpolation kernels in which the texture unit sums neighbours: two lookups per axis for degree
// 3 (Ruijters et al., equation 5), a single lookup for degree 1.
//
// They use the texture unit only if all neighbours lie within the coefficients, and evaluate other
// pixels in full precision.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "spline/lookup_table.hpp"
#include "spline/tile_source.cuh"

namespace warpalign::cuda {
namespace {

constexpr int table_entries = 128;

/// The two lookups along an axis, in texture coordinates, and the weight of the first.
struct Lookups {
  float at[2];
  float weight;
};

// The lookups for coefficient index `whole` + t.
template <bool by_table>
__device__ __forceinline__ Lookups cubic_lookups(int whole, float t, cudaTextureObject_t table) {
  float h0, h1, g0;
  if constexpr (by_table) {
    // Sigg and Hadwiger's table, read with filtering; entry i belongs to t = i / (entries - 1).
    const float4 entry = tex1D<float4>(table, fmaf(t, table_entries - 1.0f, 0.5f));
    h0 = entry.x;
    h1 = entry.y;
    g0 = entry.z;
  } else {
    g0 = wa_bspline_lookups_3(t, &h0, &h1);
  }
  // In texture coordinates, texel centres are at half-integers.
  const float centre = static_cast<float>(whole) + 0.5f;
  return {{centre + h0, centre + h1}, g0};
}

__device__ __forceinline__ float mix(const Lookups& l, float first, float second) {
  return fmaf(l.weight, first - second, second);
}

__device__ __forceinline__ float cubic(cudaTextureObject_t c, const Lookups (&l)[2]) {
  const auto row = [&](float y) {
    return mix(l[0], tex2D<float>(c, l[0].at[0], y), tex2D<float>(c, l[0].at[1], y));
  };
  return mix(l[1], row(l[1].at[0]), row(l[1].at[1]));
}

__device__ __forceinline__ float cubic(cudaTextureObject_t c, const Lookups (&l)[3]) {
  const auto row = [&](float y, float z) {
    return mix(l[0], tex3D<float>(c, l[0].at[0], y, z), tex3D<float>(c, l[0].at[1], y, z));
  };
  const auto plane = [&](float z) { return mix(l[1], row(l[1].at[0], z), row(l[1].at[1], z)); };
  return mix(l[2], plane(l[2].at[0]), plane(l[2].at[1]));
}

/// The value at coefficient indices `whole` + t.
template <int degree, int dimensions, bool by_table>
__device__ __forceinline__ float look_up(const TextureSources& sources,
                                         const int (&whole)[dimensions],
                                         const float (&t)[dimensions]) {
  if constexpr (degree == 3) {
    Lookups lookups[dimensions];
#pragma unroll
    for (int i = 0; i < dimensions; ++i) {
      lookups[i] = cubic_lookups<by_table>(whole[i], t[i], sources.table);
    }
    return cubic(sources.coefficients, lookups);
  } else {
    static_assert(degree == 1 && dimensions == 2);
    return tex2D<float>(sources.coefficients, static_cast<float>(whole[0]) + t[0] + 0.5f,
                        static_cast<float>(whole[1]) + t[1] + 0.5f);
  }
}

template <int degree, int dimensions, bool by_table>
__device__ __forceinline__ float look_up_or_load(const TextureSources& sources,
                                                 const float* __restrict__ coefficients,
                                                 const Evaluation& e, int x, int y, int z,
                                                 long long index) {
  double point[dimensions];
  find_point<dimensions>(e.points, x, y, z, index, point);
  Neighbours<degree, false> at[dimensions];
  const bool snap = e.points.kind != PointKind::field;
  if (!find_neighbours(e.spline, point, snap, at)) return e.spline.rules.cval;
  if (!all_inside(e.spline, at)) {
    return sum_at_border<degree, dimensions, false>(coefficients, e.spline, at).value;
  }
  int whole[dimensions];
  float t[dimensions];
#pragma unroll
  for (int i = 0; i < dimensions; ++i) {
    whole[i] = at[i].first + degree / 2;
    t[i] = at[i].t;
  }
  return look_up<degree, dimensions, by_table>(sources, whole, t);
}

template <int degree, int dimensions, bool by_table>
__global__ void __launch_bounds__(256)
    interpolate_texture_kernel(TextureSources sources, const float* __restrict__ coefficients,
                               const Evaluation e) {
  for_each_pixel(e.output, [&](int x, int y, int z, long long index) {
    store(e.output, index,
          look_up_or_load<degree, dimensions, by_table>(sources, coefficients, e, x, y, z, index));
  });
}

// Evaluates planes of degree 3 under affine transforms by tiles. Tiles at the border are evaluated
// pixel by pixel.
template <class Tile, bool by_table, bool floats>
__global__ void __launch_bounds__(tile_threads)
    texture_tile_kernel(TextureSources sources, const float* __restrict__ coefficients,
                        const __grid_constant__ Evaluation e,
                        const __grid_constant__ TileSource<2> source) {
  wait_for_previous_kernel();
  for_tiles<3, Tile>(e, source, [&](const TileLocation<2>& location) {
    if (location.inside && !location.split) {
      evaluate_tile<3, floats, false, Tile>(e, source, location, [&](const Located<3>(&at)[2]) {
        const int whole[2] = {at[0].whole + location.corner[0], at[1].whole + location.corner[1]};
        const float t[2] = {at[0].t, at[1].t};
        return look_up<3, 2, by_table>(sources, whole, t);
      });
    } else if (location.outside && e.spline.rules.points == PointRule::reject_outside) {
      blank_tile<Tile>(e, location);
    } else {
      const TileThread thread;
      for_tile_pixels<Tile>(e, location, [&](int j, long long index) {
        store(e.output, index,
              look_up_or_load<3, 2, by_table>(sources, coefficients, e,
                                              location.first[0] + thread.column,
                                              location.first[1] + j, 0, index));
      });
    }
  });
}

template <int dimensions>
TextureKernel cubic_kernel(bool by_table) {
  return by_table ? &interpolate_texture_kernel<3, dimensions, true>
                  : &interpolate_texture_kernel<3, dimensions, false>;
}

__global__ void table_kernel(float4* entries) {
  const int i = static_cast<int>(threadIdx.x);
  float h0, h1;
  const float g0 = wa_bspline_lookups_3(static_cast<float>(i) / (table_entries - 1.0f), &h0, &h1);
  entries[i] = make_float4(h0, h1, g0, 0.0f);
}

}  // namespace

TextureKernel texture_kernel(int dimensions, int degree, bool by_table) {
  if (degree == 1) return &interpolate_texture_kernel<1, 2, false>;
  return dimensions == 2 ? cubic_kernel<2>(by_table) : cubic_kernel<3>(by_table);
}

template <class Tile>
TextureTileKernel texture_tile_kernel_of(bool by_table, bool floats) {
  if (floats) {
    return by_table ? &texture_tile_kernel<Tile, true, true>
                    : &texture_tile_kernel<Tile, false, true>;
  }
  return by_table ? &texture_tile_kernel<Tile, true, false>
                  : &texture_tile_kernel<Tile, false, false>;
}
template TextureTileKernel texture_tile_kernel_of<PlaneTile>(bool by_table, bool floats);
template TextureTileKernel texture_tile_kernel_of<ShortTile>(bool by_table, bool floats);

LookupTable::LookupTable(const CallSite& site)
    : array_(site, {table_entries, 0, 0}, 4, {.linear = true, .border = false}) {
  const DeviceMemory entries(site, table_entries * sizeof(float4));
  const StreamQueue queue(site.context, backend::QueuePriority::high);
  launch(site, queue, dim3(1), dim3(table_entries), &table_kernel, entries.as<float4>());
  array_.copy_from(entries.as<float4>(), queue);
}

}  // namespace warpalign::cuda
