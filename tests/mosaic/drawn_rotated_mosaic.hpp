// Drawn mosaics whose tiles are rotated, scaled or tilted: the true matrices are known.
#pragma once

#include "mosaic/drawn_mosaic.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/mosaic.hpp>
#include <warpalign/point_fit.hpp>
#include <warpalign/registrar.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace test {

/// A matrix, scaled so that its last element is 1, from its rows.
using Matrix = std::array<double, 9>;

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
    }
  }
  return c;
}

inline warpalign::Point mapped(const Matrix& m, const warpalign::Point& p) {
  const double w = m[6] * p.x + m[7] * p.y + m[8];
  return {(m[0] * p.x + m[1] * p.y + m[2]) / w, (m[3] * p.x + m[4] * p.y + m[5]) / w};
}

inline Matrix shift_by(double x, double y) { return {1, 0, x, 0, 1, y, 0, 0, 1}; }

/// How a mosaic of rotated tiles is drawn.
struct RotatedDrawing {
  int rows = 3;
  int columns = 3;
  warpalign::Shape tile{260, 240, 1};
  double overlap = 0.2;    ///< of a tile's side
  double noise = 2;        ///< standard deviation of the stage along x and y, in pixels
  double angle = 2;        ///< standard deviation of the tiles' angles, in degrees
  double scale = 0;        ///< standard deviation of the logarithm of the tiles' scales
  double perspective = 0;  ///< standard deviation of the change of the scale along a tile's half
  std::uint32_t seed = 1;
};

/// Tiles of a grid by rows, and their true matrices from pixels of a tile to the scene.
struct RotatedMosaic : DrawnTiles {
  explicit RotatedMosaic(const RotatedDrawing& drawing)
      : DrawnTiles(drawing.tile), scene(scene_of(drawing)) {
    std::mt19937 random(drawing.seed);
    std::normal_distribution<double> normal(0, 1);
    const auto width = static_cast<double>(shape.width);
    const auto height = static_cast<double>(shape.height);
    const double x = (1 - drawing.overlap) * width;
    const double y = (1 - drawing.overlap) * height;
    const warpalign::Point center{(width - 1) / 2, (height - 1) / 2};
    for (int i = 0; i < drawing.rows * drawing.columns; ++i) {
      const warpalign::Point nominal{x * (i % drawing.columns), y * (i / drawing.columns)};
      tiles.push_back({shape, nominal});
      const double angle = drawing.angle * normal(random) * std::numbers::pi / 180;
      const double scale = std::exp(drawing.scale * normal(random));
      const double cos = scale * std::cos(angle);
      const double sin = scale * std::sin(angle);
      const double tilt = 2 * drawing.perspective / width;
      const Matrix turn{cos, -sin, 0, sin, cos, 0, tilt * normal(random), tilt * normal(random), 1};
      const double dx = nominal.x + drawing.noise * normal(random);
      const double dy = nominal.y + drawing.noise * normal(random);
      truth.push_back(product(shift_by(dx + center.x, dy + center.y),
                              product(turn, shift_by(-center.x, -center.y))));
      pixels.push_back(draw(scene, truth.back()));
    }
  }

  [[nodiscard]] static SpotScene scene_of(const RotatedDrawing& drawing) {
    const auto extent = [&](std::int64_t side, int tiles) {
      return (1 - drawing.overlap) * static_cast<double>(side) * tiles + 60;
    };
    return {extent(drawing.tile.width, drawing.columns), extent(drawing.tile.height, drawing.rows),
            drawing.seed};
  }

  [[nodiscard]] std::vector<std::uint16_t> draw(const SpotScene& shown,
                                                const Matrix& matrix) const {
    const auto last_x = static_cast<double>(shape.width - 1);
    const auto last_y = static_cast<double>(shape.height - 1);
    const warpalign::Point position = mapped(matrix, {last_x / 2, last_y / 2});
    const auto place_of = [&](const warpalign::Point& p) {
      const warpalign::Point place = mapped(matrix, p);
      return warpalign::Point{place.x - position.x + last_x / 2, place.y - position.y + last_y / 2};
    };
    double most = 0;
    for (const warpalign::Point& p :
         {warpalign::Point{0, 0}, {last_x, 0}, {0, last_y}, {last_x, last_y}}) {
      const warpalign::Point place = place_of(p);
      most = std::max({most, std::abs(place.x - p.x), std::abs(place.y - p.y)});
    }
    return shown.draw(shape, {position.x - last_x / 2, position.y - last_y / 2}, place_of, most);
  }

