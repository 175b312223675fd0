// The sums of a Gauss-Newton step against the oracle's numerical derivatives, on every device.
#include "reference/refinement/similarity_sums.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/refinement/similarity_sums.hpp>
#include <warpalign/error.hpp>

#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::Error;
using warpalign::Homography;
using warpalign::PixelType;
using warpalign::Shape;
using warpalign::Similarity;
using warpalign::SimilarityImages;
using warpalign::SimilarityState;
using warpalign::SimilaritySumsPlan;
using warpalign::SimilaritySumsResult;
using warpalign::SimilaritySumsSpec;

/// The images and parameters of one test.
struct Case {
  test::Size reference{70, 53};
  test::Size moving{70, 53};
  Homography matrix;
  double scale = 0;
  int reference_margin = 0;
  int moving_margin = 1;
  bool masked = false;
  int cell = 0;
  bool projective = false;
  warpalign::Point centre{31, 22};  // the centre of a homography's parameters
  double unit = 40;

  [[nodiscard]] Shape reference_shape() const { return {reference.width, reference.height, 1}; }
  [[nodiscard]] Shape moving_shape() const { return {moving.width, moving.height, 1}; }
};

Case rotated(test::Size reference, test::Size moving, const Similarity& similarity) {
  Case c{reference, moving, {}, 0, 0, 1, false, 0};
  c.matrix = similarity.matrix(c.reference_shape(), c.moving_shape());
  return c;
}

Case small_rotation() { return rotated({70, 53}, {70, 53}, {20, 0.9, {3.3, -2.1}}); }

// 1, with spots of 0 and spots on both sides of 0.999.
reference::Plane spotted(const test::Size& size, std::uint32_t seed) {
  auto weight = test::random_plane(size.width, size.height, 0.9985, 1.0005, seed);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      if ((x / 7 + y / 5) % 3 == 0) weight.at(x, y) = 0;
      if ((x / 7 + y / 5) % 3 == 1) weight.at(x, y) = 1;
    }
  }
  return weight;
}

// Gains about 1.3 and offsets about -0.2.
reference::Spectrum random_field(const test::Size& size, int cell) {
  const auto across = (size.width + cell - 1) / cell;
  const auto down = (size.height + cell - 1) / cell;
  const auto gain = test::random_plane(across, down, 1.1, 1.5, 54);
  const auto offset = test::random_plane(across, down, -0.4, 0, 55);
  reference::Spectrum field(across, down);
  for (std::size_t i = 0; i < field.values.size(); ++i) {
    field.values[i] = {gain.values[i], offset.values[i]};
  }
  return field;
}

struct Both {
  SimilaritySumsResult found;
  reference::SimilaritySums expected;
};

Both run(const warpalign::Device& device, const Case& c) {
  const auto reference = test::random_plane(c.reference.width, c.reference.height, 0, 1, 50);
  const auto coefficients = test::random_plane(c.moving.width, c.moving.height, 0, 1, 51);
  const auto reference_weight = spotted(c.reference, 52);
  const auto moving_weight = spotted(c.moving, 53);
  reference::ComparedPair pair{reference, coefficients};
  const auto& h = c.matrix.h;
  pair.m = {h[0], h[1], h[2], h[3], h[4], h[5]};
  pair.w = {h[6], h[7], h[8]};
  pair.reference_margin = c.reference_margin;
  pair.moving_margin = c.moving_margin;
  if (c.masked) pair.reference_weight = &reference_weight;
  if (c.masked) pair.moving_weight = &moving_weight;
  const auto field = random_field(c.reference, c.cell == 0 ? 8 : c.cell);
  reference::Illumination illumination{1.3, -0.2, nullptr, 0};
  if (c.cell != 0) illumination = {0, 0, &field, c.cell};

  auto stream = device.make_stream();
  const auto device_reference = test::to_device(device, stream, reference);
  const auto device_coefficients = test::to_device(device, stream, coefficients);
  const auto device_reference_weight = test::to_device(device, stream, reference_weight);
  const auto device_moving_weight = test::to_device(device, stream, moving_weight);
  const auto device_field = test::to_device(device, stream, field);
  SimilarityImages images{device_reference, device_coefficients};
  if (c.masked) images.reference_weight = &device_reference_weight;
  if (c.masked) images.moving_weight = &device_moving_weight;
  if (c.cell != 0) images.illumination = &device_field;
  const SimilaritySumsPlan plan(device, {c.reference_shape(), c.moving_shape(), c.reference_margin,
                                         c.moving_margin, c.masked, c.cell, c.projective});
  const auto found = plan.execute(stream, images, {c.matrix, 1.3, -0.2, c.scale, c.centre, c.unit});
  return {found, c.projective ? reference::homography_sums(pair, illumination, c.scale,
                                                           {c.centre.x, c.centre.y}, c.unit)
                              : reference::similarity_sums(pair, illumination, c.scale)};
}

