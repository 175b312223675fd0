// The accuracy of local motion with a truth that is known everywhere: exactly drawn fields, and
// noise.
#include "registration/local/drawn_frame.hpp"
#include "support/devices.hpp"
#include "support/noise.hpp"
#include "support/waves.hpp"

#include <warpalign/local_motion.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace {

using warpalign::DisplacementField;
using warpalign::HostImage;
using warpalign::PixelType;
using warpalign::Point;
using warpalign::Shape;
using warpalign::WindowRegistrar;
using warpalign::WindowShift;

using Pixels = std::vector<float>;

constexpr Shape frame{224, 192, 1};
constexpr warpalign::WindowOptions options{64, 64, 0, 0, 0, 0};

// A drift plus waves that are longer than the frame.
Point bent(const Point& p) {
  const double two_pi = 2 * std::numbers::pi / 400;
  return {2.3 + 1.2 * std::sin(two_pi * (p.x + 0.4 * p.y)), -1.4 + 1.2 * std::cos(two_pi * p.y)};
}

Point still(const Point&) { return {}; }

template <class Displacement>
Pixels drawn(const test::Waves& scene, const Displacement& u) {
  return test::drawn_frame(scene, frame, u);
}

HostImage view(const Pixels& pixels) {
  return {pixels.data(), PixelType::f32, frame.width, frame.height};
}

struct Found {
  std::vector<WindowShift> shifts;
  DisplacementField field;
};

Found found(const warpalign::Device& device, const Pixels& reference, const Pixels& moved,
            bool correct_varying_motion = true) {
  warpalign::WindowOptions chosen = options;
  chosen.correct_varying_motion = correct_varying_motion;
  WindowRegistrar registrar(device, PixelType::f32, frame, chosen);
  registrar.set_reference(view(reference));
  const HostImage image = view(moved);
  auto shifts = registrar.align({&image, 1});
  const std::int64_t across = registrar.windows_x();
  const std::int64_t down = registrar.windows_y();
  const auto outliers = warpalign::find_outliers(shifts, across, down);
  auto field =
      DisplacementField::fit_means(frame, registrar.window(), shifts, outliers, across, down);
  return {std::move(shifts), std::move(field)};
}

/// The root mean square distance from the truth, over the pixels at least this far from the edges.
template <class Displacement>
double error_of(const DisplacementField& field, const Displacement& truth, std::int64_t margin) {
  double sum = 0;
  double count = 0;
  for (std::int64_t y = margin; y < frame.height - margin; ++y) {
    for (std::int64_t x = margin; x < frame.width - margin; ++x) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      const Point here = field.at(p);
      const Point true_here = truth(p);
      sum += std::pow(here.x - true_here.x, 2) + std::pow(here.y - true_here.y, 2);
      ++count;
    }
  }
  return std::sqrt(sum / count);
}

}  // namespace

TEST_CASE("local motion: motion that varies within a window is estimated up to the frame's edges") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Waves scene(31, 200);
    const auto [shifts, field] = found(device, drawn(scene, still), drawn(scene, bent));
    // The aim of docs/accuracy.md. With a single shift for each window, assigned to the window's
    // centre, the error would be 0.11 pixels here and 0.17 up to the edges, because motion differs
    // by up to a pixel within a window.
    CHECK(error_of(field, bent, 16) <= 0.02);
    // At the edges a part of each window's content has left the frame, and the field has data on
    // one side only.
    CHECK(error_of(field, bent, 0) <= 0.05);
    const auto without = found(device, drawn(scene, still), drawn(scene, bent), false);
    CHECK(error_of(without.field, bent, 16) > 0.05);
  });
}

TEST_CASE("local motion: measuring windows again does not amplify noise") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Waves scene(32, 200);
    const Pixels clean = drawn(scene, still);
    const double deviation = 0.7 * test::deviation_of(clean);
    double squares = 0;
    double expected = 0;
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
      Pixels reference = clean;
      Pixels moved = clean;
      test::add_noise(reference, deviation, 10 + seed);
      test::add_noise(moved, deviation, 20 + seed);
      const auto [shifts, field] = found(device, reference, moved);
      squares += std::pow(error_of(field, still, 0), 2);
      for (const WindowShift& shift : shifts) {
        expected += std::pow(shift.uncertainty, 2) / static_cast<double>(shifts.size());
      }
    }
    // A field through every shift, each off by one standard deviation in its less certain
    // direction, would have a value of up to sqrt(2). A field that inverts the averaging over
    // windows would have more. The roughness term prevents both.
    CHECK(std::sqrt(squares / expected) <= 1);
  });
}

TEST_CASE("local motion: windows without NaN pixels are measured in a frame that has some") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Waves scene(33, 200);
    Pixels moved = drawn(scene, bent);
    moved[20 * frame.width + 20] = std::numeric_limits<float>::quiet_NaN();
    const auto [shifts, field] = found(device, drawn(scene, still), moved);
    for (const WindowShift& shift : shifts) {
      CAPTURE(shift.centre.x);
      CAPTURE(shift.centre.y);
      // the window that holds the NaN pixel
      if (shift.centre.x < 52 && shift.centre.y < 52) continue;
      CHECK(shift.reliable);
      // The resampling spline may spread the NaN over the whole frame. Then windows keep their
      // first shift, which is that of their texture.
      const Point truth = bent(shift.centre);
      CHECK(std::hypot(shift.shift.x - truth.x, shift.shift.y - truth.y) <= 0.4);
    }
  });
}
