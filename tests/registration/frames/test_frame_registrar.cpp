// FrameRegistrar registers frames in batches. The tests compare it with a registrar that takes one
// frame at a time, and check which frames it leaves to that registrar.
#include "registration/frames/frames.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/frame_registrar.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
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

Pixels drawn(const Scene& scene, const Point& shift) {
  Pixels pixels;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const double at =
          scene.at(static_cast<double>(x) - shift.x, static_cast<double>(y) - shift.y);
      pixels.push_back(static_cast<float>(1000 + at));
    }
  }
  return pixels;
}

RegistrationOptions translation() {
  RegistrationOptions options;
  options.motion = Motion::translation;
  return options;
}

double error_of(const RegistrationResult& found, const Point& expected) {
  return std::hypot(found.matrix.c - expected.x, found.matrix.f - expected.y);
}

bool same_numbers(const RegistrationResult& a, const RegistrationResult& b) {
  return a.matrix.c == b.matrix.c && a.matrix.f == b.matrix.f && a.correlation == b.correlation &&
         a.significance == b.significance && a.overlap == b.overlap &&
         a.confidence == b.confidence && a.reliable == b.reliable && a.refined == b.refined;
}

}  // namespace

TEST_CASE("frames: results agree with a single registrar's to the accuracy of both") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(1);
    const std::vector<Point> shifts{{0, 0}, {0.5, -0.25}, {-7.3, 11.9}, {40.2, -31.7}, {3.1, 0.02}};
    Pixels reference = drawn(scene, {});
    add_noise(reference, 0.2 * deviation, 1);
    std::vector<Pixels> frames;
    for (std::uint32_t i = 0; i < shifts.size(); ++i) {
      frames.push_back(drawn(scene, shifts[i]));
      add_noise(frames.back(), 0.2 * deviation, 10 + i);
    }
    FrameRegistrar together(device, translation(), 4);
    together.set_reference(view(reference));
    const std::vector<BatchResult> found = together.align(views(frames));
    REQUIRE(found.size() == shifts.size());
    Registrar registrar(device, translation());
    registrar.set_reference(view(reference));
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      CAPTURE(i);
      REQUIRE(found[i].result);
      const RegistrationResult& frame = *found[i].result;
      const RegistrationResult single = registrar.align(view(frames[i]));
      CHECK(frame.reliable);
      CHECK(frame.refined);
      CHECK(frame.motion == Motion::translation);
      CHECK(frame.similarity.scale == 1);
      CHECK(frame.similarity.rotation_deg == 0);
      // Noise of a fifth of the scene's standard deviation in both frames costs 0.004 pixels (root
      // mean square).
      CHECK(error_of(frame, shifts[i]) <= 0.02);
      // Both compare the same levels. A single registrar interpolates the frame, which removes
      // some of its noise between pixels and increases its slopes. FrameRegistrar interpolates the
      // reference, and takes the frame's slopes at its pixels.
      CHECK(std::abs(frame.correlation - single.correlation) <= 0.03);
      CHECK(frame.significance <= 1.1 * single.significance);
      CHECK(frame.significance >= 0.6 * single.significance);
      // One row or column of about 250 may count in one of the two and not in the other.
      CHECK(std::abs(frame.overlap - single.overlap) <= 0.009);
      CHECK(std::abs(frame.confidence - single.confidence) <= 1e-3);
      CHECK(single.reliable);
    }
  });
}

TEST_CASE("frames: a frame's numbers do not depend on the other frames of a batch") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(2);
    std::vector<Pixels> frames;
    for (int i = 0; i < 7; ++i) {
      frames.push_back(drawn(scene, {0.37 * i, -1.1 * i}));
      add_noise(frames.back(), 0.1 * deviation, static_cast<std::uint32_t>(i));
    }
    const std::vector<HostImage> all = views(frames);
    FrameRegistrar registrar(device, translation(), 4);
    registrar.set_reference(all[0]);
    const std::vector<BatchResult> together = registrar.align(all);
    FrameRegistrar again(device, translation(), 4);
    again.set_reference(all[0]);
    for (std::size_t i = all.size(); i-- > 0;) {
      CAPTURE(i);
      REQUIRE(together[i].result);
      CHECK(same_numbers(again.align(all[i]), *together[i].result));
    }
  });
}

