// Batches of frames that are rotated and scaled. The tests compare them with a registrar that
// takes one frame at a time, and check which frames are left to that registrar.
#include "registration/frames/frames.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/frame_registrar.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using frames::add_noise;
using frames::apply_uneven_illumination;
using frames::deviation;
using frames::height;
using frames::Pixels;
using frames::Scene;
using frames::view;
using frames::views;
using frames::width;
using warpalign::Affine;
using warpalign::BatchResult;
using warpalign::Error;
using warpalign::ErrorKind;
using warpalign::FrameRegistrar;
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

constexpr Shape shape{width, height, 1};

Similarity similarity(double degrees, double scale, const Point& shift) {
  return {degrees, scale, shift};
}

/// Draws the frame to which `motion` maps the reference's pixels.
Pixels drawn(const Scene& scene, const Similarity& motion) {
  const Affine to_reference = motion.matrix(shape, shape).inverse();
  Pixels pixels;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const Point at = to_reference({static_cast<double>(x), static_cast<double>(y)});
      pixels.push_back(static_cast<float>(1000 + scene.at(at.x, at.y)));
    }
  }
  return pixels;
}

RegistrationOptions options_for(Motion motion) {
  RegistrationOptions options;
  options.motion = motion;
  return options;
}

/// The largest distance of a corner from its true position.
double error_of(const RegistrationResult& found, const Similarity& expected) {
  const Affine matrix = expected.matrix(shape, shape);
  test::WorstError error;
  for (const double x : {0.0, static_cast<double>(width - 1)}) {
    for (const double y : {0.0, static_cast<double>(height - 1)}) {
      const Point p = found.matrix({x, y});
      const Point q = matrix({x, y});
      error.add(std::hypot(p.x - q.x, p.y - q.y));
    }
  }
  return error.value();
}

bool same_numbers(const RegistrationResult& a, const RegistrationResult& b) {
  return a.matrix.a == b.matrix.a && a.matrix.b == b.matrix.b && a.matrix.c == b.matrix.c &&
         a.matrix.f == b.matrix.f && a.correlation == b.correlation &&
         a.significance == b.significance && a.overlap == b.overlap &&
         a.confidence == b.confidence && a.reliable == b.reliable && a.refined == b.refined &&
         a.proposed_by == b.proposed_by;
}

/// In a batch, shifts without rotation are tried too; a single registrar does not try them.
bool came_from_batch(const RegistrationResult& result) {
  return result.tried.contains(SearchMethod::shifts);
}

void compare_with_registrar(const warpalign::Device& device, Motion motion,
                            const std::vector<Similarity>& motions) {
  const Scene scene(1);
  Pixels reference = drawn(scene, {});
  add_noise(reference, 0.2 * deviation, 1);
  std::vector<Pixels> frames;
  for (std::uint32_t i = 0; i < motions.size(); ++i) {
    frames.push_back(drawn(scene, motions[i]));
    add_noise(frames.back(), 0.2 * deviation, 10 + i);
  }
  FrameRegistrar together(device, options_for(motion), 4);
  CHECK(together.frames_at_once() == 4);
  together.set_reference(view(reference));
  const std::vector<BatchResult> found = together.align(views(frames));
  REQUIRE(found.size() == motions.size());
  Registrar registrar(device, options_for(motion));
  registrar.set_reference(view(reference));
  for (std::size_t i = 0; i < motions.size(); ++i) {
    CAPTURE(i);
    REQUIRE(found[i].result);
    const RegistrationResult& frame = *found[i].result;
    const RegistrationResult single = registrar.align(view(frames[i]));
    CHECK(came_from_batch(frame));
    CHECK(frame.reliable);
    CHECK(frame.refined);
    CHECK(frame.motion == motion);
    if (motion == Motion::rigid) CHECK(std::abs(frame.similarity.scale - 1) <= 1e-12);
    // Noise of a fifth of the scene's standard deviation in both frames costs a shift 0.004 pixels
    // (root mean square), and a corner twice as much.
    CHECK(error_of(frame, motions[i]) <= 0.03);
    CHECK(error_of(single, motions[i]) <= 0.03);
    // As for shifts: under noise the correlation depends this much on which image is interpolated.
    CHECK(std::abs(frame.correlation - single.correlation) <= 0.03);
    CHECK(frame.significance <= 1.1 * single.significance);
    CHECK(frame.significance >= 0.6 * single.significance);
    // On each side, one row or column of about 250 may count in one of the two and not in the
    // other.
    CHECK(std::abs(frame.overlap - single.overlap) <= 0.02);
    CHECK(std::abs(frame.confidence - single.confidence) <= 1e-3);
  }
}

}  // namespace

