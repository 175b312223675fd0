// Positions from shifts: exact for exact shifts, and robust to wrong ones.
#include "mosaic/connections.hpp"
#include "mosaic/overlap.hpp"
#include "mosaic/placement.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace warpalign;
using detail::Connection;
using detail::Placement;
using detail::ShiftLink;

constexpr double max_error = 50;

/// A grid of tiles with true positions, and the exact shifts between neighbours.
struct Grid {
  Grid(int rows, int columns, double noise, std::uint32_t seed = 5) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, noise);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        tiles.push_back({{1000, 1000, 1}, {900.0 * c, 900.0 * r}});
        truth.push_back({900.0 * c + normal(random), 900.0 * r + normal(random)});
      }
    }
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        const auto i = static_cast<std::size_t>(r * columns + c);
        if (c + 1 < columns) add(i, i + 1);
        if (r + 1 < rows) add(i, i + static_cast<std::size_t>(columns));
      }
    }
  }
  void add(std::size_t i, std::size_t j) {
    links.push_back({i, j, {truth[j].x - truth[i].x, truth[j].y - truth[i].y}, {1e-4, 0, 1e-4}, 1});
  }
  /// The largest difference between two tiles' errors.
  [[nodiscard]] double error(const Placement& placement, std::size_t i, std::size_t j) const {
    const auto off = [&](std::size_t k) {
      return Point{placement.positions[k].x - truth[k].x, placement.positions[k].y - truth[k].y};
    };
    return std::hypot(off(i).x - off(j).x, off(i).y - off(j).y);
  }
  [[nodiscard]] double max_error_from(const Placement& placement, std::size_t first = 0) const {
    double most = 0;
    for (std::size_t i = 0; i < truth.size(); ++i)
      most = std::max(most, error(placement, i, first));
    return most;
  }

  std::vector<MosaicTile> tiles;
  std::vector<Point> truth;
  std::vector<ShiftLink> links;
};

// The stage's equations, with deviations of pixels against hundredths of them, pull positions by
// about the square of that ratio.
constexpr double pull = 0.01;

TEST_CASE("exact shifts give the positions") {
  const Grid grid(5, 6, 4);
  const Placement placement = detail::place_tiles(grid.tiles, grid.links, max_error);
  CHECK(grid.max_error_from(placement) < pull);
  for (const bool used : placement.used) CHECK(used);
  // 30 tiles tell a deviation within a third.
  CHECK(placement.stage.deviation > 2.6);
  CHECK(placement.stage.deviation < 5.4);
}

TEST_CASE("wrong shifts are left out, and move no tile") {
  Grid grid(6, 6, 3);
  std::vector<std::size_t> wrong{3, 17, 28, 40, 51, 59};
  for (const std::size_t i : wrong) {
    grid.links[i].shift.x += i % 2 == 0 ? 35 : -20;
    grid.links[i].shift.y -= 12;
  }
  const Placement placement = detail::place_tiles(grid.tiles, grid.links, max_error);
  CHECK(grid.max_error_from(placement) < pull);
  for (std::size_t i = 0; i < grid.links.size(); ++i) {
    CAPTURE(i);
    CHECK(placement.used[i] == (std::find(wrong.begin(), wrong.end(), i) == wrong.end()));
  }
}

TEST_CASE("a wrong shift that alone holds a tile is compared with the stage") {
  Grid grid(4, 4, 1);
  // Tile 15 keeps one link, which is wrong by 30 deviations of the stage.
  std::erase_if(grid.links, [](const ShiftLink& l) { return l.reference == 11 && l.moving == 15; });
  const auto last = std::find_if(grid.links.begin(), grid.links.end(),
                                 [](const ShiftLink& l) { return l.moving == 15; });
  last->shift.x += 30;
  const auto index = static_cast<std::size_t>(last - grid.links.begin());
  const Placement placement = detail::place_tiles(grid.tiles, grid.links, max_error);
  CHECK_FALSE(placement.used[index]);
  // The tile stands where the stage says: within 4 deviations.
  CHECK(grid.error(placement, 15, 0) < 4 * std::sqrt(2.0));
}

