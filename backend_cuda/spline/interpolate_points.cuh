// The points at which a spline is evaluated: the point of an output pixel, and its location on each
// axis.
//
// Points are computed in double precision. A coordinate is then split, exactly, into the nearest
// integer and a fraction in [-1/2, 1/2], which a float holds to 3e-8 of a pixel anywhere in an
// image.
#pragma once

#include "spline/interpolate_spline.hpp"

#include "formulas/boundary.h"

#include <cuda_runtime.h>

namespace warpalign::cuda {

/// A location on an axis: whole + fraction, in sample positions.
struct AxisLocation {
  int whole = 0;
  float fraction = 0.0f;
  bool halfway = false;  // exactly 1/2, which the rounded fraction cannot show
  bool flat = false;     // clamped; the spline is constant along this axis there
};

// Whether |x| < 2^30, from the exponent. False for NaN and infinity.
__device__ __forceinline__ bool is_near(double x) {
  constexpr int two_to_30 = 0x41d00000;
  return (__double2hiint(x) & 0x7fffffff) < two_to_30;
}

// Splits a coordinate for which is_near() holds. Adding 1.5 * 2^52 leaves the nearest integer in
// the low bits; additions are several times as fast as conversions. Computed points (`snap`) less
// than 2^-25 from an integer are moved to it, as in wa_snap(), so that rounding does not decide
// whether the last sample lies within an image.
__device__ __forceinline__ AxisLocation split(double x, bool snap) {
  constexpr double magic = 6755399441055744.0;
  const double shifted = x + magic;
  const double rest = x - (shifted - magic);
  AxisLocation location;
  location.whole = __double2loint(shifted);
  location.fraction = static_cast<float>(rest);
  location.halfway = rest == 0.5;
  if (snap && fabsf(location.fraction) < 0x1p-25f) location.fraction = 0.0f;
  return location;
}

__device__ __forceinline__ bool is_below(const AxisLocation& p, int end) {
  return p.whole < end || (p.whole == end && p.fraction < 0.0f);
}
__device__ __forceinline__ bool is_above(const AxisLocation& p, int end) {
  return p.whole > end || (p.whole == end && p.fraction > 0.0f);
}

// Boundary mode `wrap`: maps a location into [0, n - 1] modulo n - 1. Locations in that interval do
// not change. Other multiples of n - 1 map to 0 from above and to n - 1 from below, as in SciPy.
__device__ __forceinline__ void wrap_location(AxisLocation& p, int n) {
  const int last = n - 1;
  if (!is_below(p, 0) && !is_above(p, last)) return;
  if (last == 0) {
    p = AxisLocation{};
    return;
  }
  const bool from_below = is_below(p, 0);
  p.whole = wa_extend_periodic(p.whole, last);
  if (p.whole == 0 && (p.fraction < 0.0f || (p.fraction == 0.0f && from_below))) p.whole = last;
}

__device__ __forceinline__ void clamp_location(AxisLocation& p, int lowest, int highest) {
  const bool below = is_below(p, lowest);
  if (!below && !is_above(p, highest)) return;
  p.whole = below ? lowest : highest;
  p.fraction = 0.0f;
  p.halfway = false;
  p.flat = true;
}

// Maps a coordinate that is far away to a near one with the same value. Returns false if the value
// is cval. fmod() is exact.
__device__ __forceinline__ bool bring_near(const SplineRules& rules, int n, double& x) {
  if (isnan(x)) return false;
  if (rules.points == PointRule::clamp_to_margin) {
    x = x < 0 ? -0x1p29 : 0x1.8p+30;  // beyond any margin, since n <= 2^30
    return true;
  }
  if (rules.points == PointRule::reject_outside || isinf(x)) return false;
  const double period = rules.points == PointRule::period_minus_one
                            ? static_cast<double>(n) - 1.0
                            : static_cast<double>(wa_extension_period(rules.extension, n));
  if (rules.points == PointRule::free && period == 0.0) return false;  // cval everywhere outside
  if (period == 0.0) {
    x = 0.0;
    return true;
  }
  // A multiple of the period below 0 must stay below 0, because wrap_location() distinguishes it
  // from one above.
  x = x < 0 ? fmod(x, period) - period : fmod(x, period);
  return true;
}

/// The location of coordinate x on an axis of n samples. Returns false if the value is cval.
__device__ __forceinline__ bool find_location(const SplineRules& rules, int n, double x, bool snap,
                                              AxisLocation& location) {
  if (!is_near(x) && !bring_near(rules, n, x)) return false;
  location = split(x, snap);
  switch (rules.points) {
    case PointRule::reject_outside:
      return !is_below(location, 0) && !is_above(location, n - 1);
    case PointRule::clamp_to_margin:
      clamp_location(location, -rules.reach, n - 1 + rules.reach);
      return true;
    case PointRule::period_minus_one:
      wrap_location(location, n);
      return true;
    default:
      return true;
  }
}

/// One row of a transform's matrix times the coordinates of an output pixel.
template <int dimensions>
__device__ __forceinline__ double product_with_row(const double* m, int x, int y, int z) {
  double sum = m[3];
  if constexpr (dimensions >= 3) sum = fma(m[2], static_cast<double>(z), sum);
  if constexpr (dimensions >= 2) sum = fma(m[1], static_cast<double>(y), sum);
  return fma(m[0], static_cast<double>(x), sum);
}

/// The source point of an output pixel; `index` is the number of the pixel.
template <int dimensions>
__device__ __forceinline__ void find_point(const PointSource& s, int x, int y, int z,
                                           long long index, double (&point)[dimensions]) {
  if (s.kind == PointKind::field) {
#pragma unroll
    for (int i = 0; i < dimensions; ++i) {
      point[i] = static_cast<double>(s.field[i * s.field_plane + index]);
    }
    return;
  }
  if constexpr (dimensions == 2) {
    if (s.kind == PointKind::log_polar) {
      const double radius = exp(fma(s.polar.log_step, static_cast<double>(x), s.polar.log_radius0));
      double sine, cosine;  // of multiples of pi: avoids the slow reduction modulo pi in double
      sincospi(fma(s.polar.angle_step, static_cast<double>(y), s.polar.angle0), &sine, &cosine);
      point[0] = fma(radius, cosine, s.polar.centre_x);
      point[1] = fma(radius, sine, s.polar.centre_y);
      return;
    }
  }
  const auto row = [&](int i) { return product_with_row<dimensions>(s.m + 4 * i, x, y, z); };
#pragma unroll
  for (int i = 0; i < dimensions; ++i) point[i] = row(i);
  if (s.kind == PointKind::projective) {
    const double w = row(3);
#pragma unroll
    for (int i = 0; i < dimensions; ++i) point[i] /= w;
  }
}

}  // namespace warpalign::cuda
