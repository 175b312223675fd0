// Correlation scored by the overlap: the admissible shifts, the overlap of two images without
// masks, and the scores of the shifts.
#ifndef WARPALIGN_FORMULAS_OVERLAP_H
#define WARPALIGN_FORMULAS_OVERLAP_H

#include "formulas/language.h"

// Weights from 0 to 1 are multiples of 2^-12: sums of up to 2^20 such integers are exact in any
// order.
#define WA_OVERLAP_UNIT 4096.0f

// The distance of shift i from `centre` along a periodic axis of n pixels, signed.
WA_INLINE WA_REAL wa_shift_distance(WA_REAL i, float centre, float n) {
  const WA_REAL distance = i - centre;
  const WA_REAL turns = WA_FLOOR(distance / n + 0.5f);
  return WA_FMA(-turns, WA_NUMBER(n), distance);
}

WA_INLINE WA_REAL wa_shift_square(WA_REAL dx, WA_REAL dy) { return WA_FMA(dx, dx, dy * dy); }

// The distance of a shift from the middle line of a band, whose edges are at 1 (OverlapLimits).
WA_INLINE WA_REAL wa_band_distance(WA_REAL dx, WA_REAL dy, float band_x, float band_y) {
  return WA_FABS(WA_FMA(dx, WA_NUMBER(band_x), dy * band_y));
}

// The square of the reach. It is a number larger than any distance if only bands limit the shifts,
// and 0 if nothing limits them.
WA_INLINE float wa_reach_square(float reach, float first_x, float first_y, float second_x,
                                float second_y) {
  if (reach > 0.0f) return reach * reach;
  const int limited = first_x != 0.0f || first_y != 0.0f || second_x != 0.0f || second_y != 0.0f;
  return limited != 0 ? 3.4e38f : 0.0f;
}

// The distance of a shift in [0, n), from the sum of the shift and of the distance of shift 0.
WA_INLINE WA_REAL wa_wrapped_distance(WA_REAL distance, float n) {
  return distance >= 0.5f * n ? distance - n : distance;
}

// The score C / sqrt(N) from an unnormalised inverse transform, with `normalization` = 1 / its
// number of pixels; 0 if the overlap, N `pixels`, is too small.
WA_INLINE WA_REAL wa_score_over(WA_REAL correlation, WA_REAL pixels, float normalization,
                                float min_overlap) {
  const WA_REAL minimum = WA_NUMBER(min_overlap);
  const WA_REAL enough = pixels >= minimum ? pixels : minimum;
  const WA_REAL score = correlation * normalization / WA_SQRT(enough);
  return pixels >= minimum ? score : WA_NUMBER(0.0f);
}

// Scores have the same order as their signed squares, which need no root, and no division to be
// compared with a bound. This is such a square times the overlap, from the correlation times
// `normalization`.
WA_INLINE WA_REAL wa_signed_square(WA_REAL normal) { return normal * WA_FABS(normal); }

// If the signed square of a shift's score, within 2^-20 of itself, is less than this bound, its
// score is certainly less than a score whose signed square is `square`: the margin of 2^-16 far
// exceeds all rounding of scores. Squares so small or so large that floats may not hold their
// factors count as equal; if overlaps may be that small, nothing is less.
WA_INLINE float wa_score_bound(float square, float min_overlap) {
  const float least = 0x1p-60f;
  const float most = 0x1p60f;
  if (!(min_overlap >= 0x1p-40f) || !(square >= -most)) return -INFINITY;
  if (square > -least && square < least) return -4.0f * least;
  const float within = square < most ? square : most;
  return within - WA_FABS(within) * 0x1p-16f;
}

// The overlap of two images without masks is the area of the intersection of a rectangle and a
// parallelogram: the integral along x of the distance between the parallelogram's upper and lower
// edges, both clipped to the rectangle's height. So it is a sum over four edges, each within the
// rectangle's width.
//
// The rectangle is centred on the origin. Edges are half edges, from the middle of an edge to its
// end.

// The half edge points upwards (y > 0) and has x != 0. Both are at least 2^-20 in size, so that
// nothing becomes infinite; this moves an edge by less than rounding does.
typedef struct {
  float x, y;
  float per_span;  // 1 / (2 x)
  float per_y;     // 1 / y
} WaHalfEdge;

// `second` is counterclockwise from `first` in these coordinates: first.x second.y - first.y
// second.x is 0 or more.
typedef struct {
  float half_width, half_height;  // of the rectangle
  WaHalfEdge first, second;       // of the parallelogram
} WaOutline;

// The constants, for all shifts, of two parallel edges. Positions on an edge run from 0 at its
// lower end, in y, to 1. Heights are in units of the half edge's height.
typedef struct {
  float per_shift;                   // change of position per shift of the parallelogram along x
  float left, right;                 // positions where one edge meets the rectangle's sides
  float other_left, other_right;     // the same for the other edge
  float per_y, offset, half_height;  // `offset`: of the first edge from the middle
  float straight, bent;              // areas
} WaEdgePair;

