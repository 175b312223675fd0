// The Registrar: sizes, types, reuse, timings and invalid input, on every device.
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/error.hpp>
#include <warpalign/registrar.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace {

using warpalign::Error;
using warpalign::ErrorKind;
using warpalign::HostImage;
using warpalign::Modality;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Registrar;
using warpalign::RegistrationOptions;
using warpalign::SpectrumSignal;

const reference::Plane& bridge() {
  static const reference::Plane plane = test::photograph("bridge.jpg");
  return plane;
}

HostImage view(const std::vector<std::uint8_t>& pixels, const reference::Plane& plane) {
  return {pixels.data(), PixelType::u8, plane.width, plane.height, 0};
}

RegistrationOptions pipeline(bool fast) {
  RegistrationOptions options;
  options.fast = fast;
  return options;
}

// Runs `work(device, options)` with the options of the paper's pipeline and with the default ones.
template <class Work>
void on_both_pipelines(Work&& work) {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const bool fast : {true, false}) {
      CAPTURE(fast);
      work(device, pipeline(fast));
    }
  });
}

template <class Work>
void refuses(ErrorKind kind, const char* message, Work&& work) {
  try {
    work();
    FAIL("was accepted, expected: " << message);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    CHECK_MESSAGE(std::string(error.what()).find(message) != std::string::npos, error.what());
  }
}

}  // namespace

TEST_CASE("registrar: images of different sizes, aspects and types") {
  // With these sizes all padded frames are 384 x 384, with even and odd margins.
  const auto pair = test::cut(bridge(), {{384, 331, 1}, {300, 384, 1}, {-33, 0.9, {10, -6}}, 1.5});
  const auto r8 = test::rounded<std::uint8_t>(pair.reference);
  const auto m16 = test::rounded<std::uint16_t>(pair.moving, 200);
  std::vector<float> mf(pair.moving.values.begin(), pair.moving.values.end());
  for (float& value : mf) value = value * 1e-3F - 7;
  on_both_pipelines([&](const warpalign::Device& device, const RegistrationOptions& options) {
    Registrar registrar(device, options);
    registrar.set_reference(view(r8, pair.reference));
    for (const HostImage& moving : {HostImage{m16.data(), PixelType::u16, 300, 384, 0},
                                    HostImage{mf.data(), PixelType::f32, 300, 384, 0}}) {
      const auto found = registrar.align(moving);
      CHECK(found.reliable);
      // As in test_photographs.cpp.
      CHECK(test::max_corner_distance(found.matrix, pair.truth, {384, 331, 1}) <=
            (options.fast ? 4.5 : 0.02));
      // The matrix and the similarity agree.
      const auto again = found.similarity.matrix({384, 331, 1}, {300, 384, 1});
      CHECK(test::max_corner_distance(found.matrix, again, {384, 331, 1}) <= 1e-9);
    }
  });
}

TEST_CASE("registrar: signed integers and doubles give the same result as floats") {
  const auto pair = test::cut(bridge(), {{300, 300, 1}, {300, 300, 1}, {12, 1.1, {4, -6}}, 1.5});
  const auto reference = test::rounded<std::uint8_t>(pair.reference);
  std::vector<std::int16_t> signed_levels;  // the range of a CT
  std::vector<double> doubles;
  std::vector<float> floats;
  for (const double value : pair.moving.values) {
    signed_levels.push_back(static_cast<std::int16_t>(std::lround(value * 10 - 1000)));
    floats.push_back(static_cast<float>(signed_levels.back()));
    doubles.push_back(static_cast<double>(signed_levels.back()));
  }
  on_both_pipelines([&](const warpalign::Device& device, const RegistrationOptions& options) {
    Registrar registrar(device, options);
    registrar.set_reference(view(reference, pair.reference));
    const auto expected = registrar.align({floats.data(), PixelType::f32, 300, 300, 0});
    CHECK(expected.reliable);
    for (const HostImage& moving : {HostImage{signed_levels.data(), PixelType::i16, 300, 300, 0},
                                    HostImage{doubles.data(), PixelType::f64, 300, 300, 0}}) {
      const auto found = registrar.align(moving);
      CHECK(found.matrix.a == expected.matrix.a);
      CHECK(found.matrix.c == expected.matrix.c);
      CHECK(found.confidence == expected.confidence);
    }
    refuses(ErrorKind::invalid_argument, "complex", [&] {
      (void)registrar.align({floats.data(), PixelType::c32, 300, 150, 0});
    });
  });
}

