// The edge strength in a volume, from the length of its gradient.
//
// variant: gpu
#include "formulas/volume_edges.h"
#include "lib/grid.h"

// size: (width, height, depth, 0); factors: 1 / (2 spacing) along each axis.
kernel void volume_edges(global const float* volume, int4 size, float4 factors, float share,
                         float epsilon, global float* edges) {
  const Item item = patch_item(size.x);
  const int x = item.x;
  if (x >= size.x || item.y >= size.y * size.z) return;
  const int y = item.y % size.y;
  const int z = item.y / size.y;
  const size_t across = (size_t)size.x;
  const size_t plane = across * (size_t)size.y;
  global const float* row = volume + (size_t)z * plane + (size_t)y * across;
  global const float* column = volume + (size_t)z * plane + (size_t)x;
  global const float* shaft = volume + (size_t)y * across + (size_t)x;
  const float slope_x =
      wa_voxel_slope(row[wa_voxel_before(x)], row[wa_voxel_after(x, size.x)], x, size.x, factors.x);
  const float slope_y =
      wa_voxel_slope(column[(size_t)wa_voxel_before(y) * across],
                     column[(size_t)wa_voxel_after(y, size.y) * across], y, size.y, factors.y);
  const float slope_z =
      wa_voxel_slope(shaft[(size_t)wa_voxel_before(z) * plane],
                     shaft[(size_t)wa_voxel_after(z, size.z) * plane], z, size.z, factors.z);
  edges[(size_t)item.y * across + (size_t)x] =
      wa_edge_strength(slope_x, slope_y, slope_z, share, epsilon);
}
