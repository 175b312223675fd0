// Templates of images and volumes with masked pixels: what a mask hides changes nothing.
#include "support/devices.hpp"
#include "templates/drawn_subjects.hpp"
#include "templates/template_calls.hpp"

#include <warpalign/template.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace {

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
using warpalign::Point3;
using warpalign::RegistrationOptions;
using warpalign::Shape;
using warpalign::Template;
using warpalign::TemplateOptions;
using warpalign::TemplatePixels;
using warpalign::TemplateVoxels;
using warpalign::VolumeRegistrationOptions;

using Marks = std::vector<std::uint8_t>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
// Of the artefact in each image. The scene has the mean 0 and the deviation 1.
constexpr std::array<float, 3> artefact_values{60, -20, 100};

HostImage view_of(const Marks& mask, const Shape& shape = frame) {
  return {mask.data(), PixelType::u8, shape.width, shape.height, 0};
}

/// Three subjects, each with a bright or dark artefact at another place: a disc or a ball.
class SpoiltSubjects {
 public:
  SpoiltSubjects(const Shape& shape, double largest, std::uint32_t seed,
                 const std::array<Point3, 3>& centres, double radius)
      : drawn_(shape, largest, seed) {
    for (std::size_t i = 0; i < centres.size(); ++i) {
      clean.push_back(drawn_.image(i));
      masks.push_back(mask_of(shape, centres[i], radius));
      spoilt.push_back(clean[i]);
      holed.push_back(clean[i]);
      for (std::size_t p = 0; p < clean[i].size(); ++p) {
        if (masks[i][p] != 0) continue;
        spoilt[i][p] = artefact_values[i];
        holed[i][p] = nan;
      }
    }
  }

  std::vector<std::vector<float>> clean, spoilt, holed;  // `holed`: with NaN in the artefacts
  std::vector<Marks> masks;                              // 0 in the artefacts

 private:
  static Marks mask_of(const Shape& shape, const Point3& centre, double radius) {
    Marks mask;
    for (std::int64_t z = 0; z < shape.depth; ++z) {
      for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x) {
          const double distance =
              std::hypot(static_cast<double>(x) - centre.x, static_cast<double>(y) - centre.y,
                         static_cast<double>(z) - centre.z);
          mask.push_back(distance <= radius ? 0 : 255);
        }
      }
    }
    return mask;
  }

  DrawnSubjects drawn_;
};

void check_equal(const Template& found, const Template& expected) {
  CHECK(found.confidences == expected.confidences);
  CHECK(found.changes == expected.changes);
  REQUIRE(found.pixels.size() == expected.pixels.size());
  std::size_t differing = 0;
  for (std::size_t i = 0; i < found.pixels.size(); ++i) {
    const bool same = found.pixels[i] == expected.pixels[i] ||
                      (std::isnan(found.pixels[i]) && std::isnan(expected.pixels[i]));
    if (!same) ++differing;
  }
  CHECK(differing == 0);
}

/// How far a template is from another one.
struct Distance {
  double intensity = 0;  ///< the root mean square difference of pixels that both have
  double shape = 0;  ///< that of the points to which the transforms lead that both have, in pixels
};

Distance distance(const Template& a, const Template& b) {
  Distance result;
  double count = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    const auto difference = static_cast<double>(a.pixels[i] - b.pixels[i]);
    if (!std::isfinite(difference)) continue;
    result.intensity += difference * difference;
    count += 1;
  }
  result.intensity = std::sqrt(result.intensity / count);
  count = 0;
  const std::int64_t step_z = a.shape.depth > 1 ? 5 : 1;
  for (std::size_t i = 0; i < a.transforms.size(); ++i) {
    if (!a.transforms[i] || !b.transforms[i]) continue;
    for (std::int64_t z = 0; z < a.shape.depth; z += step_z) {
      for (std::int64_t y = 6; y < a.shape.height - 6; y += 5) {
        for (std::int64_t x = 6; x < a.shape.width - 6; x += 5, count += 1) {
          const Point3 p{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
          const Point3 q = (*a.transforms[i])(p);
          const Point3 r = (*b.transforms[i])(p);
          result.shape += std::pow(q.x - r.x, 2) + std::pow(q.y - r.y, 2) + std::pow(q.z - r.z, 2);
        }
      }
    }
  }
  result.shape = std::sqrt(result.shape / count);
  return result;
}

/// Of templates with and without masks, from that of images without artefacts.
void check_near(const Distance& masked, const Distance& unmasked) {
  // Without the 2 % of an image that an artefact hides, its mean and deviation, 0 and 1, change by
  // less than 0.02 each; measured, PoCL: 0.004. Within artefacts, the bending energy continues the
  // fields; measured: 0.017 pixels.
  CHECK(masked.intensity < 0.015);
  CHECK(masked.shape < 0.05);
  // Artefacts that counted would show in the mean, and would bend the transforms.
  CHECK(unmasked.intensity > 1);
  CHECK(unmasked.shape > 0.3);
}

using Masks = std::optional<std::vector<HostImage>>;

Template masked_template(const Device& device, const std::vector<std::vector<float>>& images,
                         const Masks& masks = {}) {
  const auto source = [&](std::size_t i) {
    TemplatePixels pixels{view_of(images.at(i))};
    if (masks) pixels.mask = masks->at(i);
    return pixels;
  };
  return build_template(device, images.size(), source, warpalign::template_registration(),
                        rounds(2));
}

}  // namespace

