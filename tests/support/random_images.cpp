// Random test images, the same on every machine and run.
#include "support/random_images.hpp"

#include "reference/fft/fft.hpp"

#include <random>

namespace test {

namespace {

double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }

// std::uniform_real_distribution may differ between standard libraries; this function does not.
double unit(std::mt19937& engine) { return static_cast<double>(engine()) / 4294967296.0; }

}  // namespace

reference::Plane random_plane(std::int64_t width, std::int64_t height, double low, double high,
                              std::uint32_t seed) {
  std::mt19937 engine(seed);
  reference::Plane plane(width, height);
  for (double& value : plane.values) value = as_float(low + (high - low) * unit(engine));
  return plane;
}

reference::Plane random_integers(std::int64_t width, std::int64_t height, std::uint32_t largest,
                                 std::uint32_t seed) {
  std::mt19937 engine(seed);
  reference::Plane plane(width, height);
  for (double& value : plane.values) value = static_cast<double>(engine() % (largest + 1));
  return plane;
}

reference::Spectrum random_spectrum(std::int64_t width, std::int64_t height, std::uint32_t seed) {
  reference::Spectrum half = reference::forward(random_plane(width, height, -1, 1, seed));
  for (auto& value : half.values) value = {as_float(value.real()), as_float(value.imag())};
  return half;
}

std::string to_string(const Size& size) {
  return std::to_string(size.width) + " x " + std::to_string(size.height);
}

const std::vector<Size>& sizes() {
  static const std::vector<Size> all{{1, 1},   {1, 7},   {7, 1},     {2, 2},     {5, 3},
                                     {17, 33}, {64, 64}, {65, 129},  {128, 96},  {127, 64},
                                     {4, 300}, {300, 4}, {509, 641}, {1025, 130}};
  return all;
}

}  // namespace test