// `across` leads from the middle to one of the edges. `turn`: 1 if it is counterclockwise from
// `edge`, else -1.
WA_INLINE WaEdgePair wa_edge_pair(float half_width, float half_height, WaHalfEdge edge,
                                  WaHalfEdge across, float turn) {
  const float one = WA_FMA(-across.x, edge.per_span, 0.5f);
  const float other = WA_FMA(across.x, edge.per_span, 0.5f);
  WaEdgePair pair;
  pair.per_shift = -edge.per_span;
  pair.left = WA_FMA(-half_width, edge.per_span, one);
  pair.right = WA_FMA(half_width, edge.per_span, one);
  pair.other_left = WA_FMA(-half_width, edge.per_span, other);
  pair.other_right = WA_FMA(half_width, edge.per_span, other);
  pair.per_y = edge.per_y;
  pair.offset = WA_FMA(across.y, edge.per_y, 0.0f);
  pair.half_height = WA_FMA(half_height, edge.per_y, 0.0f);
  pair.straight = turn * WA_FABS(edge.x) * edge.y;
  pair.bent = -0.5f * turn * edge.x * edge.y;
  return pair;
}

// The heights of the lower ends of two parallel edges above the rectangle's lower and upper sides,
// for a parallelogram `dy` away.
typedef struct {
  WA_REAL above_low, above_high, other_above_low, other_above_high;
} WaEdgeHeights;

WA_INLINE WaEdgeHeights wa_edge_heights(WaEdgePair pair, WA_REAL dy) {
  const WA_REAL middle = WA_FMA(dy, WA_NUMBER(pair.per_y), WA_NUMBER(-1.0f));
  const WA_REAL one = middle + pair.offset;
  const WA_REAL other = middle - pair.offset;
  WaEdgeHeights heights;
  heights.above_low = one + pair.half_height;
  heights.above_high = one - pair.half_height;
  heights.other_above_low = other + pair.half_height;
  heights.other_above_high = other - pair.half_height;
  return heights;
}

// An edge, clipped to the rectangle's width.
typedef struct {
  WA_REAL length;
  // the distance of twice its middle from the lower side, minus that from the upper side
  WA_REAL between;
  WA_REAL below, above;  // the lengths of its parts beyond these sides
} WaClippedEdge;

// Clips an edge, given the positions where it meets the left and the right side, and the heights of
// its lower end.
WA_INLINE WaClippedEdge wa_clipped_edge(WA_REAL at_left, WA_REAL at_right, WA_REAL above_low,
                                        WA_REAL above_high) {
  const WA_REAL left = WA_SATURATE(at_left);
  const WA_REAL right = WA_SATURATE(at_right);
  const WA_REAL twice_middle = left + right;
  const WA_REAL low = WA_FABS(twice_middle + above_low);
  const WA_REAL high = WA_FABS(twice_middle + above_high);
  WaClippedEdge edge;
  edge.length = right - left;
  edge.between = low - high;
  edge.below = WA_SATURATE(WA_FABS(edge.length) - low);
  edge.above = WA_SATURATE(WA_FABS(edge.length) - high);
  return edge;
}

// The area that two parallel edges add to the overlap for a parallelogram `dx` away. For an edge
// that crosses no side, the mean height is that of its middle, twice which is the difference of two
// distances. If it crosses the lower or the upper side, the part beyond adds a square.
//
// All products in these sums are fused explicitly. This leaves the compiler no choice, and every
// program that computes an overlap gets the same bits.
WA_INLINE WA_REAL wa_area_by_edges(WaEdgePair pair, WaEdgeHeights heights, WA_REAL dx) {
  const WA_REAL per_shift = WA_NUMBER(pair.per_shift);
  const WaClippedEdge one = wa_clipped_edge(
      WA_FMA(dx, per_shift, WA_NUMBER(pair.left)), WA_FMA(dx, per_shift, WA_NUMBER(pair.right)),
      heights.above_low, heights.above_high);
  const WaClippedEdge other =
      wa_clipped_edge(WA_FMA(dx, per_shift, WA_NUMBER(pair.other_left)),
                      WA_FMA(dx, per_shift, WA_NUMBER(pair.other_right)), heights.other_above_low,
                      heights.other_above_high);
  const WA_REAL straight = WA_FMA(one.length, one.between, -(other.length * other.between));
  const WA_REAL bent =
      WA_FMA(one.above, one.above,
             WA_FMA(-one.below, one.below,
                    WA_FMA(other.below, other.below, -(other.above * other.above))));
  return WA_FMA(WA_NUMBER(pair.straight), straight, WA_NUMBER(pair.bent) * bent);
}

// The constants of an outline, for all shifts.
typedef struct {
  WaEdgePair first, second;
  float most;  // the smaller area
} WaOutlinePairs;

WA_INLINE WaOutlinePairs wa_outline_pairs(WaOutline outline) {
  const float rectangle = outline.half_width * outline.half_height;
  const float parallelogram = WA_FMA(outline.first.x, outline.second.y,
                                     -(outline.first.y * outline.second.x));
  WaOutlinePairs pairs;
  pairs.first = wa_edge_pair(outline.half_width, outline.half_height, outline.first,
                             outline.second, 1.0f);
  pairs.second = wa_edge_pair(outline.half_width, outline.half_height, outline.second,
                              outline.first, -1.0f);
  pairs.most = 4.0f * (rectangle < parallelogram ? rectangle : parallelogram);
  return pairs;
}

// The overlap, in pixels. The rounding error is up to 0.1 pixels for sides of up to 512.
WA_INLINE WA_REAL wa_outline_overlap(WaOutlinePairs pairs, WaEdgeHeights first,
                                     WaEdgeHeights second, WA_REAL dx) {
  const WA_REAL area =
      wa_area_by_edges(pairs.first, first, dx) + wa_area_by_edges(pairs.second, second, dx);
  return WA_FMAX(WA_FMIN(area, WA_NUMBER(pairs.most)), WA_NUMBER(0.0f));
}

#endif