TEST_CASE("registrar: an image registered to itself does not move") {
  const auto pair = test::cut(bridge(), {{384, 384, 1}, {384, 384, 1}, {}, 1.5});
  const auto pixels = test::rounded<std::uint8_t>(pair.reference);
  on_both_pipelines([&](const warpalign::Device& device, const RegistrationOptions& options) {
    const auto found = warpalign::register_images(device, view(pixels, pair.reference),
                                                  view(pixels, pair.reference), options);
    CHECK(found.confidence > 0.999);
    CHECK(found.correlation == doctest::Approx(1).epsilon(0.01));
    // The peak of one pixel on a symmetric surface has its vertex at the pixel. With refinement,
    // half of the error allowed for sub-pixel shifts.
    CHECK(test::max_corner_distance(found.matrix, {}, {384, 384, 1}) <=
          (options.fast ? 0.02 : 0.001));
  });
}

TEST_CASE("registrar: whole-pixel shifts are found to a tenth of a pixel, refined to much less") {
  on_both_pipelines([&](const warpalign::Device& device, const RegistrationOptions& options) {
    Registrar registrar(device, options);
    const auto base = test::cut(bridge(), {{384, 384, 1}, {384, 384, 1}, {}, 1.5});
    const auto reference = test::rounded<std::uint8_t>(base.reference);
    registrar.set_reference(view(reference, base.reference));
    // The accuracy required of refined sub-pixel shifts: 0.002 px.
    const double most = options.fast ? 0.1 : 0.002;
    const double max_at_corners = options.fast ? 0.5 : 0.02;
    for (const warpalign::Point shift : {warpalign::Point{40, -25}, warpalign::Point{-61, 33}}) {
      const auto pair = test::cut(bridge(), {{384, 384, 1}, {384, 384, 1}, {0, 1, shift}, 1.5});
      const auto moving = test::rounded<std::uint8_t>(pair.moving);
      const auto found = registrar.align(view(moving, pair.moving));
      CHECK(found.reliable);
      CHECK(test::max_corner_distance(found.matrix, pair.truth, {384, 384, 1}) <= max_at_corners);
      CHECK(std::abs(found.similarity.translation.x - shift.x) <= most);
      CHECK(std::abs(found.similarity.translation.y - shift.y) <= most);
    }
  });
}

TEST_CASE("registrar: results do not depend on earlier pairs or on where the pixels were") {
  const auto pair = test::cut(bridge(), {{384, 384, 1}, {384, 384, 1}, {70, 1.1, {5, 5}}, 1.5});
  const auto r = test::rounded<std::uint8_t>(pair.reference);
  const auto m = test::rounded<std::uint8_t>(pair.moving);
  on_both_pipelines([&](const warpalign::Device& device, const RegistrationOptions& options) {
    const auto fresh =
        warpalign::register_images(device, view(r, pair.reference), view(m, pair.moving), options);
    Registrar registrar(device, options);
    registrar.set_reference(view(m, pair.moving));
    (void)registrar.align(view(r, pair.reference));
    registrar.set_reference(view(r, pair.reference));
    (void)registrar.align(view(r, pair.reference));
    CHECK(test::max_corner_distance(registrar.align(view(m, pair.moving)).matrix, fresh.matrix,
                                    {384, 384, 1}) <= 1e-9);

    auto stream = device.make_stream();
    auto on_device = device.make_image(PixelType::u8, {384, 384, 1});
    stream.upload(view(m, pair.moving), on_device);
    stream.finish();
    CHECK(test::max_corner_distance(registrar.align(on_device).matrix, fresh.matrix,
                                    {384, 384, 1}) <= 1e-9);
  });
}

