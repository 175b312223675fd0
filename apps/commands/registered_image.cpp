// Makes the image by which a frame of several planes is registered.
#include "commands/registered_image.hpp"

#include "io/gray_levels.hpp"
#include "io/nodata_mask.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpalign::program {
namespace {

constexpr float full_level = 255;  // of gray_levels()

/// The chosen index along an axis, which must be given if there are several. `other`: what else can
/// be chosen.
std::size_t index_along(const std::optional<int>& choice, std::size_t count, const char* option,
                        const char* what, const char* other, const std::string& file) {
  if (!choice && count > 1) {
    throw UsageError(fmt::format("{}: has {} {}; choose by which to register with {} 0 to {}, {}",
                                 file, count, what, option, count - 1, other));
  }
  const int index = choice.value_or(0);
  if (index >= 0 && static_cast<std::size_t>(index) < count) {
    return static_cast<std::size_t>(index);
  }
  throw UsageError(
      count == 1 ? fmt::format("{}: has one of its {}, so {} can only be 0", file, what, option)
                 : fmt::format("{}: has {} {}, so {} can be 0 to {}", file, count, what, option,
                               count - 1));
}

}  // namespace

PlaneChoice RegisteredBy::planes() const {
  PlaneChoice choice{{}, {}, axes};
  if (only_channel) choice.channel = channel;
  if (only_slice) choice.slice = slice;
  return choice;
}

RegisteredImage::RegisteredImage(const RegisteredBy& by, const RecordingFormat* format,
                                 const std::string& file)
    : by_(by) {
  bool channels_may_be_frames = false;
  if (format != nullptr) {
    slices_ = format->slices;
    channels_may_be_frames = format->channels_may_be_frames;
    channels_ = format->channels;
    if (format->frames_are_slices && (by.slice || by.slices != RegisteredBy::Slices::one)) {
      throw UsageError(fmt::format(
          "{}: has one point in time, so its planes in z are the frames; omit --z", file));
    }
  }
  // The reader has left out the other planes.
  if (by.only_channel) by_.channel.reset();
  if (by.only_slice) by_.slice.reset();
  if (by.is_optional && !by_.channel) by_.channel = 0;
  if (by.is_optional && !by_.slice) by_.slice = 0;
  if (by.weights.empty()) {
    channel_ = index_along(by_.channel, channels_, "--channel", "channels",
                           channels_may_be_frames ? "or give --axes TYX if they are frames"
                                                  : "or with --channel-weights, which adds them up",
                           file);
  } else if (by.weights.size() != channels_) {
    throw UsageError(
        fmt::format("--channel-weights: has {} numbers, and {} has {} channels; give "
                    "one for each",
                    by.weights.size(), file, channels_));
  }
  if (by.slices == RegisteredBy::Slices::one) {
    first_ = index_along(by_.slice, slices_, "--z", "planes in z",
                         "or with their projection --z max or mean", file);
  }
}

/// A slice in gray levels.
std::vector<float> RegisteredImage::levels_of(const Frame& frame, std::size_t slice) const {
  const LoadedImage* channels = &frame.planes[slice * channels_];
  const auto levels_of_plane = [&](const LoadedImage& plane) {
    if (!by_.nodata) return gray_levels(plane);
    const LoadedImage known = with_nan(plane, *by_.nodata);
    return gray_levels(known);
  };
  if (by_.weights.empty()) return levels_of_plane(channels[channel_]);
  std::vector<float> sum;
  for (std::size_t c = 0; c < channels_; ++c) {
    if (by_.weights[c] == 0) continue;
    const auto weight = static_cast<float>(by_.weights[c]);
    const std::vector<float> levels = levels_of_plane(channels[c]);
    sum.resize(levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) sum[i] += weight * levels[i];
  }
  return sum;
}

void RegisteredImage::set_image(Frame& frame) const {
  if (frame.planes.empty() && !by_.nodata) return;
  if (frame.planes.empty()) frame.planes.push_back(std::move(frame.image));
  const bool one_slice = by_.slices == RegisteredBy::Slices::one || slices_ == 1;
  if (one_slice && by_.weights.empty()) {
    const LoadedImage& plane = frame.planes[first_ * channels_ + channel_];
    frame.image = by_.nodata ? with_nan(plane, *by_.nodata) : plane;
    return;
  }
  std::vector<float> levels = levels_of(frame, first_);
  const std::size_t count = one_slice ? 1 : slices_;
  for (std::size_t z = 1; z < count; ++z) {
    const std::vector<float> next = levels_of(frame, z);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      levels[i] = by_.slices == RegisteredBy::Slices::mean ? levels[i] + next[i]
                                                           : std::max(levels[i], next[i]);
    }
  }
  const bool is_mean = by_.slices == RegisteredBy::Slices::mean;
  const float scale = full_level * static_cast<float>(is_mean ? count : 1);
  const LoadedImage& plane = frame.planes.front();
  frame.image = make_image(plane.width, plane.height, 1, PixelType::f32);
  std::ranges::transform(levels, frame.image.samples<float>().begin(),
                         [&](float level) { return level / scale; });
}

}  // namespace warpalign::program
