// How well two images or volumes on the same grid agree, at each pixel.
#include <warpalign/local_agreement.hpp>

#include "arrays.hpp"
#include "bindings.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

void agree(const InputArray& reference, const InputArray& warped,
           const std::optional<InputArray>& mask, const OutputArray& agreement) {
  const int dimensions = static_cast<int>(reference.ndim());
  if (dimensions != 2 && dimensions != 3) refuse("images must have 2 dimensions, volumes 3");
  for (const auto dtype : {reference.dtype(), warped.dtype(), agreement.dtype()}) {
    if (pixel_type_of(dtype) != PixelType::f32) refuse("the arrays must be float32");
  }
  if (mask && pixel_type_of(mask->dtype()) != PixelType::u8) refuse("the mask must be uint8");
  if (warped.size() != reference.size() || agreement.size() != reference.size() ||
      (mask && mask->size() != reference.size())) {
    refuse("the arrays must have the same shape");
  }
  const Shape shape = shape_of(reference, dimensions);
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  const std::span fixed(static_cast<const float*>(reference.data()), pixels);
  const std::span moved(static_cast<const float*>(warped.data()), pixels);
  std::span<const std::uint8_t> known;
  if (mask) known = {static_cast<const std::uint8_t*>(mask->data()), pixels};
  auto* result = static_cast<float*>(agreement.data());
  const nb::gil_scoped_release released;
  const std::vector<float> found = local_agreement(fixed, moved, shape, known);
  std::ranges::copy(found, result);
}

}  // namespace

void bind_local_agreement(nb::module_& module) {
  module.def("local_agreement", &agree, nb::arg("reference").noconvert(),
             nb::arg("warped").noconvert(), nb::arg("mask").noconvert().none(),
             nb::arg("agreement").noconvert(),
             "Writes how well two images or volumes (float32) agree at each pixel; see "
             ":func:`warpalign.local_agreement`.");
}

}  // namespace warpalign::python