  /// Makes two neighbours along x show another scene where they overlap, as if the second one was
  /// moved by so much.
  void contradict(std::size_t left, std::size_t right, const Matrix& move) {
    const SpotScene other(2000, 2000, 77);
    const std::vector<std::uint16_t> first = draw(other, truth[left]);
    const std::vector<std::uint16_t> second = draw(other, product(move, truth[right]));
    const double step = tiles[right].position.x - tiles[left].position.x;
    const auto common = static_cast<std::int64_t>(static_cast<double>(shape.width) - step) + 12;
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t k = 0; k < common; ++k) {
        const auto from = static_cast<std::size_t>(y * shape.width + shape.width - 1 - k);
        const auto to = static_cast<std::size_t>(y * shape.width + k);
        pixels[left][from] = first[from];
        pixels[right][to] = second[to];
      }
    }
  }

  SpotScene scene;
  std::vector<Matrix> truth;
};

/// How far located tiles are from the drawn ones, after the transform of the motion that brings all
/// corners of tiles with pairs as near as possible: no overlap tells how the scene as a whole lies.
struct RotatedErrors {
  std::vector<double> of_tiles;  ///< the largest distance of a corner, in pixels
  double rms = 0;                ///< of the corners of tiles with pairs
  double largest = 0;
  double angle = 0;  ///< the largest difference of two tiles' angles, in degrees
};

inline RotatedErrors rotated_errors(const warpalign::Mosaic& mosaic, const RotatedMosaic& drawn,
                                    warpalign::Motion motion) {
  using warpalign::Point;
  const auto right = static_cast<double>(drawn.shape.width - 1);
  const auto bottom = static_cast<double>(drawn.shape.height - 1);
  const std::array<Point, 4> corners{Point{0, 0}, {right, 0}, {0, bottom}, {right, bottom}};
  std::vector<double> from;
  std::vector<double> to;
  for (std::size_t i = 0; i < drawn.truth.size(); ++i) {
    if (mosaic.tiles[i].pairs == 0) continue;
    for (const Point& corner : corners) {
      const Point p = mosaic.tiles[i].matrix(corner);
      const Point q = mapped(drawn.truth[i], corner);
      from.insert(from.end(), {p.x, p.y});
      to.insert(to.end(), {q.x, q.y});
    }
  }
  const auto model = motion == warpalign::Motion::rigid        ? warpalign::PointModel::rigid
                     : motion == warpalign::Motion::similarity ? warpalign::PointModel::similarity
                                                               : warpalign::PointModel::homography;
  const warpalign::PointFit fit =
      warpalign::fit_points(2, from, to, {.model = model, .robust = false});
  RotatedErrors errors;
  double sum = 0;
  double least_angle = 360;
  double largest_angle = -360;
  for (std::size_t i = 0; i < drawn.truth.size(); ++i) {
    double largest = 0;
    std::vector<double> points;
    for (const Point& corner : corners) {
      const Point p = mosaic.tiles[i].matrix(corner);
      points.insert(points.end(), {p.x, p.y});
    }
    std::vector<double> placed(points.size());
    fit.transform.points(points, placed);
    for (std::size_t k = 0; k < 4; ++k) {
      const Point q = mapped(drawn.truth[i], corners[k]);
      const double off = std::hypot(placed[2 * k] - q.x, placed[2 * k + 1] - q.y);
      largest = std::max(largest, off);
      if (mosaic.tiles[i].pairs > 0) sum += off * off;
    }
    errors.of_tiles.push_back(largest);
    if (mosaic.tiles[i].pairs == 0) continue;
    errors.largest = std::max(errors.largest, largest);
    // Of the diagonal of the tile.
    const Point a = mapped(drawn.truth[i], corners[0]);
    const Point b = mapped(drawn.truth[i], corners[3]);
    const double turn = std::remainder(
        std::atan2(placed[7] - placed[1], placed[6] - placed[0]) - std::atan2(b.y - a.y, b.x - a.x),
        2 * std::numbers::pi);
    least_angle = std::min(least_angle, turn * 180 / std::numbers::pi);
    largest_angle = std::max(largest_angle, turn * 180 / std::numbers::pi);
  }
  errors.rms = std::sqrt(sum / (static_cast<double>(from.size()) / 2));
  errors.angle = largest_angle - least_angle;
  return errors;
}

}  // namespace test
