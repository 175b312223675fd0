// The only stage of this backend: nine reads per pixel, on the host.
#pragma once

#include "memory.hpp"

#include <warpalign/backend/stages/filter/sobel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpalign::plain {

class Sobel final : public backend::Sobel {
 public:
  explicit Sobel(const SobelSpec& spec) : spec_(spec) {}

  void enqueue(backend::Queue& /*queue*/, const backend::Memory& input,
               backend::Memory& output) override {
    const std::byte* pixels = data_of(input);
    switch (spec_.input) {
      case PixelType::u8:
        return filter(reinterpret_cast<const std::uint8_t*>(pixels), output);
      case PixelType::u16:
        return filter(reinterpret_cast<const std::uint16_t*>(pixels), output);
      default:
        return filter(reinterpret_cast<const float*>(pixels), output);
    }
  }

 private:
  template <class Pixel>
  void filter(const Pixel* pixels, backend::Memory& output) const {
    auto* result = reinterpret_cast<float*>(data_of(output));
    const std::int64_t w = spec_.shape.width;
    const std::int64_t h = spec_.shape.height;
    for (std::int64_t y = 0; y < h; ++y) {
      for (std::int64_t x = 0; x < w; ++x) {
        const auto at = [&](std::int64_t dx, std::int64_t dy) {
          const std::int64_t column = std::clamp<std::int64_t>(x + dx, 0, w - 1);
          const std::int64_t row = std::clamp<std::int64_t>(y + dy, 0, h - 1);
          return static_cast<float>(pixels[row * w + column]);
        };
        const float gx =
            at(1, -1) - at(-1, -1) + 2 * (at(1, 0) - at(-1, 0)) + at(1, 1) - at(-1, 1);
        const float gy =
            at(-1, 1) - at(-1, -1) + 2 * (at(0, 1) - at(0, -1)) + at(1, 1) - at(1, -1);
        result[y * w + x] = std::sqrt(gx * gx + gy * gy);
      }
    }
  }

  SobelSpec spec_;
};

}  // namespace warpalign::plain