TEST_CASE("registrar: timings name every stage of the paper, only on request") {
  const auto pair = test::cut(bridge(), {{384, 384, 1}, {384, 384, 1}, {10, 1, {}}, 1.5});
  const auto r = test::rounded<std::uint8_t>(pair.reference);
  test::on_every_device([&](const warpalign::Device& device) {
    RegistrationOptions options = pipeline(true);
    options.collect_timings = true;
    const auto timed = warpalign::register_images(device, view(r, pair.reference),
                                                  view(r, pair.reference), options);
    std::set<std::string> stages;
    for (const auto& timing : timed.timings) {
      stages.insert(timing.stage);
      CHECK(timing.milliseconds >= 0);
      CHECK(timing.milliseconds < 60000);
    }
    CHECK(stages == std::set<std::string>{"upload", "sobel_mean", "sobel_window", "fft",
                                          "magnitude", "log_polar", "cross_power", "inverse_fft",
                                          "peak", "warp"});
    CHECK(warpalign::register_images(device, view(r, pair.reference), view(r, pair.reference),
                                     pipeline(true))
              .timings.empty());
  });
}

TEST_CASE("registrar: invalid input is refused, and the registrar stays usable") {
  const auto pair = test::cut(bridge(), {{384, 384, 1}, {384, 384, 1}, {10, 1, {}}, 1.5});
  const auto r = test::rounded<std::uint8_t>(pair.reference);
  const std::vector<std::uint8_t> constant(384 * 384, 77);
  std::vector<float> broken(pair.moving.values.begin(), pair.moving.values.end());
  broken[5000] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> infinite(pair.moving.values.begin(), pair.moving.values.end());
  infinite[70] = std::numeric_limits<float>::infinity();
  on_both_pipelines([&](const warpalign::Device& device, const RegistrationOptions& options) {
    Registrar registrar(device, options);
    refuses(ErrorKind::invalid_argument, "set_reference must be called before",
            [&] { (void)registrar.align(view(r, pair.reference)); });
    refuses(ErrorKind::invalid_image, "the reference image is constant", [&] {
      registrar.set_reference({constant.data(), PixelType::u8, 384, 384});
    });
    refuses(ErrorKind::invalid_argument, "each side must be 16 to 16384", [&] {
      registrar.set_reference({r.data(), PixelType::u8, 1, 1});
    });
    refuses(ErrorKind::invalid_argument, "each side must be", [&] {
      registrar.set_reference({r.data(), PixelType::u8, 100000, 100000});
    });
    registrar.set_reference(view(r, pair.reference));
    refuses(ErrorKind::invalid_image, "the moving image is constant", [&] {
      (void)registrar.align({constant.data(), PixelType::u8, 384, 384});
    });
    for (const auto& bad : {broken, infinite}) {
      const HostImage image{bad.data(), PixelType::f32, 384, 384};
      if (options.fast) {
        refuses(ErrorKind::invalid_image, "the moving image contains NaN",
                [&] { (void)registrar.align(image); });
      } else {
        CHECK(registrar.align(image).missing.moving == 1);
      }
    }
    CHECK(registrar.align(view(r, pair.reference)).reliable);
    // A refused reference also discards the previous one, so that no image is compared with the
    // wrong reference.
    refuses(ErrorKind::invalid_argument, "each side must be 16 to 16384", [&] {
      registrar.set_reference({r.data(), PixelType::u8, 1, 1});
    });
    refuses(ErrorKind::invalid_argument, "set_reference must be called before",
            [&] { (void)registrar.align(view(r, pair.reference)); });
    registrar.set_reference(view(r, pair.reference));
    CHECK(registrar.align(view(r, pair.reference)).reliable);
  });
}

