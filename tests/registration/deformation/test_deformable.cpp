// Deformable registration of images and volumes with a known field, of unrelated pairs, and of
// wrong input, on every device.
#include "registration/deformation/drawn_fields.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/frame_registrar.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/volume_registrar.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace {

using test::DrawnField;
using test::DrawnPair;
using warpalign::Deformation;
using warpalign::Device;
using warpalign::Error;
using warpalign::HostImage;
using warpalign::HostVolume;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Point3;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;
using warpalign::Shape;
using warpalign::VolumeRegistration;
using warpalign::VolumeRegistrationOptions;

constexpr std::int64_t margin = 12;

HostImage image_of(const std::vector<float>& pixels, const Shape& shape) {
  return {pixels.data(), PixelType::f32, shape.width, shape.height, 0};
}
HostVolume volume_of(const std::vector<float>& voxels, const Shape& shape) {
  return {voxels.data(), PixelType::f32, shape};
}

RegistrationOptions deformable() {
  RegistrationOptions options;
  options.motion = Motion::deformable;
  return options;
}
VolumeRegistrationOptions deformable_volumes() {
  VolumeRegistrationOptions options;
  options.motion = Motion::deformable;
  return options;
}

/// The root of the mean squared distance from the true points, away from the edges.
double rms_error(const Deformation& found, const DrawnField& field, const Shape& shape) {
  const std::int64_t deep = shape.depth > 1 ? margin : 0;
  double sum = 0;
  double count = 0;
  for (std::int64_t z = deep; z < shape.depth - deep; z += 3) {
    for (std::int64_t y = margin; y < shape.height - margin; y += 3) {
      for (std::int64_t x = margin; x < shape.width - margin; x += 3) {
        const Point3 p{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
        const auto u = field({p.x, p.y, p.z});
        const Point3 q = found.transform(p);
        sum += std::pow(q.x - p.x - u[0], 2) + std::pow(q.y - p.y - u[1], 2) +
               std::pow(q.z - p.z - u[2], 2);
        count += 1;
      }
    }
  }
  return std::sqrt(sum / count);
}

RegistrationResult registered(const Device& device, const DrawnPair& pair) {
  return warpalign::register_images(device, image_of(pair.reference, pair.shape),
                                    image_of(pair.moving, pair.shape), deformable());
}

/// The intensities of another modality: a function that rises, and falls again.
void change_modality(std::vector<float>& image) {
  const auto [least, most] = std::minmax_element(image.begin(), image.end());
  const float low = *least;
  const float range = *most - low;
  for (float& value : image) {
    const float v = (value - low) / range;
    value = v < 0.6F ? 1 - v : 0.4F + 0.5F * (v - 0.6F);
  }
}

/// Replaces what is outside of an ellipse or ellipsoid.
void cut_ellipsoid(std::vector<float>& image, const Shape& shape, float background,
                   double narrower = 1) {
  const auto from_centre = [](std::int64_t k, std::int64_t side) {
    return side > 1 ? 2 * static_cast<double>(k) / static_cast<double>(side - 1) - 1 : 0.0;
  };
  for (std::int64_t i = 0; i < shape.pixels(); ++i) {
    const double x = from_centre(i % shape.width, shape.width) / (0.7 * narrower);
    const double y = from_centre(i / shape.width % shape.height, shape.height) / 0.75;
    const double z = from_centre(i / (shape.width * shape.height), shape.depth) / 0.65;
    if (x * x + y * y + z * z > 1) image[static_cast<std::size_t>(i)] = background;
  }
}

struct Box {
  std::array<std::int64_t, 3> first, end;

  [[nodiscard]] bool contains(std::int64_t x, std::int64_t y, std::int64_t z, int axes) const {
    return x >= first[0] && x < end[0] && y >= first[1] && y < end[1] &&
           (axes == 2 || (z >= first[2] && z < end[2]));
  }
};

Deformation masked_deformation(const Device& device, const DrawnPair& pair,
                               const std::vector<std::uint8_t>& reference_mask,
                               const std::vector<std::uint8_t>& moving_mask) {
  const Shape& shape = pair.shape;
  if (shape.depth > 1) {
    warpalign::VolumeRegistrar registrar(device, deformable_volumes());
    registrar.set_reference(volume_of(pair.reference, shape),
                            {reference_mask.data(), PixelType::u8, shape});
    const auto found =
        registrar.align(volume_of(pair.moving, shape), {moving_mask.data(), PixelType::u8, shape});
    REQUIRE(found.reliable);
    return found.deformation.value();
  }
  warpalign::Registrar registrar(device, deformable());
  const auto mask_of = [&](const std::vector<std::uint8_t>& mask) {
    return HostImage{mask.data(), PixelType::u8, shape.width, shape.height, 0};
  };
  registrar.set_reference(image_of(pair.reference, shape), mask_of(reference_mask));
  const auto found = registrar.align(image_of(pair.moving, shape), mask_of(moving_mask));
  REQUIRE(found.reliable);
  return found.deformation.value();
}

/// Images of waves of 24 pixels and more.
DrawnPair coarse_pair(const Shape& shape, std::uint32_t reference, std::uint32_t moving) {
  DrawnPair pair{shape, {}, {}};
  const test::Waves first(2, 40, 24, 80, reference);
  const test::Waves second(2, 40, 24, 80, moving);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const test::Coordinates3 p{static_cast<double>(x), static_cast<double>(y), 0};
      pair.reference.push_back(static_cast<float>(first(p)));
      pair.moving.push_back(static_cast<float>(second(p)));
    }
  }
  return pair;
}

