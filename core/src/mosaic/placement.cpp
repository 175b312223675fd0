// The positions of tiles from the shifts between them: robust least squares.
#include "mosaic/placement.hpp"

#include "mosaic/connections.hpp"
#include "mosaic/normal_equations.hpp"
#include "mosaic/stage_terms.hpp"
#include "registration/numerics/robust_scale.hpp"
#include "registration/numerics/upper_median.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace warpalign::detail {
namespace {

using Term = NormalEquations::Term;

/// What links add to the uncertainty that their residuals tell, at least, in pixels.
constexpr double min_link_deviation = 0.02;
/// Links with residuals above so many deviations, and above so many pixels, are left out.
constexpr double max_deviations = 5;
constexpr double max_residual = 1;
/// The deviation of links is taken to be at most this part of the stage's.
constexpr double max_share_of_stage = 0.1;
/// The stage is never taken to be more accurate than this, in pixels: links decide.
constexpr double min_stage_deviation = 0.5;
/// The first weights of links may follow from their deviation from the stage, relative to so many
/// deviations.
constexpr double first_stage_deviations = 3;
/// A link that alone connects two sets of tiles may differ from the stage by so many deviations.
constexpr double max_stage_deviations = 5;

/// The standard deviation of numbers with outliers about 0; 0 if there are none.
double robust_deviation(std::vector<double> values) {
  if (values.empty()) return 0;
  for (double& value : values) value = std::abs(value);
  return deviation_per_median * upper_median(std::span(values));
}

/// Geman and McClure's weight of a residual, 1 for 0.
double weight_of(double residual, double scale) {
  const double ratio = residual / scale;
  const double factor = 1 / (1 + ratio * ratio);
  return factor * factor;
}

/// The inverse of the Cholesky factor of a covariance.
template <std::size_t n>
class InverseFactor {
 public:
  explicit InverseFactor(const CovarianceOf<n>& covariance) {
    CovarianceOf<n> lower;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        double sum = covariance.at(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= lower.at(i, k) * lower.at(j, k);
        lower.at(i, j) = sum / lower.at(j, j);
      }
      double rest = covariance.at(i, i);
      for (std::size_t k = 0; k < i; ++k) rest -= lower.at(i, k) * lower.at(i, k);
      lower.at(i, i) = std::sqrt(std::max(rest, 1e-12 * covariance.at(i, i)));
      for (std::size_t j = 0; j < i; ++j) {
        double sum = -lower.at(i, j) / (lower.at(j, j) * lower.at(i, i));
        for (std::size_t k = j + 1; k < i; ++k) {
          sum -= lower.at(i, k) * inverse_.at(k, j) / lower.at(i, i);
        }
        inverse_.at(i, j) = sum;
      }
      inverse_.at(i, i) = 1 / lower.at(i, i);
      pivots_[i] = lower.at(i, i);
    }
  }

  /// An element of the lower triangle.
  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return inverse_.at(i, j); }
  /// The inverse of an element of the diagonal.
  [[nodiscard]] double pivot(std::size_t i) const { return pivots_[i]; }

 private:
  CovarianceOf<n> inverse_;
  std::array<double, n> pivots_{};
};

/// The weights with which a fit begins: those of the stage tell apart links that contradict only
/// each other; equal ones find tiles that the stage lost.
enum class FirstWeights { equal, by_stage };

/// One problem: the tiles, links and the stage model with its free parameters.
template <class P>
class PlacementFit {
 public:
  using Tile = typename MosaicTypes<P>::Tile;
  using Link = ShiftLinkOf<P>;
  using Terms = StageTerms<P>;

  PlacementFit(std::span<const Tile> tiles, std::span<const Link> links, double max_error,
               const typename Terms::Free& free)
      : tiles_(tiles),
        links_(links),
        terms_(tiles, max_error, free),
        displacements_(tiles.size()),
        weights_(links.size(), 1),
        max_error_(max_error) {}

  /// Fits positions and model.
  void fit(FirstWeights first) {
    fit_stage();
    link_deviation_ = stage_deviation_;
    for (std::size_t i = 0; first == FirstWeights::by_stage && i < links_.size(); ++i) {
      weights_[i] =
          weight_of(length(stage_residual(links_[i])), first_stage_deviations * stage_deviation_);
    }
    for (int i = 0; i < max_steps; ++i) {
      solve();
      const double before = link_deviation_;
      update_deviations();
      if (i > min_steps && link_deviation_ > 0.99 * before) break;
    }
    leave_out();
  }

