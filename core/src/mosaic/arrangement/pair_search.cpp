// Finds pairs of tiles that overlap when nothing is known of their positions.
#include "mosaic/arrangement/pair_search.hpp"

#include "mosaic/arrangement/reduced_tiles.hpp"
#include "mosaic/connections.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace warpalign::detail {
namespace {

/// Strips along the edges are registered for overlaps of this part of a side, give or take the
/// tolerance: from 3 % to 35 %. Larger overlaps are found by whole tiles.
constexpr double strip_overlap = 0.19;
constexpr double strip_tolerance = 0.16;

/// Converts a pair of tiles that were reduced by a factor to pixels of the tiles.
void enlarge(MeasuredPair& measured, double factor) {
  MosaicPair& pair = measured.pair;
  pair.shift.x *= factor;
  pair.shift.y *= factor;
  pair.uncertainty.x *= factor;
  pair.uncertainty.y *= factor;
  for (double& value : measured.covariance.lower) value *= factor * factor;
  for (Covariance& corner : measured.corners) {
    for (double& value : corner.lower) value *= factor * factor;
  }
  // A pixel is the mean of `factor` pixels along both axes.
  const Affine to_tile{factor, 0, (factor - 1) / 2, 0, factor, (factor - 1) / 2};
  pair.matrix = Homography(to_tile) * pair.matrix * Homography(to_tile.inverse());
}

class PairSearch {
 public:
  PairSearch(std::span<const Device> devices, std::span<const MosaicTile> tiles, TileCache& cache,
             const MosaicOptions& options, PairRecords& records)
      : devices_(devices),
        reduced_(tiles, cache),
        source_([this](std::size_t i) { return reduced_.read(i); }),
        cache_(reduced_.tiles(), source_, options.cache_bytes),
        options_(options),
        records_(records) {}

  [[nodiscard]] std::vector<MeasuredPair> run() {
    constexpr std::size_t all_at_once = 24;
    constexpr std::size_t min_batch = 256;
    const std::size_t tiles = reduced_.tiles().size();
    std::vector<std::size_t> components(tiles);
    for (std::size_t i = 0; i < tiles; ++i) components[i] = i;
    std::vector<ExpectedPair> batch;
    for (std::size_t distance = 1; distance < tiles; ++distance) {
      for (std::size_t i = 0; i + distance < tiles; ++i) {
        if (components[i] != components[i + distance]) batch.push_back({i, i + distance, {}});
      }
      const bool is_last = distance + 1 == tiles;
      const bool is_full = tiles > all_at_once && (distance == 1 || batch.size() >= min_batch);
      if (batch.empty() || !(is_last || is_full)) continue;
      search(batch);
      batch.clear();
      components = components_of(tiles, connections_);
    }
    sort_by_numbers(found_);
    return std::move(found_);
  }

 private:
  /// Registers whole tiles, then strips of the pairs that are not accepted.
  void search(const std::vector<ExpectedPair>& pairs) {
    constexpr double any_shift = std::numeric_limits<double>::infinity();
    std::vector<ExpectedPair> strips;
    double side = 0;
    for (MeasuredPair& measured : measure(pairs, any_shift)) {
      if (measured.pair.outcome == PairOutcome::used) {
        accept(std::move(measured));
        continue;
      }
      const std::size_t reference = measured.pair.reference;
      const std::size_t moving = measured.pair.moving;
      const Shape& first = reduced_.tiles()[reference].shape;
      const Shape& second = reduced_.tiles()[moving].shape;
      const auto step = [](std::int64_t size) {
        return (1 - strip_overlap) * static_cast<double>(size);
      };
      strips.push_back({reference, moving, {step(first.width), 0}});
      strips.push_back({reference, moving, {-step(second.width), 0}});
      strips.push_back({reference, moving, {0, step(first.height)}});
      strips.push_back({reference, moving, {0, -step(second.height)}});
      for (const Shape& shape : {first, second}) {
        side =
            std::max({side, static_cast<double>(shape.width), static_cast<double>(shape.height)});
      }
    }
    if (strips.empty()) return;
    constexpr std::size_t strips_of_a_pair = 4;
    std::vector<MeasuredPair> measured = measure(strips, strip_tolerance * side);
    for (std::size_t i = 0; i < measured.size(); i += strips_of_a_pair) {
      const auto first = measured.begin() + static_cast<std::ptrdiff_t>(i);
      const auto best = std::max_element(
          first, first + strips_of_a_pair, [](const MeasuredPair& a, const MeasuredPair& b) {
            const auto score = [](const MeasuredPair& m) {
              return m.pair.outcome == PairOutcome::used ? m.pair.confidence : -1;
            };
            return score(a) < score(b);
          });
      if (best->pair.outcome == PairOutcome::used) accept(std::move(*best));
    }
  }

  [[nodiscard]] std::vector<MeasuredPair> measure(const std::vector<ExpectedPair>& pairs,
                                                  double margin) {
    return register_overlaps(devices_, reduced_.tiles(), cache_, pairs, margin, options_, records_);
  }

  /// Keeps a pair, in pixels of the tiles.
  void accept(MeasuredPair measured) {
    enlarge(measured, static_cast<double>(reduced_.factor()));
    measured.expected.shift = measured.pair.shift;
    connections_.emplace_back(measured.pair.reference, measured.pair.moving);
    found_.push_back(std::move(measured));
  }

  std::span<const Device> devices_;
  ReducedTiles reduced_;
  TileSource source_;
  TileCache cache_;
  const MosaicOptions& options_;
  PairRecords& records_;
  std::vector<MeasuredPair> found_;
  std::vector<Connection> connections_;
};

}  // namespace

std::vector<MeasuredPair> search_pairs(std::span<const Device> devices,
                                       std::span<const MosaicTile> tiles, TileCache& cache,
                                       const MosaicOptions& options, PairRecords& records) {
  return PairSearch(devices, tiles, cache, options, records).run();
}

}  // namespace warpalign::detail
