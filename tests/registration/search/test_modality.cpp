// Registration of images of different modalities, and how much effort a search spends, on every
// device.
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/error.hpp>
#include <warpalign/registrar.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

using warpalign::Effort;
using warpalign::Error;
using warpalign::HostImage;
using warpalign::Modality;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;
using warpalign::SearchMethod;
using warpalign::Shape;

constexpr Shape shape{300, 260, 1};

// Maps intensities, from 0 to 1, to those of another modality.
using Contrast = std::function<double(double)>;

double inverted(double v) { return 1 - v; }
double strong_gamma(double v) { return std::pow(v, 4); }
// Permutes eighths of the range, so that no order of brightness is left.
double permuted(double v) {
  constexpr double order[8]{5, 0, 6, 3, 7, 1, 4, 2};
  const int piece = std::clamp(static_cast<int>(8 * v), 0, 7);
  return (order[piece] + (8 * v - piece)) / 8;
}
// The middle of the range transmits least.
double absorbed(double v) { return std::exp(-4 * v * (1 - v)); }

struct Pixels {
  std::vector<float> values;
  Shape size;
  [[nodiscard]] HostImage view() const {
    return {values.data(), PixelType::f32, size.width, size.height, 0};
  }
};

Pixels pixels_of(const reference::Plane& plane, const Contrast& contrast) {
  Pixels pixels{{}, {plane.width, plane.height, 1}};
  for (const double value : plane.values) {
    pixels.values.push_back(static_cast<float>(255 * contrast(value / 255)));
  }
  return pixels;
}

double same(double v) { return v; }

// Adds noise of a standard deviation in grey levels, for a range of 255.
void add_noise(Pixels& pixels, float deviation, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, deviation);
  for (float& value : pixels.values) value += noise(random);
}

// A scene lit from the left, bright where it rises to the right, plus its own negative times a
// contrast. A part of its contrast is reversed, and the other part lies beside the edges.
Pixels lit_from_the_side(const reference::Plane& plane, double contrast) {
  Pixels pixels{{}, {plane.width, plane.height, 1}};
  for (std::int64_t y = 0; y < plane.height; ++y) {
    for (std::int64_t x = 0; x < plane.width; ++x) {
      const auto at = [&](std::int64_t column) {
        return plane.values[static_cast<std::size_t>(
            y * plane.width + std::clamp<std::int64_t>(column, 0, plane.width - 1))];
      };
      const double value = 120 + 4 * (at(x + 1) - at(x - 1)) + contrast * (100 - at(x));
      pixels.values.push_back(static_cast<float>(std::clamp(value, 0.0, 255.0)));
    }
  }
  return pixels;
}

test::Pair pair_of(const std::string& photograph, const warpalign::Similarity& similarity) {
  return test::cut(test::photograph(photograph), {shape, shape, similarity, 1.5});
}

// A photograph and its shifted negative, both with noise.
struct NoisyNegative {
  Pixels reference, moving;
  warpalign::Affine truth;
};

NoisyNegative noisy_negative(const warpalign::Point& shift, float deviation, std::uint32_t seed) {
  const auto pair = pair_of("bridge.jpg", {0, 1, shift});
  NoisyNegative noisy{pixels_of(pair.reference, same), pixels_of(pair.moving, inverted),
                      pair.truth};
  add_noise(noisy.reference, deviation, seed);
  add_noise(noisy.moving, deviation, seed + 1);
  return noisy;
}

RegistrationResult registered(const warpalign::Device& device, const Pixels& reference,
                              const Pixels& moving, const RegistrationOptions& options) {
  return warpalign::register_images(device, reference.view(), moving.view(), options);
}

RegistrationOptions with(Modality modality, Effort effort = Effort::standard) {
  RegistrationOptions options;
  options.modality = modality;
  options.search = effort;
  return options;
}

std::vector<SearchMethod> tried(const RegistrationResult& result) {
  return {result.tried.begin(), result.tried.end()};
}

}  // namespace

