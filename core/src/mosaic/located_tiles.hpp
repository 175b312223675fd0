// From registered pairs to a mosaic: the steps that images and volumes share.
#pragma once

#include "device/check.hpp"
#include "mosaic/blended_strip.hpp"
#include "mosaic/connections.hpp"
#include "mosaic/measured_pair.hpp"
#include "mosaic/placement.hpp"
#include "mosaic/stage_name.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace warpalign::detail {

template <class P>
using TilesOf = std::span<const typename MosaicTypes<P>::Tile>;

/// Throws unless the options that all mosaics have are in range.
template <class Options>
void check_options(std::span<const Device> devices, std::size_t tiles, bool has_source,
                   const Options& options) {
  if (devices.empty()) refuse(mosaic_stage, "devices is empty; at least one is needed");
  if (!has_source) refuse(mosaic_stage, "source is empty; a source of tiles is needed");
  if (tiles < 2) {
    refuse(mosaic_stage, "a mosaic needs at least 2 tiles, not " + std::to_string(tiles));
  }
  if (!(options.max_error >= 0) || !std::isfinite(options.max_error)) {
    refuse(mosaic_stage, "max_error must be 0 or above, in pixels");
  }
  if (!(options.min_confidence > 0) || options.min_confidence > 1) {
    refuse(mosaic_stage, "min_confidence must be above 0 and at most 1");
  }
}

/// Throws if two tiles have the same position.
template <class Tile>
void check_distinct_positions(std::span<const Tile> tiles) {
  std::vector<std::size_t> order(tiles.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  constexpr std::size_t axes = axes_of<decltype(Tile::position)>;
  const auto compare = [&](std::size_t a, std::size_t b) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const double p = along(tiles[a].position, axis);
      const double q = along(tiles[b].position, axis);
      if (p != q) return p < q ? -1 : 1;
    }
    return 0;
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int order_of_positions = compare(a, b);
    return order_of_positions != 0 ? order_of_positions < 0 : a < b;
  });
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (compare(order[k - 1], order[k]) != 0) continue;
    refuse(mosaic_stage, "tiles " + std::to_string(order[k - 1]) + " and " +
                             std::to_string(order[k]) +
                             " have the same position; give each tile once");
  }
}

/// The option, or by default a twentieth of the longest side of all tiles, at least 16.
template <class Tile>
[[nodiscard]] double max_error_of(std::span<const Tile> tiles, double option) {
  if (option > 0) return option;
  constexpr double part = 0.05;
  constexpr double least = 16;
  std::int64_t side = 0;
  for (const Tile& tile : tiles) {
    for (std::size_t axis = 0; axis < axes_of<decltype(Tile::position)>; ++axis) {
      side = std::max(side, side_along(tile.shape, axis));
    }
  }
  return std::max(least, std::ceil(part * static_cast<double>(side)));
}

template <class P>
[[nodiscard]] ShiftLinkOf<P> link_of(const MeasuredPairOf<P>& measured) {
  const auto& pair = measured.pair;
  return {pair.reference, pair.moving, pair.shift, measured.covariance, pair.confidence};
}

/// The pairs in use, and those that an earlier placement contradicted.
template <class P>
[[nodiscard]] std::vector<MeasuredPairOf<P>*> accepted_pairs(
    std::vector<MeasuredPairOf<P>>& pairs) {
  std::vector<MeasuredPairOf<P>*> accepted;
  for (MeasuredPairOf<P>& measured : pairs) {
    auto& pair = measured.pair;
    if (pair.outcome == PairOutcome::contradicted) {
      pair.outcome = PairOutcome::used;
      pair.reason.clear();
    }
    if (pair.outcome == PairOutcome::used) accepted.push_back(&measured);
  }
  return accepted;
}

/// Marks the accepted pairs that a placement does not use. `measured`: "the shift", for example.
template <class P>
void mark_contradicted(const std::vector<MeasuredPairOf<P>*>& accepted,
                       const std::vector<bool>& used, bool positions_known, const char* measured) {
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    if (used[i]) continue;
    auto& pair = accepted[i]->pair;
    pair.outcome = PairOutcome::contradicted;
    pair.reason = std::string("the other pairs ") + (positions_known ? "and the stage " : "") +
                  "contradict " + measured;
  }
}

