// Finds out why positions do not fit the tiles.
#include "mosaic/position_check.hpp"

#include "mosaic/pair_registration.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/upper_median.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace warpalign::detail {
namespace {

Point difference(const MosaicTile& to, const MosaicTile& from) {
  return {to.position.x - from.position.x, to.position.y - from.position.y};
}

/// The nearest tile, of those whose direction is far from `other`, if that is not null.
std::size_t nearest(std::span<const MosaicTile> tiles, std::size_t tile, const Point* other) {
  constexpr double max_cosine = 0.5;
  std::size_t best = tile;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Point step = difference(tiles[i], tiles[tile]);
    if (i == tile || !(length(step) < least)) continue;
    if (other != nullptr && std::abs(step.x * other->x + step.y * other->y) >
                                max_cosine * length(step) * length(*other)) {
      continue;
    }
    least = length(step);
    best = i;
  }
  return best;
}

/// Pairs of neighbours in two directions, of tiles spread over the mosaic.
std::vector<ExpectedPair> neighbours(std::span<const MosaicTile> tiles) {
  constexpr std::size_t max_tiles = 8;
  const std::size_t chosen = std::min(max_tiles, tiles.size());
  std::set<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t k = 0; k < chosen; ++k) {
    const std::size_t tile = (2 * k + 1) * tiles.size() / (2 * chosen);
    const std::size_t first = nearest(tiles, tile, nullptr);
    if (first == tile) continue;
    found.insert(std::minmax(tile, first));
    const Point step = difference(tiles[first], tiles[tile]);
    const std::size_t second = nearest(tiles, tile, &step);
    if (second != tile) found.insert(std::minmax(tile, second));
  }
  std::vector<ExpectedPair> pairs;
  for (const auto& [reference, moving] : found) {
    pairs.push_back({reference, moving, difference(tiles[moving], tiles[reference])});
  }
  return pairs;
}

/// An exchange of the axes and their directions, and how to say it.
struct Exchange {
  double a, b, c, d;
  const char* words;
};

constexpr std::array exchanges{
    Exchange{1, 0, 0, 1, ""},
    Exchange{0, 1, 1, 0, "with x and y exchanged"},
    Exchange{-1, 0, 0, 1, "with the sign of x reversed"},
    Exchange{1, 0, 0, -1, "with the sign of y reversed"},
    Exchange{-1, 0, 0, -1, "with the signs of x and y reversed"},
    Exchange{0, -1, 1, 0, "with x and y exchanged, then the sign of x reversed"},
    Exchange{0, 1, -1, 0, "with x and y exchanged, then the sign of y reversed"},
    Exchange{0, -1, -1, 0, "with x and y exchanged, then both signs reversed"}};

struct Shifts {
  Point expected;
  Point found;
};

std::size_t agreement(const std::vector<Shifts>& shifts, const Exchange& e, double factor) {
  constexpr double tolerance = 0.1;  // of the shift
  return static_cast<std::size_t>(std::count_if(shifts.begin(), shifts.end(), [&](const Shifts& s) {
    const Point off{factor * (e.a * s.expected.x + e.b * s.expected.y) - s.found.x,
                    factor * (e.c * s.expected.x + e.d * s.expected.y) - s.found.y};
    return length(off) < tolerance * length(s.found);
  }));
}

std::string factor_words(double factor) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "multiplied by %.4g (another unit?)", factor);
  return text.data();
}

}  // namespace

std::string fitting_exchange(std::span<const Device> devices, std::span<const MosaicTile> tiles,
                             TileCache& cache, const MosaicOptions& options, PairRecords& records) {
  constexpr std::size_t min_pairs = 2;
  constexpr double same_factor = 0.1;
  const std::vector<ExpectedPair> pairs = neighbours(tiles);
  MosaicOptions quiet = options;
  quiet.progress = {};
  constexpr double any_shift = std::numeric_limits<double>::infinity();
  std::vector<Shifts> shifts;
  std::vector<double> factors;
  for (const MeasuredPair& m :
       register_overlaps(devices, tiles, cache, pairs, any_shift, quiet, records)) {
    if (m.pair.outcome != PairOutcome::used || !(length(m.expected.shift) > 0)) continue;
    shifts.push_back({m.expected.shift, m.pair.shift});
    factors.push_back(length(m.pair.shift) / length(m.expected.shift));
  }
  if (shifts.size() < min_pairs) return {};
  const double factor = upper_median(std::span(factors));
  const Exchange* best = nullptr;
  std::size_t most = 0;
  for (const Exchange& exchange : exchanges) {
    const std::size_t agreeing = agreement(shifts, exchange, factor);
    if (agreeing <= most) continue;
    most = agreeing;
    best = &exchange;
  }
  if (best == nullptr || most < min_pairs || 5 * most < 3 * shifts.size()) return {};
  std::string words = best->words;
  if (std::abs(factor - 1) > same_factor) {
    words += (words.empty() ? "" : " and ") + factor_words(factor);
  }
  return words;
}

}  // namespace warpalign::detail