TEST_CASE("registrar: timings of the refined pipeline, only on request") {
  const auto pair = test::cut(bridge(), {{384, 384, 1}, {384, 384, 1}, {10, 1, {}}, 1.5});
  const auto r = test::rounded<std::uint8_t>(pair.reference);
  test::on_every_device([&](const warpalign::Device& device) {
    RegistrationOptions options;
    const HostImage image = view(r, pair.reference);
    CHECK(warpalign::register_images(device, image, image, options).timings.empty());
    options.collect_timings = true;
    const auto timed = warpalign::register_images(device, image, image, options).timings;
    std::set<std::string> stages;
    for (const auto& timing : timed) {
      stages.insert(timing.stage);
      CHECK(timing.milliseconds >= 0);
      CHECK(timing.milliseconds < 60000);
    }
    CHECK(stages.size() == timed.size());
    CHECK(stages.contains("upload"));
    CHECK(stages.contains("prefilter"));
  });
}

TEST_CASE("registrar: options out of range are refused") {
  const auto refused = [](void (*change)(RegistrationOptions&)) {
    RegistrationOptions options;
    change(options);
    test::on_every_device([&](const warpalign::Device& device) {
      CHECK_THROWS_AS(Registrar(device, options), Error);
    });
  };
  refused([](RegistrationOptions& o) { o.spectrum_exponent = 0; });
  refused([](RegistrationOptions& o) { o.log_polar_sigma = -1; });
  refused([](RegistrationOptions& o) { o.log_polar_sigma = std::nanf(""); });
  refused([](RegistrationOptions& o) { o.min_scale = 0; });
  refused([](RegistrationOptions& o) { o.min_scale = 2, o.max_scale = 1; });
  refused([](RegistrationOptions& o) { o.min_angle = 30, o.max_angle = 20; });
  refused([](RegistrationOptions& o) { o.max_angle = std::nan(""); });
  refused([](RegistrationOptions& o) { o.max_shift = -1; });
  refused([](RegistrationOptions& o) { o.max_shift_x = -1; });
  refused([](RegistrationOptions& o) { o.max_shift_y = std::nan(""); });
  refused([](RegistrationOptions& o) { o.candidates = 0; });
  refused([](RegistrationOptions& o) { o.candidates = 11; });
  refused([](RegistrationOptions& o) { o.spectrum_exponent = std::nan(""); });
  refused([](RegistrationOptions& o) { o.min_scale = std::nan(""); });
  refused([](RegistrationOptions& o) { o.max_scale = std::nan(""); });
  refused([](RegistrationOptions& o) { o.min_angle = std::nan(""); });
  refused([](RegistrationOptions& o) { o.max_shift = INFINITY; });
  refused([](RegistrationOptions& o) { o.min_scale = 0.12; });
  refused([](RegistrationOptions& o) { o.max_scale = 8.1; });
}

TEST_CASE("registrar: limits on parameters that the motion does not have are refused") {
  test::on_every_device([&](const warpalign::Device& device) {
    const auto refused = [&](const char* words, Motion motion, auto change) {
      RegistrationOptions options;
      change(options);
      const Registrar with_other_motion(device, options);
      options.motion = motion;
      refuses(ErrorKind::invalid_argument, words,
              [&] { const Registrar registrar(device, options); });
    };
    for (const Motion motion : {Motion::rigid, Motion::rotation, Motion::translation}) {
      refused("keeps the scale at 1", motion, [](auto& o) { o.min_scale = 0.5; });
      refused("keeps the scale at 1", motion, [](auto& o) { o.max_scale = 2; });
    }
    refused("keeps the angle at 0", Motion::translation, [](auto& o) { o.min_angle = -10; });
    refused("keeps the angle at 0", Motion::translation, [](auto& o) { o.max_angle = 10; });
    refused("keeps the shift at 0", Motion::rotation, [](auto& o) { o.max_shift = 10; });
    refused("keeps the shift at 0", Motion::rotation, [](auto& o) { o.max_shift_x = 10; });
    refused("keeps the shift at 0", Motion::rotation, [](auto& o) { o.max_shift_y = 10; });
    refused("do not set spectrum", Motion::translation,
            [](auto& o) { o.spectrum = SpectrumSignal::gradient; });
    RegistrationOptions options;
    options.modality = Modality::other;
    options.spectrum = SpectrumSignal::gradient;
    refuses(ErrorKind::invalid_argument, "do not set spectrum",
            [&] { const Registrar registrar(device, options); });
  });
}

