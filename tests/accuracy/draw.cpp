// Draws a picture of a scene.
#include "accuracy/draw.hpp"

#include <algorithm>
#include <cmath>

namespace accuracy {

reference::Plane draw(const Scene& scene, const warpalign::Homography& to_scene,
                      const warpalign::Shape& shape) {
  // Under perspective the pixels at a corner may cover more than those in the middle.
  double pixel = 0;
  for (const double x : {0.0, 0.5, 1.0}) {
    for (const double y : {0.0, 0.5, 1.0}) {
      const auto here = to_scene.affine_at(
          {x * static_cast<double>(shape.width - 1), y * static_cast<double>(shape.height - 1)});
      pixel = std::max({pixel, std::hypot(here.a, here.d), std::hypot(here.b, here.e)});
    }
  }
  const int n = std::max(4, static_cast<int>(std::ceil(pixel / 0.75)));
  std::vector<warpalign::Point> offsets;
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      const double x = (column + 0.5) / n - 0.5;
      const double y = (row + 0.5) / n - 0.5;
      offsets.push_back({x, y});
    }
  }
  reference::Plane picture(shape.width, shape.height);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const warpalign::Point centre{static_cast<double>(x), static_cast<double>(y)};
      double sum = 0;
      for (const auto& offset : offsets) {
        const auto p = to_scene({centre.x + offset.x, centre.y + offset.y});
        sum += scene(p.x, p.y);
      }
      picture.at(x, y) = sum / static_cast<double>(offsets.size());
    }
  }
  return picture;
}

}  // namespace accuracy
