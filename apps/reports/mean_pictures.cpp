// The mean of a stack before and after alignment, as pictures with their sharpness.
#include "reports/mean_pictures.hpp"

#include "io/gray_levels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpalign::program {
namespace {

constexpr std::int64_t max_side = 1024;

/// The pixels to which at least half of the frames contribute.
std::vector<bool> well_covered(std::span<const std::uint32_t> counts) {
  const std::uint32_t most = *std::max_element(counts.begin(), counts.end());
  std::vector<bool> covered(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) covered[i] = 2 * counts[i] >= most && most > 0;
  return covered;
}

double sharpness(const LoadedImage& mean, const std::vector<bool>& covered) {
  const auto values = mean.samples<float>();
  const auto width = static_cast<std::size_t>(mean.width);
  const auto height = static_cast<std::size_t>(mean.height);
  double squares = 0;
  double count = 0;
  for (std::size_t y = 1; y + 1 < height; ++y) {
    for (std::size_t i = y * width + 1; i + 1 < (y + 1) * width; ++i) {
      if (!covered[i - 1] || !covered[i + 1] || !covered[i - width] || !covered[i + width])
        continue;
      const double dx = static_cast<double>(values[i + 1] - values[i - 1]) / 2;
      const double dy = static_cast<double>(values[i + width] - values[i - width]) / 2;
      squares += dx * dx + dy * dy;
      count += 1;
    }
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

/// Shrinks an image by averaging squares of pixels, so that no side exceeds the limit.
LoadedImage shrunk(const LoadedImage& mean) {
  const std::int64_t step = (std::max(mean.width, mean.height) + max_side - 1) / max_side;
  LoadedImage small = make_image((mean.width + step - 1) / step, (mean.height + step - 1) / step, 1,
                                 PixelType::f32);
  const auto from = mean.samples<float>();
  auto to = small.samples<float>().begin();
  for (std::int64_t top = 0; top < mean.height; top += step) {
    for (std::int64_t left = 0; left < mean.width; left += step) {
      double sum = 0;
      double count = 0;
      for (std::int64_t y = top; y < std::min(top + step, mean.height); ++y) {
        for (std::int64_t x = left; x < std::min(left + step, mean.width); ++x) {
          sum += static_cast<double>(from[static_cast<std::size_t>(y * mean.width + x)]);
          count += 1;
        }
      }
      *to++ = static_cast<float>(sum / count);
    }
  }
  return small;
}

/// The values drawn as black and white: half a per cent of the values lie beyond each of them.
struct Contrast {
  float black = 0;
  float white = 1;
};

Contrast contrast_of(const LoadedImage& image) {
  const auto samples = image.samples<float>();
  std::vector<float> values(samples.begin(), samples.end());
  const auto at = [&](double share) {
    const auto place = values.begin() +
                       static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  const Contrast contrast{at(0.005), at(0.995)};
  return contrast.white > contrast.black ? contrast : Contrast{contrast.black, contrast.black + 1};
}

LoadedImage drawn(const LoadedImage& image, const Contrast& contrast) {
  LoadedImage picture = make_image(image.width, image.height, 1, PixelType::u8);
  std::ranges::transform(
      image.samples<float>(), picture.samples<std::uint8_t>().begin(), [&](float value) {
        const float share = (value - contrast.black) / (contrast.white - contrast.black);
        return static_cast<std::uint8_t>(std::clamp(share * 255 + 0.5F, 0.0F, 255.0F));
      });
  return picture;
}

}  // namespace

LoadedImage gray_picture(const LoadedImage& image) {
  LoadedImage levels = make_image(image.width, image.height, 1, PixelType::f32);
  std::vector<float> values = gray_levels(image);
  for (float& value : values) value = std::isfinite(value) ? value : 0;
  std::copy(values.begin(), values.end(), levels.samples<float>().begin());
  const LoadedImage small = shrunk(levels);
  return drawn(small, contrast_of(small));
}

MeanPictures mean_pictures(const LoadedImage& before, const LoadedImage& after,
                           std::span<const std::uint32_t> counts) {
  const std::vector<bool> covered = well_covered(counts);
  const LoadedImage small_before = shrunk(before);
  const LoadedImage small_after = shrunk(after);
  const Contrast contrast = contrast_of(small_after);
  return {drawn(small_before, contrast), drawn(small_after, contrast), sharpness(before, covered),
          sharpness(after, covered)};
}

}  // namespace warpalign::program
