// The Fourier transform of real images and volumes, axis by axis, for CPUs.
//
// Rows are real. Two of them make one complex line, z = a + i b, whose transform is A + i B with
// A(k) = (Z(k) + conj Z(n - k)) / 2 and B(k) = (Z(k) - conj Z(n - k)) / 2i. The other axes of the
// half spectrum are complex. The inverse transform is the forward one with real and imaginary parts
// exchanged before and after it. `scratch` has room for two times n numbers in each of sixteen
// lanes.
//
// One kernel has all kinds of lines, because the passes, which they share, are most of what the
// driver compiles.
//
// variant: cpu
#include "lib/fft_simd.h"

#define ROWS 16  // in the real parts, and as many in the imaginary parts
#define BLOCK 8  // complex numbers of a row that fill a vector

// The kinds of lines, with the numbers that fft_cpu.cpp gives them.
#define ROWS_FORWARD 0
#define ROWS_INVERSE 1
#define LINES_FORWARD 2
#define LINES_INVERSE 3

WA_INLINE Transform transform_of(int n, int passes, char16 radices, global const float2* roots) {
  const Transform transform = {n, passes, radices, roots};
  return transform;
}

// The number of the sixteen rows from `first` on that exist.
WA_INLINE int rows_from(int first, int rows) { return clamp(rows - first, 0, ROWS); }

// Sixteen pixels of sixteen rows from `x`, one row in each lane; 0 beyond the image. Sets bits of
// `any` where pixels are not 0.
WA_INLINE void load_pixels(global const float* image, int first, int rows, int width, int x,
                           float16* block, int16* any) {
  const int present = rows_from(first, rows);
  for (int i = 0; i < ROWS; ++i) {
    block[i] = 0.0f;
    if (i < present) {
      block[i] = load_some(image + (size_t)(first + i) * (size_t)width + x, width - x);
    }
    *any |= as_int16(block[i]);
  }
  transpose(block);
}

WA_INLINE void store_pixels(float16* block, int first, int rows, int width, int x,
                            global float* image) {
  transpose(block);
  for (int i = 0; i < rows_from(first, rows); ++i) {
    store_some(block[i], width - x, image + (size_t)(first + i) * (size_t)width + x);
  }
}

// Eight numbers of sixteen rows of the half spectrum from `u` on, real and imaginary parts
// interleaved.
WA_INLINE void load_numbers(global const float2* spectrum, int first, int rows, int columns, int u,
                            float16* block) {
  const int present = rows_from(first, rows);
  for (int i = 0; i < ROWS; ++i) {
    block[i] = 0.0f;
    if (i < present) {
      const size_t at = (size_t)(first + i) * (size_t)columns + (size_t)u;
      block[i] = load_some((global const float*)(spectrum + at), 2 * (columns - u));
    }
  }
  transpose(block);
}

WA_INLINE void store_numbers(float16* block, int first, int rows, int columns, int u,
                             global float2* spectrum) {
  transpose(block);
  for (int i = 0; i < rows_from(first, rows); ++i) {
    const size_t at = (size_t)(first + i) * (size_t)columns + (size_t)u;
    store_some(block[i], 2 * (columns - u), (global float*)(spectrum + at));
  }
}

// Clears the half spectra of up to 2 x ROWS rows.
WA_INLINE void clear_rows(int first, int rows, int columns, global float2* spectrum) {
  global float* from = (global float*)(spectrum + (size_t)first * (size_t)columns);
  const int numbers = 2 * columns * min(2 * ROWS, rows - first);
#pragma unroll 1
  for (int i = 0; i < numbers; i += 16) store_some((float16)(0.0f), numbers - i, from + i);
}

// Loads 2 x ROWS rows of an image. Rows that share a line share its rounding errors, and a row that
// is not finite makes the other one NaN. Returns false if all pixels are 0: images are often padded
// with rows of zeros, whose transforms are known.
WA_INLINE bool load_images(global const float* image, int first, int rows, int width,
                           local Lanes* lines) {
  int16 any = 0;
  for (int x = 0; x < width; x += 16) {
    float16 re[16], im[16];
    load_pixels(image, first, rows, width, x, re, &any);
    load_pixels(image, first + ROWS, rows, width, x, im, &any);
    for (int i = 0; i < min(16, width - x); ++i) {
      lines[x + i].re = re[i];
      lines[x + i].im = im[i];
    }
  }
  return !are_all(any == 0);
}