bool accepted_from_identity(const Device& device, const DrawnPair& pair) {
  if (pair.shape.depth > 1) {
    warpalign::VolumeRegistrar registrar(device, deformable_volumes());
    registrar.set_reference(volume_of(pair.reference, pair.shape));
    registrar.set_initial(warpalign::HomogeneousMatrix{});
    return registrar.align(volume_of(pair.moving, pair.shape)).reliable;
  }
  warpalign::Registrar registrar(device, deformable());
  registrar.set_reference(image_of(pair.reference, pair.shape));
  registrar.set_initial(warpalign::Homography{});
  return registrar.align(image_of(pair.moving, pair.shape)).reliable;
}

}  // namespace

TEST_CASE("deformable: finds drawn fields of images, without and with noise") {
  test::on_every_device([](const Device& device) {
    const Shape shape{220, 180, 1};
    const DrawnField field(2, 6, 5);
    for (const double noise : {0.0, 0.05}) {
      CAPTURE(noise);
      const auto found = registered(device, test::drawn_pair(shape, field, noise, 7));
      REQUIRE(found.reliable);
      REQUIRE(found.deformation);
      const Deformation& d = *found.deformation;
      // What issue 44 asks for.
      CHECK(rms_error(d, field, shape) <= (noise > 0 ? 0.2 : 0.05));
      CHECK(d.correlation > d.correlation_before + 0.1);
      CHECK(d.min_jacobian > 0.1);
      CHECK(d.extreme_jacobians == 0);
    }
  });
}

TEST_CASE("deformable: the measures are those of the transform") {
  test::on_every_device([](const Device& device) {
    const Shape shape{120, 100, 1};
    const auto found = registered(device, test::drawn_pair(shape, DrawnField(2, 5, 6), 0, 8));
    REQUIRE(found.deformation);
    const auto members = found.deformation->transform.members();
    REQUIRE(members.size() == 2);
    warpalign::PointGrid pixels;
    pixels.shape = shape;
    std::vector<double> jacobian(static_cast<std::size_t>(shape.pixels()));
    members.front().jacobian(pixels, jacobian);
    const auto [least, most] = std::minmax_element(jacobian.begin(), jacobian.end());
    // Single precision on the device.
    CHECK(std::abs(*least - found.deformation->min_jacobian) <= 1e-4);
    CHECK(std::abs(*most - found.deformation->max_jacobian) <= 1e-4);
  });
}

