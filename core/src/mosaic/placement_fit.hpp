// The positions of tiles from links between them, whatever a link determines: robust least squares.
#pragma once

#include "mosaic/connections.hpp"
#include "mosaic/mosaic_types.hpp"
#include "mosaic/normal_equations.hpp"
#include "mosaic/stage_terms.hpp"
#include "registration/numerics/robust_scale.hpp"
#include "registration/numerics/upper_median.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// What links add to the uncertainty that their residuals tell, at least, in pixels.
inline constexpr double min_link_deviation = 0.02;
/// Links with residuals above so many deviations, and above so many pixels, are left out.
inline constexpr double max_deviations = 5;
inline constexpr double max_residual = 1;
/// The deviation of links is taken to be at most this part of the stage's.
inline constexpr double max_share_of_stage = 0.1;
/// The stage is never taken to be more accurate than this, in pixels: links decide.
inline constexpr double min_stage_deviation = 0.5;
/// The first weights of links may follow from their deviation from the stage, relative to so many
/// deviations.
inline constexpr double first_stage_deviations = 3;
/// A link that alone connects two sets of tiles may differ from the stage by so many deviations.
inline constexpr double max_stage_deviations = 5;

/// The standard deviation of numbers with outliers about 0; 0 if there are none.
[[nodiscard]] inline double robust_deviation(std::vector<double> values) {
  if (values.empty()) return 0;
  for (double& value : values) value = std::abs(value);
  return deviation_per_median * upper_median(std::span(values));
}

/// Geman and McClure's weight of a residual, 1 for 0.
[[nodiscard]] inline double weight_of(double residual, double scale) {
  const double ratio = residual / scale;
  const double factor = 1 / (1 + ratio * ratio);
  return factor * factor;
}

/// The weights with which a fit begins: those of the stage tell apart links that contradict only
/// each other; equal ones find tiles that the stage lost.
enum class FirstWeights { equal, by_stage };

/// One problem: the tiles, links and the stage model with its free parameters.
///
/// `Motion` says what is unknown of each tile, and how a link determines it: ShiftedTiles or
/// RotatedTiles.
template <class Motion>
class PlacementFit {
 public:
  using P = typename Motion::P;
  using Tile = typename MosaicTypes<P>::Tile;
  using Link = typename Motion::Link;
  using Terms = StageTerms<P>;

