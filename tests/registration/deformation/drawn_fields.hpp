// Pairs with a known deformation: images that are sums of waves, so that the moving image is known
// at every point.
#pragma once

#include <warpalign/pixel.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace test {

using Coordinates3 = std::array<double, 3>;

/// A sum of waves of random directions and phases, whose lengths lie between two limits.
class Waves {
 public:
  Waves(int dimensions, std::size_t count, double shortest, double longest, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0, 1);
    for (std::size_t i = 0; i < count; ++i) {
      Wave wave;
      double length = 0;
      for (int a = 0; a < dimensions; ++a) {
        wave.number[static_cast<std::size_t>(a)] = normal(random);
        length = std::hypot(length, wave.number[static_cast<std::size_t>(a)]);
      }
      const double wavelength = shortest * std::pow(longest / shortest, uniform(random));
      for (double& k : wave.number) k *= 2 * std::numbers::pi / (wavelength * length);
      wave.phase = 2 * std::numbers::pi * uniform(random);
      waves_.push_back(wave);
    }
  }
  /// Of variance 1.
  [[nodiscard]] double operator()(const Coordinates3& p) const {
    double sum = 0;
    for (const Wave& wave : waves_) {
      sum += std::sin(wave.number[0] * p[0] + wave.number[1] * p[1] + wave.number[2] * p[2] +
                      wave.phase);
    }
    return sum * std::sqrt(2 / static_cast<double>(waves_.size()));
  }

 private:
  struct Wave {
    Coordinates3 number{};
    double phase = 0;
  };
  std::vector<Wave> waves_;
};

/// A smooth field of displacements up to about `largest` pixels, with waves of `shortest` pixels to
/// twice as many.
struct DrawnField {
  DrawnField(int dimensions, double largest, std::uint32_t seed, double shortest = 70)
      : dimensions_(dimensions), largest_(largest) {
    for (int a = 0; a < dimensions; ++a) {
      components_.emplace_back(dimensions, 5, shortest, 2 * shortest,
                               seed + static_cast<std::uint32_t>(a));
    }
  }
  [[nodiscard]] Coordinates3 operator()(const Coordinates3& p) const {
    Coordinates3 u{};
    for (std::size_t a = 0; a < components_.size(); ++a) {
      u[a] = components_[a](p) * largest_ / (2 * std::sqrt(dimensions_));
    }
    return u;
  }

 private:
  int dimensions_;
  double largest_;
  std::vector<Waves> components_;
};

struct DrawnPair {
  warpalign::Shape shape;
  std::vector<float> reference, moving;  ///< the reference at p is the moving image at p + u(p)
};

/// `noise`: the deviation of the noise of both images, whose own deviation is 1.
inline DrawnPair drawn_pair(const warpalign::Shape& shape, const DrawnField& field, double noise,
                            std::uint32_t seed) {
  const Waves image(shape.depth > 1 ? 3 : 2, 60, 6, 40, seed);
  std::mt19937 random(seed + 1);
  std::normal_distribution<double> normal;
  DrawnPair pair{shape, {}, {}};
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const Coordinates3 p{static_cast<double>(x), static_cast<double>(y),
                             static_cast<double>(z)};
        const Coordinates3 u = field(p);
        pair.reference.push_back(static_cast<float>(image({p[0] + u[0], p[1] + u[1], p[2] + u[2]}) +
                                                    noise * normal(random)));
        pair.moving.push_back(static_cast<float>(image(p) + noise * normal(random)));
      }
    }
  }
  return pair;
}

}  // namespace test