TEST_CASE("registrar: invalid masks and masks that exclude everything are refused") {
  const auto pair = test::cut(bridge(), {{96, 80, 1}, {96, 80, 1}, {0, 1, {5, -3}}, 1.5});
  const auto r = test::rounded<std::uint8_t>(pair.reference);
  const auto m = test::rounded<std::uint8_t>(pair.moving);
  const std::vector<float> floats(r.size(), 1);
  const std::vector<std::uint8_t> none(r.size(), 0);
  const std::vector<std::uint8_t> all(r.size(), 1);
  test::on_every_device([&](const warpalign::Device& device) {
    Registrar registrar(device);
    const HostImage image = view(r, pair.reference);
    refuses(ErrorKind::invalid_argument, "must be u8, with 0 where a pixel is ignored", [&] {
      registrar.set_reference(image, HostImage{floats.data(), PixelType::f32, 96, 80, 0});
    });
    refuses(ErrorKind::invalid_argument, "96 x 79, but its image is 96 x 80", [&] {
      registrar.set_reference(image, HostImage{all.data(), PixelType::u8, 96, 79, 0});
    });
    refuses(ErrorKind::invalid_image, "leaves no pixel to register", [&] {
      registrar.set_reference(image, HostImage{none.data(), PixelType::u8, 96, 80, 0});
    });
    registrar.set_reference(image, HostImage{all.data(), PixelType::u8, 96, 80, 0});
    const auto found = registrar.align(view(m, pair.moving));
    CHECK(found.reliable);
    CHECK(test::max_corner_distance(found.matrix, pair.truth, {96, 80, 1}) <= 0.1);
  });
}

TEST_CASE("registrar: translations and rigid motions keep their fixed parameters") {
  const auto pair = test::cut(bridge(), {{300, 260, 1}, {300, 260, 1}, {0, 1, {37, -21}}, 1.5});
  const auto r = test::rounded<std::uint8_t>(pair.reference);
  const auto m = test::rounded<std::uint8_t>(pair.moving);
  test::on_every_device([&](const warpalign::Device& device) {
    for (const auto motion : {warpalign::Motion::translation, warpalign::Motion::rigid}) {
      RegistrationOptions options;
      options.motion = motion;
      const auto found = warpalign::register_images(device, view(r, pair.reference),
                                                    view(m, pair.moving), options);
      CHECK(found.reliable);
      CHECK(found.motion == motion);
      // The accuracy required of refined sub-pixel shifts: 0.002 px, and 0.02 at the corners.
      CHECK(test::max_corner_distance(found.matrix, pair.truth, {300, 260, 1}) <= 0.02);
      CHECK(found.similarity.scale == doctest::Approx(1).epsilon(1e-12));
      if (motion == warpalign::Motion::translation) CHECK(found.similarity.rotation_deg == 0);
    }
  });
}

// The refinement adds rotations about the centre to a matrix of doubles: 1e-9 is far above their
// rounding error.
void check_is_about_centres(const warpalign::Alignment& found, double rotation_deg) {
  CHECK(found.motion == warpalign::Motion::rotation);
  CHECK(std::abs(found.similarity.translation.x) < 1e-9);
  CHECK(std::abs(found.similarity.translation.y) < 1e-9);
  CHECK(found.similarity.scale == doctest::Approx(1).epsilon(1e-12));
  // 0.02 degrees move a corner by a twentieth of a pixel.
  CHECK(std::abs(found.similarity.rotation_deg - rotation_deg) < 0.02);
}

