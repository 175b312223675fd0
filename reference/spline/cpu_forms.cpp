// The CPU implementations that the papers time.
#include "reference/spline/cpu_forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace reference {

namespace {

const float pole = std::sqrt(3.0F) - 2;

// One line of n samples `stride` apart.
void recursive_line(float* c, std::int64_t n, std::int64_t stride) {
  if (n == 1) return;
  const auto at = [&](std::int64_t k) -> float& { return c[k * stride]; };
  const float gain = (1 - pole) * (1 - 1 / pole);
  for (std::int64_t k = 0; k < n; ++k) at(k) *= gain;
  // Mirrored samples before the first one, until the pole has decayed to single precision.
  const std::int64_t period = 2 * n - 2;
  float power = pole;
  float sum = at(0);
  for (std::int64_t k = 1; k <= 14; ++k) {
    const std::int64_t folded = k % period;
    sum += power * at(folded < n ? folded : period - folded);
    power *= pole;
  }
  at(0) = sum;
  for (std::int64_t k = 1; k < n; ++k) at(k) += pole * at(k - 1);
  at(n - 1) = (pole / (pole * pole - 1)) * (at(n - 1) + pole * at(n - 2));
  for (std::int64_t k = n - 2; k >= 0; --k) at(k) = pole * (at(k + 1) - at(k));
}

std::array<float, 4> weights(float a) {
  const float b = 1 - a;
  return {b * b * b / 6, 2.0F / 3 - a * a * (2 - a) / 2, 2.0F / 3 - b * b * (1 + a) / 2,
          a * a * a / 6};
}

std::int64_t mirrored(std::int64_t k, std::int64_t n) {
  if (k >= 0 && k < n) return k;
  if (n == 1) return 0;
  const std::int64_t period = 2 * n - 2;
  k = ((k % period) + period) % period;
  return k < n ? k : period - k;
}

}  // namespace

void recursive_prefilter(float* image, std::int64_t width, std::int64_t height,
                         std::int64_t depth) {
  for (std::int64_t i = 0; i < height * depth; ++i) recursive_line(image + i * width, width, 1);
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t x = 0; x < width; ++x) {
      recursive_line(image + z * width * height + x, height, width);
    }
  }
  for (std::int64_t i = 0; i < width * height; ++i) {
    recursive_line(image + i, depth, width * height);
  }
}

float cubic_2d(const float* c, std::int64_t width, std::int64_t height, float x, float y) {
  const auto i = static_cast<std::int64_t>(std::floor(x));
  const auto j = static_cast<std::int64_t>(std::floor(y));
  const auto wx = weights(x - static_cast<float>(i));
  const auto wy = weights(y - static_cast<float>(j));
  float sum = 0;
  for (std::int64_t v = 0; v < 4; ++v) {
    const float* row = c + mirrored(j + v - 1, height) * width;
    float line = 0;
    for (std::int64_t u = 0; u < 4; ++u) {
      line += wx[static_cast<std::size_t>(u)] * row[mirrored(i + u - 1, width)];
    }
    sum += wy[static_cast<std::size_t>(v)] * line;
  }
  return sum;
}

float cubic_3d(const float* c, std::int64_t width, std::int64_t height, std::int64_t depth, float x,
               float y, float z) {
  const auto k = static_cast<std::int64_t>(std::floor(z));
  const auto wz = weights(z - static_cast<float>(k));
  float sum = 0;
  for (std::int64_t w = 0; w < 4; ++w) {
    const float* slice = c + mirrored(k + w - 1, depth) * width * height;
    sum += wz[static_cast<std::size_t>(w)] * cubic_2d(slice, width, height, x, y);
  }
  return sum;
}

void bilinear_complex(std::complex<float>* result, const std::complex<float>* data,
                      const float* xout, const float* yout, int M1, int M2, int N1, int N2) {
  using C = std::complex<float>;
  for (int k = 0; k < N2; ++k) {
    for (int l = 0; l < N1; ++l) {
      const float x = xout[k * N1 + l];
      const float y = yout[k * N1 + l];
      if (!(x > -1 && x < static_cast<float>(M1) && y > -1 && y < static_cast<float>(M2))) {
        result[k * N1 + l] = 0;
        continue;
      }
      const int ind_x = static_cast<int>(std::floor(x));
      const int ind_y = static_cast<int>(std::floor(y));
      const float a = x - static_cast<float>(ind_x);
      const float b = y - static_cast<float>(ind_y);
      const auto at = [&](int i, int j) {
        return i >= 0 && i < M1 && j >= 0 && j < M2 ? data[j * M1 + i] : C(0);
      };
      const C h00 = at(ind_x, ind_y);
      const C h10 = at(ind_x + 1, ind_y);
      const C h01 = at(ind_x, ind_y + 1);
      const C h11 = at(ind_x + 1, ind_y + 1);
      const C lower = a * h10 + (-h00 * a + h00);
      const C upper = a * h11 + (-h01 * a + h01);
      result[k * N1 + l] = b * upper + (-lower * b + lower);
    }
  }
}

}  // namespace reference
