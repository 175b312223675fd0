// The C interface: deformations, and how well images agree.
#include "c_interface/call.hpp"
#include "c_interface/deformations.hpp"
#include "c_interface/images.hpp"

#include <warpalign/local_agreement.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace warpalign::c_interface {

namespace {

template <class Sample>
std::span<const Sample> dense(const warpalign_image& image, PixelType type, const Shape& shape,
                              const char* what) {
  const std::string name(what);
  if (image.data == nullptr) refuse(name + " has no pixels");
  if (pixel_type(image.type, what) != type) refuse(name + " must be " + name_of(type));
  if (shape_of(image) != shape) {
    refuse(name + " is " + to_string(shape_of(image)) + ", but the reference is " +
           to_string(shape));
  }
  const auto row = shape.width * static_cast<std::int64_t>(sizeof(Sample));
  if (image.row_bytes != 0 && image.row_bytes != row) refuse(name + " must have dense rows");
  return {static_cast<const Sample*>(image.data), static_cast<std::size_t>(shape.pixels())};
}

/// Memory for f32 values of this shape.
float* values_of(const warpalign_output& output, const Shape& shape, const char* what) {
  check_output(output, what);
  if (pixel_type(output.type, what) != PixelType::f32 || shape_of(output) != shape) {
    refuse(std::string(what) + " must be f32 of " + to_string(shape));
  }
  return static_cast<float*>(output.data);
}

}  // namespace

}  // namespace warpalign::c_interface

using namespace warpalign::c_interface;
using warpalign::PixelType;
using warpalign::Shape;

warpalign_status warpalign_describe_deformation(warpalign_deformation deformation,
                                                warpalign_deformation_info* info) {
  return call([&] {
    const auto found = object_of<FoundDeformation>(deformation.id, no_deformation);
    warpalign_deformation_info& target = required(info, "info");
    check_size(target, "info");
    const warpalign::Deformation& d = found->deformation;
    target.correlation_before = d.correlation_before;
    target.correlation = d.correlation;
    target.min_jacobian = d.min_jacobian;
    target.max_jacobian = d.max_jacobian;
    target.extreme_jacobians = d.extreme_jacobians;
    target.width = found->reference.width;
    target.height = found->reference.height;
  });
}

warpalign_status warpalign_map_points(warpalign_deformation deformation, const double* points,
                                      int64_t count, double* mapped) {
  return call([&] {
    const auto found = object_of<FoundDeformation>(deformation.id, no_deformation);
    if (count < 0) refuse("count is negative");
    if (count == 0) return;
    const double* from = &required(points, "points");
    double* to = &required(mapped, "mapped");
    if (!std::all_of(from, from + 2 * count, [](double number) { return std::isfinite(number); })) {
      refuse("the points must be finite");
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const warpalign::Point3 q = found->deformation.transform({from[2 * i], from[2 * i + 1], 0});
      to[2 * i] = q.x;
      to[2 * i + 1] = q.y;
    }
  });
}

warpalign_status warpalign_deformation_field(warpalign_deformation deformation,
                                             const warpalign_output* field) {
  return call([&] {
    const auto found = object_of<FoundDeformation>(deformation.id, no_deformation);
    const Shape& reference = found->reference;
    float* values =
        values_of(required(field, "field"), {reference.width, reference.height, 2}, "field");
    warpalign::PointGrid grid;
    grid.shape = reference;
    const std::array<float*, 2> components{values, values + reference.pixels()};
    found->deformation.transform.field(grid, components);
  });
}

warpalign_status warpalign_destroy_deformation(warpalign_deformation deformation) {
  return call([&] {
    if (!handles<FoundDeformation>().remove(deformation.id)) throw InvalidHandle{no_deformation};
  });
}

warpalign_status warpalign_local_agreement(const warpalign_image* reference,
                                           const warpalign_image* warped,
                                           const warpalign_image* mask,
                                           const warpalign_output* agreement) {
  return call([&] {
    const Shape shape = shape_of(required(reference, "reference"));
    if (shape.width < 1 || shape.height < 1 || shape.depth < 1) {
      refuse("the reference is " + to_string(shape) + "; each side must be at least 1");
    }
    const auto fixed = dense<float>(*reference, PixelType::f32, shape, "the reference");
    const auto moved =
        dense<float>(required(warped, "warped"), PixelType::f32, shape, "the warped image");
    std::span<const std::uint8_t> known;
    if (mask != nullptr) known = dense<std::uint8_t>(*mask, PixelType::u8, shape, "the mask");
    float* values = values_of(required(agreement, "agreement"), shape, "agreement");
    const auto found = warpalign::local_agreement(fixed, moved, shape, known);
    std::copy(found.begin(), found.end(), values);
  });
}
