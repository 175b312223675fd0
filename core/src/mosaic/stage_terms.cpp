// The parameters of the stage model, as unknowns of a least-squares problem.
#include "mosaic/stage_terms.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {
namespace {

/// Along one axis: 1/2 for tiles that the stage reached by moving towards larger coordinates, -1/2
/// for the other direction. A tile reached without a movement along the axis keeps the direction of
/// the tile before it.
template <class Tile>
std::vector<double> directions_of(std::span<const Tile> tiles, std::size_t axis) {
  constexpr double min_step = 0.25;  // of a tile; smaller steps are noise
  std::vector<double> directions(tiles.size(), 0);
  double direction = 0;
  for (std::size_t i = 1; i < tiles.size(); ++i) {
    const double step = along(tiles[i].position, axis) - along(tiles[i - 1].position, axis);
    if (std::abs(step) > min_step * static_cast<double>(side_along(tiles[i].shape, axis))) {
      // Nothing is known of the movement before the first one: it is taken to be the same.
      if (direction == 0) std::fill_n(directions.begin(), i, std::copysign(0.5, step));
      direction = std::copysign(0.5, step);
    }
    directions[i] = direction;
  }
  return directions;
}

/// The model with these rows of its matrix, each of which ends with an offset of 0.
StageModel stage_model(const std::array<double, 6>& rows, const Point& backlash) {
  StageModel model;
  model.matrix = {rows[0], rows[1], 0, rows[3], rows[4], 0};
  model.backlash = backlash;
  return model;
}
VolumeStageModel stage_model(const std::array<double, 12>& rows, const Point3& backlash) {
  VolumeStageModel model;
  model.matrix = HomogeneousMatrix::affine3(rows);
  model.backlash = backlash;
  return model;
}

}  // namespace

template <class P>
StageTerms<P>::StageTerms(std::span<const Tile> tiles, double max_error, const Free& free)
    : max_error_(max_error), free_(free) {
  P mean;
  for (const Tile& tile : tiles) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      along(mean, axis) += along(tile.position, axis) / static_cast<double>(tiles.size());
    }
  }
  for (const Tile& tile : tiles) {
    scaled_.push_back(difference(tile.position, mean));
    span_ = std::max(span_, largest_coordinate(scaled_.back()));
  }
  for (P& point : scaled_) {
    for (std::size_t axis = 0; axis < axes; ++axis) along(point, axis) /= span_;
  }
  directions_.resize(tiles.size());
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::vector<double> directions = directions_of(tiles, axis);
    for (std::size_t i = 0; i < tiles.size(); ++i) along(directions_[i], axis) = directions[i];
  }
}

template <class P>
std::vector<NormalEquations::Term> StageTerms<P>::of(std::size_t tile, std::size_t axis,
                                                     std::size_t first) const {
  std::vector<NormalEquations::Term> terms;
  for (std::size_t i = 0; i < axes; ++i) {
    terms.push_back({first + axis * row + i, along(scaled_[tile], i)});
  }
  terms.push_back({first + offset(axis), 1});
  terms.push_back({first + backlash(axis), along(directions_[tile], axis)});
  for (NormalEquations::Term& term : terms) {
    if (!free_[term.unknown - first]) term.factor = 0;
  }
  return terms;
}

template <class P>
void StageTerms<P>::add_prior(NormalEquations& equations, std::size_t first) const {
  // A camera's angle of 0.1 rad and a scale of 10 % are usual deviations.
  const double linear = 0.1 * span_;
  constexpr double whole = 1e-3;  // the mosaic as a whole stays where the stage says
  for (std::size_t i = 0; i < count; ++i) {
    const double deviation = i >= backlash(0) ? max_error_ : is_optional(i) ? linear : whole;
    const NormalEquations::Term term{first + i, 1};
    equations.add({&term, 1}, 0, 1 / (deviation * deviation));
  }
}

template <class P>
double StageTerms<P>::free_along_axis() const {
  return static_cast<double>(std::count(free_.begin(), free_.end(), true)) / axes;
}

template <class P>
P StageTerms<P>::displacement(std::size_t tile, std::span<const double> parameters) const {
  P result;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    double sum = 0;
    for (const auto& [unknown, factor] : of(tile, axis, 0)) sum += factor * parameters[unknown];
    along(result, axis) = sum;
  }
  return result;
}

template <class P>
typename StageTerms<P>::Stage StageTerms<P>::model(std::span<const double> parameters) const {
  std::array<double, axes * row> rows{};
  P backlashes;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    for (std::size_t i = 0; i < axes; ++i) {
      const double linear = parameters[axis * row + i] / span_;
      rows[axis * row + i] = i == axis ? 1 + linear : linear;
    }
    along(backlashes, axis) = parameters[backlash(axis)];
  }
  return stage_model(rows, backlashes);
}

template class StageTerms<Point>;
template class StageTerms<Point3>;

}  // namespace warpalign::detail