TEST_CASE("rotated frames: similarities agree with a single registrar's to the accuracy of both") {
  test::on_every_device([](const warpalign::Device& device) {
    compare_with_registrar(device, Motion::similarity,
                           {similarity(0, 1, {0, 0}), similarity(0.4, 1.002, {0.5, -0.25}),
                            similarity(-1.7, 0.985, {-7.3, 11.9}),
                            similarity(1.1, 1.03, {30.2, -21.7}), similarity(2, 0.96, {3.1, 0.02}),
                            similarity(23, 1.12, {-4, 6.5}), similarity(-81, 0.9, {2.5, 3})});
  });
}

TEST_CASE("rotated frames: rotations and shifts agree with a single registrar's") {
  test::on_every_device([](const warpalign::Device& device) {
    compare_with_registrar(device, Motion::rigid,
                           {similarity(0, 1, {0.3, 0}), similarity(-0.7, 1, {0.5, -0.25}),
                            similarity(2, 1, {-7.3, 11.9}), similarity(-1.5, 1, {20.2, -21.7}),
                            similarity(45, 1, {1, 8.25})});
  });
}

TEST_CASE("rotated frames: without noise the error is some thousandths of a pixel") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(11);
    const Pixels reference = drawn(scene, {});
    const Similarity motion = similarity(-1.25, 1.02, {4.25, -9.5});
    const Pixels frame = drawn(scene, motion);
    FrameRegistrar registrar(device, options_for(Motion::similarity), 2);
    registrar.set_reference(view(reference));
    const RegistrationResult found = registrar.align(view(frame));
    CHECK(came_from_batch(found));
    // The errors of single precision, and of the smoothing spline for waves of 6 pixels.
    CHECK(error_of(found, motion) <= 0.004);
  });
}

TEST_CASE("rotated frames: a frame's numbers do not depend on the other frames of a batch") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(2);
    std::vector<Pixels> frames;
    for (int i = 0; i < 6; ++i) {
      frames.push_back(drawn(scene, similarity(0.3 * i, 1 - 0.004 * i, {0.37 * i, -1.1 * i})));
      add_noise(frames.back(), 0.1 * deviation, static_cast<std::uint32_t>(i));
    }
    // One frame is upside down, which only a single registrar finds.
    frames[3] = drawn(scene, similarity(170, 1, {3, 4}));
    const std::vector<HostImage> all = views(frames);
    FrameRegistrar registrar(device, options_for(Motion::similarity), 4);
    registrar.set_reference(all[0]);
    const std::vector<BatchResult> together = registrar.align(all);
    FrameRegistrar again(device, options_for(Motion::similarity), 4);
    again.set_reference(all[0]);
    for (std::size_t i = all.size(); i-- > 0;) {
      CAPTURE(i);
      REQUIRE(together[i].result);
      CHECK(same_numbers(again.align(all[i]), *together[i].result));
      CHECK(came_from_batch(*together[i].result) == (i != 3));
    }
  });
}

TEST_CASE("rotated frames: inconclusive frames are left to a single registrar") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(3);
    const Scene other(4);
    const Pixels reference = drawn(scene, {});
    const Similarity motion = similarity(0.8, 1.01, {2.3, -1.6});
    // Each of these frames, apart from the noisy one, fails exactly one test, and would be
    // accepted without that test.
    Pixels unevenly_lit = drawn(scene, motion);
    apply_uneven_illumination(unevenly_lit);
    Pixels bordered = drawn(scene, motion);
    std::fill_n(bordered.begin(), 8 * width, 1000.0F);
    Pixels speckled = drawn(scene, motion);
    std::mt19937 random(9);
    for (float& pixel : speckled) {
      const auto dice = random() % 100;
      if (dice < 2) pixel = static_cast<float>(1000 + (dice == 0 ? -5 : 5) * deviation);
    }
    Pixels contrasty = drawn(scene, motion);
    for (float& pixel : contrasty) pixel = 1000 + 3 * (pixel - 1000);
    Pixels noisy = drawn(scene, motion);
    add_noise(noisy, 5 * deviation, 5);
    const std::vector<Pixels> frames{drawn(other, {}),
                                     unevenly_lit,
                                     bordered,
                                     speckled,
                                     contrasty,
                                     noisy,
                                     drawn(scene, similarity(150, 1.1, {3, 5}))};
    FrameRegistrar registrar(device, options_for(Motion::similarity), 8);
    registrar.set_reference(view(reference));
    const std::vector<BatchResult> found = registrar.align(views(frames));
    Registrar single(device, options_for(Motion::similarity));
    single.set_reference(view(reference));
    for (std::size_t i = 0; i < frames.size(); ++i) {
      CAPTURE(i);
      REQUIRE(found[i].result);
      CHECK(!came_from_batch(*found[i].result));
      CHECK(same_numbers(*found[i].result, single.align(view(frames[i]))));
    }
    CHECK(!found[0].result->reliable);
    for (const std::size_t i : {1U, 2U, 3U, 4U}) {
      CAPTURE(i);
      CHECK(error_of(*found[i].result, motion) <= 0.03);
    }
    CHECK(error_of(*found[6].result, similarity(150, 1.1, {3, 5})) <= 0.01);
  });
}