TEST_CASE("deformable: finds drawn fields of volumes") {
  test::on_every_device([](const Device& device) {
    const Shape shape{56, 52, 48};
    const DrawnField field(3, 4, 9);
    const DrawnPair pair = test::drawn_pair(shape, field, 0, 10);
    const VolumeRegistration found =
        warpalign::register_volumes(device, volume_of(pair.reference, shape),
                                    volume_of(pair.moving, shape), deformable_volumes());
    REQUIRE(found.reliable);
    REQUIRE(found.deformation);
    CHECK(rms_error(*found.deformation, field, shape) <= 0.05);
    CHECK(found.deformation->min_jacobian > 0.1);
  });
}

TEST_CASE("deformable: finds drawn fields of another modality") {
  test::on_every_device([](const Device& device) {
    for (const auto modality : {warpalign::Modality::other, warpalign::Modality::automatic}) {
      const Shape shape{220, 180, 1};
      const DrawnField field(2, 4, 5);
      DrawnPair pair = test::drawn_pair(shape, field, 0, 7);
      change_modality(pair.moving);
      RegistrationOptions options = deformable();
      options.modality = modality;
      warpalign::Registrar registrar(device, options);
      registrar.set_reference(image_of(pair.reference, shape));
      const auto found = registrar.align(image_of(pair.moving, shape));
      REQUIRE(found.reliable);
      REQUIRE(found.deformation);
      CHECK(found.modality == warpalign::Modality::other);
      // Pixels at which the function turns have less contrast than the others.
      CHECK(rms_error(*found.deformation, field, shape) <= 0.15);
      CHECK(found.deformation->correlation > found.deformation->correlation_before + 0.05);
      CHECK(found.deformation->min_jacobian > 0.1);
      // The affine step begins at an initial transform.
      registrar.set_initial(warpalign::Homography{});
      const auto begun = registrar.align(image_of(pair.moving, shape));
      REQUIRE(begun.deformation);
      CHECK(rms_error(*begun.deformation, field, shape) <= 0.15);
    }
  });
}

TEST_CASE("deformable: finds drawn fields of volumes of another modality") {
  test::on_every_device([](const Device& device) {
    for (const auto modality : {warpalign::Modality::other, warpalign::Modality::automatic}) {
      const Shape shape{56, 52, 48};
      const DrawnField field(3, 3, 9);
      DrawnPair pair = test::drawn_pair(shape, field, 0, 10);
      change_modality(pair.moving);
      VolumeRegistrationOptions options = deformable_volumes();
      options.modality = modality;
      const VolumeRegistration found = warpalign::register_volumes(
          device, volume_of(pair.reference, shape), volume_of(pair.moving, shape), options);
      REQUIRE(found.reliable);
      REQUIRE(found.deformation);
      CHECK(found.modality == warpalign::Modality::other);
      CHECK(rms_error(*found.deformation, field, shape) <= 0.15);
      CHECK(found.deformation->min_jacobian > 0.1);
    }
  });
}

TEST_CASE("deformable: unrelated images of another modality have no deformation") {
  test::on_every_device([](const Device& device) {
    const Shape shape{160, 140, 1};
    const DrawnField none(2, 0, 1);
    RegistrationOptions options = deformable();
    options.modality = warpalign::Modality::other;
    warpalign::Registrar registrar(device, options);
    for (std::uint32_t seed = 20; seed < 23; ++seed) {
      const DrawnPair pair = test::drawn_pair(shape, none, 0, seed);
      const DrawnPair other = test::drawn_pair(shape, none, 0, seed + 50);
      registrar.set_reference(image_of(pair.reference, shape));
      CHECK_FALSE(registrar.align(image_of(other.moving, shape)).deformation);
      registrar.set_initial(warpalign::Homography{});
      CHECK_FALSE(registrar.align(image_of(other.moving, shape)).deformation);
    }
  });
}

