// The correlation of two images, and the gain and offset between them, from their moments.
#ifndef WARPALIGN_FORMULAS_MOMENTS_H
#define WARPALIGN_FORMULAS_MOMENTS_H

#include "formulas/language.h"

// Sums over the common pixels, as in warpalign::SimilaritySumsResult.
typedef struct {
  WA_REAL pixels, absolute, reference, moving, reference_square, moving_square, product;
} WaMoments;

// n ab - a b for sums over n pixels: n times the sum of products about the means. Compensates the
// rounding error of a b, which grows with the distance of the means from 0.
WA_INLINE WA_REAL wa_about_means(WA_REAL n, WA_REAL ab, WA_REAL a, WA_REAL b) {
  const WA_REAL product = a * b;
  const WA_REAL error = WA_FMA(-a, b, product);
  return WA_FMA(n, ab, -product) + error;
}

// The normalized correlation; 0 if either image is constant.
WA_INLINE WA_REAL wa_correlation(const WaMoments* m) {
  const WA_REAL rr = wa_about_means(m->pixels, m->reference_square, m->reference, m->reference);
  const WA_REAL mm = wa_about_means(m->pixels, m->moving_square, m->moving, m->moving);
  if (!(m->pixels > 1.0f) || !(rr > 0.0f) || !(mm > 0.0f)) return 0.0f;
  const WA_REAL rm = wa_about_means(m->pixels, m->product, m->reference, m->moving);
  // Divides twice: each variance is multiplied by n^2, and their product would exceed single
  // precision.
  return rm / WA_SQRT(rr) / WA_SQRT(mm);
}

// The ratio of the contrasts; 1 if the reference is constant.
WA_INLINE WA_REAL wa_gain(const WaMoments* m) {
  const WA_REAL rr = wa_about_means(m->pixels, m->reference_square, m->reference, m->reference);
  const WA_REAL mm = wa_about_means(m->pixels, m->moving_square, m->moving, m->moving);
  return rr > 0.0f ? WA_SQRT((mm > 0.0f ? mm : WA_NUMBER(0.0f)) / rr) : WA_NUMBER(1.0f);
}

// The offset that makes the means equal under a gain.
WA_INLINE WA_REAL wa_offset(const WaMoments* m, WA_REAL gain) {
  const WA_REAL pixels = m->pixels > 1.0f ? m->pixels : WA_NUMBER(1.0f);
  return (m->moving - gain * m->reference) / pixels;
}

// Joins the moments of two channels to those of one image: about the means of each channel, so that
// the joint means are 0. A pixel counts once.
WA_INLINE WaMoments wa_joined(const WaMoments* a, const WaMoments* b) {
  const WA_REAL n = a->pixels > 1.0f ? a->pixels : WA_NUMBER(1.0f);
  const WA_REAL k = b->pixels > 1.0f ? b->pixels : WA_NUMBER(1.0f);
  WaMoments all;
  all.pixels = a->pixels;
  all.absolute = 0.5f * (a->absolute + b->absolute);
  all.reference = 0.0f;
  all.moving = 0.0f;
  all.reference_square = wa_about_means(n, a->reference_square, a->reference, a->reference) / n +
                         wa_about_means(k, b->reference_square, b->reference, b->reference) / k;
  all.moving_square = wa_about_means(n, a->moving_square, a->moving, a->moving) / n +
                      wa_about_means(k, b->moving_square, b->moving, b->moving) / k;
  all.product = wa_about_means(n, a->product, a->reference, a->moving) / n +
                wa_about_means(k, b->product, b->reference, b->moving) / k;
  return all;
}

#endif
