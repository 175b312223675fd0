// The places in a frame that a displacement field names, evaluated on the device.
#pragma once

#include <warpalign/local_motion.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <optional>

namespace warpalign::detail {

/// From control points to the coordinates of every pixel. Keeps what one shape of the control grid
/// takes, until there is another one.
class FieldCoordinates {
 public:
  FieldCoordinates(const Device& device, const Shape& frame);

  void make(Stream& stream, const DisplacementField& field);
  /// All x of the last field's coordinates, then all y.
  [[nodiscard]] const Image& coordinates() const noexcept { return coordinates_; }

 private:
  struct Maker {
    Maker(const Device& device, const Shape& controls, const Shape& frame);
    Shape shape;
    InterpolatePlan plan;
    Image controls;
  };

  Device device_;
  Shape frame_;
  std::optional<Maker> maker_;
  Image coordinates_;
};

}  // namespace warpalign::detail
