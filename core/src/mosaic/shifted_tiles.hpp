// Tiles that are shifted: what PlacementFit determines if all pairs are translations.
#pragma once

#include "mosaic/inverse_factor.hpp"
#include "mosaic/mosaic_types.hpp"
#include "mosaic/normal_equations.hpp"
#include "mosaic/placement.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The unknowns of a tile are its displacement from its nominal position.
template <class Place>
class ShiftedTiles {
 public:
  using P = Place;
  using Tile = typename MosaicTypes<P>::Tile;
  using Link = ShiftLinkOf<P>;
  using Term = NormalEquations::Term;
  static constexpr int last_steps = 1;            ///< the equations are linear
  static constexpr bool takes_up_errors = false;  ///< a wrong link contradicts the others clearly

  explicit ShiftedTiles(std::span<const Tile> tiles)
      : tiles_(tiles), displacements_(tiles.size()) {}

  [[nodiscard]] std::size_t unknowns() const { return axes * tiles_.size(); }
  /// Moves a tile to where a stage model says.
  void start(std::size_t tile, const P& displacement) { displacements_[tile] = displacement; }
  [[nodiscard]] const P& displacement(std::size_t tile) const { return displacements_[tile]; }

  /// Appends the terms of a tile's displacement; returns the part of it that is no unknown.
  double append_displacement(std::size_t tile, std::size_t axis, std::vector<Term>& row) const {
    row.push_back({axes * tile + axis, 1});
    return 0;
  }
  /// Adds what is known of the tiles' unknowns beside their displacements: nothing.
  void add_prior(NormalEquations& /*equations*/) const {}

  /// Adds a link's equations, weighted by the inverse of its covariance and a `deviation`.
  void add(NormalEquations& equations, const Link& link, double weight, double deviation) const {
    CovarianceOf<axes> covariance = link.covariance;
    for (std::size_t i = 0; i < axes; ++i) covariance.at(i, i) += deviation * deviation;
    // The inverse of the Cholesky factor decorrelates the equations.
    const InverseFactor<axes> inverse(covariance);
    const P beyond = measured_displacement(link);
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

  void update(std::span<const double> solution) {
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      for (std::size_t axis = 0; axis < axes; ++axis) {
        along(displacements_[i], axis) = solution[axes * i + axis];
      }
    }
  }

  /// What a link adds to the nominal shift of its tiles.
  [[nodiscard]] P measured_displacement(const Link& link) const {
    return difference(link.shift, nominal_shift(link));
  }
  /// By how much the tiles contradict a link, in pixels.
  [[nodiscard]] double misfit(const Link& link) const { return length(residual(link)); }
  void append_residuals(const Link& link, std::vector<double>& residuals) const {
    const P rest = residual(link);
    for (std::size_t axis = 0; axis < axes; ++axis) residuals.push_back(along(rest, axis));
  }

 private:
  static constexpr std::size_t axes = axes_of<P>;

  [[nodiscard]] P nominal_shift(const Link& link) const {
    return difference(tiles_[link.moving].position, tiles_[link.reference].position);
  }
  [[nodiscard]] P residual(const Link& link) const {
    return difference(measured_displacement(link),
                      difference(displacements_[link.moving], displacements_[link.reference]));
  }

  std::span<const Tile> tiles_;
  std::vector<P> displacements_;  ///< of the tiles from their nominal positions
};

}  // namespace warpalign::detail
