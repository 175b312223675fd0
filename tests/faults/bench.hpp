// Helpers that the scenarios share: a stream, images of random pixels, and results as bytes.
#pragma once

#include "faults/sweep.hpp"

#include <warpalign/warpalign.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

namespace faults {

class Bench {
 public:
  explicit Bench(const warpalign::Device& device)
      : device_(device), stream_(device.make_stream()) {}

  [[nodiscard]] const warpalign::Device& device() const { return device_; }
  [[nodiscard]] warpalign::Stream& stream() { return stream_; }

  [[nodiscard]] warpalign::Image empty(warpalign::PixelType type, const warpalign::Shape& shape) {
    return device_.make_image(type, shape);
  }
  /// An image of small numbers, the same in every run.
  [[nodiscard]] warpalign::Image random(warpalign::PixelType type, const warpalign::Shape& shape) {
    warpalign::Image image = device_.make_image(type, shape);
    Bytes bytes(image.size_bytes());
    std::mt19937 random(7);
    if (type == warpalign::PixelType::f32 || type == warpalign::PixelType::c32) {
      std::uniform_real_distribution<float> value(0.5F, 1.5F);
      for (std::size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
        const float pixel = value(random);
        std::memcpy(bytes.data() + i, &pixel, sizeof pixel);
      }
    } else {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 50);
    }
    stream_.upload(bytes.data(), bytes.size(), image.buffer());
    return image;
  }
  [[nodiscard]] Bytes bytes_of(const warpalign::Image& image) {
    Bytes bytes(image.size_bytes());
    stream_.download(image, bytes.data(), bytes.size());
    return bytes;
  }

 private:
  warpalign::Device device_;
  warpalign::Stream stream_;
};

/// Appends the bytes of numbers.
template <class... Numbers>
void append(Bytes& bytes, const Numbers&... numbers) {
  const auto one = [&bytes](const auto& number) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof number);
    std::memcpy(bytes.data() + at, &number, sizeof number);
  };
  (one(numbers), ...);
}

}  // namespace faults
