// Registrations near an initial transform: the answer is the pose that holds nearest to it.
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/error.hpp>
#include <warpalign/registrar.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::Error;
using warpalign::Homography;
using warpalign::HostImage;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::Registrar;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;
using warpalign::SearchMethod;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{256, 240, 1};

struct Drawn {
  std::vector<float> reference, moving;
};

/// The moving image's pixel p shows what the reference's pixel p - shift shows, with noise of its
/// own in each image.
template <class Scene>
Drawn drawn(const Scene& scene, Point shift, double noise = 0.1) {
  std::mt19937 random(7);
  std::normal_distribution<double> error(0, noise);
  Drawn pair;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      pair.reference.push_back(static_cast<float>(scene(p) + error(random)));
      pair.moving.push_back(
          static_cast<float>(scene({p.x - shift.x, p.y - shift.y}) + error(random)));
    }
  }
  return pair;
}

HostImage view(const std::vector<float>& pixels) {
  return {pixels.data(), PixelType::f32, shape.width, shape.height, 0};
}

RegistrationResult registered(const warpalign::Device& device, const Drawn& pair,
                              const Homography& initial, const RegistrationOptions& options = {}) {
  Registrar registrar(device, options);
  registrar.set_reference(view(pair.reference));
  registrar.set_initial(initial);
  return registrar.align(view(pair.moving));
}

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// Waves of period 24 along x and 20 along y.
double lattice(Point p) {
  const double u = p.x * 2 * M_PI / 24;
  const double v = p.y * 2 * M_PI / 20;
  return std::cos(u) + std::sin(v) + 0.5 * std::cos(2 * u + v) + 0.3 * std::sin(u - 2 * v);
}

/// Noise, averaged over 4 x 4 pixels.
class RandomTexture {
 public:
  explicit RandomTexture(std::uint32_t seed) : noise_(side * side) {
    std::mt19937 random(seed);
    std::normal_distribution<double> value;
    for (double& one : noise_) one = value(random);
  }
  [[nodiscard]] double operator()(std::int64_t x, std::int64_t y) const {
    double sum = 0;
    for (std::int64_t v = 0; v < 4; ++v) {
      for (std::int64_t u = 0; u < 4; ++u) {
        sum += noise_[static_cast<std::size_t>(side * (y + v + margin) + x + u + margin)];
      }
    }
    return sum;
  }

 private:
  static constexpr std::int64_t margin = 40;
  static constexpr std::int64_t side = 340;
  std::vector<double> noise_;
};

/// A photograph's pair, whose corners the search finds to a hundredth of a pixel.
struct Photographs {
  explicit Photographs(const Similarity& between)
      : pair(test::cut(test::photograph("bridge.jpg"), {shape, shape, between, 1.2})) {
    drawn.reference.assign(pair.reference.values.begin(), pair.reference.values.end());
    drawn.moving.assign(pair.moving.values.begin(), pair.moving.values.end());
  }
  test::Pair pair;
  Drawn drawn;
};

}  // namespace

TEST_CASE("initial: of the shifts of a repeating texture the nearest is the answer") {
  const Drawn pair = drawn(lattice, {5, -4});
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rigid, Motion::similarity}) {
      CAPTURE(static_cast<int>(motion));
      RegistrationOptions options;
      options.motion = motion;
      for (const Point answer : {Point{5, -4}, Point{29, -4}, Point{-19, 16}, Point{5, -24}}) {
        // A third of the period from the answer is nearer to it than to any other shift.
        for (const Point error : {Point{0, 0}, Point{3, -2}, Point{-5, 4}}) {
          CAPTURE(answer.x);
          CAPTURE(error.x);
          const auto found = registered(
              device, pair, Affine::translation(answer.x + error.x, answer.y + error.y), options);
          CHECK(found.reliable);
          CHECK_FALSE(found.ambiguous);
          // The noise is a tenth of the texture's height, on 60 000 pixels.
          CHECK(distance(found.similarity.translation, answer) < 0.05);
        }
      }
    }
  });
}

TEST_CASE("initial: midway between two equal shifts the answer stays ambiguous") {
  const Drawn pair = drawn(lattice, {5, -4});
  RegistrationOptions options;
  options.motion = Motion::translation;
  test::on_every_device([&](const warpalign::Device& device) {
    const auto found = registered(device, pair, Affine::translation(5 + 12, -4), options);
    CHECK_FALSE(found.reliable);
    CHECK(found.ambiguous);
  });
}

