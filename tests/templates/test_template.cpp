// Templates of images and volumes whose mean shape is known, and wrong input.
#include "support/devices.hpp"
#include "templates/drawn_subjects.hpp"
#include "templates/template_calls.hpp"

#include <warpalign/error.hpp>
#include <warpalign/template.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using test::correlation;
using test::DrawnSubjects;
using test::frame;
using test::rounds;
using test::used_of;
using test::view_of;
using warpalign::build_template;
using warpalign::build_volume_template;
using warpalign::Device;
using warpalign::HostImage;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::RegistrationOptions;
using warpalign::Shape;
using warpalign::Template;
using warpalign::TemplateOptions;
using warpalign::TemplatePixels;
using warpalign::TemplateVoxels;
using warpalign::Transform;
using warpalign::VolumeRegistrationOptions;

/// The template of images of one shape.
Template template_of(const Device& device, const std::vector<std::vector<float>>& images,
                     const TemplateOptions& options = rounds(2),
                     const RegistrationOptions& registration = warpalign::template_registration()) {
  const auto source = [&](std::size_t i) { return TemplatePixels{view_of(images.at(i))}; };
  return build_template(device, images.size(), source, registration, options);
}

/// Waves that have nothing to do with other seeds.
std::vector<float> unrelated(std::uint32_t seed) { return DrawnSubjects(frame, 0, seed).scene(); }

}  // namespace

TEST_CASE("template: images have the mean shape, not that of the first image") {
  test::on_every_device([](const Device& device) {
    const DrawnSubjects subjects(frame, 4, 1);
    // Other gains and offsets, and two types.
    std::vector<std::vector<float>> images;
    for (std::size_t i = 0; i < 3; ++i) images.push_back(subjects.image(i));
    for (float& pixel : images[1]) pixel = 2 * pixel + 10;
    for (float& pixel : images[2]) pixel = 5 * pixel - 3;
    std::vector<std::int16_t> integers;
    for (const float pixel : subjects.image(3)) {
      integers.push_back(static_cast<std::int16_t>(std::lround(1000 * pixel)));
    }
    const auto source = [&](std::size_t i) {
      if (i < 3) return TemplatePixels{view_of(images[i])};
      return TemplatePixels{{integers.data(), PixelType::i16, frame.width, frame.height, 0}};
    };
    const Template found =
        build_template(device, 4, source, warpalign::template_registration(), rounds(2));
    REQUIRE(found.shape == frame);
    REQUIRE(found.pixels.size() == static_cast<std::size_t>(frame.pixels()));
    const std::vector<Transform> used = used_of(found);
    REQUIRE(used.size() == 4);
    // The template could have the shape of the first image, which is off by its field.
    REQUIRE(subjects.rms_field(0) > 0.7);
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      CHECK(found.confidences[i] > 0.5);
      // A cubic field through control points 5 pixels apart follows waves of 70 pixels to
      // hundredths of a pixel.
      CHECK(subjects.rms_error(used[i], i) < 0.1);
    }
    CHECK(subjects.rms_of_mean(used) < 0.02);  // what sampling the inverse of the mean changes
    REQUIRE(found.changes.size() == 2);
    CHECK(found.changes[0] > 0.5);
    CHECK(found.changes[1] < 0.2 * found.changes[0]);
    CHECK(correlation(found.pixels, subjects.scene(), frame) > 0.99);
    CHECK(correlation(images[0], subjects.scene(), frame) < 0.95);
    // Intensities are the means of those of the images.
    double expected = 0;
    for (const auto& image : images) {
      double sum = 0;
      for (const float pixel : image) sum += static_cast<double>(pixel);
      expected += sum / static_cast<double>(image.size()) / 4;
    }
    for (const std::int16_t pixel : integers) {
      expected += static_cast<double>(pixel) / static_cast<double>(integers.size()) / 4;
    }
    double sum = 0;
    double count = 0;
    for (const float pixel : found.pixels) {
      if (!std::isfinite(pixel)) continue;
      sum += static_cast<double>(pixel);
      count += 1;
    }
    CHECK(count > 0.97 * static_cast<double>(frame.pixels()));
    // The edges leave out a part of each image; the deviation of the intensities is about 250.
    CHECK(std::abs(sum / count - expected) < 25);
  });
}