  /// `motion`: the tiles at their nominal positions.
  PlacementFit(std::span<const Tile> tiles, std::span<const Link> links, double max_error,
               const typename Terms::Free& free, Motion motion)
      : tiles_(tiles),
        links_(links),
        terms_(tiles, max_error, free),
        motion_(std::move(motion)),
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
    if constexpr (Motion::takes_up_errors) {
      // Turns with few parameters take up least.
      motion_.allow(Motion::Parameters::fewest);
      begin_with_small_scales();
      if (first == FirstWeights::by_stage) {
        begin_by_rotated_stage();
        begin_with_small_scales();
      }
      motion_.allow(Motion::Parameters::all);
      begin_with_small_scales();
    }
    finish();
  }

  /// Fits again with a link that is not in use, so that others which contradict it are left out.
  void fit_with(std::size_t link) {
    std::fill(weights_.begin(), weights_.end(), 1);
    link_deviation_ = stage_deviation_;
    kept_link_ = link;
    begin_with_small_scales();
    kept_link_.reset();
    finish();
  }

  /// Whether another fit uses more links, or as many and is nearer to the stage.
  [[nodiscard]] bool is_worse_than(const PlacementFit& other) const {
    return other.used() > used() ||
           (other.used() == used() && other.distance_from_stage() < distance_from_stage());
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

  /// The stage model with its deviation.
  [[nodiscard]] typename MosaicTypes<P>::Stage stage() const {
    typename MosaicTypes<P>::Stage stage = terms_.model(parameters_);
    stage.deviation = stage_deviation_;
    return stage;
  }
  /// Where the stage model says that a tile lies.
  [[nodiscard]] P expected(std::size_t tile) const {
    return sum_of(tiles_[tile].position, terms_.displacement(tile, parameters_));
  }
  /// Whether a link is in use.
  [[nodiscard]] bool uses(std::size_t link) const { return weights_[link] > 0; }
  [[nodiscard]] const Motion& motion() const { return motion_; }

  /// Whether the fit shows that a parameter of the stage model is not 0.
  [[nodiscard]] bool is_significant(std::size_t parameter) const {
    constexpr double deviations = 4;
    const double value = parameters_[parameter];
    return value * value > deviations * deviations * variances_[parameter];
  }

 private:
  using Term = NormalEquations::Term;
  static constexpr std::size_t axes = axes_of<P>;
  static constexpr int max_steps = 40;
  static constexpr int min_steps = 8;

  void finish() {
    for (int i = 0; i < max_steps; ++i) {
      solve();
      const double before = link_deviation_;
      update_deviations();
      if (i > min_steps && link_deviation_ > 0.99 * before) break;
    }
    leave_out();
  }

  [[nodiscard]] P nominal_shift(const Link& link) const {
    return difference(tiles_[link.moving].position, tiles_[link.reference].position);
  }

  /// What the stage model adds to the nominal shift of a link.
  [[nodiscard]] P stage_displacement(const Link& link) const {
    return difference(terms_.displacement(link.moving, parameters_),
                      terms_.displacement(link.reference, parameters_));
  }
  [[nodiscard]] P stage_residual(const Link& link) const {
    return difference(difference(link.shift, nominal_shift(link)), stage_displacement(link));
  }
  /// By how much a tile lies away from where the stage model says.
  [[nodiscard]] P off_stage(std::size_t tile) const {
    return difference(motion_.displacement(tile), terms_.displacement(tile, parameters_));
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
      motion_.start(i, terms_.displacement(i, parameters_));
    }
  }

  /// The deviation of links. They decide against the stage, also while theirs is still unknown.
  [[nodiscard]] double deviation_in_equations() const {
    return std::min(link_deviation_, max_share_of_stage * stage_deviation_);
  }

  void solve() {
    const std::size_t first = motion_.unknowns();
    NormalEquations equations(first + Terms::count);
    terms_.add_prior(equations, first);
    const double variance = stage_deviation_ * stage_deviation_;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      // A tile that the stage lost follows its links.
      const double weight = weight_of(length(off_stage(i)), 3 * stage_deviation_) / variance;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        std::vector<Term> row = terms_.of(i, axis, first);
        for (Term& term : row) term.factor = -term.factor;
        const double known = motion_.append_displacement(i, axis, row);
        equations.add(row, 0 - known, weight);
      }
    }
    motion_.add_prior(equations);
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (weights_[i] > 0) {
        motion_.add(equations, links_[i], weights_[i] * links_[i].confidence,
                    deviation_in_equations());
      }
    }
    const std::vector<double> solution = equations.solve();
    motion_.update(solution);
    parameters_.assign(solution.begin() + static_cast<std::ptrdiff_t>(first), solution.end());
    for (std::size_t i = 0; i < Terms::count; ++i) {
      if (Terms::is_optional(i)) variances_[i] = equations.variance(first + i);
    }
  }

  [[nodiscard]] double link_scale() const {
    return std::max(max_residual, max_deviations * link_deviation_);
  }

  /// The deviation of links from the tiles.
  [[nodiscard]] double deviation_of_links() const {
    std::vector<double> residuals;
    for (const Link& link : links_) motion_.append_residuals(link, residuals);
    // The positions take up part of the residuals.
    const double links = static_cast<double>(links_.size());
    const double free = std::max(links - static_cast<double>(tiles_.size()) + 1, 0.25 * links);
    return robust_deviation(std::move(residuals)) * std::sqrt(links / std::max(free, 1.0));
  }

  void update_weights() {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      weights_[i] = weight_of(motion_.misfit(links_[i]), link_scale());
    }
    if (kept_link_) weights_[*kept_link_] = 1;
  }

  /// Where turns take up part of a wrong link's error, all links around it get a share, from which
  /// their deviation cannot be told. So the scale of the weights decreases, whatever the deviation,
  /// to where only consistent links count; their deviation is then that of all.
  void begin_with_small_scales() {
    constexpr int steps_at_smallest = 4;
    for (int left = steps_at_smallest; left > 0;) {
      solve();
      if (link_scale() > max_residual) {
        link_deviation_ /= 2;
      } else {
        --left;
      }
      update_weights();
    }
    link_deviation_ = std::max(deviation_of_links(), min_link_deviation);
    update_weights();
  }

  /// Sets the weights by how the links fit where the stage says that tiles lie, now that their
  /// turns are known.
  void begin_by_rotated_stage() {
    update_stage_deviation();
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const Link& link = links_[i];
      const P moved = difference(off_stage(link.moving), off_stage(link.reference));
      weights_[i] = weight_of(length(difference(motion_.residual(link), moved)),
                              first_stage_deviations * stage_deviation_);
    }
    link_deviation_ = stage_deviation_;
  }

  /// Updates the deviations of links and stage, and the links' weights.
  void update_deviations() {
    link_deviation_ =
        std::clamp(deviation_of_links(), std::max(link_deviation_ / 2, min_link_deviation),
                   std::max(link_deviation_, min_link_deviation));
    update_weights();
    update_stage_deviation();
  }

  void update_stage_deviation() {
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
      if (motion_.misfit(links_[i]) > link_scale()) weights_[i] = 0;
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
      const Link& link = links_[number[i]];
      const P beyond = difference(motion_.measured_displacement(link), stage_displacement(link));
      if (bridges[i] && length(beyond) > limit) weights_[number[i]] = 0;
    }
    for (int i = 0; i < Motion::last_steps; ++i) solve();
  }

  std::span<const Tile> tiles_;
  std::span<const Link> links_;
  Terms terms_;
  Motion motion_;
  std::vector<double> parameters_;                ///< of the stage model
  std::vector<double> weights_;                   ///< of the links
  std::array<double, Terms::count> variances_{};  ///< of the optional parameters
  double stage_deviation_ = 0;
  double link_deviation_ = 0;
  double max_error_;
  std::optional<std::size_t> kept_link_;  ///< which has the whole weight, whatever its misfit
};

