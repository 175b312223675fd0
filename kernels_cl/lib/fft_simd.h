// The discrete Fourier transform of sixteen lines at once, one in each lane of a vector, for OpenCL
// kernels on CPUs only.
//
// Stockham's form of the mixed-radix algorithm of Cooley & Tukey (Math. Comp. 19, 1965; the form is
// in Van Loan, Computational Frameworks for the FFT, 1992, section 1.7): every pass reads one array
// and writes the other in the order that the next pass reads, so no pass reorders the data.
#ifndef WARPALIGN_LIB_FFT_SIMD_H
#define WARPALIGN_LIB_FFT_SIMD_H

#include "lib/complex_simd.h"

#define LARGEST_RADIX 13

// The length n, the radices of its passes, and the n roots exp(-2 pi i k / n).
typedef struct {
  int n, passes;
  char16 radices;
  global const float2* roots;
} Transform;

// A pass over `stride` interleaved lines of radix x parts numbers each.
typedef struct {
  local const Lanes* from;
  local Lanes* to;
  int parts, stride;
} Pass;

WA_INLINE Lanes added(Lanes a, Lanes b) {
  const Lanes sum = {a.re + b.re, a.im + b.im};
  return sum;
}
WA_INLINE Lanes subtracted(Lanes a, Lanes b) {
  const Lanes difference = {a.re - b.re, a.im - b.im};
  return difference;
}
WA_INLINE Lanes multiplied(Lanes a, float2 by) {
  const Lanes product = {a.re * by.x - a.im * by.y, a.re * by.y + a.im * by.x};
  return product;
}
// a + i b.
WA_INLINE Lanes plus_i_times(Lanes a, Lanes b) {
  const Lanes sum = {a.re - b.im, a.im + b.re};
  return sum;
}
// a - i b.
WA_INLINE Lanes minus_i_times(Lanes a, Lanes b) {
  const Lanes difference = {a.re + b.im, a.im - b.re};
  return difference;
}

WA_INLINE void pass_2(Pass pass, Transform transform) {
  const int step = pass.stride * pass.parts;
  for (int p = 0; p < pass.parts; ++p) {
    const float2 root = transform.roots[p * pass.stride];
    local const Lanes* from = pass.from + pass.stride * p;
    local Lanes* to = pass.to + pass.stride * 2 * p;
    for (int q = 0; q < pass.stride; ++q) {
      const Lanes a = from[q];
      const Lanes b = from[q + step];
      to[q] = added(a, b);
      to[q + pass.stride] = multiplied(subtracted(a, b), root);
    }
  }
}

// The transform of four numbers, in place.
WA_INLINE void transform_4(Lanes* a) {
  const Lanes even_sum = added(a[0], a[2]);
  const Lanes even_difference = subtracted(a[0], a[2]);
  const Lanes odd_sum = added(a[1], a[3]);
  const Lanes odd_difference = subtracted(a[1], a[3]);
  a[0] = added(even_sum, odd_sum);
  a[1] = minus_i_times(even_difference, odd_difference);
  a[2] = subtracted(even_sum, odd_sum);
  a[3] = plus_i_times(even_difference, odd_difference);
}

// exp(-2 pi i k / 8) a, for k = 1 and 3.
WA_INLINE Lanes rotated_1(Lanes a) {
  const Lanes rotated = {(a.re + a.im) * M_SQRT1_2_F, (a.im - a.re) * M_SQRT1_2_F};
  return rotated;
}
WA_INLINE Lanes rotated_3(Lanes a) {
  const Lanes rotated = {(a.im - a.re) * M_SQRT1_2_F, -(a.re + a.im) * M_SQRT1_2_F};
  return rotated;
}

WA_INLINE void pass_4(Pass pass, Transform transform) {
  const int step = pass.stride * pass.parts;
  for (int p = 0; p < pass.parts; ++p) {
    const float2 root_1 = transform.roots[p * pass.stride];
    const float2 root_2 = transform.roots[2 * p * pass.stride];
    const float2 root_3 = transform.roots[3 * p * pass.stride];
    local const Lanes* from = pass.from + pass.stride * p;
    local Lanes* to = pass.to + pass.stride * 4 * p;
    for (int q = 0; q < pass.stride; ++q) {
      Lanes a[4] = {from[q], from[q + step], from[q + 2 * step], from[q + 3 * step]};
      transform_4(a);
      to[q] = a[0];
      to[q + pass.stride] = multiplied(a[1], root_1);
      to[q + 2 * pass.stride] = multiplied(a[2], root_2);
      to[q + 3 * pass.stride] = multiplied(a[3], root_3);
    }
  }
}