TEST_CASE("a tile that the stage lost follows its links") {
  Grid grid(4, 4, 1);
  grid.tiles[5].position.x += 40;
  const Placement placement = detail::place_tiles(grid.tiles, grid.links, max_error);
  CHECK(grid.max_error_from(placement) < 10 * pull);
  for (const bool used : placement.used) CHECK(used);
}

TEST_CASE("the stage model finds angle, scale and backlash, and places tiles without links") {
  Grid grid(6, 7, 0.5);
  // The columns of odd rows are taken from the right.
  for (std::size_t r = 1; r < 6; r += 2) {
    std::reverse(grid.tiles.begin() + static_cast<std::ptrdiff_t>(7 * r),
                 grid.tiles.begin() + static_cast<std::ptrdiff_t>(7 * r + 7));
  }
  const Affine camera{1.01, 0.02, 0, -0.02, 1.01, 0};
  constexpr double backlash = 12;
  std::mt19937 random(9);
  std::normal_distribution<double> normal(0, 0.5);
  for (std::size_t i = 0; i < grid.tiles.size(); ++i) {
    const bool back = (i / 7) % 2 == 1;
    const Point p = camera(grid.tiles[i].position);
    grid.truth[i] = {p.x + (back ? -0.5 : 0.5) * backlash + normal(random), p.y + normal(random)};
  }
  const std::size_t lonely = 17;
  std::vector<ShiftLink> links;
  for (std::size_t i = 0; i < grid.tiles.size(); ++i) {
    for (std::size_t j = i + 1; j < grid.tiles.size(); ++j) {
      const Point& a = grid.tiles[i].position;
      const Point& b = grid.tiles[j].position;
      if (std::hypot(a.x - b.x, a.y - b.y) > 1000 || i == lonely || j == lonely) continue;
      links.push_back({i,
                       j,
                       {grid.truth[j].x - grid.truth[i].x, grid.truth[j].y - grid.truth[i].y},
                       {1e-4, 0, 1e-4},
                       1});
    }
  }
  const Placement placement = detail::place_tiles(grid.tiles, links, max_error);
  // 0.5 px of noise over 41 tiles and 5000 px: 1e-4 and 0.2 px, with a factor of 4 to spare.
  CHECK(placement.stage.matrix.a == doctest::Approx(camera.a).epsilon(4e-4));
  CHECK(std::abs(placement.stage.matrix.b - camera.b) < 4e-4);
  CHECK(std::abs(placement.stage.matrix.d - camera.d) < 4e-4);
  CHECK(placement.stage.matrix.e == doctest::Approx(camera.e).epsilon(4e-4));
  CHECK(std::abs(placement.stage.backlash.x - backlash) < 0.8);
  CHECK(placement.stage.backlash.y == 0);
  CHECK(grid.error(placement, lonely, 16) < 4 * 0.5 * std::sqrt(2.0));
}

TEST_CASE("a model that the links do not show is not used") {
  // Noise of 3 px over 7 tiles alone would give a scale that is wrong by 0.2 %.
  const Grid grid(2, 4, 3, 12);
  const Placement placement = detail::place_tiles(grid.tiles, grid.links, max_error);
  CHECK(placement.stage.matrix.a == 1);
  CHECK(placement.stage.matrix.b == 0);
  CHECK(placement.stage.matrix.d == 0);
  CHECK(placement.stage.matrix.e == 1);
}

TEST_CASE("without links the tiles stay where the stage says") {
  const Grid grid(2, 3, 1);
  const Placement placement = detail::place_tiles(grid.tiles, {}, max_error);
  for (std::size_t i = 0; i < grid.tiles.size(); ++i) {
    CHECK(placement.positions[i].x == doctest::Approx(grid.tiles[i].position.x));
    CHECK(placement.positions[i].y == doctest::Approx(grid.tiles[i].position.y));
  }
}