TEST_CASE("template: volumes have the mean shape, with voxels of any size") {
  const Device& device = test::devices().front();
  const Shape shape{40, 36, 44};
  const DrawnSubjects subjects(shape, 3, 3);
  std::vector<std::vector<float>> volumes;
  for (std::size_t i = 0; i < 4; ++i) volumes.push_back(subjects.image(i));
  const auto source = [&](std::size_t i) {
    return TemplateVoxels{{volumes.at(i).data(), PixelType::f32, shape}};
  };
  VolumeRegistrationOptions registration = warpalign::volume_template_registration();
  registration.max_rotation = 10;
  registration.reference_spacing = registration.moving_spacing = {0.8, 0.8, 1};
  const Template found = build_volume_template(device, 4, source, registration, rounds(2));
  REQUIRE(found.shape == shape);
  const std::vector<Transform> used = used_of(found);
  REQUIRE(used.size() == 4);
  REQUIRE(subjects.rms_field(0) > 0.7);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(subjects.rms_error(used[i], i) < 0.12);
  }
  CHECK(subjects.rms_of_mean(used) < 0.03);
  CHECK(correlation(found.pixels, subjects.scene(), shape) > 0.99);

  VolumeRegistrationOptions wrong = registration;
  wrong.moving_spacing.z = 2;
  CHECK_ERROR(invalid_argument, "reference_spacing and moving_spacing must be equal",
              build_volume_template(device, 4, source, wrong, rounds(1)));
  const auto flat = [&](std::size_t i) {
    return TemplateVoxels{{volumes.at(i).data(), PixelType::f32, {40, 36, i == 1 ? 7 : 44}}};
  };
  CHECK_ERROR(invalid_argument, "image 1 is 40 x 36 x 7; each side must be 8 to 16384",
              build_volume_template(device, 4, flat, registration, rounds(1)));
  wrong = registration;
  wrong.motion = Motion::translation;
  CHECK_ERROR(invalid_argument, "rigid, similarity, affine, deformable",
              build_volume_template(device, 4, source, wrong, rounds(1)));
}

TEST_CASE("template: missing pixels do not count, and stay missing where no image has a value") {
  const Device& device = test::devices().front();
  const DrawnSubjects subjects(frame, 3, 5);
  std::vector<std::vector<float>> images{subjects.image(0), subjects.image(1)};
  const auto clear = [&](std::vector<float>& image, std::int64_t first, std::int64_t end,
                         float value) {
    for (std::int64_t y = first; y < end; ++y) {
      for (std::int64_t x = 40; x < 80; ++x) {
        image[static_cast<std::size_t>(y * frame.width + x)] = value;
      }
    }
  };
  // Rows 60 to 80 are missing in both, a few pixels more or less by the fields; 80 to 100 in one.
  clear(images[0], 60, 100, std::numeric_limits<float>::quiet_NaN());
  clear(images[1], 60, 80, std::numeric_limits<float>::infinity());
  const Template found = template_of(device, images);
  REQUIRE(used_of(found).size() == 2);
  const auto at = [&](std::int64_t x, std::int64_t y) {
    return found.pixels[static_cast<std::size_t>(y * frame.width + x)];
  };
  CHECK(std::isnan(at(60, 70)));
  CHECK(std::isfinite(at(60, 90)));
  CHECK(std::isfinite(at(60, 50)));
  CHECK(std::isfinite(at(90, 70)));
  // A filled value that counted would differ from the scene by its deviation.
  CHECK(correlation(found.pixels, subjects.scene(), frame) > 0.99);
  const std::vector<float> scene = subjects.scene();
  for (std::int64_t y = 86; y < 94; ++y) {
    CHECK(std::abs(at(60, y) - scene[static_cast<std::size_t>(y * frame.width + 60)]) < 0.3);
  }
}

TEST_CASE("template: an image that does not belong to the others is left out") {
  const Device& device = test::devices().front();
  const DrawnSubjects subjects(frame, 3, 7);
  const std::vector<float> one = subjects.image(0);
  const std::vector<float> two = subjects.image(1);
  const Template found = template_of(device, {one, two, unrelated(99)});
  REQUIRE(found.transforms.size() == 3);
  CHECK(found.transforms[0]);
  CHECK(found.transforms[1]);
  CHECK_FALSE(found.transforms[2]);
  CHECK(found.confidences[2] < 0.5);
  CHECK(subjects.rms_error(*found.transforms[0], 0) < 0.1);
  CHECK_ERROR(invalid_image, "only 1 of 2 images register reliably to the template in round 1",
              template_of(device, {one, unrelated(98)}));
}

TEST_CASE("template: images of other shapes, an initial image, and other motions") {
  const Device& device = test::devices().front();
  const DrawnSubjects subjects(frame, 2, 11);
  const Shape narrow{140, 150, 1};
  const std::vector<float> first = subjects.image(0);
  const std::vector<float> second = subjects.image(1, narrow);
  const auto source = [&](std::size_t i) {
    return TemplatePixels{i == 0 ? view_of(first) : view_of(second, narrow)};
  };
  const std::vector<float> scene = subjects.scene();
  const HostImage initial{scene.data(), PixelType::f32, 148, 160, frame.width * 4};
  for (const Motion motion : {Motion::rigid, Motion::similarity, Motion::affine}) {
    CAPTURE(static_cast<int>(motion));
    RegistrationOptions registration;
    registration.motion = motion;
    const Template found = build_template(device, 2, source, registration, rounds(1), initial);
    CHECK(found.shape == Shape{148, 160, 1});
    CHECK(used_of(found).size() == 2);
    CHECK(subjects.rms_of_mean(used_of(found)) < 0.02);
  }
}

