// The positions of tiles from the shifts between them: robust least squares.
#include "mosaic/placement.hpp"

#include "mosaic/connections.hpp"
#include "mosaic/normal_equations.hpp"
#include "mosaic/stage_terms.hpp"
#include "registration/numerics/plane_geometry.hpp"
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

/// The weights with which a fit begins: those of the stage tell apart links that contradict only
/// each other; equal ones find tiles that the stage lost.
enum class FirstWeights { equal, by_stage };

/// One problem: the tiles, links and the stage model with its free parameters.
class PlacementFit {
 public:
  PlacementFit(std::span<const MosaicTile> tiles, std::span<const ShiftLink> links,
               double max_error, const StageTerms::Free& free)
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
      const Point stage = terms_.displacement(i, parameters_);
      sum += std::hypot(displacements_[i].x - stage.x, displacements_[i].y - stage.y);
    }
    return sum;
  }

  [[nodiscard]] Placement placement() const {
    Placement placement;
    placement.stage = terms_.model(parameters_);
    placement.stage.deviation = stage_deviation_;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const Point& nominal = tiles_[i].position;
      const Point stage = terms_.displacement(i, parameters_);
      placement.positions.push_back(
          {nominal.x + displacements_[i].x, nominal.y + displacements_[i].y});
      placement.expected.push_back({nominal.x + stage.x, nominal.y + stage.y});
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
  static constexpr int max_steps = 40;
  static constexpr int min_steps = 8;

  [[nodiscard]] Point nominal_shift(const ShiftLink& link) const {
    const Point& from = tiles_[link.reference].position;
    const Point& to = tiles_[link.moving].position;
    return {to.x - from.x, to.y - from.y};
  }

  /// The link's shift beyond the difference of two displacements.
  [[nodiscard]] Point residual(const ShiftLink& link, const Point& from, const Point& to) const {
    const Point nominal = nominal_shift(link);
    return {link.shift.x - nominal.x - (to.x - from.x), link.shift.y - nominal.y - (to.y - from.y)};
  }
  [[nodiscard]] Point residual(const ShiftLink& link) const {
    return residual(link, displacements_[link.reference], displacements_[link.moving]);
  }
  [[nodiscard]] Point stage_residual(const ShiftLink& link) const {
    return residual(link, terms_.displacement(link.reference, parameters_),
                    terms_.displacement(link.moving, parameters_));
  }

  /// Fits the stage model alone to the links, and estimates its deviation.
  void fit_stage() {
    parameters_.assign(StageTerms::count, 0);
    stage_deviation_ = max_error_;
    constexpr int steps = 12;
    for (int i = 0; i < steps; ++i) {
      NormalEquations equations(StageTerms::count);
      terms_.add_prior(equations, 0);
      for (const ShiftLink& link : links_) {
        const double weight = weight_of(length(stage_residual(link)), 3 * stage_deviation_) /
                              (2 * stage_deviation_ * stage_deviation_);
        const Point nominal = nominal_shift(link);
        const Point beyond{link.shift.x - nominal.x, link.shift.y - nominal.y};
        for (const std::size_t axis : {0U, 1U}) {
          std::vector<Term> row = terms_.of(link.moving, axis, 0);
          const std::vector<Term> from = terms_.of(link.reference, axis, 0);
          for (std::size_t t = 0; t < row.size(); ++t) row[t].factor -= from[t].factor;
          equations.add(row, axis == 0 ? beyond.x : beyond.y, weight);
        }
      }
      parameters_ = equations.solve();
      std::vector<double> residuals;
      for (const ShiftLink& link : links_) {
        const Point r = stage_residual(link);
        residuals.insert(residuals.end(), {r.x, r.y});
      }
      stage_deviation_ = std::clamp(robust_deviation(std::move(residuals)) / std::numbers::sqrt2,
                                    min_stage_deviation, stage_deviation_);
    }
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      displacements_[i] = terms_.displacement(i, parameters_);
    }
  }

  /// Adds a link's two equations, weighted by the inverse of its covariance.
  void add(NormalEquations& equations, const ShiftLink& link, double weight) const {
    // Links decide against the stage, also while their deviation is still unknown.
    const double deviation = std::min(link_deviation_, max_share_of_stage * stage_deviation_);
    const double common = deviation * deviation;
    const Covariance c{link.covariance.xx + common, link.covariance.xy,
                       link.covariance.yy + common};
    // L^-1 of the Cholesky factor L decorrelates the equations.
    const double lxx = std::sqrt(c.xx);
    const double lxy = c.xy / lxx;
    const double lyy = std::sqrt(std::max(c.yy - lxy * lxy, 1e-12 * c.yy));
    const Point nominal = nominal_shift(link);
    const Point beyond{link.shift.x - nominal.x, link.shift.y - nominal.y};
    const std::size_t to = 2 * link.moving;
    const std::size_t from = 2 * link.reference;
    const std::array first{Term{to, 1 / lxx}, Term{from, -1 / lxx}};
    equations.add(first, beyond.x / lxx, weight);
    const double mixed = -lxy / (lxx * lyy);
    const std::array second{Term{to, mixed}, Term{from, -mixed}, Term{to + 1, 1 / lyy},
                            Term{from + 1, -1 / lyy}};
    equations.add(second, mixed * beyond.x + beyond.y / lyy, weight);
  }

  void solve() {
    const std::size_t first = 2 * tiles_.size();
    NormalEquations equations(first + StageTerms::count);
    terms_.add_prior(equations, first);
    const double variance = stage_deviation_ * stage_deviation_;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const Point stage = terms_.displacement(i, parameters_);
      const Point off{displacements_[i].x - stage.x, displacements_[i].y - stage.y};
      // A tile that the stage lost follows its links.
      const double weight = weight_of(length(off), 3 * stage_deviation_) / variance;
      for (const std::size_t axis : {0U, 1U}) {
        std::vector<Term> row = terms_.of(i, axis, first);
        for (Term& term : row) term.factor = -term.factor;
        row.push_back({2 * i + axis, 1});
        equations.add(row, 0, weight);
      }
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (weights_[i] > 0) add(equations, links_[i], weights_[i] * links_[i].confidence);
    }
    const std::vector<double> solution = equations.solve();
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      displacements_[i] = {solution[2 * i], solution[2 * i + 1]};
    }
    parameters_.assign(solution.begin() + static_cast<std::ptrdiff_t>(first), solution.end());
    for (const std::size_t i : StageTerms::optional) variances_[i] = equations.variance(first + i);
  }

  [[nodiscard]] double link_scale() const {
    return std::max(max_residual, max_deviations * link_deviation_);
  }

  /// Updates the deviations of links and stage, and the links' weights.
  void update_deviations() {
    std::vector<double> residuals;
    for (const ShiftLink& link : links_) {
      const Point r = residual(link);
      residuals.insert(residuals.end(), {r.x, r.y});
    }
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
      if (!linked[i]) continue;
      const Point stage = terms_.displacement(i, parameters_);
      off.insert(off.end(), {displacements_[i].x - stage.x, displacements_[i].y - stage.y});
    }
    if (!off.empty()) {
      // The parameters of each axis take up part of the deviations.
      const double count = static_cast<double>(off.size()) / 2;
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

  std::span<const MosaicTile> tiles_;
  std::span<const ShiftLink> links_;
  StageTerms terms_;
  std::vector<Point> displacements_;  ///< of the tiles from their nominal positions
  std::vector<double> parameters_;    ///< of the stage model
  std::vector<double> weights_;       ///< of the links
  std::array<double, StageTerms::count> variances_{};  ///< of the optional parameters
  double stage_deviation_ = 0;
  double link_deviation_ = 0;
  double max_error_;
};

}  // namespace

Placement place_tiles(std::span<const MosaicTile> tiles, std::span<const ShiftLink> links,
                      double max_error, bool estimates_stage) {
  StageTerms::Free free{};
  free.fill(estimates_stage);
  for (;;) {
    PlacementFit fit(tiles, links, max_error, free);
    fit.fit(FirstWeights::by_stage);
    // Few links determine a model that leads away from the tiles that they connect.
    StageTerms::Free significant = free;
    for (const std::size_t i : StageTerms::optional) {
      significant[i] = free[i] && fit.is_significant(i);
    }
    if (significant != free) {
      free = significant;
      continue;
    }
    PlacementFit other(tiles, links, max_error, free);
    other.fit(FirstWeights::equal);
    const bool is_better =
        other.used() > fit.used() ||
        (other.used() == fit.used() && other.distance_from_stage() < fit.distance_from_stage());
    return (is_better ? other : fit).placement();
  }
}

}  // namespace warpalign::detail