// |found - expected| relative to the largest possible value of the entry, sqrt(h_ii h_jj).
double worst_entry(const Both& sums) {
  test::WorstError worst;
  const auto consider = [&](double found, double expected, double size) {
    const double error = std::abs(found - expected) / size;
    worst.add(error);
  };
  const std::size_t n = sums.expected.gradient.size();
  for (std::size_t row = 0; row < n; ++row) {
    const double row_size = sums.expected.hessian[row * (n + 1)];
    for (std::size_t column = 0; column < n; ++column) {
      consider(sums.found.hessian[row * n + column], sums.expected.hessian[row * n + column],
               std::sqrt(row_size * sums.expected.hessian[column * (n + 1)]));
    }
    consider(sums.found.gradient[row], sums.expected.gradient[row],
             std::sqrt(row_size * sums.expected.squares));
  }
  return worst.value();
}

void compare(const warpalign::Device& device, const Case& c) {
  CAPTURE(test::to_string(c.reference));
  CAPTURE(test::to_string(c.moving));
  CAPTURE(c.scale);
  CAPTURE(c.masked);
  CAPTURE(c.cell);
  const Both sums = run(device, c);
  const auto& [found, expected] = sums;
  REQUIRE(expected.ambiguous == 0);
  REQUIRE(expected.pixels > 0);
  CHECK(found.pixels == expected.pixels);
  REQUIRE(found.parameters == expected.gradient.size());
  // Values and slopes are right to a few 1e-7 of the coefficients, and positions to 1e-6 of a
  // pixel. Work groups add up some hundred products each. The central differences add 1e-9.
  CHECK(worst_entry(sums) <= 4e-6);
  CHECK(found.weight == doctest::Approx(expected.weight).epsilon(4e-6));
  CHECK(found.absolute == doctest::Approx(expected.absolute).epsilon(4e-6));
  CHECK(found.reference == doctest::Approx(expected.reference).epsilon(2e-6));
  CHECK(found.moving == doctest::Approx(expected.moving).epsilon(2e-6));
  CHECK(found.reference_square == doctest::Approx(expected.reference_square).epsilon(2e-6));
  CHECK(found.moving_square == doctest::Approx(expected.moving_square).epsilon(2e-6));
  CHECK(found.product == doctest::Approx(expected.product).epsilon(2e-6));
}

void expect_nothing(const SimilaritySumsResult& found) {
  for (const double value : found.hessian) CHECK(value == 0);
  for (const double value : found.gradient) CHECK(value == 0);
  for (const double value :
       {found.weight, found.pixels, found.absolute, found.reference, found.moving,
        found.reference_square, found.moving_square, found.product}) {
    CHECK(value == 0);
  }
}

}  // namespace

TEST_CASE("similarity_sums: rotated, scaled and shifted images, weighted or not") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const double scale : {0.0, 0.5}) {
      for (Case c : {small_rotation(), rotated({130, 65}, {90, 200}, {-75, 1.4, {0.2, 11}}),
                     rotated({33, 300}, {301, 41}, {91, 1.02, {0.4, 0.3}}),
                     rotated({64, 64}, {64, 64}, {180, 1.1, {0.123, 0.456}})}) {
        c.scale = scale;
        compare(device, c);
      }
    }
  });
}