TEST_CASE("deformable: an initial transform replaces the affine step") {
  test::on_every_device([](const Device& device) {
    const Shape shape{160, 140, 1};
    const DrawnField field(2, 5, 11);
    const DrawnPair pair = test::drawn_pair(shape, field, 0, 12);
    warpalign::Registrar registrar(device, deformable());
    registrar.set_reference(image_of(pair.reference, shape));
    registrar.set_initial(warpalign::Homography{});
    const auto found = registrar.align(image_of(pair.moving, shape));
    REQUIRE(found.deformation);
    CHECK(found.matrix.a == 1);
    CHECK(found.matrix.c == 0);
    CHECK(found.reliable);
    CHECK(rms_error(*found.deformation, field, shape) <= 0.05);
    warpalign::Homography projective;
    projective.h[6] = 1e-4;
    CHECK_THROWS_AS(registrar.set_initial(projective), Error);
  });
}

TEST_CASE("deformable: unrelated pairs have no deformation") {
  test::on_every_device([](const Device& device) {
    const Shape shape{160, 140, 1};
    const DrawnField none(2, 0, 1);
    for (std::uint32_t seed = 20; seed < 24; ++seed) {
      DrawnPair pair = test::drawn_pair(shape, none, 0, seed);
      pair.moving = test::drawn_pair(shape, none, 0, seed + 50).moving;
      warpalign::Registrar registrar(device, deformable());
      registrar.set_reference(image_of(pair.reference, shape));
      const auto searched = registrar.align(image_of(pair.moving, shape));
      CHECK(!searched.reliable);
      CHECK(!searched.deformation);
      registrar.set_initial(warpalign::Homography{});
      const auto found = registrar.align(image_of(pair.moving, shape));
      CHECK(!found.reliable);
      CHECK(!found.deformation);
    }
  });
}

TEST_CASE("deformable: large images are judged without fine details") {
  test::on_every_device([](const Device& device) {
    const Shape shape{600, 520, 1};
    // Only the coarse structure is common, as in the anatomy of different people. Waves of 5 to 6
    // pixels have 0.8 of their height at half resolution, 0.3 at a quarter.
    const auto own_details = [&](std::vector<float>& image, std::uint32_t seed) {
      const test::Waves details(2, 30, 5, 6, seed);
      std::size_t i = 0;
      for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x) {
          image[i++] +=
              static_cast<float>(details({static_cast<double>(x), static_cast<double>(y), 0}));
        }
      }
    };
    const auto pair_of = [&](std::uint32_t reference, std::uint32_t moving) {
      DrawnPair pair = coarse_pair(shape, reference, moving);
      own_details(pair.reference, 91);
      own_details(pair.moving, 92);
      return pair;
    };
    CHECK(accepted_from_identity(device, pair_of(93, 93)));
    CHECK(!accepted_from_identity(device, pair_of(93, 94)));
  });
}

TEST_CASE("deformable: a common outline does not make noise related") {
  test::on_every_device([](const Device& device) {
    for (const Shape& shape : {Shape{160, 150, 1}, Shape{64, 60, 56}}) {
      CAPTURE(shape.depth);
      const int axes = shape.depth > 1 ? 3 : 2;
      const DrawnField none(axes, 0, 1);
      for (const float background : {-3.0F, -8.0F}) {
        CAPTURE(background);
        DrawnPair pair = test::drawn_pair(shape, DrawnField(axes, 4, 40), 0, 41);
        cut_ellipsoid(pair.reference, shape, background);
        cut_ellipsoid(pair.moving, shape, background);
        // The same texture is found within the outline, another one is not.
        CHECK(accepted_from_identity(device, pair));
        pair.moving = test::drawn_pair(shape, none, 0, 42).moving;
        cut_ellipsoid(pair.moving, shape, background);
        CHECK(!accepted_from_identity(device, pair));
      }
    }
  });
}

