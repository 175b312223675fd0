// Objects that own device memory can be moved: the target then works as the source did, and its
// previous memory is freed.
#include "support/devices.hpp"

#include <warpalign/local_motion.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/phase_correlation.hpp>
#include <warpalign/tiles.hpp>
#include <warpalign/volume_registrar.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using warpalign::HomogeneousMatrix;
using warpalign::HostImage;
using warpalign::PixelType;
using warpalign::Shape;

constexpr Shape plane{64, 48, 1};

std::vector<std::uint8_t> picture(const Shape& shape, double ox, double oy) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const double u = static_cast<double>(x) + ox;
        const double v = static_cast<double>(y) + oy;
        const double value = 128 + 60 * std::sin(0.31 * u + 0.004 * v * v) +
                             50 * std::cos(0.27 * v - 0.003 * u * u + static_cast<double>(z));
        pixels.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  return pixels;
}

HostImage view(const std::vector<std::uint8_t>& pixels) {
  return {pixels.data(), PixelType::u8, plane.width, plane.height, 0};
}

const std::vector<std::uint8_t>& reference() {
  static const auto pixels = picture(plane, 0, 0);
  return pixels;
}

const std::vector<std::uint8_t>& moving() {
  static const auto pixels = picture(plane, 3, -2);
  return pixels;
}

/// The results of `use` for an object, for the object it is moved to, and for another object it is
/// then assigned to.
template <class Object, class Use>
void check_moves(Object object, Object other, const Use& use) {
  const auto expected = use(object);
  Object moved(std::move(object));
  CHECK(use(moved) == expected);
  other = std::move(moved);
  CHECK(use(other) == expected);
}

}  // namespace

TEST_CASE("moved objects: registrars") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto with_reference = [&](const std::vector<std::uint8_t>& pixels) {
      warpalign::Registrar registrar(device);
      registrar.set_reference(view(pixels));
      return registrar;
    };
    check_moves(with_reference(reference()), with_reference(moving()),
                [](warpalign::Registrar& registrar) {
                  const auto found = registrar.align(view(moving()));
                  return std::pair(found.matrix.c, found.confidence);
                });
  });
}

TEST_CASE("moved objects: registrars of volumes") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{32, 24, 8};
    const auto first = picture(shape, 0, 0);
    const auto second = picture(shape, 2, 1);
    const auto with_reference = [&](const std::vector<std::uint8_t>& voxels) {
      warpalign::VolumeRegistrar registrar(device);
      registrar.set_reference({voxels.data(), PixelType::u8, shape});
      return registrar;
    };
    check_moves(with_reference(first), with_reference(second),
                [&](warpalign::VolumeRegistrar& registrar) {
                  return registrar.align({second.data(), PixelType::u8, shape}).matrix.m;
                });
  });
}

TEST_CASE("moved objects: windows and displacement fields") {
  test::on_every_device([](const warpalign::Device& device) {
    const warpalign::WindowOptions options{
        .width = 32, .height = 32, .stride_x = 16, .stride_y = 16};
    const auto with_reference = [&](const std::vector<std::uint8_t>& pixels) {
      warpalign::WindowRegistrar registrar(device, PixelType::u8, plane, options);
      registrar.set_reference(view(pixels));
      return registrar;
    };
    const HostImage frame = view(moving());
    check_moves(with_reference(reference()), with_reference(moving()),
                [&](warpalign::WindowRegistrar& registrar) {
                  return registrar.align({&frame, 1}).front().shift.x;
                });

    std::vector<float> shifts(2 * static_cast<std::size_t>(plane.pixels()), 1.5F);
    const auto field = warpalign::DisplacementField::from_samples(plane, shifts, 8);
    check_moves(warpalign::FieldWarper(device, PixelType::u8, plane),
                warpalign::FieldWarper(device, PixelType::u8, plane),
                [&](warpalign::FieldWarper& warper) {
                  std::vector<std::uint8_t> output(reference().size());
                  warper.warp(view(reference()), field, output.data());
                  return output;
                });
  });
}

TEST_CASE("moved objects: phase correlations and tiled resamplers") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    const auto uploaded = [&](const std::vector<std::uint8_t>& pixels) {
      const std::vector<float> values(pixels.begin(), pixels.end());
      auto image = device.make_image(PixelType::f32, plane);
      stream.upload(HostImage{values.data(), PixelType::f32, plane.width, plane.height, 0}, image);
      return image;
    };
    const auto first = uploaded(reference());
    const auto second = uploaded(moving());
    auto surface = device.make_image(PixelType::f32, plane);
    const warpalign::PhaseCorrelationSpec spec{.shape = plane};
    check_moves(warpalign::PhaseCorrelationPlan(device, spec),
                warpalign::PhaseCorrelationPlan(device, spec),
                [&](const warpalign::PhaseCorrelationPlan& plan) {
                  plan.execute(stream, first, second, surface);
                  const auto peak = plan.find_peak();
                  return std::pair(peak.shift.x, peak.shift.y);
                });

    const warpalign::ResampleSpec resample{.images = {.shape = plane},
                                           .output = plane,
                                           .input = PixelType::u8,
                                           .output_type = PixelType::u8};
    check_moves(warpalign::TiledResampler(device, resample, 100000),
                warpalign::TiledResampler(device, resample, 200000),
                [&](warpalign::TiledResampler& resampler) {
                  std::vector<std::uint8_t> output(reference().size());
                  const HomogeneousMatrix shifted = warpalign::Affine{1, 0, 2.5, 0, 1, -1.25};
                  resampler.execute(reference().data(), shifted, output.data());
                  return output;
                });
  });
}
