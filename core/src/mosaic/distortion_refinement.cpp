// Refines the distortion of tiles by the gray levels of their overlaps.
#include "mosaic/distortion_refinement.hpp"

#include "mosaic/distorted_pixel.hpp"
#include "mosaic/positive_system.hpp"
#include "values/real_pixels.hpp"
#include "registration/numerics/robust_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace warpalign::detail {
namespace {

constexpr std::size_t shared = 2 * TileDistortion::terms;
constexpr std::size_t own = 4;  // of a pair: the shift along x and y, gain and offset
using SharedMatrix = SquareMatrix<shared>;
using SharedVector = Vector<shared>;

/// Gray levels of a window of a tile, slightly smoothed, so that they are linear between pixels.
class SmoothWindow {
 public:
  SmoothWindow(const HostImage& image, const TileWindow& window) : window_(window) {
    const HostImage part = window_of(image, window);
    const RealPixels pixels(part);
    const auto width = static_cast<std::size_t>(window.width);
    std::vector<float> row(width);
    values_.resize(width * static_cast<std::size_t>(window.height));
    for (std::int64_t y = 0; y < window.height; ++y) {
      for (std::int64_t x = 0; x < window.width; ++x) {
        double sum = 0;
        for (std::int64_t k = -reach; k <= reach; ++k) {
          sum += kernel[static_cast<std::size_t>(k + reach)] *
                 pixels.at(std::clamp<std::int64_t>(x + k, 0, window.width - 1), y);
        }
        values_[index(x, y)] = static_cast<float>(sum);
      }
    }
    const std::vector<float> rows = values_;
    for (std::int64_t y = 0; y < window.height; ++y) {
      for (std::int64_t x = 0; x < window.width; ++x) {
        double sum = 0;
        for (std::int64_t k = -reach; k <= reach; ++k) {
          const std::int64_t from = std::clamp<std::int64_t>(y + k, 0, window.height - 1);
          sum += kernel[static_cast<std::size_t>(k + reach)] * rows[index(x, from)];
        }
        values_[index(x, y)] = static_cast<float>(sum);
      }
    }
  }

  [[nodiscard]] const TileWindow& window() const { return window_; }
  /// The value at a pixel of the tile in the window.
  [[nodiscard]] double at(std::int64_t x, std::int64_t y) const {
    return values_[index(x - window_.x, y - window_.y)];
  }
  /// Value and gradient between pixels. Returns false outside of the window.
  [[nodiscard]] bool sample(const Point& p, double& value, Point& gradient) const {
    const double x = p.x - static_cast<double>(window_.x);
    const double y = p.y - static_cast<double>(window_.y);
    const auto i = static_cast<std::int64_t>(std::floor(x));
    const auto j = static_cast<std::int64_t>(std::floor(y));
    if (i < 1 || j < 1 || i + 2 >= window_.width || j + 2 >= window_.height) return false;
    const double u = x - static_cast<double>(i);
    const double v = y - static_cast<double>(j);
    const auto blend = [&](std::int64_t dx, std::int64_t dy) {
      const double upper =
          values_[index(i + dx, j + dy)] * (1 - u) + values_[index(i + dx + 1, j + dy)] * u;
      const double lower =
          values_[index(i + dx, j + dy + 1)] * (1 - u) + values_[index(i + dx + 1, j + dy + 1)] * u;
      return upper * (1 - v) + lower * v;
    };
    value = blend(0, 0);
    gradient = {(blend(1, 0) - blend(-1, 0)) / 2, (blend(0, 1) - blend(0, -1)) / 2};
    return std::isfinite(value + gradient.x + gradient.y);
  }

 private:
  static constexpr std::int64_t reach = 2;
  static constexpr std::array<double, 5> kernel{1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16};

  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y) const {
    return static_cast<std::size_t>(y * window_.width + x);
  }

  TileWindow window_;
  std::vector<float> values_;
};

/// The normal equations of one pair.
struct PairEquations {
  SharedMatrix of_shared{};
  std::array<Vector<own>, shared> mixed{};
  SquareMatrix<own> of_own{};
  SharedVector right_shared{};
  Vector<own> right_own{};
  double squares = 0;  ///< weighted sum of squared residuals
  double weights = 0;
};

