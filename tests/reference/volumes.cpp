// The oracle of the stages that register volumes.
#include "reference/volumes.hpp"

#include <cmath>
#include <numbers>

namespace reference {

namespace {

double nyquist_units(std::int64_t k, std::int64_t n) {
  const std::int64_t signed_k = k <= n / 2 ? k : k - n;
  return 2.0 * static_cast<double>(signed_k) / static_cast<double>(n);
}

double tukey(std::int64_t i, std::int64_t n, double taper) {
  const double ramp = taper * static_cast<double>(n);
  const double before = static_cast<double>(i) + 0.5;
  const double after = static_cast<double>(n - 1 - i) + 0.5;
  double weight = 1;
  if (before < ramp) weight *= (1 - std::cos(std::numbers::pi * before / ramp)) / 2;
  if (after < ramp) weight *= (1 - std::cos(std::numbers::pi * after / ramp)) / 2;
  return weight;
}

template <class Visit>
void for_each_voxel(const std::array<std::int64_t, 3>& extents, Visit&& visit) {
  for (std::int64_t z = 0; z < extents[2]; ++z) {
    for (std::int64_t y = 0; y < extents[1]; ++y) {
      for (std::int64_t x = 0; x < extents[0]; ++x) visit(x, y, z);
    }
  }
}

void add(OverlapMoments& sums, double r, double m) {
  sums.voxels += 1;
  sums.reference += r;
  sums.moving += m;
  sums.reference_square += r * r;
  sums.moving_square += m * m;
  sums.product += r * m;
}

}  // namespace

ComplexVolume cross_power(const ComplexVolume& a, const ComplexVolume& b, std::int64_t width,
                          double sigma) {
  ComplexVolume result(a.width, a.height, a.depth);
  for_each_voxel(a.extents(), [&](std::int64_t u, std::int64_t v, std::int64_t w) {
    const std::complex<double> product = a.at(u, v, w) * std::conj(b.at(u, v, w));
    if (product == std::complex<double>{}) return;
    const double rho2 = std::pow(nyquist_units(u, width), 2) +
                        std::pow(nyquist_units(v, a.height), 2) +
                        std::pow(nyquist_units(w, a.depth), 2);
    const double weight = sigma > 0 ? std::exp(-rho2 / (2 * sigma * sigma)) : 1;
    result.at(u, v, w) = weight * product / std::abs(product);
  });
  return result;
}

Volume placed(const Volume& volume, const std::array<std::int64_t, 3>& canvas, double offset,
              double scale, double taper) {
  Volume result(canvas[0], canvas[1], canvas[2]);
  for_each_voxel(volume.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    result.at(x, y, z) = (volume.at(x, y, z) - offset) * scale * tukey(x, volume.width, taper) *
                         tukey(y, volume.height, taper) * tukey(z, volume.depth, taper);
  });
  return result;
}

OverlapMoments overlap_moments(const Volume& reference, const Volume& moving, const Shift3& shift) {
  OverlapMoments sums;
  for_each_voxel(reference.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Shift3 q{x + shift[0], y + shift[1], z + shift[2]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (q[axis] < 0 || q[axis] >= moving.extents()[axis]) return;
    }
    add(sums, reference.at(x, y, z), moving.at(q[0], q[1], q[2]));
  });
  return sums;
}

StepSums step_sums(const Volume& reference, const Volume& moving,
                   const std::array<double, 3>& shift, std::int64_t margin) {
  const Spline spline = unfiltered(moving, 3, 3, Edge::mirror);
  StepSums sums;
  for_each_voxel(reference.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Shift3 p{x, y, z};
    std::array<double, 3> q{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (p[axis] < margin || p[axis] >= reference.extents()[axis] - margin) return;
      q[axis] = static_cast<double>(p[axis]) + shift[axis];
      const auto cell = static_cast<std::int64_t>(std::floor(q[axis]));
      if (cell < 1 || cell + 2 >= moving.extents()[axis]) return;
    }
    const auto m = evaluate(spline, q);
    const double r = reference.at(x, y, z);
    const std::array<double, 3> a{(reference.at(x + 1, y, z) - reference.at(x - 1, y, z)) / 2,
                                  (reference.at(x, y + 1, z) - reference.at(x, y - 1, z)) / 2,
                                  (reference.at(x, y, z + 1) - reference.at(x, y, z - 1)) / 2};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) sums.slopes[3 * i + j] += a[i] * m.gradient[j];
      sums.slope_reference[i] += a[i] * r;
      sums.slope_moving[i] += a[i] * m.value;
      sums.slope[i] += a[i];
      sums.squares += a[i] * a[i] + m.gradient[i] * m.gradient[i];
    }
    add(sums, r, m.value);
  });
  return sums;
}

PowerSums power_sums(const ComplexVolume& a, const ComplexVolume& b, std::int64_t width) {
  PowerSums sums;
  const double n = static_cast<double>(width * a.height * a.depth);
  for_each_voxel({width, a.height, a.depth}, [&](std::int64_t u, std::int64_t v, std::int64_t w) {
    if (u == 0 && v == 0 && w == 0) return;
    const bool mirrored = u > width / 2;  // F(-k) is the conjugate of F(k)
    const auto at = [&](const ComplexVolume& half) {
      return mirrored ? half.at(width - u, (a.height - v) % a.height, (a.depth - w) % a.depth)
                      : half.at(u, v, w);
    };
    const double power_a = std::norm(at(a)) / n;
    const double power_b = std::norm(at(b)) / n;
    sums.a += power_a;
    sums.b += power_b;
    sums.product += power_a * power_b;
  });
  return sums;
}

}  // namespace reference