TEST_CASE("modality: reversed, bent, permuted and absorbing contrasts are registered") {
  struct Kind {
    const char* name;
    Contrast contrast;
    double tolerance;  // mean corner error, in pixels
  };
  // Edges in photographs are one or two pixels wide. A contrast that keeps or reverses the order
  // of intensities keeps their orientations. A permuted contrast turns each edge into several
  // edges, some of them beside it, which leaves an error of some tenths of a pixel.
  const std::vector<Kind> kinds{{"inverted", inverted, 0.1},
                                {"gamma", strong_gamma, 0.3},
                                {"permuted", permuted, 0.5},
                                {"absorbed", absorbed, 0.5}};
  const auto pair = pair_of("bridge.jpg", {17, 1.15, {12, -9}});
  const Pixels reference = pixels_of(pair.reference, same);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Kind& kind : kinds) {
      CAPTURE(kind.name);
      const Pixels moving = pixels_of(pair.moving, kind.contrast);
      const auto found = registered(device, reference, moving, with(Modality::other));
      CHECK(found.reliable);
      CHECK(found.refined);
      CHECK(found.modality == Modality::other);
      CHECK(found.proposed_by == SearchMethod::gradient_orientation);
      CHECK(tried(found) == std::vector{SearchMethod::gradient_orientation});
      REQUIRE(found.null_test);
      CHECK(found.null_test->z_score > found.null_test->max_null_z + 1);
      CHECK(test::mean_corner_distance(found.matrix, pair.truth, shape) <= kind.tolerance);
    }
  });
}

TEST_CASE("modality: noise does not attract a fit to positions half a pixel off") {
  // Between pixels a spline smooths noise. Without smoothing of the fields, fits end 0.36 to 0.78
  // pixels from the truth. The noise itself accounts for up to 0.12.
  constexpr double tolerance = 0.3;
  const std::vector<warpalign::Point> shifts{{12, -9}, {12.2, -9.3}, {-7.4, 5.1}};
  test::on_every_device([&](const warpalign::Device& device) {
    for (const warpalign::Point& shift : shifts) {
      CAPTURE(shift.x);
      const NoisyNegative pair = noisy_negative(shift, 8, 1);
      const auto found = registered(device, pair.reference, pair.moving, with(Modality::other));
      CHECK(found.reliable);
      CHECK(test::mean_corner_distance(found.matrix, pair.truth, shape) <= tolerance);
    }
  });
}

TEST_CASE("modality: noise does not turn a similarity into an affine transform") {
  // A model that maps pixels between pixels would explain noise better than one that maps them to
  // pixels.
  const std::vector<warpalign::Point> shifts{{12, -9}, {12.2, -9.3}, {-7.4, 5.1}, {6, 6}, {3, -14}};
  test::on_every_device([&](const warpalign::Device& device) {
    for (const warpalign::Point& shift : shifts) {
      for (const float deviation : {2.0F, 4.0F, 8.0F}) {
        CAPTURE(shift.x);
        CAPTURE(deviation);
        const NoisyNegative pair = noisy_negative(shift, deviation, 3);
        RegistrationOptions options = with(Modality::other);
        options.motion = Motion::automatic;
        CHECK(registered(device, pair.reference, pair.moving, options).motion ==
              Motion::similarity);
      }
    }
  });
}

TEST_CASE("modality: auto tries gradient orientations only if intensities fail") {
  const auto pair = pair_of("citrus.jpg", {-40, 0.9, {-15, 20}});
  const Pixels reference = pixels_of(pair.reference, same);
  const Pixels alike = pixels_of(pair.moving, same);
  const Pixels negative = pixels_of(pair.moving, inverted);
  test::on_every_device([&](const warpalign::Device& device) {
    const auto by_grey_levels = registered(device, reference, alike, with(Modality::automatic));
    CHECK(by_grey_levels.reliable);
    CHECK(by_grey_levels.modality == Modality::same);
    CHECK_FALSE(by_grey_levels.tried.contains(SearchMethod::gradient_orientation));
    CHECK(test::mean_corner_distance(by_grey_levels.matrix, pair.truth, shape) <= 0.02);

    CHECK_FALSE(registered(device, reference, negative, with(Modality::same)).reliable);
    const auto by_directions = registered(device, reference, negative, with(Modality::automatic));
    CHECK(by_directions.reliable);
    CHECK(by_directions.modality == Modality::other);
    CHECK(by_directions.tried.contains(SearchMethod::log_polar));
    CHECK(tried(by_directions).back() == SearchMethod::gradient_orientation);
    CHECK(test::mean_corner_distance(by_directions.matrix, pair.truth, shape) <= 0.1);
  });
}

