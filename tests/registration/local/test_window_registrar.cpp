// The shifts of windows: whole frames, noise, illumination, outliers, and invalid input.
#include "registration/local/drawn_frame.hpp"
#include "support/devices.hpp"
#include "support/noise.hpp"
#include "support/waves.hpp"

#include <warpalign/error.hpp>
#include <warpalign/local_motion.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using warpalign::HostImage;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::Shape;
using warpalign::WindowOptions;
using warpalign::WindowRegistrar;
using warpalign::WindowShift;

class Scene : public test::Waves {
 public:
  explicit Scene(std::uint32_t seed) : Waves(seed, 200) {}
};

using Pixels = std::vector<float>;

template <class Displacement>
Pixels drawn(const Scene& scene, const Shape& shape, const Displacement& u) {
  return test::drawn_frame(scene, shape, u);
}

Pixels drawn(const Scene& scene, const Shape& shape, const Point& shift) {
  return drawn(scene, shape, [&](const Point&) { return shift; });
}

HostImage view(const Pixels& pixels, const Shape& shape) {
  return {pixels.data(), PixelType::f32, shape.width, shape.height};
}

std::vector<WindowShift> shifts_of(const warpalign::Device& device, const Shape& shape,
                                   const WindowOptions& options, const Pixels& reference,
                                   const std::vector<Pixels>& frames) {
  WindowRegistrar registrar(device, PixelType::f32, shape, options);
  registrar.set_reference(view(reference, shape));
  std::vector<HostImage> views;
  for (const Pixels& frame : frames) views.push_back(view(frame, shape));
  return registrar.align(views);
}

double error_of(const WindowShift& found, const Point& expected) {
  return std::hypot(found.shift.x - expected.x, found.shift.y - expected.y);
}

constexpr Shape shape{150, 128, 1};
constexpr WindowOptions whole{0, 0, 0, 0, 0, 0};

}  // namespace

TEST_CASE("windows: the shifts of whole frames, with a last batch that is not full") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(1);
    const std::vector<Point> shifts{
        {0, 0}, {0.5, 0.5}, {-3.25, 7.875}, {20.3, -11.6}, {-0.1, 0.02}};
    std::vector<Pixels> frames;
    for (const Point& shift : shifts) frames.push_back(drawn(scene, shape, shift));
    WindowOptions options = whole;
    options.batch = 2;
    const auto found = shifts_of(device, shape, options, drawn(scene, shape, Point{}), frames);
    REQUIRE(found.size() == shifts.size());
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      CAPTURE(i);
      CHECK(found[i].reliable);
      // The waves are 6 pixels and longer. At these lengths, smoothing by the spline's samples and
      // by the spline itself differ by less than a hundredth, in height but not in position.
      CHECK(error_of(found[i], shifts[i]) <= 0.002);
      CHECK(found[i].centre.x == 74.5);
      CHECK(found[i].centre.y == 63.5);
    }
  });
}

TEST_CASE("windows: a motion that varies within the frame") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(2);
    const auto u = [](const Point& p) {
      return Point{2.5 + 0.02 * (p.x - 75), -1.5 + 1.2 * std::sin(p.y / 60)};
    };
    const WindowOptions options{48, 40, 17, 20, 12, 0};
    const auto found =
        shifts_of(device, shape, options, drawn(scene, shape, Point{}), {drawn(scene, shape, u)});
    WindowRegistrar registrar(device, PixelType::f32, shape, options);
    CHECK(registrar.windows_x() == 7);
    CHECK(registrar.windows_y() == 6);
    REQUIRE(found.size() == registrar.windows());
    double sum = 0;
    for (const WindowShift& window : found) {
      CAPTURE(window.centre.x);
      CAPTURE(window.centre.y);
      CHECK(window.reliable);
      // The field varies within a window, and the window's shift is an average weighted by
      // contrast: 2 % of 48 pixels is half a pixel between the centre and the edge.
      const double error = error_of(window, u(window.centre));
      CHECK(error <= 0.15);
      sum += error * error;
    }
    CHECK(std::sqrt(sum / static_cast<double>(found.size())) <= 0.06);
  });
}

