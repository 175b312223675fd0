// Star fields: found and accepted where they are related, refused where they are not, whatever
// camera defects both images show at the same places.
#include "support/devices.hpp"

#include <warpalign/registrar.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::HostImage;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;
using warpalign::SearchMethod;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{400, 360, 1};
constexpr double sigma = 1.4;
constexpr double background = 100;

struct Star {
  Point place;
  double height;
};

/// 30 stars in and beside the frame, of integrated signal-to-noise ratios of about 6 to 50.
std::vector<Star> sky(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> x(-20, 420);
  std::uniform_real_distribution<double> y(-20, 380);
  std::uniform_real_distribution<double> log_height(std::log(25.0), std::log(220.0));
  std::vector<Star> stars;
  for (int i = 0; i < 30; ++i)
    stars.push_back({{x(random), y(random)}, std::exp(log_height(random))});
  return stars;
}

using Photons = std::vector<double>;

Photons expected(const std::vector<Star>& stars, const Affine& transform) {
  Photons photons(static_cast<std::size_t>(shape.plane()), background);
  for (const Star& star : stars) {
    const Point place = transform(star.place);
    for (std::int64_t y = std::max(0L, std::lround(place.y) - 8);
         y < std::min(shape.height, static_cast<std::int64_t>(std::lround(place.y) + 9)); ++y) {
      for (std::int64_t x = std::max(0L, std::lround(place.x) - 8);
           x < std::min(shape.width, static_cast<std::int64_t>(std::lround(place.x) + 9)); ++x) {
        const double dx = static_cast<double>(x) - place.x;
        const double dy = static_cast<double>(y) - place.y;
        photons[static_cast<std::size_t>(y * shape.width + x)] +=
            star.height * std::exp(-(dx * dx + dy * dy) / (2 * sigma * sigma));
      }
    }
  }
  return photons;
}

std::vector<std::uint16_t> counted(const Photons& photons, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint16_t> pixels;
  for (const double mean : photons) {
    pixels.push_back(static_cast<std::uint16_t>(std::poisson_distribution<int>(mean)(random)));
  }
  return pixels;
}

/// Bright single pixels, at the same places whenever it is called.
void add_hot_pixels(Photons& photons) {
  std::mt19937 random(99);
  std::uniform_int_distribution<std::size_t> place(0, photons.size() - 1);
  for (int i = 0; i < 30; ++i) photons[place(random)] += 3000;
}

HostImage image_of(const std::vector<std::uint16_t>& pixels) {
  return {pixels.data(), PixelType::u16, shape.width, shape.height, 0};
}

double distance_at_corners(const Affine& a, const Affine& b) {
  double largest = 0;
  for (const Point corner : {Point{0, 0}, Point{399, 0}, Point{0, 359}, Point{399, 359}}) {
    const Point p = a(corner);
    const Point q = b(corner);
    largest = std::max(largest, std::hypot(p.x - q.x, p.y - q.y));
  }
  return largest;
}

// Some 20 stars with errors of 0.04 to 0.3 pixels in each image: 0.05 at the centre, three times
// that at the corners.
constexpr double tolerance = 0.3;

void check_found(const RegistrationResult& found, const Affine& truth) {
  CHECK(found.reliable);
  CHECK(found.confidence > 0.9);
  CHECK(found.proposed_by == SearchMethod::points);
  CHECK(found.refined);
  CHECK_FALSE(found.ambiguous);
  CHECK(distance_at_corners(found.matrix, truth) < tolerance);
}

}  // namespace

TEST_CASE("stars: related fields are found at any rotation, and accepted") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const double degrees : {0.0, 30.0, -135.0}) {
      CAPTURE(degrees);
      const auto stars = sky(1);
      const Affine truth = Similarity{degrees, 1, {5.3, -8.7}}.matrix(shape, shape);
      const auto reference = counted(expected(stars, {}), 1);
      const auto moving = counted(expected(stars, truth), 2);
      for (const Motion motion : {Motion::similarity, Motion::rigid, Motion::automatic}) {
        CAPTURE(static_cast<int>(motion));
        RegistrationOptions options;
        options.motion = motion;
        check_found(
            warpalign::register_images(device, image_of(reference), image_of(moving), options),
            truth);
      }
    }
  });
}

TEST_CASE("stars: a shift is found as a translation") {
  const auto stars = sky(2);
  const Affine truth = Affine::translation(5.3, -8.7);
  const auto reference = counted(expected(stars, {}), 1);
  const auto moving = counted(expected(stars, truth), 2);
  RegistrationOptions options;
  options.motion = Motion::translation;
  test::on_every_device([&](const warpalign::Device& device) {
    check_found(warpalign::register_images(device, image_of(reference), image_of(moving), options),
                truth);
  });
}

