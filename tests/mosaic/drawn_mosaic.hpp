// Mosaics drawn from a formula: the true positions of the tiles are known.
#pragma once

#include "mosaic/position_errors.hpp"

#include <warpalign/mosaic.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace test {

/// A scene of Gaussian spots at random places, with known values between its pixels.
class SpotScene {
 public:
  /// Covers [-margin, width + margin) and the same of the height.
  SpotScene(double width, double height, std::uint32_t seed) {
    constexpr double margin = 60;
    constexpr double area_of_a_spot = 40;
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> x(-margin, width + margin);
    std::uniform_real_distribution<double> y(-margin, height + margin);
    std::uniform_real_distribution<double> size(1.6, 3.5);
    std::uniform_real_distribution<double> height_of(0.2, 1);
    const auto count =
        static_cast<int>((width + 2 * margin) * (height + 2 * margin) / area_of_a_spot);
    for (int i = 0; i < count; ++i)
      spots_.push_back({x(random), y(random), size(random), height_of(random)});
  }

  /// A tile whose pixel p shows the scene at position + p + distortion.displacement(p), as u16.
  [[nodiscard]] std::vector<std::uint16_t> draw(
      const warpalign::Shape& shape, const warpalign::Point& position,
      const warpalign::TileDistortion& distortion = {}) const {
    constexpr double max_displacement = 12;
    const auto place_of = [&](const warpalign::Point& p) {
      const warpalign::Point d = distortion.displacement(p);
      return warpalign::Point{p.x + d.x, p.y + d.y};
    };
    return draw(shape, position, place_of, distortion.is_zero() ? 0 : max_displacement);
  }

  /// A tile whose pixel p shows the scene at position + place_of(p), which is at most
  /// `max_displacement` pixels from position + p along each axis, as u16.
  template <class Place>
  [[nodiscard]] std::vector<std::uint16_t> draw(const warpalign::Shape& shape,
                                                const warpalign::Point& position,
                                                const Place& place_of,
                                                double max_displacement) const {
    std::vector<double> sums(static_cast<std::size_t>(shape.pixels()), 0);
    for (const Spot& spot : spots_) {
      const double reach = 5 * spot.size + max_displacement;
      const double cx = spot.x - position.x;
      const double cy = spot.y - position.y;
      const auto begin = [&](double c) { return std::max(0.0, std::ceil(c - reach)); };
      for (double y = begin(cy); y <= std::min(cy + reach, static_cast<double>(shape.height) - 1);
           ++y) {
        for (double x = begin(cx); x <= std::min(cx + reach, static_cast<double>(shape.width) - 1);
             ++x) {
          const warpalign::Point place = place_of({x, y});
          const double r2 = std::pow(place.x - cx, 2) + std::pow(place.y - cy, 2);
          sums[static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) +
               static_cast<std::size_t>(x)] +=
              spot.height * std::exp(-r2 / (2 * spot.size * spot.size));
        }
      }
    }
    std::vector<std::uint16_t> pixels;
    for (const double sum : sums) {
      pixels.push_back(static_cast<std::uint16_t>(std::min(2000 + 12000 * sum, 65535.0)));
    }
    return pixels;
  }

 private:
  struct Spot {
    double x, y, size, height;
  };
  std::vector<Spot> spots_;
};

/// Tiles of one shape that were drawn into memory.
struct DrawnTiles {
  explicit DrawnTiles(const warpalign::Shape& tile) : shape(tile) {}

  [[nodiscard]] warpalign::TilePixels view(std::size_t i) const {
    return {{pixels[i].data(), warpalign::PixelType::u16, shape.width, shape.height, 0}, {}};
  }
  [[nodiscard]] warpalign::TileSource source() const {
    return [this](std::size_t i) { return view(i); };
  }
  /// Replaces a tile by noise without structure.
  void empty(std::size_t i) {
    std::mt19937 random(static_cast<std::uint32_t>(1000 + i));
    std::normal_distribution<double> normal(2000, 100);
    for (std::uint16_t& pixel : pixels[i])
      pixel = static_cast<std::uint16_t>(std::max(0.0, normal(random)));
  }

  warpalign::Shape shape;
  std::vector<warpalign::MosaicTile> tiles;
  std::vector<std::vector<std::uint16_t>> pixels;
};

/// How a mosaic is drawn.
struct MosaicDrawing {
  int rows = 3;
  int columns = 4;
  warpalign::Shape tile{160, 144, 1};
  double overlap = 0.2;  ///< of a tile's side
  double noise = 2;      ///< standard deviation of the stage along x and y, in pixels
  double backlash = 0;   ///< along x
  std::uint32_t seed = 1;
  warpalign::TileDistortion distortion{};
};

/// The tiles of a snake by rows, their nominal and their true positions.
struct DrawnMosaic : DrawnTiles {
  explicit DrawnMosaic(const MosaicDrawing& drawing) : DrawnTiles(drawing.tile) {
    std::mt19937 random(drawing.seed);
    std::normal_distribution<double> normal(0, drawing.noise);
    const double x = (1 - drawing.overlap) * static_cast<double>(shape.width);
    const double y = (1 - drawing.overlap) * static_cast<double>(shape.height);
    const SpotScene scene(x * drawing.columns + 60, y * drawing.rows + 60, drawing.seed);
    for (int i = 0; i < drawing.rows * drawing.columns; ++i) {
      const int row = i / drawing.columns;
      const int along = i % drawing.columns;
      const bool back = row % 2 == 1;
      const int column = back ? drawing.columns - 1 - along : along;
      const warpalign::Point nominal{x * column, y * row};
      const warpalign::Point stage{nominal.x + (back ? -0.5 : 0.5) * drawing.backlash, nominal.y};
      tiles.push_back({shape, nominal});
      truth.push_back({stage.x + normal(random), stage.y + normal(random)});
      pixels.push_back(scene.draw(shape, truth.back(), drawing.distortion));
    }
  }

  std::vector<warpalign::Point> truth;
};

}  // namespace test
