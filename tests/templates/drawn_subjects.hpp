// Images of one scene that bend in ways whose mean is the identity.
#pragma once

#include "registration/deformation/drawn_fields.hpp"

#include <warpalign/pixel.hpp>
#include <warpalign/transform.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace test {

/// Four images. Each shows at p + u(p) what the scene shows at p, where the fields u add up to 0.
/// Nothing is resampled: the scene is a sum of waves, evaluated where each pixel comes from.
class DrawnSubjects {
 public:
  using Field = std::function<Coordinates3(const Coordinates3&)>;

  DrawnSubjects(const warpalign::Shape& shape, double largest, std::uint32_t seed)
      : shape_(shape),
        dimensions_(shape.depth > 1 ? 3 : 2),
        scene_(dimensions_, 60, 6, 40, seed),
        one_(dimensions_, largest, seed + 10),
        other_(dimensions_, largest, seed + 20) {}

  [[nodiscard]] const warpalign::Shape& shape() const { return shape_; }
  [[nodiscard]] std::vector<float> scene() const {
    return drawn(shape_, [&](const Coordinates3& p) { return scene_(p); });
  }
  [[nodiscard]] std::vector<float> image(std::size_t number) const { return image(number, shape_); }
  /// Its first rows and columns only.
  [[nodiscard]] std::vector<float> image(std::size_t number, const warpalign::Shape& shape) const {
    return drawn(shape, [&](const Coordinates3& q) { return scene_(origin(number, q)); });
  }
  [[nodiscard]] Coordinates3 field(std::size_t number, const Coordinates3& p) const {
    Coordinates3 u = number < 2 ? one_(p) : other_(p);
    if (number % 2 == 1) {
      for (double& component : u) component = -component;
    }
    return u;
  }

  /// The root mean square distance of a transform from the field of an image, or with
  /// `without_field` from the identity, away from the edges.
  [[nodiscard]] double rms_error(const warpalign::Transform& transform, std::size_t number) const {
    return rms([&](const Coordinates3& p) { return field(number, p); }, transform);
  }
  [[nodiscard]] double rms_field(std::size_t number) const {
    return rms([&](const Coordinates3& p) { return field(number, p); }, identity());
  }
  /// The root mean square displacement of the mean of transforms.
  [[nodiscard]] double rms_of_mean(const std::vector<warpalign::Transform>& transforms) const {
    const Field mean = [&](const Coordinates3& p) {
      Coordinates3 sum{};
      for (const warpalign::Transform& one : transforms) {
        const warpalign::Point3 q = one(warpalign::Point3{p[0], p[1], p[2]});
        const Coordinates3 u{q.x - p[0], q.y - p[1], q.z - p[2]};
        for (std::size_t a = 0; a < 3; ++a) sum[a] += u[a] / static_cast<double>(transforms.size());
      }
      return sum;
    };
    return rms(mean, identity());
  }

 private:
  [[nodiscard]] warpalign::Transform identity() const {
    return dimensions_ == 2 ? warpalign::Transform::translation(warpalign::Point{})
                            : warpalign::Transform::translation(warpalign::Point3{});
  }

  /// Which point of the scene an image shows at q: the p with p + u(p) = q.
  [[nodiscard]] Coordinates3 origin(std::size_t number, const Coordinates3& q) const {
    Coordinates3 p = q;
    for (int step = 0; step < 40; ++step) {  // u changes by far less than 1 from pixel to pixel
      const Coordinates3 u = field(number, p);
      for (std::size_t a = 0; a < 3; ++a) p[a] = q[a] - u[a];
    }
    return p;
  }

  template <class Value>
  [[nodiscard]] static std::vector<float> drawn(const warpalign::Shape& shape,
                                                const Value& value_at) {
    std::vector<float> pixels;
    for (std::int64_t z = 0; z < shape.depth; ++z) {
      for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::int64_t x = 0; x < shape.width; ++x) {
          pixels.push_back(static_cast<float>(
              value_at({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)})));
        }
      }
    }
    return pixels;
  }

  /// The root mean square distance of transform(p) from p + u(p).
  [[nodiscard]] double rms(const Field& u, const warpalign::Transform& transform) const {
    const std::int64_t margin = dimensions_ == 2 ? 14 : 8;
    const std::int64_t deep = dimensions_ == 2 ? 0 : margin;
    double sum = 0;
    double count = 0;
    for (std::int64_t z = deep; z < shape_.depth - deep; z += 2) {
      for (std::int64_t y = margin; y < shape_.height - margin; y += 2) {
        for (std::int64_t x = margin; x < shape_.width - margin; x += 2, ++count) {
          const Coordinates3 p{static_cast<double>(x), static_cast<double>(y),
                               static_cast<double>(z)};
          const Coordinates3 v = u(p);
          const warpalign::Point3 q = transform(warpalign::Point3{p[0], p[1], p[2]});
          sum += std::pow(q.x - p[0] - v[0], 2) + std::pow(q.y - p[1] - v[1], 2) +
                 std::pow(q.z - p[2] - v[2], 2);
        }
      }
    }
    return std::sqrt(sum / count);
  }

  warpalign::Shape shape_;
  int dimensions_;
  Waves scene_;
  DrawnField one_, other_;
};

}  // namespace test