TEST_CASE("volumes: a common outline does not make noise related") {
  test::on_every_device([](const Device& device) {
    const Shape shape{64, 60, 56};
    const DrawnField none(3, 0, 1);
    VolumeRegistrationOptions options;
    options.motion = Motion::rigid;
    const DrawnPair same = test::drawn_pair(shape, none, 0.5, 41);
    const std::vector<float> other = test::drawn_pair(shape, none, 0.5, 42).moving;
    for (const float background : {-3.0F, -8.0F}) {
      CAPTURE(background);
      const auto reliable = [&](std::vector<float> moving) {
        std::vector<float> reference = same.reference;
        cut_ellipsoid(reference, shape, background);
        cut_ellipsoid(moving, shape, background);
        return warpalign::register_volumes(device, volume_of(reference, shape),
                                           volume_of(moving, shape), options)
            .reliable;
      };
      CHECK(reliable(same.moving));
      CHECK(!reliable(other));
    }
  });
}

TEST_CASE("volumes: shapes without anything inside are judged by their outlines") {
  test::on_every_device([](const Device& device) {
    const Shape shape{48, 44, 40};
    const auto voxels = static_cast<std::size_t>(shape.pixels());
    std::vector<float> reference(voxels, 1.0F);
    cut_ellipsoid(reference, shape, 0, 0.8);
    VolumeRegistrationOptions options;
    options.motion = Motion::rigid;
    CHECK(warpalign::register_volumes(device, volume_of(reference, shape),
                                      volume_of(reference, shape), options)
              .reliable);
  });
}

TEST_CASE("deformable: shapes without anything inside are judged by their outlines") {
  test::on_every_device([](const Device& device) {
    const Shape shape{160, 150, 1};
    DrawnPair pair{shape, std::vector<float>(24000, 1.0F), std::vector<float>(24000, 1.0F)};
    cut_ellipsoid(pair.reference, shape, 0, 0.9);
    cut_ellipsoid(pair.moving, shape, 0);
    std::mt19937 random(7);
    std::normal_distribution<float> noise(0, 0.02F);
    for (float& value : pair.reference) value += noise(random);
    for (float& value : pair.moving) value += noise(random);
    CHECK(accepted_from_identity(device, pair));
  });
}

TEST_CASE("deformable: masked pixels and missing ones of both images are ignored") {
  test::on_every_device([](const Device& device) {
    for (const Shape& shape : {Shape{220, 180, 1}, Shape{60, 56, 52}}) {
      CAPTURE(shape.depth);
      const int axes = shape.depth > 1 ? 3 : 2;
      const DrawnField field(axes, 4, 51);
      DrawnPair pair = test::drawn_pair(shape, field, 0, 52);
      // Other structure in a block of each image, and missing pixels in the moving one.
      std::vector<std::uint8_t> reference_mask(pair.reference.size(), 1);
      std::vector<std::uint8_t> moving_mask(pair.moving.size(), 1);
      const Box in_reference{{20, 20, 16}, {36, 36, 28}};
      const Box in_moving{{30, 34, 30}, {44, 46, 40}};
      for (std::int64_t i = 0; i < shape.pixels(); ++i) {
        const std::int64_t x = i % shape.width;
        const std::int64_t y = i / shape.width % shape.height;
        const std::int64_t z = i / (shape.width * shape.height);
        const auto at = static_cast<std::size_t>(i);
        const auto stripes = static_cast<float>(4 * ((x / 3 + y / 5) % 2));
        if (in_reference.contains(x, y, z, axes)) {
          pair.reference[at] = stripes;
          reference_mask[at] = 0;
        }
        if (in_moving.contains(x, y, z, axes)) {
          pair.moving[at] = -stripes;
          moving_mask[at] = 0;
        }
        if (x + y == 100) pair.moving[at] = NAN;
      }
      const Deformation found = masked_deformation(device, pair, reference_mask, moving_mask);
      // Without masks or blocks, 0.05: beneath the blocks, the field is only smooth.
      CHECK(rms_error(found, field, shape) <= 0.1);
      CHECK(found.correlation > 0.9);
      CHECK(found.min_jacobian > 0.1);
    }
  });
}

