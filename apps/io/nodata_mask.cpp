// Masks for images in which a value stands for missing pixels.
#include "io/nodata_mask.hpp"

#include "io/usage_error.hpp"

#include <warpalign/missing.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace warpalign::program {

void check_nodata(double nodata, PixelType type) {
  if (can_hold(type, nodata)) return;
  throw UsageError(fmt::format("--nodata {}: no sample of the type {} can have this value", nodata,
                               name_of(type)));
}

std::int64_t mask_missing(const LoadedImage& image, double nodata, const std::string& what,
                          std::optional<LoadedImage>& mask) {
  const auto channels = static_cast<std::size_t>(image.channels);
  const KnownSamples samples = known_samples(
      HostImage{image.pixels.data(), image.type, image.width * image.channels, image.height, 0},
      nodata);
  if (samples.missing == 0) return 0;
  if (!mask) {
    mask = make_image(image.width, image.height, 1, PixelType::u8);
    std::ranges::fill(mask->samples<std::uint8_t>(), std::uint8_t{255});
  }
  const auto marks = mask->samples<std::uint8_t>();
  std::int64_t excluded = 0, left = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const auto pixel = std::span(samples.known).subspan(i * channels, channels);
    const bool known = std::ranges::any_of(pixel, [](std::uint8_t sample) { return sample != 0; });
    if (marks[i] == 0) continue;
    known ? ++left : ++excluded;
    if (!known) marks[i] = 0;
  }
  if (left == 0) {
    throw UsageError(fmt::format("{}: has no pixel to register; all are missing or masked", what));
  }
  return excluded;
}

}  // namespace warpalign::program