TEST_CASE("similarity_sums: homographies, weighted, masked and under an illumination field") {
  // The divisor decreases by a third over the reference, and the other rows rotate and enlarge it.
  const Homography steep(
      {1.1037, 0.3071, -6.13719, -0.25113, 0.95257, 14.27133, 0.0031171, -0.0042093, 1});
  const Homography upside_down(
      {-0.90313, 0.10717, 95.1371, -0.10291, -1.00373, 70.2913, -0.00051, 0.002013, 1.1});
  test::on_every_device([&](const warpalign::Device& device) {
    for (const double scale : {0.0, 0.5}) {
      for (Case c :
           {Case{{70, 53}, {70, 53}, steep}, Case{{130, 65}, {90, 200}, upside_down},
            Case{{300, 37}, {290, 70}, Homography({1, 0, 1.3137, 0, 1, 2.2291, 0.00040713, 0, 1})},
            // A common factor, even a negative one, changes nothing.
            Case{{70, 53}, {70, 53}, Homography({-2, 0, 1.0371, 0, -2, 3.0913, 0.0010371, 0, -2})},
            Case{{70, 53}, {70, 53}, small_rotation().matrix}}) {
        c.scale = scale;
        c.projective = true;
        CAPTURE(c.matrix.h[6]);
        compare(device, c);
        c.masked = true;
        c.cell = 8;
        compare(device, c);
        c.reference_margin = 5;
        c.moving_margin = 4;
        compare(device, c);
      }
    }
  });
}

TEST_CASE("similarity_sums: homographies keep the fractions of positions far from the origin") {
  test::on_every_device([](const warpalign::Device& device) {
    Case c{{60, 40}, {16000, 50}, Homography({1, 0.0007, 15900.3, -0.0013, 1, 5.2, 1e-7, 2e-7, 1})};
    c.projective = true;
    c.centre = {15930, 25};
    compare(device, c);
    c.scale = 0.5;
    compare(device, c);
  });
}

TEST_CASE("similarity_sums: every pixel at its position, tiny images too") {
  test::on_every_device([](const warpalign::Device& device) {
    compare(device, {{70, 53}, {70, 53}, {}, 0, 0, 1, false, 0});
    compare(device, {{4, 4}, {4, 4}, {}, 0, 0, 1, false, 0});
    compare(device, {{1, 1}, {4, 4}, Affine::translation(1, 1), 0, 0, 1, false, 0});
    compare(device, {{7, 5}, {9, 11}, Affine::translation(1.25, 2.75), 0, 0, 1, false, 0});
  });
}

TEST_CASE("similarity_sums: margins of both images") {
  test::on_every_device([](const warpalign::Device& device) {
    Case c = small_rotation();
    c.reference_margin = 11;
    compare(device, c);
    c.moving_margin = 9;
    compare(device, c);
    c = {{20, 17}, {22, 19}, Affine::translation(1, 1), 0, 3, 5, false, 0};
    compare(device, c);
    c.reference_margin = 8;  // leaves one row
    compare(device, c);
  });
}

TEST_CASE("similarity_sums: pixels count where both weights are at least 0.999") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const double scale : {0.0, 0.5}) {
      Case c = small_rotation();
      c.masked = true;
      c.scale = scale;
      compare(device, c);
      c = rotated({130, 65}, {90, 200}, {-75, 1.4, {0.2, 11}});
      c.masked = true;
      c.scale = scale;
      compare(device, c);
    }
  });
}

TEST_CASE("similarity_sums: an illumination field replaces gain and offset") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const int cell : {2, 8, 13, 64}) {
      Case c = small_rotation();
      c.cell = cell;
      c.scale = 0.5;
      compare(device, c);
    }
    Case c = rotated({130, 65}, {90, 200}, {-75, 1.4, {0.2, 11}});
    c.cell = 8;
    c.masked = true;
    compare(device, c);
  });
}

TEST_CASE("similarity_sums: long rows, and more of them than there are work groups") {
  test::on_every_device([](const warpalign::Device& device) {
    Case c = rotated({300, 37}, {290, 70}, {7, 0.97, {0.4, 0.3}});
    compare(device, c);
    c.cell = 13;
    c.scale = 0.5;
    c.masked = true;
    c.reference_margin = 3;
    compare(device, c);
    // The overlap lies in the last tiles and rows.
    compare(device,
            {{300, 16384}, {330, 420}, Affine::translation(1.25, -15980.25), 0, 0, 1, false, 0});
  });
}

