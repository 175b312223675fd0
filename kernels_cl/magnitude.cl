// The magnitude of a half spectrum raised to a power, its rows reordered around v = 0.
#include "formulas/spectrum.h"

// columns = width / 2 + 1. Row v goes to row (v + height / 2) mod height.
kernel void magnitude(global const float2* spectrum, global float* output, int columns,
                      int height, float half_exponent) {
  const int u = (int)get_global_id(0);
  const int v = (int)get_global_id(1);
  if (u >= columns || v >= height) return;
  const int shifted = v + height / 2;
  const int row = shifted >= height ? shifted - height : shifted;
  const float2 value = spectrum[(size_t)v * (size_t)columns + (size_t)u];
  output[(size_t)row * (size_t)columns + (size_t)u] =
      wa_magnitude_power(value.x, value.y, half_exponent);
}