TEST_CASE("initial: a former result leads to the answer at once") {
  const Similarity between{20, 1.3, {14, -9}};
  const Photographs images(between);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::similarity, Motion::affine, Motion::homography}) {
      CAPTURE(static_cast<int>(motion));
      RegistrationOptions options;
      options.motion = motion;
      const Similarity rough{21, 1.28, {18, -12}};
      const auto found = registered(device, images.drawn, rough.matrix(shape, shape), options);
      CHECK(found.reliable);
      CHECK(found.proposed_by == SearchMethod::initial);
      CHECK(found.tried.size() == 1);
      // The requirement for the 95th percentile of clean pairs.
      CHECK(test::max_corner_distance(found.matrix, images.pair.truth, shape) < 0.05);
    }
  });
}

TEST_CASE("initial: a transform that leads nowhere leaves the result of the search") {
  const Photographs images({-35, 0.8, {-20, 30}});
  test::on_every_device([&](const warpalign::Device& device) {
    Registrar registrar(device);
    registrar.set_reference(view(images.drawn.reference));
    const auto expected = registrar.align(view(images.drawn.moving));
    REQUIRE(expected.reliable);
    registrar.set_initial(Similarity{120, 1.5, {40, 10}}.matrix(shape, shape));
    const auto found = registrar.align(view(images.drawn.moving));
    CHECK(found.reliable);
    CHECK(found.tried.contains(SearchMethod::initial));
    CHECK(test::max_corner_distance(found.matrix, images.pair.truth, shape) < 0.05);
    registrar.clear_initial();
    const auto again = registrar.align(view(images.drawn.moving));
    CHECK(again.matrix.c == expected.matrix.c);
    CHECK_FALSE(again.tried.contains(SearchMethod::initial));
  });
}

TEST_CASE("initial: of two motions the nearer one is the answer") {
  // Two textures of equal roughness that are added, the second one at 0.8 of the first one's
  // height.
  const RandomTexture first(3);
  const RandomTexture second(4);
  Drawn pair;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      pair.reference.push_back(static_cast<float>(first(x, y) + 0.8 * second(x, y)));
      pair.moving.push_back(
          static_cast<float>(first(x - 12, y - 7) + 0.8 * second(x + 18, y - 11)));
    }
  }
  RegistrationOptions options;
  options.motion = Motion::translation;
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Point motion : {Point{12, 7}, Point{-18, 11}}) {
      CAPTURE(motion.x);
      const auto found =
          registered(device, pair, Affine::translation(motion.x + 1, motion.y - 1), options);
      CHECK(found.reliable);
      // The other motion's texture is noise for this one.
      CHECK(distance(found.similarity.translation, motion) < 0.3);
    }
  });
}

TEST_CASE("initial: unrelated images are not accepted") {
  const Photographs one({0, 1, {0, 0}});
  const auto other = test::photograph("gravel.png");
  const auto cut = test::cut(other, {shape, shape, Similarity{}, 1.2});
  Drawn pair = one.drawn;
  pair.moving.assign(cut.moving.values.begin(), cut.moving.values.end());
  test::on_every_device([&](const warpalign::Device& device) {
    CHECK_FALSE(registered(device, pair, Homography{}).reliable);
  });
}