TEST_CASE("deformable: the grid spacing of images is the chosen one") {
  test::on_every_device([](const Device& device) {
    const Shape shape{160, 140, 1};
    // Waves of 70 pixels and more: a grid of 40 pixels cannot follow them.
    const DrawnField field(2, 5, 61);
    const DrawnPair pair = test::drawn_pair(shape, field, 0, 62);
    std::vector<double> errors;
    for (const double spacing : {2.0, 3.0, 5.0, 12.0, 40.0, 160.0}) {
      CAPTURE(spacing);
      RegistrationOptions options = deformable();
      options.grid_spacing = spacing;
      const auto found = warpalign::register_images(device, image_of(pair.reference, shape),
                                                    image_of(pair.moving, shape), options);
      REQUIRE(found.deformation);
      const auto grid = found.deformation->transform.members().front().grid().value();
      CHECK(grid.spacing.x == doctest::Approx(spacing));
      CHECK(grid.spacing.y == doctest::Approx(spacing));
      errors.push_back(rms_error(*found.deformation, field, shape));
    }
    for (const std::size_t fine : {0U, 1U, 2U}) CHECK(errors[fine] <= 0.05);
    CHECK(errors[3] <= 0.2);
    CHECK(errors[4] > 2 * errors[3]);
    CHECK(errors[5] > errors[4]);
  });
}

TEST_CASE("deformable: fine grids follow short waves") {
  test::on_every_device([](const Device& device) {
    for (const Shape& shape : {Shape{160, 140, 1}, Shape{56, 52, 48}}) {
      CAPTURE(shape.depth);
      const DrawnField field(shape.depth > 1 ? 3 : 2, 3, 71, 24);
      const DrawnPair pair = test::drawn_pair(shape, field, 0, 72);
      const auto error = [&](double spacing) {
        if (shape.depth > 1) {
          VolumeRegistrationOptions options = deformable_volumes();
          options.grid_spacing = spacing;
          const auto found = warpalign::register_volumes(device, volume_of(pair.reference, shape),
                                                         volume_of(pair.moving, shape), options);
          return rms_error(found.deformation.value(), field, shape);
        }
        RegistrationOptions options = deformable();
        options.grid_spacing = spacing;
        const auto found = warpalign::register_images(device, image_of(pair.reference, shape),
                                                      image_of(pair.moving, shape), options);
        return rms_error(found.deformation.value(), field, shape);
      };
      // 0.3 in the plane and 0.6 in space; above 0.9 if only the finest grid is fine, because the
      // coarse ones leave too much to it.
      CHECK(error(2) <= 0.75 * error(5));
    }
  });
}

TEST_CASE("deformable: the default grid becomes fine for what it does not follow") {
  test::on_every_device([](const Device& device) {
    const auto spacing_of = [](const std::optional<Deformation>& found) {
      REQUIRE(found);
      return found->transform.members().front().grid().value().spacing.x;
    };
    for (const Shape& shape : {Shape{160, 140, 1}, Shape{56, 52, 48}}) {
      const bool is_volume = shape.depth > 1;
      CAPTURE(is_volume);
      const auto registered = [&](const DrawnPair& pair, std::optional<double> spacing) {
        if (is_volume) {
          VolumeRegistrationOptions options = deformable_volumes();
          options.grid_spacing = spacing;
          warpalign::VolumeRegistrar registrar(device, options);
          registrar.set_reference(volume_of(pair.reference, shape));
          registrar.set_initial(warpalign::HomogeneousMatrix{});
          return registrar.align(volume_of(pair.moving, shape)).deformation;
        }
        RegistrationOptions options = deformable();
        options.grid_spacing = spacing.value_or(RegistrationOptions::automatic_grid_spacing);
        warpalign::Registrar registrar(device, options);
        registrar.set_reference(image_of(pair.reference, shape));
        registrar.set_initial(warpalign::Homography{});
        return registrar.align(image_of(pair.moving, shape)).deformation;
      };
      const DrawnField rough(is_volume ? 3 : 2, 5, 71, 14);
      const DrawnPair wrinkled = test::drawn_pair(shape, rough, 0, 72);
      const auto found = registered(wrinkled, std::nullopt);
      CHECK(spacing_of(found) == 2);
      CHECK(rms_error(*found, rough, shape) <
            0.8 * rms_error(registered(wrinkled, 5).value(), rough, shape));

      const DrawnField smooth(is_volume ? 3 : 2, 3, 73);
      for (const double noise : {0.0, 0.3}) {
        CAPTURE(noise);
        const DrawnPair bent = test::drawn_pair(shape, smooth, noise, 74);
        CHECK(spacing_of(registered(bent, std::nullopt)) == 5);
      }
      if (is_volume) continue;
      // Frames of one specimen.
      warpalign::FrameRegistrar frames(device, deformable());
      frames.set_reference(image_of(wrinkled.reference, shape));
      const auto frame = frames.align(image_of(wrinkled.moving, shape), warpalign::Homography{});
      CHECK(spacing_of(frame.deformation) == 5);
    }
  });
}