TEST_CASE("modality: auto corrects an uncertain intensity candidate by gradient orientations") {
  const auto pair = pair_of("bridge.jpg", {5, 1, {6, -4}});
  const Pixels reference = pixels_of(pair.reference, same);
  const Pixels lit = lit_from_the_side(pair.moving, 2);
  test::on_every_device([&](const warpalign::Device& device) {
    // Another shift correlates better than where the fit by intensity ends.
    const auto by_grey_levels = registered(device, reference, lit, with(Modality::same));
    CHECK_FALSE(by_grey_levels.reliable);
    CHECK(test::mean_corner_distance(by_grey_levels.matrix, pair.truth, shape) > 2);

    const auto by_both = registered(device, reference, lit, with(Modality::automatic));
    CHECK(by_both.reliable);
    CHECK(by_both.modality == Modality::other);
    CHECK(by_both.tried.contains(SearchMethod::log_polar));
    CHECK(tried(by_both).back() == SearchMethod::gradient_orientation);
    REQUIRE(by_both.null_test);
    REQUIRE(by_grey_levels.null_test);
    CHECK(by_both.null_test->z_score > by_grey_levels.null_test->z_score);
    CHECK(test::mean_corner_distance(by_both.matrix, pair.truth, shape) < 1.5);
  });
}

TEST_CASE("modality: of two results for one pose, the better determined one is reported") {
  const auto pair = pair_of("bridge.jpg", {5, 1, {6, -4}});
  const Pixels reference = pixels_of(pair.reference, same);
  const Pixels lit = lit_from_the_side(pair.moving, 1);
  test::on_every_device([&](const warpalign::Device& device) {
    // Intensity is farther above chance, but not exact.
    const auto by_grey_levels = registered(device, reference, lit, with(Modality::same));
    const auto by_directions = registered(device, reference, lit, with(Modality::other));
    CHECK_FALSE(by_grey_levels.reliable);
    CHECK(by_grey_levels.correlation < 0.5);
    REQUIRE(by_grey_levels.null_test);
    REQUIRE(by_directions.null_test);
    CHECK(by_grey_levels.null_test->z_score > by_directions.null_test->z_score);
    CHECK(by_grey_levels.significance < by_directions.significance);
    CHECK(test::mean_corner_distance(by_grey_levels.matrix, pair.truth, shape) > 3);

    const auto by_both = registered(device, reference, lit, with(Modality::automatic));
    CHECK(by_both.reliable);
    CHECK(by_both.modality == Modality::other);
    CHECK(test::mean_corner_distance(by_both.matrix, pair.truth, shape) < 1.5);
  });
}

TEST_CASE("modality: every motion, with images of different contrast") {
  const warpalign::Similarity shifted{0, 1, {14, -11}};
  const auto pair = pair_of("bridge.jpg", shifted);
  const Pixels reference = pixels_of(pair.reference, same);
  const Pixels moving = pixels_of(pair.moving, inverted);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rigid, Motion::affine,
                                Motion::homography, Motion::automatic}) {
      CAPTURE(static_cast<int>(motion));
      RegistrationOptions options = with(Modality::other);
      options.motion = motion;
      const auto found = registered(device, reference, moving, options);
      CHECK(found.reliable);
      // With more parameters a fit follows more of the ambiguity of wide edges.
      CHECK(test::mean_corner_distance(found.homography, pair.truth, shape) <= 0.3);
      CHECK(found.motion == (motion == Motion::automatic ? Motion::similarity : motion));
    }
  });
}

TEST_CASE("modality: a homography between images of different contrast") {
  const warpalign::Homography truth =
      test::moving_corners(shape, {{{14, 9}, {-10, 16}, {-18, -12}, {12, -14}}});
  const auto pair = test::cut_by(test::photograph("bridge.jpg"), shape, truth);
  const Pixels reference = pixels_of(pair.reference, same);
  const Pixels moving = pixels_of(pair.moving, inverted);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::homography, Motion::automatic}) {
      RegistrationOptions options = with(Modality::other);
      options.motion = motion;
      const auto found = registered(device, reference, moving, options);
      CHECK(found.reliable);
      CHECK(found.motion == Motion::homography);
      CHECK(test::mean_corner_distance(found.homography, truth, shape) <= 0.3);
    }
  });
}

TEST_CASE("modality: unrelated images are refused") {
  const std::vector<std::string> names{"bridge.jpg", "citrus.jpg", "bee.jpg", "retina.jpg"};
  test::on_every_device([&](const warpalign::Device& device) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Pixels reference = pixels_of(pair_of(names[i], {}).reference, same);
      const Pixels moving =
          pixels_of(pair_of(names[(i + 1) % names.size()], {}).reference, inverted);
      for (const Modality modality : {Modality::other, Modality::automatic}) {
        CHECK_FALSE(registered(device, reference, moving, with(modality)).reliable);
      }
    }
  });
}

