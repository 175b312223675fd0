// Runs the example with a picture and the same picture rotated by 90 degrees.
#include <cmath>
#include <vector>

int print_registration(const std::vector<unsigned char>& reference,
                       const std::vector<unsigned char>& moving);

int main() {
  constexpr int size = 512;
  std::vector<unsigned char> reference(size * size);
  std::vector<unsigned char> moving(size * size);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const double value = 127 + 60 * std::sin(0.05 * x + 2 * std::sin(0.03 * y)) +
                           60 * std::cos(0.08 * y + 3 * std::sin(0.011 * x));
      reference[static_cast<std::size_t>(y * size + x)] = static_cast<unsigned char>(value);
      // 90 degrees counter-clockwise: pixel (x, y) moves to (y, size - 1 - x).
      moving[static_cast<std::size_t>((size - 1 - x) * size + y)] =
          static_cast<unsigned char>(value);
    }
  }
  return print_registration(reference, moving);
}