TEST_CASE("registrar: rotations about the centres have no shift, whichever proposer found them") {
  RegistrationOptions options;
  options.motion = warpalign::Motion::rotation;
  test::on_every_device([&](const warpalign::Device& device) {
    Registrar registrar(device, options);
    const auto rotated_pair =
        test::cut(bridge(), {{300, 260, 1}, {280, 290, 1}, {37, 1, {0, 0}}, 1.5});
    const auto reference = test::rounded<std::uint8_t>(rotated_pair.reference);
    const auto moving = test::rounded<std::uint8_t>(rotated_pair.moving);
    registrar.set_reference(view(reference, rotated_pair.reference));
    const auto found = registrar.align(view(moving, rotated_pair.moving));
    CHECK(found.reliable);
    check_is_about_centres(found, 37);

    // No rotation can explain this shift, so the search runs up to the grid of rotations and
    // shifts, which finds it.
    const auto shifted = test::cut(bridge(), {{300, 260, 1}, {300, 260, 1}, {0, 1, {40, 25}}, 1.5});
    const auto from = test::rounded<std::uint8_t>(shifted.reference);
    const auto to = test::rounded<std::uint8_t>(shifted.moving);
    registrar.set_reference(view(from, shifted.reference));
    const auto refused = registrar.align(view(to, shifted.moving));
    CHECK_FALSE(refused.reliable);
    check_is_about_centres(refused, refused.similarity.rotation_deg);
  });
}

TEST_CASE("registrar: a range may be a single value, or as wide as the limits") {
  RegistrationOptions options;
  options.min_scale = options.max_scale = 1;
  options.min_angle = options.max_angle = 0;
  options.candidates = 10;
  options.log_polar_sigma = 0;
  test::on_every_device([&](const warpalign::Device& device) {
    CHECK_NOTHROW(Registrar(device, options));
    options.min_scale = 1 / RegistrationOptions::max_scale_ratio;
    options.max_scale = RegistrationOptions::max_scale_ratio;
    CHECK_NOTHROW(Registrar(device, options));
  });
}

TEST_CASE("registrar: the fast pipeline refuses options that it does not support") {
  const auto pair = test::cut(bridge(), {{64, 64, 1}, {64, 64, 1}, {}, 1.5});
  const auto pixels = test::rounded<std::uint8_t>(pair.reference);
  const auto refused = [](void (*change)(RegistrationOptions&)) {
    RegistrationOptions options = pipeline(true);
    change(options);
    test::on_every_device([&](const warpalign::Device& device) {
      refuses(ErrorKind::invalid_argument, "fast", [&] { const Registrar r(device, options); });
    });
  };
  refused([](RegistrationOptions& o) { o.motion = warpalign::Motion::rigid; });
  refused([](RegistrationOptions& o) { o.max_scale = 2; });
  refused([](RegistrationOptions& o) { o.min_angle = 0; });
  refused([](RegistrationOptions& o) { o.max_shift = 5; });
  refused([](RegistrationOptions& o) { o.max_shift_y = 5; });
  refused([](RegistrationOptions& o) { o.candidates = 2; });
  refused([](RegistrationOptions& o) { o.spectrum = warpalign::SpectrumSignal::gradient; });
  test::on_every_device([&](const warpalign::Device& device) {
    Registrar registrar(device, pipeline(true));
    const HostImage image = view(pixels, pair.reference);
    refuses(ErrorKind::invalid_argument, "does not support masks",
            [&] { registrar.set_reference(image, image); });
  });
}

TEST_CASE("registrar: the plain magnitude spectrum, the paper's choice, works too") {
  const auto pair = test::cut(bridge(), {{384, 384, 1}, {384, 384, 1}, {40, 1, {6, -3}}, 1.5});
  const auto r = test::rounded<std::uint8_t>(pair.reference);
  const auto m = test::rounded<std::uint8_t>(pair.moving);
  test::on_every_device([&](const warpalign::Device& device) {
    RegistrationOptions options = pipeline(true);
    options.spectrum_exponent = 1;
    const auto found =
        warpalign::register_images(device, view(r, pair.reference), view(m, pair.moving), options);
    CHECK(found.reliable);
    CHECK(test::max_corner_distance(found.matrix, pair.truth, {384, 384, 1}) <= 4.5);
  });
}
