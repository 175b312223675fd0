// Draws a picture of a scene.
#include "accuracy/draw.hpp"

#include <algorithm>
#include <cmath>

namespace accuracy {

reference::Plane draw(const Scene& scene, const warpalign::Affine& to_scene,
                      const warpalign::Shape& shape) {
  const double pixel = std::hypot(to_scene.a, to_scene.d);
  const int n = std::max(4, static_cast<int>(std::ceil(pixel / 0.75)));
  std::vector<warpalign::Point> offsets;
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      const double x = (column + 0.5) / n - 0.5;
      const double y = (row + 0.5) / n - 0.5;
      offsets.push_back({to_scene.a * x + to_scene.b * y, to_scene.d * x + to_scene.e * y});
    }
  }
  reference::Plane picture(shape.width, shape.height);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto middle = to_scene({static_cast<double>(x), static_cast<double>(y)});
      double sum = 0;
      for (const auto& offset : offsets) sum += scene(middle.x + offset.x, middle.y + offset.y);
      picture.at(x, y) = sum / static_cast<double>(offsets.size());
    }
  }
  return picture;
}

}  // namespace accuracy