  /// The number of links in use.
  [[nodiscard]] std::size_t used() const {
    return static_cast<std::size_t>(
        std::count_if(weights_.begin(), weights_.end(), [](double weight) { return weight > 0; }));
  }
  /// The sum of the tiles' distances from where the stage says, in pixels.
  [[nodiscard]] double distance_from_stage() const {
    double sum = 0;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      sum += length(off_stage(i));
    }
    return sum;
  }

  [[nodiscard]] PlacementOf<P> placement() const {
    PlacementOf<P> placement;
    placement.stage = terms_.model(parameters_);
    placement.stage.deviation = stage_deviation_;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const P& nominal = tiles_[i].position;
      placement.positions.push_back(sum_of(nominal, displacements_[i]));
      placement.expected.push_back(sum_of(nominal, terms_.displacement(i, parameters_)));
    }
    for (const double weight : weights_) placement.used.push_back(weight > 0);
    return placement;
  }

  /// Whether the fit shows that a parameter of the stage model is not 0.
  [[nodiscard]] bool is_significant(std::size_t parameter) const {
    constexpr double deviations = 4;
    const double value = parameters_[parameter];
    return value * value > deviations * deviations * variances_[parameter];
  }

 private:
  static constexpr std::size_t axes = axes_of<P>;
  static constexpr int max_steps = 40;
  static constexpr int min_steps = 8;

  [[nodiscard]] P nominal_shift(const Link& link) const {
    return difference(tiles_[link.moving].position, tiles_[link.reference].position);
  }

  /// The link's shift beyond the difference of two displacements.
  [[nodiscard]] P residual(const Link& link, const P& from, const P& to) const {
    return difference(difference(link.shift, nominal_shift(link)), difference(to, from));
  }
  [[nodiscard]] P residual(const Link& link) const {
    return residual(link, displacements_[link.reference], displacements_[link.moving]);
  }
  [[nodiscard]] P stage_residual(const Link& link) const {
    return residual(link, terms_.displacement(link.reference, parameters_),
                    terms_.displacement(link.moving, parameters_));
  }
  /// By how much a tile lies away from where the stage model says.
  [[nodiscard]] P off_stage(std::size_t tile) const {
    return difference(displacements_[tile], terms_.displacement(tile, parameters_));
  }
  static void append(const P& point, std::vector<double>& values) {
    for (std::size_t axis = 0; axis < axes; ++axis) values.push_back(along(point, axis));
  }

  /// Fits the stage model alone to the links, and estimates its deviation.
  void fit_stage() {
    parameters_.assign(Terms::count, 0);
    stage_deviation_ = max_error_;
    constexpr int steps = 12;
    for (int i = 0; i < steps; ++i) {
      NormalEquations equations(Terms::count);
      terms_.add_prior(equations, 0);
      for (const Link& link : links_) {
        const double weight = weight_of(length(stage_residual(link)), 3 * stage_deviation_) /
                              (2 * stage_deviation_ * stage_deviation_);
        const P beyond = difference(link.shift, nominal_shift(link));
        for (std::size_t axis = 0; axis < axes; ++axis) {
          std::vector<Term> row = terms_.of(link.moving, axis, 0);
          const std::vector<Term> from = terms_.of(link.reference, axis, 0);
          for (std::size_t t = 0; t < row.size(); ++t) row[t].factor -= from[t].factor;
          equations.add(row, along(beyond, axis), weight);
        }
      }
      parameters_ = equations.solve();
      std::vector<double> residuals;
      for (const Link& link : links_) append(stage_residual(link), residuals);
      stage_deviation_ = std::clamp(robust_deviation(std::move(residuals)) / std::numbers::sqrt2,
                                    min_stage_deviation, stage_deviation_);
    }
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      displacements_[i] = terms_.displacement(i, parameters_);
    }
  }

  /// Adds a link's equations, weighted by the inverse of its covariance.
  void add(NormalEquations& equations, const Link& link, double weight) const {
    // Links decide against the stage, also while their deviation is still unknown.
    const double deviation = std::min(link_deviation_, max_share_of_stage * stage_deviation_);
    CovarianceOf<axes> covariance = link.covariance;
    for (std::size_t i = 0; i < axes; ++i) covariance.at(i, i) += deviation * deviation;
    // The inverse of the Cholesky factor decorrelates the equations.
    const InverseFactor<axes> inverse(covariance);
    const P beyond = difference(link.shift, nominal_shift(link));
    for (std::size_t i = 0; i < axes; ++i) {
      std::vector<Term> row;
      double value = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        const double factor = inverse.at(i, j);
        row.push_back({axes * link.moving + j, factor});
        row.push_back({axes * link.reference + j, -factor});
        value += j < i ? factor * along(beyond, j) : along(beyond, j) / inverse.pivot(j);
      }
      equations.add(row, value, weight);
    }
  }

  void solve() {
    const std::size_t first = axes * tiles_.size();
    NormalEquations equations(first + Terms::count);
    terms_.add_prior(equations, first);
    const double variance = stage_deviation_ * stage_deviation_;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      // A tile that the stage lost follows its links.
      const double weight = weight_of(length(off_stage(i)), 3 * stage_deviation_) / variance;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        std::vector<Term> row = terms_.of(i, axis, first);
        for (Term& term : row) term.factor = -term.factor;
        row.push_back({axes * i + axis, 1});
        equations.add(row, 0, weight);
      }
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (weights_[i] > 0) add(equations, links_[i], weights_[i] * links_[i].confidence);
    }
    const std::vector<double> solution = equations.solve();
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      for (std::size_t axis = 0; axis < axes; ++axis) {
        along(displacements_[i], axis) = solution[axes * i + axis];
      }
    }
    parameters_.assign(solution.begin() + static_cast<std::ptrdiff_t>(first), solution.end());
    for (std::size_t i = 0; i < Terms::count; ++i) {
      if (Terms::is_optional(i)) variances_[i] = equations.variance(first + i);
    }
  }

  [[nodiscard]] double link_scale() const {
    return std::max(max_residual, max_deviations * link_deviation_);
  }

  /// Updates the deviations of links and stage, and the links' weights.
  void update_deviations() {
    std::vector<double> residuals;
    for (const Link& link : links_) append(residual(link), residuals);
    // The positions take up part of the residuals.
    const double links = static_cast<double>(links_.size());
    const double free = std::max(links - static_cast<double>(tiles_.size()) + 1, 0.25 * links);
    const double now =
        robust_deviation(std::move(residuals)) * std::sqrt(links / std::max(free, 1.0));
    link_deviation_ = std::clamp(now, std::max(link_deviation_ / 2, min_link_deviation),
                                 std::max(link_deviation_, min_link_deviation));
    for (std::size_t i = 0; i < links_.size(); ++i) {
      weights_[i] = weight_of(length(residual(links_[i])), link_scale());
    }
    std::vector<bool> linked(tiles_.size(), false);
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (weights_[i] > 0.25) linked[links_[i].reference] = linked[links_[i].moving] = true;
    }
    std::vector<double> off;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      if (linked[i]) append(off_stage(i), off);
    }
    if (!off.empty()) {
      // The parameters of each axis take up part of the deviations.
      const double count = static_cast<double>(off.size()) / axes;
      const double spare = std::max(count - terms_.free_along_axis(), 0.25 * count);
      stage_deviation_ = std::max(robust_deviation(std::move(off)) * std::sqrt(count / spare),
                                  min_stage_deviation);
    }
  }

  /// Sets the weights of wrong links to 0, and solves again.
  void leave_out() {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (length(residual(links_[i])) > link_scale()) weights_[i] = 0;
    }
    std::vector<Connection> connections;
    std::vector<std::size_t> number;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (!(weights_[i] > 0)) continue;
      connections.emplace_back(links_[i].reference, links_[i].moving);
      number.push_back(i);
    }
    const std::vector<bool> bridges = bridges_of(tiles_.size(), connections);
    const double limit = max_stage_deviations * std::numbers::sqrt2 * stage_deviation_;
    for (std::size_t i = 0; i < bridges.size(); ++i) {
      if (bridges[i] && length(stage_residual(links_[number[i]])) > limit) weights_[number[i]] = 0;
    }
    solve();
  }

  std::span<const Tile> tiles_;
  std::span<const Link> links_;
  Terms terms_;
  std::vector<P> displacements_;                  ///< of the tiles from their nominal positions
  std::vector<double> parameters_;                ///< of the stage model
  std::vector<double> weights_;                   ///< of the links
  std::array<double, Terms::count> variances_{};  ///< of the optional parameters
  double stage_deviation_ = 0;
  double link_deviation_ = 0;
  double max_error_;
};

