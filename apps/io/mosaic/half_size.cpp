// Halves the sides of rows of a picture.
#include "io/mosaic/half_size.hpp"

#include <algorithm>
#include <type_traits>

namespace warpalign::program {
namespace {

template <typename Sample>
void halve(const PictureRows& from, PictureRows& to) {
  using Sum = std::conditional_t<std::is_integral_v<Sample>, std::uint32_t, float>;
  const auto* input = reinterpret_cast<const Sample*>(from.pixels.data());
  auto* output = reinterpret_cast<Sample*>(to.pixels.data());
  const std::int64_t channels = from.channels;
  for (std::int64_t y = 0; y < to.height; ++y) {
    const std::int64_t last_y = std::min(2 * y + 1, from.height - 1);
    for (std::int64_t x = 0; x < to.width; ++x) {
      const std::int64_t last_x = std::min(2 * x + 1, from.width - 1);
      for (std::int64_t c = 0; c < channels; ++c) {
        Sum sum = 0;
        Sum count = 0;
        for (std::int64_t v = 2 * y; v <= last_y; ++v) {
          for (std::int64_t u = 2 * x; u <= last_x; ++u) {
            sum += static_cast<Sum>(input[(v * from.width + u) * channels + c]);
            count += 1;
          }
        }
        if constexpr (std::is_integral_v<Sample>) sum += count / 2;
        output[(y * to.width + x) * channels + c] = static_cast<Sample>(sum / count);
      }
    }
  }
}

}  // namespace

PictureRows half_size(const PictureRows& rows) {
  PictureRows half{(rows.width + 1) / 2, (rows.height + 1) / 2, rows.channels, rows.type, {}};
  half.pixels.resize(static_cast<std::size_t>(half.width * half.height * half.channels) *
                     size_of(half.type));
  if (rows.type == PixelType::u8) halve<std::uint8_t>(rows, half);
  if (rows.type == PixelType::u16) halve<std::uint16_t>(rows, half);
  if (rows.type == PixelType::f32) halve<float>(rows, half);
  return half;
}

}  // namespace warpalign::program
