// Mosaics of volumes drawn from a formula: the true positions of the tiles are known.
#pragma once

#include "mosaic/position_errors.hpp"

#include <warpalign/volume_mosaic.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace test {

/// A scene of Gaussian spots at random places in space, with known values between its voxels.
class VolumeScene {
 public:
  VolumeScene() = default;
  /// Covers [-margin, side + margin) along each axis.
  VolumeScene(const warpalign::Point3& sides, std::uint32_t seed) {
    constexpr double margin = 15;
    constexpr double volume_of_a_spot = 250;
    std::mt19937 random(seed);
    const std::array<double, 3> ends{sides.x + margin, sides.y + margin, sides.z + margin};
    std::uniform_real_distribution<double> part(0, 1);
    double volume = 1;
    for (const double end : ends) volume *= end + margin;
    const auto count = static_cast<int>(volume / volume_of_a_spot);
    for (int i = 0; i < count; ++i) {
      Spot spot{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        spot.at[axis] = -margin + part(random) * (ends[axis] + margin);
      }
      spot.size = 1.6 + 1.4 * part(random);
      spot.height = 0.2 + 0.8 * part(random);
      spots_.push_back(spot);
    }
  }

  /// The same, of equal spots at the points of a lattice, each moved by so many voxels at random.
  static VolumeScene lattice(const warpalign::Point3& sides, const warpalign::Point3& period,
                             double jitter, std::uint32_t seed) {
    constexpr double margin = 15;
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 1);
    VolumeScene scene;
    for (double z = -margin; z < sides.z + margin; z += period.z) {
      for (double y = -margin; y < sides.y + margin; y += period.y) {
        for (double x = -margin; x < sides.x + margin; x += period.x) {
          scene.spots_.push_back({{x + jitter * normal(random), y + jitter * normal(random),
                                   z + jitter * normal(random)},
                                  1.8,
                                  0.7});
        }
      }
    }
    return scene;
  }

  /// A tile whose voxel p shows the scene at position + p, as u16.
  [[nodiscard]] std::vector<std::uint16_t> draw(const warpalign::Shape& shape,
                                                const warpalign::Point3& position) const {
    const std::array<double, 3> first{position.x, position.y, position.z};
    const std::array<std::int64_t, 3> sides{shape.width, shape.height, shape.depth};
    std::vector<float> sums(static_cast<std::size_t>(shape.pixels()), 0);
    for (const Spot& spot : spots_) {
      // Gaussians are products of those along each axis.
      std::array<std::vector<float>, 3> along;
      std::array<std::int64_t, 3> begin{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double center = spot.at[axis] - first[axis];
        const double reach = 5 * spot.size;
        begin[axis] = std::max<std::int64_t>(0, std::llround(std::ceil(center - reach)));
        const auto end =
            std::min<std::int64_t>(sides[axis], std::llround(std::ceil(center + reach)));
        for (std::int64_t k = begin[axis]; k < end; ++k) {
          const double off = (static_cast<double>(k) - center) / spot.size;
          along[axis].push_back(static_cast<float>(std::exp(-off * off / 2)));
        }
      }
      for (std::size_t z = 0; z < along[2].size(); ++z) {
        for (std::size_t y = 0; y < along[1].size(); ++y) {
          const float factor = static_cast<float>(spot.height) * along[2][z] * along[1][y];
          const std::int64_t row = (begin[2] + static_cast<std::int64_t>(z)) * shape.height +
                                   begin[1] + static_cast<std::int64_t>(y);
          float* to = sums.data() + row * shape.width + begin[0];
          for (const float x : along[0]) *to++ += factor * x;
        }
      }
    }
    std::vector<std::uint16_t> voxels;
    voxels.reserve(sums.size());
    for (const float sum : sums) {
      voxels.push_back(static_cast<std::uint16_t>(std::min(2000 + 12000 * sum + 0.5F, 60000.0F)));
    }
    return voxels;
  }

 private:
  struct Spot {
    std::array<double, 3> at;
    double size, height;
  };
  std::vector<Spot> spots_;
};

/// How a mosaic of volumes is drawn.
struct VolumeDrawing {
  int layers = 2;
  int rows = 2;
  int columns = 3;
  warpalign::Shape tile{96, 96, 24};
  warpalign::Point3 overlap{0.2, 0.2, 0.3};  ///< of a tile's sides
  warpalign::Point3 noise{2.5, 2.5, 0.8};    ///< standard deviations of the stage, in voxels
  double camera_noise = 150;  ///< standard deviation, where spots are up to 12000 high
  std::uint32_t seed = 1;
  warpalign::Point3 period{};  ///< 0: spots at random places; else those of a lattice
  double jitter = 0;           ///< standard deviation of the lattice's spots, in voxels
};

/// The tiles by layers, each by rows, their nominal and their true positions.
struct DrawnVolumes {
  explicit DrawnVolumes(const VolumeDrawing& drawing) : shape(drawing.tile), seed(drawing.seed) {
    std::mt19937 random(drawing.seed);
    std::normal_distribution<double> normal(0, 1);
    const warpalign::Point3 steps{(1 - drawing.overlap.x) * static_cast<double>(shape.width),
                                  (1 - drawing.overlap.y) * static_cast<double>(shape.height),
                                  (1 - drawing.overlap.z) * static_cast<double>(shape.depth)};
    sides = {steps.x * drawing.columns + 40, steps.y * drawing.rows + 40,
             steps.z * drawing.layers + 20};
    const VolumeScene scene =
        drawing.period.x > 0
            ? VolumeScene::lattice(sides, drawing.period, drawing.jitter, drawing.seed)
            : VolumeScene(sides, drawing.seed);
    for (int i = 0; i < drawing.layers * drawing.rows * drawing.columns; ++i) {
      const warpalign::Point3 nominal{steps.x * (i % drawing.columns),
                                      steps.y * (i / drawing.columns % drawing.rows),
                                      steps.z * (i / drawing.columns / drawing.rows)};
      tiles.push_back({shape, nominal});
      truth.push_back({nominal.x + drawing.noise.x * normal(random),
                       nominal.y + drawing.noise.y * normal(random),
                       nominal.z + drawing.noise.z * normal(random)});
      voxels.push_back(scene.draw(shape, truth.back()));
      for (std::uint16_t& voxel : voxels.back()) {
        voxel = static_cast<std::uint16_t>(voxel + drawing.camera_noise * normal(random));
      }
    }
  }

  [[nodiscard]] warpalign::TileVoxels view(std::size_t i) const {
    return {{voxels[i].data(), warpalign::PixelType::u16, shape}, {}};
  }
  [[nodiscard]] warpalign::VolumeTileSource source() const {
    return [this](std::size_t i) { return view(i); };
  }
  /// Replaces a tile by noise without structure.
  void empty(std::size_t i) {
    std::mt19937 random(static_cast<std::uint32_t>(1000 + i));
    std::normal_distribution<double> normal(2000, 100);
    for (std::uint16_t& voxel : voxels[i]) {
      voxel = static_cast<std::uint16_t>(std::max(0.0, normal(random)));
    }
  }

  warpalign::Shape shape;
  std::uint32_t seed;
  warpalign::Point3 sides;  ///< of the scene
  std::vector<warpalign::VolumeMosaicTile> tiles;
  std::vector<warpalign::Point3> truth;
  std::vector<std::vector<std::uint16_t>> voxels;
};

}  // namespace test
