// Registers two synthetic images with an installed warpalign; exit status 0 if the result is right.
#include <warpalign/warpalign.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

// Blobs at fixed positions, seen from (ox, oy).
std::vector<std::uint8_t> picture(int size, int ox, int oy) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(size) * size);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const double u = x + ox;
      const double v = y + oy;
      const double value =
          128 + 60 * std::sin(0.21 * u + 0.003 * v * v) + 50 * std::cos(0.17 * v - 0.002 * u * u);
      pixels[static_cast<std::size_t>(y) * size + x] = static_cast<std::uint8_t>(value);
    }
  }
  return pixels;
}

}  // namespace

int main() {
  try {
    const int size = 128;
    const auto reference = picture(size, 0, 0);
    const auto moving = picture(size, 9, -5);
    const warpalign::Device device = warpalign::open_device();
    const auto result =
        warpalign::register_images(device, {reference.data(), warpalign::PixelType::u8, size, size},
                                   {moving.data(), warpalign::PixelType::u8, size, size});
    std::printf("warpalign %s on %s: translation %.2f %.2f\n", warpalign::version(),
                device.info().name.c_str(), result.similarity.translation.x,
                result.similarity.translation.y);
    const bool right = std::abs(result.similarity.translation.x + 9) < 0.5 &&
                       std::abs(result.similarity.translation.y - 5) < 0.5;
    return right ? 0 : 1;
  } catch (const warpalign::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
