// Whether two volumes match at another shift nearly as well as where they were registered.
#include "mosaic/volume_rivals.hpp"

#include "mosaic/mosaic_types.hpp"
#include "values/real_pixels.hpp"
#include "registration/numerics/correlation.hpp"
#include "registration/volume/structure/host_volume.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace warpalign::detail {
namespace {

using Sides = std::array<std::int64_t, 3>;

/// Of the correlation of the registered shift.
constexpr double equal_ratio = 0.9;
constexpr double valley_ratio = 0.75;
/// Of the first, coarse correlations, which have fewer samples and whole voxels.
constexpr double coarse_ratio = 0.35;
/// Below this correlation of the registered shift, noise decides.
constexpr double least_correlation = 0.1;

/// The means of boxes of voxels.
OverviewVolume reduced(const HostVolume& volume, const Sides& factors) {
  const Shape& shape = volume.shape;
  const HostImage image{volume.data, volume.type, shape.width, shape.height * shape.depth, 0};
  const RealPixels rows(image);
  const auto count = static_cast<double>(factors[0] * factors[1] * factors[2]);
  OverviewVolume means;
  means.grid.shape = {shape.width / factors[0], shape.height / factors[1],
                      shape.depth / factors[2]};
  const auto& [width, height, depth] = means.grid.shape;
  means.values.reserve(static_cast<std::size_t>(width * height * depth));
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        double sum = 0;
        for (std::int64_t k = 0; k < factors[2]; ++k) {
          for (std::int64_t j = 0; j < factors[1]; ++j) {
            const std::int64_t row = (z * factors[2] + k) * shape.height + y * factors[1] + j;
            for (std::int64_t i = 0; i < factors[0]; ++i) sum += rows.at(x * factors[0] + i, row);
          }
        }
        means.values.push_back(static_cast<float>(sum / count));
      }
    }
  }
  return means;
}

/// A sample of the reference.
struct Sample {
  Sides place;
  double value;
};