TEST_CASE("template: masked pixels are as good as missing ones, and change next to nothing") {
  test::on_every_device([](const Device& device) {
    const SpoiltSubjects subjects(frame, 3, 21, {{{45, 50, 0}, {100, 60, 0}, {70, 115, 0}}}, 13);
    Masks masks{std::in_place};
    for (const Marks& mask : subjects.masks) masks->push_back(view_of(mask));
    // One mask has longer rows, with zeros after each.
    Marks wide(static_cast<std::size_t>((frame.width + 10) * frame.height));
    for (std::int64_t y = 0; y < frame.height; ++y) {
      const auto row = subjects.masks[1].begin() + y * frame.width;
      std::copy(row, row + frame.width, wide.begin() + y * (frame.width + 10));
    }
    masks->at(1) = {wide.data(), PixelType::u8, frame.width, frame.height, frame.width + 10};

    const Template found = masked_template(device, subjects.spoilt, masks);
    REQUIRE(used_of(found).size() == 3);
    check_equal(found, masked_template(device, subjects.holed));

    const Template expected = masked_template(device, subjects.clean);
    const Distance masked = distance(found, expected);
    const Distance unmasked = distance(masked_template(device, subjects.spoilt), expected);
    check_near(masked, unmasked);
  });
}

TEST_CASE("template: masked voxels are as good as missing ones, and change next to nothing") {
  const Device& device = test::devices().front();
  const Shape shape{40, 36, 44};
  const SpoiltSubjects subjects(shape, 2, 23, {{{13, 15, 20}, {26, 14, 30}, {20, 24, 14}}}, 6);
  VolumeRegistrationOptions registration = warpalign::volume_template_registration();
  registration.max_rotation = 10;
  const auto build = [&](const std::vector<std::vector<float>>& volumes, bool with_masks) {
    const auto source = [&](std::size_t i) {
      TemplateVoxels voxels{{volumes.at(i).data(), PixelType::f32, shape}};
      if (with_masks) voxels.mask = {subjects.masks.at(i).data(), PixelType::u8, shape};
      return voxels;
    };
    return build_volume_template(device, 3, source, registration, rounds(1));
  };
  const Template found = build(subjects.spoilt, true);
  REQUIRE(used_of(found).size() == 3);
  check_equal(found, build(subjects.holed, false));
  const Template expected = build(subjects.clean, false);
  const Distance masked = distance(found, expected);
  const Distance unmasked = distance(build(subjects.spoilt, false), expected);
  check_near(masked, unmasked);
}

TEST_CASE("template: an initial image may have missing pixels, and the template has values there") {
  const Device& device = test::devices().front();
  const SpoiltSubjects subjects(frame, 3, 25, {{{45, 50, 0}, {100, 60, 0}, {70, 115, 0}}}, 13);
  const std::vector<float> start = subjects.holed[0];
  const auto source = [&](std::size_t i) { return TemplatePixels{view_of(subjects.clean.at(i))}; };
  RegistrationOptions affine;
  affine.motion = Motion::affine;
  const Template found = build_template(device, 3, source, affine, rounds(1), view_of(start));
  CHECK(used_of(found).size() == 3);
  CHECK(std::isnan(start[50 * frame.width + 45]));
  CHECK(std::isfinite(found.pixels[50 * frame.width + 45]));
}

TEST_CASE("template: wrong masks are refused before anything is registered") {
  const Device& device = test::devices().front();
  const DrawnSubjects subjects(frame, 2, 27);
  const std::vector<float> image = subjects.image(0);
  const Marks all(image.size(), 1);
  const Marks none(image.size(), 0);
  TemplateOptions options;
  options.progress = [](std::size_t, std::size_t) { FAIL("nothing may be registered"); };
  const auto with = [&](const HostImage& mask,
                        RegistrationOptions registration = warpalign::template_registration()) {
    const auto source = [&](std::size_t i) {
      TemplatePixels pixels{view_of(image)};
      if (i == 1) pixels.mask = mask;
      return pixels;
    };
    return build_template(device, 2, source, registration, options);
  };
  CHECK_ERROR(invalid_argument, "image 1's mask is 150 x 159, but its image is 150 x 160",
              with(view_of(all, {150, 159, 1})));
  CHECK_ERROR(invalid_argument, "image 1's mask must be u8", with(view_of(image)));
  CHECK_ERROR(invalid_argument, "image 1's mask has no pixels",
              with({nullptr, PixelType::u8, 150, 160, 0}));
  CHECK_ERROR(invalid_argument, "image 1's mask", with({all.data(), PixelType::u8, 150, 160, 149}));
  CHECK_ERROR(invalid_image, "image 1 has no pixel to register: all are NaN, infinite or masked",
              with(view_of(none)));
  Marks one = none;
  one[4000] = 1;
  CHECK_ERROR(invalid_image, "image 1 is constant where it is neither missing nor masked",
              with(view_of(one)));
  RegistrationOptions fast;
  fast.fast = true;
  CHECK_ERROR(invalid_argument, "the fast pipeline does not support masks",
              with(view_of(all), fast));

  std::size_t reads = 0;
  const auto changing = [&](std::size_t) {
    TemplatePixels pixels{view_of(image)};
    if (++reads < 3) pixels.mask = view_of(all);
    return pixels;
  };
  CHECK_ERROR(invalid_argument, "image 0 is not the same each time",
              build_template(device, 2, changing, warpalign::template_registration(), options));

  // As many voxels, but in another shape.
  const std::vector<float> voxels = DrawnSubjects({20, 18, 24}, 1, 29).image(0);
  const auto turned = [&](std::size_t) {
    TemplateVoxels source{{voxels.data(), PixelType::f32, {20, 18, 24}}};
    source.mask = {all.data(), PixelType::u8, {20, 24, 18}};
    return source;
  };
  CHECK_ERROR(
      invalid_argument, "image 0's mask is 20 x 24 x 18, but its image is 20 x 18 x 24",
      build_volume_template(device, 2, turned, warpalign::volume_template_registration(), options));
}
