// Small runs of what the commands do, which make a device compile the kernels.
#include "commands/small_jobs.hpp"

#include <warpalign/registrar.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace warpalign::program {
namespace {

constexpr std::int64_t picture_side = 256;
constexpr std::int64_t volume_side = 48;
constexpr std::int64_t moved = 5;

/// A scene of random spots, seen through a window. The planes of a volume are stacked vertically.
class Scene {
 public:
  Scene(std::int64_t side, std::int64_t depth, std::int64_t spots)
      : side_(side + moved),
        depth_(depth),
        levels_(static_cast<std::size_t>(side_ * side_ * depth_), 40.0F) {
    std::mt19937 random(1);  // the same scene on every machine
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    for (std::int64_t spot = 0; spot < spots; ++spot) {
      const std::int64_t x0 = below(side_);
      const std::int64_t y0 = below(side_);
      const std::int64_t z0 = below(depth_);
      const std::int64_t size = 2 + below(9);
      const auto level = static_cast<float>(below(150));
      for (std::int64_t z = z0; z < std::min(z0 + size, depth_); ++z) {
        for (std::int64_t y = y0; y < std::min(y0 + size, side_); ++y) {
          for (std::int64_t x = x0; x < std::min(x0 + size, side_); ++x) at(x, y, z) += level / 4;
        }
      }
    }
  }

  /// The pixels of the window that starts at (x, y).
  [[nodiscard]] std::vector<float> window(std::int64_t x, std::int64_t y) {
    std::vector<float> pixels;
    for (std::int64_t z = 0; z < depth_; ++z) {
      for (std::int64_t v = y; v < y + side_ - moved; ++v) {
        for (std::int64_t u = x; u < x + side_ - moved; ++u) {
          pixels.push_back(std::min(at(u, v, z), 250.0F));
        }
      }
    }
    return pixels;
  }

 private:
  float& at(std::int64_t x, std::int64_t y, std::int64_t z) {
    return levels_[static_cast<std::size_t>((z * side_ + y) * side_ + x)];
  }
  std::int64_t side_, depth_;
  std::vector<float> levels_;
};

template <class Pixel>
std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  const std::vector<Pixel> pixels(values.begin(), values.end());
  std::vector<std::byte> bytes(pixels.size() * sizeof(Pixel));
  std::memcpy(bytes.data(), pixels.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> as_type(const std::vector<float>& values, PixelType type) {
  if (type == PixelType::u8) return bytes_of<std::uint8_t>(values);
  if (type == PixelType::u16) return bytes_of<std::uint16_t>(values);
  return bytes_of<float>(values);
}

std::vector<float> with_impulses(std::vector<float> pixels) {
  for (std::size_t i = 0; i < pixels.size(); i += 37) pixels[i] = i % 2 == 0 ? 0.0F : 255.0F;
  return pixels;
}

HostImage picture(const std::vector<std::byte>& pixels, PixelType type) {
  return {pixels.data(), type, picture_side, picture_side, 0};
}

void register_fast(const Device& device, const HostImage& reference, const HostImage& moving) {
  RegistrationOptions options;
  options.fast = true;
  static_cast<void>(register_images(device, reference, moving, options));
}

std::vector<SplineModel> common_splines() {
  return {{.degree = 1, .prefilter = std::nullopt},
          {},
          {.boundary = Boundary::constant},  // as for registered images
          {.prefilter = PrefilterMethod::fir}};
}

}  // namespace

void register_small_images(const Device& device, PixelType type) {
  Scene scene(picture_side, 1, 3000);
  const auto still = as_type(scene.window(0, 0), type);
  const auto shifted = as_type(scene.window(moved, 3), type);
  const auto speckled = as_type(with_impulses(scene.window(moved, 3)), type);
  const HostImage reference = picture(still, type);
  const HostImage moving = picture(shifted, type);

  Registrar registrar(device);
  registrar.set_reference(reference);
  static_cast<void>(registrar.align(moving));
  static_cast<void>(registrar.align(picture(speckled, type)));
  const std::vector<std::byte> mask(picture_side * picture_side, std::byte{1});
  const HostImage all = picture(mask, PixelType::u8);
  registrar.set_reference(reference, all);
  static_cast<void>(registrar.align(moving, all));
  register_fast(device, reference, moving);
}

void resample_small_images(const Device& device, PixelType type) {
  const Shape shape{picture_side, picture_side, 1};
  Stream stream = device.make_stream();
  const std::vector<float> values = Scene(picture_side, 1, 300).window(0, 0);
  const std::vector<std::byte> pixels = as_type(values, type);
  Image input = device.make_image(type, shape);
  Image output = device.make_image(type, shape);
  Image points = device.make_image(PixelType::f32, {shape.width, shape.height, 2});
  const std::vector<float> coordinates(2 * values.size(), 8.5F);
  stream.upload(pixels.data(), pixels.size(), input.buffer());
  stream.upload(coordinates.data(), coordinates.size() * sizeof(float), points.buffer());
  const HomogeneousMatrix rotated(Similarity{30, 1, {}}.matrix(shape, shape));
  for (const SplineModel& spline : common_splines()) {
    ResamplePlan plan(device, {.spline = spline,
                               .images = {.shape = shape},
                               .output = shape,
                               .input = type,
                               .output_type = type});
    plan.execute(stream, input, rotated, output);
    plan.execute(stream, input, points, output);
    stream.finish();
  }
}

void register_small_volumes(const Device& device, PixelType type) {
  Scene scene(volume_side, volume_side, 3000);
  const auto still = as_type(scene.window(0, 0), type);
  const auto shifted = as_type(scene.window(moved, 3), type);
  const auto volume = [&](const std::vector<std::byte>& voxels) {
    return HostVolume{voxels.data(), type, {volume_side, volume_side, volume_side}};
  };
  static_cast<void>(register_volumes(device, volume(still), volume(shifted)));
  VolumeRegistrationOptions rigid;
  rigid.motion = Motion::rigid;
  rigid.max_rotation = 10;
  static_cast<void>(register_volumes(device, volume(still), volume(shifted), rigid));
}

}  // namespace warpalign::program
