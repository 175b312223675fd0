// The fit of a spot: its place, the variance that it states, and the shapes that it tells apart.
#include "registration/points/spot_fit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using warpalign::Point;
using warpalign::Shape;
using warpalign::detail::fit_spot;
using warpalign::detail::PixelPlane;

constexpr Shape shape{41, 33, 1};
constexpr double sigma = 1.4;
constexpr double noise = 10;
constexpr double no_saturation = 1e9;

struct Drawn {
  explicit Drawn(std::uint32_t seed) : random(seed), values(41 * 33) {
    std::normal_distribution<float> error(100, static_cast<float>(noise));
    for (float& value : values) value = error(random);
  }
  void add_spot(Point place, double height, double width = sigma) {
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const double dx = static_cast<double>(x) - place.x;
        const double dy = static_cast<double>(y) - place.y;
        at(x, y) +=
            static_cast<float>(height * std::exp(-(dx * dx + dy * dy) / (2 * width * width)));
      }
    }
  }
  float& at(std::int64_t x, std::int64_t y) {
    return values[static_cast<std::size_t>(y * shape.width + x)];
  }
  [[nodiscard]] PixelPlane plane() const { return {shape, values, {}}; }

  std::mt19937 random;
  std::vector<float> values;
};

}  // namespace

TEST_CASE("spot: places are as accurate as the fit says, and as the Cramer-Rao bound allows") {
  const double height = 100;
  double squares = 0;
  double stated = 0;
  const int count = 400;
  for (int i = 0; i < count; ++i) {
    Drawn image(static_cast<std::uint32_t>(i));
    const Point place{20 + 0.001 * i, 15.8 + 0.0007 * i};
    image.add_spot(place, height);
    const auto spot = fit_spot(image.plane(), {20, 16}, {sigma, false, noise, no_saturation});
    REQUIRE(spot);
    const double dx = spot->place.x - place.x;
    const double dy = spot->place.y - place.y;
    squares += (dx * dx + dy * dy) / 2 / count;
    stated += spot->variance / count;
    CHECK(spot->misfit < 0.1);
  }
  // Of a Gaussian in white noise: 2 noise^2 / (pi height^2), along each axis. 800 values determine
  // a variance to 5 %; four deviations.
  const double bound = 2 * noise * noise / (3.14159 * height * height);
  CHECK(squares == doctest::Approx(bound).epsilon(0.2));
  CHECK(stated == doctest::Approx(bound).epsilon(0.1));
}

TEST_CASE("spot: the fit of the width finds it") {
  Drawn image(1);
  image.add_spot({20.3, 15.6}, 1000, 2.1);
  const auto spot = fit_spot(image.plane(), {20, 16}, {1.5, true, noise, no_saturation});
  REQUIRE(spot);
  CHECK(spot->sigma == doctest::Approx(2.1).epsilon(0.02));  // noise of 1 % of the height
}

TEST_CASE("spot: single pixels, rays and trails fit badly") {
  const auto misfit_at = [](const Drawn& image) {
    const auto spot = fit_spot(image.plane(), {20, 16}, {sigma, false, noise, no_saturation});
    return spot ? spot->misfit : INFINITY;
  };
  Drawn hot(2);
  hot.at(20, 16) += 1000;
  CHECK(misfit_at(hot) > 1);
  Drawn ray(3);
  for (int i = -2; i <= 2; ++i) ray.at(20 + i, 16 + i / 2) += 1000;
  CHECK(misfit_at(ray) > 0.5);
  Drawn trail(4);
  for (double x = -10; x < 50; x += 0.5) trail.add_spot({x, 16 + 0.3 * (x - 20)}, 200);
  CHECK(misfit_at(trail) > 0.5);
}

TEST_CASE("spot: a saturated core does not move the place") {
  Drawn image(5);
  const Point place{20.35, 15.7};
  image.add_spot(place, 4000);
  for (float& value : image.values) value = std::min(value, 1500.0F);
  const auto spot = fit_spot(image.plane(), {20, 16}, {sigma, false, noise, 1500});
  REQUIRE(spot);
  // The slopes alone, of 2000 in noise of 10.
  CHECK(std::hypot(spot->place.x - place.x, spot->place.y - place.y) < 0.05);
  CHECK(spot->height == doctest::Approx(4000).epsilon(0.1));
}

TEST_CASE("spot: pixels that a mask ignores do not matter") {
  Drawn image(6);
  const Point place{20.35, 15.7};
  image.add_spot(place, 500);
  std::vector<float> weights(image.values.size(), 1);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    image.at(23, y) = NAN;
    weights[static_cast<std::size_t>(y * shape.width + 23)] = 0;
  }
  const auto spot =
      fit_spot({shape, image.values, weights}, {20, 16}, {sigma, false, noise, no_saturation});
  REQUIRE(spot);
  CHECK(std::hypot(spot->place.x - place.x, spot->place.y - place.y) < 0.1);  // five deviations
}
