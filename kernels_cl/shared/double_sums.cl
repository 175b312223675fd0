// Weighted sums of neighbouring samples along the second of three axes, in double precision: as
// weighted_sums.cl, which explains the arguments.
//
// Options: GROUP, the size of the work-group.
//
// variant: gpu -DGROUP=256
#include "formulas/double_spline.h"
#include "shared/kernel_language.h"

WA_KERNEL(GROUP, 1)
weighted_double_sums(WA_GLOBAL const double* input, int outer, int n_input, int n_output, int inner,
                     WA_GLOBAL const int* first, WA_GLOBAL const double* weights, int taps,
                     WA_GLOBAL const double* added, WA_GLOBAL double* output) {
  WA_BEGIN();
  const WA_UINT64 number = (WA_UINT64)WA_GROUP_X * GROUP + WA_ITEM_X;
  const WA_UINT64 line = number / (WA_UINT64)inner;
  const WA_UINT64 array = line / (WA_UINT64)n_output;
  if (array >= (WA_UINT64)outer) return;
  const int i = (int)(line - array * (WA_UINT64)n_output);
  const WA_UINT64 stride = (WA_UINT64)inner;
  WA_GLOBAL const double* samples =
      input + array * (WA_UINT64)n_input * stride + (number - line * stride);
  int at = first[i];
  double sum = added[i];
  for (int k = 0; k < taps; ++k) {
    sum += weights[(WA_UINT64)k * (WA_UINT64)n_output + i] * samples[(WA_UINT64)at * stride];
    if (++at == n_input) at = 0;
  }
  output[number] = sum;
}