TEST_CASE("template: progress, the number of reads, and what ends the work") {
  const Device& device = test::devices().front();
  const DrawnSubjects subjects(frame, 2, 13);
  const std::vector<std::vector<float>> images{subjects.image(0), subjects.image(1)};
  std::size_t reads = 0;
  const auto source = [&](std::size_t i) {
    ++reads;
    return TemplatePixels{view_of(images.at(i))};
  };
  RegistrationOptions rigid;
  rigid.motion = Motion::rigid;
  std::vector<std::size_t> done;
  TemplateOptions options = rounds(2);
  options.progress = [&](std::size_t part, std::size_t total) {
    CHECK(total == 4);
    done.push_back(part);
  };
  static_cast<void>(build_template(device, 2, source, rigid, options));
  CHECK(done == std::vector<std::size_t>{1, 2, 3, 4});
  // Each image at first, the first template, and each image twice in each round.
  CHECK(reads == 2 + 1 + 2 * 2 * 2);

  options.progress = [&](std::size_t part, std::size_t) {
    if (part == 3) throw std::out_of_range("enough");
  };
  CHECK_THROWS_AS(static_cast<void>(build_template(device, 2, source, rigid, options)),
                  std::out_of_range);
  const auto broken = [&](std::size_t i) -> TemplatePixels {
    if (i == 1) throw std::underflow_error("no file");
    return {view_of(images.at(i))};
  };
  CHECK_THROWS_AS(static_cast<void>(build_template(device, 2, broken, rigid, options)),
                  std::underflow_error);
}

TEST_CASE("template: wrong arguments are refused before anything is registered") {
  const Device& device = test::devices().front();
  const DrawnSubjects subjects(frame, 2, 17);
  const std::vector<float> image = subjects.image(0);
  const std::vector<float> flat(image.size(), 4);
  const auto same = [&](std::size_t) { return TemplatePixels{view_of(image)}; };
  TemplateOptions options;
  options.progress = [](std::size_t, std::size_t) { FAIL("nothing may be registered"); };
  const auto with = [&](HostImage second) {
    const auto source = [&, second](std::size_t i) {
      return TemplatePixels{i == 1 ? second : view_of(image)};
    };
    return build_template(device, 2, source, warpalign::template_registration(), options);
  };
  CHECK_ERROR(invalid_argument, "at least 2 images, not 1",
              build_template(device, 1, same, warpalign::template_registration(), options));
  for (const int count : {0, 101}) {
    TemplateOptions wrong = options;
    wrong.rounds = count;
    CHECK_ERROR(invalid_argument, "rounds must be from 1 to 100",
                build_template(device, 2, same, warpalign::template_registration(), wrong));
  }
  RegistrationOptions registration;
  registration.motion = Motion::homography;
  CHECK_ERROR(invalid_argument, "invalid motion for a template",
              build_template(device, 2, same, registration, options));
  registration = warpalign::template_registration();
  registration.bending_weight = -1;
  CHECK_ERROR(invalid_argument, "bending_weight",
              build_template(device, 2, same, registration, options));
  CHECK_ERROR(invalid_image, "image 1 is constant", with(view_of(flat)));
  CHECK_ERROR(invalid_argument, "image 1 is 150 x 15; each side must be 16 to 16384",
              with({image.data(), PixelType::f32, 150, 15, 0}));
  CHECK_ERROR(invalid_argument, "image 1 has no pixels",
              with({nullptr, PixelType::f32, 150, 160, 0}));
  CHECK_ERROR(invalid_argument, "image 1", with({image.data(), PixelType::c32, 75, 160, 0}));
  CHECK_ERROR(invalid_argument, "image 1", with({image.data(), PixelType::f32, 150, 160, 599}));
  CHECK_ERROR(invalid_argument, "image 1", with({image.data(), PixelType::f32, 150, 160, -600}));
  std::size_t reads = 0;
  const auto changing = [&](std::size_t) {
    return TemplatePixels{++reads < 3 ? view_of(image) : view_of(image, {150, 150, 1})};
  };
  CHECK_ERROR(invalid_argument, "image 0 is not the same each time",
              build_template(device, 2, changing, warpalign::template_registration(), options));
  const HostImage small{image.data(), PixelType::f32, 12, 160, 0};
  CHECK_ERROR(invalid_argument, "the initial image is 12 x 160",
              build_template(device, 2, same, warpalign::template_registration(), options, small));
}