TEST_CASE("windows: gain and offset may differ from window to window") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(3);
    const Point shift{1.37, -2.61};
    Pixels frame = drawn(scene, shape, shift);
    for (std::size_t i = 0; i < frame.size(); ++i) {
      const float x = static_cast<float>(i % 150) / 150;
      frame[i] = frame[i] * (0.75F + x / 2) + 15 * x;
    }
    const auto found =
        shifts_of(device, shape, {64, 64, 0, 0, 0, 0}, drawn(scene, shape, Point{}), {frame});
    for (const WindowShift& window : found) {
      CHECK(window.reliable);
      // Within a window the brightness still rises by a quarter of the pixels' standard deviation.
      CHECK(error_of(window, shift) <= 0.05);
    }
  });
}

TEST_CASE("windows: noise causes no bias to or from whole pixels, and error estimates are right") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(4);
    Pixels reference = drawn(scene, shape, Point{});
    const double noise = 0.5 * test::deviation_of(reference);
    test::add_noise(reference, noise, 1);
    std::vector<Pixels> frames;
    std::vector<Point> shifts;
    for (std::uint32_t i = 0; i < 24; ++i) {
      shifts.push_back({static_cast<double>(i % 8) / 8, static_cast<double>(i / 8) / 3});
      frames.push_back(drawn(scene, shape, shifts.back()));
      test::add_noise(frames.back(), noise, 100 + i);
    }
    const auto found = shifts_of(device, shape, whole, reference, frames);
    double squares = 0;
    double estimated_squares = 0;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      CHECK(found[i].reliable);
      const double error = error_of(found[i], shifts[i]);
      // Three times the error that this noise causes along each axis, 0.023 pixels.
      CHECK(error <= 0.07);
      squares += error * error;
      estimated_squares += 2 * found[i].uncertainty * found[i].uncertainty;
    }
    // All frames share the reference's noise, so their errors are not 24 independent samples: the
    // test allows a factor of two.
    CHECK(squares <= 4 * estimated_squares);
    CHECK(estimated_squares <= 4 * squares);
  });
}

TEST_CASE("windows: an object that moves on its own in a part of the window is ignored") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(5);
    const Scene other(6);
    const Point shift{-1.7, 0.4};
    Pixels frame = drawn(scene, shape, shift);
    for (std::size_t y = 40; y < 70; ++y) {
      for (std::size_t x = 50; x < 90; ++x) {
        frame[y * 150 + x] =
            200 + 3 * static_cast<float>(other.at(static_cast<double>(x), static_cast<double>(y)));
      }
    }
    const auto found = shifts_of(device, shape, whole, drawn(scene, shape, Point{}), {frame});
    CHECK(found[0].reliable);
    CHECK(error_of(found[0], shift) <= 0.01);
  });
}

TEST_CASE("windows: windows with other content, none or NaN are not reliable") {
  test::on_every_device([](const warpalign::Device& device) {
    const Pixels reference = drawn(Scene(7), shape, Point{});
    Pixels broken = reference;
    std::fill(broken.begin(), broken.begin() + 150 * 64, std::numeric_limits<float>::quiet_NaN());
    std::vector<Pixels> frames{Pixels(reference.size(), 3.0F), broken};
    for (std::uint32_t seed = 20; seed < 30; ++seed) {
      frames.push_back(drawn(Scene(seed), shape, Point{}));
    }
    const auto found = shifts_of(device, shape, {64, 64, 43, 64, 0, 0}, reference, frames);
    const std::size_t windows = found.size() / frames.size();
    REQUIRE(windows == 6);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      // The lower half of the second frame has no NaN.
      const bool whole_half = i / windows == 1 && i % windows >= 3;
      CHECK(found[i].reliable == whole_half);
    }
  });
}

