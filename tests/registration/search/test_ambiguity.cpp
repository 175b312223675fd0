// Pairs that match at several shifts: none may be accepted, unless the options leave one shift.
#include "registration/scoring/repetition.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/registrar.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace {

using warpalign::HostImage;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;
using warpalign::Shape;

constexpr Shape shape{256, 240, 1};

/// A texture that two vectors repeat: a sum of waves whose frequencies are those of the lattice.
class Texture {
 public:
  Texture(Point first, Point second, std::uint32_t seed) : first_(first), second_(second) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> phase(0, 2 * std::numbers::pi);
    const double area = first.x * second.y - first.y * second.x;
    for (int m = 0; m <= 3; ++m) {
      for (int n = m == 0 ? 1 : -3; n <= 3; ++n) {
        const Point frequency{(m * second.y - n * first.y) / area,
                              (n * first.x - m * second.x) / area};
        waves_.push_back({frequency, phase(random), 1.0 / (1 + std::hypot(m, n))});
      }
    }
  }

  [[nodiscard]] double operator()(Point p) const {
    double sum = 0;
    for (const Wave& wave : waves_) {
      const double turns = wave.frequency.x * p.x + wave.frequency.y * p.y;
      sum += wave.height * std::cos(2 * std::numbers::pi * turns + wave.phase);
    }
    return sum;
  }
  [[nodiscard]] Point first() const { return first_; }
  [[nodiscard]] Point second() const { return second_; }

 private:
  struct Wave {
    Point frequency;
    double phase, height;
  };
  Point first_, second_;
  std::vector<Wave> waves_;
};

/// The moving image's pixel p shows what the reference's pixel p - shift shows.
struct Drawn {
  std::vector<float> reference, moving;
};

template <class Scene>
Drawn drawn(const Scene& scene, Point shift, double noise) {
  std::mt19937 random(7);
  std::normal_distribution<double> error(0, noise);
  Drawn pair;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      const Point from{p.x - shift.x, p.y - shift.y};
      pair.reference.push_back(static_cast<float>(scene(p) + error(random)));
      pair.moving.push_back(static_cast<float>(scene(from) + error(random)));
    }
  }
  return pair;
}

HostImage view(const std::vector<float>& pixels) {
  return {pixels.data(), PixelType::f32, shape.width, shape.height, 0};
}

RegistrationResult registered(const warpalign::Device& device, const Drawn& pair,
                              const RegistrationOptions& options = {}) {
  return warpalign::register_images(device, view(pair.reference), view(pair.moving), options);
}

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

bool is_vector(Point found, Point expected, double tolerance) {
  return distance(found, expected) < tolerance ||
         distance({-found.x, -found.y}, expected) < tolerance;
}

}  // namespace

TEST_CASE("ambiguity: a texture that repeats itself is not accepted, and its period is told") {
  const Texture texture({20, 3}, {-4, 17}, 1);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const double noise : {0.0, 0.5}) {
      CAPTURE(noise);
      // A shift of (5, -4), and one that is a period longer: the shorter one is the answer.
      for (const Point shift : {Point{5, -4}, Point{25, -1}}) {
        const RegistrationResult found = registered(device, drawn(texture, shift, noise));
        CHECK_FALSE(found.reliable);
        CHECK(found.ambiguous);
        CHECK(found.confidence < 0.5);
        // Of noise as strong as half of the texture's height; without it the fit alone remains.
        CHECK(distance(found.similarity.translation, {5, -4}) < 0.1);
        REQUIRE(found.period.size() == 2);
        // A period is measured over several of its lengths, to a fraction of a sample.
        CHECK(is_vector(found.period[0], texture.second(), 0.2));
        CHECK(is_vector(found.period[1], texture.first(), 0.2));
        REQUIRE(found.runners_up.size() == 2);
        for (const auto& other : found.runners_up) CHECK(other.confidence < 0.5);
      }
    }
  });
}

TEST_CASE("ambiguity: limits that leave one shift make a repeating texture certain") {
  const Texture texture({20, 3}, {-4, 17}, 2);
  RegistrationOptions options;
  options.max_shift = 8;
  test::on_every_device([&](const warpalign::Device& device) {
    const RegistrationResult found = registered(device, drawn(texture, {5, -4}, 0.2), options);
    CHECK(found.reliable);
    CHECK_FALSE(found.ambiguous);
    CHECK(found.period.empty());
    CHECK(distance(found.similarity.translation, {5, -4}) < 0.1);
  });
}

TEST_CASE("ambiguity: a texture that repeats itself is not accepted, whatever the motion") {
  const Texture texture({22, 0}, {0, 19}, 3);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rigid, Motion::affine,
                                Motion::homography, Motion::automatic}) {
      CAPTURE(static_cast<int>(motion));
      RegistrationOptions options;
      options.motion = motion;
      const RegistrationResult found = registered(device, drawn(texture, {4, 6}, 0.2), options);
      CHECK_FALSE(found.reliable);
      CHECK(found.ambiguous);
    }
  });
}