TEST_CASE("similarity_sums: positions far from the origin keep their fractions") {
  test::on_every_device([](const warpalign::Device& device) {
    // A float near 16000 is off by up to 5e-4 of a pixel, a hundred times this test's tolerance.
    Case c{{60, 40}, {16000, 50}, Affine{1, 0.0007, 15900.3, -0.0013, 1, 5.2}, 0, 0, 1, false, 0};
    compare(device, c);
    c.scale = 0.5;
    compare(device, c);
  });
}

TEST_CASE("similarity_sums: images without overlap have sums of 0") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto nothing = [&](const Case& c) { expect_nothing(run(device, c).found); };
    nothing({{40, 30}, {40, 30}, Affine::translation(1000, 0), 0, 0, 1, false, 0});
    nothing({{40, 30}, {40, 30}, Affine::translation(0, -1000), 0.5, 0, 1, false, 0});
    nothing({{40, 30}, {40, 30}, Affine::translation(1e30, -1e30), 0, 0, 1, false, 0});
    nothing({{40, 30}, {40, 30}, Affine::translation(-4e9, 8e9), 0, 0, 1, false, 0});
    // Infinities of both signs add up to NaN, in float and in double.
    nothing({{40, 30},
             {40, 30},
             Affine{1e308, 1e308, -1e308, -1e308, 1e308, 1e308},
             0,
             0,
             1,
             false,
             0});
    nothing({{40, 30}, {40, 30}, Affine{-1e39, 1e39, 1e39, 1e39, -1e39, -1e39}, 0, 0, 1, true, 8});
    nothing({{5, 5}, {3, 3}, {}, 0, 0, 1, false, 0});
    nothing({{40, 30}, {40, 30}, {}, 0, 0, 15, false, 0});
    nothing({{40, 30}, {40, 30}, {}, 0, 15, 1, false, 0});
    nothing({{40, 30}, {40, 30}, {}, 0, 1000000, 1000000, false, 0});
  });
}

TEST_CASE("similarity_sums: a second step of the same plan starts from 0") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto reference = test::random_plane(70, 53, 0, 1, 50);
    const auto coefficients = test::random_plane(70, 53, 0, 1, 51);
    auto stream = device.make_stream();
    const auto device_reference = test::to_device(device, stream, reference);
    const auto device_coefficients = test::to_device(device, stream, coefficients);
    const SimilarityImages images{device_reference, device_coefficients};
    const SimilaritySumsPlan plan(device, {{70, 53, 1}, {70, 53, 1}});
    const SimilarityState state{small_rotation().matrix, 1.3, -0.2, 0.5};
    const auto first = plan.execute(stream, images, state);
    const auto second = plan.execute(stream, images, state);
    CHECK(first.pixels > 0);
    CHECK(first.pixels == second.pixels);
    CHECK(first.hessian == second.hessian);
    expect_nothing(plan.execute(stream, images, {Affine::translation(1000, 0)}));
  });
}

TEST_CASE("similarity_sums: the states of a batch have the sums of single states") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    const auto reference = test::to_device(device, stream, test::random_plane(70, 53, 0, 1, 50));
    const auto coefficients = test::to_device(device, stream, test::random_plane(90, 61, 0, 1, 51));
    const SimilarityImages images{reference, coefficients};
    for (const bool projective : {false, true}) {
      const SimilaritySumsPlan plan(device,
                                    {{70, 53, 1}, {90, 61, 1}, 0, 1, false, 0, projective, 5});
      std::vector<SimilarityState> states;
      for (int i = 0; i < 5; ++i) {
        const Affine matrix =
            Similarity{7.0 * i, 1 + 0.1 * i, {1.5 * i, -1.0 * i}}.matrix({70, 53, 1}, {90, 61, 1});
        states.push_back({matrix, 1 + 0.2 * i, -0.1, 0.25 * i, {40, 30}, 35});
      }
      for (const std::size_t count : {5, 2, 0}) {
        std::vector<SimilaritySumsResult> together(count);
        plan.execute(stream, images, std::span(states).first(count), together);
        for (std::size_t i = 0; i < count; ++i) {
          const auto alone = plan.execute(stream, images, states[i]);
          CHECK(alone.pixels > 0);
          CHECK(together[i].hessian == alone.hessian);
          CHECK(together[i].gradient == alone.gradient);
          CHECK(together[i].product == alone.product);
        }
      }
      std::vector<SimilaritySumsResult> results(6);
      states.push_back({});
      CHECK_THROWS_AS(plan.execute(stream, images, states, results), Error);
      CHECK_THROWS_AS(plan.execute(stream, images, std::span(states).first(3), results), Error);
    }
  });
}