// Long lines exceed the L1 cache, so a pass takes as long as its loads and stores: one pass of
// radix 8 replaces two or three of radix 4 and 2.
WA_INLINE void pass_8(Pass pass, Transform transform) {
  const int step = pass.stride * pass.parts;
  for (int p = 0; p < pass.parts; ++p) {
    local const Lanes* from = pass.from + pass.stride * p;
    local Lanes* to = pass.to + pass.stride * 8 * p;
    for (int q = 0; q < pass.stride; ++q) {
      Lanes even[4], odd[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        even[k] = from[q + 2 * k * step];
        odd[k] = from[q + (2 * k + 1) * step];
      }
      transform_4(even);
      transform_4(odd);
      odd[1] = rotated_1(odd[1]);
      odd[3] = rotated_3(odd[3]);
      const Lanes third = {odd[2].im, -odd[2].re};
      odd[2] = third;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float2 root = transform.roots[k * p * pass.stride];
        const float2 opposite = transform.roots[(k + 4) * p * pass.stride];
        to[q + k * pass.stride] = multiplied(added(even[k], odd[k]), root);
        to[q + (k + 4) * pass.stride] = multiplied(subtracted(even[k], odd[k]), opposite);
      }
    }
  }
}

// An odd radix: inputs k and radix - k are first added and subtracted, and so are the results.
WA_INLINE void pass_odd(Pass pass, Transform transform, int radix) {
  const int half_radix = radix / 2;
  const int step = pass.stride * pass.parts;
  const int root_step = transform.n / radix;
  for (int p = 0; p < pass.parts; ++p) {
    local const Lanes* from = pass.from + pass.stride * p;
    local Lanes* to = pass.to + pass.stride * radix * p;
    for (int q = 0; q < pass.stride; ++q) {
      Lanes sums[LARGEST_RADIX / 2], differences[LARGEST_RADIX / 2];
      const Lanes first = from[q];
      Lanes total = first;
      for (int k = 1; k <= half_radix; ++k) {
        const Lanes a = from[q + k * step];
        const Lanes b = from[q + (radix - k) * step];
        sums[k - 1] = added(a, b);
        differences[k - 1] = subtracted(a, b);
        total = added(total, sums[k - 1]);
      }
      to[q] = total;
      for (int j = 1; j <= half_radix; ++j) {
        Lanes even = first;
        Lanes odd = {0.0f, 0.0f};
        for (int k = 1; k <= half_radix; ++k) {
          const float2 root = transform.roots[j * k % radix * root_step];
          even.re += sums[k - 1].re * root.x;
          even.im += sums[k - 1].im * root.x;
          odd.re += differences[k - 1].re * root.y;
          odd.im += differences[k - 1].im * root.y;
        }
        const int at = j * p * pass.stride;
        const int mirrored = (radix - j) * p * pass.stride;
        to[q + j * pass.stride] = multiplied(plus_i_times(even, odd), transform.roots[at]);
        to[q + (radix - j) * pass.stride] =
            multiplied(minus_i_times(even, odd), transform.roots[mirrored]);
      }
    }
  }
}

// Transforms the n numbers of `lines` in each lane; `spare` has room for as many. Returns the array
// that holds the result.
WA_INLINE local Lanes* transformed(local Lanes* lines, local Lanes* spare, Transform transform) {
  int stride = 1;
  for (int i = 0; i < transform.passes; ++i) {
    const int radix = ((const char*)&transform.radices)[i];
    const Pass pass = {lines, spare, transform.n / (stride * radix), stride};
    if (radix == 8) {
      pass_8(pass, transform);
    } else if (radix == 4) {
      pass_4(pass, transform);
    } else if (radix == 2) {
      pass_2(pass, transform);
    } else if (radix == 3) {
      pass_odd(pass, transform, 3);
    } else if (radix == 5) {
      pass_odd(pass, transform, 5);
    } else {
      pass_odd(pass, transform, radix);
    }
    stride *= radix;
    local Lanes* const written = spare;
    spare = lines;
    lines = written;
  }
  return lines;
}

#endif