/// A block of volume tiles with true positions, and the exact shifts between neighbours.
struct Block {
  explicit Block(double noise) {
    std::mt19937 random(8);
    std::normal_distribution<double> normal(0, noise);
    constexpr std::size_t side = 3;
    for (std::size_t i = 0; i < side * side * side; ++i) {
      const Point3 nominal{900.0 * static_cast<double>(i % side),
                           900.0 * static_cast<double>(i / side % side),
                           180.0 * static_cast<double>(i / side / side)};
      tiles.push_back({{1000, 1000, 200}, nominal});
      truth.push_back(
          {nominal.x + normal(random), nominal.y + normal(random), nominal.z + normal(random)});
    }
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (i % side + 1 < side) add(i, i + 1);
      if (i / side % side + 1 < side) add(i, i + side);
      if (i / side / side + 1 < side) add(i, i + side * side);
    }
  }
  void add(std::size_t i, std::size_t j) {
    links.push_back({i,
                     j,
                     {truth[j].x - truth[i].x, truth[j].y - truth[i].y, truth[j].z - truth[i].z},
                     {1e-4, 0, 1e-4, 0, 0, 1e-4},
                     1});
  }
  [[nodiscard]] double max_error_of(const detail::PlacementOf<Point3>& placement) const {
    double most = 0;
    const auto off = [&](std::size_t i) {
      const Point3& p = placement.positions[i];
      return Point3{p.x - truth[i].x, p.y - truth[i].y, p.z - truth[i].z};
    };
    for (std::size_t i = 1; i < truth.size(); ++i) {
      most =
          std::max(most, std::hypot(off(i).x - off(0).x, off(i).y - off(0).y, off(i).z - off(0).z));
    }
    return most;
  }

  std::vector<VolumeMosaicTile> tiles;
  std::vector<Point3> truth;
  std::vector<detail::ShiftLinkOf<Point3>> links;
};

TEST_CASE("exact shifts give the positions of volumes, and wrong ones are left out") {
  Block block(3);
  for (const bool has_wrong : {false, true}) {
    const std::vector<std::size_t> wrong{4, 19, 33, 50};
    if (has_wrong) {
      for (const std::size_t i : wrong) block.links[i].shift.z += i % 2 == 0 ? 25 : -18;
    }
    const auto placement = detail::place_tiles(block.tiles, block.links, max_error);
    CHECK(block.max_error_of(placement) < pull);
    for (std::size_t i = 0; i < block.links.size(); ++i) {
      CAPTURE(i);
      const bool is_wrong = std::find(wrong.begin(), wrong.end(), i) != wrong.end();
      CHECK(placement.used[i] == !(has_wrong && is_wrong));
    }
    // 27 tiles tell a deviation of 3 within a third.
    CHECK(placement.stage.deviation > 2);
    CHECK(placement.stage.deviation < 4);
  }
}

TEST_CASE("correlated errors of links weigh as their covariance says") {
  // Two links with errors along the directions in which each is uncertain: the fit finds the shift
  // that both allow.
  const std::vector<VolumeMosaicTile> tiles{{{100, 100, 100}, {0, 0, 0}},
                                            {{100, 100, 100}, {80, 0, 0}}};
  // Variances of 100 along (1, 1, 1) / sqrt(3) and along z, and else of 1e-4.
  const double part = (100 - 1e-4) / 3;
  const std::vector<detail::ShiftLinkOf<Point3>> links{
      {0, 1, {80.3, 0.3, 0.3}, {part + 1e-4, part, part + 1e-4, part, part, part + 1e-4}, 1},
      {0, 1, {80, 0, 0.4}, {1e-4, 0, 1e-4, 0, 0, 100}, 1}};
  const auto placement = detail::place_tiles(tiles, links, max_error);
  // Each link is taken to be uncertain by 0.02 pixels in addition, and the stage pulls a little.
  CHECK(std::abs(placement.positions[1].x - placement.positions[0].x - 80) < 0.02);
  CHECK(std::abs(placement.positions[1].y - placement.positions[0].y) < 0.02);
  CHECK(std::abs(placement.positions[1].z - placement.positions[0].z) < 0.02);
}