TEST_CASE("deformable: the grid spacing of volumes is in millimetres") {
  test::on_every_device([](const Device& device) {
    const Shape shape{40, 36, 32};
    const DrawnPair pair = test::drawn_pair(shape, DrawnField(3, 3, 63), 0, 64);
    VolumeRegistrationOptions options = deformable_volumes();
    options.reference_spacing = options.moving_spacing = {0.5, 0.5, 2};
    const auto spacing_found = [&](std::optional<double> spacing) {
      options.grid_spacing = spacing;
      warpalign::VolumeRegistrar registrar(device, options);
      registrar.set_reference(volume_of(pair.reference, shape));
      registrar.set_initial(warpalign::HomogeneousMatrix{});
      const auto found = registrar.align(volume_of(pair.moving, shape));
      REQUIRE(found.deformation);
      return found.deformation->transform.members().front().grid().value().spacing;
    };
    // In voxels, at least 2.
    const Point3 usual = spacing_found({});
    CHECK(usual.x == doctest::Approx(5));
    CHECK(usual.z == doctest::Approx(2));
    const Point3 coarse = spacing_found(6);
    CHECK(coarse.x == doctest::Approx(12));
    CHECK(coarse.y == doctest::Approx(12));
    CHECK(coarse.z == doctest::Approx(3));
  });
}

TEST_CASE("deformable: frames are registered as pairs are") {
  test::on_every_device([](const Device& device) {
    const Shape shape{120, 100, 1};
    const DrawnPair pair = test::drawn_pair(shape, DrawnField(2, 4, 67), 0, 68);
    warpalign::FrameRegistrar registrar(device, deformable());
    CHECK(registrar.frames_at_once() == 1);
    registrar.set_reference(image_of(pair.reference, shape));
    const std::vector<float> flat(pair.moving.size(), 1.0F);
    const std::vector<HostImage> frames{image_of(pair.moving, shape), image_of(flat, shape)};
    const auto found = registrar.align(frames);
    REQUIRE(found.size() == 2);
    REQUIRE(found[0].result);
    REQUIRE(found[0].result->deformation);
    CHECK(found[1].error);
    const auto single = registered(device, pair);
    CHECK(found[0].result->deformation->transform == single.deformation->transform);
  });
}

TEST_CASE("deformable: a larger bending weight makes the field smoother") {
  test::on_every_device([](const Device& device) {
    for (const Shape& shape : {Shape{120, 100, 1}, Shape{44, 40, 36}}) {
      CAPTURE(shape.depth);
      const DrawnField field(shape.depth > 1 ? 3 : 2, 5, 65);
      const DrawnPair pair = test::drawn_pair(shape, field, 0, 66);
      std::vector<double> ranges;
      for (const double weight : {0.5, 10.0, 100.0}) {
        Deformation found;
        if (shape.depth > 1) {
          VolumeRegistrationOptions options = deformable_volumes();
          options.bending_weight = weight;
          found = warpalign::register_volumes(device, volume_of(pair.reference, shape),
                                              volume_of(pair.moving, shape), options)
                      .deformation.value();
        } else {
          RegistrationOptions options = deformable();
          options.bending_weight = weight;
          found = warpalign::register_images(device, image_of(pair.reference, shape),
                                             image_of(pair.moving, shape), options)
                      .deformation.value();
        }
        ranges.push_back(std::log(found.max_jacobian / found.min_jacobian));
      }
      CHECK(ranges[1] < 0.9 * ranges[0]);
      CHECK(ranges[2] < 0.9 * ranges[1]);
    }
  });
}

