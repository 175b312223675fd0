// The parameters of the stage model, as unknowns of a least-squares problem.
#pragma once

#include "mosaic/mosaic_types.hpp"
#include "mosaic/normal_equations.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The stage model says by how much a tile lies away from its nominal position s. Along each axis
/// it is (l . s + o) / span, where the vector l and the offset o are those of the axis, plus the
/// backlash times the direction of the last movement. All parameters are in pixels. A weak prior
/// keeps parameters that no pair determines at the values of a perfect stage. P: Point or Point3.
template <class P>
class StageTerms {
 public:
  using Tile = typename MosaicTypes<P>::Tile;
  using Stage = typename MosaicTypes<P>::Stage;

  static constexpr std::size_t axes = axes_of<P>;
  static constexpr std::size_t row = axes + 1;  ///< the parameters l and o of an axis
  /// l and o of each axis, and then the backlash along each axis.
  static constexpr std::size_t count = axes * row + axes;
  /// For each parameter, whether it may differ from 0.
  using Free = std::array<bool, count>;

  /// `max_error` in pixels is the deviation of the backlash's prior.
  StageTerms(std::span<const Tile> tiles, double max_error, const Free& free);

  /// The parameter that is the offset of an axis.
  [[nodiscard]] static constexpr std::size_t offset(std::size_t axis) { return axis * row + axes; }
  /// The parameter that is the backlash along an axis.
  [[nodiscard]] static constexpr std::size_t backlash(std::size_t axis) {
    return axes * row + axis;
  }
  /// Whether a fit may find the parameter to be 0: all but the offsets.
  [[nodiscard]] static constexpr bool is_optional(std::size_t parameter) {
    return parameter >= axes * row || parameter % row != axes;
  }

  /// The terms by which the model moves a tile along an axis (0: x, 1: y, 2: z); `first` is the
  /// number of the first parameter among the unknowns.
  [[nodiscard]] std::vector<NormalEquations::Term> of(std::size_t tile, std::size_t axis,
                                                      std::size_t first) const;
  /// Adds the equations of the prior. It sets the offsets to 0.
  void add_prior(NormalEquations& equations, std::size_t first) const;
  /// The number of free parameters for each axis, on average.
  [[nodiscard]] double free_along_axis() const;
  /// The displacement of a tile from its nominal position.
  [[nodiscard]] P displacement(std::size_t tile, std::span<const double> parameters) const;
  /// The model of these parameters; the deviation is not set.
  [[nodiscard]] Stage model(std::span<const double> parameters) const;

 private:
  std::vector<P> scaled_;      ///< nominal positions relative to their mean, divided by span_
  std::vector<P> directions_;  ///< 1/2 or -1/2 by the last movement; 0 without one
  double span_ = 1;
  double max_error_;
  Free free_;
};

extern template class StageTerms<Point>;
extern template class StageTerms<Point3>;

}  // namespace warpalign::detail