TEST_CASE("components and bridges of a graph") {
  // A triangle 0-1-2, a bridge 2-3, a doubled connection 3-4, and a node 5 alone.
  const std::vector<Connection> connections{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {3, 4}};
  CHECK(detail::components_of(6, connections) == std::vector<std::size_t>{0, 0, 0, 0, 0, 1});
  CHECK(detail::bridges_of(6, connections) ==
        std::vector<bool>{false, false, false, true, false, false});
  // The largest component is number 0.
  CHECK(detail::components_of(4, std::vector<Connection>{{1, 2}, {2, 3}}) ==
        std::vector<std::size_t>{1, 0, 0, 0});
}

TEST_CASE("pairs overlap by more than a corner") {
  const Shape tile{100, 80, 1};
  const std::vector<Shape> shapes(4, tile);
  const std::vector<Point> square{{0, 0}, {90, 0}, {0, 70}, {90, 70}};
  const auto pairs = detail::overlapping_pairs(shapes, square);
  REQUIRE(pairs.size() == 4);
  CHECK((pairs[0].reference == 0 && pairs[0].moving == 1));
  CHECK((pairs[1].reference == 0 && pairs[1].moving == 2));
  CHECK((pairs[2].reference == 1 && pairs[2].moving == 3));
  CHECK((pairs[3].reference == 2 && pairs[3].moving == 3));
  CHECK(pairs[2].shift.x == 0);
  CHECK(pairs[2].shift.y == 70);
  CHECK(detail::overlapping_pairs(shapes, std::vector<Point>{{0, 0}, {100, 0}, {200, 0}, {300, 0}})
            .empty());
}

TEST_CASE("pairs of volumes overlap by more than an edge") {
  const std::vector<Shape> shapes(5, Shape{100, 80, 20});
  // Tile 1 shares a face with tile 0, tile 2 an edge, tile 3 a corner, tile 4 a face and a half.
  const std::vector<Point3> positions{
      {0, 0, 0}, {90, 3, 0}, {-90, 70, 0}, {-90, -70, 18}, {40, 0, 17}};
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const auto& pair : detail::overlapping_pairs(shapes, positions)) {
    found.emplace_back(pair.reference, pair.moving);
  }
  CHECK(found == std::vector<std::pair<std::size_t, std::size_t>>{{0, 1}, {0, 4}, {1, 4}});
}

TEST_CASE("regions hold the overlap of volumes and the margin, and at least 8 voxels") {
  const Shape tile{100, 80, 20};
  const auto [from, to] = detail::overlap_regions(tile, tile, {90, 3, -18}, 20);
  CHECK(from == Region{{70, 0, 0}, {30, 80, 20}});
  CHECK(to == Region{{0, 0, 0}, {30, 80, 20}});
  const auto [thin, other] = detail::overlap_regions(tile, tile, {0, 0, 19}, 1);
  CHECK(thin == Region{{0, 0, 12}, {100, 80, 8}});
  CHECK(other == Region{{0, 0, 0}, {100, 80, 8}});
}

TEST_CASE("windows hold the overlap and the margin, and at least 16 pixels") {
  const Shape tile{100, 80, 1};
  const auto [from, to] = detail::overlap_windows(tile, tile, {90, 3}, 20);
  CHECK(from.x == 70);
  CHECK(from.width == 30);
  CHECK(to.x == 0);
  CHECK(to.width == 30);
  CHECK(from.y == 0);
  CHECK(from.height == 80);
  const auto [thin, other] = detail::overlap_windows(tile, tile, {98, 0}, 4);
  CHECK(thin.width == 16);
  CHECK(thin.x == 84);
  CHECK(other.width == 16);
  CHECK(other.x == 0);
}

}  // namespace