TEST_CASE("deformable: grids that are impossible are refused") {
  test::on_every_device([](const Device& device) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto refused = [&](double spacing, double weight) {
      // For images, 0 is automatic.
      if (spacing != 0) {
        RegistrationOptions options = deformable();
        options.grid_spacing = spacing;
        options.bending_weight = weight;
        CHECK_THROWS_AS(warpalign::Registrar(device, options), Error);
      }
      VolumeRegistrationOptions volumes = deformable_volumes();
      volumes.reference_spacing = volumes.moving_spacing = {1, 1, 3};
      volumes.grid_spacing = spacing;
      volumes.bending_weight = weight;
      CHECK_THROWS_AS(warpalign::VolumeRegistrar(device, volumes), Error);
    };
    for (const double spacing : {0.0, -5.0, 0.1, 1.9, infinity, std::nan("")})
      refused(spacing, 0.5);
    for (const double weight : {0.0, -1.0, 1e-9, 1e6, infinity, std::nan("")}) refused(5, weight);
    // Without a deformation there is no grid.
    RegistrationOptions other;
    other.grid_spacing = 8;
    CHECK_THROWS_AS(warpalign::Registrar(device, other), Error);
    VolumeRegistrationOptions others;
    others.bending_weight = 2;
    CHECK_THROWS_AS(warpalign::VolumeRegistrar(device, others), Error);

    const Shape shape{40, 36, 1};
    const DrawnPair pair = test::drawn_pair(shape, DrawnField(2, 0, 1), 0, 30);
    RegistrationOptions options = deformable();
    options.grid_spacing = 40;
    CHECK_NOTHROW(
        warpalign::Registrar(device, options).set_reference(image_of(pair.reference, shape)));
    options.grid_spacing = 41;
    warpalign::Registrar registrar(device, options);
    CHECK_THROWS_WITH_AS(registrar.set_reference(image_of(pair.reference, shape)),
                         doctest::Contains("at most the longest side of the reference, 40 pixels"),
                         Error);
    const std::vector<float> cube(4096, 1.0F);
    VolumeRegistrationOptions volumes = deformable_volumes();
    volumes.reference_spacing = volumes.moving_spacing = {1, 1, 3};
    volumes.grid_spacing = 49;
    warpalign::VolumeRegistrar of_volumes(device, volumes);
    CHECK_THROWS_WITH_AS(of_volumes.set_reference(volume_of(cube, {16, 16, 16})),
                         doctest::Contains("longest side of the reference, 48"), Error);
  });
}

TEST_CASE("deformable: wrong input is refused") {
  test::on_every_device([](const Device& device) {
    RegistrationOptions options = deformable();
    options.refine = false;
    CHECK_THROWS_AS(warpalign::Registrar(device, options), Error);
    options = deformable();
    options.candidates = 3;
    CHECK_THROWS_AS(warpalign::Registrar(device, options), Error);
    options = deformable();
    options.fast = true;
    CHECK_THROWS_AS(warpalign::Registrar(device, options), Error);
    const Shape shape{40, 40, 1};
    DrawnPair pair = test::drawn_pair(shape, DrawnField(2, 0, 1), 0, 30);
    warpalign::Registrar registrar(device, deformable());
    const std::vector<std::uint8_t> mask(1600, 0);
    CHECK_THROWS_AS(registrar.set_reference(image_of(pair.reference, shape),
                                            {mask.data(), PixelType::u8, 40, 40, 0}),
                    Error);
  });
}