TEST_CASE("rotated frames: motions beyond the limits are left to a single registrar") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(5);
    const Pixels reference = drawn(scene, {});
    const Similarity allowed = similarity(0.5, 1.01, {4, -3});
    const std::vector<Pixels> frames{
        drawn(scene, allowed), drawn(scene, similarity(0.5, 1.01, {5, 5})),
        drawn(scene, similarity(1.5, 1.01, {4, -3})), drawn(scene, similarity(0.5, 1.04, {4, -3}))};
    RegistrationOptions options = options_for(Motion::similarity);
    options.max_shift = 6;
    options.min_angle = -1;
    options.max_angle = 1;
    options.min_scale = 0.98;
    options.max_scale = 1.02;
    FrameRegistrar registrar(device, options, 4);
    registrar.set_reference(view(reference));
    const std::vector<BatchResult> found = registrar.align(views(frames));
    CHECK(found[0].result->reliable);
    CHECK(came_from_batch(*found[0].result));
    CHECK(error_of(*found[0].result, allowed) <= 0.004);
    Registrar single(device, options);
    single.set_reference(view(reference));
    for (const std::size_t i : {1U, 2U, 3U}) {
      CAPTURE(i);
      CHECK(same_numbers(*found[i].result, single.align(view(frames[i]))));
    }
  });
}

TEST_CASE("rotated frames: options of the log-polar search take effect, in a single registrar") {
  test::on_every_device([](const warpalign::Device& device) {
    RegistrationOptions options = options_for(Motion::rigid);
    options.spectrum = warpalign::SpectrumSignal::gradient;
    CHECK(FrameRegistrar(device, options, 4).frames_at_once() == 1);
    options = options_for(Motion::rotation);
    CHECK(FrameRegistrar(device, options, 4).frames_at_once() == 1);
  });
}

TEST_CASE(
    "rotated frames: an error belongs to its frame, and one of the reference is thrown at once") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(6);
    const Pixels reference = drawn(scene, {});
    const Similarity motion = similarity(-0.6, 0.99, {1, 2});
    const Pixels constant(reference.size(), 7.0F);
    Pixels broken = drawn(scene, motion);
    broken[1234] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Pixels> frames{drawn(scene, motion), constant, broken, drawn(scene, motion)};
    FrameRegistrar registrar(device, options_for(Motion::similarity), 4);
    CHECK_THROWS_AS(static_cast<void>(registrar.align(view(reference))), Error);
    CHECK_THROWS_AS(registrar.set_reference(view(constant)), Error);
    CHECK_THROWS_AS(static_cast<void>(registrar.align(view(reference))), Error);
    registrar.set_reference(view(reference));
    const std::vector<BatchResult> found = registrar.align(views(frames));
    for (const std::size_t i : {0U, 3U}) {
      CHECK(came_from_batch(found[i].result.value()));
      CHECK(error_of(found[i].result.value(), motion) <= 0.004);
    }
    REQUIRE(found[1].error);
    CHECK(found[1].error->kind() == ErrorKind::invalid_image);
    // A frame with a missing pixel is registered alone.
    CHECK_FALSE(came_from_batch(found[2].result.value()));
    CHECK(error_of(found[2].result.value(), motion) <= 0.004);
    RegistrationOptions wrong = options_for(Motion::rigid);
    wrong.max_shift = -1;
    CHECK_THROWS_AS(FrameRegistrar(device, wrong), Error);
  });
}

TEST_CASE("rotated frames: small and elongated frames, of other types than the reference") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(7);
    const Similarity motion = similarity(0.9, 1.01, {1.5, -0.75});
    for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{96, 96}, {260, 70}}) {
      CAPTURE(w);
      const Shape part{w, h, 1};
      const Affine to_reference = motion.matrix(part, part).inverse();
      std::vector<float> first;
      std::vector<std::uint16_t> second;
      for (std::int64_t y = 0; y < h; ++y) {
        for (std::int64_t x = 0; x < w; ++x) {
          const auto px = static_cast<double>(x);
          const auto py = static_cast<double>(y);
          const Point at = to_reference({px, py});
          first.push_back(static_cast<float>(1000 + scene.at(px, py)));
          second.push_back(static_cast<std::uint16_t>(std::lround(1000 + scene.at(at.x, at.y))));
        }
      }
      FrameRegistrar registrar(device, options_for(Motion::similarity), 3);
      registrar.set_reference({first.data(), PixelType::f32, w, h, 0});
      const RegistrationResult found =
          registrar.align(HostImage{second.data(), PixelType::u16, w, h, 0});
      CHECK(came_from_batch(found));
      CHECK(found.reliable);
      const Point corner = found.matrix({0, 0});
      const Point expected = motion.matrix(part, part)({0, 0});
      // Fewer pixels, rounded to integers.
      CHECK(std::hypot(corner.x - expected.x, corner.y - expected.y) <= 0.02);
    }
  });
}
