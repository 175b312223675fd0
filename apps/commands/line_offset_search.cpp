// The offset between the lines of bidirectional scans, over the frames of a stack.
#include "commands/line_offset_search.hpp"

#include "io/array_file.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace warpalign::program {
namespace {

/// Planes that suffice: 100 frames of 512 x 512 pixels with 1 photon each give the offset to some
/// hundredths of a pixel.
constexpr std::size_t planes_to_read = 128;

/// Turns the library's error about frames or an offset into a usage error that names the option.
template <typename Work>
auto refusing(const char* option, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_argument) throw;
    throw UsageError(std::string(option) + ": " + error.message());
  }
}

}  // namespace

LineOffset find_line_offset(const StackInput& input) {
  const auto planes = input.first().all_planes();
  constexpr std::int64_t min_width = 57;  // for the library's default of 8 pixels either way
  if (planes.front().width < min_width) {
    throw UsageError(
        fmt::format("--bidirectional: lines of {} pixels are too short, at least {} are needed; "
                    "give the offset with --line-offset",
                    planes.front().width, min_width));
  }
  const std::size_t frames = std::max<std::size_t>(planes_to_read / planes.size(), 1);
  return refusing("--bidirectional", [&] {
    LineOffsetEstimator estimator(planes.front().shape());
    std::int64_t read = 0;
    input.read_some(frames, [&](const Frame& frame) {
      ++read;
      for (const LoadedImage& plane : frame.all_planes()) {
        estimator.add(view_of(Luminance(plane).image()));
      }
    });
    LineOffset found = estimator.estimate();
    found.frames = read;  // not planes
    return found;
  });
}

void undo_line_offset_in(LoadedImage& image, double pixels) {
  const auto undo = [&](std::byte* data) {
    refusing("--line-offset", [&] {
      undo_line_offset({data, image.type, image.width, image.height, 0}, pixels);
      return true;
    });
  };
  if (image.channels == 1) return undo(image.pixels.data());
  std::vector<Array> channels = split_channels(image);
  for (Array& channel : channels) undo(channel.bytes.data());
  image = join_channels(channels);
}

}  // namespace warpalign::program
