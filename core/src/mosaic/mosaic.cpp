// locate_tiles(): pairs, positions, and a second round for pairs that the stage model moved.
#include "device/check.hpp"
#include "mosaic/arrangement/arrangement.hpp"
#include "mosaic/arrangement/pair_search.hpp"
#include "mosaic/distortion_fit.hpp"
#include "mosaic/located_tiles.hpp"
#include "mosaic/pair_records.hpp"
#include "mosaic/pair_registration.hpp"
#include "mosaic/position_check.hpp"
#include "mosaic/rotated_mosaic.hpp"
#include "mosaic/stage_name.hpp"
#include "mosaic/undistorted_tiles.hpp"

#include <warpalign/mosaic.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

using namespace detail;

namespace {

void check(std::span<const Device> devices, std::span<const MosaicTile> tiles,
           const TileSource& source, const MosaicOptions& options) {
  check_options(devices, tiles.size(), static_cast<bool>(source), options);
  switch (options.motion) {
    case Motion::translation:
    case Motion::rigid:
    case Motion::similarity:
    case Motion::homography:
      break;
    default:
      refuse(mosaic_stage, "motion must be translation, rigid, similarity or homography");
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const MosaicTile& tile = tiles[i];
    const std::string name = "tile " + std::to_string(i);
    check_shape(mosaic_stage, name.c_str(), tile.shape);
    if (tile.shape.width < min_registered_side || tile.shape.height < min_registered_side) {
      refuse(mosaic_stage, name + " is " + to_string(tile.shape) +
                               "; registration needs sides of at least 16 pixels");
    }
    if (options.positions_known && !is_finite(tile.position)) {
      refuse(mosaic_stage, "the position of " + name + " is not finite");
    }
  }
}

/// One call of locate_tiles().
class Locating {
 public:
  Locating(std::span<const Device> devices, std::span<const MosaicTile> tiles,
           const TileSource& source, const MosaicOptions& options)
      : devices_(devices),
        tiles_(tiles.begin(), tiles.end()),
        options_(options),
        records_(options),
        cache_(tiles, source, options.cache_bytes),
        max_error_(max_error_of(tiles, options.max_error)) {}

  [[nodiscard]] Mosaic run() {
    if (options_.positions_known) {
      register_all();
    } else {
      arrange_and_register();
    }
    if (options_.motion != Motion::translation) return rotated_mosaic();
    Placement placement = place();
    if (register_again(shifts_of(placement))) placement = place();
    if (options_.estimate_distortion && remove_distortion()) placement = place();
    return mosaic(placement);
  }

 private:
  void register_all() {
    std::vector<Shape> shapes;
    std::vector<Point> positions;
    for (const MosaicTile& tile : tiles_) {
      shapes.push_back(tile.shape);
      positions.push_back(tile.position);
    }
    const std::vector<ExpectedPair> pairs = overlapping_pairs(shapes, positions);
    if (pairs.empty()) {
      refuse_misfit("no tiles overlap");
      refuse(mosaic_stage, "no tiles overlap at these positions; check that their unit is pixels");
    }
    pairs_ = register_overlaps(devices_, tiles_, cache_, pairs, max_error_, options_, records_);
    for (const bool along_x : {true, false}) check_direction(along_x);
  }

