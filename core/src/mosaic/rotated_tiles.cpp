// Tiles that are rotated, scaled or tilted: what PlacementFit determines for motions other than
// translations.
#include "mosaic/rotated_tiles.hpp"

#include "mosaic/inverse_factor.hpp"
#include "mosaic/mosaic_types.hpp"
#include "mosaic/tile_corners.hpp"

#include <algorithm>

namespace warpalign::detail {
namespace {

/// The usual distance of a tile's corner from that of a shifted tile, as a part of the distance
/// from the tile's middle: 3 degrees. Links are a hundred times as exact, so that this hardly
/// changes what they say.
constexpr double usual_turn = 0.05;

}  // namespace

RotatedTiles::RotatedTiles(std::span<const MosaicTile> tiles, Motion motion)
    : tiles_(tiles), motion_(motion) {
  allow(Parameters::all);
  matrices_.resize(tiles.size());
  for (std::size_t i = 0; i < tiles.size(); ++i) start(i, {});
}

void RotatedTiles::allow(Parameters parameters) {
  const Motion motion = parameters == Parameters::all ? motion_ : Motion::rigid;
  motions_.clear();
  for (const MosaicTile& tile : tiles_) motions_.emplace_back(motion, tile.shape);
  parameters_ = motions_.front().parameters();
}

void RotatedTiles::start(std::size_t tile, const Point& displacement) {
  const Point place = sum_of(tiles_[tile].position, displacement);
  matrices_[tile] = Affine{1, 0, place.x, 0, 1, place.y};
}

Point RotatedTiles::displacement(std::size_t tile) const {
  const Point& center = motions_[tile].center();
  return difference(matrices_[tile](center), sum_of(center, tiles_[tile].position));
}

RotatedTiles::MappedPixel RotatedTiles::mapped(std::size_t tile, const Point& pixel) const {
  const LocalMap map(matrices_[tile], pixel);
  MappedPixel result{map.place, motions_[tile].derivatives(pixel)};
  for (Point& column : result.columns) {
    column = {map.a * column.x + map.b * column.y, map.d * column.x + map.e * column.y};
  }
  return result;
}

void RotatedTiles::append(std::size_t tile, const TileMotion::Columns& columns, std::size_t axis,
                          double factor, std::vector<Term>& row) const {
  for (std::size_t i = 0; i < parameters_; ++i) {
    row.push_back({parameters_ * tile + i, factor * along(columns[i], axis)});
  }
}

double RotatedTiles::append_displacement(std::size_t tile, std::size_t axis,
                                         std::vector<Term>& row) const {
  append(tile, mapped(tile, motions_[tile].center()).columns, axis, 1, row);
  return along(displacement(tile), axis);
}

void RotatedTiles::add_prior(NormalEquations& equations) const {
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const Point& center = motions_[i].center();
    const MappedPixel middle = mapped(i, center);
    const double deviation = usual_turn * length(center);
    for (const Point& corner : corners_of(tiles_[i].shape)) {
      const MappedPixel end = mapped(i, corner);
      const Point arm = difference(corner, center);
      const Point off = difference(difference(end.place, middle.place), arm);
      for (std::size_t axis = 0; axis < 2; ++axis) {
        std::vector<Term> row;
        TileMotion::Columns columns{};
        for (std::size_t k = 0; k < parameters_; ++k) {
          columns[k] = difference(end.columns[k], middle.columns[k]);
        }
        append(i, columns, axis, 1, row);
        equations.add(row, 0 - along(off, axis), 1 / (deviation * deviation));
      }
    }
  }
}

Point RotatedTiles::residual(const Link& link, std::size_t corner) const {
  return difference(matrices_[link.moving](link.in_moving[corner]),
                    matrices_[link.reference](link.in_reference[corner]));
}

void RotatedTiles::add(NormalEquations& equations, const Link& link, double weight,
                       double deviation) const {
  // The corners have 8 coordinates, but a pair determines no more than its motion's parameters.
  const double share = static_cast<double>(parameters_) / (2 * overlap_corners);
  for (std::size_t k = 0; k < overlap_corners; ++k) {
    const MappedPixel from = mapped(link.reference, link.in_reference[k]);
    const MappedPixel to = mapped(link.moving, link.in_moving[k]);
    const Point off = difference(to.place, from.place);
    Covariance covariance = link.covariances[k];
    for (std::size_t i = 0; i < 2; ++i) covariance.at(i, i) += deviation * deviation;
    const InverseFactor<2> inverse(covariance);
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<Term> row;
      double value = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        const double factor = inverse.at(i, j);
        append(link.moving, to.columns, j, factor, row);
        append(link.reference, from.columns, j, -factor, row);
        value -= factor * along(off, j);
      }
      equations.add(row, value, share * weight);
    }
  }
}

void RotatedTiles::update(std::span<const double> solution) {
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const auto change = solution.subspan(parameters_ * i, parameters_);
    matrices_[i] = scaled(matrices_[i] * motions_[i].transform(change));
  }
}

Point RotatedTiles::measured_displacement(const Link& link) const {
  return difference(displacement(link.moving), displacement(link.reference));
}

Point RotatedTiles::residual(const Link& link) const {
  Point mean;
  for (std::size_t k = 0; k < overlap_corners; ++k) {
    const Point rest = residual(link, k);
    mean.x += rest.x / overlap_corners;
    mean.y += rest.y / overlap_corners;
  }
  return mean;
}

double RotatedTiles::misfit(const Link& link) const {
  double largest = 0;
  for (std::size_t k = 0; k < overlap_corners; ++k) {
    largest = std::max(largest, length(residual(link, k)));
  }
  return largest;
}

void RotatedTiles::append_residuals(const Link& link, std::vector<double>& residuals) const {
  for (std::size_t k = 0; k < overlap_corners; ++k) {
    const Point rest = residual(link, k);
    residuals.push_back(rest.x);
    residuals.push_back(rest.y);
  }
}

}  // namespace warpalign::detail