/// Places the tiles by the pairs in use, and marks those that the others contradict.
template <class P>
[[nodiscard]] PlacementOf<P> place_pairs(TilesOf<P> tiles, std::vector<MeasuredPairOf<P>>& pairs,
                                         double max_error, bool positions_known) {
  const auto accepted = accepted_pairs(pairs);
  std::vector<ShiftLinkOf<P>> links;
  links.reserve(accepted.size());
  for (const MeasuredPairOf<P>* measured : accepted) links.push_back(link_of(*measured));
  PlacementOf<P> placement = place_tiles(tiles, links, max_error, positions_known);
  mark_contradicted(accepted, placement.used, positions_known, "the shift");
  return placement;
}

/// The expected shift of a pair after a placement.
template <class P>
[[nodiscard]] auto shifts_of(const PlacementOf<P>& placement) {
  return [&placement](const typename MosaicTypes<P>::Pair& pair) {
    return difference(placement.positions[pair.moving], placement.positions[pair.reference]);
  };
}

/// Registers pairs again that were not accepted, and whose expected shift, which `shift_of(pair)`
/// returns, has moved by `min_move` or more. `register_pairs(expected)` returns their results.
/// Returns whether there are any.
template <class P, class ShiftOf, class Register>
bool register_moved_pairs(std::vector<MeasuredPairOf<P>>& pairs, double min_move,
                          const ShiftOf& shift_of, const Register& register_pairs) {
  std::vector<ExpectedPairOf<P>> again;
  std::vector<std::size_t> number;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& pair = pairs[i].pair;
    if (pair.outcome == PairOutcome::used || pair.outcome == PairOutcome::contradicted) continue;
    const P shift = shift_of(pair);
    if (length(difference(shift, pairs[i].expected.shift)) < min_move) continue;
    again.push_back({pair.reference, pair.moving, shift});
    number.push_back(i);
  }
  if (again.empty()) return false;
  std::vector<MeasuredPairOf<P>> results = register_pairs(again);
  for (std::size_t k = 0; k < again.size(); ++k) pairs[number[k]] = std::move(results[k]);
  return true;
}

/// Sets the pairs of the mosaic with their residuals, which `residual_of(pair)` returns, and for
/// each tile its component and its number of pairs.
template <class P, class ResidualOf>
void set_pairs(const std::vector<MeasuredPairOf<P>>& pairs, std::size_t tiles,
               const ResidualOf& residual_of, typename MosaicTypes<P>::Result& mosaic) {
  mosaic.tiles.resize(tiles);
  std::vector<Connection> connections;
  for (const MeasuredPairOf<P>& measured : pairs) {
    auto pair = measured.pair;
    pair.residual = residual_of(pair);
    if (pair.outcome == PairOutcome::used) {
      connections.emplace_back(pair.reference, pair.moving);
      ++mosaic.tiles[pair.reference].pairs;
      ++mosaic.tiles[pair.moving].pairs;
    }
    mosaic.pairs.push_back(std::move(pair));
  }
  const std::vector<std::size_t> components = components_of(tiles, connections);
  for (std::size_t i = 0; i < tiles; ++i) mosaic.tiles[i].component = components[i];
  mosaic.components = *std::max_element(components.begin(), components.end()) + 1;
}

/// The residual of a pair of shifted tiles.
template <class P>
[[nodiscard]] auto residuals_of(const std::vector<P>& positions) {
  return [&positions](const typename MosaicTypes<P>::Pair& pair) {
    return difference(pair.shift, difference(positions[pair.moving], positions[pair.reference]));
  };
}

/// Sets the tiles' positions from 0 on, and the shape that covers all tiles.
template <class P>
void set_positions(TilesOf<P> tiles, const std::vector<P>& positions,
                   typename MosaicTypes<P>::Result& mosaic) {
  for (std::size_t axis = 0; axis < axes_of<P>; ++axis) {
    double least = std::numeric_limits<double>::infinity();
    for (const P& p : positions) least = std::min(least, along(p, axis));
    std::int64_t& side = side_along(mosaic.shape, axis);
    side = 0;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const double position = along(positions[i], axis) - least;
      along(mosaic.tiles[i].position, axis) = position;
      side = std::max(side, pixel_before(position) + side_along(tiles[i].shape, axis));
    }
  }
}

}  // namespace warpalign::detail