TEST_CASE("frames: inconclusive frames are left to a single registrar") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(3);
    const Scene other(4);
    const Pixels reference = drawn(scene, {});
    const Point shift{2.3, -1.6};
    Pixels unevenly_lit = drawn(scene, shift);
    apply_uneven_illumination(unevenly_lit);
    // Each of these frames, apart from the noisy one, fails exactly one test, and would be
    // accepted without that test.
    Pixels bordered = drawn(scene, shift);
    std::fill_n(bordered.begin(), 8 * width, 1000.0F);
    Pixels speckled = drawn(scene, shift);
    std::mt19937 random(9);
    for (float& pixel : speckled) {
      const auto dice = random() % 100;
      if (dice < 2) pixel = static_cast<float>(1000 + (dice == 0 ? -5 : 5) * deviation);
    }
    Pixels noisy = drawn(scene, shift);
    add_noise(noisy, 5 * deviation, 5);
    Pixels contrasty = drawn(scene, shift);
    for (float& pixel : contrasty) pixel = 1000 + 3 * (pixel - 1000);
    const std::vector<Pixels> frames{
        drawn(other, {}),         unevenly_lit, bordered, speckled, contrasty, noisy,
        drawn(scene, {190, 11.5})};
    FrameRegistrar registrar(device, translation(), 8);
    registrar.set_reference(view(reference));
    const std::vector<BatchResult> found = registrar.align(views(frames));
    Registrar single(device, translation());
    single.set_reference(view(reference));
    for (std::size_t i = 0; i < frames.size(); ++i) {
      CAPTURE(i);
      REQUIRE(found[i].result);
      CHECK(same_numbers(*found[i].result, single.align(view(frames[i]))));
    }
    CHECK(!found[0].result->reliable);
    CHECK(error_of(*found[1].result, shift) <= 0.02);
    CHECK(error_of(*found[2].result, shift) <= 0.02);
    CHECK(error_of(*found[3].result, shift) <= 0.02);
    CHECK(error_of(*found[4].result, shift) <= 0.005);
    // Noise of five standard deviations costs some tenths of a pixel.
    CHECK(error_of(*found[5].result, shift) <= 0.5);
  });
}

TEST_CASE("frames: the confidence is low for few pixels, however accurate the shift") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(9);
    const Pixels reference = drawn(scene, {});
    Pixels noisy = drawn(scene, {1.5, 0.5});
    add_noise(noisy, 0.6 * deviation, 6);
    const auto part_of = [](const Pixels& pixels) {
      return HostImage{pixels.data(), PixelType::f32, 64, 64, width * 4};
    };
    FrameRegistrar registrar(device, translation(), 1);
    registrar.set_reference(part_of(reference));
    Registrar single(device, translation());
    single.set_reference(part_of(reference));
    CHECK(same_numbers(registrar.align(part_of(noisy)), single.align(part_of(noisy))));
  });
}

TEST_CASE("frames: shifts beyond the limit are left to a single registrar") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(5);
    const Pixels reference = drawn(scene, {});
    // The last shift is within the limit along each axis, but not in length.
    const std::vector<Pixels> frames{drawn(scene, {4, -3}), drawn(scene, {30, 20}),
                                     drawn(scene, {5, 5})};
    RegistrationOptions options = translation();
    options.max_shift = 6;
    FrameRegistrar registrar(device, options, 2);
    registrar.set_reference(view(reference));
    const std::vector<BatchResult> found = registrar.align(views(frames));
    CHECK(found[0].result->reliable);
    CHECK(error_of(*found[0].result, {4, -3}) <= 0.002);
    Registrar single(device, options);
    single.set_reference(view(reference));
    CHECK(same_numbers(*found[1].result, single.align(view(frames[1]))));
    CHECK(same_numbers(*found[2].result, single.align(view(frames[2]))));
  });
}

TEST_CASE("frames: a shift beyond the limit along one axis is not reliable") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(5);
    const Pixels reference = drawn(scene, {});
    const std::vector<Pixels> frames{drawn(scene, {4, -12}), drawn(scene, {12, -4})};
    for (const Motion motion : {Motion::translation, Motion::rigid}) {
      RegistrationOptions options = translation();
      options.motion = motion;
      options.max_shift_x = 6;
      FrameRegistrar registrar(device, options, 2);
      registrar.set_reference(view(reference));
      const std::vector<BatchResult> found = registrar.align(views(frames));
      CHECK(found[0].result->reliable);
      CHECK(error_of(*found[0].result, {4, -12}) <= 0.01);
      CHECK_FALSE(found[1].result->reliable);
    }
  });
}

TEST_CASE("frames: an error belongs to its frame, and one of the reference is thrown at once") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(6);
    const Pixels reference = drawn(scene, {});
    Pixels constant(reference.size(), 7.0F);
    Pixels broken = drawn(scene, {1, 1});
    broken[1234] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Pixels> frames{drawn(scene, {1, 2}), constant, broken, drawn(scene, {2, 1})};
    FrameRegistrar registrar(device, translation(), 4);
    CHECK_THROWS_AS(static_cast<void>(registrar.align(view(reference))), Error);
    CHECK_THROWS_AS(registrar.set_reference(view(constant)), Error);
    CHECK_THROWS_AS(static_cast<void>(registrar.align(view(reference))), Error);
    registrar.set_reference(view(reference));
    const std::vector<BatchResult> found = registrar.align(views(frames));
    CHECK(error_of(found[0].result.value(), {1, 2}) <= 0.002);
    REQUIRE(found[1].error);
    CHECK(found[1].error->kind() == ErrorKind::invalid_image);
    CHECK(found[2].result.value().missing.moving == 1);
    // A frame with a missing pixel is registered alone.
    CHECK(error_of(found[2].result.value(), {1, 1}) <= 0.002);
    CHECK(error_of(found[3].result.value(), {2, 1}) <= 0.002);
    CHECK_THROWS_AS(static_cast<void>(registrar.align(view(constant))), Error);
    RegistrationOptions wrong = translation();
    wrong.max_shift = -1;
    CHECK_THROWS_AS(FrameRegistrar(device, wrong), Error);
    CHECK_THROWS_AS(FrameRegistrar(device, translation(), 0), Error);
  });
}