TEST_CASE("windows: 16 bit and 8 bit frames, in memory of any layout") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(8);
    const Point shift{2.25, -0.75};
    const auto rounded = [&](const Point& by, std::int64_t pitch) {
      std::vector<std::uint16_t> pixels(static_cast<std::size_t>(pitch * shape.height));
      const Pixels values = drawn(scene, shape, by);
      for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x) {
          pixels[static_cast<std::size_t>(y * pitch + x)] = static_cast<std::uint16_t>(
              std::lround(30000 + 100 * values[static_cast<std::size_t>(y * shape.width + x)]));
        }
      }
      return pixels;
    };
    const auto reference = rounded({}, 150);
    const auto padded = rounded(shift, 160);
    WindowRegistrar registrar(device, PixelType::u16, shape, whole);
    registrar.set_reference({reference.data(), PixelType::u16, 150, 128});
    const std::vector<HostImage> frames{{padded.data(), PixelType::u16, 150, 128, 320},
                                        {reference.data(), PixelType::u16, 150, 128}};
    const auto found = registrar.align(frames);
    CHECK(error_of(found[0], shift) <= 0.002);
    CHECK(error_of(found[1], {}) <= 0.001);
  });
}

TEST_CASE("windows: a frame's result does not depend on the rest of the batch") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(9);
    std::vector<Pixels> frames;
    for (int i = 0; i < 5; ++i) frames.push_back(drawn(scene, shape, Point{0.3 * i, 0.1 * i}));
    const WindowOptions options{64, 64, 0, 0, 0, 4};
    const Pixels reference = drawn(scene, shape, Point{});
    const auto together = shifts_of(device, shape, options, reference, frames);
    const std::size_t windows = together.size() / frames.size();
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto alone = shifts_of(device, shape, options, reference, {frames[i]});
      for (std::size_t k = 0; k < windows; ++k) {
        // FFTs of another batch size may round differently; the whole-pixel peak is the same.
        CHECK(error_of(alone[k], together[i * windows + k].shift) <= 1e-6);
      }
    }
  });
}

TEST_CASE("windows: invalid input is refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto refused = [&](const WindowOptions& options, const char* part) {
      CHECK_THROWS_WITH_AS(WindowRegistrar(device, PixelType::f32, shape, options),
                           doctest::Contains(part), warpalign::Error);
    };
    refused({151, 64, 0, 0, 0, 0}, "exceeds the frame's 150");
    refused({64, 8, 0, 0, 0, 0}, "16 to 4096");
    refused({64, 64, -1, 0, 0, 0}, "stride_x");
    refused({64, 64, 0, 0, -1, 0}, "max_shift");
    refused({64, 64, 0, 0, 0, 5000}, "batch");
    CHECK_THROWS_AS(WindowRegistrar(device, PixelType::c32, shape), warpalign::Error);
    CHECK_THROWS_AS(WindowRegistrar(device, PixelType::u8, {150, 8, 1}), warpalign::Error);

    const Pixels pixels(static_cast<std::size_t>(shape.plane()), 1.0F);
    WindowRegistrar registrar(device, PixelType::f32, shape, whole);
    const std::vector<HostImage> good{view(pixels, shape)};
    CHECK_THROWS_WITH_AS((void)registrar.align(good), doctest::Contains("set_reference"),
                         warpalign::Error);
    CHECK_THROWS_AS(registrar.set_reference(view(pixels, {128, 128, 1})), warpalign::Error);
    registrar.set_reference(good[0]);
    const std::vector<HostImage> other{{pixels.data(), PixelType::u8, 150, 128}};
    CHECK_THROWS_WITH_AS((void)registrar.align(other), doctest::Contains("u8"), warpalign::Error);
    CHECK(registrar.align({}).empty());
    for (const std::int64_t row_bytes : {-4 * shape.width, 4 * shape.width - 1}) {
      CAPTURE(row_bytes);
      std::vector<HostImage> overlapping{good[0]};
      overlapping[0].row_bytes = row_bytes;
      CHECK_THROWS_WITH_AS((void)registrar.align(overlapping), doctest::Contains("row_bytes"),
                           warpalign::Error);
      CHECK_THROWS_WITH_AS(registrar.set_reference(overlapping[0]), doctest::Contains("row_bytes"),
                           warpalign::Error);
      CHECK_THROWS_WITH_AS((void)registrar.align(good), doctest::Contains("set_reference"),
                           warpalign::Error);
      registrar.set_reference(good[0]);
    }
  });
}
