// Fills the missing samples of arrays in host memory.
#include "arrays.hpp"
#include "bindings.hpp"

#include <warpalign/missing.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

template <typename Sample>
void fill_batch(const OutputArray& values, const std::uint8_t* known, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.pixels());
  auto* samples = static_cast<Sample*>(values.data());
  for (std::size_t i = 0; i < values.shape(0); ++i) {
    fill_missing(std::span(samples + i * count, count), std::span(known + i * count, count), shape);
  }
}

void fill(const OutputArray& values, const InputArray& known) {
  const int dimensions = static_cast<int>(values.ndim()) - 1;
  if (dimensions < 1 || dimensions > 3) refuse("values must be a batch of 1 to 3 dimensions");
  const PixelType type = pixel_type_of(values.dtype());
  if (type != PixelType::f32 && type != PixelType::f64) refuse("values must be floating-point");
  if (pixel_type_of(known.dtype()) != PixelType::u8 || known.size() != values.size()) {
    refuse("known must hold a byte for each value");
  }
  const Shape shape = shape_of(values, dimensions);
  const auto* bytes = static_cast<const std::uint8_t*>(known.data());
  const nb::gil_scoped_release released;
  if (type == PixelType::f32) {
    fill_batch<float>(values, bytes, shape);
  } else {
    fill_batch<double>(values, bytes, shape);
  }
}

}  // namespace

void bind_missing(nb::module_& module) {
  module.def("fill_missing", &fill, nb::arg("values").noconvert(), nb::arg("known").noconvert(),
             "Replaces the missing samples of a batch of arrays of float32 or float64, of one to "
             "three dimensions. `known`: uint8 of the same shape, 0 where a sample is missing.");
  module.attr("MIN_KNOWN_SHARE") = min_known_share;
}

}  // namespace warpalign::python
