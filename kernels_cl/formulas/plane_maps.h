// Homographies between two images, as nine numbers row by row.
//
// Points are relative to the centres of their images; (half_width, half_height) is the last pixel.
// This limits the error in single precision to that of the distance from the centre.
#ifndef WARPALIGN_FORMULAS_PLANE_MAPS_H
#define WARPALIGN_FORMULAS_PLANE_MAPS_H

#include "formulas/language.h"

// The smallest ratio of a homography's divisors in an image, which limits the change of lengths
// there.
#define WA_MIN_DIVISOR_RATIO 1e-3f

// The divisor of a homography at a point.
WA_INLINE WA_REAL wa_divisor(const WA_REAL* h, WA_REAL x, WA_REAL y) {
  return WA_FMA(h[6], x, WA_FMA(h[7], y, h[8]));
}

WA_INLINE void wa_map(const WA_REAL* h, WA_REAL x, WA_REAL y, WA_REAL* to_x, WA_REAL* to_y) {
  const WA_REAL inverse = 1.0f / wa_divisor(h, x, y);
  *to_x = WA_FMA(h[0], x, WA_FMA(h[1], y, h[2])) * inverse;
  *to_y = WA_FMA(h[3], x, WA_FMA(h[4], y, h[5])) * inverse;
}

// (a b)(p) = a(b(p)).
WA_INLINE void wa_compose(const WA_REAL* a, const WA_REAL* b, WA_REAL* product) {
  WA_UNROLL
  for (int row = 0; row < 3; ++row) {
    WA_UNROLL
    for (int column = 0; column < 3; ++column) {
      product[3 * row + column] =
          WA_FMA(a[3 * row], b[column],
                 WA_FMA(a[3 * row + 1], b[3 + column], a[3 * row + 2] * b[6 + column]));
    }
  }
}

// Whether the divisors at the four corners of an image are finite and have the same sign, and the
// smallest is more than `min_ratio` of the largest: no point of the image maps near infinity.
WA_INLINE int wa_divisors_agree(const WA_REAL* w, WA_REAL min_ratio) {
  WA_REAL smallest = w[0];
  WA_REAL largest = w[0];
  WA_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (!(w[i] - w[i] == 0.0f)) return 0;
    smallest = w[i] < smallest ? w[i] : smallest;
    largest = w[i] > largest ? w[i] : largest;
  }
  return largest < 0.0f ? largest / smallest > min_ratio : smallest / largest > min_ratio;
}

// The position of corner 0 to 3 of an image.
WA_INLINE WA_REAL wa_corner_x(int corner, WA_REAL half_width) {
  return (corner & 1) != 0 ? half_width : -half_width;
}
WA_INLINE WA_REAL wa_corner_y(int corner, WA_REAL half_height) {
  return (corner & 2) != 0 ? half_height : -half_height;
}

WA_INLINE int wa_is_regular(const WA_REAL* h, WA_REAL half_width, WA_REAL half_height) {
  WA_REAL w[4];
  WA_UNROLL
  for (int i = 0; i < 4; ++i) {
    w[i] = wa_divisor(h, wa_corner_x(i, half_width), wa_corner_y(i, half_height));
  }
  return wa_divisors_agree(w, WA_NUMBER(WA_MIN_DIVISOR_RATIO));
}

// The squared distance between the images of a point under two homographies.
WA_INLINE WA_REAL wa_square_distance(const WA_REAL* a, const WA_REAL* b, WA_REAL x, WA_REAL y) {
  WA_REAL ax, ay, bx, by;
  wa_map(a, x, y, &ax, &ay);
  wa_map(b, x, y, &bx, &by);
  return WA_FMA(ax - bx, ax - bx, (ay - by) * (ay - by));
}

// The largest distance between the images of the corners under two homographies.
WA_INLINE WA_REAL wa_corner_distance(const WA_REAL* a, const WA_REAL* b, WA_REAL half_width,
                                     WA_REAL half_height) {
  WA_REAL largest = 0.0f;
  WA_UNROLL
  for (int i = 0; i < 4; ++i) {
    const WA_REAL square =
        wa_square_distance(a, b, wa_corner_x(i, half_width), wa_corner_y(i, half_height));
    // NaN counts as the largest.
    if (!(square <= largest)) largest = square;
  }
  return WA_SQRT(largest);
}

// Adds a point to the mean squared distance between two homographies, if the second one maps it
// into the moving image.
WA_INLINE void wa_add_distance(const WA_REAL* a, const WA_REAL* b, WA_REAL x, WA_REAL y,
                               WA_REAL moving_x, WA_REAL moving_y, WA_REAL* squares,
                               WA_REAL* points) {
  WA_REAL at_x, at_y;
  wa_map(b, x, y, &at_x, &at_y);
  const int inside = WA_FABS(at_x) <= moving_x && WA_FABS(at_y) <= moving_y;
  *squares += inside ? wa_square_distance(a, b, x, y) : WA_NUMBER(0.0f);
  *points += inside ? WA_NUMBER(1.0f) : WA_NUMBER(0.0f);
}

#endif
