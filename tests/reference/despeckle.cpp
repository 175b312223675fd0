// The oracle of impulse noise and of the flattened log-polar spectrum.
#include "reference/stages.hpp"

namespace reference {

namespace {

bool inside(const Plane& image, std::int64_t x, std::int64_t y) {
  return x >= 0 && x < image.width && y >= 0 && y < image.height;
}

}  // namespace

Plane flattened_profile(const Plane& log_polar) {
  Plane result = log_polar;
  for (std::int64_t x = 0; x < log_polar.width; ++x) {
    double sum = 0, count = 0;
    for (std::int64_t y = 0; y < log_polar.height; ++y) {
      sum += log_polar.at(x, y);
      count += log_polar.at(x, y) != 0 ? 1 : 0;
    }
    for (std::int64_t y = 0; y < log_polar.height; ++y) {
      if (log_polar.at(x, y) != 0) result.at(x, y) = log_polar.at(x, y) * count / sum - 1;
    }
  }
  return result;
}

bool is_impulse(const Plane& image, std::int64_t x, std::int64_t y, double lowest, double highest,
                int company) {
  const double value = image.at(x, y);
  if (value > lowest && value < highest) return false;
  int same = 0;
  for (std::int64_t v = y - 1; v <= y + 1; ++v) {
    for (std::int64_t u = x - 1; u <= x + 1; ++u) {
      if ((u == x && v == y) || !inside(image, u, v)) continue;
      if (image.at(u, v) == value) ++same;
    }
  }
  return same <= company;
}

Plane despeckled(const Plane& image, double lowest, double highest) {
  Plane result = image;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (!is_impulse(image, x, y, lowest, highest, 2)) continue;
      double sum = 0, weights = 0;
      for (std::int64_t reach = 1; reach <= 2 && weights == 0; ++reach) {
        for (std::int64_t v = y - reach; v <= y + reach; ++v) {
          for (std::int64_t u = x - reach; u <= x + reach; ++u) {
            if (!inside(image, u, v)) continue;
            const double value = image.at(u, v);
            if (value <= lowest || value >= highest) continue;
            const auto distance = static_cast<double>((u - x) * (u - x) + (v - y) * (v - y));
            sum += value / distance;
            weights += 1 / distance;
          }
        }
      }
      if (weights > 0) result.at(x, y) = sum / weights;
    }
  }
  return result;
}

}  // namespace reference
