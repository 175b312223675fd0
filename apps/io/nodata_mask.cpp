// Masks for images in which a value stands for missing pixels.
#include "io/nodata_mask.hpp"

#include "io/gray_levels.hpp"
#include "io/usage_error.hpp"

#include <warpalign/missing.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace warpalign::program {

void check_nodata(double nodata, PixelType type) {
  if (can_hold(type, nodata)) return;
  throw UsageError(fmt::format("--nodata {}: no sample of the type {} can have this value", nodata,
                               name_of(type)));
}

std::int64_t exclude_unknown(std::span<const std::uint8_t> known, const std::string& what,
                             std::span<std::uint8_t> marks) {
  std::int64_t excluded = 0, left = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] == 0) continue;
    known[i] != 0 ? ++left : ++excluded;
    if (known[i] == 0) marks[i] = 0;
  }
  if (left > 0) return excluded;
  throw UsageError(
      fmt::format("{}: there is nothing in it to register; all of it is missing or masked", what));
}

namespace {

/// For each pixel 1 if a channel of it is known; empty if all pixels are.
std::vector<std::uint8_t> known_pixels(const LoadedImage& image, double nodata) {
  const KnownSamples samples = known_samples(
      HostImage{image.pixels.data(), image.type, image.width * image.channels, image.height, 0},
      nodata);
  if (samples.missing == 0) return {};
  const auto channels = static_cast<std::size_t>(image.channels);
  std::vector<std::uint8_t> known(samples.known.size() / channels);
  for (std::size_t i = 0; i < samples.known.size(); ++i) known[i / channels] |= samples.known[i];
  return known;
}

}  // namespace

LoadedImage with_nan(const LoadedImage& image, double nodata) {
  constexpr float full_level = 255;
  const std::vector<float> levels = gray_levels(image);
  const std::vector<std::uint8_t> known = known_pixels(image, nodata);
  LoadedImage result = make_image(image.width, image.height, 1, PixelType::f32);
  const auto values = result.samples<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool counts = known.empty() || known[i] != 0;
    values[i] = counts ? levels[i] / full_level : std::numeric_limits<float>::quiet_NaN();
  }
  return result;
}

std::int64_t mask_missing(const LoadedImage& image, double nodata, const std::string& what,
                          std::optional<LoadedImage>& mask) {
  const std::vector<std::uint8_t> known = known_pixels(image, nodata);
  if (known.empty()) return 0;
  if (!mask) {
    mask = make_image(image.width, image.height, 1, PixelType::u8);
    std::ranges::fill(mask->samples<std::uint8_t>(), std::uint8_t{255});
  }
  return exclude_unknown(known, what, mask->samples<std::uint8_t>());
}

}  // namespace warpalign::program
