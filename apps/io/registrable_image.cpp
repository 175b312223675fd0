// Prepares images and masks for the registrar, and reports unsuitable ones.
#include "io/registrable_image.hpp"

#include "io/array_file.hpp"
#include "io/usage_error.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

void mark(std::span<const float> from, std::size_t channels, LoadedImage& mask) {
  const auto to = mask.samples<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto pixel = from.subspan(i * channels, channels);
    // This comparison is false for NaN.
    const bool counts =
        std::any_of(pixel.begin(), pixel.end(), [](float sample) { return sample > 0; });
    to[i] = counts ? 255 : 0;
  }
}

}  // namespace

LoadedImage load_registrable(const Path& path, std::optional<std::size_t> page) {
  constexpr std::int64_t min_side = 16;
  LoadedImage image = load_image(path, page);
  if (image.width < min_side || image.height < min_side) {
    throw UsageError(fmt::format("{}: is {} x {} pixels; registration needs sides of at least {}",
                                 path.string(), image.width, image.height, min_side));
  }
  return image;
}

LoadedImage load_mask(const Path& path, const Shape& image, const std::string& image_name) {
  const LoadedImage file = load_image(path);
  if (file.shape() != image) {
    throw UsageError(fmt::format("{}: is {}, but {} is {}; a mask must have the size of its image",
                                 path.string(), to_string(file.shape()), image_name,
                                 to_string(image)));
  }
  LoadedImage mask = make_image(file.width, file.height, 1, PixelType::u8);
  const Array samples =
      to_float({{file.height, file.width * file.channels}, file.type, file.pixels});
  mark(samples.samples<float>(), static_cast<std::size_t>(file.channels), mask);
  const auto marks = mask.samples<std::uint8_t>();
  if (std::none_of(marks.begin(), marks.end(), [](std::uint8_t m) { return m != 0; })) {
    throw UsageError(
        fmt::format("{}: is 0 everywhere, which excludes every pixel; 0 marks pixels to ignore",
                    path.string()));
  }
  return mask;
}

HostImage view_of(const LoadedImage& gray) {
  return {gray.pixels.data(), gray.type, gray.width, gray.height, 0};
}

void naming(const Path& path, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_image && error.kind() != ErrorKind::invalid_argument) {
      throw;
    }
    const std::string& advice = error.context().advice;
    throw UsageError(fmt::format("{}: {}{}{}", path.string(), error.message(),
                                 advice.empty() ? "" : ". ", advice));
  }
}

void require_finite(const RegistrationResult& result) {
  const Similarity& found = result.similarity;
  const std::array numbers{found.rotation_deg, found.scale, found.translation.x,
                           found.translation.y, result.confidence};
  const auto finite = [](double n) { return std::isfinite(n); };
  if (!std::all_of(numbers.begin(), numbers.end(), finite) ||
      !std::all_of(result.homography.h.begin(), result.homography.h.end(), finite)) {
    throw Error(ErrorKind::device_failure,
                "the device computed numbers that are not finite; try another one with --device");
  }
}

}  // namespace warpalign::program