/// Tries to use links that the fit leaves out, instead of others that contradict them.
template <class Motion>
void exchange_links(PlacementFit<Motion>& best, std::size_t links) {
  constexpr int max_trials = 32;
  int trials = 0;
  for (std::size_t i = 0; i < links && trials < max_trials; ++i) {
    if (best.uses(i)) continue;
    ++trials;
    PlacementFit<Motion> trial = best;
    trial.fit_with(i);
    if (best.is_worse_than(trial)) best = std::move(trial);
  }
}

/// Fits until every parameter of the stage model is significant, and returns the fit of the first
/// weights that use more links.
template <class Motion>
[[nodiscard]] PlacementFit<Motion> fit_placement(
    std::span<const typename PlacementFit<Motion>::Tile> tiles,
    std::span<const typename Motion::Link> links, double max_error, bool estimates_stage,
    const Motion& motion) {
  using Terms = StageTerms<typename Motion::P>;
  typename Terms::Free free{};
  free.fill(estimates_stage);
  for (;;) {
    PlacementFit<Motion> fit(tiles, links, max_error, free, motion);
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
    PlacementFit<Motion> other(tiles, links, max_error, free, motion);
    other.fit(FirstWeights::equal);
    PlacementFit<Motion>& best = fit.is_worse_than(other) ? other : fit;
    if constexpr (Motion::takes_up_errors) exchange_links(best, links.size());
    return best;
  }
}

}  // namespace warpalign::detail