TEST_CASE("stars: unrelated fields are refused, also with the same hot pixels") {
  for (const bool hot : {false, true}) {
    CAPTURE(hot);
    Photons first = expected(sky(3), {});
    Photons second = expected(sky(4), {});
    if (hot) {
      add_hot_pixels(first);
      add_hot_pixels(second);
    }
    const auto reference = counted(first, 1);
    const auto moving = counted(second, 2);
    test::on_every_device([&](const warpalign::Device& device) {
      const auto found = warpalign::register_images(device, image_of(reference), image_of(moving));
      CHECK_FALSE(found.reliable);
    });
  }
}

TEST_CASE("stars: hot pixels at the same places in both images do not win") {
  const auto stars = sky(5);
  const Affine truth = Similarity{12, 1, {-6.5, 9.25}}.matrix(shape, shape);
  Photons first = expected(stars, {});
  Photons second = expected(stars, truth);
  add_hot_pixels(first);
  add_hot_pixels(second);
  const auto reference = counted(first, 1);
  const auto moving = counted(second, 2);
  test::on_every_device([&](const warpalign::Device& device) {
    check_found(warpalign::register_images(device, image_of(reference), image_of(moving)), truth);
  });
}

TEST_CASE("stars: a satellite's trail does not move the answer") {
  const auto stars = sky(6);
  const Affine truth = Affine::translation(5.3, -8.7);
  const auto reference = counted(expected(stars, {}), 1);
  Photons second = expected(stars, truth);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    second[static_cast<std::size_t>(y * shape.width + y * 6 / 10 + 50)] = 4000;
  }
  const auto moving = counted(second, 2);
  test::on_every_device([&](const warpalign::Device& device) {
    check_found(warpalign::register_images(device, image_of(reference), image_of(moving)), truth);
  });
}

TEST_CASE("stars: masked pixels, NaN among them, do not matter") {
  const auto stars = sky(7);
  const Affine truth = Similarity{30, 1, {4, 3}}.matrix(shape, shape);
  const auto reference = counted(expected(stars, {}), 1);
  const auto counts = counted(expected(stars, truth), 2);
  std::vector<float> moving(counts.begin(), counts.end());
  std::vector<std::uint8_t> mask(moving.size(), 1);
  for (std::size_t i = 0; i < moving.size(); ++i) {
    if (i % 400 >= 60) continue;
    moving[i] = NAN;
    mask[i] = 0;
  }
  test::on_every_device([&](const warpalign::Device& device) {
    warpalign::Registrar registrar(device);
    registrar.set_reference(image_of(reference));
    check_found(registrar.align({moving.data(), PixelType::f32, shape.width, shape.height, 0},
                                {mask.data(), PixelType::u8, shape.width, shape.height, 0}),
                truth);
  });
}

TEST_CASE("stars: limits exclude the answer, and nothing else is accepted") {
  const auto stars = sky(8);
  const auto reference = counted(expected(stars, {}), 1);
  const auto moving = counted(expected(stars, Similarity{40, 1, {0, 0}}.matrix(shape, shape)), 2);
  RegistrationOptions options;
  options.min_angle = -10;
  options.max_angle = 10;
  test::on_every_device([&](const warpalign::Device& device) {
    const auto found =
        warpalign::register_images(device, image_of(reference), image_of(moving), options);
    CHECK_FALSE(found.reliable);
  });
}

TEST_CASE("hot pixels: two empty images of one camera are not registered by them") {
  // Hot pixels lie at random places, so a few are neighbours, on the camera's offset with its
  // noise. Above half a percent of them, the blurred level on which the search decides is too full
  // to count as sparse.
  for (const double part : {0.0005, 0.005}) {
    CAPTURE(part);
    Photons offset(static_cast<std::size_t>(shape.plane()), background);
    std::mt19937 random(8);
    std::uniform_real_distribution<double> uniform;
    for (double& mean : offset) mean += uniform(random) < part ? 300 + 3000 * uniform(random) : 0;
    const auto reference = counted(offset, 1);
    const auto moving = counted(offset, 2);
    test::on_every_device([&](const warpalign::Device& device) {
      const auto found = warpalign::register_images(device, image_of(reference), image_of(moving));
      CHECK_FALSE(found.reliable);
    });
  }
}