TEST_CASE("ambiguity: lines in one direction leave the shift along them open") {
  // A profile across the lines, and noise of its own in each image.
  std::mt19937 random(4);
  std::normal_distribution<double> height;
  std::vector<double> profile(600);
  for (double& value : profile) value = height(random);
  const auto lines = [&](Point p) {
    const double across = 200 + 0.8 * p.x + 0.6 * p.y;
    const auto i = static_cast<std::size_t>(across);
    const double part = across - std::floor(across);
    return (1 - part) * profile[i] + part * profile[i + 1];
  };
  test::on_every_device([&](const warpalign::Device& device) {
    const RegistrationResult found = registered(device, drawn(lines, {8, 6}, 0.2));
    CHECK_FALSE(found.reliable);
    CHECK(found.ambiguous);
    REQUIRE(found.undetermined_direction);
    // Directions are compared in steps of 1.4 degrees.
    CHECK(is_vector(*found.undetermined_direction, {-0.6, 0.8}, 0.04));
  });
}

TEST_CASE("ambiguity: lines of any width and direction leave the shift along them open") {
  // The correlation's ridge is a few samples wide, and crosses the samples at odd angles.
  test::on_every_device([&](const warpalign::Device& device) {
    for (const double degrees : {3.0, 41.9, 75.7, 137.2}) {
      CAPTURE(degrees);
      std::mt19937 random(static_cast<std::uint32_t>(degrees));
      std::normal_distribution<double> height;
      std::uniform_real_distribution<double> frequency(0.003, 0.3);
      struct Wave {
        double frequency, height, phase;
      };
      std::vector<Wave> waves;
      for (int i = 0; i < 60; ++i) waves.push_back({frequency(random), height(random), 0.1 * i});
      const Point across{std::cos(degrees * std::numbers::pi / 180),
                         std::sin(degrees * std::numbers::pi / 180)};
      const auto lines = [&](Point p) {
        double sum = 0;
        for (const Wave& wave : waves) {
          const double turns = wave.frequency * (across.x * p.x + across.y * p.y);
          sum += wave.height * std::cos(2 * std::numbers::pi * turns + wave.phase);
        }
        return sum;
      };
      const RegistrationResult found = registered(device, drawn(lines, {7, -11}, 0.5));
      CHECK_FALSE(found.reliable);
      CHECK(found.ambiguous);
    }
  });
}

TEST_CASE("ambiguity: a photograph with parallel lines does not match its mirror image") {
  const auto pair =
      test::cut(test::photograph("bridge.jpg"), {{300, 300, 1}, {300, 300, 1}, 0, 1, {0, 0}, 1});
  auto mirrored = pair.reference.values;
  for (std::size_t y = 0; y < 300; ++y) {
    std::reverse(mirrored.begin() + static_cast<std::ptrdiff_t>(300 * y),
                 mirrored.begin() + static_cast<std::ptrdiff_t>(300 * (y + 1)));
  }
  const std::vector<float> reference(pair.reference.values.begin(), pair.reference.values.end());
  const std::vector<float> moving(mirrored.begin(), mirrored.end());
  test::on_every_device([&](const warpalign::Device& device) {
    const auto found =
        warpalign::register_images(device, {reference.data(), PixelType::f32, 300, 300, 0},
                                   {moving.data(), PixelType::f32, 300, 300, 0});
    CHECK_FALSE(found.reliable);
  });
}

TEST_CASE("ambiguity: the period is the shortest pair of vectors of a lattice") {
  // Of the lattice of (20, 3) and (-4, 17), with errors of 0.3 and a shift that is no point of it.
  std::mt19937 random(5);
  std::uniform_real_distribution<double> error(-0.3, 0.3);
  std::vector<Point> shifts{{9, 9}};
  for (int m = -3; m <= 3; ++m) {
    for (int n = -3; n <= 3; ++n) {
      if (m == 0 && n == 0) continue;
      shifts.push_back({20.0 * m - 4 * n + error(random), 3.0 * m + 17 * n + error(random)});
    }
  }
  // The stray shift is shorter than the period: taken alone it would be the first vector.
  const auto with_stray = warpalign::detail::period_of(shifts);
  CHECK(with_stray.size() <= 2);
  shifts.erase(shifts.begin());
  const auto period = warpalign::detail::period_of(shifts);
  REQUIRE(period.size() == 2);
  CHECK(is_vector(period[0], {-4, 17}, 0.1));
  CHECK(is_vector(period[1], {20, 3}, 0.1));
  CHECK(warpalign::detail::period_of({}).empty());
  CHECK(warpalign::detail::period_of(std::vector<Point>{{3, 4}}).empty());
  const std::vector<Point> stripes{{6, 8}, {-3, -4}, {3, 4}, {9, 12}};
  const auto on_line = warpalign::detail::period_of(stripes);
  REQUIRE(on_line.size() == 1);
  CHECK(is_vector(on_line[0], {3, 4}, 1e-9));
}
