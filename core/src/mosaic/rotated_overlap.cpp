// The overlap of two tiles between which a pair's transform is known.
#include "mosaic/rotated_overlap.hpp"

#include "mosaic/mosaic_types.hpp"
#include "mosaic/positive_system.hpp"
#include "values/real_pixels.hpp"
#include "mosaic/tile_motion.hpp"
#include "registration/numerics/centred_moments.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpalign::detail {
namespace {

struct Range {
  double from = 0;
  double to = 0;
};

/// The part of [0, moving) that lies in [0, reference) after a shift; its middle if there is none.
Range common(std::int64_t moving, std::int64_t reference, double shift) {
  const double from = std::max(0.0, -shift);
  const double to =
      std::min(static_cast<double>(moving - 1), static_cast<double>(reference - 1) - shift);
  return from <= to ? Range{from, to} : Range{(from + to) / 2, (from + to) / 2};
}

constexpr std::size_t parameters = TileMotion::max_parameters;

/// The Gauss-Newton matrix of the motion's parameters, and the moments of the overlap.
struct MotionSums {
  Moments moments;
  SquareMatrix<parameters> matrix{};
};

MotionSums sums_of(const HostImage& reference, const HostImage& moving,
                   const Homography& reference_to_moving, const TileMotion& motion,
                   std::int64_t step) {
  const RealPixels from(reference);
  const RealPixels to(moving);
  MotionSums sums;
  for (std::int64_t y = 1; y + 1 < reference.height; y += step) {
    for (std::int64_t x = 1; x + 1 < reference.width; x += step) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      const Point q = reference_to_moving(p);
      if (!(q.x >= 0 && q.y >= 0 && q.x < static_cast<double>(moving.width - 1) &&
            q.y < static_cast<double>(moving.height - 1))) {
        continue;
      }
      const double r = from.at(x, y);
      const double m = to.between(q.x, q.y);
      const Point slope{(from.at(x + 1, y) - from.at(x - 1, y)) / 2,
                        (from.at(x, y + 1) - from.at(x, y - 1)) / 2};
      if (!std::isfinite(r + m + slope.x + slope.y)) continue;
      Moments& s = sums.moments;
      s.n += 1;
      s.r += r;
      s.m += m;
      s.rr += r * r;
      s.mm += m * m;
      s.rm += r * m;
      const TileMotion::Columns columns = motion.derivatives(p);
      std::array<double, parameters> gradient{};
      for (std::size_t i = 0; i < motion.parameters(); ++i) {
        gradient[i] = slope.x * columns[i].x + slope.y * columns[i].y;
      }
      for (std::size_t i = 0; i < motion.parameters(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) sums.matrix[i][j] += gradient[i] * gradient[j];
      }
    }
  }
  return sums;
}

}  // namespace

RotatedOverlap rotated_overlap(const Homography& moving_to_reference, const Shape& reference,
                               const Shape& moving) {
  constexpr int steps = 4;
  RotatedOverlap overlap;
  overlap.middle = {static_cast<double>(moving.width - 1) / 2,
                    static_cast<double>(moving.height - 1) / 2};
  for (int i = 0; i < steps; ++i) {
    const Point shift = difference(moving_to_reference(overlap.middle), overlap.middle);
    const Range x = common(moving.width, reference.width, shift.x);
    const Range y = common(moving.height, reference.height, shift.y);
    overlap.middle = {(x.from + x.to) / 2, (y.from + y.to) / 2};
    overlap.corners = {Point{x.from, y.from}, {x.to, y.from}, {x.from, y.to}, {x.to, y.to}};
  }
  return overlap;
}

RotatedCovariances rotated_covariances(const HostImage& reference, const HostImage& moving,
                                       const Homography& reference_to_moving, Motion motion,
                                       const RotatedOverlap& points) {
  constexpr double max_samples = 16000;
  constexpr double unknown = 1;        // square pixels, without enough samples
  constexpr double prior = 1e-2;       // a deviation of 10 pixels keeps the inverse finite
  constexpr double min_share = 1e-12;  // of the variance that is not shared
  const TileMotion parameters_of(motion, reference.shape());
  const auto pixels = static_cast<double>(reference.width * reference.height);
  const auto step =
      static_cast<std::int64_t>(std::max(1.0, std::floor(std::sqrt(pixels / max_samples))));
  MotionSums sums = sums_of(reference, moving, reference_to_moving, parameters_of, step);
  const CentredMoments centred(sums.moments);
  RotatedCovariances result;
  if (sums.moments.n < 4 || !(centred.rr > 0) || !(centred.mm > 0)) {
    for (Covariance* covariance : {&result.middle, &result.corners[0], &result.corners[1],
                                   &result.corners[2], &result.corners[3]}) {
      covariance->at(0, 0) = covariance->at(1, 1) = unknown;
    }
    return result;
  }
  const double noise =
      std::max(centred.rr - centred.rm * centred.rm / centred.mm, min_share * centred.rr) /
      sums.moments.n;
  const double scale = static_cast<double>(step * step) / noise;
  for (std::size_t i = 0; i < parameters_of.parameters(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) sums.matrix[i][j] *= scale;
    sums.matrix[i][i] += prior;
  }
  const PositiveSystem<parameters> system(sums.matrix);
  const auto covariance_at = [&](const Point& point) {
    const TileMotion::Columns columns = parameters_of.derivatives(point);
    Covariance covariance;
    for (std::size_t j = 0; j < 2; ++j) {
      Vector<parameters> row{};
      for (std::size_t k = 0; k < parameters_of.parameters(); ++k) row[k] = along(columns[k], j);
      const Vector<parameters> solved = system.solve(row);
      for (std::size_t i = j; i < 2; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < parameters_of.parameters(); ++k) {
          sum += along(columns[k], i) * solved[k];
        }
        covariance.at(i, j) = sum;
      }
    }
    return covariance;
  };
  result.middle = covariance_at(points.middle);
  for (std::size_t k = 0; k < overlap_corners; ++k) {
    result.corners[k] = covariance_at(points.corners[k]);
  }
  return result;
}

}  // namespace warpalign::detail
