// The pattern that is fixed to the sensor, over the frames of a stack.
#include "commands/fixed_pattern.hpp"

#include "io/array_file.hpp"
#include "io/image_file.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace warpalign::program {
namespace {

constexpr std::size_t usual_frames = 12;
constexpr std::size_t fewest_frames = 6;
/// Of the samples in double memory: of the frames as they are, and as the library copies them.
constexpr std::size_t max_bytes = std::size_t{128} << 20;

std::size_t frames_for(const Shape& shape) {
  const std::size_t bytes = static_cast<std::size_t>(shape.plane()) * sizeof(float);
  return std::clamp(max_bytes / bytes, fewest_frames, usual_frames);
}

/// Their luminance.
std::deque<LoadedImage> sampled_frames(StackInput& input) {
  const std::size_t wanted = frames_for(input.first().image.shape());
  std::deque<LoadedImage> frames;
  const auto take = [&](const Frame& frame) {
    if (frame.trouble.empty()) frames.push_back(Luminance(frame.image).image());
  };
  if (input.pipe()) {
    for (std::size_t i = 0; i < wanted; ++i) {
      const Frame* frame = input.peek(i);
      if (frame == nullptr) break;
      take(*frame);
    }
    return frames;
  }
  try {
    input.read_some(wanted, take);
  } catch (const FileError&) {
    // The frames are read again, which reports the same.
  }
  return frames;
}

}  // namespace

std::optional<SensorPattern> find_pattern(const Device& device, const RegistrationOptions& options,
                                          const LoadedImage* mask, StackInput& input) {
  const std::deque<LoadedImage> frames = sampled_frames(input);
  if (frames.empty()) return {};
  std::vector<HostImage> views;
  for (const LoadedImage& frame : frames) views.push_back(view_of(frame));
  if (mask == nullptr) return find_sensor_pattern(device, views, options);
  const HostImage used = view_of(*mask);
  return find_sensor_pattern(device, views, options, &used);
}

void subtract_pattern_in(LoadedImage& image, const SensorPattern& pattern, double gain) {
  const auto subtract = [&](std::byte* data) {
    subtract_sensor_pattern(pattern, {data, image.type, image.width, image.height, 0}, gain);
  };
  if (image.channels == 1) return subtract(image.pixels.data());
  std::vector<Array> channels = split_channels(image);
  for (Array& channel : channels) subtract(channel.bytes.data());
  image = join_channels(channels);
}

double pattern_gain_in(const LoadedImage& image, const SensorPattern& pattern,
                       const LoadedImage* mask) {
  const Luminance luminance(image);
  if (mask == nullptr) return sensor_pattern_gain(pattern, view_of(luminance.image()));
  const HostImage used = view_of(*mask);
  return sensor_pattern_gain(pattern, view_of(luminance.image()), &used);
}

}  // namespace warpalign::program