/// One pair of tiles.
class RefinedPair {
 public:
  RefinedPair(TileCache& cache, const ShiftedPair& pair, const Shape& tile, double reach,
              double samples)
      : shift_(pair.shift),
        windows_(overlap_windows(tile, tile, pair.shift, reach)),
        reference_(cache.get(pair.reference).image, windows_[0]),
        moving_(cache.get(pair.moving).image, windows_[1]) {
    const double pixels =
        static_cast<double>(windows_[0].width) * static_cast<double>(windows_[0].height);
    step_ = static_cast<std::int64_t>(std::max(1.0, std::ceil(std::sqrt(pixels / samples))));
  }

  [[nodiscard]] std::int64_t step() const { return step_; }

  [[nodiscard]] PairEquations equations(const TileDistortion& distortion) const {
    PairEquations sums;
    const TileWindow& window = windows_[0];
    for (std::int64_t y = window.y; y < window.y + window.height; y += step_) {
      for (std::int64_t x = window.x; x < window.x + window.width; x += step_) {
        add(distortion, {static_cast<double>(x), static_cast<double>(y)}, reference_.at(x, y),
            sums);
      }
    }
    return sums;
  }

  /// Applies a step. `variance` is that of the residuals, of which the next weights follow.
  void update(const Vector<own>& change, double variance) {
    shift_ = {shift_.x + change[0], shift_.y + change[1]};
    gain_ += change[2];
    offset_ += change[3];
    variance_ = variance;
  }

 private:
  void add(const TileDistortion& distortion, const Point& a, double value,
           PairEquations& sums) const {
    if (!std::isfinite(value)) return;
    constexpr int steps = 3;
    const Point from = distortion.displacement(a);
    const Point target{a.x + from.x - shift_.x, a.y + from.y - shift_.y};
    const Point b = distorted_pixel(distortion, target, steps);
    double moved = 0;
    Point slope;
    if (!moving_.sample(b, moved, slope)) return;
    const double residual = gain_ * value + offset_ - moved;
    double weight = 1;
    if (variance_ > 0) {
      const double ratio = residual * residual / (tukey_constant * tukey_constant * variance_);
      if (ratio >= 1) return;
      weight = (1 - ratio) * (1 - ratio);
    }
    const auto at_a = distortion.monomials(a);
    const auto at_b = distortion.monomials(b);
    SharedVector row{};
    for (std::size_t k = 0; k < TileDistortion::terms; ++k) {
      row[k] = slope.x * (at_a[k] - at_b[k]);
      row[TileDistortion::terms + k] = slope.y * (at_a[k] - at_b[k]);
    }
    const Vector<own> last{-slope.x, -slope.y, -value, -1};
    for (std::size_t i = 0; i < shared; ++i) {
      const double weighted = weight * row[i];
      for (std::size_t j = 0; j <= i; ++j) sums.of_shared[i][j] += weighted * row[j];
      for (std::size_t j = 0; j < own; ++j) sums.mixed[i][j] += weighted * last[j];
      sums.right_shared[i] += weighted * residual;
    }
    for (std::size_t i = 0; i < own; ++i) {
      for (std::size_t j = 0; j <= i; ++j) sums.of_own[i][j] += weight * last[i] * last[j];
      sums.right_own[i] += weight * last[i] * residual;
    }
    sums.squares += weight * residual * residual;
    sums.weights += weight;
  }

  Point shift_;
  std::array<TileWindow, 2> windows_;
  SmoothWindow reference_;
  SmoothWindow moving_;
  std::int64_t step_ = 1;
  double gain_ = 1;
  double offset_ = 0;
  double variance_ = 0;  ///< 0: all samples have equal weight
};

/// All pairs.
class Refinement {
 public:
  Refinement(TileCache& cache, std::span<const ShiftedPair> pairs, const Shape& tile,
             const TileDistortion& start, const DistortionTerms& free)
      : distortion_(start), free_(free) {
    double largest = 0;
    const Point corner{static_cast<double>(tile.width - 1), static_cast<double>(tile.height - 1)};
    for (const Point& p : {Point{}, Point{corner.x, 0}, Point{0, corner.y}, corner}) {
      const Point d = start.displacement(p);
      largest = std::max({largest, std::abs(d.x), std::abs(d.y)});
    }
    constexpr double spare = 4;             // pixels
    constexpr double max_samples = 400000;  // of all pairs
    constexpr double max_samples_of_pair = 30000;
    const double samples =
        std::min(max_samples / static_cast<double>(pairs.size()), max_samples_of_pair);
    for (const ShiftedPair& pair : pairs) {
      pairs_.emplace_back(cache, pair, tile, largest + spare, samples);
    }
  }

