// Interpolation kernels that let the texture unit sum neighbours: two lookups an axis for degree 3
// (Ruijters et al., equation 5), one in all for degree 1.
//
// Only where all neighbours lie within the coefficients; elsewhere as in full precision.
#include "interpolate_kernel.cuh"
#include "launch.hpp"
#include "lookup_table.hpp"
#include "memory.hpp"

namespace warpalign::cuda {
namespace {

constexpr int table_entries = 128;

/// The two lookups along an axis, in texture coordinates, and the weight of the first.
struct Lookups {
  float at[2];
  float weight;
};

template <bool by_table>
__device__ __forceinline__ Lookups cubic_lookups(const Neighbours<3, false>& n,
                                                 cudaTextureObject_t table) {
  float h0, h1, g0;
  if constexpr (by_table) {
    // Sigg and Hadwiger's table, filtered; entry i belongs to t = i / (entries - 1).
    const float4 entry = tex1D<float4>(table, fmaf(n.t, table_entries - 1.0f, 0.5f));
    h0 = entry.x;
    h1 = entry.y;
    g0 = entry.z;
  } else {
    g0 = wa_bspline_lookups_3(n.t, &h0, &h1);
  }
  // Texel centres stand at half-integers in texture coordinates.
  const float centre = static_cast<float>(n.first + 1) + 0.5f;
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

template <int degree, int dimensions, bool by_table>
__device__ __forceinline__ float look_up(const TextureSources& sources,
                                         const Neighbours<degree, false> (&at)[dimensions]) {
  if constexpr (degree == 3) {
    Lookups lookups[dimensions];
#pragma unroll
    for (int i = 0; i < dimensions; ++i) lookups[i] = cubic_lookups<by_table>(at[i], sources.table);
    return cubic(sources.coefficients, lookups);
  } else {
    float c[dimensions];
#pragma unroll
    for (int i = 0; i < dimensions; ++i) c[i] = static_cast<float>(at[i].first) + at[i].t + 0.5f;
    if constexpr (dimensions == 2) {
      return tex2D<float>(sources.coefficients, c[0], c[1]);
    } else {
      return tex3D<float>(sources.coefficients, c[0], c[1], c[2]);
    }
  }
}

template <int degree, int dimensions, bool by_table>
__global__ void __launch_bounds__(256)
    interpolate_texture_kernel(TextureSources sources, const float* __restrict__ coefficients,
                               const Evaluation e) {
  const bool snap = e.points.kind != PointKind::field;
  for_each_pixel(e.output, [&](int x, int y, int z, long long index) {
    double point[dimensions];
    find_point<dimensions>(e.points, x, y, z, index, point);
    Neighbours<degree, false> at[dimensions];
    float value = e.spline.rules.cval;
    if (find_neighbours(e.spline, point, snap, at)) {
      value = all_inside(e.spline, at)
                  ? look_up<degree, dimensions, by_table>(sources, at)
                  : sum_at_border<degree, dimensions, false>(coefficients, e.spline, at).value;
    }
    store(e.output, index, value);
  });
}

template <int dimensions>
TextureKernel kernel_for(int degree, bool by_table) {
  if (degree == 1) return &interpolate_texture_kernel<1, dimensions, false>;
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
  return dimensions == 2 ? kernel_for<2>(degree, by_table) : kernel_for<3>(degree, by_table);
}

LookupTable::LookupTable(const Place& place)
    : array_(place, {table_entries, 0, 0}, 4, {.linear = true, .border = false}) {
  const DeviceMemory entries(place, table_entries * sizeof(float4));
  const StreamQueue queue(place.context);
  launch(place, queue, dim3(1), dim3(table_entries), &table_kernel, entries.as<float4>());
  array_.copy_from(entries.as<float4>(), stream_of(queue));
}

}  // namespace warpalign::cuda
