// Flat fields: their division, and their estimate from tiles.
#include "arrays.hpp"
#include "bindings.hpp"

#include <warpalign/flat_field.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

std::optional<HostImage> dark_image(const std::optional<InputArray>& dark) {
  if (!dark) return {};
  return host_image(*dark);
}

void new_field(FlatField* self, const InputArray& flat, const std::optional<InputArray>& dark) {
  new (self) FlatField(host_image(flat), dark_image(dark));
}

void apply(const FlatField& field, const InputArray& tile, const OutputArray& output) {
  const HostImage image = host_image(tile);
  if (output.ndim() != 2 || shape_of(output, 2) != image.shape() ||
      pixel_type_of(output.dtype()) != image.type) {
    refuse("output must have the shape and the type of the tile");
  }
  const nb::gil_scoped_release released;
  field.apply(image, output.data());
}

void new_estimator(FlatFieldEstimator* self, const std::pair<std::int64_t, std::int64_t>& shape,
                   const std::optional<InputArray>& dark) {
  new (self) FlatFieldEstimator({shape.second, shape.first, 1}, dark_image(dark));
}

void add(FlatFieldEstimator& estimator, const InputArray& tile) {
  const HostImage image = host_image(tile);
  const nb::gil_scoped_release released;
  estimator.add(image);
}

void estimate(const FlatFieldEstimator& estimator, const OutputArray& output) {
  const std::vector<float> field = estimator.estimate();
  if (output.size() != field.size() || pixel_type_of(output.dtype()) != PixelType::f32) {
    refuse("output must be of type float32 and have the shape of a tile");
  }
  std::copy(field.begin(), field.end(), static_cast<float*>(output.data()));
}

}  // namespace

void bind_flat_field(nb::module_& module) {
  nb::class_<FlatField>(module, "FlatField", "Divides tiles by their uneven illumination.")
      .def("__init__", &new_field, nb::arg("flat"), nb::arg("dark").none(),
           "For a flat field of any mean, and a dark image of the same shape or None.")
      .def("apply", &apply, nb::arg("tile"), nb::arg("output"),
           "Write (tile - dark) / flat + the mean of dark; see `warpalign.flat_field`.");
  nb::class_<FlatFieldEstimator>(module, "FlatFieldEstimator",
                                 "Estimates a flat field from tiles; see `warpalign.flat_field`.")
      .def("__init__", &new_estimator, nb::arg("shape"), nb::arg("dark").none(),
           "For tiles of this shape (rows, columns).")
      .def("add", &add, nb::arg("tile"), "Add a tile; it is not kept.")
      .def("estimate", &estimate, nb::arg("output"), "Write the illumination, of mean 1.");
}

}  // namespace warpalign::python
