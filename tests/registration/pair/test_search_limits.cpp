// The ranges that the options allow, and how many poses they contain.
#include "registration/pair/search_limits.hpp"

#include "registration/pair/level_pair.hpp"

#include "registration/proposers/rotation_scale_search.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using warpalign::Motion;
using warpalign::RegistrationOptions;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape reference_shape{400, 300, 1};
constexpr Shape moving_shape{200, 160, 1};

// A pair of images whose pixels are never read.
struct Pair {
  explicit Pair(const warpalign::Device& device)
      : stream(device.make_stream()),
        clock(stream),
        ones(device, 4),
        fields(device, ones),
        reference(device, warpalign::PixelType::f32, reference_shape),
        moving(device, warpalign::PixelType::f32, moving_shape) {}

  [[nodiscard]] detail::PairContext work() {
    return {stream, clock, reference, moving, ones, fields};
  }
  [[nodiscard]] bool allowed(const RegistrationOptions& options, const Similarity& similarity) {
    return detail::within_limits(options, work(), similarity.matrix(reference_shape, moving_shape));
  }
  [[nodiscard]] double num_poses(const RegistrationOptions& options) {
    return detail::num_trials(options, work());
  }

  warpalign::Stream stream;
  detail::StageClock clock;
  detail::UnitWeights ones;
  detail::GradientFields fields;
  detail::ImagePyramid reference, moving;
};

}  // namespace

TEST_CASE("search limits: angles are ranges modulo 360, with opposite ones on request") {
  detail::RotationScaleLimits limits;
  for (const double angle : {-180.0, -1.0, 0.0, 179.0, 540.0}) CHECK(limits.allows_angle(angle));
  limits.min_angle = 170, limits.max_angle = 190;
  for (const double angle : {170.0, 180.0, 190.0, -170.0, -175.0, 530.0}) {
    CHECK(limits.allows_angle(angle));
    CHECK(limits.allows_angle_or_opposite(angle + 180));
    CHECK_FALSE(limits.allows_angle(angle + 180));
  }
  for (const double angle : {169.9, 190.1, -169.9, 90.0}) {
    CHECK_FALSE(limits.allows_angle(angle));
    CHECK_FALSE(limits.allows_angle_or_opposite(angle));
  }
  limits.min_angle = limits.max_angle = 30;
  CHECK(limits.allows_angle(30));
  CHECK_FALSE(limits.allows_angle(30.5));
  limits.min_angle = -180, limits.max_angle = 179;
  CHECK_FALSE(limits.allows_angle(179.5));
}

TEST_CASE("search limits: scales lie between both limits, widened by the slack") {
  RegistrationOptions options;
  options.min_scale = 0.5, options.max_scale = 2;
  options.min_angle = -10, options.max_angle = 20;
  const auto limits = detail::RotationScaleLimits::of(options, 1, 1.25);
  CHECK(limits.min_scale == doctest::Approx(0.4));
  CHECK(limits.max_scale == doctest::Approx(2.5));
  CHECK(limits.min_angle == doctest::Approx(-11));
  CHECK(limits.max_angle == doctest::Approx(21));
  for (const double scale : {0.4, 1.0, 2.5}) CHECK(limits.allows_scale(scale));
  for (const double scale : {0.39, 2.51}) CHECK_FALSE(limits.allows_scale(scale));
  for (const Motion motion : {Motion::rigid, Motion::rotation, Motion::translation}) {
    options.motion = motion;
    const auto without_scale = detail::RotationScaleLimits::of(options, 0, 1.25);
    CHECK(without_scale.min_scale == doctest::Approx(0.8));
    CHECK(without_scale.max_scale == doctest::Approx(1.25));
  }
}

TEST_CASE("search limits: a pose may lie slightly beyond the options' limits") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    RegistrationOptions options;
    options.min_scale = 0.5, options.max_scale = 2;
    options.min_angle = -10, options.max_angle = 20;
    options.max_shift = 30;
    CHECK(pair.allowed(options, {0, 1, {0, 0}}));
    // By a degree, by 3 %, and by a pixel plus half a percent of the moving image's 200.
    CHECK(pair.allowed(options, {20.9, 2.05, {31.9, 0}}));
    CHECK(pair.allowed(options, {-10.9, 0.49, {0, -31.9}}));
    CHECK_FALSE(pair.allowed(options, {21.1, 1, {0, 0}}));
    CHECK_FALSE(pair.allowed(options, {-11.1, 1, {0, 0}}));
    CHECK_FALSE(pair.allowed(options, {0, 2.07, {0, 0}}));
    CHECK_FALSE(pair.allowed(options, {0, 0.48, {0, 0}}));
    CHECK_FALSE(pair.allowed(options, {0, 1, {32.1, 0}}));
    CHECK_FALSE(pair.allowed(options, {0, 1, {23, 23}}));  // 32.5 along the diagonal
    options.max_shift = 0;                                 // no limit
    CHECK(pair.allowed(options, {0, 1, {300, 0}}));
    options.max_shift_x = 30;
    CHECK(pair.allowed(options, {0, 1, {-31.9, 300}}));
    CHECK_FALSE(pair.allowed(options, {0, 1, {-32.1, 0}}));
    options.max_shift_y = 5;
    CHECK(pair.allowed(options, {0, 1, {31.9, -6.9}}));
    CHECK_FALSE(pair.allowed(options, {0, 1, {0, 7.1}}));
    options.max_shift = 20;  // all limits hold
    CHECK_FALSE(pair.allowed(options, {0, 1, {25, 0}}));
  });
}