TEST_CASE("similarity_sums: wrong specifications, states and images are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape shape{8, 8, 1};
    const auto refused = [&](const SimilaritySumsSpec& spec) {
      CHECK_THROWS_AS(SimilaritySumsPlan(device, spec), Error);
    };
    refused({{0, 8, 1}, shape});
    refused({shape, {8, 8, 2}});
    refused({shape, shape, -1});
    refused({shape, shape, 0, 0});
    refused({shape, shape, 0, 1, false, 1});
    refused({shape, shape, 0, 1, false, 65});
    refused({shape, shape, 0, 1, false, -8});
    refused({shape, shape, 0, 1, false, 0, false, 0});
    refused({shape, shape, 0, 1, false, 0, false, 65});

    auto stream = device.make_stream();
    const auto image = device.make_image(PixelType::f32, shape);
    const auto small = device.make_image(PixelType::f32, {8, 7, 1});
    const auto bytes = device.make_image(PixelType::u8, shape);
    const auto field = device.make_image(PixelType::c32, {1, 1, 1});
    const auto wide_field = device.make_image(PixelType::c32, {2, 1, 1});
    const SimilarityImages good{image, image};
    const SimilaritySumsPlan plan(device, {shape, shape});
    const auto not_taken = [&](const SimilarityImages& images, const SimilarityState& state) {
      CHECK_THROWS_AS(static_cast<void>(plan.execute(stream, images, state)), Error);
    };
    not_taken({small, image}, {});
    not_taken({image, bytes}, {});
    not_taken({image, image, &image, &image}, {});
    not_taken({image, image, nullptr, nullptr, &field}, {});
    not_taken(good, {Affine::translation(std::nan(""), 0)});
    not_taken(good, {Affine::translation(0, INFINITY)});
    not_taken(good, {{}, std::nan("")});
    not_taken(good, {{}, 1, INFINITY});
    not_taken(good, {{}, 1, 0, -1});
    not_taken(good, {Homography({1, 0, 0, 0, 1, 0, 1e-3, 0, 1})});  // made for affine matrices
    const SimilaritySumsPlan projective(device, {shape, shape, 0, 1, false, 0, true});
    const auto not_projected = [&](const SimilarityState& state) {
      CHECK_THROWS_AS(static_cast<void>(projective.execute(stream, good, state)), Error);
    };
    not_projected({Homography({1, 0, 0, 0, 1, 0, -0.25, 0, 1})});     // infinite at x = 4
    not_projected({Homography({1, 0, 0, 0, 1, 0, -1.0 / 7, 0, 1})});  // at the last column
    not_projected({Homography({1, 0, 0, 0, 1, 0, 0, 0, 0})});
    not_projected({Homography({1, 0, 0, 0, 1, 0, std::nan(""), 0, 1})});
    not_projected({{}, 1, 0, 0, {}, 0});
    not_projected({{}, 1, 0, 0, {INFINITY, 0}, 1});

    const SimilaritySumsPlan lit(device, {shape, shape, 0, 1, false, 8});
    CHECK_THROWS_AS(static_cast<void>(lit.execute(stream, good, {})), Error);
    CHECK_THROWS_AS(
        static_cast<void>(lit.execute(stream, {image, image, nullptr, nullptr, &wide_field}, {})),
        Error);
    const SimilaritySumsPlan masked(device, {shape, shape, 0, 1, true, 0});
    CHECK_THROWS_AS(static_cast<void>(masked.execute(stream, good, {})), Error);
    CHECK_THROWS_AS(static_cast<void>(masked.execute(stream, {image, image, &image}, {})), Error);
    CHECK_THROWS_AS(static_cast<void>(masked.execute(stream, {image, image, &image, &small}, {})),
                    Error);
  });
}
