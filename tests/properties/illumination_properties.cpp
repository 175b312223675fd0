// Local gain and offset of registered images against the oracle.
#include "properties/matrices.hpp"
#include "properties/trial.hpp"
#include "reference/refinement/illumination.hpp"
#include "reference/refinement/similarity_sums.hpp"
#include "support/compare.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

/// The arrays of a pair, and the parameters of the comparison.
struct IlluminationCase {
  IlluminationSpec spec;
  Homography matrix;
  IlluminationPrior prior;
  reference::Plane reference, coefficients, reference_weight, moving_weight;

  [[nodiscard]] reference::ComparedPair pair() const {
    reference::ComparedPair pair{reference, coefficients};
    const auto& h = matrix.h;
    pair.m = {h[0], h[1], h[2], h[3], h[4], h[5]};
    pair.w = {h[6], h[7], h[8]};
    pair.reference_margin = spec.reference_margin;
    pair.moving_margin = spec.moving_margin;
    if (spec.masked) pair.reference_weight = &reference_weight;
    if (spec.masked) pair.moving_weight = &moving_weight;
    return pair;
  }
};

IlluminationSpec some_spec(Random& random) {
  IlluminationSpec spec;
  const std::vector<Shape> shapes{{4, 4, 1}, {33, 41, 1}, {50, 27, 1}, {70, 33, 1}};
  spec.reference = random.one_of(shapes);
  spec.moving = random.one_of(shapes);
  spec.reference_margin = random.one_of<int>({0, 0, 3});
  spec.moving_margin = random.one_of<int>({1, 1, 4});
  spec.masked = random.chance(0.5);
  spec.cell = random.one_of<int>({2, 5, 8, 13, 64});
  spec.sigma = std::min(spec.cell * random.real(0.3, 4), 30.0);
  spec.projective = random.chance(0.5);
  return spec;
}

/// 1, except for patches below the weight that counts.
reference::Plane some_weight(Random& random, const Shape& shape) {
  const std::int64_t side = random.integer(1, 12);
  const auto drawn = test::random_plane(shape.width, shape.height, 0, 1, random.seed());
  reference::Plane weight(shape.width, shape.height);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double patch = drawn.at(x - x % side, y - y % side);
      weight.at(x, y) = patch < 0.3 ? 3 * patch : 1;
    }
  }
  return weight;
}

IlluminationCase some_case(Random& random) {
  IlluminationCase c;
  c.spec = some_spec(random);
  const Shape& r = c.spec.reference;
  const Shape& m = c.spec.moving;
  c.matrix = some_matrix(random, r, m, c.spec.projective);
  // The means of uniform values from 0 to 1, to within about a tenth.
  c.prior = {random.real(0.5, 1.5), random.real(0.4, 0.6), random.real(0.4, 0.6),
             random.real(0.02, 0.1)};
  c.reference = test::random_plane(r.width, r.height, 0, 1, random.seed());
  c.coefficients = test::random_plane(m.width, m.height, 0, 1, random.seed());
  c.reference_weight = some_weight(random, r);
  c.moving_weight = some_weight(random, m);
  return c;
}

reference::Spectrum field_of(const Device& device, const IlluminationCase& c) {
  Stream stream = device.make_stream();
  const Image reference = test::to_device(device, stream, c.reference);
  const Image coefficients = test::to_device(device, stream, c.coefficients);
  const Image reference_weight = test::to_device(device, stream, c.reference_weight);
  const Image moving_weight = test::to_device(device, stream, c.moving_weight);
  SimilarityImages images{reference, coefficients};
  if (c.spec.masked) images.reference_weight = &reference_weight;
  if (c.spec.masked) images.moving_weight = &moving_weight;
  Image field = device.make_image(PixelType::c32,
                                  IlluminationPlan::field_shape(c.spec.reference, c.spec.cell));
  test::poison(stream, field);
  IlluminationPlan(device, c.spec).execute(stream, images, c.matrix, c.prior, field);
  return test::spectrum_from_device(stream, field);
}

/// The distance of each cell, in cells, from the nearest one with a pixel that counts; a large
/// number if there is none.
reference::Plane distances(const reference::ComparedPair& pair, std::int64_t cell,
                           std::int64_t width, std::int64_t height) {
  reference::Plane nearest(width, height);
  nearest.values.assign(nearest.values.size(), 1e3);
  for (std::int64_t y = 0; y < pair.reference.height; ++y) {
    for (std::int64_t x = 0; x < pair.reference.width; ++x) {
      double& there = nearest.at(x / cell, y / cell);
      if (there == 0 || !reference::counted(pair, x, y)) continue;
      for (std::int64_t v = 0; v < height; ++v) {
        for (std::int64_t u = 0; u < width; ++u) {
          const auto far = std::max(std::abs(u - x / cell), std::abs(v - y / cell));
          nearest.at(u, v) = std::min(nearest.at(u, v), static_cast<double>(far));
        }
      }
    }
  }
  return nearest;
}

/// As in tests/stages/refinement/test_illumination.cpp, moments are right to 3e-7 and are divided
/// by at least 0.02. Cells without a pixel that counts are extrapolated from planes: the variance
/// of distances d, at least 1/12, is a difference of squares that are rounded by a relative 2^-22,
/// and slopes of up to 1 per cell, with as large a relative error, are multiplied by d. Pixels
/// beyond `reach` cells have no weight, and the result is the prior.
double field_error(const reference::Spectrum& found, const reference::Spectrum& expected,
                   const reference::Plane& distance, double reach) {
  if (found.values.size() != expected.values.size()) return 1e9;
  test::WorstError worst;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double d = distance.values[i] <= reach ? distance.values[i] : 0;
    const double allowed = 2e-5 + 12 * 0x1p-22 * d * d * d;
    worst.add(std::abs(found.values[i] - expected.values[i]) / allowed);
  }
  return worst.value();
}

void check_illumination(Trial& trial) {
  const IlluminationCase c = some_case(trial.random);
  trial.describe(c.spec.reference, " and ", c.spec.moving, ", margins ", c.spec.reference_margin,
                 " and ", c.spec.moving_margin, ", cell ", c.spec.cell, ", sigma ", c.spec.sigma,
                 c.spec.masked ? ", masked" : "", c.spec.projective ? ", homography" : "");
  const auto pair = c.pair();
  // Rounding decides which pixels count.
  if (reference::similarity_sums(pair, {}, 0).ambiguous > 0) return;
  const auto expected =
      reference::illumination(pair, c.spec.cell, c.spec.sigma,
                              {c.prior.gain, c.prior.reference, c.prior.moving, c.prior.strength});
  const auto distance = distances(pair, c.spec.cell, expected.width, expected.height);
  const double reach = std::ceil(3 * c.spec.sigma / c.spec.cell);
  trial.on_every_device([&](const Device& device) {
    return field_error(field_of(device, c), expected, distance, reach);
  });
}

}  // namespace

std::vector<Property> illumination_properties() {
  return {{"illumination", "as the oracle has it", &check_illumination}};
}

}  // namespace properties