TEST_CASE("modality: images without edges are unreliable, not wrong") {
  Pixels ramp{{}, shape};
  Pixels blob{{}, shape};
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double u = static_cast<double>(x - shape.width / 2) / 90;
      const double v = static_cast<double>(y - shape.height / 2) / 90;
      ramp.values.push_back(static_cast<float>(100 + 40 * u));
      blob.values.push_back(static_cast<float>(200 * std::exp(-u * u - v * v)));
    }
  }
  test::on_every_device([&](const warpalign::Device& device) {
    CHECK_FALSE(registered(device, ramp, blob, with(Modality::other)).reliable);
    CHECK_FALSE(registered(device, ramp, ramp, with(Modality::other)).reliable);
  });
}

TEST_CASE("modality: masks hide content that only one image shows") {
  const auto pair = pair_of("bridge.jpg", {8, 1, {6, -4}});
  const Pixels reference = pixels_of(pair.reference, same);
  Pixels moving = pixels_of(pair.moving, inverted);
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(shape.plane()), 255);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width / 3; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      mask[i] = 0;
      // edges that the reference does not have
      moving.values[i] = (x / 16 + y / 16) % 2 == 0 ? 0.0F : 255.0F;
    }
  }
  test::on_every_device([&](const warpalign::Device& device) {
    warpalign::Registrar registrar(device, with(Modality::other));
    registrar.set_reference(reference.view());
    const auto found =
        registrar.align(moving.view(), {mask.data(), PixelType::u8, shape.width, shape.height, 0});
    CHECK(found.reliable);
    CHECK(test::mean_corner_distance(found.matrix, pair.truth, shape) <= 0.15);
  });
}

TEST_CASE("effort: what each effort tries, and what it reports") {
  const auto pair = pair_of("bridge.jpg", {25, 1.1, {9, 5}});
  const Pixels reference = pixels_of(pair.reference, same);
  const Pixels moving = pixels_of(pair.moving, same);
  const Pixels other = pixels_of(pair_of("bee.jpg", {}).reference, same);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Effort effort : {Effort::fast, Effort::standard}) {
      const auto easy = registered(device, reference, moving, with(Modality::same, effort));
      CHECK(easy.reliable);
      CHECK(tried(easy) == std::vector{SearchMethod::log_polar});
      CHECK(easy.proposed_by == SearchMethod::log_polar);
      CHECK_FALSE(easy.null_test);  // it is conclusive
      CHECK(easy.num_trials > 1e6);
    }
    const auto thorough =
        registered(device, reference, moving, with(Modality::same, Effort::thorough));
    CHECK(thorough.reliable);
    CHECK(tried(thorough) == std::vector{SearchMethod::log_polar, SearchMethod::grid});
    CHECK(test::mean_corner_distance(thorough.matrix, pair.truth, shape) <= 0.02);

    const auto fast = registered(device, reference, other, with(Modality::automatic, Effort::fast));
    CHECK_FALSE(fast.reliable);
    CHECK(tried(fast) == std::vector{SearchMethod::log_polar});
    const auto standard = registered(device, reference, other, with(Modality::same));
    CHECK_FALSE(standard.reliable);
    CHECK(tried(standard) == std::vector{SearchMethod::log_polar, SearchMethod::grid});
    REQUIRE(standard.null_test);
    CHECK(standard.null_test->z_score < standard.null_test->max_null_z + 1);
  });
}

TEST_CASE("effort: fast and the paper's pipeline refuse options that they do not support") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto refuses = [&](const RegistrationOptions& options, const char* message) {
      try {
        const warpalign::Registrar registrar(device, options);
        FAIL("was accepted, expected: " << message);
      } catch (const Error& error) {
        CHECK(error.kind() == warpalign::ErrorKind::invalid_argument);
        CHECK_MESSAGE(std::string(error.what()).find(message) != std::string::npos, error.what());
      }
    };
    refuses(with(Modality::other, Effort::fast), "log-polar spectra of intensities");
    RegistrationOptions paper = with(Modality::other);
    paper.fast = true;
    refuses(paper, "modality");
    paper = with(Modality::same, Effort::thorough);
    paper.fast = true;
    refuses(paper, "or search");
  });
}
