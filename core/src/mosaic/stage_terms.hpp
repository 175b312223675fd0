// The parameters of the stage model, as unknowns of a least-squares problem.
#pragma once

#include "mosaic/normal_equations.hpp"

#include <warpalign/mosaic.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The stage model says by how much a tile lies away from its nominal position s: by
/// (a s.x + b s.y + c, d s.x + e s.y + f) / span, plus the backlash times the direction of the last
/// movement. All parameters are in pixels. A weak prior keeps parameters that no pair determines at
/// the values of a perfect stage.
class StageTerms {
 public:
  static constexpr std::size_t count = 8;  ///< a b c d e f, and the backlash along x and y
  static constexpr std::array<std::size_t, 2> backlash{6, 7};
  /// The parameters that a fit may find to be 0: all but the offset.
  static constexpr std::array<std::size_t, 6> optional{0, 1, 3, 4, 6, 7};
  /// For each parameter, whether it may differ from 0.
  using Free = std::array<bool, count>;

  /// `max_error` in pixels is the deviation of the backlash's prior.
  StageTerms(std::span<const MosaicTile> tiles, double max_error, const Free& free);

  /// The terms by which the model moves a tile along an axis (0: x, 1: y); `first` is the number of
  /// the unknown a.
  [[nodiscard]] std::vector<NormalEquations::Term> of(std::size_t tile, std::size_t axis,
                                                      std::size_t first) const;
  /// Adds the equations of the prior. It sets the offset (c, f) to 0.
  void add_prior(NormalEquations& equations, std::size_t first) const;
  /// The number of free parameters for each axis, on average.
  [[nodiscard]] double free_along_axis() const;
  /// The displacement of a tile from its nominal position.
  [[nodiscard]] Point displacement(std::size_t tile, std::span<const double> parameters) const;
  /// The model of these parameters; the deviation is not set.
  [[nodiscard]] StageModel model(std::span<const double> parameters) const;

 private:
  std::vector<Point> scaled_;      ///< nominal positions relative to their mean, divided by span_
  std::vector<Point> directions_;  ///< 1/2 or -1/2 by the last movement; 0 without one
  double span_ = 1;
  double max_error_;
  Free free_;
};

}  // namespace warpalign::detail
