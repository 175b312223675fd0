// Transfers of test data between the oracle's arrays and devices.
#include "support/transfer.hpp"

#include <complex>
#include <cstring>

namespace test {

namespace {

using warpalign::PixelType;

template <class Pixel, class Value>
std::vector<Pixel> converted(const std::vector<Value>& values) {
  std::vector<Pixel> pixels;
  pixels.reserve(values.size());
  for (const Value& value : values) pixels.push_back(static_cast<Pixel>(value));
  return pixels;
}

template <class Pixel>
warpalign::Image upload(const warpalign::Device& device, warpalign::Stream& stream, PixelType type,
                        std::int64_t width, std::int64_t height, const std::vector<Pixel>& pixels) {
  auto image = device.make_image(type, {width, height, 1});
  stream.upload(warpalign::HostImage{pixels.data(), type, width, height, 0}, image);
  return image;
}

template <class Pixel>
std::vector<Pixel> download_slice(warpalign::Stream& stream, const warpalign::Image& image,
                                  std::int64_t slice) {
  const auto plane = static_cast<std::size_t>(image.shape().plane());
  std::vector<Pixel> all(plane * static_cast<std::size_t>(image.shape().depth));
  stream.download(image, all.data(), all.size() * sizeof(Pixel));
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(plane) * slice;
  return {first, first + static_cast<std::ptrdiff_t>(plane)};
}

}  // namespace

warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const reference::Plane& plane, PixelType type) {
  switch (type) {
    case PixelType::u8:
      return upload(device, stream, type, plane.width, plane.height,
                    converted<std::uint8_t>(plane.values));
    case PixelType::u16:
      return upload(device, stream, type, plane.width, plane.height,
                    converted<std::uint16_t>(plane.values));
    default:
      return upload(device, stream, PixelType::f32, plane.width, plane.height,
                    converted<float>(plane.values));
  }
}

warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const reference::Spectrum& spectrum) {
  return upload(device, stream, PixelType::c32, spectrum.width, spectrum.height,
                converted<std::complex<float>>(spectrum.values));
}

reference::Plane from_device(warpalign::Stream& stream, const warpalign::Image& image,
                             std::int64_t slice) {
  reference::Plane plane(image.shape().width, image.shape().height);
  plane.values = converted<double>(download_slice<float>(stream, image, slice));
  return plane;
}

reference::Spectrum spectrum_from_device(warpalign::Stream& stream, const warpalign::Image& image,
                                         std::int64_t slice) {
  reference::Spectrum spectrum(image.shape().width, image.shape().height);
  spectrum.values =
      converted<std::complex<double>>(download_slice<std::complex<float>>(stream, image, slice));
  return spectrum;
}

void poison(warpalign::Stream& stream, warpalign::Image& image) {
  const std::vector<std::uint8_t> ones(image.size_bytes(), 0xFF);  // makes every float a NaN
  stream.upload(ones.data(), ones.size(), image.buffer());
}

}  // namespace test
