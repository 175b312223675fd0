// The stage common_frames on devices and in the oracle.
#include "support/common_frames.hpp"

#include "support/compare.hpp"
#include "support/transfer.hpp"

#include <cmath>
#include <complex>
#include <cstddef>

namespace test {

namespace {

using warpalign::Image;
using warpalign::PixelType;

reference::Channels channels_of(const std::vector<reference::Plane>& planes) {
  reference::Channels channels(planes[0].width, planes[0].height);
  for (std::size_t i = 0; i < channels.values.size(); ++i) {
    channels.values[i] = {planes[0].values[i], planes.size() > 1 ? planes[1].values[i] : 0.0};
  }
  return channels;
}

/// A channel with a border of zeros.
reference::Plane padded(const reference::Channels& channels, std::size_t channel,
                        const Size& frame) {
  reference::Plane plane(frame.width, frame.height);
  for (std::int64_t y = 0; y < channels.height; ++y) {
    for (std::int64_t x = 0; x < channels.width; ++x) {
      const std::complex<double> value = channels.at(x, y);
      plane.at(x, y) = channel == 0 ? value.real() : value.imag();
    }
  }
  return plane;
}

}  // namespace

CommonOnDevice::CommonOnDevice(const warpalign::Device& device, warpalign::Stream& stream,
                               const CommonInput& input)
    : weight_(to_device(device, stream, input.moving_weight)) {
  const auto take = [&](const reference::Plane& plane) { return to_device(device, stream, plane); };
  for (const auto& plane : input.reference) reference_.push_back(take(plane));
  for (const auto& plane : input.moving) moving_.push_back(take(plane));
  for (const auto& plane : input.reference_weight) reference_weight_.push_back(take(plane));
  for (const Image& image : reference_) references_.push_back(&image);
  for (const Image& image : moving_) movings_.push_back(&image);
}

warpalign::CommonImages CommonOnDevice::images() const {
  return {references_, movings_, reference_weight_.empty() ? nullptr : &reference_weight_[0],
          weight_};
}

CommonInput random_common_input(const Size& size, int channels, bool masked, std::uint32_t seed) {
  CommonInput input;
  for (int channel = 0; channel < channels; ++channel) {
    input.reference.push_back(random_plane(size.width, size.height, -1, 2, ++seed));
    input.moving.push_back(random_plane(size.width, size.height, -2, 1.5, ++seed));
  }
  input.moving_weight = random_plane(size.width, size.height, 0.4, 1, ++seed);
  if (masked) {
    input.reference_weight.push_back(random_plane(size.width, size.height, 0.3, 1, ++seed));
  }
  return input;
}

FoundCommon found_common(const warpalign::Device& device, const CommonInput& input,
                         const CommonSizes& sizes, double turned) {
  warpalign::Stream stream = device.make_stream();
  const CommonOnDevice on_device(device, stream, input);
  const auto channels = static_cast<std::int64_t>(input.reference.size());
  const warpalign::Shape frames{sizes.frame.width, sizes.frame.height, channels};
  Image reference = device.make_image(PixelType::f32, frames);
  Image moving = device.make_image(PixelType::f32, frames);
  poison(stream, reference);
  poison(stream, moving);
  const warpalign::CommonFramesPlan plan(device, {{frames.width, frames.height, 1}});
  plan.enqueue(stream, on_device.images(), {{sizes.part.width, sizes.part.height, 1}}, turned,
               reference, moving);
  plan.enqueue_copy(stream);
  FoundCommon found;
  found.sums = plan.wait();
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    found.reference.push_back(from_device(stream, reference, channel));
    found.moving.push_back(from_device(stream, moving, channel));
  }
  return found;
}

reference::CommonFrames expected_common(const CommonInput& input, const CommonSizes& sizes,
                                        double turned) {
  reference::Plane ones(sizes.images.width, sizes.images.height);
  ones.values.assign(ones.values.size(), 1);
  return reference::common_frames(channels_of(input.reference), channels_of(input.moving),
                                  input.reference_weight.empty() ? ones : input.reference_weight[0],
                                  input.moving_weight, sizes.part.width, sizes.part.height, turned);
}

double common_error(const FoundCommon& found, const reference::CommonFrames& expected,
                    const CommonSizes& sizes, double largest) {
  WorstError worst;
  // The device sums floats over a tile, which costs a few roundings; rotation adds two more.
  const double allowed = 1e-6 * largest;
  for (std::size_t channel = 0; channel < found.reference.size(); ++channel) {
    const auto reference = padded(expected.reference, channel, sizes.frame);
    const auto moving = padded(expected.moving, channel, sizes.frame);
    worst.add(max_difference(found.reference[channel], reference) / allowed);
    worst.add(max_difference(found.moving[channel], moving) / allowed);
  }
  if (found.sums.pixels != expected.pixels) worst.add(1e9);
  // A sum of positive terms, each of which sums 289 squares with as many roundings. CPUs add rows
  // to the sums of columns and subtract rows from them, and keep the roundings of both for a band
  // of rows. Anything below the square of `allowed` is rounding error alone.
  const auto sum = [&](double got, double wanted, double part, double least) {
    worst.add(std::abs(got - wanted) / (part * wanted + least + 1e-30));
  };
  const double least = 289 * expected.pixels * allowed * allowed;
  sum(found.sums.reference, expected.reference_energy, 2e-6, least);
  sum(found.sums.moving, expected.moving_energy, 2e-6, least);
  sum(found.sums.both, expected.both_energies, 4e-6, least * least);
  return worst.value();
}

}  // namespace test
