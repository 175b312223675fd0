// Evaluates on the device the coordinates to which a displacement field maps each pixel.
#pragma once

#include <warpalign/local_motion.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <optional>

namespace warpalign::detail {

/// Computes the coordinates of every pixel from the control points. Caches the plan for the last
/// shape of the control grid.
class FieldCoordinates {
 public:
  FieldCoordinates(const Device& device, const Shape& frame);

  void make(Stream& stream, const DisplacementField& field);
  /// All x of the last field's coordinates, then all y.
  [[nodiscard]] const Image& coordinates() const noexcept { return coordinates_; }

 private:
  struct Evaluator {
    Evaluator(const Device& device, const Shape& controls, const Shape& frame);
    Shape shape;
    InterpolatePlan plan;
    Image controls;
  };

  Device device_;
  Shape frame_;
  std::optional<Evaluator> evaluator_;
  Image coordinates_;
};

}  // namespace warpalign::detail
