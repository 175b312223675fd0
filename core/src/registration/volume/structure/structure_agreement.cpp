// Accepts two aligned volumes of any contrast whose gradients agree within their outlines.
#include "registration/volume/structure/structure_agreement.hpp"

#include "registration/deformation/judgement/outline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

constexpr double gradient_sigma = 1;   // voxels
constexpr double outline_sigma = 2;    // voxels, of the distance whose gradient is the normal
constexpr float min_distance = 2.7F;   // voxels from the outline
constexpr double min_compared = 1000;  // voxels; fewer say nothing

// What unrelated volumes reach on average, and how far the confidence of one half lies above it:
// docs/accuracy-volumes.md, "Other subjects". Chance deviates more among fewer voxels.
constexpr double chance_within = 1.0 / 3, chance_along = 0.5;
constexpr double margin_within = 0.08, margin_along = 0.09;
constexpr double deviations = 8;  // the margin in units of 1 / sqrt(voxels)
constexpr double unit = 0.008;    // changes the odds by a factor of e

using Gradients = std::array<std::vector<float>, 3>;

Gradients gradients_of(const std::vector<float>& values, const Shape& shape) {
  Gradients result;
  const std::array<std::int64_t, 3> sides{shape.width, shape.height, shape.depth};
  std::int64_t stride = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    result[a].resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const std::int64_t along = at / stride % sides[a];
      const std::int64_t before = along > 0 ? at - stride : at;
      const std::int64_t after = along + 1 < sides[a] ? at + stride : at;
      result[a][i] =
          (values[static_cast<std::size_t>(after)] - values[static_cast<std::size_t>(before)]) / 2;
    }
    stride *= sides[a];
  }
  return result;
}

/// Smooths what lies within a mask, by voxels within it alone.
std::vector<float> smoothed_within(const std::vector<float>& values, const std::vector<bool>& mask,
                                   const Shape& shape) {
  std::vector<float> inside(values.size()), weights(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    weights[i] = mask[i] ? 1.0F : 0.0F;
    inside[i] = mask[i] ? values[i] : 0.0F;
  }
  inside = gaussian_smoothed(inside, shape, gradient_sigma);
  weights = gaussian_smoothed(weights, shape, gradient_sigma);
  for (std::size_t i = 0; i < values.size(); ++i) inside[i] /= std::max(weights[i], 1e-3F);
  return inside;
}

/// Subtracts the mean intensity at each distance from the outline of `object`, within it.
std::vector<float> without_profile(const std::vector<float>& values,
                                   const std::vector<bool>& object,
                                   const std::vector<bool>& compared, const Shape& shape) {
  const std::vector<float> distance = distances_from(object, true, shape);
  std::array<double, farthest_from_outline + 1> sums{}, counts{};
  const auto bin = [&](std::size_t i) {
    return static_cast<std::size_t>(std::lround(distance[i]));
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!compared[i]) continue;
    sums[bin(i)] += static_cast<double>(values[i]);
    counts[bin(i)] += 1;
  }
  std::vector<float> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!compared[i]) continue;
    result[i] = values[i] - static_cast<float>(sums[bin(i)] / counts[bin(i)]);
  }
  return result;
}

/// Divides gradients by their length, where it exceeds the median length of those compared.
void normalize(Gradients& gradients, const std::vector<std::size_t>& compared) {
  const auto square = [&](std::size_t i) {
    return gradients[0][i] * gradients[0][i] + gradients[1][i] * gradients[1][i] +
           gradients[2][i] * gradients[2][i];
  };
  std::vector<float> squares;
  squares.reserve(compared.size());
  for (const std::size_t i : compared) squares.push_back(square(i));
  const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
  std::nth_element(squares.begin(), middle, squares.end());
  const float usual = std::max(*middle, 1e-20F);
  for (const std::size_t i : compared) {
    const float length = std::sqrt(square(i) + usual);
    for (std::vector<float>& along : gradients) along[i] /= length;
  }
}

void remove_along(Gradients& gradients, const Gradients& normals) {
  for (std::size_t i = 0; i < normals[0].size(); ++i) {
    float length = 1e-12F, product = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      length += normals[a][i] * normals[a][i];
      product += normals[a][i] * gradients[a][i];
    }
    for (std::size_t a = 0; a < 3; ++a) gradients[a][i] -= product / length * normals[a][i];
  }
}

struct Cosines {
  double squared = 0, signed_mean = 0;
};

Cosines cosines_of(Gradients a, Gradients b, const std::vector<std::size_t>& compared) {
  normalize(a, compared);
  normalize(b, compared);
  double squares = 0, weights = 0, products = 0, lengths = 0;
  for (const std::size_t i : compared) {
    double aa = 0, bb = 0, ab = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto p = static_cast<double>(a[k][i]), q = static_cast<double>(b[k][i]);
      aa += p * p;
      bb += q * q;
      ab += p * q;
    }
    squares += ab * ab;
    weights += aa * bb;
    products += ab;
    lengths += std::sqrt(aa * bb);
  }
  return {weights > 0 ? squares / weights : 0, lengths > 0 ? products / lengths : 0};
}

double logistic(double value, double half) { return 1 / (1 + std::exp((half - value) / unit)); }

}  // namespace

StructureAgreement structure_agreement(const std::vector<float>& reference,
                                       const std::vector<float>& warped, const Shape& shape) {
  StructureAgreement result;
  const std::vector<bool> a = foreground(reference, shape);
  const std::vector<bool> b = foreground(warped, shape);
  std::vector<bool> common(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) common[i] = a[i] && b[i];
  const std::vector<float> distance = distances_from(common, true, shape);
  std::vector<std::size_t> compared;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (distance[i] > min_distance) compared.push_back(i);
  }
  result.voxels = static_cast<double>(compared.size());
  if (result.voxels < min_compared) return result;
  const auto profiled = [&](const std::vector<float>& values, const std::vector<bool>& object) {
    return gradients_of(
        smoothed_within(without_profile(values, object, common, shape), common, shape), shape);
  };
  const Gradients from = profiled(reference, a);
  const Gradients to = profiled(warped, b);
  result.within = cosines_of(from, to, compared).squared;
  const Gradients normals = gradients_of(gaussian_smoothed(distance, shape, outline_sigma), shape);
  Gradients from_along = from, to_along = to;
  remove_along(from_along, normals);
  remove_along(to_along, normals);
  const Cosines along = cosines_of(from_along, to_along, compared);
  result.along = along.squared;
  result.direction = along.signed_mean;
  return result;
}

double structure_confidence(const StructureAgreement& agreement) {
  if (agreement.voxels < min_compared) return 0;
  const double chance = deviations / std::sqrt(agreement.voxels);
  return std::min(logistic(agreement.within, chance_within + std::max(margin_within, chance)),
                  logistic(agreement.along, chance_along + std::max(margin_along, chance)));
}

}  // namespace warpalign::detail
