// Registration of volumes of two "subjects": the same drawn anatomy, bent by a smooth field, with
// other proportions and fine structure of its own, in the same or another contrast.
#include "support/devices.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/volume_registrar.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using warpalign::Modality;
using warpalign::Motion;
using warpalign::Shape;
using warpalign::VolumeRegistration;
using warpalign::VolumeRegistrationOptions;

constexpr Shape subject_shape{56, 64, 52};

struct Subject {
  std::uint32_t anatomy = 1;  ///< which structures it has
  std::uint32_t own = 1;      ///< its bending and fine structure
  bool inverted = false;
  bool bent = true;
  std::array<double, 3> size{1, 1, 1};
  std::array<double, 3> shift{0, 0, 0};  ///< voxels
};

struct Blob {
  std::array<double, 3> centre;
  double sigma, height;
};

std::vector<Blob> draw_structures(std::uint32_t seed, int count, double least_sigma) {
  std::mt19937 engine(seed);
  const auto unit = [&] { return static_cast<double>(engine()) / 2147483648.0 - 1; };
  std::vector<Blob> blobs;
  for (int i = 0; i < count; ++i) {
    blobs.push_back({{19 * unit(), 23 * unit(), 18 * unit()},
                     least_sigma * (1.25 + 0.25 * unit()),
                     unit() > 0 ? 0.35 : -0.35});
  }
  return blobs;
}

double sum_at(const std::vector<Blob>& blobs, const std::array<double, 3>& p) {
  double sum = 0;
  for (const Blob& blob : blobs) {
    double square = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      square += (p[a] - blob.centre[a]) * (p[a] - blob.centre[a]);
    }
    sum += blob.height * std::exp(-square / (2 * blob.sigma * blob.sigma));
  }
  return sum;
}

/// Within an ellipsoid with a soft edge, structures of one sign or the other; 0 outside.
std::vector<float> draw_subject(const Subject& subject) {
  const std::vector<Blob> structures = draw_structures(subject.anatomy, 120, 3.5);
  const std::vector<Blob> fine = draw_structures(1000 + subject.own, 150, 1.6);
  std::vector<float> values;
  const double phase = subject.own;
  for (std::int64_t z = 0; z < subject_shape.depth; ++z) {
    for (std::int64_t y = 0; y < subject_shape.height; ++y) {
      for (std::int64_t x = 0; x < subject_shape.width; ++x) {
        const std::array<double, 3> voxel{static_cast<double>(x) - 27.5,
                                          static_cast<double>(y) - 31.5,
                                          static_cast<double>(z) - 25.5};
        std::array<double, 3> p{};
        for (std::size_t a = 0; a < 3; ++a) {
          const double bend =
              subject.bent
                  ? 1.2 * std::sin(voxel[(a + 1) % 3] / 8 + phase + 2 * static_cast<double>(a))
                  : 0;
          p[a] = (voxel[a] - subject.shift[a]) / subject.size[a] + bend;
        }
        const double r = std::sqrt(p[0] * p[0] / (20 * 20) + p[1] * p[1] / (24 * 24) +
                                   p[2] * p[2] / (18.5 * 18.5));
        const double inside = 1 / (1 + std::exp((r - 1) * 25));
        const double structure = sum_at(structures, p) + 0.3 * sum_at(fine, p);
        values.push_back(
            static_cast<float>(inside * (1.5 + (subject.inverted ? -structure : structure))));
      }
    }
  }
  return values;
}

VolumeRegistration align_subjects(const warpalign::Device& device, const Subject& reference,
                                  const Subject& moving, Modality modality,
                                  Motion motion = Motion::affine) {
  VolumeRegistrationOptions options;
  options.motion = motion;
  options.modality = modality;
  const std::vector<float> from = draw_subject(reference);
  const std::vector<float> to = draw_subject(moving);
  return register_volumes(device, test::view_of(from, subject_shape),
                          test::view_of(to, subject_shape), options);
}

/// Root mean square over the ellipsoid's ends along the axes, in voxels. Bending by 1.2 voxels
/// leaves no exact answer.
double off_by(const VolumeRegistration& result, const Subject& reference, const Subject& moving) {
  const std::array<double, 3> radii{20, 24, 18.5};
  const std::array<double, 3> middle{27.5, 31.5, 25.5};
  double sum = 0;
  for (int end = 0; end < 6; ++end) {
    std::array<double, 3> p{}, at{};
    p[static_cast<std::size_t>(end / 2)] =
        (end % 2 == 0 ? 1 : -1) * radii[static_cast<std::size_t>(end / 2)];
    for (std::size_t a = 0; a < 3; ++a)
      at[a] = p[a] * reference.size[a] + reference.shift[a] + middle[a];
    for (std::size_t a = 0; a < 3; ++a) {
      const auto& m = result.matrix.m;
      const double found =
          m[4 * a] * at[0] + m[4 * a + 1] * at[1] + m[4 * a + 2] * at[2] + m[4 * a + 3];
      const double right = p[a] * moving.size[a] + moving.shift[a] + middle[a];
      sum += (found - right) * (found - right) / 6;
    }
  }
  return std::sqrt(sum);
}

const Subject first_subject{3, 1, false, true, {1, 1, 1}, {0, 0, 0}};

TEST_CASE("volumes of two subjects are registered by an affine transform") {
  for (const warpalign::Device& device : test::devices()) {
    CAPTURE(device.info().id);
    for (const bool inverted : {false, true}) {
      CAPTURE(inverted);
      const Subject second{3, 2, inverted, true, {1.08, 0.94, 1.05}, {2.5, -3, 1.5}};
      const auto found = align_subjects(device, first_subject, second, Modality::automatic);
      CHECK(found.reliable);
      CHECK(off_by(found, first_subject, second) < 2);
    }
  }
}

TEST_CASE("a rigid motion between subjects of different size is reliable") {
  for (const warpalign::Device& device : test::devices()) {
    CAPTURE(device.info().id);
    const Subject second{3, 2, false, true, {1.05, 0.97, 1.02}, {2.5, -3, 1.5}};
    const auto found =
        align_subjects(device, first_subject, second, Modality::automatic, Motion::rigid);
    CHECK(found.reliable);
    CHECK(off_by(found, first_subject, second) < 2);
  }
}

TEST_CASE("other structures within the same outline are refused") {
  for (const warpalign::Device& device : test::devices()) {
    CAPTURE(device.info().id);
    const Subject other{4, 2, false, true, {1.05, 0.97, 1.02}, {2.5, -3, 1.5}};
    CHECK(!align_subjects(device, first_subject, other, Modality::same).reliable);
  }
}

}  // namespace