WA_INLINE void store_spectra(local const Lanes* z, int first, int rows, int width,
                             global float2* spectrum) {
  const int columns = width / 2 + 1;
  for (int u = 0; u < columns; u += BLOCK) {
    float16 a[16], b[16];
    for (int i = 0; i < BLOCK; ++i) {
      const int k = min(u + i, columns - 1);
      const Lanes at = z[k];
      const Lanes mirrored = z[k == 0 ? 0 : width - k];
      a[2 * i] = 0.5f * (at.re + mirrored.re);
      a[2 * i + 1] = 0.5f * (at.im - mirrored.im);
      b[2 * i] = 0.5f * (at.im + mirrored.im);
      b[2 * i + 1] = 0.5f * (mirrored.re - at.re);
    }
    store_numbers(a, first, rows, columns, u, spectrum);
    store_numbers(b, first + ROWS, rows, columns, u, spectrum);
  }
}

// Number i of a row, whose spectrum is real at the frequencies 0 and width / 2.
WA_INLINE Lanes half_number(const float16* block, int i, bool is_real) {
  const Lanes number = {block[2 * i], is_real ? (float16)(0.0f) : block[2 * i + 1]};
  return number;
}

WA_INLINE Lanes exchanged(Lanes number) {
  const Lanes other = {number.im, number.re};
  return other;
}

WA_INLINE Lanes conjugated(Lanes number) {
  const Lanes other = {number.re, -number.im};
  return other;
}

WA_INLINE void load_spectra(global const float2* spectrum, int first, int rows, int width,
                            local Lanes* lines) {
  const int columns = width / 2 + 1;
  for (int u = 0; u < columns; u += BLOCK) {
    float16 a[16], b[16];
    load_numbers(spectrum, first, rows, columns, u, a);
    load_numbers(spectrum, first + ROWS, rows, columns, u, b);
    for (int i = 0; i < min(BLOCK, columns - u); ++i) {
      const int k = u + i;
      const bool is_real = k == 0 || 2 * k == width;
      const Lanes of_first = half_number(a, i, is_real);
      const Lanes of_second = half_number(b, i, is_real);
      if (!is_real) {
        lines[width - k] = exchanged(plus_i_times(conjugated(of_first), conjugated(of_second)));
      }
      lines[k] = exchanged(plus_i_times(of_first, of_second));
    }
  }
}

WA_INLINE void store_images(local const Lanes* z, int first, int rows, int width,
                            global float* image) {
  for (int x = 0; x < width; x += 16) {
    float16 re[16], im[16];
    for (int i = 0; i < 16; ++i) {
      const Lanes pixel = exchanged(z[min(x + i, width - 1)]);
      re[i] = pixel.re;
      im[i] = pixel.im;
    }
    store_pixels(re, first, rows, width, x, image);
    store_pixels(im, first + ROWS, rows, width, x, image);
  }
}

// Transforms rows of an image, or other lines of the half spectrum in place; `kind` is one of the
// kinds above. Of rows, each `n` numbers long, image j has `count`, and work-item (i, j) transforms
// 2 x ROWS of them. Other lines have n numbers that are `count` apart; work-item (i, j) transforms
// sixteen of `count` neighbouring ones, and j is the index along the outer axes.
SIMD_KERNEL transform_lines(
    global float* image, global float2* spectrum, local float16* scratch,
    global const float2* roots, char16 radices, int passes, int n, int count, int kind) {
  const Transform transform = transform_of(n, passes, radices, roots);
  local Lanes* lines = (local Lanes*)scratch;
  const int columns = n / 2 + 1;
  const int first_row = (int)get_global_id(0) * 2 * ROWS;
  const size_t rows_before = get_global_id(1) * (size_t)count;
  global float* pixels = image + rows_before * (size_t)n;
  global float2* half_rows = spectrum + rows_before * (size_t)columns;
  const int first_line = (int)get_global_id(0) * 16;
  const int present = min(16, count - first_line);
  global float2* numbers = spectrum + get_global_id(1) * (size_t)n * (size_t)count + first_line;
  if (kind == ROWS_FORWARD) {
    if (!load_images(pixels, first_row, count, n, lines)) {
      clear_rows(first_row, count, columns, half_rows);
      return;
    }
  } else if (kind == ROWS_INVERSE) {
    load_spectra(half_rows, first_row, count, n, lines);
  } else {
    for (int i = 0; i < n; ++i) {
      const Lanes number =
          load_lanes((global const float*)(numbers + (size_t)i * (size_t)count), present);
      lines[i] = kind == LINES_INVERSE ? exchanged(number) : number;
    }
  }
  local const Lanes* z = transformed(lines, lines + n, transform);
  if (kind == ROWS_FORWARD) {
    store_spectra(z, first_row, count, n, half_rows);
  } else if (kind == ROWS_INVERSE) {
    store_images(z, first_row, count, n, pixels);
  } else {
    for (int i = 0; i < n; ++i) {
      store_lanes(kind == LINES_INVERSE ? exchanged(z[i]) : z[i], present,
                  (global float*)(numbers + (size_t)i * (size_t)count));
    }
  }
}
