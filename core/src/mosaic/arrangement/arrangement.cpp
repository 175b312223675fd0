// Positions of tiles from pairs alone.
#include "mosaic/arrangement/arrangement.hpp"

#include "mosaic/connections.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace warpalign::detail {
namespace {

/// Tiles that links join, with each tile's position relative to its root.
class JoinedTiles {
 public:
  explicit JoinedTiles(std::size_t tiles) : parents_(tiles), sizes_(tiles, 1), offsets_(tiles) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }

  struct Place {
    std::size_t root;
    Point position;  ///< relative to the root
  };
  [[nodiscard]] Place place_of(std::size_t tile) const {
    Place place{tile, {}};
    while (parents_[place.root] != place.root) {
      const Point& offset = offsets_[place.root];
      place = {parents_[place.root], {place.position.x + offset.x, place.position.y + offset.y}};
    }
    return place;
  }
  void join(const ShiftLink& link) {
    const Place from = place_of(link.reference);
    const Place to = place_of(link.moving);
    if (from.root == to.root) return;
    const Point offset{from.position.x + link.shift.x - to.position.x,
                       from.position.y + link.shift.y - to.position.y};
    if (sizes_[from.root] >= sizes_[to.root]) {
      attach(to.root, from.root, offset);
    } else {
      attach(from.root, to.root, {-offset.x, -offset.y});
    }
  }

 private:
  void attach(std::size_t root, std::size_t parent, const Point& offset) {
    parents_[root] = parent;
    offsets_[root] = offset;
    sizes_[parent] += sizes_[root];
  }

  std::vector<std::size_t> parents_;
  std::vector<std::size_t> sizes_;
  std::vector<Point> offsets_;  ///< from the parent
};

/// The positions along the spanning tree that takes links in this order.
std::vector<Point> tree_positions(std::size_t tiles, std::span<const ShiftLink> links,
                                  const std::vector<std::size_t>& order) {
  JoinedTiles joined(tiles);
  for (const std::size_t i : order) joined.join(links[i]);
  std::vector<Point> positions;
  for (std::size_t i = 0; i < tiles; ++i) positions.push_back(joined.place_of(i).position);
  return positions;
}

std::vector<bool> agreement(std::span<const ShiftLink> links, const std::vector<Point>& positions,
                            double tolerance) {
  std::vector<bool> agrees;
  for (const ShiftLink& link : links) {
    const Point& from = positions[link.reference];
    const Point& to = positions[link.moving];
    agrees.push_back(length(difference(link.shift, difference(to, from))) <= tolerance);
  }
  return agrees;
}

std::ptrdiff_t count(const std::vector<bool>& flags) {
  return std::count(flags.begin(), flags.end(), true);
}

}  // namespace

Arrangement arrange_tiles(std::span<const MosaicTile> tiles, std::span<const ShiftLink> links,
                          double tolerance) {
  constexpr int random_trees = 200;
  std::vector<std::size_t> order(links.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return links[a].confidence > links[b].confidence;
  });
  Arrangement best;
  best.positions = tree_positions(tiles.size(), links, order);
  best.consistent = agreement(links, best.positions, tolerance);
  std::mt19937 random(1);
  for (int i = 0; i < random_trees && count(best.consistent) < std::ssize(links); ++i) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Point> positions = tree_positions(tiles.size(), links, order);
    std::vector<bool> consistent = agreement(links, positions, tolerance);
    if (count(consistent) <= count(best.consistent)) continue;
    best.positions = std::move(positions);
    best.consistent = std::move(consistent);
  }
  std::vector<Connection> connections;
  for (const ShiftLink& link : links) connections.emplace_back(link.reference, link.moving);
  best.components = components_of(tiles.size(), connections);
  lay_side_by_side(tiles, best.components, best.positions);
  return best;
}

void lay_side_by_side(std::span<const MosaicTile> tiles, std::span<const std::size_t> components,
                      std::vector<Point>& positions) {
  constexpr double gap = 0.25;  // of the widest tile
  constexpr double far = std::numeric_limits<double>::infinity();
  if (tiles.empty()) return;
  struct Box {
    double left = far, top = far, right = -far;
  };
  std::vector<Box> boxes(*std::max_element(components.begin(), components.end()) + 1);
  double widest = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    Box& box = boxes[components[i]];
    const auto width = static_cast<double>(tiles[i].shape.width);
    box.left = std::min(box.left, positions[i].x);
    box.top = std::min(box.top, positions[i].y);
    box.right = std::max(box.right, positions[i].x + width);
    widest = std::max(widest, width);
  }
  double right = 0;
  std::vector<Point> moves;
  for (const Box& box : boxes) {
    moves.push_back({right - box.left, -box.top});
    right += box.right - box.left + gap * widest;
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Point& move = moves[components[i]];
    positions[i] = {positions[i].x + move.x, positions[i].y + move.y};
  }
}

}  // namespace warpalign::detail