  [[nodiscard]] TileDistortion run() {
    constexpr int steps = 8;
    constexpr int first_robust = 2;        // the weights follow the residuals of the step before
    constexpr double small_change = 1e-3;  // pixels
    for (int i = 0; i < steps; ++i) {
      if (improve() < small_change && i > first_robust) break;
    }
    while (leave_out_a_term()) improve();
    return distortion_;
  }

 private:
  [[nodiscard]] double& value(std::size_t i) {
    return i < TileDistortion::terms ? distortion_.x[i] : distortion_.y[i - TileDistortion::terms];
  }

  /// One Gauss-Newton step. The unknowns of each pair are eliminated first. Returns the largest
  /// change of a term, in pixels.
  double improve() {
    struct Eliminated {
      Vector<own> own_alone;
      std::array<Vector<own>, shared> per_shared;
      double variance;
    };
    SharedMatrix matrix{};
    SharedVector right{};
    std::vector<Eliminated> eliminated;
    for (const RefinedPair& pair : pairs_) {
      const PairEquations sums = pair.equations(distortion_);
      const double variance = sums.weights > 0 ? std::max(sums.squares / sums.weights, 1e-9) : 1;
      const PositiveSystem<own> system(sums.of_own);
      Eliminated part{system.solve(sums.right_own), {}, variance};
      for (std::size_t i = 0; i < shared; ++i) part.per_shared[i] = system.solve(sums.mixed[i]);
      // Neighbouring samples of smoothed images repeat one another, and models are never exact.
      constexpr double smoothed_pixels = 16;
      constexpr double caution = 4;
      const auto area = static_cast<double>(pair.step() * pair.step());
      const double weight = 1 / (variance * caution * std::max(1.0, smoothed_pixels / area));
      for (std::size_t i = 0; i < shared; ++i) {
        right[i] += weight * (sums.right_shared[i] - dot(sums.mixed[i], part.own_alone));
        for (std::size_t j = 0; j <= i; ++j) {
          matrix[i][j] += weight * (sums.of_shared[i][j] - dot(sums.mixed[i], part.per_shared[j]));
        }
      }
      eliminated.push_back(part);
    }
    add_prior(matrix, right);
    const PositiveSystem<shared> system(matrix);
    const SharedVector change = system.solve(right);
    variances_ = system.inverse_diagonal();
    double largest = 0;
    for (std::size_t i = 0; i < shared; ++i) {
      value(i) = free_[i] ? value(i) + change[i] : 0;
      largest = std::max(largest, std::abs(change[i]));
    }
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      Vector<own> own_change = eliminated[k].own_alone;
      for (std::size_t i = 0; i < shared; ++i) {
        for (std::size_t j = 0; j < own; ++j) {
          own_change[j] -= eliminated[k].per_shared[i][j] * change[i];
        }
      }
      pairs_[k].update(own_change, eliminated[k].variance);
    }
    return largest;
  }

  static double dot(const Vector<own>& a, const Vector<own>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < own; ++i) sum += a[i] * b[i];
    return sum;
  }

  /// Holds terms that are not free at 0, and keeps the others finite.
  void add_prior(SharedMatrix& matrix, SharedVector& right) {
    constexpr double deviation = 10;  // pixels at the radius
    for (std::size_t i = 0; i < shared; ++i) {
      if (free_[i]) {
        const double weight = 1 / (deviation * deviation);
        matrix[i][i] += weight;
        right[i] -= weight * value(i);
        continue;
      }
      for (std::size_t j = 0; j < shared; ++j) matrix[i][j] = matrix[j][i] = 0;
      matrix[i][i] = 1;
      right[i] = 0;
    }
  }

  /// Returns whether there was a term to leave out: the least significant one.
  bool leave_out_a_term() {
    constexpr double min_significance = 4;
    std::size_t least = shared;
    double lowest = min_significance * min_significance;
    for (std::size_t i = 0; i < shared; ++i) {
      if (!free_[i]) continue;
      const double significance = value(i) * value(i) / std::max(variances_[i], 1e-30);
      if (significance >= lowest) continue;
      lowest = significance;
      least = i;
    }
    if (least == shared) return false;
    free_[least] = false;
    value(least) = 0;
    return true;
  }

  TileDistortion distortion_;
  DistortionTerms free_;
  std::vector<RefinedPair> pairs_;
  SharedVector variances_{};
};

}  // namespace

TileDistortion refine_distortion(TileCache& cache, std::span<const ShiftedPair> pairs,
                                 const Shape& tile, const TileDistortion& start,
                                 const DistortionTerms& free) {
  return Refinement(cache, pairs, tile, start, free).run();
}

}  // namespace warpalign::detail
