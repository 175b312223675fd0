// The mean of several transforms, and the way to it.
#include "templates/mean_shape.hpp"

#include "templates/stage_name.hpp"

#include <warpalign/error.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace warpalign::detail {

namespace {

/// A displacement for each pixel of a grid: an array for each axis, x first.
class GridField {
 public:
  GridField(const Shape& shape, int dimensions)
      : grid_{.shape = shape},
        pixels_(static_cast<std::size_t>(shape.pixels())),
        values_(static_cast<std::size_t>(dimensions) * pixels_) {}

  void take(const Transform& transform) { transform.field(grid_, components_of(values_.data())); }
  [[nodiscard]] Transform transform() const {
    return Transform::displacement(grid_, components_of(values_.data()));
  }
  [[nodiscard]] std::vector<double>& values() { return values_; }
  /// The root mean square length.
  [[nodiscard]] double rms() const {
    double squares = 0;
    for (const double value : values_) squares += value * value;
    return std::sqrt(squares / static_cast<double>(pixels_));
  }

 private:
  template <class Value>
  [[nodiscard]] std::vector<Value*> components_of(Value* first) const {
    std::vector<Value*> components;
    for (std::size_t at = 0; at < values_.size(); at += pixels_) components.push_back(first + at);
    return components;
  }

  PointGrid grid_;
  std::size_t pixels_;
  std::vector<double> values_;
};

GridField mean_of(std::span<const std::optional<Transform>> transforms, const Shape& shape,
                  int dimensions) {
  GridField mean(shape, dimensions);
  GridField one(shape, dimensions);
  double count = 0;
  for (const auto& transform : transforms) {
    if (!transform) continue;
    one.take(*transform);
    for (std::size_t i = 0; i < mean.values().size(); ++i) mean.values()[i] += one.values()[i];
    count += 1;
  }
  for (double& value : mean.values()) value /= count;
  return mean;
}

Transform inverse_of(const GridField& mean) {
  try {
    return mean.transform().inverse();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_argument) throw;
    throw Error(ErrorKind::invalid_image,
                "the mean of the transforms has no inverse: " + error.message() +
                    "; give another initial image or a larger bending_weight",
                {.stage = template_stage});
  }
}

}  // namespace

MeanShape mean_shape(std::span<const std::optional<Transform>> transforms, const Shape& shape,
                     int dimensions) {
  GridField field = mean_of(transforms, shape, dimensions);
  const double change = field.rms();
  field.take(inverse_of(field));
  return {field.transform(), change};
}

}  // namespace warpalign::detail