TEST_CASE("search limits: the number of poses is that of rotations times scales times shifts") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    RegistrationOptions options;
    options.min_scale = 0.5, options.max_scale = 2;
    options.min_angle = 0, options.max_angle = 40;
    const double shifts = std::pow(1 + 2 * 256, 2);  // every pixel of the level, on either side
    const double scales = 1 + std::log(4) / std::log(1.25);
    CHECK(pair.num_poses(options) == doctest::Approx(11 * scales * shifts));
    options.motion = Motion::rigid;
    CHECK(pair.num_poses(options) == doctest::Approx(11 * shifts));
    options.motion = Motion::rotation;
    CHECK(pair.num_poses(options) == doctest::Approx(11));
    options.motion = Motion::translation;
    CHECK(pair.num_poses(options) == doctest::Approx(shifts));
    options.max_shift = 40;  // a tenth of the larger side
    CHECK(pair.num_poses(options) == doctest::Approx(std::pow(1 + 2 * 25.6, 2)));
    options.max_shift_y = 20;
    CHECK(pair.num_poses(options) == doctest::Approx((1 + 2 * 25.6) * (1 + 2 * 12.8)));
    options.max_shift = 0;
    CHECK(pair.num_poses(options) == doctest::Approx((1 + 2 * 256) * (1 + 2 * 12.8)));
    options.max_shift = 1000, options.max_shift_y = 0;
    CHECK(pair.num_poses(options) == doctest::Approx(shifts));
    options.motion = Motion::rotation;
    options.min_angle = -180, options.max_angle = 540;
    CHECK(pair.num_poses(options) == doctest::Approx(91));
  });
}

TEST_CASE("search limits: the image whose content appears smaller is fitted to the other one") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const detail::PairContext work = pair.work();
    const auto roles_at = [&](double scale) {
      return detail::FitDirection(work,
                                  Similarity{0, scale, {}}.matrix(reference_shape, moving_shape));
    };
    CHECK_FALSE(roles_at(1).swapped());
    CHECK_FALSE(roles_at(1.5).swapped());
    CHECK(roles_at(0.9).swapped());
    CHECK(&roles_at(0.9).coarse() == &pair.moving);
    CHECK(&roles_at(0.9).fine() == &pair.reference);
    // At equal scale the overlap may have 200 samples on each side; the spacing is at least 1.
    CHECK(roles_at(1).side(1) == doctest::Approx(200));
    CHECK(roles_at(1).side(4) == doctest::Approx(50));
    CHECK(roles_at(1).spacing(50) == doctest::Approx(4));
    CHECK(roles_at(1).spacing(256) == 1);
    // At scale 1/2 the reference's 400 pixels cover 200 of the moving image.
    CHECK(roles_at(0.5).spacing(20) == doctest::Approx(10));
  });
}

TEST_CASE("search limits: opposite rotations are compared once, and none is left out") {
  const auto apart = [](double a, double b) { return std::abs(std::remainder(a - b, 180)); };
  for (const double step : {15.0, 4.0, 3.0, 8.0}) {
    CAPTURE(step);
    const auto all = detail::rotations_within({}, step);
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) CHECK(apart(all[i], all[j]) >= 0.5 * step);
    }
    for (double degrees = -180; degrees <= 180; degrees += 0.5) {
      CHECK(std::any_of(all.begin(), all.end(),
                        [&](double one) { return apart(one, degrees) <= 0.5 * step; }));
    }
  }
  // A range of about half a turn: 165 itself, and 0, whose opposite is within the limits.
  detail::RotationScaleLimits limits;
  limits.min_angle = 162, limits.max_angle = 192;
  CHECK(detail::rotations_within(limits, 15) == std::vector<double>{0, 165});
  limits.min_angle = -20, limits.max_angle = 20;
  CHECK(detail::rotations_within(limits, 15) == std::vector<double>{0, 15, 165});
}
