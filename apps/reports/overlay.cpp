// Draws the overlay: two panels with a contrast stretch that is robust against outliers.
#include "reports/overlay.hpp"

#include "io/array_file.hpp"
#include "io/luminance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::program {
namespace {

using Gray = std::vector<float>;
using Mask = std::vector<bool>;
using Rgb = std::array<std::uint8_t, 3>;

constexpr double dark_share = 0.005;    // fraction of pixels that may become black
constexpr double bright_share = 0.995;  // fraction of pixels that stay below white
constexpr float dimmed = 0.35F;
constexpr int fields_across = 8;

Gray gray_values(const LoadedImage& image) {
  const Luminance luminance(image);
  const LoadedImage& gray = luminance.image();
  const Array values = to_float({{gray.height, gray.width}, gray.type, gray.pixels});
  return {values.samples<float>().begin(), values.samples<float>().end()};
}

Mask inside_moving(const Shape& shape, const PixelMap& reference_to_moving, const Shape& moving) {
  Mask inside(static_cast<std::size_t>(shape.plane()));
  const auto right = static_cast<double>(moving.width - 1);
  const auto bottom = static_cast<double>(moving.height - 1);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const auto pixel = static_cast<std::int64_t>(i);
    const Point p = reference_to_moving(pixel % shape.width, pixel / shape.width);
    inside[i] = p.x >= 0 && p.y >= 0 && p.x <= right && p.y <= bottom;
  }
  return inside;
}

float quantile(Gray& values, double share) {
  const auto position = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + position, values.end());
  return values[static_cast<std::size_t>(position)];
}

/// A sample of the finite values inside the mask, or of all finite values if there are none inside.
Gray sample_of(const Gray& values, const Mask& inside) {
  constexpr std::size_t enough = std::size_t{1} << 20;
  const std::size_t step = values.size() / enough + 1;
  Gray sample;
  for (const bool everywhere : {false, true}) {
    for (std::size_t i = 0; i < values.size(); i += step) {
      if ((everywhere || inside[i]) && std::isfinite(values[i])) sample.push_back(values[i]);
    }
    if (!sample.empty()) break;
  }
  return sample;
}

/// Scales the values to 0 ... 255 by their quantiles inside the mask, which both images show, so
/// that equal content gets equal brightness. Non-finite values become 0; only pixels excluded by a
/// registration mask can have them.
void stretch(Gray& values, const Mask& inside) {
  Gray sample = sample_of(values, inside);
  if (sample.empty()) sample.push_back(0);
  const float dark = quantile(sample, dark_share);
  const float bright = quantile(sample, bright_share);
  const float gain = bright > dark ? 255.0F / (bright - dark) : 0.0F;
  for (float& value : values) {
    value = std::isfinite(value) ? std::clamp((value - dark) * gain, 0.0F, 255.0F) : 0.0F;
  }
}

std::uint8_t byte(float value) { return static_cast<std::uint8_t>(value + 0.5F); }
Rgb gray(float value) { return {byte(value), byte(value), byte(value)}; }

class Canvas {
 public:
  Canvas(std::int64_t width, std::int64_t height)
      : image_(make_image(width, height, 3, PixelType::u8)) {
    std::fill(image_.pixels.begin(), image_.pixels.end(), std::byte{255});
  }
  void put(std::int64_t x, std::int64_t y, const Rgb& colour) {
    const std::ptrdiff_t at = 3 * (y * image_.width + x);
    std::copy(colour.begin(), colour.end(), image_.samples<std::uint8_t>().begin() + at);
  }
  LoadedImage take() { return std::move(image_); }

 private:
  LoadedImage image_;
};

}  // namespace

LoadedImage draw_overlay(const LoadedImage& reference, const LoadedImage& aligned,
                         const Homography& reference_to_moving, const Shape& moving) {
  const auto map = [&](std::int64_t x, std::int64_t y) {
    return reference_to_moving({static_cast<double>(x), static_cast<double>(y)});
  };
  return draw_mapped_overlay(reference, aligned, map, moving);
}

LoadedImage draw_mapped_overlay(const LoadedImage& reference, const LoadedImage& aligned,
                                const PixelMap& reference_to_moving, const Shape& moving) {
  const Shape shape = reference.shape();
  const Mask inside = inside_moving(shape, reference_to_moving, moving);
  Gray fixed = gray_values(reference);
  Gray warped = gray_values(aligned);
  stretch(fixed, inside);
  stretch(warped, inside);

  const std::int64_t gap = std::max<std::int64_t>(2, shape.width / 128);
  const double area = static_cast<double>(shape.plane());
  const auto field = std::max<std::int64_t>(2, std::llround(std::sqrt(area) / fields_across));
  Canvas canvas(2 * shape.width + gap, shape.height);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      const bool show_warped = (x / field + y / field) % 2 == 1;
      const Rgb alone = gray(dimmed * fixed[i]);
      const Rgb both = {byte(warped[i]), byte(fixed[i]), byte(warped[i])};
      canvas.put(x, y, inside[i] ? both : alone);
      canvas.put(shape.width + gap + x, y,
                 inside[i] ? gray(show_warped ? warped[i] : fixed[i]) : alone);
    }
  }
  return canvas.take();
}

}  // namespace warpalign::program
