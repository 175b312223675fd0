// The parameters of the stage model, as unknowns of a least-squares problem.
#include "mosaic/stage_terms.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {
namespace {

/// Along one axis: 1/2 for tiles that the stage reached by moving towards larger coordinates, -1/2
/// for the other direction. A tile reached without a movement along the axis keeps the direction of
/// the tile before it.
std::vector<double> directions_of(std::span<const MosaicTile> tiles, double Point::*axis,
                                  std::int64_t Shape::*side) {
  constexpr double min_step = 0.25;  // of a tile; smaller steps are noise
  std::vector<double> directions(tiles.size(), 0);
  double direction = 0;
  for (std::size_t i = 1; i < tiles.size(); ++i) {
    const double step = tiles[i].position.*axis - tiles[i - 1].position.*axis;
    if (std::abs(step) > min_step * static_cast<double>(tiles[i].shape.*side)) {
      // Nothing is known of the movement before the first one: it is taken to be the same.
      if (direction == 0) std::fill_n(directions.begin(), i, std::copysign(0.5, step));
      direction = std::copysign(0.5, step);
    }
    directions[i] = direction;
  }
  return directions;
}

}  // namespace

StageTerms::StageTerms(std::span<const MosaicTile> tiles, double max_error, const Free& free)
    : max_error_(max_error), free_(free) {
  Point mean;
  for (const MosaicTile& tile : tiles) {
    mean.x += tile.position.x / static_cast<double>(tiles.size());
    mean.y += tile.position.y / static_cast<double>(tiles.size());
  }
  for (const MosaicTile& tile : tiles) {
    scaled_.push_back({tile.position.x - mean.x, tile.position.y - mean.y});
    span_ = std::max({span_, std::abs(scaled_.back().x), std::abs(scaled_.back().y)});
  }
  for (Point& point : scaled_) point = {point.x / span_, point.y / span_};
  directions_.resize(tiles.size());
  const std::vector<double> x = directions_of(tiles, &Point::x, &Shape::width);
  const std::vector<double> y = directions_of(tiles, &Point::y, &Shape::height);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    directions_[i] = {x[i], y[i]};
  }
}

std::vector<NormalEquations::Term> StageTerms::of(std::size_t tile, std::size_t axis,
                                                  std::size_t first) const {
  const std::size_t row = first + 3 * axis;
  const double direction = axis == 0 ? directions_[tile].x : directions_[tile].y;
  std::vector<NormalEquations::Term> terms{{row, scaled_[tile].x},
                                           {row + 1, scaled_[tile].y},
                                           {row + 2, 1},
                                           {first + backlash[axis], direction}};
  for (NormalEquations::Term& term : terms) {
    if (!free_[term.unknown - first]) term.factor = 0;
  }
  return terms;
}

void StageTerms::add_prior(NormalEquations& equations, std::size_t first) const {
  // A camera's angle of 0.1 rad and a scale of 10 % are usual deviations.
  const double linear = 0.1 * span_;
  constexpr double offset = 1e-3;  // the mosaic as a whole stays where the stage says
  const std::array deviations{linear, linear, offset,     linear,
                              linear, offset, max_error_, max_error_};
  for (std::size_t i = 0; i < count; ++i) {
    const NormalEquations::Term term{first + i, 1};
    equations.add({&term, 1}, 0, 1 / (deviations[i] * deviations[i]));
  }
}

double StageTerms::free_along_axis() const {
  return static_cast<double>(std::count(free_.begin(), free_.end(), true)) / 2;
}

Point StageTerms::displacement(std::size_t tile, std::span<const double> parameters) const {
  const auto along = [&](std::size_t axis) {
    double sum = 0;
    for (const auto& [unknown, factor] : of(tile, axis, 0)) sum += factor * parameters[unknown];
    return sum;
  };
  return {along(0), along(1)};
}

StageModel StageTerms::model(std::span<const double> parameters) const {
  StageModel model;
  model.matrix = {1 + parameters[0] / span_, parameters[1] / span_,     0,
                  parameters[3] / span_,     1 + parameters[4] / span_, 0};
  model.backlash = {parameters[backlash[0]], parameters[backlash[1]]};
  return model;
}

}  // namespace warpalign::detail
