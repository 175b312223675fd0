// The correlation of points with a rotated volume against the oracle, on every device.
#include "reference/volume/rotation_scores.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/rotation_scores.hpp>
#include <warpalign/error.hpp>

#include <cmath>
#include <vector>

namespace {

using warpalign::RotationMatrix;
using warpalign::RotationScoresPlan;
using warpalign::ScoredPoint;

/// Rodrigues' formula; the axis is normalised first.
RotationMatrix rotation_about(double x, double y, double z, double angle) {
  const double length = std::sqrt(x * x + y * y + z * z);
  const std::array<double, 3> a{x / length, y / length, z / length};
  const std::array<double, 9> cross{0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  RotationMatrix matrix{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      matrix[3 * i + j] =
          static_cast<float>((i == j ? std::cos(angle) : 0) + std::sin(angle) * cross[3 * i + j] +
                             (1 - std::cos(angle)) * a[i] * a[j]);
    }
  }
  return matrix;
}

/// All lattice points within the radius, with values from -1 to 1.
std::vector<ScoredPoint> ball(int radius) {
  std::vector<ScoredPoint> points;
  for (int z = -radius; z <= radius; ++z) {
    for (int y = -radius; y <= radius; ++y) {
      for (int x = -radius; x <= radius; ++x) {
        if (x * x + y * y + z * z > radius * radius) continue;
        const auto value = static_cast<float>((x * 7 + y * 5 + z * 3) % 11) / 10.0F;
        points.push_back(
            {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z), value});
      }
    }
  }
  return points;
}

}  // namespace

TEST_CASE("rotation_scores: agrees with the oracle for points up to the full radius") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const int radius : {1, 4, 7}) {
      const auto points = ball(radius);
      const std::vector<RotationMatrix> rotations{
          rotation_about(1, 0, 0, 0), rotation_about(1, 2, 3, 0.7), rotation_about(-1, 4, 0, 2.9),
          rotation_about(0, 0, 1, 1.5707963267948966)};
      const RotationScoresPlan plan(device, {radius, static_cast<std::int64_t>(points.size()), 5});
      const std::int64_t side = 2 * radius + 3;
      const auto volume = test::random_volume({side, side, side}, 0, 1, 5);
      auto stream = device.make_stream();
      const auto image = test::to_device(device, stream, volume);
      const auto found = plan.execute(stream, image, points, rotations);
      REQUIRE(found.size() == rotations.size());
      std::vector<reference::ScoredPoint> wide;
      for (const ScoredPoint& p : points) {
        wide.push_back(
            {{static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z)},
             static_cast<double>(p.value)});
      }
      for (std::size_t i = 0; i < rotations.size(); ++i) {
        std::array<double, 9> rotation{};
        for (std::size_t k = 0; k < 9; ++k) rotation[k] = static_cast<double>(rotations[i][k]);
        const double expected = reference::rotation_score(volume, wide, rotation);
        // Coordinates of up to 16 are right to 2e-6, and the slope is at most 1 along each axis.
        CHECK(std::abs(static_cast<double>(found[i]) - expected) <=
              4e-6 * static_cast<double>(points.size()));
      }
    }
  });
}

TEST_CASE("rotation_scores: wrong arguments are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(RotationScoresPlan(device, {0, 1, 1}), warpalign::Error);
    CHECK_THROWS_AS(RotationScoresPlan(device, {1, 0, 1}), warpalign::Error);
    const RotationScoresPlan plan(device, {2, 2, 1});
    auto stream = device.make_stream();
    const auto image = test::to_device(device, stream, test::random_volume({7, 7, 7}, 0, 1, 5));
    std::vector<ScoredPoint> points{{2, 0, 0, 1}};
    std::vector<RotationMatrix> rotations{rotation_about(1, 0, 0, 0)};
    CHECK_NOTHROW((void)plan.execute(stream, image, points, rotations));
    points[0].y = 1;
    CHECK_THROWS_AS((void)plan.execute(stream, image, points, rotations), warpalign::Error);
    points[0].y = 0;
    rotations[0][0] = 1.1F;
    CHECK_THROWS_AS((void)plan.execute(stream, image, points, rotations), warpalign::Error);
    rotations[0][0] = 1;
    rotations.resize(2);
    CHECK_THROWS_AS((void)plan.execute(stream, image, points, rotations), warpalign::Error);
  });
}