template <class P>
PlacementOf<P> place(std::span<const typename MosaicTypes<P>::Tile> tiles,
                     std::span<const ShiftLinkOf<P>> links, double max_error,
                     bool estimates_stage) {
  using Terms = StageTerms<P>;
  typename Terms::Free free{};
  free.fill(estimates_stage);
  for (;;) {
    PlacementFit<P> fit(tiles, links, max_error, free);
    fit.fit(FirstWeights::by_stage);
    // Few links determine a model that leads away from the tiles that they connect.
    typename Terms::Free significant = free;
    for (std::size_t i = 0; i < Terms::count; ++i) {
      if (Terms::is_optional(i)) significant[i] = free[i] && fit.is_significant(i);
    }
    if (significant != free) {
      free = significant;
      continue;
    }
    PlacementFit<P> other(tiles, links, max_error, free);
    other.fit(FirstWeights::equal);
    const bool is_better =
        other.used() > fit.used() ||
        (other.used() == fit.used() && other.distance_from_stage() < fit.distance_from_stage());
    return (is_better ? other : fit).placement();
  }
}

}  // namespace

Placement place_tiles(std::span<const MosaicTile> tiles, std::span<const ShiftLink> links,
                      double max_error, bool estimates_stage) {
  return place<Point>(tiles, links, max_error, estimates_stage);
}

PlacementOf<Point3> place_tiles(std::span<const VolumeMosaicTile> tiles,
                                std::span<const ShiftLinkOf<Point3>> links, double max_error,
                                bool estimates_stage) {
  return place<Point3>(tiles, links, max_error, estimates_stage);
}

}  // namespace warpalign::detail