  /// Searches for pairs, arranges the tiles by them, and registers the overlaps.
  void arrange_and_register() {
    std::vector<MeasuredPair> found = search_pairs(devices_, tiles_, cache_, options_, records_);
    std::vector<ShiftLink> links;
    links.reserve(found.size());
    for (const MeasuredPair& measured : found) links.push_back(link_of(measured));
    const Arrangement arrangement = arrange_tiles(tiles_, links, max_error_ / 2);
    std::vector<Shape> shapes;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      tiles_[i].position = arrangement.positions[i];
      shapes.push_back(tiles_[i].shape);
    }
    std::vector<ExpectedPair> expected = overlapping_pairs(shapes, arrangement.positions);
    const auto is_expected = [&](const MosaicPair& pair) {
      return std::any_of(expected.begin(), expected.end(), [&](const ExpectedPair& other) {
        return other.reference == pair.reference && other.moving == pair.moving;
      });
    };
    std::vector<MeasuredPair> contradicted;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const MosaicPair& pair = found[i].pair;
      if (is_expected(pair)) continue;
      if (arrangement.consistent[i]) {
        // Tiles of which only corners overlap.
        expected.push_back(found[i].expected);
      } else {
        contradicted.push_back(std::move(found[i]));
      }
    }
    pairs_ = register_overlaps(devices_, tiles_, cache_, expected, max_error_, options_, records_);
    std::move(contradicted.begin(), contradicted.end(), std::back_inserter(pairs_));
    sort_by_numbers(pairs_);
    // What the search says of positions is not more than a beginning.
    const std::vector<Point> positions = positions_by_pairs();
    for (std::size_t i = 0; i < tiles_.size(); ++i) tiles_[i].position = positions[i];
  }

  /// Refuses the positions if few pairs of neighbours along an axis match, and others would fit.
  void check_direction(bool along_x) {
    std::size_t used = 0;
    std::size_t textured = 0;
    for (const MeasuredPair& measured : pairs_) {
      const Point& shift = measured.expected.shift;
      if ((std::abs(shift.x) > std::abs(shift.y)) != along_x) continue;
      if (measured.pair.outcome == PairOutcome::failed) continue;
      ++textured;
      if (measured.pair.outcome == PairOutcome::used) ++used;
    }
    constexpr std::size_t min_used_of_ten = 3;
    if (10 * used >= min_used_of_ten * textured) return;
    refuse_misfit(std::to_string(used) + " of " + std::to_string(textured) +
                  " pairs of neighbours along " + (along_x ? "x" : "y") + " match");
  }

  /// Throws if another meaning of the positions fits.
  void refuse_misfit(const std::string& symptom) {
    const std::string words = fitting_exchange(devices_, tiles_, cache_, options_, records_);
    if (words.empty()) return;
    refuse(mosaic_stage,
           "the positions do not fit the tiles: " + symptom + "; they would fit " + words);
  }

  [[nodiscard]] std::vector<Point> positions_by_pairs() {
    if (options_.motion == Motion::translation) return place().positions;
    const std::vector<Homography> matrices = place_rotated().matrices;
    std::vector<Point> positions;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      // A tile is rotated about its middle.
      const Shape& shape = tiles_[i].shape;
      const Point middle{static_cast<double>(shape.width - 1) / 2,
                         static_cast<double>(shape.height - 1) / 2};
      positions.push_back(difference(matrices[i](middle), middle));
    }
    return positions;
  }

  [[nodiscard]] Placement place() {
    return place_pairs<Point>(tiles_, pairs_, max_error_, options_.positions_known);
  }

  template <class ShiftOf>
  bool register_again(const ShiftOf& shift_of) {
    return register_moved_pairs(
        pairs_, max_error_ / 3, shift_of, [&](const std::vector<ExpectedPair>& again) {
          return register_overlaps(devices_, tiles_, cache_, again, max_error_, options_, records_);
        });
  }

  /// The distortion of the tiles, from the records if it was estimated before; zero without one.
  [[nodiscard]] TileDistortion common_distortion() {
    if (options_.records.distortion) return *options_.records.distortion;
    const TileDistortion found =
        estimate_distortion(devices_, tiles_, cache_, pairs_, options_).value_or(TileDistortion{});
    if (options_.keep_distortion) options_.keep_distortion(found);
    return found;
  }

  /// Registers all pairs without the distortion of the tiles. Returns whether there is one.
  bool remove_distortion() {
    const TileDistortion found = common_distortion();
    if (found.is_zero()) return false;
    UndistortedTiles undistorted(devices_.front(), tiles_, cache_, found);
    const Shape& shape = undistorted.tiles().front().shape;
    if (std::min(shape.width, shape.height) < min_registered_side) return false;
    const TileSource source = [&](std::size_t i) { return undistorted.read(i); };
    TileCache cache(undistorted.tiles(), source, options_.cache_bytes);
    std::vector<ExpectedPair> expected;
    for (const MeasuredPair& measured : pairs_) expected.push_back(measured.expected);
    std::vector<MeasuredPair> results = register_overlaps(devices_, undistorted.tiles(), cache,
                                                          expected, max_error_, options_, records_);
    const auto used = [](const std::vector<MeasuredPair>& pairs) {
      return std::count_if(pairs.begin(), pairs.end(), [](const MeasuredPair& measured) {
        return measured.pair.outcome == PairOutcome::used ||
               measured.pair.outcome == PairOutcome::contradicted;
      });
    };
    // A distortion that is real makes tiles more alike.
    if (used(results) < used(pairs_)) return false;
    pairs_ = std::move(results);
    distortion_ = found;
    return true;
  }

  [[nodiscard]] Mosaic mosaic(const Placement& placement) const {
    Mosaic mosaic;
    mosaic.stage = placement.stage;
    mosaic.distortion = distortion_;
    std::vector<Point> positions = placement.positions;
    set_pairs(pairs_, tiles_.size(), residuals_of(positions), mosaic);
    lay_components(mosaic, positions);
    set_positions<Point>(tiles_, positions, mosaic);
    for (LocatedTile& tile : mosaic.tiles) {
      tile.matrix = Affine{1, 0, tile.position.x, 0, 1, tile.position.y};
    }
    return mosaic;
  }

  /// Without known positions, moves the components of the mosaic so that they lie side by side.
  void lay_components(const Mosaic& mosaic, std::vector<Point>& positions) const {
    if (options_.positions_known) return;
    std::vector<std::size_t> components;
    for (const LocatedTile& tile : mosaic.tiles) components.push_back(tile.component);
    lay_side_by_side(tiles_, components, positions);
  }

  [[nodiscard]] RotatedPlacement place_rotated() {
    return place_rotated_pairs(tiles_, pairs_, max_error_, options_);
  }

  /// The mosaic of tiles that are rotated, scaled or tilted.
  [[nodiscard]] Mosaic rotated_mosaic() {
    RotatedPlacement placement = place_rotated();
    const auto shift_of = [&](const MosaicPair& pair) {
      return located_shift(tiles_, placement.matrices, pair);
    };
    if (register_again(shift_of)) placement = place_rotated();
    Mosaic mosaic;
    mosaic.stage = placement.stage;
    const auto residual_of = [&](const MosaicPair& pair) {
      return located_residual(tiles_, placement.matrices, pair);
    };
    set_pairs(pairs_, tiles_.size(), residual_of, mosaic);
    std::vector<Point> positions;
    for (const Homography& matrix : placement.matrices) positions.push_back(matrix({0, 0}));
    std::vector<Point> moved = positions;
    lay_components(mosaic, moved);
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const Point by = difference(moved[i], positions[i]);
      placement.matrices[i] = Homography(Affine{1, 0, by.x, 0, 1, by.y}) * placement.matrices[i];
    }
    set_matrices(tiles_, placement.matrices, mosaic);
    return mosaic;
  }

  std::span<const Device> devices_;
  std::vector<MosaicTile> tiles_;
  const MosaicOptions& options_;
  PairRecords records_;
  TileCache cache_;
  double max_error_;
  std::vector<MeasuredPair> pairs_;
  TileDistortion distortion_;
};

}  // namespace

const char* name_of(PairOutcome outcome) noexcept {
  switch (outcome) {
    case PairOutcome::used:
      return "used";
    case PairOutcome::failed:
      return "failed";
    case PairOutcome::unreliable:
      return "unreliable";
    case PairOutcome::ambiguous:
      return "ambiguous";
    case PairOutcome::beyond_error:
      return "beyond error";
    case PairOutcome::contradicted:
      break;
  }
  return "contradicted";
}

Mosaic locate_tiles(std::span<const Device> devices, std::span<const MosaicTile> tiles,
                    const TileSource& source, const MosaicOptions& options) {
  check(devices, tiles, source, options);
  if (options.positions_known) check_distinct_positions(tiles);
  return Locating(devices, tiles, source, options).run();
}

}  // namespace warpalign
