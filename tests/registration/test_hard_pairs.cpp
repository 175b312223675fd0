// Pairs of the evaluation that registration once got wrong, each for a reason of its own.
#include "accuracy/pair.hpp"
#include "support/devices.hpp"

#include <warpalign/registrar.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace {

using accuracy::Pair;
using accuracy::Use;
using warpalign::HostImage;
using warpalign::PixelType;
using warpalign::Point;

Pair pair_of(Use use, const std::string& group, std::size_t index) {
  constexpr std::int64_t side = 512;
  const accuracy::Originals originals(use, side);
  const auto& groups = accuracy::all_groups();
  const auto found =
      std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.name == group; });
  REQUIRE(found != groups.end());
  return accuracy::make_pair(originals,
                             {1, static_cast<std::size_t>(found - groups.begin()), index}, side);
}

HostImage view(const accuracy::Picture& picture) {
  return {picture.pixels.data(), PixelType::u8, picture.shape.width, picture.shape.height};
}

double mean_corner_error(const Pair& pair, const warpalign::Affine& found) {
  const auto right = static_cast<double>(pair.reference.shape.width - 1);
  const auto bottom = static_cast<double>(pair.reference.shape.height - 1);
  double sum = 0;
  for (const Point p : {Point{0, 0}, Point{right, 0}, Point{0, bottom}, Point{right, bottom}}) {
    const Point a = found(p);
    const Point b = pair.truth(p);
    sum += std::hypot(a.x - b.x, a.y - b.y);
  }
  return sum / 4;
}

void registers(const Pair& pair, double tolerance) {
  test::on_every_device([&](const warpalign::Device& device) {
    warpalign::Registrar registrar(device);
    registrar.set_reference(view(pair.reference));
    const auto found = registrar.align(view(pair.moving));
    CHECK(found.reliable);
    CHECK(mean_corner_error(pair, found.matrix) <= tolerance);
  });
}

}  // namespace

TEST_CASE("hard pairs: clouds under noise of sigma 32") {
  // With a pixel of smoothing nearly all slopes are noise, and the fit was off by 0.97 px. The
  // bound of any method is 0.07 px for the mean (tests/accuracy/noise_bound.py); 0.19 is reached.
  registers(pair_of(Use::report, "noise", 13), 0.4);
}

TEST_CASE("hard pairs: light so uneven that the pictures' grey levels correlate negatively") {
  // A fit that takes the sign of the gain from them runs away. 0.11 px is reached.
  registers(pair_of(Use::report, "mixed", 9), 0.2);
}

TEST_CASE("hard pairs: scale 3.6, where corners of the wide picture lie far outside the other") {
  // Limits on a fit's moves, measured at the corners, once ended it. 0.23 px is reached, at corners
  // 700 pixels apart.
  registers(pair_of(Use::tune, "scale4", 2), 0.5);
}