TEST_CASE("initial: wrong transforms are refused before anything runs") {
  const Photographs images({0, 1, {3, 4}});
  test::on_every_device([&](const warpalign::Device& device) {
    const auto refused = [&](const Homography& initial, const std::string& why,
                             const RegistrationOptions& options = {}) {
      CAPTURE(why);
      std::string message;
      try {
        (void)registered(device, images.drawn, initial, options);
      } catch (const Error& error) {
        CHECK(error.kind() == warpalign::ErrorKind::invalid_argument);
        message = error.what();
      }
      CAPTURE(message);
      CHECK(message.find(why) != std::string::npos);
    };
    refused(Affine{1, 2, 0, 2, 4, 0}, "singular");
    refused(Affine{0, 0, 0, 0, 0, 0}, "singular");
    refused(Affine{-1, 0, 255, 0, 1, 0}, "mirrors");
    refused(Affine{1, 0, std::numeric_limits<double>::quiet_NaN(), 0, 1, 0}, "finite");
    refused(Affine::translation(0, 400), "puts the images apart");
    refused(Homography{{1, 0, 0, 0, 1, 0, -0.01, 0, 1}}, "to infinity");
    RegistrationOptions options;
    options.max_shift = 10;
    refused(Affine::translation(20, 0), "options exclude the initial transform", options);
    options = {};
    options.max_shift_x = 10;
    refused(Affine::translation(20, 0), "options exclude the initial transform", options);
    options = {};
    options.max_shift_y = 10;
    refused(Affine::translation(0, -20), "options exclude the initial transform", options);
    options = {};
    options.motion = Motion::translation;
    refused(Similarity{30, 1, {}}.matrix(shape, shape), "rotation is 30.00 degrees", options);
    options = {};
    options.min_angle = -10;
    options.max_angle = 10;
    refused(Similarity{30, 1, {}}.matrix(shape, shape), "options exclude", options);
    options = {};
    options.fast = true;
    refused(Homography{}, "fast", options);
  });
}

TEST_CASE("initial: each pair of a batch looks near its own transform") {
  const Drawn drawn_pair = drawn(lattice, {5, -4});
  const Point answers[] = {{5, -4}, {29, -4}, {-19, 16}};
  std::vector<warpalign::HostPair> pairs;
  for (const Point answer : answers) {
    warpalign::HostPair pair{view(drawn_pair.reference), view(drawn_pair.moving)};
    pair.initial = Affine::translation(answer.x + 3, answer.y - 2);
    pairs.push_back(pair);
  }
  pairs.push_back({view(drawn_pair.reference), view(drawn_pair.moving)});
  RegistrationOptions options;
  options.motion = Motion::translation;
  test::on_every_device([&](const warpalign::Device& device) {
    // One worker: the last pair must not use the transform of the one before.
    const auto results = warpalign::align_batch({&device, 1}, pairs, options, {1});
    for (std::size_t i = 0; i < std::size(answers); ++i) {
      CAPTURE(i);
      REQUIRE(results[i].result);
      CHECK(results[i].result->reliable);
      // The noise is a tenth of the texture's height, on 60 000 pixels.
      CHECK(distance(results[i].result->similarity.translation, answers[i]) < 0.05);
    }
    REQUIRE(results.back().result);
    CHECK(results.back().result->ambiguous);
  });
}

TEST_CASE("initial: a wrong transform of one pair is refused before any pair is registered") {
  const Drawn pair = drawn(lattice, {5, -4});
  const warpalign::HostPair good{view(pair.reference), view(pair.moving)};
  test::on_every_device([&](const warpalign::Device& device) {
    const auto refused = [&](const Homography& initial, const std::string& why,
                             const RegistrationOptions& options = {}) {
      std::vector<warpalign::HostPair> pairs{good, good, good};
      pairs[2].initial = initial;
      CHECK_THROWS_WITH_AS((void)warpalign::align_batch({&device, 1}, pairs, options),
                           doctest::Contains("pair 2: the "), Error);
      CHECK_THROWS_WITH((void)warpalign::align_batch({&device, 1}, pairs, options),
                        doctest::Contains(why.c_str()));
      // From a source, which the batch asks pair by pair, only that pair fails.
      std::vector<bool> failed(3);
      warpalign::align_batch(
          {&device, 1}, pairs.size(), [&](std::size_t i) { return pairs[i]; },
          [&](std::size_t i, const warpalign::BatchResult& result) {
            failed[i] =
                result.error && result.error->kind() == warpalign::ErrorKind::invalid_argument;
            return true;
          },
          options);
      CHECK(failed == std::vector<bool>{false, false, true});
    };
    refused(Affine{1, 2, 0, 2, 4, 0}, "singular");
    refused(Affine{-1, 0, 239, 0, 1, 0}, "mirrors");
    refused(Affine::translation(0, 400), "puts the images apart");
    RegistrationOptions options;
    options.max_shift_x = 10;
    refused(Affine::translation(20, 0), "options exclude", options);
    CHECK_THROWS_WITH_AS(
        warpalign::check_initial(Affine{-1, 0, 239, 0, 1, 0}, options, shape, shape),
        doctest::Contains("mirrors"), Error);
    warpalign::check_initial(Affine::translation(5, 90), options, shape, shape);
  });
}
