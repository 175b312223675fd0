// A scene, from which both images of a pair are drawn: a function of the plane.
#pragma once

#include <cstdint>
#include <vector>

namespace accuracy {

/// How a scene continues beyond its raster.
enum class Outside {
  mirror,  ///< the raster mirrored about its outermost points
  repeat   ///< the raster repeated: the scene is a torus
};

/// A function of the plane, given by its values at integer points and linear between them. It is
/// continuous and defined everywhere, so images drawn from it have an exactly known geometry.
class Scene {
 public:
  Scene(std::int64_t width, std::int64_t height, Outside outside);

  [[nodiscard]] std::int64_t width() const noexcept { return width_; }
  [[nodiscard]] std::int64_t height() const noexcept { return height_; }
  [[nodiscard]] Outside outside() const noexcept { return outside_; }
  float& at(std::int64_t x, std::int64_t y) {
    return values_[static_cast<std::size_t>(y * width_ + x)];
  }
  /// The value at any point.
  [[nodiscard]] float operator()(double x, double y) const;

 private:
  [[nodiscard]] float linear(std::int64_t x0, std::int64_t x1, std::int64_t y0, std::int64_t y1,
                             double a, double b) const;

  std::int64_t width_;
  std::int64_t height_;
  Outside outside_;
  std::vector<float> values_;
};

}  // namespace accuracy
