// A pair of tiles after its registration, and the judgement of its result.
#pragma once

#include "mosaic/mosaic_types.hpp"
#include "mosaic/overlap.hpp"
#include "mosaic/rotated_placement.hpp"
#include "mosaic/shift_covariance.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

namespace warpalign::detail {

/// A pair after its registration. P: Point or Point3.
template <class P>
struct MeasuredPairOf {
  typename MosaicTypes<P>::Pair pair;
  ExpectedPairOf<P> expected;
  CovarianceOf<axes_of<P>> covariance;  ///< of the shift
  /// Of a pair of rotated images: the covariances of the overlap's corners.
  std::array<Covariance, overlap_corners> corners{};
};

using MeasuredPair = MeasuredPairOf<Point>;

/// A pair that is not registered yet, with the expected shift.
template <class P>
[[nodiscard]] MeasuredPairOf<P> unmeasured(const ExpectedPairOf<P>& expected) {
  MeasuredPairOf<P> measured;
  measured.expected = expected;
  measured.pair.reference = expected.reference;
  measured.pair.moving = expected.moving;
  measured.pair.shift = expected.shift;
  if constexpr (axes_of<P> == 2) {
    measured.pair.matrix = Affine{1, 0, expected.shift.x, 0, 1, expected.shift.y};
  }
  return measured;
}

/// Marks a pair that could not be registered.
template <class Pair>
void set_failed(Pair& pair, const std::string& reason) {
  pair.outcome = PairOutcome::failed;
  pair.reason = reason;
}

inline constexpr const char* absent_reason = "a tile of the pair is absent";
inline constexpr const char* not_finite_reason = "the device computed numbers that are not finite";

[[nodiscard]] inline std::string rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

/// Sets the outcome of a pair by its confidence, and by the distance of its shift from the expected
/// one, of which at most `margin` is allowed along each axis.
template <class P>
void set_outcome(MeasuredPairOf<P>& measured, double min_confidence, double margin) {
  auto& pair = measured.pair;
  if (!(pair.confidence >= min_confidence)) {
    pair.outcome = PairOutcome::unreliable;
    pair.reason = "confidence " + rounded(pair.confidence) + " is below " + rounded(min_confidence);
    return;
  }
  const double off = largest_coordinate(difference(pair.shift, measured.expected.shift));
  if (off > margin) {
    pair.outcome = PairOutcome::beyond_error;
    pair.reason = "the shift is " + rounded(off) + " " + MosaicTypes<P>::samples +
                  " from the expected one, more than the " + rounded(margin) + " allowed";
    return;
  }
  pair.outcome = PairOutcome::used;
}

/// Sets the covariance of an accepted pair.
template <class P>
void set_covariance(MeasuredPairOf<P>& measured, const CovarianceOf<axes_of<P>>& covariance) {
  measured.covariance = covariance;
  for (std::size_t axis = 0; axis < axes_of<P>; ++axis) {
    along(measured.pair.uncertainty, axis) = std::sqrt(covariance.at(axis, axis));
  }
}

}  // namespace warpalign::detail