TEST_CASE("frames: overlapping rows are refused, and the other frames are registered") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(6);
    const Pixels reference = drawn(scene, {});
    const std::vector<Pixels> frames{drawn(scene, {1, 2}), drawn(scene, {2, 1}),
                                     drawn(scene, {1, 1}), drawn(scene, {3, 1})};
    FrameRegistrar registrar(device, translation(), 4);
    HostImage wrong = view(reference);
    for (const std::int64_t row_bytes : {-4 * wrong.width, 4 * wrong.width - 1}) {
      CAPTURE(row_bytes);
      wrong.row_bytes = row_bytes;
      CHECK_THROWS_WITH_AS(registrar.set_reference(wrong), doctest::Contains("row_bytes"), Error);
      CHECK_THROWS_AS(static_cast<void>(registrar.align(view(reference))), Error);
      registrar.set_reference(view(reference));
      std::vector<HostImage> some = views(frames);
      some[1].row_bytes = row_bytes;
      const std::vector<BatchResult> found = registrar.align(some);
      REQUIRE(found[1].error);
      CHECK(found[1].error->kind() == ErrorKind::invalid_argument);
      CHECK(error_of(found[0].result.value(), {1, 2}) <= 0.002);
      CHECK(error_of(found[3].result.value(), {3, 1}) <= 0.002);
    }
  });
}

TEST_CASE("frames: rows may begin anywhere in memory") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(6);
    const Pixels reference = drawn(scene, {});
    const Pixels moved = drawn(scene, {2, 1});
    FrameRegistrar registrar(device, translation(), 4);
    registrar.set_reference(view(reference));
    // One byte before the first row, and three more after each row.
    HostImage frame = view(moved);
    const std::size_t row = static_cast<std::size_t>(frame.width) * sizeof(float);
    std::vector<char> bytes(1 + (row + 3) * static_cast<std::size_t>(frame.height));
    for (std::size_t y = 0; y < static_cast<std::size_t>(frame.height); ++y) {
      std::memcpy(bytes.data() + 1 + y * (row + 3), moved.data() + y * row / sizeof(float), row);
    }
    frame.data = bytes.data() + 1;
    frame.row_bytes = static_cast<std::int64_t>(row + 3);
    CHECK(error_of(registrar.align(frame), {2, 1}) <= 0.002);
  });
}

TEST_CASE("frames: pixel types may differ from the reference's, and the reference may change") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(7);
    const auto rounded = [](const Pixels& pixels) {
      std::vector<std::uint16_t> all;
      for (const float pixel : pixels)
        all.push_back(static_cast<std::uint16_t>(std::lround(pixel)));
      return all;
    };
    const auto first = rounded(drawn(scene, {}));
    const auto second = rounded(drawn(scene, {5.5, -2.25}));
    const HostImage a{first.data(), PixelType::u16, width, height, 0};
    const HostImage b{second.data(), PixelType::u16, width, height, 0};
    const Pixels mean = drawn(scene, {1, 1});
    FrameRegistrar registrar(device, translation(), 1);
    registrar.set_reference(a);
    CHECK(error_of(registrar.align(b), {5.5, -2.25}) <= 0.005);
    registrar.set_reference(view(mean));
    CHECK(error_of(registrar.align(b), {4.5, -3.25}) <= 0.005);
    registrar.set_reference(b);
    CHECK(error_of(registrar.align(a), {-5.5, 2.25}) <= 0.005);
    CHECK(error_of(registrar.align(view(mean)), {-4.5, 3.25}) <= 0.005);
  });
}

TEST_CASE("frames: masks and other motions are passed to a single registrar") {
  test::on_every_device([](const warpalign::Device& device) {
    const Scene scene(8);
    const Pixels reference = drawn(scene, {});
    const Pixels frame = drawn(scene, {3.5, 1.25});
    std::vector<std::uint8_t> marks(reference.size(), 255);
    for (std::size_t i = 0; i < 9000; ++i) marks[i] = 0;
    const HostImage mask{marks.data(), PixelType::u8, width, height, 0};
    FrameRegistrar registrar(device, translation(), 4);
    CHECK(registrar.frames_at_once() == 4);
    registrar.set_reference(view(reference), mask);
    Registrar single(device, translation());
    single.set_reference(view(reference), mask);
    CHECK(same_numbers(registrar.align(view(frame), mask), single.align(view(frame), mask)));
    RegistrationOptions affine;
    affine.motion = Motion::affine;
    FrameRegistrar shearing(device, affine, 4);
    CHECK(shearing.frames_at_once() == 1);
    shearing.set_reference(view(reference));
    CHECK(error_of(shearing.align(view(frame)), {3.5, 1.25}) <= 0.01);
  });
}