class RivalSearch {
 public:
  RivalSearch(const HostVolume& reference, const HostVolume& moving, const Point3& registered,
              const ShiftRange& range)
      : factors_(factors_of(reference.shape, moving.shape)),
        reference_(reduced(reference, factors_)),
        moving_(reduced(moving, factors_)) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto factor = static_cast<double>(factors_[axis]);
      along(registered_, axis) = along(registered, axis) / factor;
      along(middle_, axis) = along(range.middle, axis) / factor;
      margin_[axis] = range.margin / factor;
    }
    draw_samples();
  }

  [[nodiscard]] std::optional<Point3> run() const {
    const double best = correlation_at(registered_);
    if (!(best > least_correlation)) return {};
    for (const Point3& start : coarse_rivals(best)) {
      const auto [rival, correlation] = climbed(start);
      if (correlation < equal_ratio * best || !is_within(rival)) continue;
      if (valley_towards(rival) > valley_ratio * std::min(correlation, best)) continue;
      Point3 shift;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        along(shift, axis) = along(rival, axis) * static_cast<double>(factors_[axis]);
      }
      return shift;
    }
    return {};
  }

 private:
  static constexpr std::size_t fine_samples = 6000;
  static constexpr std::size_t max_rivals = 16;
  /// Products of samples and shifts of the coarse correlations.
  static constexpr double coarse_work = 1e7;

  static Sides factors_of(const Shape& reference, const Shape& moving) {
    constexpr std::int64_t most = 2;
    constexpr std::int64_t shortest = 12;  // of a side that is reduced
    Sides factors{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t side = std::min(side_along(reference, axis), side_along(moving, axis));
      factors[axis] = std::clamp<std::int64_t>(side / shortest, 1, most);
    }
    return factors;
  }

  void draw_samples() {
    // The same samples in each call.
    std::minstd_rand random(1);
    const auto sides = reference_.grid.sides();
    for (std::size_t i = 0; i < fine_samples; ++i) {
      Sample sample{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        sample.place[axis] =
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(sides[axis]));
      }
      const auto& [x, y, z] = sample.place;
      sample.value = static_cast<double>(reference_.values[reference_.index(x, y, z)]);
      if (std::isfinite(sample.value)) samples_.push_back(sample);
    }
  }

  /// The correlation of the first samples with what `moving(place)` says, NaN if there is nothing;
  /// 0 where too few have a partner.
  template <class Moving>
  [[nodiscard]] double correlation_with(const Moving& moving, std::size_t samples) const {
    samples = std::min(samples, samples_.size());
    Moments sums;
    for (std::size_t i = 0; i < samples; ++i) {
      const double r = samples_[i].value;
      const double m = moving(samples_[i].place);
      if (!std::isfinite(m)) continue;
      sums.n += 1;
      sums.r += r;
      sums.m += m;
      sums.rr += r * r;
      sums.mm += m * m;
      sums.rm += r * m;
    }
    constexpr double min_share = 0.1;
    constexpr double min_samples = 50;
    if (sums.n < std::max(min_samples, min_share * static_cast<double>(samples))) return 0;
    return correlation_of(sums);
  }

  [[nodiscard]] double correlation_at(const Point3& shift) const {
    return correlation_with(
        [&](const Sides& place) {
          return static_cast<double>(moving_.at(static_cast<double>(place[0]) + shift.x,
                                                static_cast<double>(place[1]) + shift.y,
                                                static_cast<double>(place[2]) + shift.z));
        },
        fine_samples);
  }

  /// The same for whole voxels, without interpolation.
  [[nodiscard]] double coarse_correlation_at(const Sides& shift, std::size_t samples) const {
    const auto sides = moving_.grid.sides();
    return correlation_with(
        [&](const Sides& place) -> double {
          const std::int64_t x = place[0] + shift[0];
          const std::int64_t y = place[1] + shift[1];
          const std::int64_t z = place[2] + shift[2];
          const bool is_inside =
              x >= 0 && y >= 0 && z >= 0 && x < sides[0] && y < sides[1] && z < sides[2];
          return is_inside ? static_cast<double>(moving_.values[moving_.index(x, y, z)]) : NAN;
        },
        samples);
  }

  [[nodiscard]] bool is_within(const Point3& shift) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (std::abs(along(shift, axis) - along(middle_, axis)) > margin_[axis]) return false;
    }
    return true;
  }

  /// Maxima of the correlations at shifts by whole voxels, the best first, but for the registered
  /// one.
  [[nodiscard]] std::vector<Point3> coarse_rivals(double best) const {
    Sides begin{};  // of the shifts
    Sides counts{};
    Sides registered{};
    double shifts = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      registered[axis] = std::llround(along(registered_, axis));
      begin[axis] = std::llround(std::ceil(along(middle_, axis) - margin_[axis]));
      const std::int64_t last = std::llround(std::floor(along(middle_, axis) + margin_[axis]));
      counts[axis] = std::max<std::int64_t>(1, last - begin[axis] + 1);
      shifts *= static_cast<double>(counts[axis]);
    }
    const auto samples = static_cast<std::size_t>(std::clamp(coarse_work / shifts, 200.0, 1000.0));
    const auto index = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      return static_cast<std::size_t>((z * counts[1] + y) * counts[0] + x);
    };
    std::vector<double> surface(static_cast<std::size_t>(shifts));
    for (std::int64_t z = 0; z < counts[2]; ++z) {
      for (std::int64_t y = 0; y < counts[1]; ++y) {
        for (std::int64_t x = 0; x < counts[0]; ++x) {
          surface[index(x, y, z)] =
              coarse_correlation_at({begin[0] + x, begin[1] + y, begin[2] + z}, samples);
        }
      }
    }
    std::vector<std::pair<double, Point3>> maxima;
    for (std::int64_t z = 0; z < counts[2]; ++z) {
      for (std::int64_t y = 0; y < counts[1]; ++y) {
        for (std::int64_t x = 0; x < counts[0]; ++x) {
          const double value = surface[index(x, y, z)];
          const bool is_registered = std::max({std::abs(begin[0] + x), std::abs(begin[1] + y),
                                               std::abs(begin[2] + z)}) <= 1;
          if (is_registered || value < coarse_ratio * best) continue;
          bool is_maximum = true;
          for (std::int64_t k = std::max<std::int64_t>(0, z - 1);
               k <= std::min(counts[2] - 1, z + 1); ++k) {
            for (std::int64_t j = std::max<std::int64_t>(0, y - 1);
                 j <= std::min(counts[1] - 1, y + 1); ++j) {
              for (std::int64_t i = std::max<std::int64_t>(0, x - 1);
                   i <= std::min(counts[0] - 1, x + 1); ++i) {
                if (surface[index(i, j, k)] > value) is_maximum = false;
              }
            }
          }
          if (is_maximum)
            maxima.emplace_back(
                value, Point3{static_cast<double>(begin[0] + x), static_cast<double>(begin[1] + y),
                              static_cast<double>(begin[2] + z)});
        }
      }
    }
    std::sort(maxima.begin(), maxima.end(),
              [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Point3> rivals;
    for (std::size_t i = 0; i < std::min(max_rivals, maxima.size()); ++i) {
      rivals.push_back(maxima[i].second);
    }
    return rivals;
  }

  /// The nearest maximum by all samples, to a quarter of a reduced voxel, and its correlation.
  [[nodiscard]] std::pair<Point3, double> climbed(Point3 shift) const {
    constexpr int max_steps = 8;
    double value = correlation_at(shift);
    for (const double step : {0.5, 0.25}) {
      bool goes_on = true;
      for (int i = 0; i < max_steps && goes_on; ++i) {
        goes_on = false;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          for (const double by : {-step, step}) {
            Point3 next = shift;
            along(next, axis) += by;
            const double there = correlation_at(next);
            if (there <= value) continue;
            value = there;
            shift = next;
            goes_on = true;
          }
        }
      }
    }
    return {shift, value};
  }

  /// The least correlation on the way from the registered shift to another one.
  [[nodiscard]] double valley_towards(const Point3& rival) const {
    const Point3 way = detail::difference(rival, registered_);
    const int steps = std::max(2, static_cast<int>(std::ceil(2 * largest_coordinate(way))));
    double least = 1;
    for (int i = 1; i < steps; ++i) {
      const double part = static_cast<double>(i) / steps;
      Point3 shift = registered_;
      for (std::size_t axis = 0; axis < 3; ++axis) along(shift, axis) += part * along(way, axis);
      least = std::min(least, correlation_at(shift));
    }
    return least;
  }

  Sides factors_;
  OverviewVolume reference_, moving_;
  Point3 registered_, middle_;  // in reduced voxels
  std::array<double, 3> margin_{};
  std::vector<Sample> samples_;
};

}  // namespace

std::optional<Point3> rival_shift(const HostVolume& reference, const HostVolume& moving,
                                  const Point3& registered, const ShiftRange& range) {
  return RivalSearch(reference, moving, registered, range).run();
}

}  // namespace warpalign::detail
