// The power of two spectra, and the power that they share at the same frequencies. Each work-group
// processes several rows; its second index is the number of a pair.
//
// Option: GROUP, the work-group's size, a power of two.
//
// variant: gpu -DGROUP=64
#include "formulas/spectrum.h"
#include "lib/sums.h"

// rows: the number of rows, of `columns` = width / 2 + 1 each; scale: 1 / N. The sums of an
// execution begin at partials[first].
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spectrum_sums(
    global const float2* a, global const float2* b, int width, int columns, int rows, float scale,
    int first, global float* partials) {
  local float shared[SUMS_ROOM];
  const size_t pair = get_group_id(1);
  a += pair * (size_t)rows * (size_t)columns;
  b += pair * (size_t)rows * (size_t)columns;
  partials += (size_t)first + pair * WA_SPECTRUM_SUMS * get_num_groups(0);
  float sums[WA_SPECTRUM_SUMS];
  for (int i = 0; i < WA_SPECTRUM_SUMS; ++i) sums[i] = 0.0f;
  for (int row = (int)get_group_id(0); row < rows; row += (int)get_num_groups(0)) {
    const size_t start = (size_t)row * (size_t)columns;
    for (int u = (int)get_local_id(0); u < columns; u += GROUP) {
      if (row == 0 && u == 0) continue;
      const float2 p = a[start + (size_t)u];
      const float2 q = b[start + (size_t)u];
      wa_spectrum_add(p.x, p.y, q.x, q.y, wa_column_weight(u, width), scale, sums);
    }
  }
  store_group_sums(sums, WA_SPECTRUM_SUMS, shared, partials);
}
