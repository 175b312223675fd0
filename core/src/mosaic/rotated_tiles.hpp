// Tiles that are rotated, scaled or tilted: what PlacementFit determines for motions other than
// translations.
#pragma once

#include "mosaic/normal_equations.hpp"
#include "mosaic/rotated_placement.hpp"
#include "mosaic/tile_motion.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The unknowns of a tile are a small change of its transform, applied before it. Its displacement
/// is that of its middle.
class RotatedTiles {
 public:
  using P = Point;
  using Link = RotatedLink;
  using Term = NormalEquations::Term;
  static constexpr int last_steps = 3;  ///< of Gauss and Newton, from a solution with other weights
  static constexpr bool takes_up_errors =
      true;  ///< turns hide part of what a wrong link contradicts

  /// Which parameters of the tiles are unknown: those of a rigid motion, or all of their motion.
  enum class Parameters { fewest, all };

  RotatedTiles(std::span<const MosaicTile> tiles, Motion motion);
  void allow(Parameters parameters);

  [[nodiscard]] std::size_t unknowns() const { return parameters_ * tiles_.size(); }
  /// Moves a tile to where a stage model says, without a turn.
  void start(std::size_t tile, const Point& displacement);
  [[nodiscard]] Point displacement(std::size_t tile) const;
  [[nodiscard]] const std::vector<Homography>& matrices() const { return matrices_; }

  /// Appends the terms of a tile's displacement; returns the part of it that is no unknown.
  double append_displacement(std::size_t tile, std::size_t axis, std::vector<Term>& row) const;
  /// Adds that tiles are hardly rotated: that their corners lie where those of a shifted tile do.
  void add_prior(NormalEquations& equations) const;
  /// Adds a link's equations: both tiles map each corner of the overlap to the same place.
  void add(NormalEquations& equations, const Link& link, double weight, double deviation) const;
  void update(std::span<const double> solution);

  /// What the tiles, of which the link alone may determine one, add to their nominal shift.
  [[nodiscard]] Point measured_displacement(const Link& link) const;
  /// Where the moving tile maps the overlap's corners minus where the reference tile does, on
  /// average.
  [[nodiscard]] Point residual(const Link& link) const;
  /// By how much the tiles contradict a link at a corner of the overlap, in pixels.
  [[nodiscard]] double misfit(const Link& link) const;
  void append_residuals(const Link& link, std::vector<double>& residuals) const;

 private:
  /// The place of a pixel of a tile in the mosaic, and its derivatives by the tile's unknowns.
  struct MappedPixel {
    Point place;
    TileMotion::Columns columns;
  };
  [[nodiscard]] MappedPixel mapped(std::size_t tile, const Point& pixel) const;
  void append(std::size_t tile, const TileMotion::Columns& columns, std::size_t axis, double factor,
              std::vector<Term>& row) const;
  /// Where the moving tile maps a corner minus where the reference tile does.
  [[nodiscard]] Point residual(const Link& link, std::size_t corner) const;

  std::span<const MosaicTile> tiles_;
  Motion motion_;
  std::vector<TileMotion> motions_;
  std::size_t parameters_ = 0;  ///< of a tile
  std::vector<Homography> matrices_;
};

}  // namespace warpalign::detail
