// Orientation fields and the error of their sums, for the stage's test and its property.
#pragma once

#include "reference/filter/direction_sums.hpp"
#include "reference/plane.hpp"
#include "support/compare.hpp"
#include "support/random_images.hpp"

#include <warpalign/backend/stages/filter/direction_sums.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace test {

struct Directions {
  reference::Plane cosines, sines;
};

/// A random field: a quarter of the pixels have no orientation, others only a cosine or only a
/// sine.
inline Directions random_directions(const Size& size, std::uint32_t seed) {
  Directions field{random_plane(size.width, size.height, -0.5, 1, seed),
                   random_plane(size.width, size.height, -1, 0.75, seed + 1)};
  const auto kinds = random_integers(size.width, size.height, 7, seed + 2);
  for (std::size_t i = 0; i < kinds.values.size(); ++i) {
    const double kind = kinds.values[i];
    if (kind <= 2) field.cosines.values[i] = 0;
    if (kind <= 1 || kind == 3) field.sines.values[i] = 0;
  }
  return field;
}

/// The largest error divided by the tolerance. The number of pixels must be exact.
inline double direction_sums_error(const warpalign::DirectionSums& found, const Directions& field) {
  const auto expected = reference::direction_sums(field.cosines, field.sines);
  const auto sizes_of = [](const reference::Plane& plane) {
    double sum = 0;
    for (const double value : plane.values) sum += std::abs(value);
    return sum;
  };
  // Each squared pixel is rounded twice, by a relative 2^-24. In images of up to 10^5 pixels a
  // number takes part in at most 80 float additions. Their roundings, in thousands of independent
  // sums, cancel to less than that.
  constexpr double part = 2e-7;
  WorstError worst;
  const auto sum = [&](double got, double wanted, double size) {
    worst.add(std::abs(got - wanted) / (part * size + 1e-30));
  };
  sum(found.cosines, expected.cosines, sizes_of(field.cosines));
  sum(found.sines, expected.sines, sizes_of(field.sines));
  sum(found.squares, expected.squares, expected.squares);
  if (found.pixels != expected.pixels) worst.add(1e9);
  return worst.value();
}

}  // namespace test
