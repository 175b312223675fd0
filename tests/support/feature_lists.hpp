// Random lists of features, and how far single precision may move a match away from the oracle's.
#pragma once

#include "reference/features/feature_matches.hpp"

#include <warpalign/backend/stages/features/descriptors.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace test {

inline constexpr auto descriptor_values =
    static_cast<std::size_t>(warpalign::DescriptorsPlan::dimensions);

using Descriptor = std::vector<double>;

struct Features {
  std::vector<Descriptor> descriptors;
  std::vector<reference::FeaturePosition> places;
};

inline std::vector<float> rows_of(const std::vector<Descriptor>& descriptors) {
  std::vector<float> rows;
  for (const Descriptor& descriptor : descriptors) {
    for (const double value : descriptor) rows.push_back(static_cast<float>(value));
  }
  return rows;
}

inline std::vector<float> coordinates_of(const Features& features) {
  std::vector<float> coordinates;
  for (const reference::FeaturePosition& position : features.places) {
    coordinates.push_back(static_cast<float>(position.x));
    coordinates.push_back(static_cast<float>(position.y));
  }
  return coordinates;
}

/// Random descriptors that are the same on every machine.
class RandomDescriptors {
 public:
  explicit RandomDescriptors(std::uint32_t seed) : engine_(seed) {}
  double unit() { return static_cast<double>(engine_()) / 4294967296.0; }
  std::size_t below(std::size_t count) { return engine_() % count; }
  /// A descriptor of length 1 without negative values, most of which are small, as in real
  /// descriptors.
  Descriptor descriptor() {
    Descriptor values(descriptor_values);
    for (double& value : values) value = std::pow(unit(), 3);
    return normalized(values);
  }
  std::vector<Descriptor> descriptors(std::size_t count) {
    std::vector<Descriptor> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(descriptor());
    return result;
  }
  Descriptor near(const Descriptor& other, double noise) {
    Descriptor values = other;
    for (double& value : values) value = std::abs(value + noise * (unit() - 0.5));
    return normalized(values);
  }

 private:
  static Descriptor normalized(Descriptor values) {
    double square = 0;
    for (const double value : values) square += value * value;
    for (double& value : values) {
      value = static_cast<double>(static_cast<float>(value / std::sqrt(square)));
    }
    return values;
  }
  std::mt19937 engine_;
};

/// Some features resemble one of the reference's; some of these occur twice, at the same position
/// or at another one.
inline Features moving_features(RandomDescriptors& random, const std::vector<Descriptor>& reference,
                                std::size_t count) {
  Features moving;
  for (std::size_t i = 0; i < count; ++i) {
    const double kind = random.unit();
    const std::size_t other = random.below(i + 1);
    reference::FeaturePosition position{200 * random.unit(), 200 * random.unit()};
    if (kind < 0.3) {
      moving.descriptors.push_back(random.descriptor());
    } else if (kind < 0.6 || other == i) {
      moving.descriptors.push_back(
          random.near(reference[random.below(reference.size())], 0.03 + 0.1 * random.unit()));
    } else {
      moving.descriptors.push_back(random.near(moving.descriptors[other], 0.05));
      position = {moving.places[other].x + random.unit(), moving.places[other].y + random.unit()};
    }
    moving.places.push_back({static_cast<double>(static_cast<float>(position.x)),
                             static_cast<double>(static_cast<float>(position.y))});
  }
  return moving;
}

// Sums of 128 products are off by less than 1e-6, hence squared distances, of 0.02 and more, by
// 2e-6, and ratios of up to 1 by 1e-4.
inline constexpr double ratio_tolerance = 2e-4;
inline bool is_undecided(const reference::FeatureMatch& match) {
  return match.margin_of_product < 4e-6 || match.margin_of_ratio < ratio_tolerance;
}

}  // namespace test
