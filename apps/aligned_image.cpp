// The moving image on the reference's grid: each channel goes through the device's warp stage.
#include "aligned_image.hpp"

#include <warpalign/stages/warp.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace warpalign::program {
namespace {

template <typename Sample>
void take_channel(const LoadedImage& image, std::size_t channel, std::vector<float>& plane) {
  const auto samples = image.samples<Sample>();
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < plane.size(); ++i) {
    plane[i] = static_cast<float>(samples[i * channels + channel]);
  }
}

template <typename Sample>
Sample rounded(float value) {
  if constexpr (std::is_floating_point_v<Sample>) {
    return value;
  } else {
    constexpr auto largest = static_cast<float>(std::numeric_limits<Sample>::max());
    return static_cast<Sample>(std::clamp(std::floor(value + 0.5F), 0.0F, largest));
  }
}

template <typename Sample>
void put_channel(const std::vector<float>& plane, std::size_t channel, LoadedImage& image) {
  const auto samples = image.samples<Sample>();
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < plane.size(); ++i) {
    samples[i * channels + channel] = rounded<Sample>(plane[i]);
  }
}

template <typename Sample>
void warp_channels(const Device& device, const LoadedImage& moving, const Affine& transform,
                   LoadedImage& aligned) {
  const WarpPlan warp(device, {moving.shape(), aligned.shape()});
  Stream stream = device.make_stream();
  Image input = device.make_image(PixelType::f32, moving.shape());
  Image output = device.make_image(PixelType::f32, aligned.shape());
  std::vector<float> from(static_cast<std::size_t>(moving.shape().plane()));
  std::vector<float> to(static_cast<std::size_t>(aligned.shape().plane()));
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(moving.channels); ++channel) {
    take_channel<Sample>(moving, channel, from);
    stream.upload({from.data(), PixelType::f32, moving.width, moving.height, 0}, input);
    warp.execute(stream, input, transform, output);
    stream.download(output, to.data(), to.size() * sizeof(float));
    put_channel<Sample>(to, channel, aligned);
  }
}

}  // namespace

LoadedImage align_image(const Device& device, const LoadedImage& moving,
                        const Affine& reference_to_moving, const Shape& reference) {
  LoadedImage aligned = make_image(reference.width, reference.height, moving.channels, moving.type);
  switch (moving.type) {
    case PixelType::u8:
      warp_channels<std::uint8_t>(device, moving, reference_to_moving, aligned);
      break;
    case PixelType::u16:
      warp_channels<std::uint16_t>(device, moving, reference_to_moving, aligned);
      break;
    case PixelType::f16:
    case PixelType::f32:
    case PixelType::c32:
      warp_channels<float>(device, moving, reference_to_moving, aligned);
      break;
  }
  return aligned;
}

}  // namespace warpalign::program
